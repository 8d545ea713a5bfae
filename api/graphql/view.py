"""GraphQL over HTTP, server-sent events and ``graphql-transport-ws``."""

import json
from datetime import timedelta
from typing import Any, Final

from cross_web import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket
from strawberry.asgi import GraphQL
from strawberry.http.exceptions import WebSocketDisconnected
from strawberry.subscriptions import GRAPHQL_SSE_PROTOCOL, GRAPHQL_TRANSPORT_WS_PROTOCOL
from strawberry.subscriptions.protocols.graphql_transport_ws.handlers import (
    BaseGraphQLTransportWSHandler,
)

from api.bootstrap import Parts
from api.graphql.context import Context
from api.graphql.schema import schema

INIT_SECONDS: Final = 5


class Handler(BaseGraphQLTransportWSHandler[Context, None]):
    """Closes with 4400 what is not a message of the protocol, instead of failing on it."""

    async def handle_message(self, message: Any) -> None:
        if not _is_message(message):
            await self.handle_invalid_message("This is not a graphql-transport-ws message")
            return
        await super().handle_message(message)

    async def handle_task_exception(self, error: Exception) -> None:
        if not isinstance(error, WebSocketDisconnected):  # clients come and go
            await super().handle_task_exception(error)


def _is_message(message: Any) -> bool:
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        return False
    if message["type"] in ("subscribe", "complete") and not isinstance(message.get("id"), str):
        return False
    if message["type"] != "subscribe":
        return True
    payload = message.get("payload")
    return (
        isinstance(payload, dict)
        and isinstance(payload.get("query"), str)
        and isinstance(payload.get("variables"), dict | None)
        and isinstance(payload.get("operationName"), str | None)
    )


class GraphQLView(GraphQL[Context, None]):
    """The endpoint: every answer is JSON, also to what is no GraphQL at all."""

    graphql_transport_ws_handler_class = Handler

    def __init__(self, parts: Parts) -> None:
        super().__init__(
            schema,
            graphql_ide="graphiql" if parts.settings.development else None,
            allow_queries_via_get=False,
            subscription_protocols=(GRAPHQL_TRANSPORT_WS_PROTOCOL, GRAPHQL_SSE_PROTOCOL),
            connection_init_wait_timeout=timedelta(seconds=INIT_SECONDS),
        )
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        try:
            response = await self.run(Request(scope, receive))
        except HTTPException as error:
            response = bad_request(error.reason, error.status_code)
        await response(scope, receive, send)

    async def get_context(
        self,
        request: Request | WebSocket,
        response: Response | WebSocket,  # noqa: ARG002
    ) -> Context:
        return Context(
            service=self._parts.service,
            series=self._parts.series,
            lobby=self._parts.lobby,
            identity=self._parts.identity,
            authorization=request.headers.get("authorization"),
            streams=self._parts.streams,
        )

    def decode_json(self, data: str | bytes) -> object:
        try:
            decoded = json.loads(data)
            # A lone surrogate can be written in JSON and in nothing that leaves here.
            json.dumps(decoded, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            raise json.JSONDecodeError("not JSON", "", 0) from error
        return decoded

    def parse_json(self, data: str | bytes) -> Any:
        decoded = super().parse_json(data)
        if not isinstance(decoded, dict):
            raise HTTPException(400, "The body is a JSON object with `query`.")
        if not isinstance(decoded.get("operationName"), str | None):
            raise HTTPException(400, "`operationName` is a string or null.")
        return decoded


def bad_request(sentence: str, status: int = 400) -> Response:
    """An answer to what is no GraphQL request, in the form of GraphQL's errors."""
    errors = [{"message": sentence, "extensions": {"code": "BAD_REQUEST"}}]
    return JSONResponse({"errors": errors}, status_code=status)
