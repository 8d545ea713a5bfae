"""What Celery and its pool tell, as lines of our log; they have a form of their own otherwise."""

import logging
import os
from typing import IO, Any, Final, cast

import celery.apps.worker
from celery.signals import setup_logging
from celery.utils.log import get_multiprocessing_logger

from api.logs import set_up_logging
from api.settings import read_settings
from workers.app import app

log: Final = logging.getLogger("ringmaster.worker")


@setup_logging.connect
def _set_up(**_: Any) -> None:
    """In the place of Celery's own handlers; what levels print is logged, as by Celery."""
    settings = read_settings()
    set_up_logging(settings.log_level, settings.log_format)
    pool = get_multiprocessing_logger()
    if pool is not None:
        pool.propagate = True  # what it tells of processes that died
    # By name: the processes of the pool look it up.
    app.log.redirect_stdouts("WARNING")  # type: ignore[arg-type]


def _say(text: str, *_: IO[str]) -> None:
    """Told by handlers of signals, which may not wait for a lock or a buffer of the log."""
    if log.isEnabledFor(logging.INFO):
        handler = cast("logging.StreamHandler[IO[str]]", logging.getLogger().handlers[0])
        record = log.makeRecord(log.name, logging.INFO, "", 0, text.strip(), (), None)
        os.write(handler.stream.fileno(), f"{handler.format(record)}\n".encode())


celery.apps.worker.safe_say = _say  # type: ignore[attr-defined]
