"""A match as clients see it; every type is built from an engine view, so nothing hidden is near."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import strawberry
from strawberry import Private, field

from engine import legal, state, views
from engine.actions import End
from engine.cards import Card as EngineCard
from engine.notation import format_common, format_view
from engine.sets import SetAt, SetKind, kind_of, tops_of
from engine.state import RoundEnd, SeatKind, Status, Visibility
from schema import enums  # noqa: F401 - registers the enums that the types below use
from schema.cost import ACTIVE_SET, HAND, LOADED, SCOUTS, SEATS, SHOWS, sized, weighs

# A field that all viewers of a version are told alike, so that it is made once for all of them.
ALIKE: Final = {"alike": True}
_LINE: Final = "notation"


def at(ms: int) -> datetime:
    """Milliseconds since the epoch as a time in UTC."""
    return datetime.fromtimestamp(ms / 1000, tz=UTC)


@strawberry.interface(description="An object with an id that is unique among all objects.")
class Node:
    """Relay's Node; ids are opaque."""

    id: strawberry.ID


@strawberry.type(description="A card as it lies.")
class Card:
    top: int = field(description="The number in play.")
    bottom: int = field(description="The number that would be in play if the card were turned.")


def cards(values: Sequence[EngineCard]) -> list[Card]:
    """Cards from left to right."""
    return [Card(top=card.top, bottom=card.bottom) for card in values]


@strawberry.type(description="A seat, as everybody may know it.")
class Seat:
    number: int = field(description="From 0; turns pass to the next number.")
    kind: SeatKind
    name: str | None
    bot_level: str | None
    away: bool = field(
        description="A bot plays for the player until the return, after three turns that ran out."
    )
    score: int = field(description="Points over the finished rounds.")
    hand_size: int = field(description="Cards in hand.")
    captured: int = field(description="Cards captured in this round, face down.")
    scout_chips: int = field(description="Gained in this round; with two players, left to spend.")
    scout_and_show_available: bool = field(description="The chip of this round is unspent.")
    has_chosen: bool = field(description="Has chosen which way up to hold the hand.")


@strawberry.type(description="One seat's points for a round.")
class ScoreLine:
    seat: int
    captured: int
    scout_chips: int
    hand_penalty: int = field(description="Cards left in hand; 0 for the ender.")
    total: int = field(description="captured + scoutChips - handPenalty")


@strawberry.type(description="A scored round.")
class RoundResult:
    reason: RoundEnd
    ender: int | None = field(description="The seat spared the hand penalty, if any.")
    lines: list[ScoreLine] = field(directives=sized(SEATS))


def round_result(result: state.RoundResult) -> RoundResult:
    """A scored round, one line per seat."""
    return RoundResult(
        reason=result.reason,
        ender=result.ender,
        lines=[
            ScoreLine(
                seat=line.seat,
                captured=line.captured,
                scout_chips=line.scout_chips,
                hand_penalty=line.hand_penalty,
                total=line.total,
            )
            for line in result.lines
        ],
    )


@strawberry.type(description="The set to beat: what is left of the set shown last.")
class ActiveSet:
    owner: int
    kind: SetKind
    cards: list[Card] = field(directives=sized(ACTIVE_SET))


@strawberry.type(description="The round in play, or the last one.")
class Round:
    view: Private[views.RoundView]

    @field(description="From 1.")
    def number(self) -> int:
        return self.view.number

    @field(description="The seat that began, or will begin.")
    def starter(self) -> int:
        return self.view.starter

    @field(description="The seat to act; null while hands are chosen, while scoring, and after.")
    def turn(self) -> int | None:
        return self.view.turn

    @field(description="Null: the table is empty.")
    def active_set(self) -> ActiveSet | None:
        table, owner = self.view.table, self.view.owner
        kind = kind_of(tops_of(table))
        if owner is None or kind is None:
            return None
        return ActiveSet(owner=owner, kind=kind, cards=cards(table))

    @field(description="When the clock of the turn, or of the choice, runs out; null without one.")
    def deadline(self) -> datetime | None:
        return None if self.view.deadline is None else at(self.view.deadline)

    @field(description="Once the round is scored.")
    def result(self) -> RoundResult | None:
        return None if self.view.result is None else round_result(self.view.result)


