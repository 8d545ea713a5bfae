"""The exports are as served, and break no client without a decision that says so."""

import copy
import json
import re
from pathlib import Path

import pytest
from graphql import build_schema, find_breaking_changes

from api.rest.app import create_rest, document
from tests.schema.breaking import breaking_changes

ROOT = Path(__file__).parents[2]
RELEASED = ROOT / "schema" / "released"
DECIDED = {
    line
    for adr in (ROOT / "docs" / "adr").glob("*.md")
    for line in re.findall(r"^Breaks: (.*)$", adr.read_text(), re.MULTILINE)
}


def test_the_document_checked_in_is_what_is_served():
    stored = (ROOT / "schema" / "openapi.json").read_text()

    assert stored.strip() == document().strip(), "run `make schema`"


def test_rest_breaks_no_client_without_a_decision():
    released = json.loads((RELEASED / "openapi.json").read_text())
    now = json.loads((ROOT / "schema" / "openapi.json").read_text())

    undecided = [change for change in breaking_changes(released, now) if change not in DECIDED]

    assert undecided == [], "decide it in an ADR with a line `Breaks: ...` each, or take it back"


def test_graphql_breaks_no_client_without_a_decision():
    released = build_schema((RELEASED / "schema.graphql").read_text())
    now = build_schema((ROOT / "schema" / "schema.graphql").read_text())

    changes = [change.description for change in find_breaking_changes(released, now)]

    assert [change for change in changes if change not in DECIDED] == []


MATCH = ("components", "schemas", "Match")
EVENTS = ("components", "schemas", "MatchUpdate", "properties", "events")
SHOW = ("paths", "/v1/matches/{matchId}/show", "post")


@pytest.mark.parametrize(
    ("place", "key", "value", "told"),
    [
        (("paths",), "/v1/guests", None, "POST /v1/guests was removed"),
        ((*MATCH, "properties"), "hash", None, "Match lost the field hash"),
        (
            (*MATCH, "properties"),
            "version",
            {"type": "string"},
            "Match.version has another type",
        ),
        (MATCH, "required", [], "Match may leave out the field hash"),
        (
            ("components", "schemas", "CreateMatch"),
            "required",
            ["seats", "advice"],
            "CreateMatch requires the field advice",
        ),
        (("components", "schemas", "End"), "enum", ["LEFT"], "End lost the value RIGHT"),
        ((*EVENTS, "items"), "oneOf", [], "MatchUpdate.events has another type"),
        (
            (*SHOW, "responses"),
            "409",
            None,
            "POST /v1/matches/{matchId}/show no longer answers 409",
        ),
        (SHOW, "operationId", "x", "POST /v1/matches/{matchId}/show has another operationId"),
        (
            SHOW,
            "parameters",
            [],
            "POST /v1/matches/{matchId}/show lost the path parameter matchId",
        ),
    ],
)
def test_a_breaking_change_would_be_found(place, key, value, told):
    old = create_rest(None).openapi()
    new = copy.deepcopy(old)
    where = new
    for name in place:
        where = where[name]
    if value is None:
        del where[key]
    else:
        where[key] = value

    assert breaking_changes(old, old) == []
    assert told in breaking_changes(old, new)


def test_further_kinds_of_events_break_nothing():
    new = create_rest(None).openapi()
    old = copy.deepcopy(new)
    old["components"]["schemas"]["MatchUpdate"]["properties"]["events"]["items"]["oneOf"].pop()

    assert breaking_changes(old, new) == []
