"""People who go: seats handed to bots for a while, matches that nobody plays any more."""

# mypy: disable-error-code="union-attr"

from dataclasses import replace
from functools import partial

import pytest

from engine.actions import ChooseHand
from engine.audit import audit
from engine.bots import quick_action
from engine.chain import hashes
from engine.codec import decode_event, encode_event
from engine.commands import (
    AbandonMatch,
    CancelMatch,
    CreateMatch,
    ExpireTurn,
    JoinMatch,
    LeaveMatch,
    PlayForAway,
    RestartClock,
    ReturnToMatch,
    ScoreRound,
)
from engine.decide import decide
from engine.due import BotToAct, ClockToExpire, MatchToAbandon, RoundToScore, due, to_act
from engine.errors import Reason
from engine.events import (
    ClockKept,
    ClockRestarted,
    ClockStarted,
    MatchAbandoned,
    MatchDeserted,
    PlayerLeft,
    PlayerReturned,
    SeatHandedToBot,
    TurnExpired,
)
from engine.evolve import fold
from engine.legal import legal_actions
from engine.lobby import AWAY_AFTER, EVERYBODY_LEFT, NOBODY_RETURNED, SUBSTITUTE_LEVEL
from engine.replay import document
from engine.state import Match, Seat, SeatKind, Status, Visibility
from engine.views import view
from tests.builders import SECRET, refusal

ANN = Seat(SeatKind.PLAYER, "Ann", player_id="ann", entropy="salt")
BOB = Seat(SeatKind.PLAYER, "Bob", player_id="bob")
BOT = Seat(SeatKind.BOT, "Bo", "casual")
SECONDS = 30


class Game:
    """A match, its log, and a clock that is at the deadline whenever one is to run out."""

    def __init__(self, *seats: Seat, turn_seconds: int | None = SECONDS) -> None:
        self.now = 1000
        opened = tuple(Seat(SeatKind.OPEN) if seat is BOB else seat for seat in seats)
        command = CreateMatch(
            "m", opened, Visibility.PUBLIC, "ann", SECRET, "CODE", turn_seconds=turn_seconds
        )
        self.log = [decide(None, command, self.now)]
        self.match: Match = fold(None, self.log[0])
        if BOB in seats:
            self.do(JoinMatch("bob", "Bob", may_enter=True))

    def do(self, command):
        events = decide(self.match, command, self.now)
        self.match = fold(self.match, events)
        self.log.append(events)
        return events

    def house(self):
        """Do what the house owes; what it was and what happened."""
        owed = due(self.match)
        match owed:
            case BotToAct(seat=seat):
                action = quick_action(view(self.match, seat))
                command = PlayForAway(action) if self.match.seats[seat].away else action
                return owed, self.do(command)
            case RoundToScore():
                return owed, self.do(ScoreRound())
            case ClockToExpire(seat=seat):
                self.now = owed.deadline
                return owed, self.do(ExpireTurn(quick_action(view(self.match, seat))))
            case MatchToAbandon():
                return owed, self.do(AbandonMatch())
        raise AssertionError("nothing is owed")

    def until(self, kind):
        """Let the house go on until such an event has happened; the events of that commit."""
        while True:
            _, events = self.house()
            if any(isinstance(event, kind) for event in events):
                return events

    def move(self, seat):
        return self.do(legal_actions(view(self.match, seat))[0])

    def turn_of(self, seat):
        """Let everybody else move until the seat is to play."""
        while to_act(self.match) != [seat]:
            if self.match.status is Status.SCORING:
                self.do(ScoreRound())
            else:
                self.move(next(other for other in to_act(self.match) if other != seat))


def away_of_two():
    """Bob is away, Ann moves whenever she is to."""
    game = Game(ANN, BOB, BOT)
    while not game.match.seats[1].away:
        if 0 in to_act(game.match):
            game.move(0)
        else:
            game.house()
    return game


def test_the_third_turn_in_a_row_that_runs_out_hands_the_seat_to_a_bot():
    game = away_of_two()

    expired = [e for events in game.log for e in events if isinstance(e, TurnExpired)]
    assert [(e.seat, e.in_a_row) for e in expired] == [(1, 1), (1, 2), (1, 3)]
    *_, handed, clock = game.log[-1]
    assert handed == SeatHandedToBot(1, SUBSTITUTE_LEVEL)
    assert clock == ClockStarted(game.now + 1000 * SECONDS)
    seat = game.match.seats[1]
    assert replace(seat, expired=0, substitute=None) == BOB
    assert [s.away for s in view(game.match, None).seats] == [False, True, False]


