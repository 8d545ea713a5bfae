"""The clock of a turn and what happens when it runs out."""

# mypy: disable-error-code="union-attr"

import pytest

from engine.actions import Action, ChooseHand, End, Scout, Show
from engine.commands import ExpireTurn, LeaveMatch, ScoreRound
from engine.decide import decide
from engine.errors import Reason
from engine.events import (
    CardScouted,
    ClockStarted,
    HandChosen,
    HandsDealt,
    PlayEnded,
    SetShown,
    TurnExpired,
)
from engine.evolve import fold
from engine.legal import legal_actions
from engine.state import Status
from engine.views import view
from tests.builders import actors, create, refusal

NOW = 1_000_000
SECONDS = 30
DEADLINE = NOW + SECONDS * 1000


def dealt():
    return fold(None, decide(None, create(3, turn_seconds=SECONDS), NOW))


def chosen():
    match = dealt()
    for seat in range(3):
        match = fold(match, decide(match, ChooseHand(seat, flip=False), NOW))
    return match


def turn(match):
    return match.round.turn


def kinds(events):
    return [type(event) for event in events]


def test_without_turn_seconds_there_is_no_clock():
    match = fold(None, decide(None, create(3), NOW))

    assert match.deadline is None
    assert decide(match, ExpireTurn(ChooseHand(0, flip=False)), NOW + 10**9) == ()


def test_the_clock_starts_with_the_deal():
    *_, deal, clock = decide(None, create(3, turn_seconds=SECONDS), NOW)

    assert isinstance(deal, HandsDealt)
    assert clock == ClockStarted(DEADLINE)
    assert dealt().deadline == DEADLINE


def test_a_choice_leaves_the_clock_of_the_others_running():
    match = dealt()

    events = decide(match, ChooseHand(1, flip=True), NOW + 5)
    assert kinds(events) == [HandChosen]
    assert fold(match, events).deadline == DEADLINE


def test_the_last_choice_and_each_turn_start_it_anew():
    match = dealt()
    for seat in (0, 1):
        match = fold(match, decide(match, ChooseHand(seat, flip=False), NOW))

    events = decide(match, ChooseHand(2, flip=False), NOW + 7)
    assert kinds(events) == [HandChosen, ClockStarted]
    match = fold(match, events)
    shown = decide(match, Show(turn(match), 0, 1), NOW + 9)
    assert kinds(shown) == [SetShown, ClockStarted]
    match = fold(match, shown)
    assert match.deadline == DEADLINE + 9
    scouted = decide(match, Scout(turn(match), End.LEFT, 0, flip=False), NOW + 11)
    assert kinds(scouted) == [CardScouted, ClockStarted]
    assert fold(match, scouted).deadline == DEADLINE + 11


def test_it_stops_when_the_round_ends_and_starts_with_the_next():
    match = chosen()
    while match.status is Status.PLAYING:
        (seat,) = actors(match)
        events = decide(match, legal_actions(view(match, seat))[0], NOW)
        match = fold(match, events)

    assert isinstance(events[-1], PlayEnded)
    assert match.deadline is None
    assert fold(match, decide(match, ScoreRound(), NOW + 50)).deadline == DEADLINE + 50


def test_nothing_expires_before_the_deadline():
    match = chosen()
    show = ExpireTurn(Show(turn(match), 0, 1))

    assert decide(match, show, DEADLINE - 1) == ()
    assert kinds(decide(match, show, DEADLINE)) == [TurnExpired, SetShown, ClockStarted]


def test_choices_expire_one_after_the_other():
    match = dealt()

    for seat in range(3):
        events = decide(match, ExpireTurn(ChooseHand(seat, flip=False)), DEADLINE + seat)
        assert events[:2] == (TurnExpired(seat), HandChosen(seat, False, events[1].turn))
        match = fold(match, events)
    assert match.status is Status.PLAYING
    assert match.deadline == DEADLINE + 2 + SECONDS * 1000


def test_an_expiry_that_comes_too_late_does_nothing():
    match = chosen()
    seat = turn(match)
    stale: list[Action] = [
        Show((seat + 1) % 3, 0, 1),
        ChooseHand(seat, flip=False),
        Show(-1, 0, 1),
        Show(9, 0, 1),
    ]

    for action in stale:
        assert decide(match, ExpireTurn(action), DEADLINE) == ()


def test_a_choice_made_in_time_does_not_expire():
    match = dealt()
    match = fold(match, decide(match, ChooseHand(1, flip=True), NOW))

    for action in (ChooseHand(1, flip=False), ChooseHand(-1, flip=False), Show(0, 0, 1)):
        assert decide(match, ExpireTurn(action), DEADLINE) == ()


def test_the_action_for_an_expired_turn_must_be_legal():
    match = chosen()
    scout = Scout(turn(match), End.LEFT, 0, flip=False)

    assert refusal(match, ExpireTurn(scout), DEADLINE).reason is Reason.NO_ACTIVE_SET


@pytest.mark.parametrize("make", [dealt, chosen])
def test_the_house_expires_a_bot_like_a_player(make):
    match = make()

    seat = actors(match)[0]
    action = legal_actions(view(match, seat))[0]
    assert decide(match, ExpireTurn(action), DEADLINE)[0] == TurnExpired(seat)


def test_somebody_who_leaves_does_not_restart_the_clock():
    match = fold(None, decide(None, create(3, turn_seconds=SECONDS), NOW))

    assert refusal(match, LeaveMatch("nobody"), DEADLINE).reason is Reason.NOT_SEATED
    assert match.deadline == DEADLINE
