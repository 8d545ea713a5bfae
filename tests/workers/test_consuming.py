"""A worker's consumer outlives Redis: with a real broker that is killed, or refuses writes."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from celery import Celery
from kombu import Consumer, Queue
from kombu.exceptions import OperationalError

from api import broker
from api.broker import celery_app
from tests.redises import Node, server, until
from workers.consuming import FIRST_SECONDS, LONGEST_SECONDS, consume_again


@pytest.fixture
def node(tmp_path) -> Iterator[Node]:
    node = server(tmp_path).start()
    yield node
    node.kill()


@pytest.fixture
def app(node) -> Iterator[Celery]:
    app = celery_app(node.url)
    consume_again(app)
    yield app
    app.close()


@pytest.mark.parametrize("answer", ["ack", "reject"])
def test_a_message_that_cannot_be_answered_is_not_worked_on_for_ever(node, app, answer):
    app.send_task(broker.BOT, args=("m0-aaaaaaaaaaaaaaaa", 1), queue="bots")
    with app.connection_for_read() as connection:
        channel = connection.default_channel
        channel.basic_qos(0, 1, False)
        got = []
        consumer = Consumer(channel, [Queue("bots")], callbacks=[lambda _, m: got.append(m)])
        consumer.consume()
        connection.drain_events(timeout=10)
        assert not channel.qos.can_consume()

        node.kill()
        with pytest.raises((OperationalError, *connection.connection_errors)):
            getattr(got[0], answer)()

        assert channel.qos.can_consume()
        node.start()  # or closing would wait for it


def test_a_broker_that_comes_back_is_found_soon(node, app):
    waits: list[float] = []
    with app.connection_for_read() as connection:
        node.kill()

        def failed(_: Exception, interval: float) -> None:
            waits.append(interval)
            if len(waits) == 4:
                node.start()

        connection.ensure_connection(failed)

    assert len(waits) == 4
    assert max(waits) <= LONGEST_SECONDS
    assert sum(waits) < 3


WORKER = """
import sys, time
from pathlib import Path
from api.broker import BOT, celery_app
from workers.consuming import consume_again

app, folder = celery_app(sys.argv[1]), Path(sys.argv[2])
consume_again(app)

@app.task(name=BOT)
def wait_for(name):
    (folder / f"{name} begun").touch()
    while not (folder / f"{name} may end").exists():
        time.sleep(0.01)

app.worker_main(["worker", "--queues", "bots", "--concurrency", "1", "-O", "fair"])
"""


@dataclass
class Worker:
    """A process of its own, whose tasks last until they are told to end."""

    process: subprocess.Popen[bytes]
    folder: Path
    app: Celery

    def send(self, name: str) -> None:
        self.app.send_task(broker.BOT, args=(name,), queue="bots")

    def begun(self, name: str) -> bool:
        return (self.folder / f"{name} begun").exists()

    def may_end(self, name: str) -> None:
        (self.folder / f"{name} may end").touch()

    def attempts(self) -> int:
        return (self.folder / "log").read_text().count("Cannot connect")

    def tries_again(self, times: int) -> None:
        before = self.attempts()
        until(lambda: self.attempts() >= before + times, 10)


@pytest.fixture
def worker(node, app, tmp_path) -> Iterator[Worker]:
    folder = tmp_path / "worker"
    folder.mkdir()
    command = [sys.executable, "-c", WORKER, node.url, str(folder)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    yield Worker(process, folder, app)
    if process.poll() is None:
        process.terminate()
        process.wait(20)


def set_to(**options: int) -> Callable[[Node], None]:
    def change(node: Node) -> None:
        with node.client() as client:
            for name, value in options.items():
                client.config_set(name.replace("_", "-"), value)

    return change


def follow(*primary: str) -> Callable[[Node], None]:
    def change(node: Node) -> None:
        with node.client() as client:
            client.replicaof(*primary)

    return change


REFUSALS = {
    "OOM": (set_to(maxmemory=1), set_to(maxmemory=0)),
    "NOREPLICAS": (set_to(min_replicas_to_write=1), set_to(min_replicas_to_write=0)),
    "READONLY": (follow("127.0.0.1", "1"), follow("NO", "ONE")),
}


def test_a_broker_that_refuses_writes_ends_no_worker(node, worker):
    for code, (refuse, allow) in REFUSALS.items():
        refused_with_a_task_under_way(node, worker, code, refuse)
        assert worker.process.poll() is None
        allow(node)
        worker.may_end(f"{code} next")
        worker.may_end(f"{code} after")
        worker.send(f"{code} after")
        until(partial(worker.begun, f"{code} after"), LONGEST_SECONDS + 3)

    refuse, _ = REFUSALS["OOM"]
    refused_with_a_task_under_way(node, worker, "at last", refuse)
    worker.process.terminate()
    assert worker.process.wait(10) == 0


def refused_with_a_task_under_way(
    node: Node, worker: Worker, name: str, refuse: Callable[[Node], None]
) -> None:
    """What the task answers is refused, and so is to take the next: the worker tries again."""
    worker.send(f"{name} under way")
    worker.send(f"{name} next")
    until(lambda: worker.begun(f"{name} under way"))
    refuse(node)
    worker.may_end(f"{name} under way")
    began = time.monotonic()
    worker.tries_again(3)
    assert time.monotonic() - began > FIRST_SECONDS  # not without a pause
