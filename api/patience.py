"""How long a request waits for Redis, and for others that wait for it, in all.

Time in which it computes is not counted: a busy machine is no Redis that fails.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Final

from api.errors import Unavailable

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
    patience = _current.get()
    if patience is None or patience.ended:
        patience = Patience()
    try:
        with patience.waiting() as seconds:
            async with asyncio.timeout(seconds):
                yield
    except TimeoutError as error:
        raise Unavailable("TimeoutError") from error
