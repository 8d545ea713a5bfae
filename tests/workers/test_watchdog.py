"""A worker that takes nothing beside a queue that is not empty is found out, and no other."""

import signal
import subprocess
import sys
import time
from queue import SimpleQueue

import pytest
from celery.worker import state
from redis import Redis

from workers.watchdog import BATCH_SECONDS, BUSY_SECONDS, PATIENCE_SECONDS, Watchdog


@pytest.fixture
def broker(redis_url):
    with Redis.from_url(redis_url) as broker:
        broker.flushall()
        yield broker


def test_tasks_that_wait_while_none_is_taken_make_it_stuck(broker):
    broker.rpush("bots", "task")
    watchdog, now = Watchdog(broker, ["scoring", "bots"]), time.monotonic()

    assert not watchdog.stuck(now + PATIENCE_SECONDS - 1)
    assert watchdog.stuck(now + PATIENCE_SECONDS + 1)


PAUSE = """
import sys, time
from redis import Redis
from workers.watchdog import PATIENCE_SECONDS, Watchdog

def sleep(seconds, sleep=time.sleep):
    print("begun", flush=True)
    sleep(seconds)

time.sleep = sleep
watchdog = Watchdog(Redis.from_url(sys.argv[1]), ["bots"])
began = time.monotonic()
watchdog.pause()
print(watchdog.stuck(began + PATIENCE_SECONDS + 1))
"""


@pytest.mark.parametrize(("frozen", "stuck"), [(0.0, True), (3.0, False)])
def test_a_worker_that_was_frozen_is_not_blamed_for_that_time(broker, redis_url, frozen, stuck):
    broker.rpush("bots", "task")
    command = [sys.executable, "-c", PAUSE, redis_url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGSTOP)
        time.sleep(frozen)  # what is measured
        process.send_signal(signal.SIGCONT)

        assert process.communicate(timeout=20)[0] == f"{stuck}\n"


def test_a_worker_that_takes_tasks_is_not_stuck(broker):
    broker.rpush("bots", "task")
    watchdog = Watchdog(broker, ["bots"])
    watchdog.moved()

    assert not watchdog.stuck(time.monotonic() + PATIENCE_SECONDS - 1)


@pytest.mark.parametrize(("queue", "patience"), [("bots", BUSY_SECONDS), ("batch", BATCH_SECONDS)])
def test_a_worker_that_is_busy_is_given_longer(broker, queue, patience):
    broker.rpush(queue, "task")
    watchdog, now = Watchdog(broker, [queue]), time.monotonic()
    request: SimpleQueue[None] = SimpleQueue()  # anything that can be referred to weakly
    state.active_requests.add(request)
    try:
        assert not watchdog.stuck(now + patience - 1)
        assert watchdog.stuck(now + patience + 1)
    finally:
        state.active_requests.discard(request)


def test_tasks_that_nobody_can_take_make_nobody_stuck(broker):
    broker.rpush("bots", "task")
    watchdog, now = Watchdog(broker, ["bots"]), time.monotonic()
    broker.config_set("min-replicas-to-write", 1)
    try:
        assert not watchdog.stuck(now + PATIENCE_SECONDS + 1)
    finally:
        broker.config_set("min-replicas-to-write", 0)


def test_queues_that_are_empty_or_of_others_make_nobody_stuck(broker):
    broker.rpush("batch", "task")
    watchdog = Watchdog(broker, ["scoring", "bots"])

    assert not watchdog.stuck(time.monotonic() + 10 * BUSY_SECONDS)


def test_a_broker_that_is_gone_makes_nobody_stuck():
    with Redis(port=9, socket_timeout=0.1, socket_connect_timeout=0.1) as nowhere:
        watchdog = Watchdog(nowhere, ["bots"])

        assert not watchdog.stuck(time.monotonic() + 10 * BUSY_SECONDS)
