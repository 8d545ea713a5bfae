"""The API process: uvicorn with limits that fit the protocol."""

import asyncio
import logging
from contextlib import suppress
from socket import socket
from typing import Final

import uvicorn

from api.app import create_app
from api.bootstrap import build
from api.logs import set_up_logging
from api.settings import Settings
from api.streams import Streams

WS_MAX_BYTES: Final = 64 * 1024
GRACE_SECONDS: Final = 5
COMPLETE_SECONDS: Final = 0.1  # for streams to send that they are complete


class Server(uvicorn.Server):
    """Lets streams complete before it waits for their connections to close."""

    def __init__(self, config: uvicorn.Config, streams: Streams) -> None:
        super().__init__(config)
        self._streams = streams

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        self._streams.end()
        await asyncio.sleep(COMPLETE_SECONDS)
        await super().shutdown(sockets)


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; open streams get a few seconds to end."""
    set_up_logging(settings.log_level)
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    parts = build(settings)
    config = uvicorn.Config(
        create_app(parts=parts),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies,
        server_header=False,
        ws_max_size=WS_MAX_BYTES,
        ws_per_message_deflate=False,  # 39 kB per connection, for messages of a few hundred bytes
        ws_ping_interval=20,
        ws_ping_timeout=20,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    server = Server(config, parts.streams)
    with suppress(KeyboardInterrupt):
        server.run()
    if not server.started:
        raise SystemExit(1)