@strawberry.type(description="A set that may be shown: `count` cards from position `first` on.")
class ShowOption:
    first: int
    count: int
    kind: SetKind


def show_options(options: Sequence[SetAt]) -> list[ShowOption]:
    """Sets found in a hand, as options."""
    return [ShowOption(first=o.first, count=o.size, kind=o.kind) for o in options]


@strawberry.type(description="How the seat may scout.")
class ScoutOption:
    ends: list[End]
    max_insert_at: int = field(description="Gaps are 0 to this number, either way up.")


@strawberry.type(description="A scout that allows a show, with every show that it allows.")
class ScoutAndShowOption:
    end: End
    flip: bool
    insert_at: int
    shows: list[ShowOption] = field(directives=sized(SHOWS))


@strawberry.type(description="What the caller's seat may do now; computed when asked for.")
class LegalActions:
    view: Private[views.View]

    @field(description="May still choose which way up to hold the hand.")
    def flip(self) -> bool:
        return legal.may_choose(self.view)

    @field(description="Every set that may be shown.", directives=sized(SHOWS, 15))
    def shows(self) -> list[ShowOption]:
        return show_options(legal.shows(self.view))

    @field(description="Null: may not scout.")
    def scout(self) -> ScoutOption | None:
        ends, you = legal.scout_ends(self.view), self.view.you
        if not ends or you is None:
            return None
        return ScoutOption(ends=list(ends), max_insert_at=len(you.hand))

    @field(
        description="The chip is unspent and at least one Scout & Show is legal.",
        directives=weighs(100),
    )
    def scout_and_show_available(self) -> bool:
        return legal.scout_and_show_is_legal(self.view)

    @field(
        description="Every scout that allows a show: up to some 3,200 actions in all.",
        directives=sized(SCOUTS, 250),
    )
    def scout_and_show(self) -> list[ScoutAndShowOption]:
        return [
            ScoutAndShowOption(
                end=o.end, flip=o.flip, insert_at=o.insert_at, shows=show_options(o.shows)
            )
            for o in legal.scout_and_shows(self.view)
        ]

    @field(
        description="The shows that a Scout & Show with this scout allows.",
        directives=sized(SHOWS, 25),
    )
    def shows_after_scout(self, end: End, insert_at: int, flip: bool) -> list[ShowOption]:
        return show_options(legal.shows_after_scout(self.view, end, insert_at, flip))


@strawberry.type(description="What only the caller's own seat may see.")
class You:
    view: Private[views.View]
    own: Private[views.OwnSeat]

    @field(description="The caller's seat number.")
    def seat(self) -> int:
        return self.own.seat

    @field(description="The hand, left to right.", directives=sized(HAND))
    def hand(self) -> list[Card]:
        return cards(self.own.hand)

    @field(description="What the seat may do now.")
    def legal(self) -> LegalActions:
        return LegalActions(view=self.view)


