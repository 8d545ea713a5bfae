"""What has happened to a match: facts that hold outcomes, so that replaying them needs no rule.

These names and fields are the storage format. Add fields with defaults; never rename or remove one
without raising ``engine.codec.SCHEMA`` and reading the old form.
"""

from dataclasses import dataclass, field

from engine.actions import End
from engine.cards import Card, Cards
from engine.sets import SetKind
from engine.state import Ending, RoundResult, Seat, Visibility


@dataclass(frozen=True, slots=True)
class MatchCreated:
    """A match was opened; ``secret`` stays here until the match is finished."""

    match_id: str
    seats: tuple[Seat, ...]
    visibility: Visibility
    deck_commitment: str
    rules_version: str
    created_at: int
    host: str = field(repr=False)
    secret: str = field(repr=False)
    join_code: str = field(repr=False)
    turn_seconds: int | None = None
    advice: bool = False


@dataclass(frozen=True, slots=True)
class PlayerJoined:
    """A person took a seat."""

    seat: int
    name: str
    player_id: str = field(repr=False)
    entropy: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class PlayerLeft:
    """A person gave up a seat; ``bot_level`` names the bot that took it, None in the lobby."""

    seat: int
    bot_level: str | None
    host: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class SeatFilled:
    """A bot took a seat that was still open at the start."""

    seat: int
    name: str
    bot_level: str


@dataclass(frozen=True, slots=True)
class MatchStarted:
    """No seat is open any more; the deals follow."""

    players: int


@dataclass(frozen=True, slots=True)
class HandsDealt:
    """A round was dealt; ``hands`` per seat, left to right, before the choice."""

    round: int
    starter: int
    hands: tuple[Cards, ...] = field(repr=False)
    chips: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HandChosen:
    """A seat chose its way up; ``turn`` is the seat to act once all have chosen, else None."""

    seat: int
    flip: bool = field(repr=False)
    turn: int | None


@dataclass(frozen=True, slots=True)
class SetShown:
    """A set was shown from position ``first`` on and captured that many; ``turn`` acts next."""

    seat: int
    first: int = field(repr=False)
    cards: Cards
    kind: SetKind
    captured: int
    turn: int | None


@dataclass(frozen=True, slots=True)
class CardScouted:
    """A card, as it lay, went from ``end`` into gap ``insert_at``; ``chips``: all seats' then.

    ``and_show``: it is the first half of a Scout & Show, and the show follows in the same commit.
    """

    seat: int
    end: End
    card: Card
    owner: int
    insert_at: int = field(repr=False)
    flip: bool = field(repr=False)
    chips: tuple[int, ...]
    and_show: bool
    turn: int | None


@dataclass(frozen=True, slots=True)
class PlayEnded:
    """The round's last action has been played; it is yet to be scored."""

    ending: Ending


@dataclass(frozen=True, slots=True)
class ClockStarted:
    """The seat or seats to act have until ``deadline`` (milliseconds since the epoch)."""

    deadline: int


@dataclass(frozen=True, slots=True)
class TurnExpired:
    """A seat let its clock run out; the house's action for it follows in the same commit.

    ``in_a_row``: how many turns of a person's seat have now run out one after the other.
    """

    seat: int
    in_a_row: int = 0


@dataclass(frozen=True, slots=True)
class ClockKept:
    """A person has moved in time again after turns that had run out."""

    seat: int


@dataclass(frozen=True, slots=True)
class ClockRestarted:
    """Nobody could have moved when the clock ran out: the whole time again, ``seconds``."""

    seconds: int


@dataclass(frozen=True, slots=True)
class SeatHandedToBot:
    """A person let too many turns run out: a bot of ``bot_level`` plays until the return."""

    seat: int
    bot_level: str


@dataclass(frozen=True, slots=True)
class PlayerReturned:
    """A person who was away plays the seat again."""

    seat: int


@dataclass(frozen=True, slots=True)
class MatchDeserted:
    """Every person has left or is away, since a time in milliseconds since the epoch."""

    since: int


@dataclass(frozen=True, slots=True)
class RoundEnded:
    """A round was scored; ``totals`` are all seats' points over the rounds so far."""

    result: RoundResult
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MatchFinished:
    """The last round is scored; all who share the highest total win."""

    winners: tuple[int, ...]
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MatchAbandoned:
    """The match ended without a result."""

    reason: str


Event = (
    MatchCreated
    | PlayerJoined
    | PlayerLeft
    | SeatFilled
    | MatchStarted
    | HandsDealt
    | HandChosen
    | SetShown
    | CardScouted
    | PlayEnded
    | ClockStarted
    | TurnExpired
    | ClockKept
    | ClockRestarted
    | SeatHandedToBot
    | PlayerReturned
    | MatchDeserted
    | RoundEnded
    | MatchFinished
    | MatchAbandoned
)
