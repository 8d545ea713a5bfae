"""Selections on plain objects, made into functions once and not walked field by field each time.

Most of an answer is plain: attributes of objects that are there already, and methods that compute.
The library's executor spends some 10 us on each of them, as on a field that might fail or wait. A
plan does the same for a whole selection at once. Whatever is not plain, or fails, is left to the
library, which also says what failed: resolvers here have no side effects, so asking twice is safe.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, NamedTuple

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLAbstractType,
    GraphQLEnumType,
    GraphQLField,
    GraphQLLeafType,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfoHelpers,
    GraphQLSchema,
    VariableNode,
    Visitor,
    is_abstract_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
    is_object_type,
    visit,
)
from graphql.execution import ExecutionResult
from graphql.execution import Executor as GraphQLExecutor
from graphql.execution.collect_fields import FieldDetails, collect_fields
from graphql.execution.values import VariableValues, get_argument_values
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.schema.schema_converter import GraphQLCoreConverter
from strawberry.types.arguments import convert_arguments
from strawberry.types.field import StrawberryField

from schema.types import ALIKE

MOST: Final = 1024  # selections remembered
VALUES: Final = 16  # of the variables that matter to one
BACKREF: Final = GraphQLCoreConverter.DEFINITION_BACKREF
_INT: Final = 2**31

Key = tuple[str | int, ...]
Make = Callable[[Any], Any]


class Unplanned(Exception):  # noqa: N818 - no error: the library does it
    """Not plain: the library's executor has to do it."""


class Plan:
    """What an object of one type is made into."""

    __slots__ = ("_fields", "origin")

    def __init__(self, origin: type, fields: list[tuple[str, Make, Make, bool]]) -> None:
        self.origin = origin
        self._fields = fields

    def __call__(self, value: Any) -> dict[str, Any]:
        """The object's part of the answer.

        Raises:
            Unplanned: it is not of the type that the plan was made for, or has no such value.
        """
        if type(value) is not self.origin:
            raise Unplanned
        made = {}
        for name, get, complete, alike in self._fields:
            if not alike:
                made[name] = complete(get(value))
                continue
            shared, key = getattr(value, "shared"), (self, name)  # noqa: B009 - only such have it
            if key not in shared:
                shared[key] = complete(get(value))
            made[name] = shared[key]
        return made


@dataclass(slots=True)
class _Known:
    """The plans of one selection by the values of its variables; it keeps the nodes' ids in use."""

    nodes: tuple[FieldNode, ...]
    variables: tuple[str, ...]
    plans: dict[tuple[Any, ...], Plan | None]


_selections: Final[OrderedDict[Key, _Known]] = OrderedDict()


class Root(NamedTuple):
    """The only field of an operation: its key in the answer, and the plan of what it leads to."""

    name: str
    field: GraphQLField
    chosen: list[FieldDetails]
    plan: Plan


class _Event:
    """One event of a subscription, told by a plan where there is one."""

    __slots__ = ("_executor", "_payload")

    def __init__(self, executor: "Executor", payload: Any) -> None:
        self._executor = executor
        self._payload = payload

    def execute_operation(self, serially: bool | None = None) -> Any:
        """The answer to the subscription's document, for this event."""
        told = self._executor.told(self._payload)
        if told is not None:
            return ExecutionResult(told, None)
        return self._executor.of_event(self._payload).execute_operation(serially)


