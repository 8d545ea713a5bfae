"""How long a stream lasts: its time, its source, or until the process stops. All end politely."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TypeVar

T = TypeVar("T")


class Streams:
    """The streams of one process; ``seconds`` is how long each may last."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waiting: set[asyncio.Timeout] = set()
        self._ended = False

    async def lasting(self, source: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
        """What the source yields, until it ends or its time is up."""
        deadline = asyncio.get_running_loop().time() + self._seconds
        async with aclosing(source):
            while not self._ended:
                try:
                    async with asyncio.timeout_at(deadline) as waiting:
                        self._waiting.add(waiting)
                        try:
                            item = await anext(source)
                        finally:
                            self._waiting.discard(waiting)
                except (TimeoutError, StopAsyncIteration):
                    return
                yield item

    def end(self) -> None:
        """End all of them now, and those to come after what they have to send at once."""
        self._ended = True
        now = asyncio.get_running_loop().time()
        for waiting in self._waiting:
            with suppress(RuntimeError):  # its time is up already
                waiting.reschedule(now)
