"""The published schema: as checked in, as promised, with every code of the engine in it."""

from pathlib import Path

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLUnionType,
    build_schema,
    print_schema,
)

from api.graphql.schema import schema
from engine.errors import SENTENCES, Reason
from schema.codes import ErrorCode

ROOT = Path(__file__).parents[2]
PUBLISHED = build_schema(schema.as_str())
CONTRACT = build_schema((Path(__file__).parent / "contract.graphql").read_text())


def test_the_file_checked_in_is_what_is_served():
    stored = (ROOT / "schema" / "schema.graphql").read_text()

    assert stored.strip() == schema.as_str().strip(), "run `make schema`"


def test_every_reason_of_the_rules_is_published_and_has_a_sentence():
    assert {reason.value for reason in Reason} <= {code.value for code in ErrorCode}
    assert set(SENTENCES) == set(Reason)


def test_everything_promised_is_there():
    missing = []
    for name, promised in CONTRACT.type_map.items():
        if name.startswith("__"):
            continue
        published = PUBLISHED.type_map.get(name)
        if type(published) is not type(promised):
            missing.append(name)
            continue
        missing += [f"{name}.{lack}" for lack in lacks(promised, published)]

    assert missing == []


def lacks(promised, published) -> list[str]:
    """What a published type lacks of the one promised."""
    if isinstance(promised, GraphQLEnumType):
        return sorted(set(promised.values) - set(published.values))
    if isinstance(promised, GraphQLUnionType):
        return sorted({t.name for t in promised.types} - {t.name for t in published.types})
    if isinstance(promised, GraphQLInputObjectType):
        return [
            field
            for field, value in promised.fields.items()
            if field not in published.fields
            or not accepts(value.type, published.fields[field].type)
        ]
    if isinstance(promised, GraphQLObjectType | GraphQLInterfaceType):
        found = [
            field
            for field, value in promised.fields.items()
            if field not in published.fields
            or str(published.fields[field].type) not in (str(value.type), f"{value.type}!")
        ]
        for field, value in promised.fields.items():
            given = published.fields[field].args if field in published.fields else {}
            found += [
                f"{field}({name})"
                for name, arg in value.args.items()
                if name not in given or not accepts(arg.type, given[name].type)
            ]
        found += [
            interface.name
            for interface in promised.interfaces
            if interface.name not in {i.name for i in published.interfaces}
        ]
        return found
    return []


def accepts(promised, published) -> bool:
    """Whether what clients may send by the promise is still taken."""
    return str(published).rstrip("!") == str(promised).rstrip("!") and (
        str(promised).endswith("!") or not str(published).endswith("!")
    )


def test_added_input_fields_may_be_left_out():
    for name, promised in CONTRACT.type_map.items():
        if isinstance(promised, GraphQLInputObjectType):
            published = PUBLISHED.type_map[name]
            assert isinstance(published, GraphQLInputObjectType)
            added = set(published.fields) - set(promised.fields)
            assert all(not str(published.fields[field].type).endswith("!") for field in added)


def test_a_contract_that_is_broken_is_noticed():
    broken = build_schema(print_schema(CONTRACT).replace("deckCommitment: String!", ""))

    assert lacks(CONTRACT.type_map["Match"], broken.type_map["Match"]) == ["deckCommitment"]


def test_every_type_and_operation_is_described():
    for name in ("Query", "Mutation", "Subscription"):
        fields = PUBLISHED.type_map[name].fields  # type: ignore[attr-defined]
        assert [field for field, value in fields.items() if not value.description] == []
    undescribed = [
        name
        for name, type_ in PUBLISHED.type_map.items()
        if not name.startswith("__")
        and name not in ("Query", "Mutation", "Subscription")
        and not type_.description
    ]
    assert undescribed == []
