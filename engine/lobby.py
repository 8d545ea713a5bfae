"""Who sits where before and beside the play: create, join, leave, start, go away and return."""

from typing import Final

from engine import commands as c
from engine.cards import PLAYER_COUNTS
from engine.deal import commitment, is_entropy
from engine.errors import Reason, RuleError
from engine.events import (
    ClockKept,
    Event,
    MatchAbandoned,
    MatchCreated,
    MatchDeserted,
    PlayerJoined,
    PlayerLeft,
    PlayerReturned,
    SeatFilled,
    SeatHandedToBot,
)
from engine.state import Match, SeatKind, Status

SUBSTITUTE_LEVEL: Final = "regular"
AWAY_AFTER: Final = 3  # turns in a row that ran out
EVERYBODY_LEFT: Final = "EVERYBODY_LEFT"
NOBODY_RETURNED: Final = "NOBODY_RETURNED"


def create(command: c.CreateMatch, now: int) -> tuple[Event, ...]:
    """Open a match; ``now`` in milliseconds since the epoch.

    Raises:
        RuleError: INVALID_INPUT for a wrong number of seats, a second person at creation, or
            entropy that is not of the form of engine.deal.
    """
    if len(command.seats) not in PLAYER_COUNTS:
        raise RuleError(Reason.INVALID_INPUT, "seats", "A match has 2 to 5 seats.")
    if sum(seat.kind is SeatKind.PLAYER for seat in command.seats) > 1:
        sentence = (
            "Only your own seat can be of kind PLAYER; leave the others OPEN for people to join."
        )
        raise RuleError(Reason.INVALID_INPUT, "seats", sentence)
    for seat in command.seats:
        _check_entropy(seat.entropy)
    return (
        MatchCreated(
            match_id=command.match_id,
            seats=command.seats,
            visibility=command.visibility,
            deck_commitment=commitment(command.secret),
            rules_version=command.rules_version,
            created_at=now,
            host=command.host,
            secret=command.secret,
            join_code=command.join_code,
            turn_seconds=command.turn_seconds,
            advice=command.advice,
        ),
    )


def join(match: Match, command: c.JoinMatch) -> tuple[Event, ...]:
    """Take the first open seat; who is seated already returns to it.

    Raises:
        RuleError: MATCH_OVER, FORBIDDEN, INVALID_INPUT for the entropy, or MATCH_FULL.
    """
    if match.status.over:
        raise RuleError(Reason.MATCH_OVER)
    own = match.seat_of(command.player_id)
    if own is not None:
        return _returned(match, own)
    if not command.may_enter:
        raise RuleError(Reason.FORBIDDEN, "joinCode", "This match is private: join it by its code.")
    _check_entropy(command.entropy)
    for number, seat in enumerate(match.seats):
        if seat.kind is SeatKind.OPEN:
            return (PlayerJoined(number, command.name, command.player_id, command.entropy),)
    raise RuleError(Reason.MATCH_FULL)


def leave(match: Match, command: c.LeaveMatch, now: int) -> tuple[Event, ...]:
    """Free the seat in the lobby, hand it to a bot for good once play has begun.

    Raises:
        RuleError: MATCH_OVER or NOT_SEATED.
    """
    if match.status.over:
        raise RuleError(Reason.MATCH_OVER)
    seat = match.seat_of(command.player_id)
    if seat is None:
        raise RuleError(Reason.NOT_SEATED)
    others = [s.player_id for n, s in enumerate(match.seats) if s.player_id and n != seat]
    host = match.host
    if host == command.player_id:
        host = others[0] if others else None
    if match.status is not Status.LOBBY:
        return (PlayerLeft(seat, SUBSTITUTE_LEVEL, host), *_deserted(match, seat, now))
    left = PlayerLeft(seat, None, host)
    return (left,) if host else (left, MatchAbandoned(EVERYBODY_LEFT))


def start(match: Match, command: c.StartMatch) -> tuple[Event, ...]:
    """Let bots take the seats still open, so that the match starts; nothing if it has begun.

    Raises:
        RuleError: MATCH_OVER, or FORBIDDEN for all but the host.
    """
    if match.status.over:
        raise RuleError(Reason.MATCH_OVER)
    if command.player_id != match.host:
        raise RuleError(Reason.FORBIDDEN, None, "Only the match's host can start it early.")
    return tuple(
        SeatFilled(number, f"Bot {number + 1}", SUBSTITUTE_LEVEL)
        for number, seat in enumerate(match.seats)
        if seat.kind is SeatKind.OPEN
    )


def go_away(match: Match, seat: int, in_a_row: int, now: int) -> tuple[Event, ...]:
    """Hand a seat to a bot for a while, if so many of its turns in a row have run out."""
    if in_a_row < AWAY_AFTER:
        return ()
    return (SeatHandedToBot(seat, SUBSTITUTE_LEVEL), *_deserted(match, seat, now))


def come_back(match: Match, command: c.ReturnToMatch) -> tuple[Event, ...]:
    """Give the seat back to its player; nothing happens if no bot plays for that player.

    Raises:
        RuleError: MATCH_OVER or NOT_SEATED.
    """
    if match.status.over:
        raise RuleError(Reason.MATCH_OVER)
    seat = match.seat_of(command.player_id)
    if seat is None:
        raise RuleError(Reason.NOT_SEATED)
    return _returned(match, seat)


def kept(match: Match, seat: int) -> tuple[Event, ...]:
    """What a move of the seat's own says about its player: there again, or in time again."""
    if match.seats[seat].expired and not match.seats[seat].away:
        return (ClockKept(seat),)
    return _returned(match, seat)


def abandon(match: Match) -> tuple[Event, ...]:
    """End a match that everybody has left or is away from, nothing if somebody is there."""
    if match.status.over or match.deserted_since is None:
        return ()
    return (MatchAbandoned(NOBODY_RETURNED if match.paused else EVERYBODY_LEFT),)


def cancel(match: Match, command: c.CancelMatch) -> tuple[Event, ...]:
    """End the match at an operator's word.

    Raises:
        RuleError: MATCH_OVER.
    """
    if match.status.over:
        raise RuleError(Reason.MATCH_OVER)
    return (MatchAbandoned(command.reason),)


def _returned(match: Match, seat: int) -> tuple[Event, ...]:
    return (PlayerReturned(seat),) if match.seats[seat].away else ()


def _deserted(match: Match, going: int, now: int) -> tuple[Event, ...]:
    others = (seat for number, seat in enumerate(match.seats) if number != going)
    if match.deserted_since is not None or any(seat.attended for seat in others):
        return ()
    return (MatchDeserted(now),)


def _check_entropy(entropy: str | None) -> None:
    if entropy is not None and not is_entropy(entropy):
        sentence = "Entropy is 1 to 64 printable ASCII characters without spaces."
        raise RuleError(Reason.INVALID_INPUT, "entropy", sentence)
