"""What each viewer is shown."""

# mypy: disable-error-code="union-attr"

from dataclasses import replace

import pytest

from engine import events as e
from engine.actions import End
from engine.decide import decide
from engine.evolve import fold
from engine.notation import parse_card, parse_cards
from engine.sets import SetKind
from engine.state import Ending, RoundEnd, SeatKind, Status
from engine.views import (
    ChoiceMade,
    RoundDealt,
    ScoutedCard,
    SeatGoneAway,
    SeatLeft,
    SeatTaken,
    ShownSet,
    TurnRanOut,
    redact,
    view,
)
from tests.builders import all_events, create, play_out, position, with_round

CARD = parse_card("3/10")


def test_a_player_sees_the_own_hand_and_the_sizes_of_the_others():
    match = position("1/2 3/4 | 5/6 | 7/8 8/9 9/10", table="2/1 2/3", owner=2)

    seen = view(match, 0)
    assert (seen.you.seat, seen.you.hand) == (0, parse_cards("1/2 3/4"))
    assert [seat.hand_size for seat in seen.seats] == [2, 1, 3]
    assert (seen.round.table, seen.round.owner) == (parse_cards("2/1 2/3"), 2)


def test_a_spectator_sees_no_hand_and_all_else():
    match = position("1/2 3/4 | 5/6 | 7/8")

    assert view(match, None) == replace(view(match, 1), you=None)


@pytest.mark.parametrize("seat", [-1, 3])
def test_there_is_no_view_from_a_seat_that_is_not_there(seat):
    with pytest.raises(ValueError, match="seat"):
        view(position("1/2 | 3/4 | 5/6"), seat)


def test_the_join_code_is_for_those_seated_and_for_the_host():
    match = fold(None, decide(None, create(3), 0))

    assert view(match, 2).join_code == "CODE"
    assert view(match, None, host=True) == replace(view(match, None), join_code="CODE")
    assert view(match, None).join_code is None
    assert "CODE" not in repr(view(match, 2))


def test_a_lobby_has_no_round_and_empty_hands():
    match = fold(None, decide(None, create(3), 0)[:1])

    seen = view(match, 1)
    assert (seen.status, seen.round, seen.you.hand) == (Status.LOBBY, None, ())
    assert [seat.hand_size for seat in seen.seats] == [0, 0, 0]
    assert not any(seat.scout_and_show_available for seat in seen.seats)


def test_scout_and_show_is_there_once_and_never_for_two():
    three = view(position("1/2 | 3/4 | 5/6", spent=(True, False, False)), 0)
    two = view(position("1/2 | 3/4"), 0)

    assert [seat.scout_and_show_available for seat in three.seats] == [False, True, True]
    assert [seat.scout_and_show_available for seat in two.seats] == [False, False]


def test_a_finished_match_shows_winners_scores_and_the_last_result():
    match = play_out(3, 1)[-1][1]

    seen = view(match, None)
    assert seen.winners == match.winners
    assert tuple(seat.score for seat in seen.seats) == match.scores
    assert seen.round.result == match.round.result
    assert seen.round_count == 3


@pytest.mark.parametrize(
    ("event", "public"),
    [
        (e.PlayerJoined(1, "Ann", "p1", "salt"), SeatTaken(1, "Ann")),
        (e.SeatFilled(1, "Bot 2", "regular"), SeatTaken(1, "Bot 2")),
        (e.PlayerLeft(1, "regular", "p2"), SeatLeft(1)),
        (e.HandsDealt(2, 1, ((CARD,),), (0,)), RoundDealt(2, 1)),
        (e.TurnExpired(1, 2), TurnRanOut(1)),
        (e.SeatHandedToBot(1, "regular"), SeatGoneAway(1)),
        (e.HandChosen(1, flip=True, turn=None), ChoiceMade(1)),
        (
            e.SetShown(1, 4, (CARD,), SetKind.SINGLE, 2, 0),
            ShownSet(1, (CARD,), SetKind.SINGLE, 2),
        ),
        (
            e.CardScouted(1, End.LEFT, CARD, 0, 4, flip=True, chips=(1, 0), and_show=False, turn=0),
            ScoutedCard(1, End.LEFT, CARD, 0),
        ),
        (e.PlayEnded(Ending(RoundEnd.STUCK, 0)), None),
        (e.ClockStarted(5), None),
    ],
)
def test_what_everybody_learns_of_an_event(event, public):
    assert redact(event) == public


@pytest.mark.parametrize(
    "event",
    [
        e.MatchStarted(3),
        e.ClockRestarted(30),
        e.PlayerReturned(1),
        e.MatchFinished((0,), (1, 2)),
        e.MatchAbandoned("EVERYBODY_LEFT"),
    ],
)
def test_events_that_hide_nothing_are_told_as_they_are(event):
    assert redact(event) is event


def test_what_is_no_event_is_a_bug():
    with pytest.raises(AssertionError):
        redact("shown")  # type: ignore[arg-type]


def test_the_creation_is_not_told():
    created = all_events(play_out(3, 1, rounds=1))[0]

    assert redact(created) is None


def test_who_has_chosen_is_seen_and_who_sits_where():
    match = position("1/2 | 3/4 | 5/6", status=Status.CHOOSING, turn=None)
    match = with_round(match, chosen=(False, True, False))

    seen = view(match, None).seats
    assert [seat.has_chosen for seat in seen] == [False, True, False]
    assert [(seat.number, seat.kind, seat.name) for seat in seen] == [
        (n, SeatKind.PLAYER, f"P{n}") for n in range(3)
    ]
