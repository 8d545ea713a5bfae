"""GraphQL over HTTP, server-sent events and ``graphql-transport-ws``."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

import orjson
from cross_web import AsyncHTTPRequestAdapter, HTTPException
from graphql import GraphQLError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket
from strawberry.asgi import GraphQL
from strawberry.http import GraphQLHTTPResponse, GraphQLRequestData
from strawberry.http.exceptions import WebSocketDisconnected
from strawberry.subscriptions import GRAPHQL_SSE_PROTOCOL, GRAPHQL_TRANSPORT_WS_PROTOCOL
from strawberry.subscriptions.protocols.graphql_transport_ws.handlers import (
    BaseGraphQLTransportWSHandler,
    Operation,
)
from strawberry.subscriptions.protocols.graphql_transport_ws.types import (
    Message,
    SubscribeMessage,
)
from strawberry.types import ExecutionResult, SubscriptionExecutionResult

from api.bootstrap import Parts
from api.browsers import PAGE_POLICY
from api.errors import RateLimited, ServiceError
from api.graphql import quick
from api.graphql.context import Context
from api.graphql.documents import faults
from api.graphql.gate import Gate
from api.graphql.negotiation import (
    EVENTS,
    GRAPHQL_JSON,
    JSON,
    answer_type,
    request_error_status,
    sends_json,
)
from api.graphql.schema import admit, schema
from api.graphql.trusted import Untrusted, read_trusted
from api.limits.buckets import refusal_headers
from api.observe.requests import websocket_operation
from api.observe.work import refused
from api.problems import request_extensions, request_sentence

INIT_SECONDS: Final = 5
SERVICE_RESTART: Final = 1012
MAX_OPERATIONS: Final = 100  # at a time on one WebSocket connection
TOO_MANY: Final = 429
TOO_MANY_OPERATIONS: Final = "TOO_MANY_OPERATIONS"
BAD_REQUEST: Final = "BAD_REQUEST"
ALLOW: Final = {"Allow": "POST, OPTIONS"}


class Handler(BaseGraphQLTransportWSHandler[Context, None]):
    """Closes with 4400 what is not a message of the protocol, instead of failing on it."""

    view: "GraphQLView"

    async def handle_message(self, message: Any) -> None:
        if _subscribes(message):
            try:
                self.view.trusted.fill(message["payload"])
            except Untrusted as error:
                await self._refuse(message["id"], error.code, str(error))
                return
        if not _is_message(message):
            await self.handle_invalid_message("This is not a graphql-transport-ws message")
            return
        await super().handle_message(message)

    async def handle_subscribe(self, message: SubscribeMessage) -> None:
        if len(self.operations) < MAX_OPERATIONS or message["id"] in self.operations:
            await super().handle_subscribe(message)
            return
        sentence = f"A connection has at most {MAX_OPERATIONS} operations at a time."
        await self._refuse(message["id"], TOO_MANY_OPERATIONS, sentence)

    async def _refuse(self, operation_id: str, code: str, sentence: str) -> None:
        with websocket_operation():
            refused(code)
        error = GraphQLError(sentence, extensions={"code": code})
        await self.send_message({"id": operation_id, "type": "error", "payload": [error.formatted]})

    async def run_operation(self, operation: Operation[Context, None]) -> None:
        with websocket_operation():
            await super().run_operation(operation)

    async def cleanup_operation(self, operation_id: str) -> None:
        operation = self.operations.get(operation_id)
        if operation is not None:
            operation.completed = True  # it sends nothing more, nor gives up an id used again
        await super().cleanup_operation(operation_id)

    async def send_message(self, message: Message) -> None:
        await super().send_message(message)
        ended = message["type"] in ("complete", "error")
        if ended and not self.operations and self.view.leaving:
            await self.websocket.close(code=SERVICE_RESTART, reason="The server restarts")

    async def handle_task_exception(self, error: Exception) -> None:
        if not isinstance(error, WebSocketDisconnected):  # clients come and go
            await super().handle_task_exception(error)


def _subscribes(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and message.get("type") == "subscribe"
        and isinstance(message.get("id"), str)
        and isinstance(message.get("payload"), dict)
    )


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
        and _is_operation(payload)
    )


def _is_operation(asked: dict[str, Any]) -> bool:
    return (
        isinstance(asked.get("query"), str | None)
        and isinstance(asked.get("variables"), dict | None)
        and isinstance(asked.get("operationName"), str | None)
    )


class GraphQLView(GraphQL[Context, None]):
    """The endpoint: every answer is JSON, also to what is no GraphQL at all."""

    graphql_transport_ws_handler_class = Handler

    def __init__(self, parts: Parts) -> None:
        settings = parts.settings
        super().__init__(
            schema,
            graphql_ide="graphiql" if settings.development else None,
            allow_queries_via_get=False,
            subscription_protocols=(GRAPHQL_TRANSPORT_WS_PROTOCOL, GRAPHQL_SSE_PROTOCOL),
            connection_init_wait_timeout=timedelta(seconds=INIT_SECONDS),
            max_subscriptions_per_connection=MAX_OPERATIONS,
            allowed_origins=settings.allowed_origins,
        )
        self._parts = parts
        self.trusted = read_trusted(
            settings.documents,
            schema._schema,  # noqa: SLF001
            only=settings.documents_only,
        )
        self._gate = Gate(parts.limiter, settings.cost_limit, introspection=settings.introspection)

    @property
    def leaving(self) -> bool:
        """Whether a connection whose streams are complete is to be opened elsewhere."""
        return self._parts.streams.ending

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        try:
            response = await self._answer(Request(scope, receive))
        except HTTPException as error:
            response = bad_request(error.reason, error.status_code)
        except Untrusted as error:
            response = bad_request(str(error), code=error.code)
        except ServiceError as error:
            response = not_carried_out(error)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=ALLOW)
        if request.method != "POST":
            if self.graphql_ide and self._is_browser(request):
                page = await self.render_graphql_ide(request)
                page.headers["Content-Security-Policy"] = PAGE_POLICY
                return page
            return bad_request("GraphQL is asked by POST.", 405, ALLOW)
        if not sends_json(request.headers.get("content-type", "")):
            return bad_request("The body is `application/json`, in UTF-8.", 415)
        if answer_type(request.headers.get("accept", "")) is None:
            sentence = f"Answers are `{GRAPHQL_JSON}`, `{JSON}` or `{EVENTS}`."
            return bad_request(sentence, 406)
        return await self._moved(request) or await self.run(request)

    async def _moved(self, request: Request) -> Response | None:
        """The answer to a plain move, past the library's view; None if it is anything else."""
        if EVENTS in request.headers.get("accept", "").lower():
            return None
        asked = _operation(await request.body())
        if asked is None:
            return None
        self.trusted.fill(asked)
        operation = quick.Operation(
            asked.get("query"), asked.get("variables"), asked.get("operationName")
        )
        answer = await self.get_sub_response(request)
        result = await schema.moved(await self.get_context(request, answer), operation)
        if result is None:
            return None
        return self.create_response(await self.process_result(request, result), answer)

    @staticmethod
    def _is_browser(request: Request) -> bool:
        asked = request.headers.get("accept", "")
        return request.method == "GET" and "text/html" in asked and not request.query_params

    async def get_sub_response(self, request: Request | WebSocket) -> Response:
        answer = await super().get_sub_response(request)
        request.state.answer = answer
        return answer

    async def get_context(
        self, request: Request | WebSocket, response: Response | WebSocket
    ) -> Context:
        return Context(
            service=self._parts.service,
            series=self._parts.series,
            lobby=self._parts.lobby,
            identity=self._parts.identity,
            operators=self._parts.operators,
            authorization=request.headers.get("authorization"),
            streams=self._parts.streams,
            gate=self._gate,
            address=request.client.host if request.client else "",
            answer=response if isinstance(response, Response) else None,
        )

    async def execute_operation(  # noqa: PLR0917 - as in strawberry
        self,
        request: Request,
        request_adapter: AsyncHTTPRequestAdapter,
        request_data: GraphQLRequestData | list[GraphQLRequestData],
        context: Context,
        root_value: None,
        sub_response: Response,
    ) -> ExecutionResult | list[ExecutionResult] | SubscriptionExecutionResult:
        if isinstance(request_data, GraphQLRequestData) and request_data.protocol == "sse":
            await admit_stream(context, request_data)
        return await super().execute_operation(
            request, request_adapter, request_data, context, root_value, sub_response
        )

    async def process_result(
        self, request: Request, result: ExecutionResult
    ) -> GraphQLHTTPResponse:
        told = await super().process_result(request, result)
        answer: Response = request.state.answer
        answer.media_type = answer_type(request.headers.get("accept", ""))
        if result.data is None and any(error.path is None for error in result.errors or ()):
            told.pop("data", None)
            extensions = (result.errors or [])[0].extensions or {}
            status = request_error_status(extensions.get("code"))
            if answer.media_type == GRAPHQL_JSON or status == TOO_MANY:
                answer.status_code = status
        waits = [(error.extensions or {}).get("retryAfter", 0) for error in result.errors or ()]
        if any(waits) and "Retry-After" not in answer.headers:
            answer.headers["Retry-After"] = str(max(waits))
        return told

    def create_response(
        self,
        response_data: GraphQLHTTPResponse | list[GraphQLHTTPResponse],
        sub_response: Response,
    ) -> Response:
        response = Response(
            orjson.dumps(response_data),
            sub_response.status_code or 200,
            media_type=f"{sub_response.media_type}; charset=utf-8",
        )
        response.raw_headers.extend(sub_response.raw_headers)
        return response

    def encode_json(self, data: object) -> str:
        return orjson.dumps(data).decode()

    def decode_json(self, data: str | bytes) -> object:
        return orjson.loads(data)  # which takes no lone surrogate, as nothing that leaves here may

    def parse_json(self, data: str | bytes) -> Any:
        decoded = super().parse_json(data)
        if not isinstance(decoded, dict):
            raise HTTPException(400, "The body is a JSON object with `query`.")
        if not isinstance(decoded.get("operationName"), str | None):
            raise HTTPException(400, "`operationName` is a string or null.")
        self.trusted.fill(decoded)
        return decoded


