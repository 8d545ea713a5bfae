"""Logging for every process: one line per record on standard error, to be read by people."""

import logging
import sys

FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"


def set_up_logging(level: str) -> None:
    """Log from ``level`` on; libraries from warnings on, so that no payload is ever logged."""
    # Celery puts a stream in the place of `sys.stderr` that swallows what is logged to it.
    logging.basicConfig(
        format=FORMAT, level=logging.WARNING, force=True, stream=sys.__stderr__ or sys.stderr
    )
    logging.getLogger("ringmaster").setLevel(level.upper())
