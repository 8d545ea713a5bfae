"""The API process: uvicorn with limits that fit the protocol."""

import logging
from typing import Final

import uvicorn

from api.app import create_app
from api.logs import set_up_logging
from api.settings import Settings

WS_MAX_BYTES: Final = 64 * 1024
GRACE_SECONDS: Final = 5


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; open streams get a few seconds to end."""
    set_up_logging(settings.log_level)
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    uvicorn.run(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        ws_max_size=WS_MAX_BYTES,
        ws_per_message_deflate=False,  # 39 kB per connection, for messages of a few hundred bytes
        ws_ping_interval=20,
        ws_ping_timeout=20,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
