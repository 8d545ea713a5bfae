"""Two sweepers as processes: one is active, and once it is killed the other takes over."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from redis import Redis

from api.signs import is_fresh
from api.store.connections import connect
from api.store.keys import SWEEPER_LEASE
from api.store.redis import RedisDirectory, RedisStore
from tests.api.test_service import BOT, World, new
from workers.sweeper import LEASE_MS


def until(holds: Callable[[], object], seconds: float) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"it does not hold after {seconds} s"
        time.sleep(0.02)


@pytest.fixture
def server(redis_url) -> Iterator[Redis]:
    with Redis.from_url(redis_url) as client:
        client.flushall()
        yield client


@pytest.fixture
def sweepers(redis_url, tmp_path) -> Iterator[list[subprocess.Popen]]:
    """Two of them; the first is active."""
    started: list[subprocess.Popen] = []
    try:
        for number in range(2):
            mark = str(tmp_path / str(number))
            env = {"RINGMASTER_REDIS_URL": redis_url, "RINGMASTER_READY_FILE": mark}
            command = [sys.executable, "-m", "workers.sweeper"]
            started.append(
                subprocess.Popen(command, env={**os.environ, **env}, stderr=subprocess.DEVNULL)
            )
            until(partial(is_fresh, mark), 30)
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait(10)


async def lose_a_hint(redis_url: str) -> None:
    """Open a match of bots whose hint to the workers is lost: only a sweeper will find it."""
    redis = connect(redis_url)
    await (
        World(RedisStore(redis), RedisDirectory(redis), clock=1)
        .service()
        .create("a", new(*[BOT] * 3))
    )
    await redis.aclose()


def test_the_other_sweeper_takes_over_once_the_active_one_is_killed(server, sweepers, redis_url):
    active = server.get(SWEEPER_LEASE)
    assert active is not None
    time.sleep(1)  # neither gives way to the other
    assert server.get(SWEEPER_LEASE) == active

    sweepers[0].kill()
    asyncio.run(lose_a_hint(redis_url))
    until(lambda: server.llen("bots"), LEASE_MS / 1000 + 2)

    assert server.get(SWEEPER_LEASE) not in {active, None}


def alive(**env: str) -> bool:
    """What a probe of a container with this environment finds."""
    command = [sys.executable, "-m", "api.signs"]
    return not subprocess.run(
        command, env={**os.environ, **env}, timeout=20, check=False
    ).returncode


def test_a_probe_tells_a_fresh_sign_from_a_stale_one_and_none(tmp_path):
    mark = tmp_path / "mark"
    assert not alive(RINGMASTER_READY_FILE=str(mark))
    mark.touch()
    assert alive(RINGMASTER_READY_FILE=str(mark))
    os.utime(mark, (time.time() - 40,) * 2)
    assert not alive(RINGMASTER_READY_FILE=str(mark))


def test_a_probe_asks_the_api_where_there_is_no_file(stack):
    assert alive(RINGMASTER_PORT=stack.url.rpartition(":")[2])
    assert not alive(RINGMASTER_PORT="1")
