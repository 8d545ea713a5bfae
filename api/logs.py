"""Logging for every process: one line per record on standard error, to be read by people."""

import logging

FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"


def set_up_logging(level: str) -> None:
    """Log from ``level`` on; libraries from warnings on, so that no payload is ever logged."""
    logging.basicConfig(format=FORMAT, level=logging.WARNING, force=True)
    logging.getLogger("ringmaster").setLevel(level.upper())
