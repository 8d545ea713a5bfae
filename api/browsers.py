"""What browsers are told: whose pages may call, and what a page of ours may do."""

from collections.abc import Sequence
from typing import Final

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_AGE: Final = 600  # seconds that a browser remembers an answer to a preflight
_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
PAGE_POLICY: Final = (
    "default-src 'none'; script-src https: 'unsafe-inline'; style-src https: 'unsafe-inline'; "
    "font-src https: data:; img-src 'self' https: data:; worker-src https: blob:; "
    "connect-src 'self' ws: wss: https:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


class SecurityHeaders:
    """Adds the headers to every answer, where it does not have its own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message.get("headers", ())}
                added = [header for header in _HEADERS if header[0] not in own]
                message["headers"] = [*message.get("headers", ()), *added]
            await send(message)

        await self._app(scope, receive, send_on)


def guarded(app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    """The application behind the rules for browsers.

    No answer allows credentials: there are no cookies here, and a token is sent by the page itself.
    """
    shared = CORSMiddleware(
        app,
        allow_origins=origins,
        allow_methods=["GET", "POST", "DELETE", "OPTIONS"],
        allow_headers=[
            "Authorization",
            "Content-Type",
            "Idempotency-Key",
            "If-Match",
            "If-None-Match",
            "Last-Event-ID",
        ],
        expose_headers=["RateLimit", "RateLimit-Policy", "Retry-After", "ETag", "Location"],
        max_age=MAX_AGE,
    )
    return SecurityHeaders(shared)
