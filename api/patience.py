"""How long a request waits for Redis, and for others that wait for it, in all.

Time in which it computes is not counted: a busy machine is no Redis that fails.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import ClassVar, Final

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

    def wait(self) -> float:
        """Count from now on; the seconds that it may take."""
        now = time.monotonic()
        if not self._waiting:
            self._since = now
        self._waiting += 1
        return max(0.0, self._left - (now - self._since))

    def go_on(self) -> None:
        """Count no more."""
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


class in_time:  # noqa: N801 - reads as ``asyncio.timeout`` does
    """Bounds a block by the patience of the request; by a new one where there is none.

    It insists, which ``asyncio.timeout`` does not: Redis's client swallows a cancellation at times.
    No generators: every command to Redis is in such a block, and they would be half its price.

    Raises:
        Unavailable: the block takes longer.
    """

    __slots__ = ("_before", "_cancels", "_ending", "_patience", "_task", "_token")
    counted: ClassVar[bool] = True  # as a failure of Redis

    async def __aenter__(self) -> None:
        if _bounded.get():  # by a block around this one
            self._token: Token[bool] | None = None
            return
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("only a task can be bounded")
        patience = _current.get()
        if patience is None or patience.ended:
            patience = Patience()
        self._task, self._patience = task, patience
        self._before, self._cancels = task.cancelling(), 0
        self._token = _bounded.set(True)
        self._ending = asyncio.get_running_loop().call_later(patience.wait(), self._end)

    def _end(self) -> None:
        self._cancels += 1
        self._task.cancel()
        self._ending = asyncio.get_running_loop().call_later(AGAIN_SECONDS, self._end)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        if self._token is None:
            return
        self._ending.cancel()
        self._patience.go_on()
        _bounded.reset(self._token)
        task, cancels = self._task, self._cancels
        # Cancelled here, and by nobody else.
        timed_out = isinstance(error, TimeoutError) or (
            isinstance(error, asyncio.CancelledError)
            and cancels > 0
            and task.cancelling() == self._before + cancels
        )
        for _ in range(cancels):
            task.uncancel()
        if timed_out:
            if self.counted:
                metrics.redis_failures.labels("timeout").inc()
            raise Unavailable(TimeoutError.__name__) from error
