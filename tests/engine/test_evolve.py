"""Folding logs, and logs that are damaged."""

# mypy: disable-error-code="union-attr"

import pytest

from engine.decide import decide
from engine.events import (
    CardScouted,
    HandChosen,
    MatchAbandoned,
    MatchCreated,
    PlayEnded,
    RoundEnded,
    SetShown,
    TurnExpired,
)
from engine.evolve import evolve, fold, inserted
from engine.notation import parse_cards
from engine.state import Status
from tests.builders import all_events, create, play_out, position

EVENTS = all_events(play_out(3, 1))


def first_of(kind):
    return next(event for event in EVENTS if isinstance(event, kind))


def test_a_log_without_events():
    with pytest.raises(ValueError, match="nothing"):
        fold(None, [])


def test_no_events_change_nothing():
    match = position("1/2 | 3/4")

    assert fold(match, []) is match


def test_a_log_begins_with_the_creation():
    with pytest.raises(ValueError, match="creation"):
        fold(None, EVENTS[1:])


def test_a_log_has_one_creation():
    with pytest.raises(ValueError, match="once"):
        fold(None, [EVENTS[0], EVENTS[0]])


@pytest.mark.parametrize("kind", [HandChosen, SetShown, CardScouted, PlayEnded, RoundEnded])
def test_play_needs_a_round(kind):
    created = fold(None, decide(None, create(3), 0)[:1])

    with pytest.raises(ValueError, match="without a round"):
        evolve(created, first_of(kind))


def test_what_is_no_event_is_a_bug():
    with pytest.raises(AssertionError):
        evolve(position("1/2 | 3/4"), "shown")  # type: ignore[arg-type]


def test_an_expired_turn_is_a_note_only():
    match = position("1/2 | 3/4")

    assert evolve(match, TurnExpired(0)) == match


def test_an_abandoned_match_is_over():
    assert evolve(position("1/2 | 3/4"), MatchAbandoned("X")).status is Status.ABANDONED
    assert isinstance(EVENTS[0], MatchCreated)


@pytest.mark.parametrize(
    ("gap", "hand"), [(0, "9/9 1/2 3/4"), (1, "1/2 9/9 3/4"), (2, "1/2 3/4 9/9")]
)
def test_gaps(gap, hand):
    card = parse_cards("9/1")[0]
    expected = parse_cards(hand.replace("9/9", "9/1"))

    assert inserted(parse_cards("1/2 3/4"), card, gap) == expected