def _operation(body: bytes) -> dict[str, Any] | None:
    """What a body asks for, None if anything about its form is odd."""
    try:
        asked = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(asked, dict) or not isinstance(asked.get("extensions"), dict | None):
        return None
    return asked if _is_operation(asked) else None


async def admit_stream(context: Context, asked: GraphQLRequestData) -> None:
    """Let a valid operation through the gate before the stream of its results begins.

    What is not valid is told in the stream.

    Raises:
        ServiceError: it is not let through.
    """
    query = asked.query or ""
    with suppress(GraphQLError, RecursionError):
        if not faults(schema._schema, query, context.gate.introspection):  # noqa: SLF001
            try:
                context.admitted = await admit(
                    context, query, asked.operation_name, asked.variables
                )
            except LookupError:
                return  # no operation has this name
            if context.answer is not None:
                context.answer.headers.update(context.admitted.headers)


def bad_request(
    sentence: str,
    status: int = 400,
    headers: Mapping[str, str] | None = None,
    *,
    code: str = BAD_REQUEST,
) -> Response:
    """An answer to what is no GraphQL request, in the form of GraphQL's errors."""
    refused(code)
    errors = [{"message": sentence, "extensions": {"code": code}}]
    return JSONResponse({"errors": errors}, status, headers)


def not_carried_out(error: ServiceError) -> Response:
    """An answer to a request that was refused as a whole, in the form of GraphQL's errors."""
    extensions = request_extensions(error)
    refused(str(extensions["code"]))
    headers = {}
    if isinstance(error, RateLimited):
        headers = refusal_headers(error)
    elif "retryAfter" in extensions:
        headers["Retry-After"] = str(extensions["retryAfter"])
    errors = [{"message": request_sentence(error), "extensions": extensions}]
    return JSONResponse({"errors": errors}, request_error_status(extensions["code"]), headers)
