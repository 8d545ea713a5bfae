"""Everything that can be done with series, for transports and workers alike."""

import asyncio
import json
import logging
import secrets
import zlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any, Final

from api.cancelling import end_if_cancelled
from api.errors import Refused, Unavailable
from api.ledger import fingerprint, key_reused, now_ms
from api.observe.metrics import series_matches
from api.ports import Key, Ring
from api.series.bells import Bells
from api.series.ports import Count, MatchQueue, Opening, Series, SeriesStore, Step
from api.store.keys import is_series_id, new_series_id
from api.values import ANYHOW, Limits, Meta
from engine.decide import Events
from engine.series import MOST_MATCHES, Order, Result, SeriesStatus, Spec, check, replay_of
from schema.codes import ErrorCode

RUNNING_LIMIT: Final = 4  # series of one caller
WINDOW: Final = 12  # matches of a series that wait or are played at once
HALT_GRACES: Final = 5  # graces without a match counted, after which what was sent is sent again
LONGEST_WAIT_MS: Final = 10 * 60 * 1000
AT_ONCE: Final = 250  # steps told in one update at most
PAUSE_SECONDS: Final = 0.1  # between updates; what happens meanwhile is told together
PATIENCE_SECONDS: Final = 0.5

log = logging.getLogger("ringmaster.series")


@dataclass(frozen=True, slots=True)
class Standing:
    """A series as of a version."""

    series: Series
    step: Step

    @property
    def status(self) -> SeriesStatus:
        """Where it stands."""
        return self.step.status(self.series.spec)


@dataclass(frozen=True, slots=True)
class Progress:
    """What a follower is told: the matches counted since the last time, and how it stands now."""

    standing: Standing
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """A result and the version in which it was counted."""

    version: int
    result: Result


