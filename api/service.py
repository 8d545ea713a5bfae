"""The one door to a match: load, decide, append, announce. Nothing else writes."""

import json
import logging
import secrets
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from api.errors import Refused, not_found
from api.ports import Append, Commit, Directory, EventStore, Jobs, Key, Listing
from api.store.keys import is_match_id, new_match_id
from api.timelines import Timeline, Timelines
from engine import chain, replay
from engine.actions import Action
from engine.commands import (
    Command,
    CreateMatch,
    ExpireTurn,
    JoinMatch,
    LeaveMatch,
    ScoreRound,
    SeatSetup,
    StartMatch,
)
from engine.decide import Events, decide
from engine.due import BotToAct, ClockToExpire, Due, due
from engine.errors import Reason, RuleError
from engine.evolve import fold
from engine.notation import format_view
from engine.state import Match, Status, Visibility
from engine.views import PublicEvent, View, redact, view
from schema.codes import ErrorCode

ATTEMPTS: Final = 3
CODE_ALPHABET: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
CODE_LENGTH: Final = 8

log = logging.getLogger("ringmaster.service")


@dataclass(frozen=True, slots=True)
class Meta:
    """How a command is to be carried out: at most once under a key, only at a version.

    ``request`` is what the caller sent; a key used again for another request is refused.
    """

    key: str | None = None
    expected_version: int | None = None
    request: Any = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A match as the caller may see it, as of a version and its hash in the chain."""

    version: int
    hash: str
    view: View


@dataclass(frozen=True, slots=True)
class Moment:
    """One commit as a follower may see it; ``at`` in milliseconds since the epoch.

    The first moment of a stream without a cursor is the state as it stands, with no events.
    """

    version: int
    hash: str
    at: int
    events: tuple[PublicEvent, ...]
    view: View


@dataclass(frozen=True, slots=True)
class Owed:
    """What the house owes a match as of a version; ``view`` is the seat's own, where one acts."""

    match_id: str
    version: int
    due: Due
    view: View | None


@dataclass(frozen=True, slots=True)
class NewMatch:
    """What a caller asks for when creating a match; the first PLAYER is the caller."""

    seats: tuple[SeatSetup, ...]
    visibility: Visibility
    turn_seconds: int | None


def now_ms() -> int:
    """Milliseconds since the Unix epoch."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds that a match is kept in play and once over; milliseconds until work is sent again."""

    match_ttl: int = 7 * 24 * 3600
    finished_ttl: int = 30 * 24 * 3600
    grace_ms: int = 2000