def test_a_turn_played_in_time_begins_the_count_anew():
    game = Game(ANN, BOB, BOT)

    for turn in range(10):
        game.turn_of(1)
        if turn % AWAY_AFTER == AWAY_AFTER - 1:
            assert game.move(1)[0] == ClockKept(1)
            assert game.match.seats[1].expired == 0
        else:
            assert isinstance(due(game.match), ClockToExpire)
            game.house()
            assert game.match.seats[1].expired == turn % AWAY_AFTER + 1
    assert not game.match.seats[1].away


def test_the_house_plays_at_once_for_who_is_away_and_waits_for_others():
    game = away_of_two()
    played = 0

    while not game.match.status.over:
        if 0 in to_act(game.match):
            game.move(0)
        else:
            owed, events = game.house()
            if owed == BotToAct(1, SUBSTITUTE_LEVEL):
                played += 1
                assert not any(isinstance(e, TurnExpired | PlayerReturned) for e in events)
    assert game.match.status is Status.FINISHED
    assert played > 3


def test_nothing_is_played_for_a_player_who_is_there():
    game = Game(ANN, BOB, BOT)
    action = ChooseHand(1, flip=False)

    assert decide(game.match, PlayForAway(action), 0) == ()
    assert decide(game.match, PlayForAway(ChooseHand(-1, flip=False)), 0) == ()


@pytest.mark.parametrize(
    "command",
    [ReturnToMatch("bob"), JoinMatch("bob", "Other", may_enter=False, entropy="not taken")],
)
def test_a_player_returns_by_saying_so_or_by_joining_again(command):
    game = away_of_two()

    assert game.do(command) == (PlayerReturned(1),)
    assert game.match.seats[1] == BOB
    assert game.do(command) == ()


def test_a_move_of_the_players_own_is_a_return():
    game = away_of_two()
    while 1 not in to_act(game.match):
        game.move(0) if 0 in to_act(game.match) else game.house()

    returned, *_, clock = game.move(1)

    assert returned == PlayerReturned(1)
    assert isinstance(clock, ClockStarted)
    assert game.match.seats[1] == BOB


def test_a_move_that_is_refused_is_no_return():
    game = away_of_two()
    while 1 in to_act(game.match):
        game.house()

    assert refusal(game.match, ChooseHand(1, flip=False)).reason is not Reason.NOT_SEATED
    assert game.match.seats[1].away


def test_who_returns_in_the_own_turn_has_the_whole_time():
    game = away_of_two()
    while 1 not in to_act(game.match):
        game.move(0) if 0 in to_act(game.match) else game.house()
    game.now += 1_000_000

    assert game.do(ReturnToMatch("bob"))[1:] == (ClockStarted(game.now + 1000 * SECONDS),)


def test_only_who_has_a_seat_in_a_match_that_goes_on_returns():
    game = away_of_two()

    assert refusal(game.match, ReturnToMatch("eve")).reason is Reason.NOT_SEATED
    game.do(CancelMatch("The end."))
    assert refusal(game.match, ReturnToMatch("bob")).reason is Reason.MATCH_OVER


def test_who_is_away_may_leave_for_good():
    game = away_of_two()

    assert game.do(LeaveMatch("bob")) == (PlayerLeft(1, SUBSTITUTE_LEVEL, "ann"),)
    seat = game.match.seats[1]
    assert (seat.kind, seat.away, seat.expired) == (SeatKind.BOT, False, 0)


def test_with_nobody_there_the_match_stands_still_and_is_given_up():
    game = Game(ANN, BOT)
    *_, handed, deserted = game.until(SeatHandedToBot)

    assert (handed.seat, deserted) == (0, MatchDeserted(game.now))
    assert game.match.deadline is None
    if game.match.status is Status.SCORING:  # a result is told, and the next round dealt
        game.house()
    assert due(game.match) == MatchToAbandon(deserted.since)
    assert game.house()[1] == (MatchAbandoned(NOBODY_RETURNED),)
    assert game.match.status is Status.ABANDONED
    assert due(game.match) is None


def test_the_first_to_return_sets_the_match_going_again():
    game = Game(ANN, BOB, BOT)
    game.until(MatchDeserted)
    stood = game.match.deserted_since
    assert stood == game.now
    game.now += 12_345

    events = game.do(ReturnToMatch("ann"))

    assert events == (PlayerReturned(0), ClockStarted(game.now + 1000 * SECONDS))
    assert game.match.deserted_since is None
    assert not isinstance(due(game.match), MatchToAbandon)
    assert decide(game.match, AbandonMatch(), game.now) == ()


