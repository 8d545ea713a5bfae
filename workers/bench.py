"""Levels of play that are not asked for a while, since they do not answer.

One that takes too long holds a process for seconds at every move, and one that cannot be
interrupted until Celery ends the process: two matches of it would leave the others no worker.
What is known lies in memory that a worker's processes share, for who is stuck cannot tell.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from mmap import mmap
from typing import Final

from billiard import current_process

from workers.interrupts import TookTooLong

STRIKES: Final = 3  # times in a row that a level may be late, or its process die
BENCH_SECONDS: Final = 60.0
ENDED_AFTER: Final = 3  # limits, and Celery ends the process
LATE_SECONDS: Final = 0.25  # over the limit, and a process counts as stuck
_DESKS: Final = 65  # processes of a worker, and the one that is not a pool's
_LEVELS: Final = 1024


class Bench:
    """Who is asking which level, how often each was late, and until when it is not asked.

    Levels are numbers here, alike in all processes. The processes write without a lock: the worst
    is a strike that is not counted.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._asking = _shared(_DESKS).cast("q")  # by process: the level's number + 1, or 0
        self._since = _shared(_DESKS).cast("d")
        self._strikes = _shared(_LEVELS).cast("q")
        self._until = _shared(_LEVELS).cast("d")

    def arrive(self, limit: float) -> None:
        """Begin in a new process: what lies on its desk was left by one that died.

        If it was late, Celery ended it; else something did, and only if that happens again and
        again it is the level.
        """
        desk, now = _desk(), self._now()
        asked, self._asking[desk] = self._asking[desk], 0
        if not asked:
            return
        # A pool takes some seconds to replace a process, whatever ended the one before.
        if now - self._since[desk] >= ENDED_AFTER * limit:
            self._bench(asked - 1)
        else:
            self._strike(asked - 1)

    def sits(self, level: int, limit: float) -> bool:
        """Whether the level is not to be asked; ``limit``: seconds that an answer may take."""
        for desk in range(_DESKS):
            self._look(desk, limit)
        return bool(self._now() < self._until[level])

    def _look(self, desk: int, limit: float) -> None:
        asked = self._asking[desk]
        if asked and self._now() - self._since[desk] > limit + LATE_SECONDS:
            self._asking[desk] = 0
            self._bench(asked - 1)

    @contextmanager
    def asking(self, level: int) -> Iterator[None]:
        """While the level is asked: takes note of whether it comes to an end, and in time."""
        desk = _desk()
        self._since[desk], self._asking[desk] = self._now(), level + 1
        try:
            yield
        except TookTooLong:
            self._strike(level)
            raise
        except BaseException:
            self._strikes[level] = 0
            raise
        else:
            self._strikes[level] = 0
        finally:
            self._asking[desk] = 0

    def _strike(self, level: int) -> None:
        self._strikes[level] += 1
        if self._strikes[level] >= STRIKES:
            self._bench(level)

    def _bench(self, level: int) -> None:
        self._until[level] = self._now() + BENCH_SECONDS
        self._strikes[level] = STRIKES - 1  # after it, one more is enough


def _shared(length: int) -> memoryview:
    """Zeros of 8 bytes that this process shares with all that it forks; no file is needed."""
    return memoryview(mmap(-1, 8 * length))


def _desk() -> int:
    """The number of this process in its pool."""
    return int(getattr(current_process(), "index", _DESKS - 1)) % _DESKS
