"""Who sits where: create, join, leave, start."""

# mypy: disable-error-code="union-attr"

from dataclasses import replace

import pytest

from engine.commands import (
    CreateMatch,
    JoinMatch,
    LeaveMatch,
    ScoreRound,
    StartMatch,
)
from engine.deal import commitment, hands, key_of_deals, starter
from engine.decide import decide
from engine.errors import Reason
from engine.events import (
    HandsDealt,
    MatchAbandoned,
    MatchCreated,
    MatchStarted,
    PlayerJoined,
    PlayerLeft,
    SeatFilled,
)
from engine.evolve import fold
from engine.lobby import EVERYBODY_LEFT, SUBSTITUTE_LEVEL
from engine.state import Seat, SeatKind, Status, Visibility
from tests.builders import SECRET, play_out, position, refusal

HOST = Seat(SeatKind.PLAYER, "Ann", player_id="ann", entropy="salt")
OPEN = Seat(SeatKind.OPEN)
BOT = Seat(SeatKind.BOT, "Bo", "casual")


def creation(*seats, **changes):
    command = CreateMatch("m", seats, Visibility.PUBLIC, "ann", SECRET, "CODE")
    return replace(command, **changes)


def created(*seats, **changes):
    return fold(None, decide(None, creation(*seats, **changes), 7))


def join(player, name="New", *, may_enter=True, entropy=None):
    return JoinMatch(player, name, may_enter, entropy)


def after(match, *commands):
    for command in commands:
        match = fold(match, decide(match, command, 0))
    return match


def test_a_match_with_open_seats_waits():
    (event,) = decide(None, creation(HOST, OPEN, BOT), 7)

    assert isinstance(event, MatchCreated)
    assert event.deck_commitment == commitment(SECRET)
    match = fold(None, [event])
    assert match.status is Status.LOBBY
    assert (match.players, match.created_at, match.rules_version) == (3, 7, "1")
    assert [seat.kind for seat in match.seats] == [SeatKind.PLAYER, SeatKind.OPEN, SeatKind.BOT]


def test_a_match_without_an_open_seat_starts_at_once():
    events = decide(None, creation(HOST, BOT), 7)

    assert [type(event) for event in events] == [MatchCreated, MatchStarted, HandsDealt]


@pytest.mark.parametrize("count", [0, 1, 6])
def test_seat_counts(count):
    refused = refusal(None, creation(*[OPEN] * count))

    assert (refused.reason, refused.field) == (Reason.INVALID_INPUT, "seats")


def test_only_ones_own_seat_can_be_a_players():
    other = Seat(SeatKind.PLAYER, "Eve", player_id="eve")
    refused = refusal(None, creation(HOST, other))

    assert (refused.reason, refused.field) == (Reason.INVALID_INPUT, "seats")
    assert "OPEN" in str(refused)


def test_a_match_is_created_once():
    with pytest.raises(ValueError, match="once"):
        decide(created(HOST, OPEN), creation(HOST, OPEN), 0)


def test_nothing_is_decided_without_a_match():
    with pytest.raises(ValueError, match="no match"):
        decide(None, ScoreRound(), 0)


def test_what_is_no_command_is_a_bug():
    with pytest.raises(AssertionError):
        decide(created(HOST, OPEN), "join", 0)  # type: ignore[arg-type]


def test_the_first_open_seat_is_taken_and_the_last_starts_the_match():
    match = created(HOST, OPEN, OPEN)

    (joined,) = decide(match, join("bob", "Bob"), 0)
    assert joined == PlayerJoined(1, "Bob", "bob")
    events = decide(fold(match, [joined]), join("cat", "Cat", entropy="pepper"), 0)
    assert [type(event) for event in events] == [PlayerJoined, MatchStarted, HandsDealt]
    started = fold(match, [joined, *events])
    assert started.status is Status.CHOOSING
    assert [started.seat_of(player) for player in ("ann", "bob", "cat", "eve", None)] == [
        0,
        1,
        2,
        None,
        None,
    ]


def test_the_deal_takes_the_entropy_of_all_who_gave_some():
    match = created(HOST, OPEN, OPEN)
    *_, dealt = decide(after(match, join("bob")), join("cat", entropy="pepper"), 0)

    key = key_of_deals(SECRET, {0: "salt", 2: "pepper"})
    assert dealt.hands == hands(key, 3, 1)
    assert dealt.starter == starter(key, 3, 1)
    assert dealt.chips == (0, 0, 0)


def test_two_players_start_with_three_chips_each():
    *_, dealt = decide(None, creation(HOST, BOT), 0)

    assert dealt.chips == (3, 3)


