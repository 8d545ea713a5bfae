"""A process full of spectators of one match: ``python -m tests.bench.watchers URL MATCH N``.

A line on its standard input asks what came so far; the answer is a line of JSON with the number of
updates, the bytes on the wire, and when each of the last updates came, by the machine's own clock.
"""

import asyncio
import json
import socket as sockets
import struct
import sys
import time
from typing import Any

import aiohttp

from tests.bench.people import SPECTATED, socket, subscribe

RECEIVED = 128  # where `struct tcp_info` has the bytes received


async def main(url: str, match_id: str, number: int) -> None:
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as http:
        sockets_, updates = [], list[float]()

        async def read(ws: Any) -> None:
            async for _ in ws:
                updates.append(time.monotonic())

        for _ in range(number):
            ws = await socket(http, url)
            await subscribe(ws, SPECTATED, m=match_id)
            assert (await ws.receive_json(timeout=60))["type"] == "next"
            sockets_.append(ws)
        reading = [asyncio.create_task(read(ws)) for ws in sockets_]
        _say({"ready": True})
        while await asyncio.to_thread(sys.stdin.readline):
            received = sum(_received(ws.get_extra_info("socket")) for ws in sockets_)
            _say({"updates": len(updates), "bytes": received, "last": updates[-number:]})
        for task in reading:
            task.cancel()
        await asyncio.gather(*(ws.close() for ws in sockets_))


def _received(connection: sockets.socket) -> int:
    """Bytes that the kernel has had from the peer."""
    info = connection.getsockopt(sockets.IPPROTO_TCP, sockets.TCP_INFO, RECEIVED + 8)
    (received,) = struct.unpack_from("Q", info, RECEIVED)
    return int(received)


def _say(answer: Any) -> None:
    print(json.dumps(answer), flush=True)  # noqa: T201 - whoever started this reads it


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
