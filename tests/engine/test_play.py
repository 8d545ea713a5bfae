"""Rules of one action that the shared vectors do not reach (rules: all sections)."""

# mypy: disable-error-code="union-attr"

from dataclasses import replace
from types import SimpleNamespace

import pytest

from engine.actions import ChooseHand, End, Scout, ScoutAndShow, Show
from engine.commands import ScoreRound
from engine.decide import decide
from engine.errors import Reason, RuleError
from engine.events import CardScouted, SetShown
from engine.evolve import evolve, fold
from engine.notation import parse_cards
from engine.play import play
from engine.rules import CURRENT, VERSIONS, Rules, rules_of
from engine.sets import SetKind
from engine.state import Ending, RoundEnd, Status
from tests.builders import position, refusal, with_round

SHOW = Show(0, 0, 1)
LIMIT = rules_of(CURRENT).action_limit
SCOUT = Scout(0, End.LEFT, 0, flip=False)


def after(match, *actions):
    for action in actions:
        match = fold(match, decide(match, action, 0))
    return match


def ending(match, *actions):
    return after(match, *actions).round.ending


@pytest.mark.parametrize("status", [Status.LOBBY, Status.CHOOSING, Status.SCORING])
def test_no_play_outside_the_phase_of_play(status):
    assert refusal(position("1/2 | 3/4", status=status), SHOW).reason is Reason.WRONG_PHASE


@pytest.mark.parametrize("action", [SHOW, ChooseHand(0, flip=True)])
@pytest.mark.parametrize("status", [Status.FINISHED, Status.ABANDONED])
def test_no_action_once_the_match_is_over(action, status):
    assert refusal(position("1/2 | 3/4", status=status), action).reason is Reason.MATCH_OVER


def test_no_action_before_a_round_is_dealt():
    match = replace(position("1/2 | 3/4", status=Status.PLAYING), round=None)

    assert refusal(match, SHOW).reason is Reason.WRONG_PHASE


def test_an_unknown_seat_is_bad_input_even_when_the_match_is_over():
    match = position("1/2 | 3/4", status=Status.FINISHED)

    assert refusal(match, Show(2, 0, 1)).reason is Reason.INVALID_INPUT
    assert refusal(match, Show(-1, 0, 1)).field == "seat"


@pytest.mark.parametrize(
    ("action", "field"),
    [
        (Show(0, -1, 1), "first"),
        (Show(0, 2, 1), "first"),
        (Show(0, 0, 0), "count"),
        (Show(0, 1, 2), "count"),
        (Show(0, 0, -1), "count"),
    ],
)
def test_a_range_names_the_field_at_fault(action, field):
    refused = refusal(position("1/2 3/4 | 5/6 | 7/8"), action)

    assert (refused.reason, refused.field) == (Reason.BAD_RANGE, field)


def test_a_gap_names_its_field():
    match = position("1/2 | 5/6 | 7/8", table="9/10", owner=1)

    refused = refusal(match, Scout(0, End.LEFT, 2, flip=False))
    assert (refused.reason, refused.field) == (Reason.BAD_INSERTION, "insertAt")


def test_own_set():
    match = position("1/2 | 5/6 | 7/8", table="9/10", owner=0)

    assert refusal(match, SCOUT).reason is Reason.OWN_SET
    assert refusal(match, ScoutAndShow(0, End.LEFT, 0, False, 0, 1)).reason is Reason.OWN_SET


@pytest.mark.parametrize(
    ("match", "reason"),
    [
        (position("1/2 | 5/6", table="9/10", owner=1, chips=(3, 3)), "SCOUT_AND_SHOW_UNAVAILABLE"),
        (position("1/2 | 5/6 | 7/8", spent=(True, False, False)), "SCOUT_AND_SHOW_SPENT"),
        (position("1/2 | 5/6 | 7/8"), "NO_ACTIVE_SET"),
        (position("1/2 | 5/6 | 7/8", table="9/10", owner=0), "OWN_SET"),
        (position("1/2 | 5/6 | 7/8", table="9/10", owner=1), "BAD_INSERTION"),
    ],
)
def test_scout_and_show_is_checked_in_order(match, reason):
    everything_wrong = ScoutAndShow(0, End.LEFT, 9, flip=False, first=9, count=9)

    assert refusal(match, everything_wrong).reason == reason