class MatchService:
    """Everything that can be done with matches, for every transport and worker alike."""

    def __init__(
        self,
        store: EventStore,
        directory: Directory,
        jobs: Jobs,
        *,
        limits: Limits = Limits(),
        now: Callable[[], int] = now_ms,
    ) -> None:
        self._store = store
        self._directory = directory
        self._jobs = jobs
        self._limits = limits
        self._now = now
        self._timelines = Timelines()

    # What people do.

    async def create(self, caller: str, new: NewMatch) -> Answer:
        """Open a match and start it if no seat is open.

        Raises:
            RuleError: INVALID_INPUT.
            Unavailable: Redis cannot be reached.
        """
        match_id, code = new_match_id(), _new_code()
        command = CreateMatch(
            match_id=match_id,
            seats=new.seats,
            visibility=new.visibility,
            host=caller,
            secret=secrets.token_hex(32),
            join_code=code,
            turn_seconds=new.turn_seconds,
        )
        events = decide(None, command, self._now())
        if not await self._directory.reserve_code(code, match_id, self._limits.match_ttl):
            return await self.create(caller, new)
        timeline = self._timelines.get(match_id)
        written = await self._append(timeline, events, secrets.token_hex(6), None, "")
        if not written:  # an id of 96 random bits was taken: only a repeated append explains it
            await self._refresh(timeline)
        return self._answer(timeline, caller)

    async def join(
        self, match_id: str, caller: str, name: str, entropy: str | None, *, invited: bool
    ) -> Answer:
        """Take the first open seat; ``invited``: the caller knew the join code.

        Raises:
            Refused: NOT_FOUND.
            RuleError: FORBIDDEN, MATCH_FULL, MATCH_OVER.
            Unavailable: Redis cannot be reached.
        """

        def command(match: Match) -> Command:
            may_enter = invited or match.visibility is Visibility.PUBLIC
            return JoinMatch(caller, name, may_enter, entropy)

        return await self._submit(match_id, caller, command, Meta())

    async def join_by_code(self, code: str, caller: str, name: str, entropy: str | None) -> Answer:
        """Take the first open seat of the match that a join code leads to.

        Raises:
            Refused: NOT_FOUND.
            RuleError: MATCH_FULL, MATCH_OVER.
            Unavailable: Redis cannot be reached.
        """
        match_id = await self._directory.find_code(code.strip().upper())
        if match_id is None:
            raise Refused(ErrorCode.NOT_FOUND, "No match has this join code.", field="joinCode")
        return await self.join(match_id, caller, name, entropy, invited=True)

    async def leave(self, match_id: str, caller: str) -> Answer:
        """Give up one's seat.

        Raises:
            Refused: NOT_FOUND.
            RuleError: NOT_SEATED, MATCH_OVER.
            Unavailable: Redis cannot be reached.
        """
        return await self._submit(match_id, caller, lambda _: LeaveMatch(caller), Meta())

    async def start(self, match_id: str, caller: str) -> Answer:
        """Start with bots on the seats still open.

        Raises:
            Refused: NOT_FOUND.
            RuleError: FORBIDDEN, MATCH_OVER.
            Unavailable: Redis cannot be reached.
        """
        return await self._submit(match_id, caller, lambda _: StartMatch(caller), Meta())

    async def act(
        self, match_id: str, caller: str, action: Callable[[int], Action], meta: Meta
    ) -> Answer:
        """Play ``action(seat)`` from the caller's seat.

        Raises:
            Refused: NOT_FOUND, STALE_VERSION, KEY_REUSED.
            RuleError: NOT_SEATED and every reason of the rules.
            Unavailable: Redis cannot be reached.
        """

        def command(match: Match) -> Command:
            seat = match.seat_of(caller)
            if seat is None:
                raise RuleError(Reason.MATCH_OVER if match.status.over else Reason.NOT_SEATED)
            return action(seat)

        return await self._submit(match_id, caller, command, meta)

    async def look(self, match_id: str, caller: str | None) -> Answer | None:
        """The match as the caller may see it now, None if there is none for this caller.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        if not is_match_id(match_id):
            return None
        timeline = self._timelines.get(match_id)
        await self._refresh(timeline)
        if timeline.match is None or not _may_see(timeline.match, caller):
            return None
        return self._answer(timeline, caller)

    async def replay(self, match_id: str, caller: str | None) -> dict[str, Any] | None:
        """The replay of a finished match that the caller may see, None if there is none.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        answer = await self.look(match_id, caller)
        if answer is None or answer.view.status is not Status.FINISHED:
            return None
        commits = self._timelines.get(match_id).commits
        return replay.document((commit.events, commit.hash) for commit in commits)

    async def page(
        self, status: Status | None, before: tuple[int, str] | None, limit: int, caller: str | None
    ) -> tuple[list[Answer], bool]:
        """Public matches, newest first, from a place in that order on; and whether more follow.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        found: list[Answer] = []
        while True:
            wanted = limit - len(found)
            places = await self._store.listed(status, before, wanted + 1)
            for _, match_id in places[:wanted]:
                answer = await self.look(match_id, caller)
                if answer is None:  # its log has expired
                    await self._store.unlist(match_id)
                else:
                    found.append(answer)
            if len(found) == limit or len(places) <= wanted:
                return found, len(places) > wanted
            before = places[wanted - 1]

    async def follow(
        self, match_id: str, caller: str | None, after: int | None
    ) -> AsyncGenerator[Moment, None]:
        """The state and then each commit, or with ``after`` every commit after that version.

        In order, none twice, none missing; ends once the match is over.

        Raises:
            Refused: NOT_FOUND, or CURSOR_EXPIRED for a version that the log does not have.
            Unavailable: Redis cannot be reached.
        """
        with self._timelines.follow(match_id) as timeline:
            await self.check_follow(match_id, caller, after)
            version = timeline.version if after is None else after
            match = timeline.at(version) if version else None
            if after is None and match is not None:
                last = timeline.commits[version - 1]
                yield Moment(version, last.hash, last.at, (), view(match, match.seat_of(caller)))
            while match is None or not match.status.over:
                if version > timeline.version:
                    raise _expired(timeline)  # the store lost the log's end
                for commit in timeline.commits[version:]:
                    match, version = fold(match, commit.events), commit.version
                    if not _may_see(match, caller):
                        return
                    yield _moment(commit, match, caller)
                if match is None or not match.status.over:
                    await timeline.wait(version)

    async def check_follow(self, match_id: str, caller: str | None, after: int | None) -> None:
        """Whether the match can be followed from there, asked before a stream begins.

        Raises:
            Refused: NOT_FOUND, or CURSOR_EXPIRED for a version that the log does not have.
            Unavailable: Redis cannot be reached.
        """
        if not is_match_id(match_id):
            raise not_found()
        timeline = self._timelines.get(match_id)
        await self._refresh(timeline)
        if timeline.match is None or not _may_see(timeline.match, caller):
            raise not_found()
        if after is not None and not 0 <= after <= timeline.version:
            raise _expired(timeline)

    async def keep_up(self) -> None:
        """Follow the store's bells for all subscribers of this process, until cancelled."""
        async for rung in self._store.bells():
            for timeline in self._timelines.followed(rung):
                try:
                    await self._refresh(timeline)
                except Exception as error:  # noqa: BLE001 - one match must not stop the others
                    log.warning("refresh failed: %s", type(error).__name__)

    # What the house does.

    async def owed(self, match_id: str, version: int | None = None) -> Owed | None:
        """What the house owes a match, None if nothing, or if ``version`` is no longer current.

        Raises:
            Refused: NOT_FOUND.
            Unavailable: Redis cannot be reached.
        """
        timeline = self._timelines.get(match_id)
        await self._refresh(timeline)
        match = timeline.match
        if match is None:
            self._timelines.drop(match_id)
            raise not_found()
        what = due(match)
        if what is None or version not in (None, timeline.version):
            return None
        seat = what.seat if isinstance(what, BotToAct | ClockToExpire) else None
        return Owed(match_id, timeline.version, what, None if seat is None else view(match, seat))

    async def settle(self, owed: Owed, command: Action | ScoreRound | ExpireTurn) -> None:
        """Carry out what the house owed, unless the match has moved on: then nothing happens.

        Raises:
            RuleError: the action is not legal.
            Refused: NOT_FOUND.
            Unavailable: Redis cannot be reached.
        """
        meta = Meta(expected_version=owed.version)
        try:
            await self._submit(owed.match_id, None, lambda _: command, meta)
        except Refused as refused:
            if refused.code is not ErrorCode.STALE_VERSION:
                raise

    # The path of every change.

    async def _submit(
        self, match_id: str, caller: str | None, command: Callable[[Match], Command], meta: Meta
    ) -> Answer:
        if not is_match_id(match_id):
            raise not_found()
        timeline = self._timelines.get(match_id)
        key = Key(caller, meta.key) if caller is not None and meta.key is not None else None
        fingerprint = _fingerprint(meta.request) if key else ""
        nonce = secrets.token_hex(6)
        async with timeline.writing:
            for _ in range(ATTEMPTS):
                known = timeline.version
                done = await self._done_before(timeline, key, fingerprint)
                if done is not None:
                    return self._answer(timeline, caller, done)
                for commit in timeline.commits[known:]:
                    if commit.nonce == nonce:  # our append, whose answer was lost
                        return self._answer(timeline, caller, commit.version)
                match = timeline.match
                if match is None:
                    self._timelines.drop(match_id)
                    raise not_found()
                if meta.expected_version not in (None, timeline.version):
                    raise _stale(timeline)
                events = decide(match, command(match), self._now())
                if not events or await self._append(timeline, events, nonce, key, fingerprint):
                    return self._answer(timeline, caller)
            await self._refresh(timeline)
            raise _stale(timeline)

    async def _done_before(
        self, timeline: Timeline, key: Key | None, fingerprint: str
    ) -> int | None:
        """Bring the timeline up to date; the version that ``key`` made, None if it made none."""
        remembered = await self._refresh(timeline, key)
        if remembered is None:
            return None
        if remembered[0] != fingerprint:
            raise Refused(
                ErrorCode.KEY_REUSED,
                "This idempotency key was used for another request.",
                field="idempotencyKey",
            )
        if remembered[1] > timeline.version:
            await self._refresh(timeline)
        return remembered[1]

    async def _refresh(self, timeline: Timeline, key: Key | None = None) -> tuple[str, int] | None:
        since = timeline.version
        commits, remembered = await self._store.load(timeline.match_id, since, key)
        if not timeline.merge(since, commits):
            commits, remembered = await self._store.load(timeline.match_id, 0, key)
            timeline.merge(0, commits)
        return (remembered.fingerprint, remembered.version) if remembered else None

    async def _append(
        self, timeline: Timeline, events: Events, nonce: str, key: Key | None, fingerprint: str
    ) -> bool:
        before, now = timeline.match, self._now()
        after = fold(before, events)
        owed = due(after)
        previous = (
            timeline.commits[-1].hash
            if timeline.commits
            else chain.beginning(after.match_id, after.deck_commitment)
        )
        digest = chain.link(previous, chain.public(events))
        commit = Commit(timeline.version + 1, now, events, nonce, digest)
        written = await self._store.append(
            Append(
                match_id=timeline.match_id,
                commit=commit,
                due_at=self._due_at(owed, now),
                ttl=self._limits.finished_ttl if after.status.over else self._limits.match_ttl,
                key=key,
                fingerprint=fingerprint,
                listing=_listing(before, after),
            )
        )
        if written:
            timeline.merge(timeline.version, [*timeline.commits[-1:], commit])
            if log.isEnabledFor(logging.DEBUG):
                log.debug("match %s version %d %s", after.match_id, commit.version, _line(after))
            if owed is not None and not isinstance(owed, ClockToExpire):
                self._jobs.hint(timeline.match_id, commit.version, owed)
        return written

    def _due_at(self, owed: Due | None, now: int) -> int | None:
        if owed is None:
            return None
        return owed.deadline if isinstance(owed, ClockToExpire) else now + self._limits.grace_ms

    def _answer(self, timeline: Timeline, caller: str | None, version: int | None = None) -> Answer:
        version = timeline.version if version is None else version
        match = timeline.at(version)
        digest = timeline.commits[version - 1].hash
        return Answer(version, digest, view(match, match.seat_of(caller)))


