"""The one door to a match, for every transport and worker alike."""

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from api import tracing
from api.cancelling import end_if_cancelled
from api.errors import Refused, Unavailable, Unreadable, Unwritable, not_found
from api.following import Following
from api.holds import Holds
from api.ledger import Ledger, now_ms
from api.observe.metrics import subscriber_lag
from api.ports import Commit, Directory, EventStore, Jobs, Ring
from api.store.keys import new_match_id
from api.timelines import Timeline, moment, seen_by
from api.values import (
    ANYHOW,
    Answer,
    Fault,
    Inspection,
    Joining,
    Limits,
    Meta,
    Moment,
    NewMatch,
    Owed,
    Told,
)
from engine import replay
from engine.actions import Action
from engine.bots.advice import Advice, advise, advisers
from engine.commands import (
    AbandonMatch,
    CancelMatch,
    Command,
    CreateMatch,
    ExpireTurn,
    JoinMatch,
    LeaveMatch,
    PlayForAway,
    RestartClock,
    ReturnToMatch,
    ScoreRound,
    StartMatch,
)
from engine.due import BotToAct, ClockToExpire, Due, MatchToAbandon, due, to_act
from engine.errors import Reason, RuleError
from engine.events import TurnExpired
from engine.evolve import fold
from engine.state import Match, Status, Visibility
from engine.views import history, view
from schema.codes import ErrorCode
from schema.pages import TOLD

CODE_ALPHABET: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
CODE_LENGTH: Final = 8
LOOKS: Final = 16  # matches of a page that are read at once, well under the pool's connections

log = logging.getLogger("ringmaster.service")


