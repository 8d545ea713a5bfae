"""What metrics and lines of the log add to a move, in CPU of the API; spans are off."""

import asyncio
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.logs import set_up_logging
from api.observe import metrics, work
from api.observe.doubts import Doubts, about
from api.observe.requests import Observed, Streaming
from engine.events import Event, SetShown
from engine.state import Match
from tests.bench.figures import Figure, middle
from tests.builders import play_out

RUNS: Final = 7
TIMES: Final = 3000
FOLLOWERS: Final = 4
OPERATIONS: Final = 3  # of the store: the look, the append, and the limits' once in a while
MATCH_ID: Final = "m0-abcdefghijklmnop"
SCOPE: Final[Scope] = {"type": "http", "method": "POST", "path": "/graphql", "headers": []}


async def _nothing() -> Message:
    return {"type": "http.request"}


async def _nowhere(_: Message) -> None:
    pass


async def _bare(_: Scope, __: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def _moving(before: Match, events: tuple[Event, ...]) -> ASGIApp:
    """Takes note of what a move does, without doing it."""
    doubts = Doubts()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        work.operating("mutation", "Move")
        what = about(before, events)
        doubts.add("nonce", MATCH_ID, 17, what)
        if doubts.drop("nonce"):
            work.committed(MATCH_ID, 17, what.event, what.action, what.by)
        work.touched(MATCH_ID, 17)
        await _bare(scope, receive, send)

    return app


def _cost(times: Callable[[], None]) -> float:
    """CPU microseconds of each of ``TIMES``."""
    began = time.process_time()
    times()
    return (time.process_time() - began) / TIMES * 1e6


def _asked(app: ASGIApp) -> float:
    async def ask() -> None:
        for _ in range(TIMES):
            await app(SCOPE, _nothing, _nowhere)

    return _cost(lambda: asyncio.run(ask()))


def _updates() -> None:
    streaming = Streaming()
    for _ in range(TIMES):
        metrics.subscriber_lag.observe(0.004)
        streaming.handed()
    streaming.end()


def _operations() -> None:
    for _ in range(TIMES):
        began = time.perf_counter()
        metrics.redis_time("append").observe(time.perf_counter() - began)


@contextmanager
def _logging_to_nowhere() -> Iterator[None]:
    before, handlers = sys.__stderr__, logging.getLogger().handlers
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 - no path of ours
        sys.__stderr__ = nowhere  # type: ignore[misc]
        set_up_logging("info", "json")
        sys.__stderr__ = before  # type: ignore[misc]
        yield
        logging.getLogger().handlers = handlers


def observing() -> Iterator[Figure]:
    """The parts, and all that a move of a match has of them, run by run in turn."""
    commits = play_out(4, 3)
    at = next(n for n, (events, _) in enumerate(commits) if isinstance(events[0], SetShown))
    moving = Observed(_moving(commits[at - 1][1], commits[at][0]))
    runs: dict[str, list[float]] = {name: [] for name in ("request", "update", "redis", "move")}
    with _logging_to_nowhere():
        for _ in range(RUNS):
            request = _asked(moving) - _asked(_bare)
            update, redis = _cost(_updates), _cost(_operations)
            all_of_it = request + FOLLOWERS * update + OPERATIONS * redis
            for name, cost in zip(runs, (request, update, redis, all_of_it), strict=True):
                runs[name].append(cost)
    yield middle("counters, time and line of a request that moves, CPU", runs["request"], "us")
    yield middle("counters of an update to a subscriber, CPU", runs["update"], "us")
    yield middle("time of an operation of the store, CPU", runs["redis"], "us")
    what = f"all of a move with {FOLLOWERS} followers and {OPERATIONS} operations, CPU"
    yield middle(what, runs["move"], "us", target=72, moonshot=30)
