"""Celery as both sides see it: the queues, the tasks' names, how messages travel."""

from typing import Final

from celery import Celery
from kombu import Queue

from api.queues import BATCH, QUEUES

SCORE: Final = "ringmaster.score"
BOT: Final = "ringmaster.bot"
CLOCK: Final = "ringmaster.clock"
SERIES: Final = "ringmaster.series"

ROUTES: Final = {SCORE: "scoring", BOT: "bots", CLOCK: "bots", SERIES: BATCH}

_SOCKET: Final = {
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
    "socket_keepalive": True,
    "retry_on_timeout": False,
}


def celery_app(broker_url: str) -> Celery:
    """The Celery application; messages carry ids and versions or numbers, nothing secret."""
    app = Celery("ringmaster", broker=broker_url, set_as_current=False)
    app.conf.update(
        task_queues=[Queue(name) for name in QUEUES],
        task_default_queue="housekeeping",
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_send_task_events=False,
        worker_enable_remote_control=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        # Lost messages are the sweeper's business; redelivery need not be quick, only bounded.
        broker_transport_options={"visibility_timeout": 60, **_SOCKET},
        redis_socket_timeout=5,
        redis_socket_connect_timeout=2,
    )
    return app