class Executor(StrawberryGraphQLCoreExecutionContext):
    """The library's executor, which has a plan for plain objects."""

    _root: Root | None = None
    _rooted = False

    @property
    def async_helpers(self) -> GraphQLResolveInfoHelpers:
        """Made for who asks: an executor that kept them would be garbage, for they know it."""
        return GraphQLResolveInfoHelpers(gather=self.gather_async_work, track=self.track_async_work)

    @async_helpers.setter
    def async_helpers(self, _: GraphQLResolveInfoHelpers) -> None: ...

    def build_per_event_executor(self, payload: Any) -> Any:
        """What executes one event of the subscription."""
        return _Event(self, payload)

    def of_event(self, payload: Any) -> GraphQLExecutor[Any]:
        """The library's own executor of one event."""
        return super().build_per_event_executor(payload)

    def told(self, payload: Any) -> dict[str, Any] | None:
        """What a plan makes of an event, None if there is none for it."""
        if not self._rooted:
            self._root, self._rooted = self.root(self.schema.subscription_type), True
        if self._root is None:
            return None
        try:
            return {self._root.name: made(self._root.plan, payload)}
        except Exception:  # noqa: BLE001 - the library meets it again, and tells of it
            return None

    def root(self, type_: GraphQLObjectType | None) -> Root | None:
        """The operation's only field, on the type of its kind; None if there is no plan for it."""
        if type_ is None:
            return None
        collected = collect_fields(
            self.schema, self.fragments, self.variable_values, type_, self.operation
        )
        if len(collected.grouped_field_set) != 1:
            return None
        ((name, chosen),) = collected.grouped_field_set.items()
        field = type_.fields.get(chosen[0].node.name.value)
        if field is None or not is_non_null_type(field.type):
            return None
        told = field.type.of_type
        plan = self._plan(told, chosen) if is_object_type(told) else None
        return None if plan is None else Root(name, field, chosen, plan)

    def is_fixed(self) -> bool:
        """Whether the operation's ``root`` is the same whatever its variables are."""
        found = _Variables(self.fragment_definitions)
        for node in self.operation.selection_set.selections:
            if node.directives or not isinstance(node, FieldNode):
                return False
            if node.selection_set is not None:
                visit(node.selection_set, found)
        return not found.names

    def complete_object_value(  # noqa: PLR0917 - as in graphql-core
        self,
        return_type: GraphQLObjectType,
        field_details_list: list[FieldDetails],
        info: Any,
        path: Any,
        result: Any,
        position_context: Any,
    ) -> Any:
        plan = self._plan(return_type, field_details_list)
        if plan is not None:
            try:
                return made(plan, result)
            except Exception:  # noqa: BLE001, S110 - the library meets it again, and tells of it
                pass
        return super().complete_object_value(
            return_type, field_details_list, info, path, result, position_context
        )

    def _plan(self, type_: GraphQLObjectType, chosen: list[FieldDetails]) -> Plan | None:
        key: Key = (type_.name, *[id(details.node) for details in chosen])
        known = _selections.get(key)
        if known is None:
            nodes = tuple(details.node for details in chosen)
            known = _selections[key] = _Known(nodes, self._variables(nodes), {})
            if len(_selections) > MOST:
                _selections.popitem(last=False)
        given = self.variable_values.coerced
        try:
            values = tuple([_hashable(given.get(name, ...)) for name in known.variables])
            return known.plans[values]
        except KeyError:
            pass
        except TypeError:
            return None  # a list or an object
        if len(known.plans) >= VALUES:
            known.plans.clear()
        known.plans[values] = self._planned(type_, chosen)
        return known.plans[values]

    def _planned(self, type_: GraphQLObjectType, chosen: list[FieldDetails]) -> Plan | None:
        try:
            return self._object(type_, chosen)
        except Exception:  # noqa: BLE001 - unplanned, or arguments that are told of elsewhere
            return None

    def _variables(self, nodes: tuple[FieldNode, ...]) -> tuple[str, ...]:
        found = _Variables(self.fragment_definitions)
        for node in nodes:  # not their own arguments: the value is there
            if node.selection_set is not None:
                visit(node.selection_set, found)
        return tuple(found.names)

    def _object(self, type_: GraphQLObjectType, chosen: list[FieldDetails]) -> Plan:
        definition = type_.extensions.get(BACKREF)
        collected = self.collect_subfields(type_, chosen)
        if definition is None or collected.new_defer_usages:
            raise Unplanned
        fields: list[tuple[str, Make, Make, bool]] = []
        for name, details in collected.grouped_field_set.items():
            field_name = details[0].node.name.value
            if field_name == "__typename":
                fields.append((name, _nothing, _always(type_.name), False))
                continue
            field = type_.fields[field_name]
            get, complete = self._getter(field, details), self._complete(field.type, details)
            fields.append((name, get, complete, field.extensions[BACKREF].metadata == ALIKE))
        return Plan(definition.origin, fields)

    def _getter(self, field: GraphQLField, chosen: list[FieldDetails]) -> Make:
        known: StrawberryField = field.extensions[BACKREF]
        resolver = known.base_resolver
        if known.extensions or known.is_async:
            raise Unplanned
        if resolver is None:
            return attrgetter(known.python_name)
        if resolver.info_parameter or resolver.root_parameter or resolver.parent_parameter:
            raise Unplanned
        work = resolver.wrapped_func
        if resolver.self_parameter is None or not callable(work):
            raise Unplanned
        if not known.arguments:
            return work
        arguments = arguments_of(self.schema, field, chosen[0], self.variable_values)
        return lambda value: work(value, **arguments)

    def _complete(self, type_: GraphQLOutputType, chosen: list[FieldDetails]) -> Make:
        """What makes a field's value into what is told of it."""
        if is_non_null_type(type_):
            return self._present(type_.of_type, chosen)
        present = self._present(type_, chosen)
        return lambda value: None if value is None else present(value)

    def _present(self, type_: Any, chosen: list[FieldDetails]) -> Make:
        """The same of a value that is there; what it is given instead, None too, is unplanned."""
        if is_list_type(type_):
            item = self._complete(type_.of_type, chosen)
            return lambda values: [item(value) for value in _listed(values)]
        if is_leaf_type(type_):
            return _leaf(type_)
        if is_abstract_type(type_):
            return self._abstract(type_, chosen)
        return self._object(type_, chosen)

    def _abstract(self, type_: GraphQLAbstractType, chosen: list[FieldDetails]) -> Make:
        plans = [
            self._object(possible, chosen) for possible in self.schema.get_possible_types(type_)
        ]
        by_origin = {plan.origin: plan for plan in plans}
        return lambda value: by_origin[type(value)](value)


