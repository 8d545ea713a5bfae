"""What one process may spend of one key's window: hits leased from Redis in chunks."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from api.errors import Unavailable, Unwritable
from api.limits.windows import Windows

CHUNKS = 20  # a process leases a limit in so many parts at most
SHARE = 10  # and no more than this part of what is left
TRIES = 5  # so often a window may end while it is asked for


@dataclass(frozen=True, slots=True)
class Window:
    """Which window in Redis a purse is filled from, and how much it lets through."""

    key: str
    limit: int
    seconds: int


class Purse:
    """The hits of a window that this process holds; no more than the limit in all processes.

    A lease ends with its window. That nothing is left is remembered until then, so a client that
    asks again and again costs Redis nothing.
    """

    def __init__(self, window: Window, windows: Windows, now: Callable[[], float]) -> None:
        self.window = window
        self._windows = windows
        self._now = now
        self._held = 0
        self._left = window.limit  # in Redis, when it was last asked
        self._ends = 0.0  # no lease is spent after it
        self._opens = 0.0  # by then Redis has begun anew
        self._number = 0  # of the window, to tell it from the next one
        self._drawing = asyncio.Lock()
        self._answers = 0  # of Redis to leases, failures included
        self._failed = 0  # which of them was the last failure

    @property
    def remaining(self) -> int:
        """Hits left, as far as is known here."""
        return self._held + self._left if self._now() < self._ends else self.window.limit

    @property
    def reset_after(self) -> float:
        """Seconds until the window begins anew."""
        return max(0.0, self._opens - self._now()) or float(self.window.seconds)

    def is_over(self) -> bool:
        """Whether its window has ended, so that a new purse would be as good."""
        return 0 < self._opens <= self._now() and not self._drawing.locked()

    def holds(self, amount: int) -> bool:
        """Whether so many can be drawn without asking Redis."""
        return self._held >= amount and self._now() < self._ends

    def lacks(self, amount: int) -> bool:
        """Whether it is known that so many are not left in this window."""
        return self._held + self._left < amount and self._now() < self._ends

    def spend(self, amount: int) -> None:
        """Take away what it holds."""
        self._held -= amount

    async def draw(self, amount: int) -> int:
        """Spend so many hits, leased if need be: the window's number, 0 if it has no more.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        came = self._answers
        async with self._drawing:
            if self._failed > came:  # what we waited for: not everybody waits in vain in turn
                raise Unavailable("nobody could lease")
            for _ in range(TRIES):
                if self._now() >= self._ends:
                    self._held, self._left = 0, self.window.limit
                if self.holds(amount):
                    self.spend(amount)
                    return self._number
                if self._held + self._left < amount:
                    return 0
                await self._lease(amount - self._held)
        return 0

    def give_back(self, amount: int, number: int) -> None:
        """Hits drawn from the window of this number that were not used after all."""
        if number == self._number:
            self._held += amount

    async def _lease(self, need: int) -> None:
        window, asked = self.window, self._now()
        known = asked < self._ends
        take = max(need, min(window.limit // CHUNKS, self._left // SHARE))
        left: float | None
        try:
            count, left = await self._windows.take(window.key, window.seconds, take, known=known)
        except Unwritable:  # reads go on, counted by each process for itself
            count, take, left = window.limit, window.limit, float(window.seconds)
        except Unavailable:
            self._answers += 1
            self._failed = self._answers
            raise
        self._answers += 1
        if left is not None:
            self._held = 0
            self._number += 1
            self._ends, self._opens = asked + left, self._now() + left
        self._held += max(0, take - max(0, count - window.limit))
        self._left = max(0, window.limit - count)
