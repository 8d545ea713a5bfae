"""The schema, and what every operation passes through: caches, limits, errors made fit to send."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Final

import strawberry
from graphql import GraphQLError, GraphQLSyntaxError, OperationDefinitionNode
from strawberry.exceptions import MissingQueryError
from strawberry.extensions import MaxTokensLimiter, ParserCache, SchemaExtension, ValidationCache
from strawberry.schema.config import StrawberryConfig
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError
from strawberry.types import ExecutionContext, ExecutionResult
from strawberry.types.graphql import OperationType

from api.errors import Refused, ServiceError
from api.graphql.mutations import Mutation
from api.graphql.queries import Query
from api.graphql.subscriptions import Subscription
from api.problems import problem, request_extensions, request_sentence
from engine.errors import RuleError

MAX_TOKENS: Final = 1000
CACHED_DOCUMENTS: Final = 512
TOO_DEEP: Final = "The document is nested too deeply."

log = logging.getLogger("ringmaster.graphql")


class Schema(strawberry.Schema):
    """A schema whose errors all have a code, and none of which tells what failed inside."""

    async def execute(  # noqa: PLR0917 - as in strawberry
        self,
        query: str | None,
        variable_values: dict[str, Any] | None = None,
        context_value: Any | None = None,
        root_value: Any | None = None,
        operation_name: str | None = None,
        allowed_operation_types: Iterable[OperationType] | None = None,
        operation_extensions: dict[str, Any] | None = None,
    ) -> ExecutionResult:
        """Run a query or mutation; a subscription needs a transport that streams."""
        return await super().execute(
            query,
            variable_values,
            context_value,
            root_value,
            operation_name,
            set(allowed_operation_types or OperationType) - {OperationType.SUBSCRIPTION},
            operation_extensions,
        )

    def process_errors(
        self,
        errors: list[GraphQLError],
        execution_context: ExecutionContext | None = None,  # noqa: ARG002
    ) -> None:
        """Replace each error by what the client is told, in place."""
        errors[:] = [told(error) for error in errors]


class Parsing(ParserCache):
    """The cache of parsed documents, which leaves a failure to be met again where it is told."""

    def on_parse(self) -> Iterator[None]:
        context = self.execution_context
        with suppress(GraphQLError, RecursionError):
            context.graphql_document = self.cached_parse_document(
                context.query, **context.parse_options
            )
        yield


class Validation(ValidationCache):
    """The cache of validated documents; one nested beyond all measure is refused."""

    def on_validate(self) -> Iterator[None]:
        context = self.execution_context
        try:
            errors = self.cached_validate_document(
                context.schema._schema,  # noqa: SLF001 - as in strawberry
                context.graphql_document,
                context.validation_rules,
            )
        except RecursionError:
            errors = [GraphQLError(TOO_DEEP)]
        context.pre_execution_errors = errors
        yield


class NamedOperation(SchemaExtension):
    """Refuses a document of several operations if none of them is named by the request."""

    def on_validate(self) -> Iterator[None]:
        context = self.execution_context
        document = context.graphql_document
        # `operation_name` answers with the first operation's where none was given.
        if document is not None and context._provided_operation_name is None:  # noqa: SLF001
            operations = [d for d in document.definitions if isinstance(d, OperationDefinitionNode)]
            if len(operations) > 1 and not context.pre_execution_errors:
                context.pre_execution_errors = [
                    GraphQLError("Name one of the document's operations in `operationName`.")
                ]
        yield


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
        case RecursionError():
            return _replaced(error, TOO_DEEP, {"code": "GRAPHQL_PARSE_FAILED"})
        case MissingQueryError() | CannotGetOperationTypeError() | InvalidOperationTypeError():
            return _replaced(error, error.message, {"code": "GRAPHQL_VALIDATION_FAILED"})
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
        lambda: Parsing(CACHED_DOCUMENTS),
        lambda: Validation(CACHED_DOCUMENTS),
        NamedOperation,  # after the cache, which writes what validation found
    ],
)
