"""Whatever a worker writes is a line of the log, what Celery and its pool tell too."""

import json
import os
import signal
from pathlib import Path

import pytest

from api.broker import CLOCK, ROUTES, celery_app
from tests.chaos.ground import RINGMASTER, STOP_SECONDS, Process, until

NOBODYS = "m0-aaaaaaaaaaaaaaaa"  # the id of no match


def children(pid: int) -> set[int]:
    """The processes that a process has started, by any of its threads, of those that still run."""
    told = [found.read_text() for found in Path(f"/proc/{pid}/task").glob("*/children")]
    return {int(child) for children in told for child in children.split()}


@pytest.fixture
async def worker(tmp_path, redis_url):
    mark, broker = tmp_path / "ready", redis_url.removesuffix("/0") + "/9"  # its own alone
    env = {
        "RINGMASTER_REDIS_URL": redis_url,
        "RINGMASTER_BROKER_URL": broker,
        "RINGMASTER_READY_FILE": str(mark),
    }
    command = [*RINGMASTER, "worker", "--processes", "1"]
    worker = Process("worker", command, env, tmp_path, mark.exists, mark)
    worker.start()
    await worker.is_ready()
    # Celery ends if a child dies before it has begun to loop, a moment after it calls itself ready.
    with celery_app(broker) as app:
        app.send_task(CLOCK, args=(NOBODYS, 1), queue=ROUTES[CLOCK])
    await until(lambda: NOBODYS in (tmp_path / "worker.log").read_text(), STOP_SECONDS)
    yield worker
    await worker.end()


async def test_a_worker_writes_lines_of_json_alone_when_a_process_dies_and_when_it_stops(worker):
    before = children(worker.pid)
    (child,) = before
    os.kill(child, signal.SIGKILL)
    await until(lambda: children(worker.pid) - before, 2 * STOP_SECONDS)
    worker.send(signal.SIGTERM)
    await until(lambda: not worker.running(), STOP_SECONDS)

    written = (worker.folder / "worker.log").read_text().splitlines()
    told = {line["event"]: line["level"] for line in map(json.loads, written)}
    (died,) = (event for event in told if f"pid:{child}" in event)
    assert "signal 9" in died
    assert told[died] == "error"
    assert told["worker: Warm shutdown (MainProcess)"] == "info"
