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


def test_another_format_is_refused():
    with pytest.raises(ValueError, match="format"):
        vectors.check({"format": "other/1", "compare": [], "transitions": []})


def test_the_whole_document_agrees():
    assert vectors.check(DOCUMENT) == []
