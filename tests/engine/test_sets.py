"""What is a set and which is stronger (rules: Show)."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.notation import parse_cards
from engine.sets import NO_STRENGTH, SetAt, SetKind, kind_of, sets_in, sets_with, strength, tops_of

hands = st.lists(st.integers(1, 10), max_size=20) | st.lists(st.integers(4, 6), max_size=12)
tables = st.sampled_from(
    [[], [1], [10], [4, 5], [9, 8], [3, 3], [1, 2, 3], [7, 7, 7], [2, 3, 4, 5]]
)


@pytest.mark.parametrize(
    ("tops", "kind"),
    [
        ([5], SetKind.SINGLE),
        ([3, 3], SetKind.MATCHING),
        ([1, 1, 1, 1], SetKind.MATCHING),
        ([9, 10], SetKind.CONSECUTIVE),
        ([5, 4, 3], SetKind.CONSECUTIVE),
        ([], None),
        ([3, 4, 3], None),
        ([10, 1], None),
        ([1, 10], None),
        ([3, 5], None),
        ([3, 3, 4], None),
        ([3, 4, 4], None),
        ([4, 6, 5], None),
    ],
)
def test_kind(tops, kind):
    assert kind_of(tops) is kind


def test_more_cards_then_matching_then_the_smallest_number():
    ascending = [[], [1], [10], [1, 2], [9, 10], [1, 1], [10, 10], [3, 2, 1], [8, 9, 10], [1, 1, 1]]

    assert all(strength(weak) < strength(strong) for weak, strong in pairwise(ascending))


def test_direction_does_not_count():
    assert strength([3, 4, 5]) == strength([5, 4, 3])


def test_no_set_has_no_strength():
    assert strength([3, 5]) == strength([]) == NO_STRENGTH


def test_tops_are_the_numbers_that_count():
    assert tops_of(parse_cards("3/10 10/3 1/2")) == [3, 10, 1]


def brute_force(tops, beating):
    """Every set, by trying each stretch of the hand."""
    for first in range(len(tops)):
        for size in range(1, len(tops) - first + 1):
            shown = tops[first : first + size]
            kind = kind_of(shown)
            if kind is not None and strength(shown) > beating:
                yield SetAt(first, size, kind, strength(shown))


@settings(max_examples=60)
@given(tops=hands, table=tables)
def test_sets_in_finds_every_stronger_set_once(tops, table):
    beating = strength(table)

    assert sorted(sets_in(tops, beating)) == sorted(brute_force(tops, beating))


@settings(max_examples=60)
@given(tops=hands.filter(bool), table=tables, at=st.integers(0, 19))
def test_sets_with_finds_those_that_hold_a_card(tops, table, at):
    beating, at = strength(table), at % len(tops)
    holding = [s for s in sets_in(tops, beating) if s.first <= at < s.first + s.size]

    assert sorted(sets_with(tops[:at] + tops[at + 1 :], tops[at], at, beating)) == sorted(holding)