class MatchService:
    """Everything that can be done with matches, for every transport and worker alike."""

    def __init__(
        self,
        store: EventStore,
        directory: Directory,
        jobs: Jobs,
        *,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        now: Callable[[], int] = now_ms,
    ) -> None:
        self._store = store
        self._directory = directory
        self._limits = limits
        self._now = now
        self._ledger = Ledger(store, jobs, limits, now)
        self._following = Following(store, self._ledger)
        self._catching_up = asyncio.Lock()
        self._holds = Holds(directory, limits.seat_hold, now)

    # What people do.

    async def create(self, caller: str, new: NewMatch, meta: Meta = ANYHOW) -> Answer:
        """Open a match and start it if no seat is open.

        Raises:
            RuleError: INVALID_INPUT.
            Refused: KEY_REUSED.
            Unavailable: Redis cannot be reached.
        """
        match_id = await self._ledger.claim_id(new_match_id(), caller, meta)
        # A retry needs no code of its own: what it asks for is open already.
        retried = meta.key is not None and await self._ledger.current(match_id) is not None
        code = "" if retried else await self._reserve_code(match_id)
        command = CreateMatch(
            match_id=match_id,
            seats=new.seats,
            visibility=new.visibility,
            host=caller,
            secret=secrets.token_hex(32),
            join_code=code,
            turn_seconds=new.turn_seconds,
            advice=new.advice,
        )
        return _answer(await self._ledger.open(match_id, command), 1, caller)

    async def _reserve_code(self, match_id: str) -> str:
        while True:
            code = _new_code()
            if await self._directory.reserve_code(code, match_id, self._limits.match_ttl):
                return code

    async def join(
        self, match_id: str, caller: str, joining: Joining, meta: Meta = ANYHOW
    ) -> Answer:
        """Take the first open seat of a public match, or of the caller's own; or return to one's.

        Raises:
            Refused: NOT_FOUND, STALE_VERSION, KEY_REUSED.
            RuleError: FORBIDDEN, MATCH_FULL, MATCH_OVER.
            Unavailable: Redis cannot be reached.
        """
        return await self._join(match_id, caller, joining, meta, invited=False)

    async def join_by_code(
        self,
        code: str,
        match_id: str | None,
        caller: str,
        joining: Joining,
        meta: Meta = ANYHOW,
    ) -> Answer:
        """Take the first open seat of the match that a join code leads to.

        ``match_id`` is the match meant, where the caller named one too.

        Raises:
            Refused: NOT_FOUND, STALE_VERSION, KEY_REUSED.
            RuleError: MATCH_FULL, MATCH_OVER.
            Unavailable: Redis cannot be reached.
        """
        found = await self._directory.find_code(code.strip().upper())
        if found is None or match_id not in (None, found):
            raise Refused(ErrorCode.NOT_FOUND, "No match has this join code.", field="joinCode")
        return await self._join(found, caller, joining, meta, invited=True)

    async def _join(
        self, match_id: str, caller: str, joining: Joining, meta: Meta, *, invited: bool
    ) -> Answer:
        def may_enter(match: Match) -> bool:
            return invited or match.visibility is Visibility.PUBLIC or match.host == caller

        joins = False

        def command(match: Match) -> Command:
            nonlocal joins
            joins = match.seat_of(caller) is None
            return JoinMatch(caller, joining.name, may_enter(match), joining.entropy)

        timeline = await self._ledger.current(match_id)
        before = None if timeline is None else timeline.match
        held = (
            before is not None and may_enter(before) and await self._holds.hold(before, caller)
        )  # first, so that a crash after the join leaves no seat that is never freed
        try:
            answer = await self._submit_in_lobby(match_id, caller, command, meta)
        except (RuleError, Refused):
            joins = False
            raise
        finally:
            if held and not joins:  # nobody sat down, or another request of the caller's did
                with suppress(Unavailable):  # then what is held ends by itself
                    await self._holds.end(match_id, caller)
        return answer

    async def leave(self, match_id: str, caller: str, meta: Meta = ANYHOW) -> Answer:
        """Give up one's seat.

        Raises:
            Refused: NOT_FOUND, STALE_VERSION, KEY_REUSED.
            RuleError: NOT_SEATED, MATCH_OVER.
            Unavailable: Redis cannot be reached.
        """
        return await self._submit_in_lobby(match_id, caller, lambda _: LeaveMatch(caller), meta)

    async def start(self, match_id: str, caller: str, meta: Meta = ANYHOW) -> Answer:
        """Start with bots on the seats still open.

        Raises:
            Refused: NOT_FOUND, STALE_VERSION, KEY_REUSED.
            RuleError: FORBIDDEN, MATCH_OVER.
            Unavailable: Redis cannot be reached.
        """
        return await self._submit_in_lobby(match_id, caller, lambda _: StartMatch(caller), meta)

    async def come_back(self, match_id: str, caller: str, meta: Meta = ANYHOW) -> Answer:
        """Play one's seat again, if a bot does so since one was away.

        Raises:
            Refused: NOT_FOUND, STALE_VERSION, KEY_REUSED.
            RuleError: NOT_SEATED, MATCH_OVER.
            Unavailable: Redis cannot be reached.
        """
        return await self._submit(match_id, caller, lambda _: ReturnToMatch(caller), meta)

    async def cancel(
        self, match_id: str, caller: str, viewer: str | None, reason: str, meta: Meta = ANYHOW
    ) -> Answer:
        """End any match at an operator's word; the answer is what ``viewer`` may see of it.

        Raises:
            Refused: NOT_FOUND, STALE_VERSION, KEY_REUSED.
            RuleError: MATCH_OVER.
            Unavailable: Redis cannot be reached.
        """
        timeline, version = await self._ledger.submit(
            match_id, caller, lambda _: CancelMatch(reason), meta
        )
        return _answer(timeline, version, viewer)

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

        try:
            return await self._submit(match_id, caller, command, meta)
        except RuleError:
            await self._holds.use(self._ledger.timelines.get(match_id), caller)
            raise

    async def look(self, match_id: str, caller: str | None) -> Answer | None:
        """The match as the caller may see it now, None if there is none for this caller.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        timeline = await self._seen(match_id, caller)
        return None if timeline is None else _answer(timeline, timeline.version, caller)

    async def advise(self, match_id: str, caller: str, level: str, first: int) -> list[Advice]:
        """What a level would do in the caller's place, the best first; nothing out of turn.

        Raises:
            Refused: NOT_FOUND.
            RuleError: NOT_SEATED, FORBIDDEN where the match allows no advice, or INVALID_INPUT.
            Unavailable: Redis cannot be reached.
        """
        if level not in advisers():
            sentence = f"No such level gives advice; {', '.join(advisers())} do."
            raise RuleError(Reason.INVALID_INPUT, "level", sentence)
        timeline = await self._seen(match_id, caller)
        if timeline is None:
            raise not_found()
        match = timeline.at(timeline.version)
        seat = match.seat_of(caller)
        if seat is None:
            raise RuleError(Reason.NOT_SEATED)
        if not match.advice:
            raise RuleError(Reason.FORBIDDEN, "matchId", "This match was opened without advice.")
        if seat not in to_act(match):
            return []
        return advise(view(match, seat), history(timeline.round_events()), level, first)

    async def replay(self, match_id: str, caller: str | None) -> dict[str, Any] | None:
        """The replay of a finished match that the caller may see, None if there is none.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        timeline = await self._seen(match_id, caller)
        if timeline is None or timeline.at(timeline.version).status is not Status.FINISHED:
            return None
        return replay.document((commit.events, commit.hash) for commit in timeline.commits)

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
            for first in range(0, wanted, LOOKS):
                some = places[first : min(first + LOOKS, wanted)]
                answers = await asyncio.gather(*(self._listed(m, caller) for _, m in some))
                found += [answer for answer in answers if answer is not None]
            if len(found) == limit or len(places) <= wanted:
                return found, len(places) > wanted
            before = places[wanted - 1]

    async def _listed(self, match_id: str, caller: str | None) -> Answer | None:
        """A match of a list, None if it has expired, or if this release cannot read it."""
        try:
            answer = await self.look(match_id, caller)
        except Unreadable:
            return None  # the others are listed all the same
        if answer is None:
            with suppress(Unwritable):  # the next reader takes it out
                await self._store.unlist(match_id)
        return answer

    async def follow(
        self, match_id: str, caller: str | None, after: int | None
    ) -> AsyncGenerator[Moment, None]:
        """The state and then each commit, or with ``after`` every commit after that version.

        In order, none twice, none missing; ends once the match is over.

        Raises:
            Refused: NOT_FOUND, or CURSOR_EXPIRED for a version that the log does not have.
            Unavailable: Redis cannot be reached.
        """
        with self._ledger.timelines.follow(match_id) as timeline:
            await self.check_follow(match_id, caller, after)
            version = timeline.version if after is None else after
            match, caught_up = timeline.at(version) if version else None, False
            told = timeline.nonce_of(version)
            if after is None and match is not None:
                last = timeline.commits[version - 1]
                yield replace(moment(last, match, caller), events=(), encoded={})
            while match is None or not match.status.over:
                if told != timeline.nonce_of(version):
                    with suppress(Unavailable):  # to tell where it stands
                        await self._ledger.refresh(timeline)
                    raise _expired(timeline)  # the store lost the log's end, or has another now
                for commit in timeline.commits[version:]:
                    # As of now: who came late may see the past, who has left sees no more.
                    if timeline.match is None or not _may_see(timeline.match, caller):
                        return
                    version, told = commit.version, commit.nonce
                    if commit is timeline.commits[-1]:
                        match = timeline.match
                        with tracing.update(commit.nonce, match_id, version):
                            yield timeline.last(caller)
                        if caught_up:
                            self._handed(commit)
                    else:
                        await self._turn()
                        match = fold(match, commit.events)
                        yield moment(commit, match, caller)
                if match is None or not match.status.over:
                    await self._holds.use(timeline, caller)  # who sat down since follows it
                    end_if_cancelled()
                    caught_up = True
                    await timeline.wait(version)

    def _handed(self, commit: Commit) -> None:
        """An update was taken by a subscriber's connection, as soon as it could be."""
        if not isinstance(commit.events[0], TurnExpired):  # dated when it was due
            subscriber_lag.observe(max(0, self._now() - commit.at) / 1000)

    async def _turn(self) -> None:
        """Wait for one's turn to be told of the past: one update at a time, others in between.

        However many catch up at once, they hold the event loop up no longer than one of them.
        """
        async with self._catching_up:
            await asyncio.sleep(0)

    async def updates(
        self, match_id: str, caller: str | None, after: int, limit: int
    ) -> tuple[list[Moment], int]:
        """The commits after a version, ``limit`` at most; and the match's current version.

        Raises:
            Refused: NOT_FOUND, or CURSOR_EXPIRED for a version that the log does not have.
            Unavailable: Redis cannot be reached.
        """
        timeline = await self._followed(match_id, caller, after)
        match = timeline.at(after) if after else None
        moments = []
        for commit in timeline.commits[after : after + limit]:
            match = fold(match, commit.events)
            moments.append(moment(commit, match, caller))
        return moments, timeline.version

    async def check_follow(self, match_id: str, caller: str | None, after: int | None) -> Answer:
        """The match, if it can be followed from there; asked before a stream begins.

        Raises:
            Refused: NOT_FOUND, or CURSOR_EXPIRED for a version that the log does not have.
            Unavailable: Redis cannot be reached.
        """
        timeline = await self._followed(match_id, caller, after)
        return _answer(timeline, timeline.version, caller)

    async def _followed(self, match_id: str, caller: str | None, after: int | None) -> Timeline:
        timeline = await self._seen(match_id, caller)
        if timeline is None:
            raise not_found()
        if after is not None and not 0 <= after <= timeline.version:
            raise _expired(timeline)
        return timeline

    async def keep_up(self, also: Callable[[Ring | None], None] = lambda _: None) -> None:
        """Follow the store's bells for all subscribers of this process, until cancelled.

        ``also`` is told of every ring; None: anything may have happened.
        """
        await self._following.run(also)

    def in_doubt(self) -> bool:
        """Whether there is an append that was not answered, and may have been made."""
        return self._ledger.in_doubt()

    async def settle_doubts(self) -> None:
        """Find out about them, as far as that is possible now; called once in a while."""
        await self._ledger.settle_doubts()

    def keeps_up(self) -> bool:
        """Whether what happens reaches the subscribers of this process."""
        return self._following.is_well()

    # What the house does.

    async def owed(self, match_id: str, version: int | None = None) -> Owed | None:
        """What the house owes a match, None if nothing, or if ``version`` is no longer current.

        Raises:
            Refused: NOT_FOUND.
            Unavailable: Redis cannot be reached.
        """
        timeline = await self._ledger.current(match_id)
        if timeline is None:
            raise not_found()
        return self._owed(timeline) if version in (None, timeline.version) else None

    def _owed(self, timeline: Timeline) -> Owed | None:
        match, match_id = timeline.at(timeline.version), timeline.match_id
        what = self._due(match)
        if what is None:
            return None
        if not isinstance(what, BotToAct | ClockToExpire):
            return Owed(match_id, timeline.version, what)
        seen, known = view(match, what.seat), history(timeline.round_events())
        return Owed(match_id, timeline.version, what, seen, known)

    def _due(self, match: Match) -> Due | None:
        since = match.deserted_since
        if since is not None and not match.status.over:
            until = self._limits.abandon_at(since)
            if until is not None and until <= self._now():
                return MatchToAbandon(since)
        return due(match)

    async def inspect(self, match_id: str) -> Inspection:
        """A match for an operator, private ones too: without a card that is hidden.

        Raises:
            Refused: NOT_FOUND.
            Unreadable: its log cannot be read.
            Unavailable: Redis cannot be reached.
        """
        timeline = await self._ledger.current(match_id)
        if timeline is None:
            raise not_found()
        match = timeline.at(timeline.version)
        return Inspection(
            answer=_answer(timeline, timeline.version, None),
            due=self._due(match),
            host=match.host,
            players=tuple(seat.player_id for seat in match.seats),
            commits=tuple(
                Told(c.version, c.at, tuple(type(event).__name__ for event in c.events))
                for c in timeline.commits[-TOLD:]
            ),
        )

    async def settle(
        self,
        owed: Owed,
        command: Action | PlayForAway | ScoreRound | ExpireTurn | RestartClock | AbandonMatch,
        *,
        go_on: bool = False,
    ) -> Owed | None:
        """Carry out what the house owed, unless the match has moved on: then nothing happens.

        With ``go_on`` the turn of a bot that follows is the caller's: it is returned, and no other
        worker is told of it.

        Raises:
            RuleError: the action is not legal.
            Refused: NOT_FOUND.
            Unavailable: Redis cannot be reached.
        """
        meta = Meta(expected_version=owed.version)
        try:
            timeline, version = await self._ledger.submit(
                owed.match_id, None, lambda _: command, meta, hint_bots=not go_on
            )
        except Refused as refused:
            if refused.code is not ErrorCode.STALE_VERSION:
                raise
            return None
        follows = self._owed(timeline) if go_on and version == timeline.version else None
        return follows if follows is not None and isinstance(follows.due, BotToAct) else None

    async def free_seats(self, limit: int) -> int:
        """Open the seats of the lobby again that nobody came for in time; how many.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        overdue = await self._holds.overdue(limit)
        return sum([await self._free_seat(match_id, player) for match_id, player in overdue])

    async def _free_seat(self, match_id: str, player: str) -> bool:
        def command(match: Match) -> Command:
            if match.status is not Status.LOBBY:
                raise RuleError(Reason.WRONG_PHASE)
            return LeaveMatch(player)

        freed = False
        try:
            await self._submit_in_lobby(match_id, None, command, ANYHOW)
            freed = True
        except Refused as refused:
            if refused.code is ErrorCode.STALE_VERSION:
                return False  # looked at again in a moment
        except (RuleError, Unreadable):
            pass  # it has begun, or nobody sits there
        # Last, so that a crash in between does not leave the seat taken.
        await self._holds.end(match_id, player)
        return freed

    async def count_fault(self, level: str, fault: Fault) -> None:
        """Count a fault of a level; if Redis cannot be reached it is lost, and nothing else is."""
        try:
            await self._directory.count_fault(level, fault)
        except Unavailable as error:
            log.warning("fault of level %s not counted: %s", level, error)

    async def faults(self, level: str) -> int:
        """How often a quick action was played in place of a level's own.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        return sum((await self._directory.faults(level)).values())

    async def _seen(self, match_id: str, caller: str | None) -> Timeline | None:
        timeline = await self._ledger.current(match_id)
        if timeline is None or not _may_see(timeline.at(timeline.version), caller):
            return None
        await self._holds.use(timeline, caller)
        return timeline

    async def _submit_in_lobby(
        self, match_id: str, caller: str | None, command: Callable[[Match], Command], meta: Meta
    ) -> Answer:
        """Submit what a lobby is changed by; its join code lives as long as it does."""
        answer = await self._submit(match_id, caller, command, meta)
        match = self._ledger.timelines.get(match_id).match
        if match is not None and match.join_code is not None:
            try:
                await self._directory.keep_code(match.join_code, self._limits.match_ttl)
            except Unavailable as error:  # what was asked for is done
                log.warning("match %s: join code not kept: %s", match_id, error)
        return answer

    async def _submit(
        self, match_id: str, caller: str | None, command: Callable[[Match], Command], meta: Meta
    ) -> Answer:
        timeline, version = await self._ledger.submit(match_id, caller, command, meta)
        return _answer(timeline, version, caller)


def _answer(timeline: Timeline, version: int, caller: str | None) -> Answer:
    if version == timeline.version:
        last = timeline.last(caller)
        return Answer(version, last.hash, last.view, last.encoded, last.shared)
    match = timeline.at(version)
    digest = timeline.commits[version - 1].hash
    return Answer(version, digest, seen_by(match, caller))


def _new_code() -> str:
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))


def _may_see(match: Match, caller: str | None) -> bool:
    if match.visibility is Visibility.PUBLIC:
        return True
    return caller is not None and (match.host == caller or match.seat_of(caller) is not None)


def _expired(timeline: Timeline) -> Refused:
    return Refused(
        ErrorCode.CURSOR_EXPIRED,
        f"The log has no such version; the current one is {timeline.version}.",
        field="after",
        current_version=timeline.version,
    )
