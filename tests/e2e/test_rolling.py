"""Every API process is stopped and started anew, one after the other, while fifty matches go on."""

import asyncio
import re
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import Final

import aiohttp
import pytest

from tests.chaos.ground import Ground, Process, until
from tests.chaos.judging import judge
from tests.chaos.people import CUT_SHORT, Town
from tests.chaos.records import read_log
from tests.chaos.tables import bots, sit_down

MATCHES: Final = 50
DRAIN_SECONDS: Final = 1.0
THOUGHT_SECONDS: Final = 1.5  # of each player over a move, at most
SIGN_SECONDS: Final = 5.0
WARM_SECONDS: Final = 8.0  # a decision of a bot at most
GOING_ON_SECONDS: Final = 15.0  # for every match to go on after the last restart


async def restart(http: aiohttp.ClientSession, process: Process) -> None:
    """Stop a process politely, with much going on, and start it anew."""
    address, said = f"http://127.0.0.1:{process.env['RINGMASTER_PORT']}", []
    async with followed(http, address) as ws:
        process.send(signal.SIGTERM)
        began = time.monotonic()
        leaving = asyncio.create_task(last_words(ws))
        while process.running():
            with suppress(aiohttp.ClientError, OSError):
                async with http.get(f"{address}/readyz") as answer:
                    told = (await answer.json())["status"]
                    said.append((answer.status, told, answer.headers["connection"]))
            assert time.monotonic() - began < DRAIN_SECONDS + 6
            await asyncio.sleep(0.1)
        assert await leaving == ("complete", 1012)  # service restart
    assert time.monotonic() - began > DRAIN_SECONDS
    assert said  # and at no time that it is ready, or where no connection can be used again
    assert set(said) == {(503, "draining", "close")}, said
    await process.again()


@asynccontextmanager
async def followed(
    http: aiohttp.ClientSession, address: str
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """A connection that is told of the lobby."""
    async with http.ws_connect(f"{address}/graphql", protocols=["graphql-transport-ws"]) as ws:
        await ws.send_json({"type": "connection_init"})
        assert (await ws.receive_json())["type"] == "connection_ack"
        query = {"query": "subscription { lobbyUpdates { gone } }"}
        await ws.send_json({"id": "1", "type": "subscribe", "payload": query})
        assert (await ws.receive_json())["type"] == "next"
        yield ws


async def last_words(ws: aiohttp.ClientWebSocketResponse) -> tuple[str, int | None]:
    """The last message of a connection, and the code that closed it."""
    last = ""
    async for frame in ws:
        last = frame.json()["type"]
    return last, ws.close_code


@pytest.mark.timeout(180)
async def test_a_rolling_restart_loses_nothing_and_doubles_nothing(tmp_path):
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as http:
        ground = Ground(tmp_path, http, house=1, RINGMASTER_DRAIN_SECONDS=str(DRAIN_SECONDS))
        async with ground:
            town = Town(http, ground.addresses, Random(1), thought=THOUGHT_SECONDS)
            tables = await asyncio.gather(
                *(sit_down(town, n, bots(1, "casual")) for n in range(MATCHES))
            )
            playing = [
                asyncio.create_task(guest.follow(match_id, plays=True))
                for match_id, guests in tables
                for guest in guests
            ]
            asked = len(town.record.failures)

            for process in ground.apis:
                await restart(http, process)

            moved = {
                match_id: len(read_log(ground.direct, match_id).entries) for match_id, _ in tables
            }
            await until(
                lambda: all(_went_on(town, *one) for one in moved.items()), GOING_ON_SECONDS
            )
            for task in playing:
                task.cancel()
            ended = await asyncio.gather(*playing, return_exceptions=True)
            await stop_worker(ground.workers[0])
            logs = {match_id: read_log(ground.direct, match_id) for match_id, _ in tables}
            output = [(tmp_path / f"api{n}.log").read_text() for n in range(2)]

    record = town.record
    assert {type(one) for one in ended} <= {asyncio.CancelledError, type(None)}, ended
    assert judge(record, logs, time.time()) == []
    # Connections were refused or cut; what was answered was an answer, and streams told their end.
    answers = re.compile(rf"UNAVAILABLE|status=5\d\d|JSONDecodeError|{CUT_SHORT}")
    assert not [why for why in record.failures[asked:] if answers.search(why)]
    assert "Traceback" not in "".join(output)


async def stop_worker(worker: Process) -> None:
    """Stop a worker politely: it is not ready from then on, and ends when its tasks have."""
    assert worker.mark is not None
    assert time.time() - worker.mark.stat().st_mtime < SIGN_SECONDS  # it was made long ago
    worker.send(signal.SIGTERM)
    await until(lambda: not worker.running(), WARM_SECONDS)
    assert not worker.mark.exists()


def _went_on(town: Town, match_id: str, version: int) -> bool:
    """Whether both players were told of something newer than this version, or of the end."""
    streams = [stream for stream in town.record.streams if stream.match_id == match_id]
    return all(stream.over or stream.seen[-1].version > version for stream in streams)