def _new_code() -> str:
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))


def _line(match: Match) -> str:
    # What everybody may know: a log may carry no more.
    return match.status if match.round is None else format_view(view(match, None))


def _may_see(match: Match, caller: str | None) -> bool:
    if match.visibility is Visibility.PUBLIC:
        return True
    return caller is not None and (match.host == caller or match.seat_of(caller) is not None)


def _moment(commit: Commit, match: Match, caller: str | None) -> Moment:
    events = tuple(told for event in commit.events if (told := redact(event)) is not None)
    seen = view(match, match.seat_of(caller))
    return Moment(commit.version, commit.hash, commit.at, events, seen)


def _listing(before: Match | None, after: Match) -> Listing | None:
    if after.visibility is not Visibility.PUBLIC:
        return None
    if before is not None and before.status is after.status:
        return None
    return Listing(after.created_at, before.status if before else None, after.status)


def _fingerprint(request: Any) -> str:
    return sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()[:32]


def _stale(timeline: Timeline) -> Refused:
    return Refused(
        ErrorCode.STALE_VERSION,
        f"The match has moved on; it is at version {timeline.version}.",
        field="expectedVersion",
        current_version=timeline.version,
    )


def _expired(timeline: Timeline) -> Refused:
    return Refused(
        ErrorCode.CURSOR_EXPIRED,
        f"The log has no such version; the current one is {timeline.version}.",
        field="after",
        current_version=timeline.version,
    )
