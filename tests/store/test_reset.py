"""Connections to Redis that were reset while nobody used them are opened anew, and nobody notices.

On uvloop, on which the API runs: it meets such a connection with an error of its own.
"""

import asyncio
import socket
import struct
from contextlib import suppress
from urllib.parse import urlsplit

import uvloop

from api.store.connections import connect
from api.store.together import Together


class Firewall:
    """Between clients and Redis, and forgets connections that it has let through."""

    def __init__(self, port: int) -> None:
        self._redis = port
        self._clients: list[asyncio.StreamWriter] = []

    async def let_through(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, questions = await asyncio.open_connection("127.0.0.1", self._redis)
        self._clients.append(writer)
        await asyncio.gather(_copied(reader, questions), _copied(answers, writer))

    def reset(self) -> int:
        """Reset all connections; how many there were."""
        count = len(self._clients)
        for writer in self._clients:
            peer = writer.get_extra_info("socket")
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        self._clients.clear()
        return count


async def _copied(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError, RuntimeError):
        while data := await source.read(65536):
            sink.write(data)
    sink.close()


async def asked_after_resets(port: int) -> list[object]:
    """What commands are answered, one by one and together, by connections that were reset."""
    firewall = Firewall(port)
    server = await asyncio.start_server(firewall.let_through, "127.0.0.1", 0)
    redis = connect(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    together = Together(redis)
    told: list[object] = []
    for ask in (redis.ping, lambda: together.run("ECHO", "a"), lambda: together.run("ECHO", "b")):
        await asyncio.gather(*(redis.ping() for _ in range(8)))  # each has a connection
        assert firewall.reset() == 8
        await asyncio.sleep(0.1)
        told += await asyncio.gather(*(ask() for _ in range(8)), return_exceptions=True)
        await redis.connection_pool.disconnect()
        firewall.reset()
    await redis.aclose()
    server.close()
    return told


def test_what_is_asked_of_connections_that_were_reset_is_answered(redis_url):
    told = uvloop.run(asked_after_resets(urlsplit(redis_url).port))
    assert told == [True] * 8 + [b"a"] * 8 + [b"b"] * 8
