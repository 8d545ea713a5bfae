"""The rules as data: every case of rules-vectors.json, one test each."""

import json
from pathlib import Path

import pytest

from engine import vectors

DOCUMENT = json.loads((Path(__file__).parent / "rules-vectors.json").read_text())


@pytest.mark.parametrize("case", DOCUMENT["compare"], ids=lambda case: case["id"])
def test_comparison(case):
    assert vectors.check_comparison(case) is None


@pytest.mark.parametrize("case", DOCUMENT["transitions"], ids=lambda case: case["id"])
def test_transition(case):
    assert vectors.check_transition(case) is None


@pytest.mark.parametrize("case", DOCUMENT["transitions"][:12], ids=lambda case: case["id"])
def test_a_wrong_expectation_is_reported(case):
    wrong = {**case, "expect": {"error": "OWN_SET"}}

    assert vectors.check_transition(wrong) is not None


def test_a_wrong_comparison_is_reported():
    case = {"id": "C0", "new": [1, 1], "table": [9, 10], "expect": False}

    fault = vectors.check_comparison(case)
    assert fault == "C0: [1, 1] on [9, 10] is true, expected false"
    assert vectors.check({**DOCUMENT, "compare": [case]}) == [fault]


def test_a_refusal_that_was_not_expected_is_reported():
    (refused,) = [case for case in DOCUMENT["transitions"] if case["id"] == "T07"]

    fault = vectors.check_transition({**refused, "expect": {"chips": refused["chips"]}})
    assert fault == "T07: refused with NO_ACTIVE_SET, expected to be accepted"


def test_a_refused_case_may_state_what_has_not_changed():
    (refused,) = [case for case in DOCUMENT["transitions"] if case["id"] == "T07"]
    expect = {"error": "NO_ACTIVE_SET", "hands": refused["hands"], "turn": refused["turn"]}

    assert vectors.check_transition({**refused, "expect": expect}) is None
    assert vectors.check_transition({**refused, "expect": {**expect, "turn": 9}}) is not None


def test_another_format_is_refused():
    with pytest.raises(ValueError, match="format"):
        vectors.check({"format": "other/1", "compare": [], "transitions": []})


def test_a_case_that_is_none_is_named():
    case = {**DOCUMENT["transitions"][0], "players": 4}

    assert vectors.check({**DOCUMENT, "transitions": [case, 1]}) == [
        "T01: this is no case of the format",
        "transitions[1]: this is no case of the format",
    ]


@pytest.mark.parametrize("wrong", [None, {}, "x"])
def test_lists_that_are_none_are_refused(wrong):
    with pytest.raises(ValueError, match="compare is not a list"):
        vectors.check({**DOCUMENT, "compare": wrong})


def test_an_unexpected_refusal_is_named():
    case = next(c for c in DOCUMENT["transitions"] if "error" not in c["expect"])
    wrong = {**case, "actions": [{**case["actions"][0], "more": 1}]}

    assert "refused with INVALID_INPUT" in str(vectors.check_transition(wrong))


def test_the_whole_document_agrees():
    assert vectors.check(DOCUMENT) == []
