"""Moves by known documents straight to their resolvers: the library's way there costs as much.

Only what is known to be taken goes this way: a document that was valid before, with a move and
nothing else in it, whose variables fit. Anything else is the library's before anything was charged.
`tests/api/test_quick_moves.py` compares the two ways.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast

from graphql import (
    DocumentNode,
    FieldNode,
    GraphQLError,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
)
from graphql.error import located_error
from graphql.execution.values import VariableValues, get_variable_values
from strawberry.types import ExecutionResult, Info
from strawberry.types.execution import PreExecutionError
from strawberry.types.field import StrawberryField

from api import patience
from api.errors import RateLimited
from api.graphql.context import Context
from api.graphql.documents import faults, is_known, parsed
from api.graphql.gate import Admission
from api.graphql.plans import BACKREF, MOST, Executor, Root, arguments_of, made
from api.limits.buckets import refusal_headers
from api.observe.work import operating

MOVES: Final = frozenset({"chooseHand", "show", "scout", "scoutAndShow"})


@dataclass(frozen=True, slots=True)
class Operation:
    """What a client sends to be carried out."""

    query: str | None
    variables: dict[str, Any] | None
    name: str | None


class _Asking(NamedTuple):
    """All that the resolvers of moves ask of an operation."""

    context: Context


async def moved(
    schema: GraphQLSchema,
    context: Context,
    asked: Operation,
    admit: Callable[[Context, Operation], Awaitable[Admission]],
) -> ExecutionResult | None:
    """The result of a plain move, None if it is anything else or anything about it is odd.

    Errors are as the library has them, with what failed inside.
    """
    found = _prepared(schema, context, asked)
    if found is None:
        return None
    move, values = found
    root = move.root
    try:
        arguments = arguments_of(schema, root.field, root.chosen[0], values)
    except Exception:  # noqa: BLE001 - the library meets it again, and tells of it
        return None
    operating(OperationType.MUTATION.value, move.name)
    patience.begin()
    try:
        admission = await admit(context, asked)
    except Exception as error:  # noqa: BLE001 - told as the library has it told
        if isinstance(error, RateLimited) and context.answer is not None:
            context.answer.headers.update(refusal_headers(error))
        return PreExecutionError(None, [GraphQLError(str(error), original_error=error)])
    if context.answer is not None:
        context.answer.headers.update(admission.headers)
    return await _resolved(context, root, arguments, dict(admission.extensions))


class _Move(NamedTuple):
    """A document's only operation, as its ``root`` tells; ``name``: its own."""

    operation: OperationDefinitionNode
    root: Root
    name: str | None


_known: Final[dict[tuple[str, str | None], _Move]] = {}


def _prepared(
    schema: GraphQLSchema, context: Context, asked: Operation
) -> tuple[_Move, VariableValues] | None:
    """A known document of one move, and the values of its variables; None for any other."""
    text, introspection = asked.query or "", context.gate.introspection
    if not is_known(text, introspection) or faults(schema, text, introspection):
        return None
    move = _known.get((text, asked.name))
    if move is not None:
        definitions = move.operation.variable_definitions or ()
        values = get_variable_values(schema, definitions, asked.variables or {})
        return None if isinstance(values, list) else (move, values)
    executor = _executor(schema, parsed(text), asked)
    root = None if executor is None else executor.root(schema.mutation_type)
    if executor is None or root is None:
        return None
    named = executor.operation.name
    move = _Move(executor.operation, root, None if named is None else named.value)
    if executor.is_fixed():
        if len(_known) >= MOST:
            _known.clear()
        _known[text, asked.name] = move
    return move, executor.variable_values


def _executor(schema: GraphQLSchema, document: DocumentNode, asked: Operation) -> Executor | None:
    """What executes a document of one move, None for any other."""
    operations = [d for d in document.definitions if isinstance(d, OperationDefinitionNode)]
    if len(operations) != 1 or not _is_move(operations[0]):
        return None
    built = Executor.build(
        schema, document, raw_variable_values=asked.variables, operation_name=asked.name
    )
    return built if isinstance(built, Executor) else None


def _is_move(operation: OperationDefinitionNode) -> bool:
    first, *others = operation.selection_set.selections
    return (
        operation.operation is OperationType.MUTATION
        and not others
        and isinstance(first, FieldNode)
        and first.name.value in MOVES
    )


async def _resolved(
    context: Context, root: Root, arguments: dict[str, Any], extensions: dict[str, Any]
) -> ExecutionResult:
    field: StrawberryField = root.field.extensions[BACKREF]
    resolver = cast("Callable[..., Awaitable[Any]]", field.base_resolver)
    info: Info[Context, None] = Info(_raw_info=cast("Any", _Asking(context)), _field=field)
    try:
        payload = await resolver(None, info=info, **arguments)
        return ExecutionResult({root.name: made(root.plan, payload)}, None, extensions)
    except Exception as error:  # noqa: BLE001 - told as the library has it told
        nodes = [details.node for details in root.chosen]
        return ExecutionResult(None, [located_error(error, nodes, [root.name])], extensions)
