"""What an operation costs, told before it runs: from its document and the sizes it asks for.

Every selection is charged, repeated and aliased ones each, a fragment at every spread; each is
computed once. Of several types that a value may have, the dearest is charged.
"""

import math
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from graphql import (
    BooleanValueNode,
    DirectiveNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    OperationType,
    SelectionNode,
    SelectionSetNode,
    ValueNode,
    VariableNode,
    Visitor,
    visit,
)

from api.graphql.prices import Prices, concrete_types, prices_of

MOST: Final = 10**9  # points; more is not counted
_INT: Final = 2**31
_CACHED: Final = 512  # documents
_CACHED_VALUES: Final = 64  # of the variables that matter to one


@dataclass(frozen=True, slots=True)
class OperationCost:
    """What one operation costs.

    Attributes:
        type: query, mutation or subscription.
        points: all of it; of a subscription, one update.
        roots: how often each field of the root type is asked for.
    """

    type: OperationType
    points: int
    roots: Mapping[str, int]


@dataclass(slots=True)
class _Plan:
    """What is known of an operation: the variables that matter, and its cost by their values."""

    variables: tuple[str, ...]
    costs: dict[tuple[object, ...], OperationCost]


class Costs:
    """The costs of the operations of a schema, each computed once while it is remembered."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._prices = prices_of(schema)
        self._concrete = concrete_types(schema)
        self._roots = {
            kind: root.name for kind in OperationType if (root := schema.get_root_type(kind))
        }
        self._sized = {p.below: p.sized for p in self._prices.values() if p.sized}
        self._sliced = frozenset(p.slicing for p in self._prices.values() if p.slicing)
        self._plans: OrderedDict[tuple[str, str | None], _Plan] = OrderedDict()

    def of(
        self, query: str, document: DocumentNode, name: str | None, values: Mapping[str, Any]
    ) -> OperationCost:
        """The cost of a valid document's operation of this name, or its first one.

        Raises:
            LookupError: no operation has this name.
        """
        plan = self._plans.get((query, name))
        if plan is None:
            plan = _Plan(_variables(document, self._sliced), {})
            self._plans[query, name] = plan
            if len(self._plans) > _CACHED:
                self._plans.popitem(last=False)
        known = tuple(_plain(values.get(v, ...)) for v in plan.variables)
        cost = plan.costs.get(known)
        if cost is None:
            if len(plan.costs) >= _CACHED_VALUES:
                plan.costs.clear()
            cost = plan.costs[known] = self._computed(document, name, values)
        return cost

    def _computed(
        self, document: DocumentNode, name: str | None, values: Mapping[str, Any]
    ) -> OperationCost:
        operation = _operation(document, name)
        bill = _Bill((self._prices, self._concrete, self._sized), document, operation, values)
        root = self._roots[operation.operation]
        points = bill.selections(operation.selection_set, root, None)
        roots = bill.fields(operation.selection_set)
        return OperationCost(operation.operation, math.ceil(points), roots)


def _operation(document: DocumentNode, name: str | None) -> OperationDefinitionNode:
    for definition in document.definitions:
        if isinstance(definition, OperationDefinitionNode) and (
            name is None or (definition.name is not None and definition.name.value == name)
        ):
            return definition
    raise LookupError("no operation has this name")


class _Bill:
    """The computation for one operation and the values of its variables."""

    def __init__(
        self,
        prices: tuple[Prices, Mapping[str, tuple[str, ...]], Mapping[str | None, frozenset[str]]],
        document: DocumentNode,
        operation: OperationDefinitionNode,
        values: Mapping[str, Any],
    ) -> None:
        self._prices, self._concrete, self._sized = prices
        self._fragments = {
            d.name.value: d for d in document.definitions if isinstance(d, FragmentDefinitionNode)
        }
        self._values = values
        self._defaults = {
            d.variable.name.value: d.default_value for d in operation.variable_definitions or ()
        }
        self._known: dict[tuple[int, str, float | None], float] = {}
        self._counted: dict[int, Counter[str]] = {}

    def selections(self, chosen: SelectionSetNode, type_: str, page: float | None) -> float:
        """The points of a selection on a type; ``page`` is the size of the lists it is told."""
        key = (id(chosen), type_, page)
        if key not in self._known:
            self._known[key] = max(
                self._of_object(chosen, concrete, page) for concrete in self._concrete[type_]
            )
        return self._known[key]

    def _of_object(self, chosen: SelectionSetNode, type_: str, page: float | None) -> float:
        points = 0.0
        for selection in chosen.selections:
            if not self._taken(selection):
                continue
            if isinstance(selection, FieldNode):
                points += self._of_field(selection, type_, page)
            else:
                inner, condition = self._inner(selection)
                if condition is None or type_ in self._concrete[condition]:
                    points += self.selections(inner, type_, page)
        return min(points, MOST)

    def _of_field(self, field: FieldNode, type_: str, page: float | None) -> float:
        price = self._prices.get((type_, field.name.value))
        if price is None:
            return 1  # `__typename`
        if price.below is None or field.selection_set is None:
            return price.weight
        told, times = None, price.size
        if price.slicing is not None:
            told, times = price.page(self._asked(field, price.slicing)), 1
        elif page is not None and field.name.value in self._sized.get(type_, ()):
            times = page
        return price.weight + times * self.selections(field.selection_set, price.below, told)

    def fields(self, chosen: SelectionSetNode) -> Counter[str]:
        """How often each field is asked for in a selection, its fragments included."""
        if id(chosen) in self._counted:
            return self._counted[id(chosen)]
        found: Counter[str] = Counter()
        for selection in chosen.selections:
            if not self._taken(selection):
                continue
            if isinstance(selection, FieldNode):
                found[selection.name.value] += 1
            else:
                found.update(self.fields(self._inner(selection)[0]))
        self._counted[id(chosen)] = Counter({n: min(c, MOST) for n, c in found.items()})
        return self._counted[id(chosen)]

    def _inner(self, selection: SelectionNode) -> tuple[SelectionSetNode, str | None]:
        """What a fragment selects, and on which type, None for any."""
        if isinstance(selection, FragmentSpreadNode):
            fragment = self._fragments[selection.name.value]
            return fragment.selection_set, fragment.type_condition.name.value
        if not isinstance(selection, InlineFragmentNode):
            raise TypeError(type(selection).__name__)
        condition = selection.type_condition
        return selection.selection_set, None if condition is None else condition.name.value

    def _taken(self, selection: SelectionNode) -> bool:
        """False if ``@skip`` or ``@include`` leaves it out."""
        for directive in selection.directives or ():
            name = directive.name.value
            if name in ("skip", "include") and self._flag(directive) is (name == "skip"):
                return False
        return True

    def _flag(self, directive: DirectiveNode) -> object:
        for argument in directive.arguments or ():
            value = self._value(argument.value)
            return value.value if isinstance(value, BooleanValueNode) else value
        return None

    def _asked(self, field: FieldNode, slicing: str) -> int | None:
        for argument in field.arguments or ():
            if argument.name.value == slicing:
                value = self._value(argument.value)
                return _int(int(value.value) if isinstance(value, IntValueNode) else value)
        return None

    def _value(self, node: ValueNode | None) -> Any:
        """A literal's node, or a variable's value or the node of its default."""
        if not isinstance(node, VariableNode):
            return node
        name = node.name.value
        return self._values[name] if name in self._values else self._defaults.get(name)


class _Mattering(Visitor):
    """Collects the variables that sizes and ``@skip`` and ``@include`` are taken from."""

    def __init__(self, arguments: frozenset[str]) -> None:
        super().__init__()
        self._arguments = arguments
        self.found: dict[str, None] = {}

    def enter_argument(self, node: Any, *_: Any) -> None:
        if isinstance(node.value, VariableNode) and node.name.value in self._arguments:
            self.found[node.value.name.value] = None


def _variables(document: DocumentNode, sliced: frozenset[str]) -> tuple[str, ...]:
    mattering = _Mattering(sliced | {"if"})
    visit(document, mattering)
    return tuple(mattering.found)


def _int(value: object) -> int | None:
    """An ``Int`` as GraphQL takes it; None for null, and for what will be refused."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if -_INT < value < _INT and value == int(value) else None


def _plain(value: object) -> object:
    """A variable's value as a key: only numbers and booleans matter."""
    if isinstance(value, bool):
        return str(value)  # which no number is equal to
    return ... if value is ... else _int(value)
