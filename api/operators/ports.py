"""What operators need from outside: a record of their acts, and a list of the processes."""

from dataclasses import dataclass
from typing import Protocol

from schema.acts import Act, ProcessKind


@dataclass(frozen=True, slots=True)
class Entry:
    """One act on record.

    Attributes:
        entry_id: opaque.
        at: when it was asked for, in milliseconds since the epoch.
        operator: who asked: the id of a player, or `cli:USER@HOST`.
        act: what for.
        target: the match, process or player; empty if it was about all.
        reason: the operator's own words, None where none are asked for.
        outcome: `DONE` or the code of the refusal; None while it is under way, and for ever if the
            process that did it ended meanwhile.
    """

    entry_id: str
    at: int
    operator: str
    act: Act
    target: str
    reason: str | None
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class Process:
    """A process that has said lately that it is at work.

    Attributes:
        process_id: unique among those that run.
        kind: what it does.
        release: of this package.
        started_at: in milliseconds since the epoch, as ``seen_at``.
        seen_at: when it last said so.
        queues: what a worker takes from.
        streams: subscriptions that an API process serves.
        draining: it was asked to end, and does so.
    """

    process_id: str
    kind: ProcessKind
    release: str
    started_at: int
    seen_at: int
    queues: tuple[str, ...] = ()
    streams: int = 0
    draining: bool = False


class Records(Protocol):
    """The acts of all operators.

    Every method raises ``Unavailable`` when the store cannot be reached.
    """

    async def begin(self, entry: Entry) -> None:
        """Keep that an act was asked for, and forget those of too long ago."""
        ...

    async def end(self, entry_id: str, outcome: str) -> None:
        """Keep how it ended."""
        ...

    async def newest(self, before: tuple[int, str] | None, limit: int) -> list[Entry]:
        """The newest acts, those before a place (time, id) in that order."""
        ...


class Processes(Protocol):
    """Who is at work.

    Every method raises ``Unavailable`` when the store cannot be reached.
    """

    async def announce(self, process: Process) -> bool:
        """Say that a process is at work; True, once, if it was asked to end."""
        ...

    async def leave(self, process_id: str) -> None:
        """Say that a process has ended."""
        ...

    async def all(self) -> list[Process]:
        """Those that have said so lately, by kind and id."""
        ...

    async def ask_to_end(self, process_id: str) -> bool:
        """Ask a process to end; False if there is none of that id."""
        ...
