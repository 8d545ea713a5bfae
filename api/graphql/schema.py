"""The schema, and what every operation passes through: caches, limits, errors made fit to send."""

import logging
from typing import Any, Final

import strawberry
from graphql import GraphQLError, GraphQLSyntaxError
from strawberry.extensions import MaxTokensLimiter, ParserCache, ValidationCache
from strawberry.schema.config import StrawberryConfig
from strawberry.types import ExecutionContext

from api.errors import Refused, ServiceError
from api.graphql.mutations import Mutation
from api.graphql.queries import Query
from api.graphql.subscriptions import Subscription
from api.problems import problem, request_extensions, request_sentence
from engine.errors import RuleError

MAX_TOKENS: Final = 1000
CACHED_DOCUMENTS: Final = 512

log = logging.getLogger("ringmaster.graphql")


class Schema(strawberry.Schema):
    """A schema whose errors all have a code, and none of which tells what failed inside."""

    def process_errors(
        self,
        errors: list[GraphQLError],
        execution_context: ExecutionContext | None = None,  # noqa: ARG002
    ) -> None:
        """Replace each error by what the client is told, in place."""
        errors[:] = [told(error) for error in errors]


def told(error: GraphQLError) -> GraphQLError:
    """An error as a client is told of it: a sentence and ``extensions.code``."""
    if error.extensions and "code" in error.extensions:
        return error
    cause = error.original_error
    while isinstance(cause, GraphQLError):
        cause = cause.original_error
    match cause:
        case None:
            return _replaced(error, error.message, {"code": _request_code(error)})
        case RuleError() | Refused():
            found = problem(cause)
            extensions: dict[str, Any] = {"code": found.code.value}
            if found.current_version is not None:
                extensions["currentVersion"] = found.current_version
            return _replaced(error, found.sentence, extensions)
        case ServiceError():
            return _replaced(error, request_sentence(cause), request_extensions(cause))
        case _:
            # Its text could carry a hidden card, so neither the client nor the log gets it.
            log.error("unexpected %s at %s", type(cause).__name__, error.path)
            return _replaced(error, "Something failed on our side.", {"code": "INTERNAL"})


def _request_code(error: GraphQLError) -> str:
    if isinstance(error, GraphQLSyntaxError):
        return "GRAPHQL_PARSE_FAILED"
    return "GRAPHQL_VALIDATION_FAILED" if error.path is None else "BAD_USER_INPUT"


def _replaced(error: GraphQLError, message: str, extensions: dict[str, Any]) -> GraphQLError:
    # A syntax error must not stay one: the WebSocket handler would close the whole connection.
    return GraphQLError(
        message, error.nodes, error.source, error.positions, error.path, extensions=extensions
    )


schema = Schema(
    query=Query,
    mutation=Mutation,
    subscription=Subscription,
    config=StrawberryConfig(auto_camel_case=True),
    extensions=[
        lambda: MaxTokensLimiter(MAX_TOKENS),
        lambda: ParserCache(CACHED_DOCUMENTS),
        lambda: ValidationCache(CACHED_DOCUMENTS),
    ],
)
