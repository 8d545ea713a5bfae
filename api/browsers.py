"""What browsers are told: whose pages may call, and what a page of ours may do."""

from collections.abc import Sequence
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_AGE: Final = 600  # seconds that a browser remembers an answer to a preflight
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
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
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
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
            "Last-Event-ID",
        ],
        expose_headers=["RateLimit", "RateLimit-Policy", "Retry-After", "ETag", "Location"],
        max_age=MAX_AGE,
    )
    return SecurityHeaders(shared)