def test_a_match_that_stands_still_has_no_clock_in_its_next_round():
    game = Game(ANN, BOT)
    game.until(MatchDeserted)
    match = replace(game.match, status=Status.SCORING)
    while game.match.status is not Status.SCORING:  # the bots play on, as if ann had left
        seat = to_act(game.match)[0]
        action = quick_action(view(game.match, seat))
        game.do(PlayForAway(action) if game.match.seats[seat].away else action)
    assert due(match) == RoundToScore()

    assert not any(isinstance(e, ClockStarted) for e in game.do(ScoreRound()))


def test_when_all_have_left_bots_play_on_and_the_match_can_still_be_given_up():
    game = Game(ANN, BOB, BOT, turn_seconds=None)

    assert game.do(LeaveMatch("ann")) == (PlayerLeft(0, SUBSTITUTE_LEVEL, "bob"),)
    *_, deserted = game.do(LeaveMatch("bob"))
    assert deserted == MatchDeserted(game.now)
    assert isinstance(due(game.match), BotToAct)
    assert decide(game.match, AbandonMatch(), 0) == (MatchAbandoned(EVERYBODY_LEFT),)
    while not game.match.status.over:
        game.house()
    assert game.match.status is Status.FINISHED
    assert decide(game.match, AbandonMatch(), 0) == ()


def test_a_match_of_bots_alone_is_never_deserted():
    game = Game(BOT, BOT, BOT)

    while not game.match.status.over:
        assert decide(game.match, AbandonMatch(), 0) == ()
        game.house()
    assert game.match.status is Status.FINISHED


def test_a_clock_that_an_outage_took_starts_anew():
    game = Game(ANN, BOT)
    deadline = game.match.deadline
    assert deadline is not None

    game.now = deadline - 1
    assert decide(game.match, RestartClock(), game.now) == ()
    game.now = deadline + 5
    assert game.do(RestartClock()) == (
        ClockRestarted(SECONDS),
        ClockStarted(game.now + 1000 * SECONDS),
    )
    assert decide(game.match, ExpireTurn(ChooseHand(0, flip=False)), game.now) == ()
    assert decide(Game(ANN, BOT, turn_seconds=None).match, RestartClock(), game.now) == ()


@pytest.mark.parametrize("started", [True, False])
def test_an_operator_ends_any_match_once(started):
    game = Game(ANN, BOT if started else Seat(SeatKind.OPEN))

    assert game.do(CancelMatch("Stuck, sorry.")) == (MatchAbandoned("Stuck, sorry."),)
    assert game.match.status is Status.ABANDONED
    assert due(game.match) is None
    assert refusal(game.match, CancelMatch("again")).reason is Reason.MATCH_OVER
    assert refusal(game.match, ChooseHand(0, flip=False)).reason is Reason.MATCH_OVER


def test_the_replay_of_a_match_with_people_who_went_and_returned_is_true():
    game = away_of_two()
    game.do(ReturnToMatch("bob"))
    while not game.match.status.over:
        if not game.match.status.over and due(game.match) is None:
            raise AssertionError("a clock runs whenever a person is waited for")
        if isinstance(due(game.match), MatchToAbandon):
            game.do(ReturnToMatch("ann"))
        elif isinstance(due(game.match), ClockToExpire) and len(game.log) % 7 == 0:
            game.now = game.match.deadline
            game.do(RestartClock())
        else:
            game.house()
    log = list(zip(game.log, hashes("m", game.match.deck_commitment, game.log), strict=True))

    replay = document(log)

    assert audit(replay) == []
    told = {event["type"] for version in replay["log"] for event in version["events"]}
    assert {"TurnExpired", "SeatHandedToBot", "PlayerReturned", "ClockRestarted"} <= told
    assert replay["seats"][1]["kind"] == "PLAYER"
    stored = [tuple(map(encode_event, events)) for events in game.log]
    assert [tuple(map(decode_event, events)) for events in stored] == game.log


def test_a_log_of_before_is_read_and_hashed_as_it_was():
    old = partial(decode_event, {"type": "TurnExpired", "seat": 1})

    assert old() == TurnExpired(1)
    assert encode_event(old()) == {"type": "TurnExpired", "seat": 1}
    game = Game(ANN, BOB, BOT)
    assert fold(game.match, [old(), old(), old()]).seats[1] == BOB
    one, another = hashes("m", "c", [[old()]]), hashes("m", "c", [[TurnExpired(1, 3)]])
    assert one == another
