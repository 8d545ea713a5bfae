"""A Redis that is gone or frozen: callers are told so in time, and all is well once it is back."""

import asyncio
import os
import signal
import time

import pytest

from api.errors import Unavailable
from api.patience import ANSWER_SECONDS
from api.store.connections import connect
from api.store.keys import new_match_id
from api.store.redis import RedisDirectory, RedisStore
from api.store.tokens import RedisTokens
from tests.conftest import start_redis
from tests.store.test_contract import append


@pytest.fixture
async def server(tmp_path):
    server = await asyncio.to_thread(start_redis, tmp_path)
    yield server
    server.process.send_signal(signal.SIGCONT)  # does nothing if it has ended
    await asyncio.to_thread(server.stop)


async def everything(url: str) -> list[float]:
    """Seconds until each operation is refused as unavailable."""
    redis = connect(url)
    store, directory = RedisStore(redis), RedisDirectory(redis)
    seconds = []
    for work in (
        store.load(new_match_id(), 0),
        store.append(append(new_match_id(), 1)),
        store.listed(None, None, 1),
        store.due(1, 1),
        store.probe(),
        directory.find_code("x"),
        RedisTokens(redis).find("x"),
    ):
        began = time.monotonic()
        with pytest.raises(Unavailable):
            await work
        seconds.append(time.monotonic() - began)
    await redis.aclose()
    return seconds


async def test_a_redis_that_is_not_there_is_unavailable_at_once(server):
    url = server.url
    await asyncio.to_thread(server.stop)

    assert max(await everything(url)) < 2


async def test_a_frozen_redis_is_unavailable_in_time_and_comes_back(server):
    redis = connect(server.url)
    store = RedisStore(redis)
    match_id = new_match_id()
    assert await store.append(append(match_id, 1))
    os.kill(server.process.pid, signal.SIGSTOP)

    began = time.monotonic()
    with pytest.raises(Unavailable):
        await store.load(match_id, 0)
    assert time.monotonic() - began < ANSWER_SECONDS + 1

    os.kill(server.process.pid, signal.SIGCONT)
    commits, _ = await store.load(match_id, 0)
    assert len(commits) == 1
    await redis.aclose()
