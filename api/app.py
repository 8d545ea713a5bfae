"""The ASGI application: routes, lifespan, and what guards every request."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api import tracing
from api.bootstrap import Parts, build
from api.browsers import guarded
from api.cancelling import stop
from api.drain import Leaving
from api.errors import Unavailable, Unwritable
from api.graphql.view import GraphQLView, bad_request
from api.observe.requests import Observed
from api.observe.serving import exposed
from api.patience import patient
from api.presence import Presence, this_process
from api.problems import RETRY_AFTER_SECONDS
from api.rest.app import create_rest, nothing_here, too_large
from api.rest.quick import BODY, Quick
from api.settings import Settings, read_settings
from schema.acts import ProcessKind

READY_SECONDS: Final = 1
PULSE_SECONDS: Final = 1
MAX_BODY: Final = 64 * 1024  # bytes


class App(Starlette):
    """Keeps the rules for browsers in its answers to failures too."""

    def build_middleware_stack(self) -> ASGIApp:
        parts: Parts = self.state.parts
        return Observed(guarded(super().build_middleware_stack(), parts.settings.allowed_origins))


class BodyLimit:
    """Answers 413 to a body over the limit, before it is read into memory."""

    def __init__(self, app: ASGIApp, limit: int = MAX_BODY) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return  # the client has gone
            body += message.get("body", b"")
            if len(body) > self._limit:
                await self._refusal(scope["path"])(scope, receive, send)
                return
            if not message.get("more_body", False):
                break
        scope[BODY] = bytes(body)
        await self._app(scope, _replay(scope[BODY], receive), send)

    def _refusal(self, path: str) -> Response:
        sentence = f"A request has at most {self._limit} bytes."
        return too_large(sentence) if path.startswith("/v1/") else bad_request(sentence, 413)


def _replay(body: bytes, receive: Receive) -> Receive:
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


async def healthz(_: Request) -> Response:
    """The process runs."""
    return JSONResponse({"status": "ok"})


class Patient:
    """Lets all that one request waits for share one patience, until it is answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with patient() as patience:

            async def answer(message: Message) -> None:
                patience.ended = True  # what a stream waits for later is no part of its answer
                await send(message)

            await self._app(scope, receive, answer)


async def readyz(request: Request) -> Response:
    """Whether requests can be served; if not all of them, what is wrong (docs/durability.md)."""
    parts: Parts = request.app.state.parts
    if parts.drain.begun:
        return _not_ready("draining", "the process stops")
    try:
        async with asyncio.timeout(READY_SECONDS):
            await parts.store.probe()
    except Unwritable as error:
        # Not 503: no process can write, and readers are better served than turned away.
        return JSONResponse({"status": "read-only", "reason": str(error)})
    except Unavailable as error:
        return _not_ready("redis unreachable", str(error))
    except TimeoutError:
        return _not_ready("redis unreachable", TimeoutError.__name__)
    if not parts.service.keeps_up():
        return _not_ready("not following", "subscribers are not told what happens")
    return JSONResponse({"status": "ready"})


def _not_ready(status: str, reason: str) -> Response:
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
    return JSONResponse({"status": status, "reason": reason}, 503, headers)


async def metrics(request: Request) -> Response:
    """The metrics of this process, as Prometheus reads them (docs/observability.md)."""
    text, media_type = exposed(request.headers.get("accept", ""))
    return Response(text, headers={"Content-Type": media_type})


async def home(_: Request) -> Response:
    """A browser that comes to the root is shown the API."""
    return RedirectResponse("/graphql")


async def _pulse(parts: Parts) -> None:
    """Say once in a while that moves can be made: no clock runs out while nobody says so.

    With it, what was appended and not answered is counted.
    """
    while True:
        with contextlib.suppress(Unavailable):
            await parts.store.pulse("api")
            await parts.service.settle_doubts()
        await asyncio.sleep(PULSE_SECONDS)


def create_app(settings: Settings | None = None, parts: Parts | None = None) -> Starlette:
    """The application; ``parts`` are built from the settings if not given."""
    parts = parts or build(settings or read_settings())
    graphql, rest = GraphQLView(parts), Quick(create_rest(parts), parts)
    presence = Presence(
        parts.processes,
        this_process(ProcessKind.API),
        parts.streams.count,
        draining=lambda: parts.drain.begun,
    )

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        tasks = [
            asyncio.create_task(parts.service.keep_up(parts.heed)),
            asyncio.create_task(_pulse(parts)),
            asyncio.create_task(presence.run()),
        ]
        yield
        for task in tasks:
            await stop(task)
        await parts.close()
        tracing.shut_down()

    app = App(
        routes=[
            Route("/", home),
            Route("/graphql", graphql),
            WebSocketRoute("/graphql", graphql),
            Route("/healthz", healthz),
            Route("/readyz", readyz),
            Route("/metrics", metrics),
            Route("/openapi.json", rest),
            Route("/v1/{rest:path}", rest),
        ],
        lifespan=lifespan,
        exception_handlers={HTTPException: nothing_here, Exception: nothing_here},
    )
    app.add_middleware(Patient)
    app.add_middleware(BodyLimit)  # outside that: how long a body takes is the client's business
    app.add_middleware(Leaving, drain=parts.drain)
    app.state.parts = parts
    return app
