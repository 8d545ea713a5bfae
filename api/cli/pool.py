"""Processes that work for a command and end with it, however it ends; and how far they are."""

import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

INTERRUPTED: Final = 130


def progress(*more: ProgressColumn) -> Progress:
    """A bar per task on standard error, with what is done of how much and the time left."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    return Progress(*columns, TimeRemainingColumn(), *more, console=Console(stderr=True))


def die_with_parent() -> None:
    """Let this process be stopped when the one that started it is gone (Linux)."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


@contextmanager
def pool(
    jobs: int, prepare: Callable[..., None] | None = None, *given: Any
) -> Iterator[ProcessPoolExecutor]:
    """Fresh processes, each of which calls ``prepare(*given)`` first; they end with the block.

    SIGTERM ends this process as Ctrl-C does from now on, so that it can end the others.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(jobs, context, _begin, (prepare, *given))
    try:
        yield executor
    except Exception:
        executor.shutdown(cancel_futures=True)
        raise
    except (KeyboardInterrupt, GeneratorExit, SystemExit):  # not after what they are at
        for child in multiprocessing.active_children():
            child.kill()
        sys.stderr.flush()
        os._exit(INTERRUPTED)  # the pool's own end would wait for them
    executor.shutdown()


def _begin(prepare: Callable[..., None] | None, *given: Any) -> None:
    die_with_parent()
    parent = multiprocessing.parent_process()
    if parent is None or not parent.is_alive():  # it was quicker
        os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command sees to it
    if prepare is not None:
        prepare(*given)
