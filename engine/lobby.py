"""Who sits where before and beside the play: create, join, leave, start."""

from typing import Final

from engine import commands as c
from engine.cards import PLAYER_COUNTS
from engine.deal import commitment, is_entropy
from engine.errors import Reason, RuleError
from engine.events import Event, MatchAbandoned, MatchCreated, PlayerJoined, PlayerLeft, SeatFilled
from engine.state import Match, SeatKind, Status

SUBSTITUTE_LEVEL: Final = "regular"
EVERYBODY_LEFT: Final = "EVERYBODY_LEFT"


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
    """Take the first open seat; nothing happens if the player is seated already.

    Raises:
        RuleError: MATCH_OVER, FORBIDDEN, INVALID_INPUT for the entropy, or MATCH_FULL.
    """
    if match.status.over:
        raise RuleError(Reason.MATCH_OVER)
    if match.seat_of(command.player_id) is not None:
        return ()
    if not command.may_enter:
        raise RuleError(Reason.FORBIDDEN, "joinCode", "This match is private: join it by its code.")
    _check_entropy(command.entropy)
    for number, seat in enumerate(match.seats):
        if seat.kind is SeatKind.OPEN:
            return (PlayerJoined(number, command.name, command.player_id, command.entropy),)
    raise RuleError(Reason.MATCH_FULL)


def leave(match: Match, command: c.LeaveMatch) -> tuple[Event, ...]:
    """Free the seat in the lobby, hand it to a bot once play has begun.

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
        return (PlayerLeft(seat, SUBSTITUTE_LEVEL, host),)
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


def _check_entropy(entropy: str | None) -> None:
    if entropy is not None and not is_entropy(entropy):
        sentence = "Entropy is 1 to 64 printable ASCII characters without spaces."
        raise RuleError(Reason.INVALID_INPUT, "entropy", sentence)
