"""One event loop and one service per worker process, opened and closed by Celery's hooks."""

import asyncio
import logging
from collections.abc import Coroutine
from contextvars import copy_context
from typing import Any, Final, TypeVar

from celery.signals import (
    worker_init,
    worker_process_init,
    worker_process_shutdown,
    worker_ready,
    worker_shutdown,
    worker_shutting_down,
)

from api import signs, tracing
from api.bootstrap import Parts, build
from api.logs import set_up_logging
from api.observe.serving import prepare, serve_shared
from api.observe.sharing import forget_shared
from api.settings import read_settings
from engine.bots import load_nets
from workers.thinking import bench, prepare_metrics

T = TypeVar("T")
TASK_SECONDS: Final = (
    30  # under the broker's visibility timeout, so that no task runs twice at once
)

log = logging.getLogger("ringmaster.worker")


class Runtime:
    """Runs coroutines of task bodies, which Celery calls synchronously."""

    def __init__(self) -> None:
        self._runner: asyncio.Runner | None = None
        self._parts: Parts | None = None

    def open(self) -> None:
        """Begin; every task of this process shares the loop and its connections."""
        self._runner = asyncio.Runner()
        self._runner.get_loop()
        self._parts = build(read_settings())

    def close(self) -> None:
        """End, letting waiting hints go out."""
        if self._runner is None or self._parts is None:
            return
        self._runner.run(self._parts.close())
        self._runner.close()
        self._runner = self._parts = None

    @property
    def parts(self) -> Parts:
        """What tasks work with.

        Raises:
            RuntimeError: the process has not been opened.
        """
        if self._parts is None:
            self.open()
        if self._parts is None:
            raise RuntimeError("the worker process has no service")
        return self._parts

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end.

        Raises:
            TimeoutError: it took longer than a task may.
        """
        if self._runner is None:
            raise RuntimeError("the worker process has no event loop")
        # Not in the context that the runner began in: the task's own knows what it is about.
        bounded = asyncio.wait_for(work, TASK_SECONDS)
        return self._runner.run(bounded, context=copy_context())


runtime = Runtime()


@worker_process_init.connect
def _open(**_: Any) -> None:
    settings = read_settings()
    set_up_logging(settings.log_level, settings.log_format)
    tracing.set_up(settings.tracing, "worker")
    bench.arrive(settings.bot_limit_ms / 1000)
    prepare_metrics()
    load_nets()  # once per process, and not in the first turn
    runtime.open()


@worker_init.connect
def _count(**_: Any) -> None:
    settings = read_settings()
    set_up_logging(settings.log_level, settings.log_format)
    if settings.metrics_port is not None:
        prepare("worker")
        serve_shared(settings.metrics_host, settings.metrics_port)


@worker_shutdown.connect
def _forget(**_: Any) -> None:
    forget_shared()


@worker_ready.connect
def _ready(**_: Any) -> None:
    signs.give(read_settings().ready_file)


@worker_shutting_down.connect
def _stopping(**_: Any) -> None:
    signs.take_back(read_settings().ready_file)


@worker_process_shutdown.connect
def _close(**_: Any) -> None:
    runtime.close()
    tracing.shut_down()