class SeriesService:
    """The one door to series."""

    def __init__(
        self,
        store: SeriesStore,
        queue: MatchQueue,
        *,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        now: Callable[[], int] = now_ms,
    ) -> None:
        self._store = store
        self._queue = queue
        self._limits = limits
        self._now = now
        self._bells = Bells()

    # What people do.

    async def create(self, caller: str, spec: Spec, meta: Meta) -> Standing:
        """Begin a series; its first version.

        Raises:
            RuleError: INVALID_INPUT.
            Refused: TOO_MANY_SERIES, KEY_REUSED.
            Unavailable: Redis cannot be reached.
        """
        check(spec)
        key = await self._claim(caller, meta, ["createSeries", meta.request])
        now, sent = self._now(), min(WINDOW, spec.matches)
        series = Series(new_series_id(caller), spec, now, caller)
        opening = Opening(
            series=series,
            sent=sent,
            limit=RUNNING_LIMIT,
            due_at=now + self._grace,
            ttl=self._limits.match_ttl,
            secret=secrets.token_hex(32),
            key=key,
        )
        series_id = await self._store.open(opening)
        if series_id is None:
            sentence = f"{RUNNING_LIMIT} series of yours are running; cancel one, or wait."
            raise Refused(ErrorCode.TOO_MANY_SERIES, sentence)
        if series_id == series.series_id:
            self._send(series_id, range(1, sent + 1))
        return await self._first(series_id)

    async def cancel(self, series_id: str, caller: str, meta: Meta = ANYHOW) -> Standing:
        """End a series: no further match is sent or counted. One that is over stays as it is.

        Raises:
            Refused: NOT_FOUND, KEY_REUSED.
            Unavailable: Redis cannot be reached.
        """
        await self._claim(caller, meta, ["cancelSeries", series_id])
        standing = await self._must_see(series_id, caller)
        await self._store.cancel(standing.series, self._now(), self._limits.finished_ttl)
        return await self._must_see(series_id, caller)

    async def _claim(self, caller: str, meta: Meta, request: list[Any]) -> Key | None:
        if meta.key is None:
            return None
        key = Key(caller, meta.key, fingerprint(request))
        if not await self._store.claim(key):
            raise key_reused()
        return key

    async def look(self, series_id: str, caller: str | None) -> Standing | None:
        """A series of the caller's as it stands, None if there is none.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        if caller is None or not is_series_id(series_id):
            return None
        found = await self._store.find(series_id)
        if found is None or found[0].owner != caller:
            return None
        return Standing(*found)

    async def results(
        self, standing: Standing, after: int, limit: int
    ) -> tuple[list[Counted], bool]:
        """Matches in the order in which they were counted, those after a version, up to the
        standing's own; and whether more follow.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        series, until = standing.series, standing.step.sums.matches + 1
        first = max(after, 1) + 1
        steps = await self._store.steps(series.series_id, first, until, limit + 1)
        found = [Counted(step.version, step.result) for step in steps if step.result is not None]
        return found[:limit], len(found) > limit

    async def replay(self, series_id: str, number: int, caller: str | None) -> str | None:
        """The replay of a counted match as a document of JSON, None if none was kept.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        if await self.look(series_id, caller) is None or not 1 <= number <= MOST_MATCHES:
            return None
        kept = await self._store.replay(series_id, number)
        return None if kept is None else zlib.decompress(kept).decode()

    async def follow(
        self, series_id: str, caller: str | None, after: int | None
    ) -> AsyncGenerator[Progress, None]:
        """How the series stands, or with ``after`` what was counted since, and then its progress.

        In order, none twice, none missing; matches counted within a tenth of a second may come
        together. Ends once the series is over.

        Raises:
            Refused: NOT_FOUND, or CURSOR_EXPIRED for a version that the series does not have.
            Unavailable: Redis cannot be reached, at the start.
        """
        with self._bells.follow(series_id) as bell:
            series, last = await self._begin(series_id, caller, after)
            if after is None and last is not None:
                yield Progress(Standing(series, last), ())
            while last is None or not last.status(series.spec).over:
                rung = bell.rung
                new = await self._since(series_id, last)
                if not new:
                    end_if_cancelled()
                    await rung.wait()
                    continue
                last = new[-1]
                results = tuple(step.result for step in new if step.result is not None)
                yield Progress(Standing(series, last), results)
                await asyncio.sleep(PAUSE_SECONDS if len(new) < AT_ONCE else 0)

    async def check_follow(self, series_id: str, caller: str | None, after: int | None) -> None:
        """Whether the series can be followed from there, asked before a stream begins.

        Raises:
            Refused: NOT_FOUND, or CURSOR_EXPIRED for a version that the series does not have.
            Unavailable: Redis cannot be reached.
        """
        await self._begin(series_id, caller, after)

    def wake(self, rung: Ring | None) -> None:
        """Let the followers of these series look, or with None all of them."""
        self._bells.ring(None if rung is None else rung.matches)

    # What the house does.

    async def order(self, series_id: str, number: int) -> tuple[Series, Order] | None:
        """A match to be played; None if it is counted, or its series over or gone.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        if not is_series_id(series_id) or not 1 <= number <= MOST_MATCHES:
            return None
        return await self._store.order(series_id, number)

    async def count(self, series: Series, result: Result, events: list[Events]) -> None:
        """Count a match that was played, unless it is counted or its series over; send the next.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        replay = None
        if series.spec.replays:
            text = json.dumps(replay_of(events), separators=(",", ":"))
            replay = zlib.compress(text.encode())
        now = self._now()
        count = Count(
            series=series,
            result=result,
            at=now,
            due_at=now + self._grace,
            ttl=self._limits.match_ttl,
            ttl_over=self._limits.finished_ttl,
            replay=replay,
        )
        following = await self._store.count(count)
        if following is not None:
            series_matches.inc()
        if following:
            self._send(series.series_id, (following,))

    async def revive(self, limit: int) -> int:
        """Send again what was sent and not counted, of series in which nothing moves; how many.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        due = await self._store.due(self._now(), limit)
        return sum([await self._revive(series_id, seen) for series_id, seen in due])

    async def _revive(self, series_id: str, seen: int) -> int:
        now = self._now()
        try:
            halt = await self._store.halt(series_id)
        except (ValueError, LookupError, TypeError) as error:  # one must not stop the others
            log.error("series %s cannot be read: %s", series_id, type(error).__name__)  # noqa: TRY400
            await self._store.postpone(series_id, seen, now + LONGEST_WAIT_MS)
            return 0
        if halt is None or not halt.numbers:
            await self._store.forget(series_id)
            return 0
        # Twice as long each time: what waits behind others is not sent over and over.
        wait = min(max(self._grace, now - halt.since), LONGEST_WAIT_MS)
        if not await self._store.postpone(series_id, seen, now + wait):
            return 0
        self._send(series_id, halt.numbers)
        return len(halt.numbers)

    @property
    def _grace(self) -> int:
        return HALT_GRACES * self._limits.grace_ms

    def _send(self, series_id: str, numbers: range | tuple[int, ...]) -> None:
        for number in numbers:
            self._queue.play(series_id, number)

    async def _first(self, series_id: str) -> Standing:
        found, steps = (
            await self._store.find(series_id),
            await self._store.steps(series_id, 1, 1, 1),
        )
        if found is None or not steps:
            raise series_not_found()
        return Standing(found[0], steps[0])

    async def _must_see(self, series_id: str, caller: str | None) -> Standing:
        standing = await self.look(series_id, caller)
        if standing is None:
            raise series_not_found()
        return standing

    async def _begin(
        self, series_id: str, caller: str | None, after: int | None
    ) -> tuple[Series, Step | None]:
        """The series, and the step that a follower has seen last; None before the first."""
        standing = await self._must_see(series_id, caller)
        series, step = standing.series, standing.step
        if after is None or after == step.version:
            return series, step
        if not 0 <= after < step.version:
            raise _expired(step.version)
        if after == 0:
            return series, None
        steps = await self._store.steps(series_id, after, after, 1)
        if not steps:
            raise _expired(step.version)
        return series, steps[0]

    async def _since(self, series_id: str, last: Step | None) -> list[Step]:
        """The steps after the last one seen; none as long as Redis cannot be reached."""
        first = 1 if last is None else last.version
        while True:
            try:
                steps = await self._store.steps(series_id, first, None, AT_ONCE + 1)
            except Unavailable:
                await asyncio.sleep(PATIENCE_SECONDS)
                continue
            if last is None:
                return steps
            if steps[:1] != [last]:
                raise _expired(steps[0].version if steps else 0)  # the store lost the log's end
            return steps[1:]


def series_not_found() -> Refused:
    """No series has this id, or none that is the caller's."""
    return Refused(ErrorCode.NOT_FOUND, "There is no such series.")


def _expired(version: int) -> Refused:
    return Refused(
        ErrorCode.CURSOR_EXPIRED,
        f"The series has no such version; the current one is {version}.",
        field="after",
        current_version=version,
    )
