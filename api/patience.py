"""How long a request waits for Redis, and for others that wait for it, in all.

Time in which it computes is not counted: a busy machine is no Redis that fails.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Final

from api.cancelling import AGAIN_SECONDS
from api.errors import Unavailable
from api.observe import metrics

ANSWER_SECONDS: Final = 4.0  # of waiting, after which a caller is told to try again


class Patience:
    """What one request has left; what it waits for at the same time is counted once."""

    def __init__(self) -> None:
        self.ended = False
        self._left = ANSWER_SECONDS
        self._waiting = 0
        self._since = 0.0

    @contextmanager
    def waiting(self) -> Iterator[float]:
        """Count the block; the seconds that it may take."""
        now = time.monotonic()
        if not self._waiting:
            self._since = now
        self._waiting += 1
        try:
            yield max(0.0, self._left - (now - self._since))
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._left -= time.monotonic() - self._since


_bounded: ContextVar[bool] = ContextVar("bounded", default=False)
_current: ContextVar[Patience | None] = ContextVar("patience", default=None)


@contextmanager
def patient() -> Iterator[Patience]:
    """Let all that the block waits for share one patience, until that is ended."""
    patience = Patience()
    token = _current.set(patience)
    try:
        yield patience
    finally:
        _current.reset(token)


def begin() -> None:
    """Let the rest of this task share one patience, if none has begun."""
    if _current.get() is None:
        _current.set(Patience())


@asynccontextmanager
async def in_time() -> AsyncIterator[None]:
    """Bounds the block by the patience of the request; by a new one where there is none.

    Raises:
        Unavailable: it takes longer.
    """
    if _bounded.get():  # by a block around this one
        yield
        return
    patience = _current.get()
    if patience is None or patience.ended:
        patience = Patience()
    token = _bounded.set(True)
    try:
        with patience.waiting() as seconds:
            async with _at_most(seconds):
                yield
    except TimeoutError as error:
        metrics.redis_failures.labels("timeout").inc()
        raise Unavailable(TimeoutError.__name__) from error
    finally:
        _bounded.reset(token)


@asynccontextmanager
async def _at_most(seconds: float) -> AsyncIterator[None]:
    """As ``asyncio.timeout``, but insists: Redis's client swallows a cancellation at times.

    Raises:
        TimeoutError: the time is over.
    """
    loop, task, cancels = asyncio.get_running_loop(), asyncio.current_task(), 0
    if task is None:
        raise RuntimeError("only a task can be bounded")
    before = task.cancelling()
    ending: asyncio.TimerHandle

    def end() -> None:
        nonlocal ending, cancels
        cancels += 1
        task.cancel()
        ending = loop.call_later(AGAIN_SECONDS, end)

    ending = loop.call_later(seconds, end)
    try:
        yield
    except asyncio.CancelledError:
        if cancels and task.cancelling() == before + cancels:  # by nobody else
            raise TimeoutError from None
        raise
    finally:
        ending.cancel()
        for _ in range(cancels):
            task.uncancel()
