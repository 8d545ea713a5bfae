"""What the service of series needs from outside: a store of its own, and a queue of matches."""

from dataclasses import dataclass, field
from typing import Protocol

from api.ports import Key
from engine.series import Order, Result, SeriesStatus, Spec
from engine.standings import Sums


@dataclass(frozen=True, slots=True)
class Series:
    """What never changes of a series; ``created_at`` in milliseconds since the epoch."""

    series_id: str
    spec: Spec
    created_at: int
    owner: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Step:
    """One version of a series: its creation, one match counted, or its cancellation.

    ``at`` in milliseconds since the epoch; ``sums`` are those after it.
    """

    version: int
    at: int
    sums: Sums
    result: Result | None = None
    cancelled: bool = False

    def status(self, spec: Spec) -> SeriesStatus:
        """Where the series stood after this."""
        if self.cancelled:
            return SeriesStatus.CANCELLED
        over = self.sums.matches == spec.matches
        return SeriesStatus.FINISHED if over else SeriesStatus.RUNNING


@dataclass(frozen=True, slots=True)
class Opening:
    """A new series: its first ``sent`` matches are about to be sent.

    ``limit``: running series that the owner may have. ``due_at``: when to look whether it has come
    to a halt. ``ttl``: seconds that it is kept from now on.
    """

    series: Series
    sent: int
    limit: int
    due_at: int
    ttl: int
    secret: str = field(repr=False)
    key: Key | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """A match to be counted; ``replay`` as it is to be kept, None if it is not.

    ``ttl``: seconds that a running series is kept from now on; ``ttl_over``: one that is over.
    """

    series: Series
    result: Result
    at: int
    due_at: int
    ttl: int
    ttl_over: int
    replay: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Halt:
    """A series looked at by the sweeper: since when nothing was counted, what was sent and is not.

    ``numbers`` is empty for a series that is over.
    """

    since: int
    numbers: tuple[int, ...]


class SeriesStore(Protocol):
    """Every series: a log of steps, and what has been sent to be played.

    Every method raises ``Unavailable`` when the store cannot be reached.
    """

    async def claim(self, key: Key) -> bool:
        """Take a caller's idempotency key for a request; False if another request has it."""
        ...

    async def open(self, opening: Opening) -> str | None:
        """Begin a series; its id, or that of the one which the key has made.

        None: the owner has as many running series as allowed.
        """
        ...

    async def find(self, series_id: str) -> tuple[Series, Step] | None:
        """A series and its last step, None if there is none."""
        ...

    async def steps(self, series_id: str, first: int, last: int | None, limit: int) -> list[Step]:
        """Steps from version ``first`` to ``last`` (None: the end), both inclusive."""
        ...

    async def order(self, series_id: str, number: int) -> tuple[Series, Order] | None:
        """A match that is to be played; None if it is counted, or its series over or gone."""
        ...

    async def count(self, count: Count) -> int | None:
        """Count a match, once; the number to be sent next, 0 if all were.

        None: nothing was changed, since it had been counted, or its series is over or gone.
        """
        ...

    async def cancel(self, series: Series, at: int, ttl: int) -> bool:
        """End a series, kept for ``ttl`` seconds from now on; False if it was over."""
        ...

    async def halt(self, series_id: str) -> Halt | None:
        """How a series stands for the sweeper, None if it is gone."""
        ...

    async def replay(self, series_id: str, number: int) -> bytes | None:
        """The replay of a match as it was given to ``count``."""
        ...

    async def due(self, now: int, limit: int) -> list[tuple[str, int]]:
        """Series that were to be looked at by ``now``, with the times, earliest first."""
        ...

    async def postpone(self, series_id: str, seen: int, until: int) -> bool:
        """Move the time to look at a series, unless it is no longer the one seen."""
        ...

    async def forget(self, series_id: str) -> None:
        """Look no more at a series that is gone."""
        ...


class MatchQueue(Protocol):
    """Where matches of series wait to be played. One may be lost: the sweeper finds it again."""

    def play(self, series_id: str, number: int) -> None:
        """Send a match to be played; returns at once, never raises."""
        ...
