"""What goes into the service and what comes out of it."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from engine.due import BotToAct, ClockToExpire, Due, MatchToAbandon, RoundToScore
from engine.state import Seat, Visibility
from engine.views import History, PublicEvent, View
from schema.acts import WaitsFor

_WAITS: Final[dict[type[Due], WaitsFor]] = {
    BotToAct: WaitsFor.BOT,
    RoundToScore: WaitsFor.SCORING,
    ClockToExpire: WaitsFor.CLOCK,
    MatchToAbandon: WaitsFor.ABANDONING,
}


@dataclass(frozen=True, slots=True)
class Meta:
    """How a command is to be carried out: at most once under a key, only at a version.

    ``request`` is what the caller sent; a key used again for another request is refused.
    """

    key: str | None = None
    expected_version: int | None = None
    request: Any = None


ANYHOW: Final = Meta()  # no key, whatever the version


@dataclass(frozen=True, slots=True)
class Answer:
    """A match as the caller may see it, as of a version and its hash in the chain.

    ``encoded``, ``shared``: of the last commit's moment, where it is the answer; see there.
    """

    version: int
    hash: str
    view: View
    encoded: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    shared: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Moment:
    """One commit as a follower may see it; ``at`` in milliseconds since the epoch.

    The first moment of a stream without a cursor is the state as it stands, with no events.
    ``encoded``: what transports have made of it, by transport, for all who may know as much.
    ``shared``: what they have made of its events, seats and round, which everybody may know.
    """

    version: int
    hash: str
    at: int
    events: tuple[PublicEvent, ...]
    view: View
    encoded: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    shared: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Owed:
    """What the house owes a match as of a version.

    ``view`` is the seat's own, where one acts; ``history`` is what everybody saw of this round.
    """

    match_id: str
    version: int
    due: Due
    view: View | None = None
    history: History = ()


@dataclass(frozen=True, slots=True)
class Told:
    """A commit by what happened in it: the types of its events alone.

    ``at`` in milliseconds since the epoch.
    """

    version: int
    at: int
    events: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Inspection:
    """A match as an operator may see it: nothing that is hidden, but who plays.

    Attributes:
        answer: the match as everybody could see it.
        due: what the house owes it, None if nothing.
        host: the player who opened it.
        players: the player on each seat, None where a bot or nobody is.
        commits: the last ones, the oldest first.
    """

    answer: Answer
    due: Due | None
    host: str | None = field(repr=False)
    players: tuple[str | None, ...] = field(repr=False)
    commits: tuple[Told, ...]

    @property
    def waits_for(self) -> WaitsFor | None:
        """What of the house's it waits for; None if for a person, or if it is over."""
        return None if self.due is None else _WAITS[type(self.due)]


class Fault(StrEnum):
    """How a level of play failed, so that a quick action was played in its place."""

    RAISED = "RAISED"
    TIMEOUT = "TIMEOUT"
    ILLEGAL = "ILLEGAL"


@dataclass(frozen=True, slots=True)
class NewMatch:
    """What a caller asks for when creating a match; the first PLAYER is the caller."""

    seats: tuple[Seat, ...]
    visibility: Visibility
    turn_seconds: int | None
    advice: bool = False


@dataclass(frozen=True, slots=True)
class Joining:
    """How somebody sits down: a name to show, and a share of the deals if any."""

    name: str
    entropy: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Limits:
    """How long things last, in seconds.

    A match in play after its last commit, a match that is over, a seat that nobody came for (0:
    for ever), and a match that everybody has gone from (0: as any in play). ``grace_ms``:
    milliseconds until work is sent again.
    """

    match_ttl: int = 7 * 24 * 3600
    finished_ttl: int = 30 * 24 * 3600
    grace_ms: int = 2000
    seat_hold: int = 120
    abandon: int = 3600

    def abandon_at(self, since: int) -> int | None:
        """When a match is given up that everybody has gone from since then, None: never.

        In milliseconds since the epoch, as ``since``.
        """
        return since + 1000 * self.abandon if self.abandon else None