@pytest.mark.parametrize("entropy", ["", "two words", "x" * 65, "\u00e9"])
def test_entropy_that_no_deal_can_take_is_refused(entropy):
    on_creation = refusal(None, creation(replace(HOST, entropy=entropy), OPEN))
    on_joining = refusal(created(HOST, OPEN), join("bob", entropy=entropy))

    for refused in (on_creation, on_joining):
        assert (refused.reason, refused.field) == (Reason.INVALID_INPUT, "entropy")


def test_joining_twice_is_joining_once():
    match = created(HOST, OPEN)

    assert decide(match, join("ann", may_enter=False), 0) == ()


def test_a_private_match_needs_its_code():
    refused = refusal(created(HOST, OPEN), join("bob", may_enter=False))

    assert (refused.reason, refused.field) == (Reason.FORBIDDEN, "joinCode")


def test_no_seat_is_open_any_more():
    assert refusal(created(HOST, BOT), join("bob")).reason is Reason.MATCH_FULL


def test_leaving_the_lobby_opens_the_seat():
    match = after(created(HOST, OPEN, OPEN), join("bob", entropy="x"))

    left = after(match, LeaveMatch("bob"))
    assert left.seats[1] == fold(None, decide(None, creation(HOST, OPEN, OPEN), 0)).seats[1]
    assert left.status is Status.LOBBY
    assert left.host == "ann"


def test_the_host_who_leaves_hands_over():
    match = after(created(HOST, OPEN, OPEN), join("bob"))

    left = after(match, LeaveMatch("ann"))
    assert left.host == "bob"
    assert refusal(left, StartMatch("ann")).reason is Reason.FORBIDDEN
    assert after(left, StartMatch("bob")).status is Status.CHOOSING


def test_a_lobby_that_everybody_left_is_abandoned():
    match = created(HOST, OPEN, BOT)

    events = decide(match, LeaveMatch("ann"), 0)
    assert events == (PlayerLeft(0, None, None), MatchAbandoned(EVERYBODY_LEFT))
    abandoned = fold(match, events)
    assert abandoned.status is Status.ABANDONED
    for command in (join("bob"), LeaveMatch("ann"), StartMatch("ann")):
        assert refusal(abandoned, command).reason is Reason.MATCH_OVER


def test_a_host_without_a_seat_keeps_the_lobby_open():
    match = after(created(OPEN, OPEN, host="eve"), join("bob"))

    left = after(match, LeaveMatch("bob"))
    assert (left.status, left.host) == (Status.LOBBY, "eve")


def test_a_bot_takes_the_seat_left_in_play_and_the_entropy_stays():
    match = created(HOST, BOT)

    left = after(match, LeaveMatch("ann"))
    seat = left.seats[0]
    assert (seat.kind, seat.name, seat.bot_level) == (SeatKind.BOT, "Ann", SUBSTITUTE_LEVEL)
    assert (seat.player_id, seat.entropy) == (None, "salt")
    assert (left.host, left.round) == (None, match.round)


def test_only_those_seated_can_leave():
    assert refusal(created(HOST, OPEN), LeaveMatch("eve")).reason is Reason.NOT_SEATED


def test_bots_fill_the_seats_still_open():
    match = created(HOST, OPEN, BOT, OPEN)

    events = decide(match, StartMatch("ann"), 0)
    assert events[:2] == (SeatFilled(1, "Bot 2", "regular"), SeatFilled(3, "Bot 4", "regular"))
    assert [type(event) for event in events[2:]] == [MatchStarted, HandsDealt]
    assert fold(match, events).seats[3].kind is SeatKind.BOT


def test_only_the_host_starts_early():
    match = after(created(HOST, OPEN, OPEN), join("bob"))

    assert refusal(match, StartMatch("bob")).reason is Reason.FORBIDDEN


def test_starting_twice_is_starting_once():
    assert decide(created(HOST, BOT), StartMatch("ann"), 0) == ()


def test_a_round_is_scored_once_and_only_when_it_has_ended():
    commits = play_out(2, 1)
    before = [match for _, match in commits if match.status is Status.SCORING][-1]

    assert decide(commits[0][1], ScoreRound(), 0) == ()
    assert fold(before, decide(before, ScoreRound(), 0)) == commits[-1][1]
    assert decide(commits[-1][1], ScoreRound(), 0) == ()


def test_totals_add_up_over_the_rounds():
    events = [event for commit, _ in play_out(4, 2) for event in commit]
    scored = [event for event in events if type(event).__name__ == "RoundEnded"]

    totals = [0, 0, 0, 0]
    for event in scored:
        totals = [t + line.total for t, line in zip(totals, event.result.lines, strict=True)]
        assert list(event.totals) == totals
    assert len(scored) == 4
    best = max(totals)
    assert events[-1].winners == tuple(n for n, total in enumerate(totals) if total == best)


def test_a_position_from_the_builders_has_no_host():
    assert refusal(position("1/2 | 3/4"), StartMatch("p0")).reason is Reason.FORBIDDEN
