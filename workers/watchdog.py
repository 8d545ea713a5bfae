"""Ends a worker that no longer takes what waits for it, so that it is started anew.

A consumer that loses Redis with acknowledgements under way may connect again and never consume
again. Nothing is lost by ending it: what was due is in the due set.
"""

import logging
import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from billiard import active_children
from celery.signals import task_received, worker_ready
from celery.worker import state
from redis import Redis
from redis.exceptions import RedisError

from api import signs
from api.observe.sharing import forget_shared
from api.queues import BATCH, WATCHDOG_ENDS
from api.settings import read_settings
from api.store.connections import connect_blocking
from workers.consuming import probe

LOOK_SECONDS: Final = 1.0
FROZEN_SECONDS: Final = 2.5  # that such a pause took, and the process was not running
BROKER_SECONDS: Final = 2.0  # to answer how much waits
PATIENCE_SECONDS: Final = 6.0  # of idling beside a queue that is not empty
BUSY_SECONDS: Final = 60.0  # the same while a task seems to run; longer than any may
BATCH_SECONDS: Final = 900.0  # the same where whole matches are played, by slow levels too

log = logging.getLogger("ringmaster.worker")


class Watchdog:
    """Looks whether tasks wait, and when the last one was taken; gives a sign with every look."""

    def __init__(self, broker: Redis, queues: list[str], sign: str | None = None) -> None:
        self._broker = broker
        self._queues = queues
        self._sign = sign
        self._moved = time.monotonic()

    def moved(self) -> None:
        """A task was taken."""
        self._moved = time.monotonic()

    def watch(self) -> None:
        """Look until the worker has to end."""
        while not self.stuck(time.monotonic()):
            if self._sign is not None and Path(self._sign).exists():  # not once it stops
                signs.give(self._sign)
            self.pause()
        log.error("tasks wait and none is taken: this worker ends, to be started anew")
        with suppress(RedisError, OSError):
            self._broker.incr(WATCHDOG_ENDS)  # this process's own count ends with it
        forget_shared()
        for child in active_children():
            child.terminate()
        os._exit(1)

    def pause(self) -> None:
        """Wait until the next look; a process that itself stood still meanwhile has no past."""
        before = time.monotonic()
        time.sleep(LOOK_SECONDS)
        if time.monotonic() - before > FROZEN_SECONDS:
            self.moved()

    def stuck(self, now: float) -> bool:
        """Whether tasks have been waiting for too long beside a worker that takes none."""
        if not self._waiting():
            self._moved = now
        busy = BATCH_SECONDS if BATCH in self._queues else BUSY_SECONDS
        return now - self._moved > (busy if state.active_requests else PATIENCE_SECONDS)

    def _waiting(self) -> bool:
        try:
            waiting = any(self._broker.llen(queue) for queue in self._queues)
            if waiting:
                probe(self._broker)
        except (RedisError, OSError):
            return False  # nothing can be taken now, by anybody
        return waiting


@worker_ready.connect
def _start(sender: Any, **_: Any) -> None:
    settings = read_settings()
    broker = connect_blocking(settings.broker, BROKER_SECONDS)
    queues = list(sender.app.amqp.queues.consume_from)
    watchdog = Watchdog(broker, queues, settings.ready_file)
    task_received.connect(lambda **_: watchdog.moved(), weak=False)
    threading.Thread(target=watchdog.watch, name="watchdog", daemon=True).start()
