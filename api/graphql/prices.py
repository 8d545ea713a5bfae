"""What every field costs, read once from the directives of the schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    get_named_type,
    is_composite_type,
)
from strawberry.schema.schema_converter import GraphQLCoreConverter

from schema.cost import Cost, ListSize
from schema.pages import USUAL_PAGE

INTROSPECTED: Final = 50  # the weight of `__schema` and `__type`
_RARE: Final = {"interfaces": 0.1, "possibleTypes": 0.2, "ofType": 0.5}  # mostly null


@dataclass(frozen=True, slots=True)
class Price:
    """Of one field: ``weight`` once, what is selected below it ``size`` times.

    Attributes:
        weight: points of the field itself.
        size: how many objects it returns at most, 1 if it returns no list.
        below: the composite type that it returns, None for a leaf.
        slicing: the argument that says how long the lists ``sized`` below it are.
        sized: the fields of ``below`` that ``slicing`` is about.
    """

    weight: float
    size: float
    below: str | None
    slicing: str | None
    sized: frozenset[str]

    def page(self, asked: int | None) -> float:
        """The size of the lists below for the slicing argument's value, None if it was not given.

        A number below 0 or over the most is refused before anything is loaded.
        """
        return max(0, min(USUAL_PAGE if asked is None else asked, self.size))


Prices = Mapping[tuple[str, str], Price]


def prices_of(schema: GraphQLSchema) -> dict[tuple[str, str], Price]:
    """The price of every field, by type and name."""
    found: dict[tuple[str, str], Price] = {}
    averages = _averages(schema)
    for name, type_ in schema.type_map.items():
        if isinstance(type_, GraphQLObjectType | GraphQLInterfaceType):
            for field_name, field in type_.fields.items():
                found[name, field_name] = (
                    Price(1, averages.get(field_name, 1), _below(field), None, frozenset())
                    if name.startswith("__")
                    else _price(field)
                )
    root = schema.query_type
    if root is not None:
        for meta, below in (("__schema", "__Schema"), ("__type", "__Type")):
            found[root.name, meta] = Price(INTROSPECTED, 1, below, None, frozenset())
    return found


def concrete_types(schema: GraphQLSchema) -> dict[str, tuple[str, ...]]:
    """The object types that a value of each composite type may have."""
    found: dict[str, tuple[str, ...]] = {}
    for name, type_ in schema.type_map.items():
        if isinstance(type_, GraphQLObjectType):
            found[name] = (name,)
        elif isinstance(type_, GraphQLInterfaceType | GraphQLUnionType):
            found[name] = tuple(t.name for t in schema.get_possible_types(type_))
    return found


def _price(field: GraphQLField) -> Price:
    definition = field.extensions[GraphQLCoreConverter.DEFINITION_BACKREF]
    weight, size, slicing, lists = 1.0, 1.0, None, list[str]()
    for directive in definition.directives:
        if isinstance(directive, Cost):
            weight = float(directive.weight)
        if isinstance(directive, ListSize):
            size = float(directive.assumed_size or 0)
            slicing = next(iter(directive.slicing_arguments or ()), None)
            lists = directive.sized_fields or []
    return Price(weight, size, _below(field), slicing, frozenset(lists))


def _averages(schema: GraphQLSchema) -> dict[str, float]:
    """How long the lists of introspection are on average."""
    types = schema.type_map.values()
    of_objects = [
        field
        for type_ in types
        if isinstance(type_, GraphQLObjectType | GraphQLInterfaceType)
        for field in type_.fields.values()
    ]
    inputs = sum(len(t.fields) for t in types if isinstance(t, GraphQLInputObjectType))
    values = sum(len(t.values) for t in types if isinstance(t, GraphQLEnumType))
    return {
        **_RARE,
        "types": len(types),
        "directives": len(schema.directives),
        "fields": len(of_objects) / len(types),
        "args": sum(len(field.args) for field in of_objects) / len(of_objects),
        "inputFields": inputs / len(types),
        "enumValues": values / len(types),
    }


def _below(field: GraphQLField) -> str | None:
    named = get_named_type(field.type)
    return named.name if is_composite_type(named) else None
