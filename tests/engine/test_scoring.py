"""The sums of the rules, computed by hand (rules: Hand-computed)."""

import pytest

from engine.scoring import score_round, winners
from engine.state import Ending, RoundEnd, ScoreLine
from tests.builders import position, with_round


def scored(captured, chips, hand, *, ender=None):
    cards = " ".join(["1/2"] * hand)
    match = position(f"{cards} | 3/4 | 5/6", chips=(chips, 0, 0))
    round_ = with_round(match, captured=(captured, 0, 0)).round
    assert round_ is not None
    return score_round(round_, Ending(RoundEnd.ALL_SCOUTED, ender)).lines[0]


def test_captured_and_chips_less_the_hand():
    assert scored(2, 1, 5) == ScoreLine(0, 2, 1, 5, -2)


def test_the_ender_is_spared():
    assert scored(2, 5, 4, ender=0) == ScoreLine(0, 2, 5, 0, 7)


def test_without_an_ender_all_lose_their_hands():
    assert scored(3, 2, 4).total == 1


def test_chips_of_the_two_count_a_point_each():
    match = position("1/2 | 3/4 5/6", chips=(3, 1))

    assert match.round is not None
    result = score_round(match.round, Ending(RoundEnd.STUCK, 1))
    assert [line.total for line in result.lines] == [2, 1]


@pytest.mark.parametrize(
    ("totals", "best"), [([5, 5, -4], (0, 1)), ([-3, -1], (1,)), ([0, 0, 0, 0], (0, 1, 2, 3))]
)
def test_all_who_share_the_highest_total_win(totals, best):
    assert winners(totals) == best
