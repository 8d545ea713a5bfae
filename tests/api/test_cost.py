"""What operations cost, told from the document and its variables alone."""

import pytest
from graphql import get_introspection_query, parse

from api.cli.terminal import data
from api.graphql.cost import MOST, Costs
from api.graphql.documents import faults, parsed
from api.graphql.schema import costs, schema
from api.settings import Settings
from tests.client import MATCH, PAYLOAD, UPDATES

LIMIT = Settings.model_fields["cost_limit"].default
FULL = "mutation ($i: ShowInput!) { show(input: $i) " + PAYLOAD + " }" + MATCH
PAGE = "query ($f: Int) { matches(first: $f) { edges { cursor } } }"


def cost(query: str, name: str | None = None, **values: object) -> int:
    """Points, of a document that is valid."""
    assert faults(schema._schema, query, introspection=True) == ()
    return costs.of(query, parse(query), name, values).points


def test_a_field_is_its_weight_and_what_is_below_it():
    assert cost("{ __typename }") == 1
    assert cost('{ match(id: "m") { id } }') == 25 + 1
    assert cost('{ match(id: "m") { id seats { number kind } } }') == 25 + 1 + (1 + 5 * 2)


def test_sizes_are_those_that_the_arguments_allow():
    assert cost(PAGE, f=7) == 25 + (1 + 7)
    assert cost("{ matches(first: 7) { edges { cursor } } }") == 25 + (1 + 7)
    assert cost("{ matches { edges { cursor } } }") == 25 + (1 + 20)
    assert cost("query ($f: Int = 3) { matches(first: $f) { edges { cursor } } }") == 25 + (1 + 3)


@pytest.mark.parametrize(
    ("first", "size"),
    [
        *((0, 0), (-5, 0), (100, 100), (10**6, 100), (None, 20), (7.0, 7), ("7", 20)),
        *((True, 20), (2**40, 20), (float("inf"), 20), (float("nan"), 20), ([], 20)),
    ],
)
def test_no_variable_is_believed_more_than_the_server_would(first, size):
    assert cost(PAGE, f=first) == 25 + (1 + size)


def test_values_that_look_alike_are_told_apart():
    fresh = Costs(schema._schema)
    for first, size in ((True, 20), (1, 1), (None, 20), (1, 1)):
        found = fresh.of(PAGE, parse(PAGE), None, {"f": first}).points
        assert found == 25 + 1 + size


def test_aliases_and_repetitions_are_charged_each():
    once = cost('{ match(id: "m") { id } }')

    assert cost('{ a: match(id: "m") { id } b: match(id: "m") { id } }') == 2 * once
    assert cost('{ match(id: "m") { id } match(id: "m") { id } }') == 2 * once


def test_fragments_are_charged_at_every_spread():
    fragment = "fragment F on Match { seats { number } }"

    assert cost('{ match(id: "m") { ...F ...F } }' + fragment) == 25 + 2 * (1 + 5)


def test_a_bomb_of_fragments_is_charged_in_full_and_computed_at_once():
    chain = " ".join(f"fragment F{n} on Match {{ ...F{n + 1} ...F{n + 1} }}" for n in range(30))
    bomb = f'{{ match(id: "m") {{ ...F0 }} }} {chain} fragment F30 on Match {{ id }}'

    assert cost(bomb) >= MOST


def test_of_several_types_the_dearest_is_charged():
    events = "{ version events { ... on PlayerLeft { seat } ... on PlayerJoined { seat name } } }"

    found = cost(f'subscription {{ matchUpdates(matchId: "m") {events} }}')

    assert found == 1 + 1 + (1 + 4 * 2)


def test_what_is_skipped_is_not_charged():
    query = """query ($a: Boolean = false, $b: Boolean!) {
        match(id: "m") { id @include(if: $a) version @skip(if: $b) hash @skip(if: true) } }"""

    assert cost(query, b=True) == 25
    assert cost(query, a=True, b=False) == 25 + 2


def test_of_several_operations_the_one_named_is_charged():
    query = 'query A { __typename } query B { match(id: "m") { id } }'

    assert (cost(query, "A"), cost(query, "B")) == (1, 26)


def test_roots_are_counted_through_fragments():
    query = """mutation { ...F a: leaveMatch(matchId: "m") { clientMutationId } }
        fragment F on Mutation { b: leaveMatch(matchId: "n") { clientMutationId }
          signInAsGuest(name: "Ann") { token } }"""

    found = costs.of(query, parse(query), None, {})

    assert found.roots == {"leaveMatch": 2, "signInAsGuest": 1}


def test_introspection_is_charged_and_passes():
    assert 2000 < cost(get_introspection_query()) <= LIMIT


@pytest.mark.parametrize(
    "document",
    [
        *(UPDATES, FULL, data.UPDATES, data.FIND_MATCH, data.SHOWS_AFTER_SCOUT),
        *(data.mutation("scoutAndShow", "ScoutAndShowInput"), get_introspection_query()),
    ],
)
def test_our_own_documents_pass_with_room(document):
    assert cost(document) <= LIMIT * 0.8
    parsed(document)  # not too many tokens


def test_what_is_dearest_to_compute_passes_once_and_not_twice():
    options = "scoutAndShow { end flip insertAt shows { first count kind } }"

    once = cost(f'{{ match(id: "m") {{ you {{ legal {{ {options} }} }} }} }}')
    twice = cost(f'{{ match(id: "m") {{ you {{ legal {{ {options} b: {options} }} }} }} }}')

    assert once <= LIMIT < twice


def test_every_list_of_objects_has_a_size():
    for (owner, name), price in costs._prices.items():
        field = getattr(schema._schema.type_map[owner], "fields", {}).get(name)
        if field is None or price.below is None or owner.startswith("__"):
            continue
        told = any(name in p.sized and p.below == owner for p in costs._prices.values())
        assert ("[" in str(field.type)) <= (price.size > 1 or told or name == "userErrors"), name
