"""How long a stream lasts: its time, its source, its token, or until the process stops.

All end politely but those whose token ends, which are told so. Where a process stops in good time,
they end one after the other, for their clients all go to the other processes.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final, TypeVar

from api.cancelling import end_if_cancelled
from api.errors import ServiceError, Unauthenticated
from api.observe.requests import Streaming

T = TypeVar("T")

CHECKS: Final = 16  # of tokens at once, well under the pool's connections
PATIENCE_SECONDS: Final = 0.5
SLACK_SECONDS: Final = 0.05  # by which a timer may be early, so that it is not mistaken

log = logging.getLogger("ringmaster.streams")


@dataclass(frozen=True, slots=True)
class Permit:
    """A token, as long as it is valid.

    Attributes:
        token_id: None if it cannot be revoked here.
        expires_at: in milliseconds since the epoch.
        check: raises Unauthenticated if the token is no longer valid.
    """

    token_id: str | None = field(repr=False)
    expires_at: int
    check: Callable[[], Awaitable[object]] = field(repr=False)


class _Stream:
    """One open stream; ``ended``: its token is no longer valid.

    One timer for all of its items: `asyncio.timeout` around each costs as much as to encode it.
    """

    def __init__(self, permit: Permit | None, seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        now = self._loop.time()
        self.permit = permit
        self.ended = False
        self._expires = None if permit is None else now + permit.expires_at / 1000 - time.time()
        self._until = now + seconds
        if self._expires is not None:
            self._until = min(self._until, self._expires + SLACK_SECONDS)
        self._timer = self._loop.call_at(self._until, self.wake)
        self._is_up = False
        self._waiting: asyncio.Task[object] | None = None
        self._cancelled = False

    async def next(self, source: AsyncGenerator[T, None]) -> T:
        """The next item, unless time runs out first: then TimeoutError."""
        if self._is_up:
            raise TimeoutError
        task = self._waiting = asyncio.current_task()
        before = 0 if task is None else task.cancelling()
        try:
            return await anext(source)
        except asyncio.CancelledError:
            if self._cancelled and task is not None and task.cancelling() == before + 1:
                raise TimeoutError from None  # cancelled by nobody else
            raise
        finally:
            self._waiting = None
            if self._cancelled and task is not None:
                self._cancelled = False
                task.uncancel()

    def wake(self) -> None:
        """Let it wait no longer, now and from now on."""
        self._is_up = True
        if self._waiting is not None and not self._cancelled:
            self._cancelled = True
            self._waiting.cancel()

    def end(self) -> None:
        """Its token is no longer valid."""
        self.ended = True
        self.wake()

    def last_until(self, until: float) -> None:
        """Let it end politely at a time of the loop's clock, if its own time is not up before."""
        if until < self._until:
            self._until = until
            self._timer.cancel()
            self._timer = self._loop.call_at(until, self.wake)

    def close(self) -> None:
        """Nobody waits for it any more."""
        self._timer.cancel()

    def require_token(self) -> None:
        """Raise Unauthenticated if the token has expired or was revoked."""
        now = asyncio.get_running_loop().time()
        if self.ended or (self._expires is not None and now >= self._expires):
            raise Unauthenticated("The token of this stream is no longer valid; sign in again.")


class Streams:
    """The streams of one process; ``seconds`` is how long each may last."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._open: dict[_Stream, None] = {}  # in the order in which they began
        self._end: float | None = None  # a time of the loop's clock, once the process stops
        self._checking: asyncio.Task[None] | None = None

    async def lasting(
        self, source: AsyncGenerator[T, None], permit: Permit | None = None
    ) -> AsyncGenerator[T, None]:
        """What the source yields, until it ends or its time is up.

        Raises:
            Unauthenticated: the token has expired or was revoked.
        """
        stream, streaming = _Stream(permit, self._seconds), Streaming()
        self._open[stream] = None
        if self._end is not None:
            stream.last_until(self._end)
        try:
            async with aclosing(source):
                if permit is not None:
                    await permit.check()  # it may have ended just before the stream was known here
                while not self._are_over():
                    end_if_cancelled()
                    stream.require_token()
                    try:
                        item = await stream.next(source)
                    except StopAsyncIteration:
                        return
                    except TimeoutError:
                        stream.require_token()
                        return
                    stream.require_token()
                    yield item
                    streaming.handed()
        finally:
            del self._open[stream]
            stream.close()
            streaming.end()

    def count(self) -> int:
        """How many are open."""
        return len(self._open)

    def revoke(self, token_ids: frozenset[str]) -> None:
        """End the streams of these tokens."""
        for stream in list(self._open):
            if stream.permit is not None and stream.permit.token_id in token_ids:
                stream.end()

    def check(self) -> None:
        """Look whether the tokens of all open streams are still valid, and end those that are not.

        Returns at once; as long as it cannot be found out, the streams go on.
        """
        if self._checking is not None:
            self._checking.cancel()
        self._checking = asyncio.create_task(self._check_all())

    async def _check_all(self) -> None:
        at_once = asyncio.Semaphore(CHECKS)
        await asyncio.gather(*(self._check(stream, at_once) for stream in list(self._open)))

    async def _check(self, stream: _Stream, at_once: asyncio.Semaphore) -> None:
        while stream.permit is not None and stream in self._open:
            try:
                async with at_once:
                    await stream.permit.check()
            except Unauthenticated:
                stream.end()
                return
            except ServiceError:
                await asyncio.sleep(PATIENCE_SECONDS)
            except Exception as error:  # noqa: BLE001 - one stream must not keep the others
                log.error("a token cannot be checked: %s", type(error).__name__)  # noqa: TRY400
                return
            else:
                return

    @property
    def ending(self) -> bool:
        """Whether they were told to end: who is completed now is to go elsewhere."""
        return self._end is not None

    def end(self, seconds: float = 0.0) -> None:
        """End all of them, the oldest now, the others evenly over so many seconds.

        Those to come last until then, and are complete at once after it.
        """
        now = asyncio.get_running_loop().time()
        self._end = now + seconds
        for place, stream in enumerate(self._open):
            stream.last_until(now + seconds * place / len(self._open))

    def _are_over(self) -> bool:
        return self._end is not None and asyncio.get_running_loop().time() >= self._end
