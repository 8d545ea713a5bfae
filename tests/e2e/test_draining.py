"""REST's streams at an API process that is asked to stop: they go on, and tell that they end."""

import asyncio
import json
import signal
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest

from api.cli.embedded import free_port
from tests.chaos.ground import RINGMASTER, STOP_SECONDS, Process, until
from tests.rest_client import RestClient

LIFETIME = ("complete", {"reason": "LIFETIME"})
DRAIN_SECONDS = 3.0
NOTICED_SECONDS = 1.0  # after which whatever looks for a stop has seen it

Events = AsyncGenerator[dict[str, str], None]


@asynccontextmanager
async def serving(folder: Path, redis_url: str, drain: float) -> AsyncIterator[tuple[Process, str]]:
    """An API process of its own, and its address."""
    url = f"http://127.0.0.1:{(port := free_port())}"
    env = {
        "RINGMASTER_REDIS_URL": redis_url,
        "RINGMASTER_PORT": str(port),
        "RINGMASTER_DRAIN_SECONDS": str(drain),
    }

    def ready() -> bool:
        with suppress(httpx.TransportError):
            return httpx.get(f"{url}/readyz").status_code == 200
        return False

    process = Process("api", [*RINGMASTER, "api"], env, folder, ready)
    process.start()
    try:
        await process.is_ready()
        yield process, url
    finally:
        await process.end()


async def begun(events: Events) -> Events:
    """A stream whose first update has come."""
    assert (await anext(events))["event"] == "update"
    return events


async def end_of(events: Events) -> tuple[tuple[str, dict[str, str]], float]:
    """The last event of a stream, and when it came."""
    last = [event async for event in events][-1]
    return (last["event"], json.loads(last["data"])), time.monotonic()


@pytest.mark.parametrize("drain", [0.0, DRAIN_SECONDS])
async def test_streams_of_a_process_that_stops_tell_that_they_end(tmp_path, redis_url, drain):
    async with (
        serving(tmp_path, redis_url, drain) as (process, url),
        RestClient(url) as ann,
        AsyncExitStack() as closing,
    ):
        await ann.sign_in("Ann")
        match = await ann.create({"kind": "PLAYER"}, {"kind": "OPEN"}, visibility="PUBLIC")
        paths = (f"/matches/{match['id']}/updates", "/lobby")

        async def follow() -> list[Events]:
            streams = [await begun(ann.events(path)) for path in paths]
            return [await closing.enter_async_context(aclosing(one)) for one in streams]

        streams, asked = await follow(), time.monotonic()
        process.send(signal.SIGTERM)
        if drain:
            await asyncio.sleep(NOTICED_SECONDS)
            streams += await follow()
        ends = await asyncio.gather(*map(end_of, streams))
        await until(lambda: not process.running(), STOP_SECONDS)

    assert [end for end, _ in ends] == [LIFETIME] * len(streams)
    assert all(at - asked > drain / 2 - 0.1 for _, at in ends)
    assert "without completing" not in (tmp_path / "api.log").read_text()
