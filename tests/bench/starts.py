"""How long processes take to be ready, and what a worker keeps in memory."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Final

from api.cli.embedded import free_port
from tests.bench.figures import Figure, middle
from tests.bench.machine import family, proportional
from tests.conftest import start_redis

RUNS: Final = 5
SECONDS: Final = 60
ROOT: Final = Path(__file__).parents[2]
# As `ringmaster worker` starts Celery, with an application that has no task and imports nothing.
BARE: Final = """
import sys
from pathlib import Path
from celery import Celery
from celery.signals import worker_ready
app = Celery(broker=sys.argv[1])
worker_ready.connect(lambda **_: Path(sys.argv[2]).touch(), weak=False)
app.worker_main(["worker", "--concurrency", "1", "--loglevel", "error", "-O", "fair",
    "--without-gossip", "--without-mingle", "--without-heartbeat"])
"""


def starts() -> Iterator[Figure]:
    """A worker of one process beside a bare one of Celery, and `make up`."""
    with tempfile.TemporaryDirectory(prefix="ringmaster-bench-") as name:
        folder = Path(name)
        redis = start_redis(folder)
        try:
            yield from _workers(folder, redis.url)
        finally:
            redis.stop()
        yield middle(
            "`make up` on a prepared checkout to ready",
            [_up(folder / f"up{run}") for run in range(RUNS)],
            "s",
            target=5,
            moonshot=2,
        )


def _workers(folder: Path, url: str) -> Iterator[Figure]:
    ours = [sys.executable, "-m", "api.cli.main", "worker", "--processes", "1"]
    kinds = ("ours", "bare")
    times, sizes = ({kind: list[float]() for kind in kinds} for _ in range(2))
    for run in range(RUNS):
        for kind in kinds:
            ready = folder / f"{kind}{run}"
            bare = [sys.executable, "-W", "ignore", "-c", BARE, url, str(ready)]
            env = {"RINGMASTER_REDIS_URL": url, "RINGMASTER_READY_FILE": str(ready)}
            seconds, size = _started(ours if kind == "ours" else bare, ready.exists, env)
            times[kind].append(seconds)
            sizes[kind].append(size / 1024)
    yield middle("start of a bare Celery worker of one process", times["bare"], "s")
    yield middle(
        "start of a worker of one process, weights loaded",
        times["ours"],
        "s",
        ratio=median(times["ours"]) / median(times["bare"]),
        of="bare",
        target=1.5,
        moonshot=0.75,
    )
    yield middle("memory of the bare one, both its processes", sizes["bare"], "MiB")
    over = [mine - bare for mine, bare in zip(sizes["ours"], sizes["bare"], strict=True)]
    yield middle(
        "memory of a worker over the bare one, both its processes",
        over,
        "MiB",
        target=60,
        moonshot=30,
        note="shared pages divided among those who share them",
    )


def _started(
    command: Sequence[str], ready: Callable[[], bool], env: dict[str, str]
) -> tuple[float, int]:
    """Seconds until a process is ready, and the KiB that it and its children keep then."""
    began = time.monotonic()
    process = subprocess.Popen(
        command, env={**os.environ, **env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not ready():
            assert process.poll() is None, "it has ended"
            assert time.monotonic() - began < SECONDS, "it is not ready"
            time.sleep(0.01)
        seconds = time.monotonic() - began
        return seconds, sum(proportional(pid) for pid in family(process.pid))
    finally:
        process.terminate()
        process.wait(SECONDS)


def _up(data: Path) -> float:
    """Seconds from `make up` to its last line, that says how to stop it."""
    began = time.monotonic()
    process = subprocess.Popen(
        ["make", "--silent", "up", f"PORT={free_port()}"],
        cwd=ROOT,
        env={**os.environ, "RINGMASTER_DATA_DIR": str(data), "MAKEFLAGS": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("Stop with"):
                return time.monotonic() - began
        raise AssertionError("it did not start")
    finally:
        process.terminate()
        process.wait(SECONDS)
        assert process.stdout is not None
        process.stdout.close()
