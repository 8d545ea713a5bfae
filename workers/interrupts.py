"""Stops work that does not come to an end by itself."""

import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final, TypeVar

T = TypeVar("T")
AGAIN_SECONDS: Final = 0.05  # after which work that has swallowed the interruption meets the next
_APART_SECONDS: Final = 0.02  # two clocks that ring at once interrupt once


class TookTooLong(BaseException):
    """The time was up. Not an ``Exception``: work that catches those must not catch this."""

    def __init__(self, clock: str) -> None:
        super().__init__()
        self.clock = clock


@dataclass(slots=True)
class _Clock:
    """One of the process's interval timers, and what it was set to before."""

    name: str
    signal: signal.Signals
    timer: int
    now: Callable[[], float]
    handler: Any = None
    left: tuple[float, float] = (0.0, 0.0)
    since: float = 0.0

    def start(self, seconds: float, ring: Callable[[int, FrameType | None], None]) -> None:
        self.handler = signal.signal(self.signal, ring)
        self.since = self.now()
        self.left = signal.setitimer(self.timer, seconds, AGAIN_SECONDS)

    def restore(self) -> None:
        signal.setitimer(self.timer, 0)
        signal.signal(self.signal, signal.SIG_DFL if self.handler is None else self.handler)
        delay, interval = self.left
        if delay:
            passed = self.now() - self.since
            signal.setitimer(self.timer, max(delay - passed, 0.001), interval)


class _Ringing:
    """What both timers call; raises in the work while it is on."""

    def __init__(self, clocks: list[_Clock]) -> None:
        self._names = {clock.signal: clock.name for clock in clocks}
        self._last = 0.0
        self.on = True

    def __call__(self, number: int, _: FrameType | None) -> None:
        now = time.monotonic()
        if self.on and now - self._last > _APART_SECONDS:
            self._last = now
            raise TookTooLong(self._names[signal.Signals(number)])


def within(cpu: float, wall: float, work: Callable[[], T]) -> T:
    """What ``work`` returns, if it does in ``cpu`` seconds of this process and ``wall`` seconds.

    Whatever used the timers before finds them as they were, less the time that has passed. Python
    delivers signals to the main thread alone: in any other one nothing is interrupted.

    Raises:
        TookTooLong: it did not.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    clocks = [
        _Clock("CPU", signal.SIGPROF, signal.ITIMER_PROF, time.process_time),
        _Clock("WALL", signal.SIGALRM, signal.ITIMER_REAL, time.monotonic),
    ]
    ringing = _Ringing(clocks)
    try:
        try:
            for clock, seconds in zip(clocks, (cpu, wall), strict=True):
                clock.start(seconds, ringing)
            return work()
        finally:
            ringing.on = False
    finally:
        ringing.on = False  # the one above is missed if a clock rings just before it
        for clock in clocks:
            clock.restore()