def test_order_of_checks_in_scout_and_show_then_show():
    match = position("1/2 4/5 | 5/6 | 7/8", table="9/10 8/10", owner=1)

    def refused(first, count):
        return refusal(match, ScoutAndShow(0, End.LEFT, 0, False, first, count)).reason

    assert refused(2, 2) is Reason.BAD_RANGE
    assert refused(0, 2) is Reason.NOT_A_SET
    assert refused(1, 1) is Reason.SET_TOO_LOW


def test_no_chips_comes_before_the_gap():
    match = position("1/2 | 5/6", table="9/10", owner=1, chips=(0, 0))

    assert refusal(match, Scout(0, End.LEFT, 9, flip=False)).reason is Reason.NO_CHIPS


def test_what_a_show_is_remembered_as():
    match = position("7/2 7/4 1/3 | 5/6 | 8/9", table="6/5 6/1", owner=2)

    assert decide(match, Show(0, 0, 2), 0) == (
        SetShown(0, 0, parse_cards("7/2 7/4"), SetKind.MATCHING, captured=2, turn=1),
    )


def test_what_a_scout_is_remembered_as():
    match = position("7/2 | 5/6 | 8/9", table="6/5 6/1", owner=2)

    (event,) = decide(match, Scout(0, End.RIGHT, 1, flip=True), 0)
    assert event == CardScouted(
        0, End.RIGHT, parse_cards("6/1")[0], 2, 1, True, (0, 0, 1), and_show=False, turn=1
    )
    assert evolve(match, event).round.hands[0] == parse_cards("7/2 1/6")


def test_scout_and_show_is_two_events_and_one_action():
    match = position("7/2 1/3 | 5/6 | 8/9", table="6/5", owner=2, scouts=1)

    events = decide(match, ScoutAndShow(0, End.LEFT, 0, flip=False, first=0, count=2), 0)
    assert [type(event) for event in events] == [CardScouted, SetShown]
    r = fold(match, events).round
    assert (r.actions, r.scouts_in_a_row, r.turn, r.owner) == (1, 0, 1, 0)
    assert r.scout_and_show_spent == (True, False, False)
    assert r.captured == (0, 0, 0)


def test_what_is_left_of_a_set_counts():
    match = position("9/1 | 7/2 2/1 | 8/9", table="5/1 6/1", owner=2, turn=0)

    assert after(match, SCOUT, Show(1, 0, 1)).round.table == parse_cards("7/2")


def test_scouts_in_a_row_end_the_round_for_the_last_shower():
    match = position("1/2 | 3/4 | 8/9 7/1", table="5/6 5/7 5/8", owner=2, scouts=1)

    assert ending(match, SCOUT) == Ending(RoundEnd.ALL_SCOUTED, 2)


def test_the_last_scout_may_empty_the_table():
    match = position("1/2 | 3/4 | 8/9 7/1", table="5/6", owner=2, scouts=1)

    ended = after(match, SCOUT)
    assert ended.round.table == ()
    assert ended.round.ending == Ending(RoundEnd.ALL_SCOUTED, 2)
    lines = fold(ended, decide(ended, ScoreRound(), 0)[:1]).round.result.lines
    assert [line.hand_penalty for line in lines] == [2, 1, 0]


def test_the_ruling_on_the_dry_table_is_one_of_the_rules(monkeypatch):
    monkeypatch.setitem(VERSIONS, "other", Rules("other", 1000, dry_table_ends_round=False))
    match = replace(
        position("1/2 | 3/4 | 8/9 7/1", table="5/6", owner=2, scouts=1), rules_version="other"
    )

    assert ending(match, SCOUT) is None
    assert ending(with_round(match, table=parse_cards("5/6 5/7")), SCOUT)


def test_a_set_that_runs_dry_early_makes_the_next_show():
    match = position("1/2 | 3/4 | 8/9 | 7/1", table="5/6", owner=3, turn=0)

    dry = after(match, SCOUT)
    assert dry.round.ending is None
    assert refusal(dry, Scout(1, End.LEFT, 0, flip=False)).reason is Reason.NO_ACTIVE_SET
    shown = after(dry, Show(1, 0, 1))
    assert shown.round.ending == Ending(RoundEnd.HAND_EMPTIED, 1)