class _Variables(Visitor):
    """Collects the variables in a selection, fragments included."""

    def __init__(self, fragments: Mapping[str, FragmentDefinitionNode]) -> None:
        super().__init__()
        self._fragments = fragments
        self._seen: set[str] = set()
        self.names: dict[str, None] = {}

    def enter_variable(self, node: VariableNode, *_: Any) -> None:
        self.names[node.name.value] = None

    def enter_fragment_spread(self, node: FragmentSpreadNode, *_: Any) -> None:
        name = node.name.value
        if name not in self._seen:
            self._seen.add(name)
            visit(self._fragments[name], self)


def arguments_of(
    schema: GraphQLSchema, field: GraphQLField, chosen: FieldDetails, values: VariableValues
) -> dict[str, Any]:
    """What the resolver of a field is given.

    Raises:
        Exception: something that was sent cannot be taken; the library tells what.
    """
    known: StrawberryField = field.extensions[BACKREF]
    given = get_argument_values(field, chosen.node, values, chosen.fragment_variable_values)
    made_of = schema.extensions[BACKREF]
    registry, config = made_of.schema_converter.scalar_registry, made_of.config
    return convert_arguments(given, known.arguments, registry, config)


def made(plan: Plan, value: Any) -> dict[str, Any]:
    """What a plan makes of a value: once, for values that many are told of."""
    told: dict[Plan, dict[str, Any]] | None = getattr(value, "told", None)
    if told is None:
        return plan(value)
    found = told.get(plan)
    if found is None:
        found = told[plan] = plan(value)
    return found


def _nothing(_: Any) -> None:
    return None


def _always(told: str) -> Make:
    return lambda _: told


def _hashable(value: Any) -> Any:
    hash(value)
    return (type(value), value)  # 1, 1.0 and True are equal


def _listed(values: Any) -> Any:
    if type(values) is not list:
        raise Unplanned
    return values


def _leaf(type_: GraphQLLeafType) -> Make:
    if isinstance(type_, GraphQLEnumType):
        definition = type_.extensions[BACKREF]
        return {
            definition.wrapped_cls(value.value): name for name, value in type_.values.items()
        }.__getitem__
    return _KINDS.get(type_.name) or _coerced(type_)


def _coerced(type_: GraphQLLeafType) -> Make:
    def told(value: Any) -> Any:
        found = type_.coerce_output_value(value)
        if value is None or found is None:
            raise Unplanned
        return found

    return told


def _int(value: Any) -> int:
    if type(value) is not int or not -_INT <= value < _INT:
        raise Unplanned
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise Unplanned
    return value


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise Unplanned
    return value


_KINDS: Final[dict[str, Make]] = {"Int": _int, "String": _text, "ID": _text, "Boolean": _flag}
