"""Plans of selections: what they answer is what the library's executor answers."""

import random
from collections.abc import Iterator
from functools import cache
from typing import Any, cast

import pytest
from graphql import (
    ExecutionResult,
    NoUnusedVariablesRule,
    get_named_type,
    is_leaf_type,
    is_union_type,
    parse,
    specified_rules,
    validate,
)
from hypothesis import given
from hypothesis import strategies as st
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext as Library

from api.graphql.plans import Executor
from api.graphql.schema import schema
from engine.views import redact, view
from schema.events import MatchUpdate
from schema.payloads import MatchPayload
from schema.types import match_of
from tests.builders import any_legal, play_out

SCHEMA = schema._schema
PARSED = cache(parse)  # as the API does: plans are known by the nodes
PLAYED = play_out(4, 5, any_legal)
WHOLE = """subscription ($end: End = LEFT, $yes: Boolean = true) {
  matchUpdates(matchId: "m") { version at
    events { __typename ... on SetShown { seat cards { top } } }
    match { id status notation createdAt winners seats { number name kind score }
      round { turn activeSet { kind cards { top bottom } } result { lines { total } } }
      you @include(if: $yes) { hand { top bottom } legal { flip shows { first count kind }
        shown: showsAfterScout(end: $end, insertAt: 0, flip: true) { first } } } } } }"""


def updates() -> Iterator[MatchUpdate]:
    """Every commit of a match as two players are told of it, who share what is alike."""
    for version, (events, match) in enumerate(PLAYED, 1):
        told = tuple(public for event in events if (public := redact(event)) is not None)
        shared: dict[Any, Any] = {}
        for seat in (1, 0):
            yield MatchUpdate(
                happened=told,
                at_ms=version,
                version=version,
                match=match_of(view(match, seat), version, "00" * 32, shared),
                told={},
                shared=shared,
            )


UPDATES = list(updates())
RULES = [rule for rule in specified_rules if rule is not NoUnusedVariablesRule]
FLAGS = ["", "", "", "@include(if: $yes)", "@skip(if: $no)", "@skip(if: $yes)"]


def answers(
    executor: type[Library], text: str, told: list[MatchUpdate], **variables: Any
) -> list[ExecutionResult]:
    document = PARSED(text)
    assert validate(SCHEMA, document, RULES) == []
    built = executor.build(SCHEMA, document, raw_variable_values=variables)
    assert isinstance(built, Library)
    found = [built.build_per_event_executor(one).execute_operation(False) for one in told]
    return cast("list[ExecutionResult]", found)  # nothing in it awaits


class Selections:
    """Draws selections on a type, as deep as it goes."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._names = 0

    def on(self, type_: Any, depth: int = 0) -> str:
        if is_union_type(type_):
            some = self._chance.sample(type_.types, 3)
            parts = ["__typename", *(f"... on {t.name} {self.on(t, depth)}" for t in some)]
            return "{ " + " ".join(parts) + " }"
        fields = list(type_.fields.items())
        some = self._chance.sample(fields, self._chance.randint(1, len(fields)))
        parts = [self._field(name, field, depth) for name, field in some]
        if self._chance.random() < 0.3:
            parts.append("named: __typename")
        if self._chance.random() < 0.3:
            parts.append(f"... on {type_.name} @include(if: $no) {self.on(type_, depth + 3)}")
        return "{ " + " ".join(part for part in parts if part) + " __typename }"

    def _field(self, name: str, field: Any, depth: int) -> str:
        self._names += 1
        asked = self._chance.choice([name, f"a{self._names}: {name}"])
        if name == "showsAfterScout":
            end, gap = self._chance.choice(["LEFT", "RIGHT"]), self._chance.choice([*"09", "$gap"])
            asked = f"a{self._names}: {name}(end: {end}, insertAt: {gap}, flip: $yes)"
        asked += f" {self._chance.choice(FLAGS)} "
        inner = get_named_type(field.type)
        if is_leaf_type(inner):
            return asked
        return "" if depth > 5 else asked + self.on(inner, depth + 1)


def drawn(seed: int) -> str:
    chosen = Selections(seed).on(SCHEMA.type_map["MatchUpdate"])
    return (
        "subscription ($yes: Boolean! = true, $no: Boolean! = false, $gap: Int! = 1) {"
        f' matchUpdates(matchId: "m") {chosen} }}'
    )


@given(st.integers(0, 10**9), st.booleans(), st.integers(0, 3))
def test_whatever_is_selected_is_answered_as_by_the_library(seed, yes, gap):
    document, told = drawn(seed), random.Random(seed).sample(UPDATES, 3)
    given_ = {"no": not yes, "gap": gap}

    planned = answers(Executor, document, told, **given_)

    assert planned == answers(Library, document, told, **given_)


def test_a_plan_is_used_and_made_once_for_all_who_are_told(monkeypatch):
    def unused(*_: Any) -> None:
        raise AssertionError("left to the library")

    monkeypatch.setattr(Library, "complete_object_value", unused)
    told = list(updates())[40:44]

    first, again = answers(Executor, WHOLE, told), answers(Executor, WHOLE, told)

    assert all(answer.errors is None and answer.data for answer in first)
    assert first == again
    assert [len(one.told) for one in told] == [1, 1, 1, 1]


def test_a_plan_is_used_below_a_field_with_an_input(monkeypatch):
    used = []
    monkeypatch.setattr(Library, "complete_object_value", lambda *_: used.append(1))
    seen = UPDATES[40].match
    payload = MatchPayload(user_errors=[], match=seen, client_mutation_id=None)
    mutations: Any = SCHEMA.mutation_type
    monkeypatch.setattr(mutations.fields["show"], "resolve", lambda *_, **__: payload)
    document = """mutation ($i: ShowInput!) { show(input: $i) {
        match { version } userErrors { code } } }"""
    given_ = {"i": {"matchId": "m", "first": 0, "count": 1}}
    built: Any = Executor.build(SCHEMA, PARSED(document), raw_variable_values=given_)

    answer = built.execute_operation()

    assert answer.data == {"show": {"match": {"version": seen.version}, "userErrors": []}}
    assert used == []


@pytest.mark.parametrize("end", ["LEFT", "RIGHT"])
@pytest.mark.parametrize("yes", [True, False])
def test_the_variables_of_a_selection_are_heeded(end, yes):
    told = [one for one in UPDATES if one.match.view.round and one.match.view.round.table]

    planned = answers(Executor, WHOLE, told, end=end, yes=yes)

    assert planned == answers(Library, WHOLE, told, end=end, yes=yes)
    assert planned[0].data is not None
    assert ("you" in planned[0].data["matchUpdates"]["match"]) is yes


def test_what_fails_is_told_by_the_library(monkeypatch):
    broken = [UPDATES[5]]
    monkeypatch.setattr(broken[0].match, "version", None)
    document = 'subscription { matchUpdates(matchId: "m") { match { version } } }'

    (planned,) = answers(Executor, document, broken)

    assert planned == answers(Library, document, broken)[0]
    assert planned.errors is not None
    assert planned.errors[0].path == ["matchUpdates", "match", "version"]
