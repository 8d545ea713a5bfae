"""What the house owes a match in each of its states."""

# mypy: disable-error-code="union-attr"

from dataclasses import replace

import pytest

from engine.due import BotToAct, ClockToExpire, RoundToScore, due, to_act
from engine.state import Seat, SeatKind, Status
from tests.builders import play_out, position, with_round

HANDS = "1/2 | 3/4 | 5/6"


def with_bot(match, seat):
    seats = list(match.seats)
    seats[seat] = Seat(SeatKind.BOT, "Bo", "casual")
    return replace(match, seats=tuple(seats))


@pytest.mark.parametrize("status", [Status.LOBBY, Status.FINISHED, Status.ABANDONED])
def test_nothing_outside_play(status):
    match = replace(position(HANDS, status=status), deadline=5)

    assert due(with_bot(match, 0)) is None
    assert to_act(match) == []
    assert due(replace(match, round=None)) is None


def test_an_ended_round_is_to_be_scored():
    assert due(position(HANDS, status=Status.SCORING, turn=None)) == RoundToScore()


def test_a_bot_whose_turn_it_is():
    assert due(with_bot(position(HANDS, turn=1), 1)) == BotToAct(1, "casual")


def test_a_person_whose_turn_it_is_has_until_the_deadline():
    match = with_bot(position(HANDS, turn=2), 1)

    assert due(match) is None
    assert due(replace(match, deadline=5)) == ClockToExpire(2, 5)


def test_bots_choose_before_the_clock_of_people():
    match = replace(position(HANDS, status=Status.CHOOSING, turn=None), deadline=5)

    assert due(match) == ClockToExpire(0, 5)
    assert due(with_bot(match, 2)) == BotToAct(2, "casual")


def test_who_has_chosen_is_not_waited_for():
    match = replace(position(HANDS, status=Status.CHOOSING, turn=None), deadline=5)
    match = with_round(match, chosen=(True, False, True))

    assert to_act(match) == [1]
    assert due(with_bot(match, 2)) == ClockToExpire(1, 5)


def test_a_match_of_bots_always_has_something_due_until_it_is_over():
    *before, last = [match for _, match in play_out(4, 3)]

    assert all(due(match) for match in before)
    assert due(last) is None
