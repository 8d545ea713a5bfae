"""What is measured: the whole stack as `ringmaster up` runs it, its processes told apart."""

import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.error import URLError

from redis import Redis

from api.cli.embedded import free_port
from tests.bench.driver import Driver
from tests.bench.machine import (
    OTHER_CORES,
    SERVER_CORES,
    children,
    cpu_seconds,
    family,
    part,
    pin,
)
from tests.conftest import start_stack

# Few people play what many would: the limits stay on, and let all of it through.
FREE: Final = {
    f"RINGMASTER_LIMIT_{bucket}": "1000000000/minute"
    for bucket in ("PLAYS", "READS", "CREATES", "STREAMS")
}
READY_SECONDS: Final = 30
STEP: Final = 0.1  # seconds between looks at whether a match is over


@dataclass(frozen=True)
class Served:
    """A running stack: where it is, and its processes."""

    url: str
    redis_url: str
    api: int
    redis: int
    workers: tuple[int, ...]

    def redis_client(self) -> Redis:
        return Redis.from_url(self.redis_url, decode_responses=True)


@contextmanager
def serving(*, pinned: bool = True) -> Iterator[Served]:
    """A stack of its own, for as long as the block runs.

    ``pinned``: the API process has a core, and all else the others.
    """
    with tempfile.TemporaryDirectory(prefix="ringmaster-bench-") as folder:
        stack = start_stack(Path(folder), None, **FREE)
        try:
            parts = {part(pid): pid for pid in children(stack.process.pid)}
            if pinned:
                pin(OTHER_CORES, *family(stack.process.pid))
                pin(SERVER_CORES, parts["api"])
            workers = [*family(parts["worker"]), *family(parts["sweeper"])]
            yield Served(stack.url, stack.redis_url, parts["api"], parts["redis"], tuple(workers))
        finally:
            stack.stop()


@contextmanager
def second_api(first: Served, cores: frozenset[int]) -> Iterator[tuple[str, int]]:
    """Another API process behind the same Redis: its address and its pid."""
    port = free_port()
    env = {**os.environ, **FREE, "RINGMASTER_REDIS_URL": first.redis_url}
    process = subprocess.Popen(
        [sys.executable, "-m", "api.cli.main", "api", "--port", str(port)],
        env=env,
        stderr=subprocess.DEVNULL,  # a line for every request
    )
    try:
        await_ready(f"http://127.0.0.1:{port}/readyz")
        pin(cores, process.pid)
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.wait(READY_SECONDS)


def await_ready(url: str) -> None:
    """Return once an address answers.

    Raises:
        TimeoutError: it does not within 30 s.
    """
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(url, timeout=1):  # noqa: S310 - our own address
                return
        except (URLError, OSError):
            time.sleep(0.02)
    raise TimeoutError(url)


@dataclass(frozen=True)
class Window:
    """What happened while a crowd played, with the CPU seconds that each kind of process used."""

    seconds: float
    moves: int
    server: float
    redis: float
    workers: float
    clients: float
    commands: int
    latencies: tuple[float, ...] = ()

    @property
    def rate(self) -> float:
        """Accepted moves per second."""
        return self.moves / self.seconds

    def per_move(self, cpu: float) -> float:
        """Milliseconds of CPU seconds for each accepted move."""
        return cpu / self.moves * 1000


def watch(
    served: Served, crowd: Driver, seconds: float, *servers: int, to_the_end: bool = False
) -> Window:
    """Look on while a crowd plays, until the time is up or a match is over.

    ``servers``: the API processes, if there are others than the stack's own. ``to_the_end``: go on
    though matches end and others are opened in their places.
    """
    apis = servers or (served.api,)
    with served.redis_client() as redis:
        commands = _commands(redis)
        crowd.ask("count")
        kinds = (apis, (served.redis,), served.workers, (crowd.process.pid,))
        before = [cpu_seconds(*pids) for pids in kinds]
        began, moves, latencies = time.perf_counter(), 0, list[float]()
        while time.perf_counter() - began < seconds:
            time.sleep(STEP)
            told = crowd.ask("count")
            moves, latencies = moves + told["moves"], latencies + told["latencies"]
            if told["finished"] and not to_the_end:
                break
        lasted = time.perf_counter() - began
        server, stored, worked, asked = (
            cpu_seconds(*pids) - early for pids, early in zip(kinds, before, strict=True)
        )
        commands = _commands(redis) - commands
    return Window(lasted, moves, server, stored, worked, asked, commands, tuple(latencies))


def _commands(redis: Redis) -> int:
    told: Any = redis.info("stats")
    return int(told["total_commands_processed"])
