"""What is asked of a match: by seats (actions), by people in the lobby, by the house."""

from dataclasses import dataclass, field

from engine.actions import Action
from engine.rules import CURRENT
from engine.state import Seat, Visibility


@dataclass(frozen=True, slots=True)
class CreateMatch:
    """Open a match; ``secret`` is 32 bytes in hex, drawn by the caller (engine.deal)."""

    match_id: str
    seats: tuple[Seat, ...]
    visibility: Visibility
    host: str = field(repr=False)
    secret: str = field(repr=False)
    join_code: str = field(repr=False)
    turn_seconds: int | None = None
    advice: bool = False
    rules_version: str = CURRENT


@dataclass(frozen=True, slots=True)
class JoinMatch:
    """Take the first open seat. ``may_enter``: the match is public, or its join code was given."""

    player_id: str = field(repr=False)
    name: str
    may_enter: bool
    entropy: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class LeaveMatch:
    """Give up one's seat: it opens again in the lobby, a bot takes it later."""

    player_id: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class StartMatch:
    """Start now; seats still open are taken by bots."""

    player_id: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ReturnToMatch:
    """Play one's seat again, if a bot does so since one was away."""

    player_id: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class CancelMatch:
    """An operator ends the match without a result; ``reason`` is told to everybody."""

    reason: str


@dataclass(frozen=True, slots=True)
class ScoreRound:
    """The house scores the ended round, then deals the next one or ends the match."""


@dataclass(frozen=True, slots=True)
class ExpireTurn:
    """The house plays ``action`` for a seat whose clock has run out."""

    action: Action


@dataclass(frozen=True, slots=True)
class RestartClock:
    """The house gives the whole time again, as the clock ran out while nobody could move."""


@dataclass(frozen=True, slots=True)
class PlayForAway:
    """The house plays ``action`` for a seat whose player is away."""

    action: Action


@dataclass(frozen=True, slots=True)
class AbandonMatch:
    """The house gives up a match that everybody has left or is away from."""


Command = (
    CreateMatch
    | JoinMatch
    | LeaveMatch
    | StartMatch
    | ReturnToMatch
    | CancelMatch
    | ScoreRound
    | ExpireTurn
    | RestartClock
    | PlayForAway
    | AbandonMatch
    | Action
)
