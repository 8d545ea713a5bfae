"""What a process is at work on: one request, operation of a WebSocket, or task; a line for each.

What happens below takes note here of the match, its version, what was appended and what refused.
Nothing here knows a card, a token or a player.
"""

import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from secrets import token_hex
from typing import Any, Final

from api.observe import metrics

OK: Final = "OK"
_NAME: Final = re.compile(r"[A-Za-z_]\w{0,39}\Z", re.ASCII)
_PROCESS: Final = token_hex(4)
_numbers: Final = count(1)

log = logging.getLogger("ringmaster.work")


def new_id() -> str:
    """What tells a request from all others."""
    return f"{_PROCESS}-{next(_numbers):x}"


@dataclass(slots=True)
class Work:
    """One piece of work, as far as an operator may know of it.

    Attributes:
        transport: graphql, rest, websocket or http (all else); task, if it is a worker's.
        kind: query, mutation or subscription; None if it is no GraphQL, or not yet known.
        several: it was about more than one match, so none is named.
        commits: the actions or events of what was appended, in order.
        updates: how many a stream was handed; None: it is no stream.
        told: its line is written.
    """

    transport: str
    request: str = field(default_factory=new_id)
    trace: str | None = None
    kind: str | None = None
    name: str | None = None
    match: str | None = None
    version: int | None = None
    several: bool = False
    commits: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    updates: int | None = None
    began: float = field(default_factory=time.perf_counter)
    told: bool = False

    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.perf_counter() - self.began

    def code(self) -> str:
        """The last refusal's, or OK."""
        return self.codes[-1] if self.codes else OK

    def beginning(self) -> dict[str, Any]:
        """What is known of it from its beginning on."""
        told: dict[str, Any] = {"request": self.request, "transport": self.transport}
        if self.trace is not None:
            told["trace"] = self.trace
        if self.kind is not None:
            told["operation"] = self.kind
        if self.name is not None:
            told["name"] = self.name
        if self.match is not None and not self.several:
            told["match"] = self.match
            if self.version is not None:
                told["version"] = self.version
        return told

    def fields(self) -> dict[str, Any]:
        """What its line tells, which is written now."""
        self.told = True
        told = self.beginning()
        if self.commits:
            told["commits"] = self.commits
        told["code"] = self.code()
        if len(self.codes) > 1:
            told["codes"] = self.codes
        if self.updates is not None:
            told["updates"] = self.updates
        told["duration_ms"] = round(1000 * self.seconds(), 2)
        return told


current: ContextVar[Work | None] = ContextVar("work", default=None)


@contextmanager
def working(work: Work | None) -> Iterator[None]:
    """Let all that the block does take note in ``work``."""
    token = current.set(work)
    try:
        yield
    finally:
        current.reset(token)


def touched(match_id: str, version: int) -> None:
    """The work is about this match, which now has this version."""
    work = current.get()
    if work is None:
        return
    if work.match is None:
        work.match = match_id
    elif work.match != match_id:
        work.several = True
        return
    if version:
        work.version = version


def committed(match_id: str, version: int, event: str, action: str | None, by: str) -> None:
    """A commit was appended; called once for each, whatever became of the answer to it."""
    metrics.count_commit(event, action, by)
    work = current.get()
    if work is None or work.told:
        told = {"match": match_id, "version": version, "commits": [action or event]}
        tell("commit", told)
    else:
        touched(match_id, version)
        work.commits.append(action or event)


def refused(code: str) -> None:
    """A client is told of a refusal or a failure; called once for each."""
    metrics.refusals_of(code).inc()
    work = current.get()
    if work is not None:
        work.codes.append(code)


def operating(kind: str, name: str | None) -> None:
    """The work is this kind of GraphQL operation; a name is told where it is a plain one."""
    work = current.get()
    if work is None:
        return
    work.kind = kind
    if name is not None and _NAME.match(name):
        work.name = name


def tell(event: str, fields: dict[str, Any], level: int = logging.INFO) -> None:
    """Log a line about a piece of work."""
    if log.isEnabledFor(level):
        # As `log.log` does, without a look for the caller, which costs more than the line.
        record = log.makeRecord(log.name, level, "", 0, event, (), None)
        record.fields = fields
        log.handle(record)
