"""Everything that operators can do, for every transport and the command line alike."""

import asyncio
import logging
import re
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from api.errors import Refused, ServiceError, Unavailable, Unreadable
from api.identity.service import Identity
from api.jobs import CeleryJobs
from api.ledger import now_ms
from api.operators.ports import Entry, Process, Processes, Records
from api.ports import EventStore
from api.problems import request_extensions
from api.service import MatchService
from api.values import ANYHOW, Answer, Inspection, Limits, Meta
from engine.due import BotToAct, ClockToExpire, MatchToAbandon, RoundToScore
from engine.errors import RuleError
from schema.acts import Act, WaitsFor
from schema.codes import ErrorCode

STUCK_SECONDS: Final = 10  # after which what is owed and not done is called stuck
LOOKED_AT: Final = 1000  # matches that are owed something, the longest due first
AT_ONCE: Final = 16  # of them read at once, well under the pool's connections
_ID: Final = re.compile(r"[!-~]{1,200}")
_TARGETS: Final = {  # what the log may tell of
    Act.INSPECT_MATCH: "match",
    Act.CANCEL_MATCH: "match",
    Act.SEND_DUE: "match",
    Act.DRAIN_PROCESS: "process",
}
# The sweeper puts what it sends again off by so many times the grace; it is owed all the same.
POSTPONED: Final = 4

log = logging.getLogger("ringmaster.operators")


@dataclass(frozen=True, slots=True)
class Stuck:
    """A match that is owed something since too long ago.

    ``since`` in milliseconds since the epoch; ``inspection`` None if its log cannot be read.
    """

    match_id: str
    waits_for: WaitsFor
    since: int
    inspection: Inspection | None


@dataclass(frozen=True, slots=True)
class Operator:
    """Who acts: an id for the record, and through whose eyes an answer is seen."""

    name: str
    viewer_id: str | None = None


