"""Advice: legal, from what the seat may know, and with reasons that are true."""

# mypy: disable-error-code="union-attr, arg-type"

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.actions import ChooseHand, End, Scout, ScoutAndShow, Show
from engine.bots import LEVELS, Level
from engine.bots.advice import advise, reason
from engine.bots.sight import known
from engine.cards import PLAYER_COUNTS, Card
from engine.decide import decide
from engine.events import Event
from engine.scoring import score_round
from engine.sets import SetKind
from engine.state import Status
from engine.views import ScoutedCard, ShownSet, history, view
from tests.builders import actors, exchanged, play_out, position

costly = settings(max_examples=2)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("players", PLAYER_COUNTS)
@costly
@given(seed=st.integers(0, 2**32 - 1))
def test_advice_is_legal_begins_with_what_the_level_does_and_knows_no_more(level, players, seed):
    chance = Random(seed)
    log: list[Event] = []
    for n, (events, match) in enumerate(play_out(players, seed, rounds=1)):
        log += events
        for seat in actors(match) if n % 4 == 0 else []:
            seen, told = view(match, seat), history(log)
            advice = advise(seen, told, level)

            for one in advice:
                assert decide(match, one.action, 0)
                assert one.reason.endswith(".")
                assert one.win is None or 0 <= one.win <= 1
            if level != "casual":  # which errs now and then
                assert advice[0].action == LEVELS[level].action(seen, told, seed)
            other = exchanged(match, seat, chance, told)
            assert advise(view(other, seat), told, level) == advice


@pytest.mark.parametrize("seat", [None, 1])
def test_out_of_turn_there_is_nothing_to_advise(seat):
    with pytest.raises(ValueError, match="nothing to do"):
        advise(view(position("1/2 | 3/4 | 5/6"), seat), (), "expert")


MATCH = position("4/1 5/2 9/3 9/8 | 3/4 | 5/6", table="6/1 6/9", owner=2, scouts=1)


def sentence(action, match=MATCH, told=()):
    return reason(view(match, 0), known(told, match.players), action)


def test_reasons_written_out():
    assert sentence(Show(0, 2, 2)) == (
        "Shows matching 9-9, captures 2 cards and leaves 2 cards in hand."
    )
    assert sentence(Scout(0, End.LEFT, 2, flip=False)) == (
        "Takes the 6, making the run 4-5-6; P2 gets a scout chip, and the round ends."
    )
    assert sentence(Scout(0, End.RIGHT, 4, flip=True)) == (
        "Takes the 9, making matching 9-9-9; P2 gets a scout chip, and the round ends."
    )
    assert sentence(Scout(0, End.LEFT, 0, flip=True)) == (
        "Takes the 1, where it goes with nothing yet; P2 gets a scout chip, and the round ends."
    )
    assert sentence(ScoutAndShow(0, End.LEFT, 2, flip=False, first=0, count=3)) == (
        "Takes the 6 to show with. Shows the run 4-5-6, captures 1 card and leaves 2 cards in hand."
    )


def test_a_scouted_card_that_is_not_shown_is_not_said_to_be():
    action = ScoutAndShow(0, End.LEFT, 4, flip=False, first=2, count=2)

    assert sentence(action) == (
        "Takes the 6 so that less is to be beaten. "
        "Shows matching 9-9, captures 1 card and leaves 3 cards in hand."
    )


def test_reasons_of_other_positions():
    choosing = position("4/1 5/2 9/3 | 3/4 | 5/6", status=Status.CHOOSING, turn=None)
    two = position("4/1 | 3/4", table="5/6", owner=1, chips=(1, 3))

    assert sentence(ChooseHand(0, flip=False), choosing) == (
        "As dealt, the run 4-5 is the strongest set."
    )
    assert sentence(ChooseHand(0, flip=True), choosing) == (
        "Flipped, the run 1-2-3 is the strongest set."
    )
    assert sentence(Show(0, 0, 1), position("4/1 | 3/4")) == "Shows 4 and empties the hand."
    assert sentence(Scout(0, End.LEFT, 1, flip=False), two) == (
        "Takes the 5, making the run 4-5; it costs a scout chip."
    )


def test_who_is_known_to_beat_a_single_is_told():
    told = (
        ShownSet(2, (Card(10, 8),), SetKind.SINGLE, 0),
        ScoutedCard(1, End.LEFT, Card(10, 8), 2),
    )
    match = position("9/1 4/2 | 8/10 3/4 | 5/6 2/3")

    assert sentence(Show(0, 0, 1), match, told) == (
        "Shows 9 and leaves 1 card in hand. P1 is known to hold the card 8/10."
    )
    assert sentence(Show(0, 0, 1), match) == "Shows 9 and leaves 1 card in hand."


def test_a_spectator_gets_no_reasons():
    with pytest.raises(ValueError, match="nothing to do"):
        reason(view(MATCH, None), known((), 3), Show(0, 0, 1))


def test_a_level_without_a_ranking_gives_no_advice(monkeypatch):
    monkeypatch.setitem(LEVELS, "mine", Level("mine", "Mine.", 1, lambda *_: None))

    with pytest.raises(ValueError, match="gives no advice"):
        advise(view(MATCH, 0), (), "mine")


def test_what_is_expected_is_right_on_the_whole():
    """Over many positions the mean of what is expected is the mean of what came."""
    expected, came = [], []
    for seed in range(30):
        log: list[Event] = []
        found = []
        for events, match in play_out(4, seed, regular, rounds=1):
            log += events
            for seat in actors(match)[:1]:
                advice = advise(view(match, seat), history(log), "regular", first=1)
                found.append((seat, advice[0].points))
        lines = [line.total for line in score_round(match.round, match.round.ending).lines]
        for seat, points in found:
            expected.append(points)
            came.append(lines[seat] - (sum(lines) - lines[seat]) / 3)

    assert abs(sum(expected) / len(expected) - sum(came) / len(came)) < 1


def regular(match, seat, _):
    return LEVELS["regular"].action(view(match, seat), (), 0)
