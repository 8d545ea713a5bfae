"""The API process: uvicorn with limits that fit the protocol."""

import asyncio
import gc
import logging
import os
import socket
from contextlib import suppress
from types import FrameType
from typing import Final

import uvicorn
from sse_starlette.sse import AppStatus
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from api import tracing
from api.app import create_app
from api.bootstrap import build
from api.drain import Drain
from api.logs import set_up_logging
from api.observe.serving import prepare
from api.settings import Settings
from api.streams import Streams

WS_MAX_BYTES: Final = 64 * 1024
PING_SECONDS: Final = 20  # between pings on a WebSocket, and until a pong has to come
PEER_SECONDS: Final = 40  # after which a peer that takes nothing of what is sent is gone
# That an idle connection is kept: longer than clients and proxies keep theirs, or they send on one
# that is being closed. Theirs are 5 s (httpx, Node) to 60 s (load balancers).
IDLE_SECONDS: Final = 75
GRACE_SECONDS: Final = 5
COMPLETE_SECONDS: Final = 0.1  # for streams to send that they are complete


class Http(HttpToolsProtocol):
    """uvicorn's own, which leaves no cycle behind when a connection becomes a WebSocket's."""

    def handle_websocket_upgrade(self) -> None:
        super().handle_websocket_upgrade()
        self.parser = None  # type: ignore[assignment]  # as when a connection is lost


class WebSocket(WebSocketsSansIOProtocol):
    """uvicorn's own, which leaves no cycle behind: the last message would wait in it, too."""

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.conn.parser.close()  # a generator that knows the connection, which knows it


class Server(uvicorn.Server):
    """Serves on while it drains, then completes what streams there are; frees dead peers."""

    def __init__(self, config: uvicorn.Config, drain: Drain, streams: Streams) -> None:
        super().__init__(config)
        self._drain, self._streams = drain, streams
        # Or REST's streams would be cut off as soon as it is asked to stop.
        AppStatus.disable_automatic_graceful_drain()  # type: ignore[no-untyped-call]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for server in self.servers:
            for listening in server.sockets:
                _give_up_on_dead_peers(listening.fileno())

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._drain.begin()
        super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Whether to stop serving: once asked to, and drained unless asked twice."""
        return await super().on_tick(counter) and (self.force_exit or self._drain.go_on())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()  # now: a handshake that begins later would be answered with 500
        self._streams.end()
        await asyncio.sleep(COMPLETE_SECONDS)
        await super().shutdown(sockets)


def _give_up_on_dead_peers(listening: int) -> None:
    """Let the kernel end connections whose peer has vanished, or has stopped to read.

    Nothing above it can: what waits to be sent to such a peer waits for ever. Connections have the
    option from the socket that accepts them. Pings see to it that something is sent.
    """
    option = getattr(socket, "TCP_USER_TIMEOUT", None)  # Linux
    if option is not None:
        with socket.socket(fileno=os.dup(listening)) as same:
            same.setsockopt(socket.IPPROTO_TCP, option, 1000 * PEER_SECONDS)


def _collect_seldom() -> None:
    """Look for garbage cycles seldom, and never among what was imported.

    A look stops the process for some 40 ms with 800 connections, most of it spent on the state of
    matches in play, and finds next to nothing (tests/api/test_garbage.py): streams of server-sent
    events alone leave cycles when they end. The first number is also how many objects of those may
    wait: 25 MB as a rule, and some 65 of requests as large as they may be.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 2, 5)


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, and while it drains; then what is open has a few seconds."""
    set_up_logging(settings.log_level, settings.log_format)
    tracing.set_up(settings.tracing, "api")
    prepare("api")
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    parts = build(settings)
    config = uvicorn.Config(
        create_app(parts=parts),
        host=settings.host,
        port=settings.port,
        http=Http,
        ws=WebSocket,
        log_config=None,
        access_log=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies,
        server_header=False,
        ws_max_size=WS_MAX_BYTES,
        ws_per_message_deflate=False,  # 39 kB per connection, for messages of a few hundred bytes
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    server = Server(config, parts.drain, parts.streams)
    _collect_seldom()
    with suppress(KeyboardInterrupt):
        server.run()
    if not server.started:
        raise SystemExit(1)
