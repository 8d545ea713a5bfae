"""A line, a time and an outcome for every task that a worker carries out."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

from celery import Celery
from prometheus_client import Counter, Histogram

from api import broker, tracing
from api.observe import metrics, work
from api.observe.work import Work

DONE: Final = "DONE"
PASSED: Final = "PASSED"  # there was nothing to do, or not any more
UNAVAILABLE: Final = "UNAVAILABLE"
FAILED: Final = "FAILED"


class Doing:
    """A task while it is carried out; ``outcome`` is told at its end."""

    def __init__(self, own: Work) -> None:
        self._work = own
        self.outcome = DONE

    @property
    def commits(self) -> int:
        """How many commits it has made."""
        return len(self._work.commits)


@contextmanager
def doing(app: Celery, *, match: str | None = None, **ids: str | int) -> Iterator[Doing]:
    """The block carries out the current task, for a match or for what else ``ids`` name."""
    request: Any = getattr(app.current_task, "request", None)
    name = "" if app.current_task is None else str(app.current_task.name)
    headers: dict[str, Any] = getattr(request, "headers", None) or {}
    sent, parent = headers.get(broker.SENT_AT), headers.get(broker.TRACEPARENT)
    own = Work("task", trace=tracing.trace_of(parent), match=match)
    told: dict[str, Any] = {"task": name, **ids}
    if isinstance(sent, float):
        waited = max(0.0, time.time() - sent)
        _wait(broker.ROUTES.get(name, "")).observe(waited)
        told["waited_ms"] = round(1000 * waited, 2)
    task = Doing(own)
    with work.working(own), tracing.span(f"task {name}", parent, "CONSUMER") as span:
        own.trace = tracing.trace_of(tracing.traceparent()) or own.trace
        try:
            yield task
        except BaseException:
            task.outcome = FAILED
            raise
        finally:
            count, seconds = _of(name, task.outcome)
            count.inc()
            seconds.observe(own.seconds())
            if span is not None:
                span.set_attribute("ringmaster.code", task.outcome)
            work.tell("task", {**told, **own.fields(), "code": task.outcome})


@cache
def _of(name: str, outcome: str) -> tuple[Counter, Histogram]:
    return metrics.tasks.labels(name, outcome), metrics.task_seconds.labels(name)


@cache
def _wait(queue: str) -> Histogram:
    return metrics.queue_wait_seconds.labels(queue)
