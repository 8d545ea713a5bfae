"""The schema, and what every operation passes through: caches, limits, errors made fit to send."""

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator
from contextlib import suppress
from typing import Any, Final

import strawberry
from graphql import GraphQLError, GraphQLSyntaxError, OperationDefinitionNode
from graphql import OperationType as GraphQLOperationType
from strawberry.exceptions import MissingQueryError
from strawberry.extensions import SchemaExtension
from strawberry.schema.config import StrawberryConfig
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError
from strawberry.schema.schema import StreamResult
from strawberry.types import ExecutionContext, ExecutionResult
from strawberry.types.graphql import OperationType

from api import patience
from api.errors import RateLimited, Refused, ServiceError, TooDear
from api.graphql.context import Context
from api.graphql.cost import Costs
from api.graphql.documents import MAX_TOKENS, TOO_DEEP, faults, is_known, parsed
from api.graphql.gate import Admission
from api.graphql.mutations import Mutation
from api.graphql.plans import Executor
from api.graphql.queries import Query
from api.graphql.quick import Operation, moved
from api.graphql.subscriptions import Subscription
from api.limits.buckets import refusal_headers
from api.observe.work import operating, refused
from api.problems import problem, request_extensions, request_sentence
from engine.errors import RuleError

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
        asked = Operation(query, variable_values, operation_name)
        return await self.moved(context_value, asked) or await super().execute(
            query,
            variable_values,
            context_value,
            root_value,
            operation_name,
            set(allowed_operation_types or OperationType) - {OperationType.SUBSCRIPTION},
            operation_extensions,
        )

    async def stream(  # noqa: PLR0917 - as in strawberry
        self,
        query: str | None,
        variable_values: dict[str, Any] | None = None,
        context_value: Any | None = None,
        root_value: Any | None = None,
        operation_name: str | None = None,
        operation_extensions: dict[str, Any] | None = None,
        allowed_operation_types: Iterable[OperationType] | None = None,
    ) -> StreamResult:
        """Run an operation of any kind, and tell its results one by one."""
        asked = Operation(query, variable_values, operation_name)
        result = await self.moved(context_value, asked)
        if result is not None:
            return _alone(result)
        return await super().stream(
            query,
            variable_values,
            context_value,
            root_value,
            operation_name,
            operation_extensions,
            allowed_operation_types,
        )

    async def moved(self, context: Any, asked: Operation) -> ExecutionResult | None:
        """The result of a plain move by a known document, None if it is anything else."""
        result = await moved(self._schema, context, asked, _admit)
        if result is not None and result.errors:
            self.process_errors(result.errors)
        return result

    def process_errors(
        self,
        errors: list[GraphQLError],
        execution_context: ExecutionContext | None = None,  # noqa: ARG002
    ) -> None:
        """Replace each error by what the client is told, in place."""
        errors[:] = [told(error) for error in errors]


class Passing(SchemaExtension):
    """Parses and validates each document once, and lets operations through the gate."""

    def on_parse(self) -> Iterator[None]:
        context = self.execution_context
        context.parse_options["max_tokens"] = MAX_TOKENS
        # A failure is met again where it is told.
        with suppress(GraphQLError, RecursionError):
            context.graphql_document = parsed(context.query or "")
        yield

    async def on_validate(self) -> AsyncIterator[None]:
        context = self.execution_context
        kind = context.operation_type
        operating(kind.value, context.operation_name)
        if kind is not OperationType.SUBSCRIPTION:
            patience.begin()  # over HTTP it has begun; each operation of a WebSocket has its own
        try:
            context.pre_execution_errors = await self._faults()
            if not context.pre_execution_errors:
                await self._admit()
        except ServiceError as error:
            if isinstance(error, RateLimited) and context.context.answer is not None:
                context.context.answer.headers.update(refusal_headers(error))
            context.pre_execution_errors = [GraphQLError(str(error), original_error=error)]
        yield

    async def _faults(self) -> list[GraphQLError]:
        execution, calling = self.execution_context, self.execution_context.context
        text, introspection = execution.query or "", calling.gate.introspection
        if not is_known(text, introspection):
            await calling.gate.check_new(calling, _type(execution))
        found = list(faults(execution.schema._schema, text, introspection))  # noqa: SLF001
        if not found and self._is_ambiguous():
            sentence = "Name one of the document's operations in `operationName`."
            found = [GraphQLError(sentence)]
        if found:
            await calling.gate.charge_refused(calling, _type(execution))
        return found

    def _is_ambiguous(self) -> bool:
        """Whether several operations are there and none was named."""
        execution = self.execution_context
        # `operation_name` answers with the first operation's where none was given.
        if execution.graphql_document is None or execution._provided_operation_name is not None:  # noqa: SLF001
            return False
        definitions = execution.graphql_document.definitions
        return sum(isinstance(d, OperationDefinitionNode) for d in definitions) > 1

    async def _admit(self) -> None:
        execution, calling = self.execution_context, self.execution_context.context
        asked = Operation(execution.query, execution.variables, execution.operation_name)
        admission = await _admit(calling, asked)
        if calling.answer is not None:
            calling.answer.headers.update(admission.headers)
        if execution.operation_type is not OperationType.SUBSCRIPTION:
            execution.extensions_results.update(admission.extensions)


async def _alone(result: ExecutionResult) -> AsyncGenerator[ExecutionResult, None]:
    yield result


async def _admit(calling: Context, asked: Operation) -> Admission:
    return calling.admitted or await admit(calling, asked.query or "", asked.name, asked.variables)


async def admit(
    calling: Context, query: str, name: str | None, variables: dict[str, Any] | None
) -> Admission:
    """Let a valid operation through the gate.

    Raises:
        TooDear: it costs more than one may.
        RateLimited: its caller has not so much left.
        Unavailable: Redis cannot be reached.
    """
    cost = costs.of(query, parsed(query), name, variables or {})
    try:
        return await calling.gate.admit(calling, cost)
    except TooDear:
        await calling.gate.charge_refused(calling, cost.type)
        raise


def _type(execution: ExecutionContext) -> GraphQLOperationType:
    return GraphQLOperationType(execution.operation_type.value)


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
    refused(extensions["code"])
    # A syntax error must not stay one: the WebSocket handler would close the whole connection.
    return GraphQLError(
        message, error.nodes, error.source, error.positions, error.path, extensions=extensions
    )


schema = Schema(
    query=Query,
    mutation=Mutation,
    subscription=Subscription,
    config=StrawberryConfig(auto_camel_case=True),
    extensions=[Passing],
    execution_context_class=Executor,
)
costs: Final = Costs(schema._schema)  # noqa: SLF001 - strawberry keeps it there
