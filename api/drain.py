"""How a process that was asked to stop leaves: others first learn of it, then its clients go."""

import asyncio
import logging
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.streams import Streams

CLOSE: Final = (b"connection", b"close")

log = logging.getLogger("ringmaster.drain")


class Drain:
    """The time from being asked to stop until no more is served, ``seconds`` long.

    From its begin on `/readyz` says so, and all else is served as ever, for who sends clients here
    has to learn of it first. From half of it on streams end, one after the other.
    """

    def __init__(self, seconds: float, streams: Streams) -> None:
        self._seconds, self._streams = seconds, streams
        self._until: float | None = None  # a time of the loop's clock
        self.begun = False

    def begin(self) -> None:
        """This process was asked to stop; can be called by a signal's handler."""
        self.begun = True

    def go_on(self) -> bool:
        """Do what is to be done by now; whether it is over."""
        now = asyncio.get_running_loop().time()
        if self._until is None:
            self._until = now + self._seconds
            log.info("asked to stop; draining for %g s", self._seconds)
        left = self._until - now
        if left <= self._seconds / 2 and not self._streams.ending:
            self._streams.end(max(0.0, left))
        return left <= 0


class Leaving:
    """Closes connections after their answers once the process leaves, so that none is cut off."""

    def __init__(self, app: ASGIApp, drain: Drain) -> None:
        self._app, self._drain = app, drain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._drain.begun:
            await self._app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = (one for one in message.get("headers", ()) if one[0].lower() != CLOSE[0])
                message["headers"] = [*kept, CLOSE]
            await send(message)

        await self._app(scope, receive, answer)