@strawberry.type(description="A match, as its viewer may know it.")
class Match(Node):
    view: Private[views.View]
    # What was made of the fields that are `ALIKE`, for all viewers of this version.
    shared: Private[dict[Any, Any]]
    version: int = field(description="Number of commits so far: the cursor of `matchUpdates`.")
    hash: str = field(
        description=(
            "SHA-256 over what was public of this version and the hash before it (docs/replay.md)."
        )
    )

    @field
    def status(self) -> Status:
        return self.view.status

    @field
    def visibility(self) -> Visibility:
        return self.view.visibility

    @field(description="Opens the match to others; told to those seated and to the host only.")
    def join_code(self) -> str | None:
        return self.view.join_code

    @field(description="Number of seats.")
    def player_count(self) -> int:
        return len(self.view.seats)

    @field(description="Rounds that the match lasts.")
    def round_count(self) -> int:
        return self.view.round_count

    @field(description="By seat number.", directives=sized(SEATS), metadata=ALIKE)
    def seats(self) -> list[Seat]:
        return [
            Seat(
                number=seat.number,
                kind=seat.kind,
                name=seat.name,
                bot_level=seat.bot_level,
                away=seat.away,
                score=seat.score,
                hand_size=seat.hand_size,
                captured=seat.captured,
                scout_chips=seat.scout_chips,
                scout_and_show_available=seat.scout_and_show_available,
                has_chosen=seat.has_chosen,
            )
            for seat in self.view.seats
        ]

    @field(description="The current or last round; null in the lobby.", metadata=ALIKE)
    def round(self) -> Round | None:
        return None if self.view.round is None else Round(view=self.view.round)

    @field(description="What only the caller's seat may see; null for spectators.")
    def you(self) -> You | None:
        own = self.view.you
        return None if own is None else You(view=self.view, own=own)

    @field(description="Seat numbers of all winners, once FINISHED.")
    def winners(self) -> list[int] | None:
        return None if self.view.winners is None else list(self.view.winners)

    @field(
        description=(
            "The match as one line of text, as far as the viewer may know it (docs/notation.md); "
            "null in the lobby and once abandoned."
        ),
        directives=weighs(4),
    )
    def notation(self) -> str | None:
        return notation(self.view, self.shared)

    @field(description="Lower-case hex of the SHA-256 of the secret that the deals come from.")
    def deck_commitment(self) -> str:
        return self.view.deck_commitment

    @field(description="The version of the rules that the match began and ends with.")
    def rules_version(self) -> str:
        return self.view.rules_version

    @field(description="Seconds per turn, if the match has a clock.")
    def turn_seconds(self) -> int | None:
        return self.view.turn_seconds

    @field(description="Whether players may ask what a bot would do in their place.")
    def advice_allowed(self) -> bool:
        return self.view.advice

    @field
    def created_at(self) -> datetime:
        return at(self.view.created_at)


def notation(view: views.View, shared: dict[Any, Any]) -> str | None:
    """A match as one line of text; None in the lobby and once abandoned.

    ``shared``: what was made before, for any viewer of this version; it is filled.
    """
    if view.status in (Status.LOBBY, Status.ABANDONED):
        return None
    if _LINE not in shared:
        shared[_LINE] = format_common(view)
    return format_view(view, shared[_LINE])


def match_of(
    view: views.View, version: int, digest: str, shared: dict[Any, Any] | None = None
) -> Match:
    """A match as its viewer may know it, as of a version and its hash.

    ``shared``: with other viewers of this version, if any.
    """
    return Match(
        id=strawberry.ID(view.match_id),
        view=view,
        shared={} if shared is None else shared,
        version=version,
        hash=digest,
    )


@strawberry.type(description="A level of play that bots can be asked for.")
class BotLevel:
    name: str
    description: str
    budget_ms: int = field(description="CPU milliseconds that a decision is meant to stay under.")
    count: Private[Callable[[str], Awaitable[int]]]

    @field(
        description=(
            "How often a quick move was played in its place: it failed, took too long, or chose "
            "what is not legal."
        ),
        directives=weighs(20),
    )
    async def faults(self) -> int:
        return await self.count(self.name)


@strawberry.type(description="Where a page of a connection begins and ends.")
class PageInfo:
    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


@strawberry.type(description="A match in a page.")
class MatchEdge:
    cursor: str
    node: Match = field(directives=weighs(LOADED))


@strawberry.type(description="A page of matches.")
class MatchConnection:
    edges: list[MatchEdge]
    page_info: PageInfo
