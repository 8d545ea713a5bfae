"""The whole state of a match, hidden cards included; only ``engine.views`` shows any of it.

Fields that a log line must never carry are left out of the representations.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar

from engine.cards import Cards

T = TypeVar("T")
CHIPS_OF_TWO = 3  # rules: Two players


class Status(StrEnum):
    """Where a match stands."""

    LOBBY = "LOBBY"
    CHOOSING = "CHOOSING"
    PLAYING = "PLAYING"
    SCORING = "SCORING"
    FINISHED = "FINISHED"
    ABANDONED = "ABANDONED"

    @property
    def over(self) -> bool:
        """Whether nothing can happen any more."""
        return self in (Status.FINISHED, Status.ABANDONED)


class SeatKind(StrEnum):
    """Who sits on a seat."""

    OPEN = "OPEN"
    PLAYER = "PLAYER"
    BOT = "BOT"


class Visibility(StrEnum):
    """Who may find and watch a match: everybody, or those seated."""

    PUBLIC = "PUBLIC"
    PRIVATE = "PRIVATE"


class RoundEnd(StrEnum):
    """Why a round ended (rules: End of a round)."""

    HAND_EMPTIED = "HAND_EMPTIED"
    ALL_SCOUTED = "ALL_SCOUTED"
    STUCK = "STUCK"
    ACTION_LIMIT = "ACTION_LIMIT"


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat: who sits there and the entropy given for the deals.

    ``expired``: turns that have run out one after the other; ``substitute``: the level of the bot
    that plays for a person who is away.
    """

    kind: SeatKind
    name: str | None = None
    bot_level: str | None = None
    player_id: str | None = field(default=None, repr=False)
    entropy: str | None = field(default=None, repr=False)
    expired: int = 0
    substitute: str | None = None

    @property
    def away(self) -> bool:
        """Whether a bot plays for the person who sits here."""
        return self.substitute is not None

    @property
    def attended(self) -> bool:
        """Whether a person plays here."""
        return self.kind is SeatKind.PLAYER and not self.away


@dataclass(frozen=True, slots=True)
class Ending:
    """How a round ended, before it is scored; ``ender`` is spared the hand penalty."""

    reason: RoundEnd
    ender: int | None


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """One seat's points for a round: ``total = captured + scout_chips - hand_penalty``."""

    seat: int
    captured: int
    scout_chips: int
    hand_penalty: int
    total: int


@dataclass(frozen=True, slots=True)
class RoundResult:
    """A scored round, one line per seat in seat order."""

    reason: RoundEnd
    ender: int | None
    lines: tuple[ScoreLine, ...]


@dataclass(frozen=True, slots=True)
class Round:
    """A round in play; tuples have an entry per seat. ``table`` is the active set in hand order."""

    number: int
    starter: int
    hands: tuple[Cards, ...] = field(repr=False)
    chosen: tuple[bool, ...]
    captured: tuple[int, ...]
    chips: tuple[int, ...]
    scout_and_show_spent: tuple[bool, ...]
    table: Cards = ()
    owner: int | None = None
    last_shower: int | None = None
    scouts_in_a_row: int = 0
    actions: int = 0
    turn: int | None = None
    ending: Ending | None = None
    result: RoundResult | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """A match over all its rounds. Times are milliseconds since the Unix epoch."""

    match_id: str
    status: Status
    visibility: Visibility
    seats: tuple[Seat, ...]
    scores: tuple[int, ...]
    deck_commitment: str
    rules_version: str
    created_at: int
    secret: str = field(repr=False)
    join_code: str | None = field(repr=False)
    host: str | None = field(repr=False)
    turn_seconds: int | None = None
    advice: bool = False  # players may ask what a bot would do in their place
    deadline: int | None = None
    deserted_since: int | None = None  # when the last person went
    round: Round | None = None
    winners: tuple[int, ...] | None = None

    @property
    def players(self) -> int:
        """Number of seats, 2 to 5."""
        return len(self.seats)

    @property
    def paused(self) -> bool:
        """Whether the match waits for one of its people, all of whom are away, to return."""
        return self.deserted_since is not None and any(seat.away for seat in self.seats)

    def seat_of(self, player_id: str | None) -> int | None:
        """The seat number of a player, None if not seated."""
        if player_id is None:
            return None
        for number, seat in enumerate(self.seats):
            if seat.player_id == player_id:
                return number
        return None


def changed(value: T, **changes: Any) -> T:
    """A copy of a frozen, slotted dataclass with some fields changed.

    As ``dataclasses.replace`` at under half its cost, since this is what a move does most.

    Raises:
        TypeError: there is no such field.
    """
    kind: type = type(value)
    copy: T = object.__new__(kind)
    for name, get, put in _slots(kind):
        put(copy, changes.pop(name) if name in changes else get(value))
    if changes:
        raise TypeError(f"no such field: {', '.join(changes)}")
    return copy


@cache
def _slots(cls: type) -> tuple[tuple[str, Callable[[Any], Any], Callable[[Any, Any], None]], ...]:
    members = [(f.name, vars(cls)[f.name]) for f in fields(cls)]
    return tuple((name, member.__get__, member.__set__) for name, member in members)
