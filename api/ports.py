"""What the service needs from outside: a log of commits, a directory, a queue of jobs."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from api.values import Fault
from engine.due import Due
from engine.events import Event
from engine.state import Status


@dataclass(frozen=True, slots=True)
class Commit:
    """One entry of a match's log.

    ``at`` is in milliseconds since the epoch. ``nonce`` tells the appender's own commit from a
    rival's when the answer to the append was lost. ``hash`` is the version's link of the chain
    (``engine.chain``), in hex.
    """

    version: int
    at: int
    events: tuple[Event, ...]
    nonce: str
    hash: str


@dataclass(frozen=True, slots=True)
class Remembered:
    """What an idempotency key has done: the request's fingerprint and the version it made.

    ``nonce`` is that version's commit's, by which it is known if the log was begun anew.
    """

    fingerprint: str
    version: int
    nonce: str = ""


@dataclass(frozen=True, slots=True)
class Key:
    """An idempotency key of one caller, with the fingerprint of the request it is used for."""

    caller: str
    key: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Listing:
    """How a public match moves in the lists: from ``before`` (None: not listed) to ``after``."""

    created_at: int
    before: Status | None
    after: Status


@dataclass(frozen=True, slots=True)
class Append:
    """All that one append writes, or none of it.

    ``due_at``: when the sweeper shall look at the match, None if nothing is owed.
    ``ttl``: seconds that the log is kept from now on.
    ``previous``: the nonce of the commit that it follows; empty for the first, and unchecked.
    ``lobby``: whether it tells something to those who look for a match.
    ``over``: whether it is the last of its match.
    ``traceparent``: the span that it is made under, if any; told to readers and not kept.
    """

    match_id: str
    commit: Commit
    due_at: int | None
    ttl: int
    previous: str = ""
    lobby: bool = False
    key: Key | None = None
    listing: Listing | None = None
    over: bool = False
    traceparent: str = ""


@dataclass(frozen=True, slots=True)
class Ring:
    """What has happened since the last ring, by id.

    Attributes:
        matches: matches and series that were appended to.
        nonces: the last commit's of each match.
        lobby: public matches whose place in the lobby has changed.
        revoked: tokens that are no longer valid.
        traces: the spans under which commits were made, by nonce, where there are any.
    """

    matches: frozenset[str] = frozenset()
    lobby: frozenset[str] = frozenset()
    revoked: frozenset[str] = frozenset()
    nonces: Mapping[str, str] = field(default_factory=dict)
    traces: Mapping[str, str] = field(default_factory=dict)

    def and_(self, other: "Ring") -> "Ring":
        """What either tells."""
        return Ring(
            self.matches | other.matches,
            self.lobby | other.lobby,
            self.revoked | other.revoked,
            {**self.nonces, **other.nonces},
            {**self.traces, **other.traces},
        )


@dataclass(frozen=True, slots=True)
class Pulses:
    """Who was last at work when, in milliseconds since the epoch by the store's own clock.

    Attributes:
        now: the time there.
        api: any process of the API; None if it never was.
        sweeper: the sweeper; None if it never was.
        since: the beginning of the last outage that is known.
        until: its end.
    """

    now: int
    api: int | None
    sweeper: int | None
    since: int | None
    until: int | None


class EventStore(Protocol):
    """The log of every match; appending is publishing.

    Every method raises ``Unavailable`` when the store cannot be reached.
    """

    async def load(
        self, match_id: str, since: int, key: Key | None = None
    ) -> tuple[list[Commit], Remembered | None]:
        """The commits from version ``since`` on (inclusive), and what ``key`` has done.

        The key is claimed for its fingerprint. If another request of the caller has claimed it, for
        whichever match, that one's fingerprint comes back, with version 0.
        """
        ...

    async def claim_id(self, key: Key, match_id: str) -> str | None:
        """The id under which ``key`` opens its match: this one, or that of the first attempt.

        None if the caller has used the key for another request.
        """
        ...

    async def remember(self, match_id: str, key: Key, what: Remembered) -> None:
        """Let a key stand for a version that it did not make, since nothing was left to do."""
        ...

    async def append(self, append: Append) -> bool:
        """Write ``commit``; False if the log is not one short of its version, or knows the key.

        Raises:
            Unconfirmed: it is written, but not yet on as many replicas as are asked for.
        """
        ...

    async def confirm(self, match_id: str) -> None:
        """Return once all of a match's log is on as many replicas as are asked for.

        Raises:
            Unconfirmed: it is not, after a short wait.
        """
        ...

    def bells(self) -> AsyncGenerator[Ring | None, None]:
        """What happens, as it happens; None when anything may have happened (after a gap)."""
        ...

    def silence(self) -> float:
        """Seconds since all of the bells could last be heard."""
        ...

    async def listed(
        self, status: Status | None, before: tuple[int, str] | None, limit: int
    ) -> list[tuple[int, str]]:
        """Public matches as (created_at, id), newest first, those before a place in that order."""
        ...

    async def unlist(self, match_id: str) -> None:
        """Take a match whose log is gone out of the lists and the due set."""
        ...

    async def tidy(self, limit: int) -> int:
        """Look at some ``limit`` of the matches listed, others each time, and forget the expired.

        How many they were.
        """
        ...

    async def due(self, now: int, limit: int) -> list[tuple[str, int]]:
        """Matches that are owed something by ``now``, with their due times."""
        ...

    async def postpone(self, match_id: str, seen: int, until: int) -> bool:
        """Move a due time, unless it is no longer the one seen."""
        ...

    async def probe(self) -> None:
        """Write to the store.

        Raises:
            Unwritable: it can be read, but takes no writes now.
        """
        ...


class Directory(Protocol):
    """Which code opens which match, who has a seat still to use, how often a level has failed.

    Every method raises ``Unavailable`` when the store cannot be reached.
    """

    async def reserve_code(self, code: str, match_id: str, ttl: int) -> bool:
        """Let a join code lead to a match; False if the code is taken."""
        ...

    async def find_code(self, code: str) -> str | None:
        """The match that a join code leads to, None if it leads nowhere."""
        ...

    async def keep_code(self, code: str, ttl: int) -> None:
        """Let a join code live ``ttl`` seconds from now on, if there is one."""
        ...

    async def hold(self, match_id: str, player: str, until: int) -> None:
        """Hold a seat for a player until a time in milliseconds, in place of any time before."""
        ...

    async def use(self, match_id: str, player: str) -> None:
        """End what is held for a player, if anything is."""
        ...

    async def overdue(self, now: int, limit: int) -> list[tuple[str, str]]:
        """Matches and players whose seat was held until ``now`` or less, the longest due first."""
        ...

    async def count_fault(self, level: str, fault: Fault) -> None:
        """Count one more fault of a level."""
        ...

    async def faults(self, level: str) -> dict[Fault, int]:
        """How often a level has failed, by kind; kinds that never happened are left out."""
        ...


class Jobs(Protocol):
    """Where work for the house is announced. A hint may be lost: the due set is what counts."""

    def hint(self, match_id: str, version: int, due: Due) -> None:
        """Announce what a match is owed as of a version; returns at once, never raises."""
        ...
