"""Versions of the rules: a match goes on, and is played again, under the one it began with."""

import json
from dataclasses import replace

import pytest

from engine.audit import audit
from engine.decide import decide
from engine.evolve import fold
from engine.replay import document
from engine.rules import VERSIONS, Rules, rules_of
from engine.state import RoundEnd
from tests.builders import create, logged, play_out

SHORT = Rules("short", action_limit=3, dry_table_ends_round=True)


@pytest.fixture
def two_versions(monkeypatch):
    """A second version, under which a round ends after three actions."""
    monkeypatch.setitem(VERSIONS, SHORT.version, SHORT)


def reasons(replay):
    return {played["result"]["reason"] for played in replay["rounds"]}


@pytest.mark.usefixtures("two_versions")
def test_a_match_begun_under_the_first_version_stays_under_it():
    replay = document(logged(play_out(4, 3)))

    assert replay["rulesVersion"] == "1"
    assert any(len(played["actions"]) > 3 for played in replay["rounds"])
    assert audit(replay) == []


@pytest.mark.usefixtures("two_versions")
def test_a_match_begun_under_the_second_version_ends_by_it():
    replay = document(logged(play_out(4, 3, rules_version="short")))

    assert RoundEnd.ACTION_LIMIT in reasons(replay)
    assert all(len(played["actions"]) <= 3 for played in replay["rounds"])
    assert audit(replay) == []


@pytest.mark.parametrize(("begun", "claimed"), [("1", "short"), ("short", "1")])
@pytest.mark.usefixtures("two_versions")
def test_the_versions_cannot_be_taken_for_each_other(begun, claimed):
    replay = document(logged(play_out(4, 3, rules_version=begun)))

    assert audit({**json.loads(json.dumps(replay)), "rulesVersion": claimed})


def test_a_version_that_is_not_known_is_said():
    replay = document(logged(play_out(2, 3)))

    assert audit({**replay, "rulesVersion": "9"}) == ["document.rulesVersion is none of 1"]
    with pytest.raises(ValueError, match="not known"):
        rules_of("9")


def test_the_version_is_stored_with_the_match():
    events = decide(None, replace(create(3), rules_version="1"), 0)

    assert fold(None, events).rules_version == "1"
