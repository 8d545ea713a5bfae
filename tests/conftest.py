"""What tests share: a real Redis, a real stack of processes, a small client of the public API."""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from redis import Redis as BlockingRedis
from redis.asyncio import Redis
from redis.exceptions import ConnectionError  # noqa: A004

from api.bootstrap import Parts, build
from api.cli.embedded import embedded_redis, free_port
from api.settings import Settings
from api.store.connections import connect
from tests.client import Client
from tests.redises import cluster

settings.register_profile(
    "default", max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "thorough", max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


# Files that wait for processes for a minute or two; begun last, they would be waited for alone.
LONG = (
    "test_up.py",
    "test_connections.py",
    "test_revocation.py",
    "test_restarts.py",
    "test_chaos.py",
    "test_rolling.py",
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first, whatever order the others have."""
    items.sort(key=lambda item: item.path.name not in LONG)


def servers() -> list[str]:
    """The kinds of Redis that the store is tested on: the embedded one, and Debian's if installed.

    In CI both have to be there.
    """
    found = ["embedded"]
    if shutil.which("redis-server") or os.environ.get("CI"):
        found.append("debian")
    return found


@dataclass
class RedisServer:
    """A Redis of the tests' own, on a free port."""

    process: subprocess.Popen[bytes]
    url: str

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)


def start_redis(folder: Path, kind: str = "embedded") -> RedisServer:
    embedded = embedded_redis(folder)
    command = embedded.command
    if kind == "debian":
        binary = shutil.which("redis-server")
        assert binary, "redis-server is not installed"
        command = [binary, *command[1:]]
    process = subprocess.Popen(
        command, cwd=embedded.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _await_redis(embedded.url)
    return RedisServer(process, embedded.url)


def _await_redis(url: str) -> None:
    with BlockingRedis.from_url(url) as redis:
        for _ in range(100):
            try:
                redis.ping()
            except ConnectionError:
                time.sleep(0.05)
            else:
                return
    raise AssertionError("Redis did not start")


@pytest.fixture(scope="session")
def embedded_url(redis_url: str) -> str:
    """The Redis that comes along."""
    return redis_url


@pytest.fixture(scope="session")
def debian_url(tmp_path_factory) -> Iterator[str]:
    """Debian's Redis."""
    server = start_redis(tmp_path_factory.mktemp("debian"), "debian")
    yield server.url
    server.stop()


@pytest.fixture(scope="session")
def cluster_url(tmp_path_factory) -> Iterator[str]:
    """A Cluster of three nodes."""
    with cluster(tmp_path_factory.mktemp("cluster")) as (url, _):
        yield url


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory) -> Iterator[str]:
    """The URL of a real Redis that tests in this process share."""
    server = start_redis(tmp_path_factory.mktemp("redis"))
    yield server.url
    server.stop()


async def emptied(redis_url: str) -> Redis:
    """A client of a Redis that nothing of other tests is left in."""
    client = connect(redis_url)
    await client.flushall()
    return client


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    """A client of an emptied Redis."""
    client = await emptied(redis_url)
    yield client
    await client.aclose()


@pytest.fixture
async def parts(redis_url: str, redis: Redis) -> AsyncIterator[Parts]:
    """The services on an empty Redis beside which nobody works."""
    assert await redis.dbsize() == 0
    parts = build(Settings(redis_url=redis_url))
    yield parts
    await parts.close()


@dataclass
class Stack:
    """Everything `ringmaster up` runs, as its user sees it."""

    process: subprocess.Popen[str]
    url: str
    folder: Path
    output: list[str]
    metrics_port: int | None = None

    @property
    def redis_url(self) -> str:
        return next(line.split()[1] for line in self.output if line.strip().startswith("Redis "))

    def stop(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        code = self.process.wait(30)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code

    def abandon(self) -> None:
        """Stop it and do not wait until the last of its processes has gone, as each then does."""
        self.stop(signal.SIGKILL)


def start_stack(folder: Path, port: int | None = None, **env: str) -> Stack:
    """Run `ringmaster up` and wait until it says that it is ready."""
    port = port or free_port()
    with (folder / "stderr.log").open("a") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "api.cli.main", "up", "--port", str(port)],
            cwd=folder,
            env={**os.environ, "RINGMASTER_DATA_DIR": str(folder / "data"), **env},
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
    assert process.stdout is not None
    output: list[str] = []
    until = time.monotonic() + 60
    for line in process.stdout:
        output.append(line)
        if line.startswith("Stop with") or time.monotonic() > until:
            break
    assert output, (folder / "stderr.log").read_text()
    measured = env.get("RINGMASTER_METRICS_PORT")
    url = f"http://127.0.0.1:{port}"
    return Stack(process, url, folder, output, None if measured is None else int(measured))


def metrics_port() -> int:
    """A port that is free with the two that follow: worker, sweeper, worker of series."""
    while True:
        port = free_port()
        with contextlib.ExitStack() as opened, contextlib.suppress(OSError):
            for number in range(3):
                probe = opened.enter_context(socket.socket())
                probe.bind(("127.0.0.1", port + number))
            return port


@pytest.fixture(scope="session")
def stack(tmp_path_factory) -> Iterator[Stack]:
    """The real thing, once per session: API, worker, sweeper and Redis as processes."""
    folder = tmp_path_factory.mktemp("stack")
    running = start_stack(folder, None, RINGMASTER_METRICS_PORT=str(metrics_port()))
    yield running
    running.abandon()


@pytest.fixture
async def client(stack: Stack) -> AsyncIterator[Client]:
    """A signed-in guest at the real stack."""
    async with Client(stack.url) as client:
        await client.sign_in("Ann")
        yield client


async def until_finished(client: Client, match_id: str, seconds: float = 60) -> dict:
    """Follow a match to its end; its last state."""
    async with asyncio.timeout(seconds):
        async for update in client.updates(match_id):
            if update["match"]["status"] in ("FINISHED", "ABANDONED"):
                return update["match"]
    raise AssertionError("the stream ended before the match")
