"""One subscription on one connection, by the ``graphql-transport-ws`` protocol."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidURI, WebSocketException
from websockets.typing import Subprotocol

from api.cli.terminal.answers import failure, payload_data
from api.cli.terminal.data import UPDATES, Update
from api.cli.terminal.errors import Unreachable, Unusable

PROTOCOL: Final = Subprotocol("graphql-transport-ws")
OPEN_SECONDS: Final = 10
# The protocol's own close codes say that the client is at fault, but for these: slow, or too many.
_PROTOCOL_FAULTS: Final = range(4400, 4500)
_TRANSIENT_CLOSES: Final = frozenset({4408, 4429})


async def updates(
    url: str,
    token: str | None,
    match_id: str,
    after: int | None,
    *,
    proxy: bool,
    opened: Callable[[], Awaitable[None]],
) -> AsyncGenerator[Update, None]:
    """A match's updates until the server completes the stream, which it may do at any time.

    ``opened`` is awaited once the connection stands.

    Raises:
        Refused: the match cannot be followed, or not from there.
        Unusable: the token is not known, or the server does not speak the protocol.
        Unreachable: the connection could not be made, or was lost.
    """
    try:
        async with _acknowledged(url, token, proxy=proxy) as socket:
            await opened()
            variables = {"match": match_id, "after": after}
            payload = {"query": UPDATES, "variables": variables}
            await socket.send(json.dumps({"id": "1", "type": "subscribe", "payload": payload}))
            while (message := await _next(socket))["type"] == "next":
                update: Update = payload_data(message["payload"])["matchUpdates"]
                yield update
            if message["type"] == "error":
                raise failure(message["payload"])
    except InvalidURI:
        raise Unusable(f"{url} is no address of a server.") from None
    except ValueError:
        raise Unusable(f"{url} does not speak {PROTOCOL}.") from None
    except ConnectionClosed as closed:
        raise _lost(closed) from None
    except (OSError, WebSocketException) as error:  # TimeoutError is an OSError
        raise Unreachable(f"no connection ({type(error).__name__})") from None


@asynccontextmanager
async def _acknowledged(
    url: str, token: str | None, *, proxy: bool
) -> AsyncGenerator[ClientConnection, None]:
    connection = connect(
        url.replace("http", "ws", 1) + "/graphql",
        subprotocols=[PROTOCOL],
        open_timeout=OPEN_SECONDS,
        close_timeout=1,
        compression=None,
        proxy=True if proxy else None,
    )
    async with connection as socket:
        payload = {"authorization": f"Bearer {token}"} if token else {}
        await socket.send(json.dumps({"type": "connection_init", "payload": payload}))
        if (await _next(socket))["type"] != "connection_ack":
            raise Unusable("The server did not acknowledge the connection.")
        yield socket


async def _next(socket: ClientConnection) -> dict[str, Any]:
    while True:
        message: dict[str, Any] = json.loads(await socket.recv())
        if message["type"] == "ping":
            await socket.send(json.dumps({"type": "pong"}))
        elif message["type"] != "pong":
            return message


def _lost(closed: ConnectionClosed) -> Unreachable | Unusable:
    code = closed.rcvd.code if closed.rcvd else None
    if code in _PROTOCOL_FAULTS and code not in _TRANSIENT_CLOSES:
        reason = closed.rcvd.reason if closed.rcvd else ""
        return Unusable(f"The server closed the connection: {reason or code}.")
    return Unreachable("the connection was lost")
