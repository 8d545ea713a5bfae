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
        super().__init__("%(levelname)s %(name)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """The line, with the fields as ``name=value`` at its end."""
        record.message = record.getMessage()
        fields: dict[str, Any] = getattr(record, "fields", {})
        if record.exc_info:
            fields = {**fields, **_failure(record)}
        told = [f"{name}={value}" for name, value in fields.items()]
        return " ".join([f"{self.formatTime(record)} {self.formatMessage(record)}", *told])


class JsonFormatter(logging.Formatter):
    """For machines: an object a line."""

    _second = -1
    _written = ""

    def _time(self, created: float) -> str:
        """In UTC, to the millisecond; written once for all lines of a second."""
        second = int(created)
        if second != self._second:
            self._second = second
            self._written = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{self._written}.{int(1000 * (created - second)):03d}+00:00"

    def format(self, record: logging.LogRecord) -> str:
        """The object."""
        told: dict[str, Any] = {
            "time": self._time(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            told |= _failure(record)
        return orjson.dumps(told, default=str).decode()


def _failure(record: logging.LogRecord) -> dict[str, str]:
    """An exception by its type and place: its text could carry a hidden card."""
    type_, _, trace = record.exc_info or (None, None, None)
    if type_ is None:
        return {}
    told = {"exception": type_.__name__}
    while trace is not None:
        code = trace.tb_frame.f_code
        told["at"] = f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return told


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
