"""Logging for every process: one line per record on standard error, JSON or to be read by people.

A record may carry ``fields``, a dict of plain values (``extra={"fields": {...}}``).
"""

import logging
import sys
from datetime import UTC, datetime
from typing import Any

import orjson


class TextFormatter(logging.Formatter):
    """For a terminal."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """The line, with the fields as ``name=value`` at its end."""
        fields: dict[str, Any] = getattr(record, "fields", {})
        told = [f"{name}={value}" for name, value in fields.items()]
        return " ".join([super().format(record), *told])


class JsonFormatter(logging.Formatter):
    """For machines: an object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The object; an exception is told by its type alone, as its text could carry a card."""
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            told["exception"] = record.exc_info[0].__name__
        return orjson.dumps(told, default=str).decode()


def set_up_logging(level: str, form: str = "auto") -> None:
    """Log from ``level`` on; libraries from warnings on, so that no payload is ever logged.

    ``form``: ``json``, ``text``, or ``auto``: text on a terminal, JSON otherwise.
    """
    # Celery puts a stream in the place of `sys.stderr` that swallows what is logged to it.
    handler = logging.StreamHandler(sys.__stderr__ or sys.stderr)
    readable = form == "text" or (form == "auto" and handler.stream.isatty())
    handler.setFormatter(TextFormatter() if readable else JsonFormatter())
    logging.basicConfig(level=logging.WARNING, force=True, handlers=[handler])
    logging.getLogger("ringmaster").setLevel(level.upper())
    # Looked up for every record otherwise, and told by none.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