def test_a_scout_and_show_as_the_last_of_the_scouts_does_not_end_the_round():
    match = position("1/2 9/1 | 3/4 | 8/9 7/1", table="5/6 6/7", owner=2, scouts=1)

    shown = after(match, ScoutAndShow(0, End.LEFT, 0, flip=False, first=2, count=1))
    assert shown.round.ending is None
    assert shown.round.scouts_in_a_row == 0


def test_an_emptied_hand_comes_before_a_stuck_opponent():
    match = position("9/1 | 3/4", chips=(0, 0))

    assert ending(match, SHOW) == Ending(RoundEnd.HAND_EMPTIED, 0)


def test_stuck_after_ones_own_last_chip():
    match = position("1/2 | 3/4", table="9/5 9/6 9/7", owner=1, chips=(1, 0))

    scouted = after(match, Scout(0, End.LEFT, 1, flip=False))
    assert scouted.round.ending == Ending(RoundEnd.STUCK, 1)
    assert scouted.round.chips == (0, 0)


def test_not_stuck_with_a_chip_or_a_show_or_an_empty_table():
    low = position("1/2 | 3/4", table="9/5 9/6 9/7", owner=1, chips=(2, 0))
    strong = position("10/2 | 3/4", table="9/5 9/6", owner=1, chips=(1, 0))
    dry = position("1/2 | 3/4", table="9/5", owner=1, chips=(1, 0))

    assert ending(low, SCOUT) is None
    assert ending(strong, Scout(0, End.LEFT, 0, flip=False)) is None
    assert ending(dry, SCOUT) is None


@pytest.mark.parametrize(
    "action", [Show(0, 0, 2), SCOUT, ScoutAndShow(0, End.LEFT, 0, False, 1, 1)]
)
def test_the_round_ends_at_the_action_limit_without_an_ender(action):
    match = position("7/1 8/2 1/2 | 3/4 | 8/9", table="6/2 5/3", owner=2)

    assert ending(with_round(match, actions=LIMIT - 2), action) is None
    assert ending(with_round(match, actions=LIMIT - 1), action) == Ending(
        RoundEnd.ACTION_LIMIT, None
    )


def test_another_end_comes_before_the_action_limit():
    emptied = with_round(position("7/1 | 3/4 | 8/9"), actions=LIMIT - 1)
    scouted = with_round(
        position("1/2 | 3/4 | 8/9", table="5/6", owner=2, scouts=1), actions=LIMIT - 1
    )

    assert ending(emptied, SHOW) == Ending(RoundEnd.HAND_EMPTIED, 0)
    assert ending(scouted, SCOUT) == Ending(RoundEnd.ALL_SCOUTED, 2)


def test_nobody_is_spared_at_the_action_limit():
    match = after(with_round(position("7/1 8/2 | 3/4 | 8/9"), actions=LIMIT - 1), SHOW)

    ended, *_ = decide(match, ScoreRound(), 0)
    assert ended.result.ender is None
    assert [line.total for line in ended.result.lines] == [-1, -1, -1]


def test_five_players_scout_an_opening_run_away():
    match = position(
        "1/2 2/3 3/4 4/5 9/1 | 5/6 | 5/7 | 5/8 | 6/7",
        turn=0,
    )
    actions = [Show(0, 0, 4)] + [Scout(seat, End.LEFT, 0, flip=False) for seat in (1, 2, 3, 4)]

    ended, *_ = decide(after(match, *actions), ScoreRound(), 0)
    assert ended.result.reason is RoundEnd.ALL_SCOUTED
    assert [line.total for line in ended.result.lines] == [4, -2, -2, -2, -2]


def test_impossible_positions_are_damage_not_refusals():
    ownerless = position("1/2 | 3/4 | 5/6", table="9/10", owner=None)

    with pytest.raises(ValueError, match="owner"):
        decide(ownerless, SCOUT, 0)


def test_what_is_no_action_is_a_bug():
    with pytest.raises(AssertionError):
        play(position("1/2 | 3/4"), SimpleNamespace(seat=0))  # type: ignore[arg-type]


def test_a_refusal_says_why_in_a_sentence():
    assert str(RuleError(Reason.NO_CHIPS)) == "You have no scout chip left, so show a set."
    assert str(RuleError(Reason.NO_CHIPS, None, "Other.")) == "Other."
