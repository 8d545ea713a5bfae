"""Celery as both sides see it: the queues, the tasks' names, how messages travel."""

from typing import Any, Final
from urllib.parse import parse_qs, quote, urlsplit

from celery import Celery
from kombu import Queue

from api.addresses import Kind, address_of
from api.queues import BATCH, QUEUES

SCORE: Final = "ringmaster.score"
BOT: Final = "ringmaster.bot"
CLOCK: Final = "ringmaster.clock"
SERIES: Final = "ringmaster.series"

ROUTES: Final = {SCORE: "scoring", BOT: "bots", CLOCK: "bots", SERIES: BATCH}

# Headers of a message: when it was sent, in seconds since the epoch, and the span that sent it.
SENT_AT: Final = "ringmaster_sent_at"
TRACEPARENT: Final = "traceparent"

_SOCKET: Final = {
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
    "socket_keepalive": True,
    "retry_on_timeout": False,
}


def celery_app(broker_url: str) -> Celery:
    """The Celery application; messages carry ids and versions or numbers, nothing secret."""
    url, behind = _transport(broker_url)
    app = Celery("ringmaster", broker=url, set_as_current=False)
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
        broker_transport_options={"visibility_timeout": 60, **_SOCKET, **behind},
        redis_socket_timeout=5,
        redis_socket_connect_timeout=2,
    )
    return app


def _transport(broker_url: str) -> tuple[str, dict[str, Any]]:
    """The broker as kombu has it: its URL, and what its transport is told beside it."""
    address = address_of(broker_url)
    if address.kind is Kind.SERVER:
        return _server(broker_url), {}
    options = address.options
    user, password = (quote(options.get(name, ""), safe="") for name in ("username", "password"))
    login = f"{user}:{password}@" if password else ""
    nodes = [f"sentinel://{login}{host}:{port}/{options['db']}" for host, port in address.nodes]
    asked = {"socket_timeout": 5, "socket_connect_timeout": 2, **address.sentinel_options}
    return ";".join(nodes), {"master_name": address.service, "sentinel_kwargs": asked}


def _server(url: str) -> str:
    """The URL of a single server, which kombu names otherwise where it is a socket's."""
    parts = urlsplit(url)
    if parts.scheme != "unix":
        return url
    db = parse_qs(parts.query).get("db", ["0"])[0]
    return f"redis+socket://{parts.netloc}{parts.path}?virtual_host={db}"
