"""A line and a time for every request and every operation on a WebSocket; streams while they last.

A line tells the route's template, never the path: what stands in its place may be a secret.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from http import HTTPMethod
from typing import Any, Final

from prometheus_client import Counter, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api import tracing
from api.observe import metrics, work
from api.observe.work import Work

GONE: Final = 499  # told in the place of a status where the client went before there was one
PLAIN: Final = frozenset({"/", "/graphql", "/healthz", "/readyz", "/metrics", "/openapi.json"})
PROBES: Final = frozenset({"/healthz", "/readyz", "/metrics"})  # asked by machines, all the time
OTHER: Final = "other"
_METHODS: Final = frozenset(HTTPMethod)

_connected: ContextVar[str | None] = ContextVar("connected", default=None)


class Observed:
    """Outermost: takes note of every request, and what was done for it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._request(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._connection(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, parent = scope["path"], _traceparent(scope)
        status = GONE

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        done = Work(_transport(path), trace=tracing.trace_of(parent))
        token = work.current.set(done)
        try:
            if tracing.is_on():
                await self._traced(done, parent, scope, receive, send_on)
            else:
                await self._app(scope, receive, send_on)
        finally:
            work.current.reset(token)
            _finish(done, _method(scope), _route(scope, path), status)

    async def _traced(
        self, done: Work, parent: str | None, scope: Scope, receive: Receive, send: Send
    ) -> None:
        with tracing.span("request", parent, "SERVER") as span:
            done.trace = tracing.trace_of(tracing.traceparent()) or done.trace
            try:
                await self._app(scope, receive, send)
            finally:
                _describe(span, done, f"{_method(scope)} {_route(scope, scope['path'])}")

    async def _connection(self, scope: Scope, receive: Receive, send: Send) -> None:
        metrics.websockets.inc()
        token = _connected.set(_traceparent(scope))
        try:
            await self._app(scope, receive, send)
        finally:
            _connected.reset(token)
            metrics.websockets.dec()


@contextmanager
def websocket_operation() -> Iterator[None]:
    """The block is one operation on a WebSocket: a query, a mutation or a subscription."""
    parent = _connected.get()
    done = Work("websocket", trace=tracing.trace_of(parent))
    with work.working(done), tracing.span("operation", parent, "SERVER") as span:
        done.trace = tracing.trace_of(tracing.traceparent()) or done.trace
        try:
            yield
        finally:
            if span is not None:
                _describe(span, done, "websocket")
            if done.updates is None:
                metrics.request_time(f"websocket {done.kind or OTHER}").observe(done.seconds())
            work.tell("operation", done.fields())


class Streaming:
    """A stream of updates from its beginning on, until its ``end``."""

    def __init__(self) -> None:
        self._work = work.current.get()
        transport = "sse"
        if self._work is not None:
            self._work.updates = 0
            transport = "websocket" if self._work.transport == "websocket" else "sse"
            work.tell("stream", self._work.beginning())
        self._open, self._updates = metrics.stream_gauges(transport)
        self._open.inc()

    def handed(self) -> None:
        """The connection has taken an update."""
        self._updates.inc()
        if self._work is not None and self._work.updates is not None:
            self._work.updates += 1

    def end(self) -> None:
        """It is over."""
        self._open.dec()


def _traceparent(scope: Scope) -> str | None:
    for name, value in scope["headers"]:
        if name == b"traceparent":
            found: str = value.decode("latin-1")
            return found
    return None


def _transport(path: str) -> str:
    if path.startswith("/v1/"):
        return "rest"
    return "graphql" if path == "/graphql" else "http"


def _method(scope: Scope) -> str:
    method: str = scope["method"]
    return method if method in _METHODS else OTHER


def _route(scope: Scope, path: str) -> str:
    if path in PLAIN:
        return path
    found: str | None = getattr(scope.get("route"), "path", None)
    return OTHER if found is None or found == "/v1/{rest:path}" else found


_counted: Final[dict[tuple[str, str, str | None, int], tuple[Counter, Histogram]]] = {}


def _finish(done: Work, method: str, route: str, status: int) -> None:
    """Count a request, and log its line."""
    key = (method, route, done.kind, status)
    found = _counted.get(key)
    if found is None:
        name = f"{method} {route}" if done.kind is None else f"graphql {done.kind}"
        found = _counted[key] = metrics.requests_of(name, status), metrics.request_time(name)
    requests, seconds = found
    requests.inc()
    if done.updates is None:
        seconds.observe(done.seconds())
    level = logging.DEBUG if route in PROBES else logging.INFO
    if work.log.isEnabledFor(level):
        told = {"method": method, "route": route, "status": status, **done.fields()}
        work.tell("request", told, level)


def _describe(span: Any, done: Work, name: str) -> None:
    """Let a span tell what has become of the work."""
    span.update_name(name if done.kind is None else f"{name} {done.kind}")
    told = {"match": done.match, "version": done.version} if not done.several else {}
    for key, value in {**told, "code": done.code()}.items():
        if value is not None:
            span.set_attribute(f"ringmaster.{key}", value)
