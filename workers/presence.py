"""A worker tells, from its main process, that it is at work; it ends when it is asked to."""

import asyncio
import threading
from typing import Any

from celery.signals import worker_ready

from api.presence import Presence, this_process
from api.settings import read_settings
from api.store.connections import connect
from api.store.operators import RedisProcesses
from schema.acts import ProcessKind


async def _tell(queues: tuple[str, ...]) -> None:
    redis = connect(read_settings().redis_url)
    await Presence(RedisProcesses(redis), this_process(ProcessKind.WORKER, queues)).run()


@worker_ready.connect
def _start(sender: Any, **_: Any) -> None:
    queues = tuple(sender.app.amqp.queues.consume_from)
    threading.Thread(
        target=lambda: asyncio.run(_tell(queues)), name="presence", daemon=True
    ).start()