class Operators:
    """Looks after what is stuck; every act is on record before it is done."""

    def __init__(
        self,
        *,
        service: MatchService,
        store: EventStore,
        identity: Identity,
        jobs: CeleryJobs,
        records: Records,
        processes: Processes,
        limits: Limits,
        now: Callable[[], int] = now_ms,
    ) -> None:
        self._service = service
        self._store = store
        self._identity = identity
        self._jobs = jobs
        self._records = records
        self._processes = processes
        self._limits = limits
        self._now = now

    async def stuck(self, seconds: int = STUCK_SECONDS, limit: int = 100) -> list[Stuck]:
        """Matches that have been owed something for so many seconds, the longest first.

        Of more than 1,000 that are owed something, the 1,000 longest due are looked at.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        until = self._now() + POSTPONED * self._limits.grace_ms
        due = await self._store.due(until, LOOKED_AT)
        found: list[Stuck] = []
        for first in range(0, len(due), AT_ONCE):
            some = due[first : first + AT_ONCE]
            found += filter(None, await asyncio.gather(*(self._look(m, at) for m, at in some)))
        late = [one for one in found if self._now() - one.since >= seconds * 1000]
        return sorted(late, key=lambda one: (one.since, one.match_id))[:limit]

    async def _look(self, match_id: str, at: int) -> Stuck | None:
        try:
            seen = await self._service.inspect(match_id)
        except Unreadable:
            return Stuck(match_id, WaitsFor.READABLE_LOG, at, None)
        except Refused:
            return None  # it has expired
        if seen.waits_for is None:
            return None
        return Stuck(match_id, seen.waits_for, self._since(seen), seen)

    def _since(self, seen: Inspection) -> int:
        match seen.due:
            case ClockToExpire(deadline=deadline):
                return deadline
            case MatchToAbandon(since=since):
                return self._limits.abandon_at(since) or self._now()
            case _:
                return seen.commits[-1].at

    async def inspect(self, by: Operator, match_id: str) -> Inspection:
        """A match as everybody could see it, its players, and what it waits for.

        Raises:
            Refused: NOT_FOUND.
            Unreadable: its log cannot be read.
            Unavailable: Redis cannot be reached.
        """
        async with self._recorded(by, Act.INSPECT_MATCH, match_id):
            return await self._service.inspect(match_id)

    async def cancel(self, by: Operator, match_id: str, reason: str, meta: Meta = ANYHOW) -> Answer:
        """End a match without a result.

        Raises:
            Refused: NOT_FOUND, STALE_VERSION, KEY_REUSED.
            RuleError: MATCH_OVER.
            Unavailable: Redis cannot be reached.
        """
        async with self._recorded(by, Act.CANCEL_MATCH, match_id, reason):
            return await self._service.cancel(match_id, by.name, by.viewer_id, reason, meta)

    async def send_due(self, by: Operator, match_id: str | None, *, quick: bool = False) -> int:
        """Send the workers again what a match is owed, or what all that are stuck are.

        How many were sent. It changes nothing where it was done meanwhile. ``quick``: a bot's level
        is not asked, a quick move is played in its place.

        Raises:
            Refused: NOT_FOUND.
            Unreadable: the log of this match cannot be read.
            Unavailable: Redis or the broker cannot be reached; some may have been sent.
        """
        reason = "quick" if quick else None
        async with self._recorded(by, Act.SEND_DUE, match_id or "", reason):
            if match_id is not None:
                return await self._send(await self._service.inspect(match_id), quick=quick)
            stuck = await self.stuck(limit=LOOKED_AT)
            return sum([await self._send(s.inspection, quick=quick) for s in stuck if s.inspection])

    async def _send(self, seen: Inspection, *, quick: bool) -> int:
        if not isinstance(seen.due, BotToAct | RoundToScore | ClockToExpire):
            return 0  # what is to be abandoned is the sweeper's own work
        if isinstance(seen.due, ClockToExpire) and seen.due.deadline > self._now():
            return 0
        match_id, version = seen.answer.view.match_id, seen.answer.version
        await self._jobs.send(match_id, version, seen.due, quick=quick)
        return 1

    async def processes(self) -> list[Process]:
        """The processes that have said in the last seconds that they are at work.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        return await self._processes.all()

    async def drain(self, by: Operator, process_id: str, reason: str) -> None:
        """Ask a process to finish what it does and end, as SIGTERM does; in two seconds or so.

        Raises:
            Refused: NOT_FOUND.
            Unavailable: Redis cannot be reached.
        """
        async with self._recorded(by, Act.DRAIN_PROCESS, process_id, reason):
            if not await self._processes.ask_to_end(process_id):
                sentence = "There is no such process."
                raise Refused(ErrorCode.NOT_FOUND, sentence, field="processId")

    async def revoke(self, by: Operator, player_id: str, reason: str) -> int:
        """End every token of a player, and every stream of these; how many were valid.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        async with self._recorded(by, Act.REVOKE_TOKENS, player_id, reason):
            return await self._identity.revoke_all(player_id)

    async def acts(
        self, before: tuple[int, str] | None = None, limit: int = 100
    ) -> tuple[list[Entry], bool]:
        """The acts on record, the newest first, from a place on; and whether more follow.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        found = await self._records.newest(before, limit + 1)
        return found[:limit], len(found) > limit

    @asynccontextmanager
    async def _recorded(
        self, by: Operator, act: Act, target: str, reason: str | None = None
    ) -> AsyncIterator[None]:
        """Put an act on record before it is done, and how it ended after.

        Raises:
            Refused: NOT_FOUND for what can be the id of nothing.
        """
        if target and not _ID.fullmatch(target):
            raise Refused(ErrorCode.NOT_FOUND, "There is nothing of this id.")
        entry = Entry(secrets.token_hex(8), self._now(), by.name, act, target, reason)
        await self._records.begin(entry)
        outcome = "INTERNAL"
        try:
            yield
            outcome = "DONE"
        except RuleError as error:
            outcome = error.reason.value
            raise
        except ServiceError as error:
            outcome = str(request_extensions(error)["code"])
            raise
        finally:
            # Who did it to whom is on record; a line of the log tells no player.
            fields = {"act": act.value, "record": entry.entry_id, "code": outcome}
            fields |= {_TARGETS[act]: target} if act in _TARGETS and target else {}
            log.info("act", extra={"fields": fields})
            try:
                await self._records.end(entry.entry_id, outcome)
            except Unavailable as error:  # what was asked for is done, or told why not
                log.warning("outcome of act %s not kept: %s", entry.entry_id, error)


def due_of(seen: Inspection) -> tuple[int | None, str | None]:
    """The seat whose turn the house has to play, and its level if it is a bot's."""
    match seen.due:
        case BotToAct(seat=seat, level=level):
            return seat, level
        case ClockToExpire(seat=seat):
            return seat, None
        case _:
            return None, None
