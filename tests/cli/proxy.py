"""A TCP proxy that fails as networks do: cuts in the middle of a message, lost answers, outages.

It can stand still, too: connections stay open, and nothing gets through.
"""

import asyncio
import contextlib
from random import Random
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

CHUNK = 64 * 1024


class Proxy:
    """Forwards to ``url``; its own address is ``self.url``.

    ``cut_after``: chunks from the server after which a WebSocket connection is cut.
    ``answers_to_lose``: so many next answers over HTTP never arrive, though their requests did.
    """

    def __init__(self, url: str, cut_after: int | None = None) -> None:
        parts = urlsplit(url)
        assert parts.hostname
        assert parts.port
        self._target = (parts.hostname, parts.port)
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._port = 0
        self.cut_after = cut_after
        self.answers_to_lose = 0
        self.cuts = 0
        self._moving = asyncio.Event()
        self._moving.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def __aenter__(self) -> Self:
        await self.up()
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        await self.down()

    async def up(self) -> None:
        """Listen, at the same port as before."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def down(self) -> None:
        """Refuse connections and cut those that there are."""
        if self._server:
            self._server.close()
        self._server = None
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def stall(self) -> None:
        """Let nothing through any more, until ``move``."""
        self._moving.clear()

    def move(self) -> None:
        """Let through what has waited, and all that comes."""
        self._moving.set()

    def cut(self, count: int, chance: Random) -> int:
        """Cut so many of the connections that there are; how many there were."""
        cut = chance.sample(sorted(self._connections, key=id), min(count, len(self._connections)))
        for connection in cut:
            connection.cancel()
        self.cuts += len(cut)
        return len(cut)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.current_task()
        assert connection
        if self._server is None:  # accepted before, begun after
            writer.transport.abort()
            return
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)
        below = None
        try:
            above, below = await asyncio.open_connection(*self._target)
            await asyncio.gather(self._up(reader, below), self._down(above, writer))
        except (OSError, asyncio.CancelledError):
            pass  # the target is gone, or this proxy is down
        finally:
            for end in (writer, below):
                if end:
                    end.transport.abort()

    async def _up(self, reader: asyncio.StreamReader, below: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(CHUNK):
                await self._moving.wait()
                below.write(data)
                await below.drain()
        below.close()

    async def _down(self, above: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        chunks, socket = 0, False
        with contextlib.suppress(OSError):
            while data := await above.read(CHUNK):
                await self._moving.wait()
                socket = socket or data.startswith(b"HTTP/1.1 101")
                chunks += 1
                if not socket and self.answers_to_lose:
                    self.answers_to_lose -= 1
                    break
                if socket and self.cut_after is not None and chunks > self.cut_after:
                    self.cuts += 1
                    writer.write(data[: len(data) // 2])
                    await writer.drain()
                    break
                writer.write(data)
                await writer.drain()
        writer.close()
