"""The path of every change to a match: load, decide, append, announce. Nothing else writes."""

import json
import logging
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

from api import tracing
from api.errors import Refused, Unavailable, Unconfirmed, Unreadable, not_found
from api.observe import work
from api.observe.doubts import About, Doubts, about
from api.patience import in_time
from api.ports import Append, Commit, EventStore, Jobs, Key, Listing, Remembered
from api.store.keys import is_match_id
from api.timelines import Timeline, Timelines
from api.values import Limits, Meta
from engine import chain
from engine.commands import Command
from engine.decide import Events, decide
from engine.due import BotToAct, ClockToExpire, Due, MatchToAbandon, RoundToScore, due
from engine.errors import RuleError
from engine.events import TurnExpired
from engine.evolve import fold
from engine.notation import format_view
from engine.state import Match, Status, Visibility
from engine.views import view
from schema.codes import ErrorCode

ATTEMPTS: Final = 10  # more than there are others who may act at once

log = logging.getLogger("ringmaster.service")


def now_ms() -> int:
    """Milliseconds since the Unix epoch."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One submission, however often it is tried; ``nonce`` marks its commit as ours."""

    nonce: str
    key: Key | None
    hint_bots: bool = True


class Ledger:
    """The logs of all matches as this process reads and writes them."""

    def __init__(
        self, store: EventStore, jobs: Jobs, limits: Limits, now: Callable[[], int]
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._limits = limits
        self._now = now
        self.timelines = Timelines()
        self._doubts = Doubts()

    async def current(self, match_id: str) -> Timeline | None:
        """A match's timeline, up to date; None if there is no such match.

        Raises:
            Unavailable: the store cannot be reached.
        """
        if not is_match_id(match_id):
            return None
        timeline = self.timelines.get(match_id)
        await self.refresh(timeline)
        if timeline.match is None:
            self.timelines.drop(match_id)
            return None
        work.touched(match_id, timeline.version)
        return timeline

    async def refresh(self, timeline: Timeline, key: Key | None = None) -> Remembered | None:
        """Bring a timeline up to date; what ``key`` has done.

        Raises:
            Unavailable: the store cannot be reached.
            Unreadable: the log cannot be read.
        """
        since = timeline.version
        try:
            commits, remembered = await self._store.load(timeline.match_id, since, key)
            if not timeline.merge(since, commits):
                commits, remembered = await self._store.load(timeline.match_id, 0, key)
                timeline.merge(0, commits)
        except (ValueError, LookupError, TypeError) as error:  # a codec's, or a fold's
            log.error("match %s cannot be read: %s", timeline.match_id, type(error).__name__)  # noqa: TRY400
            raise Unreadable("This match cannot be read by this release.") from None
        self._doubts.settle(timeline)
        return remembered

    def in_doubt(self) -> bool:
        """Whether there is an append that was not answered, and may have been made."""
        return bool(self._doubts.matches())

    async def settle_doubts(self) -> None:
        """Find out about them, as far as that is possible now."""
        for match_id in self._doubts.matches():
            with suppress(Unavailable, Unreadable):
                await self.refresh(self.timelines.get(match_id))

    async def claim_id(self, match_id: str, caller: str, meta: Meta) -> str:
        """The id to open a match under: the same for every attempt with the same key.

        Raises:
            Refused: KEY_REUSED.
            Unavailable: the store cannot be reached.
        """
        if meta.key is None:
            return match_id
        key = Key(caller, meta.key, fingerprint(meta.request))
        found = await self._store.claim_id(key, match_id)
        if found is None:
            raise key_reused()
        return found

    async def open(self, match_id: str, command: Command) -> Timeline:
        """Begin the log of a new match; one that has begun is left as it is.

        Raises:
            RuleError: the command is refused.
            Unavailable: the store cannot be reached.
        """
        timeline = self.timelines.get(match_id)
        if timeline.match is not None:
            await self.refresh(timeline)  # its log may have expired
        if timeline.match is None:
            events = decide(None, command, self._now())
            attempt = _Attempt(secrets.token_hex(6), None)
            if await self._append(timeline, events, attempt) is not None:
                return timeline
            # Our own append, repeated after its answer was lost, or that of an earlier attempt.
            await self.refresh(timeline)
        await self._store.confirm(match_id)
        return timeline

    async def submit(
        self,
        match_id: str,
        caller: str | None,
        command: Callable[[Match], Command],
        meta: Meta,
        *,
        hint_bots: bool = True,
    ) -> tuple[Timeline, int]:
        """Carry out ``command(state)``; the match's timeline and the version that answers it.

        ``hint_bots``: not if the caller goes on with the turn of a bot that follows.

        Raises:
            RuleError: the command is refused.
            Refused: NOT_FOUND, STALE_VERSION, KEY_REUSED.
            Unavailable: the store cannot be reached.
        """
        if not is_match_id(match_id):
            raise not_found()
        timeline = self.timelines.get(match_id)
        key = None
        if caller is not None and meta.key is not None:
            request = fingerprint([match_id, meta.request, meta.expected_version])
            key = Key(caller, meta.key, request)
        attempt = _Attempt(secrets.token_hex(6), key, hint_bots)
        async with in_time(), timeline.writing:  # those before us may wait for Redis
            try:
                version = await self._submit(timeline, command, meta, attempt)
            finally:
                work.touched(match_id, timeline.version)
            work.touched(match_id, version)
            return timeline, version

    async def _submit(
        self,
        timeline: Timeline,
        command: Callable[[Match], Command],
        meta: Meta,
        attempt: _Attempt,
    ) -> int:
        known = timeline.version
        if attempt.key is None and (timeline.followers or meta.expected_version == known):
            written = await self._submit_unread(timeline, command, meta, attempt)
            if written is not None:
                return written
        for _ in range(ATTEMPTS):
            done = await self._done_before(timeline, attempt, known)
            if done is not None:
                await self._store.confirm(timeline.match_id)  # no earlier attempt may have
                return done
            match = timeline.match
            if match is None:
                self.timelines.drop(timeline.match_id)
                raise not_found()
            if meta.expected_version not in (None, timeline.version):
                break
            events = decide(match, command(match), self._now())
            if not events:
                if attempt.key is not None:
                    last = Remembered(
                        attempt.key.fingerprint, timeline.version, timeline.commits[-1].nonce
                    )
                    await self._store.remember(timeline.match_id, attempt.key, last)
                return timeline.version
            written = await self._append(timeline, events, attempt)
            if written is not None:
                return written
        raise stale(timeline)

    async def _submit_unread(
        self,
        timeline: Timeline,
        command: Callable[[Match], Command],
        meta: Meta,
        attempt: _Attempt,
    ) -> int | None:
        """Carry it out upon what is known without a look at the log; None if that will not do.

        The store refuses what does not follow the log's last commit, so nothing is taken for true
        that is not; and nobody is refused for what may have changed.
        """
        match = timeline.match
        if match is None or meta.expected_version not in (None, timeline.version):
            return None
        try:
            events = decide(match, command(match), self._now())
        except RuleError:
            return None
        return await self._append(timeline, events, attempt) if events else None

    async def _done_before(self, timeline: Timeline, attempt: _Attempt, known: int) -> int | None:
        """Bring the timeline up to date; the version in which this was done, None if in none."""
        remembered = await self.refresh(timeline, attempt.key)
        if remembered is not None:
            if attempt.key is None or remembered.fingerprint != attempt.key.fingerprint:
                raise key_reused()
            if remembered.version > timeline.version:
                await self.refresh(timeline)
            if _stands(timeline, remembered):
                return remembered.version
            # The log that the key was used in has expired; what has its id now is another.
            raise not_found() if timeline.match is None else stale(timeline)
        for commit in timeline.commits[known:]:
            if commit.nonce == attempt.nonce:  # our append, whose answer was lost
                return commit.version
        return None

    async def _append(self, timeline: Timeline, events: Events, attempt: _Attempt) -> int | None:
        """Write a commit at the next version and announce it; None if the log has moved on."""
        before, now = timeline.match, self._now()
        at = _dated(timeline, events, now)
        after = fold(before, events)
        owed = due(after)
        previous = (
            timeline.commits[-1].hash
            if timeline.commits
            else chain.beginning(after.match_id, after.deck_commitment)
        )
        digest = chain.link(previous, chain.public(events))
        commit = Commit(timeline.version + 1, at, events, attempt.nonce, digest)
        append = Append(
            match_id=timeline.match_id,
            commit=commit,
            due_at=self._due_at(owed, now),
            ttl=self._limits.finished_ttl if after.status.over else self._limits.match_ttl,
            previous=timeline.commits[-1].nonce if timeline.commits else "",
            lobby=_in_lobby(before) or _in_lobby(after),
            key=attempt.key,
            listing=_listing(before, after),
            over=after.status.over,
        )
        what = about(before, events)
        told: dict[str, Any] = {"match": timeline.match_id, "version": commit.version}
        with tracing.span("commit", **told, action=what.action or what.event):
            return await self._write(timeline, append, after, what=what, owed=owed, attempt=attempt)

    async def _write(
        self,
        timeline: Timeline,
        append: Append,
        after: Match,
        *,
        what: About,
        owed: Due | None,
        attempt: _Attempt,
    ) -> int | None:
        match_id, commit = timeline.match_id, append.commit
        unconfirmed, doubts = None, self._doubts
        if tracing.is_on():
            append = replace(append, traceparent=tracing.traceparent())
            tracing.remember({commit.nonce: append.traceparent})
        doubts.add(commit.nonce, match_id, commit.version, what)
        try:
            if not await self._store.append(append):
                return None  # or it was ours, repeated after its answer was lost
        except Unconfirmed as error:
            unconfirmed = error  # it is written, so the match goes on
        if doubts.drop(commit.nonce):  # or else it was read from the log, and counted, already
            work.committed(match_id, commit.version, what.event, what.action, what.by)
        if not timeline.extend(commit, after):
            await self.refresh(timeline)
        if log.isEnabledFor(logging.DEBUG) and timeline.match is not None:
            log.debug("match %s version %d %s", match_id, commit.version, _line(timeline.match))
        if isinstance(owed, RoundToScore) or (attempt.hint_bots and isinstance(owed, BotToAct)):
            self._jobs.hint(match_id, commit.version, owed)
        if unconfirmed is not None:
            raise unconfirmed
        return commit.version

    def _due_at(self, owed: Due | None, now: int) -> int | None:
        match owed:
            case None:
                return None
            case ClockToExpire():
                return owed.deadline
            case MatchToAbandon():
                return self._limits.abandon_at(owed.since)
            case _:
                return now + self._limits.grace_ms


def _dated(timeline: Timeline, events: Events, now: int) -> int:
    """When a commit happened: a turn that ran out, at its deadline, however late it is found."""
    match = timeline.match
    if match is None or match.deadline is None:
        return now
    if not any(isinstance(event, TurnExpired) for event in events):
        return now
    return min(now, max(match.deadline, timeline.commits[-1].at))


def _stands(timeline: Timeline, remembered: Remembered) -> bool:
    """Whether the log still has what a key is remembered for."""
    if not 0 < remembered.version <= timeline.version:
        return False
    # Keys of the release before were remembered without a nonce.
    return remembered.nonce in {"", timeline.commits[remembered.version - 1].nonce}


def _line(match: Match) -> str:
    # What everybody may know: a log may carry no more.
    return match.status if match.round is None else format_view(view(match, None))


def _in_lobby(match: Match | None) -> bool:
    return (
        match is not None and match.status is Status.LOBBY and match.visibility is Visibility.PUBLIC
    )


def _listing(before: Match | None, after: Match) -> Listing | None:
    if after.visibility is not Visibility.PUBLIC:
        return None
    if before is not None and before.status is after.status:
        return None
    return Listing(after.created_at, before.status if before else None, after.status)


def fingerprint(request: Any) -> str:
    """What tells a request from others under an idempotency key."""
    return sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()[:32]


def stale(timeline: Timeline) -> Refused:
    """The match is at another version than was expected, or was too often overtaken."""
    return Refused(
        ErrorCode.STALE_VERSION,
        f"The match has moved on; it is at version {timeline.version}.",
        field="expectedVersion",
        current_version=timeline.version,
    )


def key_reused() -> Refused:
    """The caller has used the idempotency key for another request."""
    sentence = "This idempotency key was used for another request."
    return Refused(ErrorCode.KEY_REUSED, sentence, field="idempotencyKey")
