"""What the sweeper looks up whenever its metrics are asked for: queues and matches, as they are."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from api.bootstrap import Parts
from api.errors import Unavailable
from api.ledger import now_ms
from api.queues import QUEUES, WATCHDOG_ENDS
from api.store.connections import connect_blocking
from api.store.figures import Figures, figures

ANSWER_SECONDS: Final = 2.0
OVERDUE_MS: Final = 15_000  # well over the time after which what was sent is sent again


class Gauges(Collector):
    """Asked from a thread; ``is_active``: whether this sweeper holds the lease.

    What cannot be looked up is left out.
    """

    def __init__(
        self, parts: Parts, loop: asyncio.AbstractEventLoop, is_active: Callable[[], bool]
    ) -> None:
        self._parts = parts
        self._loop = loop
        self._is_active = is_active
        self._broker = connect_blocking(parts.settings.broker, ANSWER_SECONDS)

    def describe(self) -> Iterable[Metric]:
        """Nothing, so that Redis is not asked before somebody asks us."""
        return []

    def collect(self) -> Iterable[Metric]:
        """Look now."""
        active = "1 in the sweeper that holds the lease, 0 in those that wait for it."
        yield GaugeMetricFamily("ringmaster_sweeper_active", active, self._is_active())
        with suppress(RedisError, OSError):
            yield from self._queues()
        with suppress(Unavailable, TimeoutError):
            yield from _matches(self._figures())

    def _queues(self) -> Iterable[Metric]:
        lengths = GaugeMetricFamily("ringmaster_queue_length", "Tasks that wait.", labels=["queue"])
        for queue in QUEUES:
            lengths.add_metric([queue], self._broker.llen(queue))
        yield lengths
        ends = int(self._broker.get(WATCHDOG_ENDS) or 0)
        what = "Workers that their watchdog has ended, ever."
        yield CounterMetricFamily("ringmaster_watchdog_ends_total", what, ends)

    def _figures(self) -> Figures:
        looking = figures(self._parts.redis, now_ms(), OVERDUE_MS)
        future = asyncio.run_coroutine_threadsafe(looking, self._loop)
        try:
            return future.result(ANSWER_SECONDS)
        finally:
            future.cancel()


def _matches(found: Figures) -> Iterable[Metric]:
    for name, what, number in (
        ("open_matches", "Matches that are not over.", found.open),
        ("due_matches", "Matches that are owed something, now or later.", found.due),
        ("overdue_matches", "Matches that were owed something for 15 s and more.", found.overdue),
        ("running_series", "Series that are running.", found.series),
    ):
        yield GaugeMetricFamily(f"ringmaster_{name}", what, number)
    public = GaugeMetricFamily(
        "ringmaster_public_matches", "Public matches that are listed.", labels=["status"]
    )
    for status, number in found.public.items():
        public.add_metric([status], number)
    yield public
