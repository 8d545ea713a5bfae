"""A worker tells, from its main process, that it is at work; it ends when it is asked to."""

import asyncio
import threading
from typing import Any, Final

from celery.signals import worker_ready, worker_shutdown, worker_shutting_down

from api.presence import Presence, this_process
from api.settings import read_settings
from api.store.connections import connect
from api.store.operators import RedisProcesses
from schema.acts import ProcessKind

LEAVE_SECONDS: Final = 1.0  # to say that it has ended


class _Telling(threading.Thread):
    """Says so on an event loop of its own, as the worker has none."""

    def __init__(self, queues: tuple[str, ...]) -> None:
        super().__init__(name="presence", daemon=True)
        self._queues = queues
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[None] | None = None
        self.draining = False

    def run(self) -> None:
        self._task = self._loop.create_task(self._tell())
        self._loop.run_until_complete(asyncio.wait({self._task}))
        self._loop.close()

    async def _tell(self) -> None:
        redis = connect(read_settings().redis_url)
        process = this_process(ProcessKind.WORKER, self._queues)
        try:
            await Presence(RedisProcesses(redis), process, draining=lambda: self.draining).run()
        finally:
            await redis.aclose()

    def leave(self) -> None:
        """Say that this worker has ended, if that can be said soon."""
        if self._task is not None and self.is_alive():
            self._loop.call_soon_threadsafe(self._task.cancel)
            self.join(LEAVE_SECONDS)


_telling: list[_Telling] = []  # one, once the worker is at work


@worker_ready.connect
def _start(sender: Any, **_: Any) -> None:
    _telling.append(_Telling(tuple(sender.app.amqp.queues.consume_from)))
    _telling[0].start()


@worker_shutting_down.connect
def _stopping(**_: Any) -> None:
    for telling in _telling:
        telling.draining = True


@worker_shutdown.connect
def _leave(**_: Any) -> None:
    for telling in _telling:
        telling.leave()
