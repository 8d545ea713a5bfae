"""A match as REST shows it; built from an engine view alone, like its GraphQL twin."""

from datetime import datetime
from typing import Self

from engine import legal, views
from engine.actions import End
from engine.cards import Cards
from engine.sets import SetAt, SetKind, kind_of, tops_of
from engine.state import RoundEnd, SeatKind, Status, Visibility
from schema import types
from schema.rest.base import Model
from schema.types import at


class Card(Model, mirrors=types.Card):
    top: int
    bottom: int


class Seat(Model, mirrors=types.Seat):
    number: int
    kind: SeatKind
    name: str | None
    bot_level: str | None
    away: bool
    score: int
    hand_size: int
    captured: int
    scout_chips: int
    scout_and_show_available: bool
    has_chosen: bool


class ScoreLine(Model, mirrors=types.ScoreLine):
    seat: int
    captured: int
    scout_chips: int
    hand_penalty: int
    total: int


class RoundResult(Model, mirrors=types.RoundResult):
    reason: RoundEnd
    ender: int | None
    lines: tuple[ScoreLine, ...]


class ActiveSet(Model, mirrors=types.ActiveSet):
    owner: int
    kind: SetKind
    cards: tuple[Card, ...]

    @classmethod
    def of(cls, table: Cards, owner: int | None) -> Self | None:
        """What lies on the table; None if it is empty."""
        kind = kind_of(tops_of(table))
        if owner is None or kind is None:
            return None
        return cls(owner=owner, kind=kind, cards=cards(table))


class Round(Model, mirrors=types.Round, leaves_out=("view",)):
    number: int
    starter: int
    turn: int | None
    active_set: ActiveSet | None
    deadline: datetime | None
    result: RoundResult | None

    @classmethod
    def of(cls, view: views.RoundView) -> Self:
        """The round in play, or the last one."""
        return cls(
            number=view.number,
            starter=view.starter,
            turn=view.turn,
            active_set=ActiveSet.of(view.table, view.owner),
            deadline=None if view.deadline is None else at(view.deadline),
            result=None if view.result is None else RoundResult.model_validate(view.result),
        )


class ShowOption(Model, mirrors=types.ShowOption):
    first: int
    count: int
    kind: SetKind

    @classmethod
    def of(cls, option: SetAt) -> Self:
        """A set found in a hand."""
        return cls(first=option.first, count=option.size, kind=option.kind)


class ScoutOption(Model, mirrors=types.ScoutOption):
    ends: tuple[End, ...]
    max_insert_at: int


class ScoutAndShowOption(Model, mirrors=types.ScoutAndShowOption):
    end: End
    flip: bool
    insert_at: int
    shows: list[ShowOption]


class LegalActions(
    Model,
    mirrors=types.LegalActions,
    leaves_out=("view", "scout_and_show", "shows_after_scout"),
):
    flip: bool
    shows: list[ShowOption]
    scout: ScoutOption | None
    scout_and_show_available: bool

    @classmethod
    def of(cls, view: views.View, hand: Cards) -> Self:
        """What the viewer's seat may do now; Scout & Shows have an address of their own."""
        ends = legal.scout_ends(view)
        return cls(
            flip=legal.may_choose(view),
            shows=[ShowOption.of(option) for option in legal.shows(view)],
            scout=ScoutOption(ends=ends, max_insert_at=len(hand)) if ends else None,
            scout_and_show_available=legal.scout_and_show_is_legal(view),
        )


class You(Model, mirrors=types.You, leaves_out=("view", "own")):
    seat: int
    hand: tuple[Card, ...]
    legal: LegalActions


class Match(Model, mirrors=types.Match, leaves_out=("view",)):
    id: str
    version: int
    hash: str
    status: Status
    visibility: Visibility
    join_code: str | None
    player_count: int
    round_count: int
    seats: list[Seat]
    round: Round | None
    you: You | None
    winners: tuple[int, ...] | None
    notation: str | None
    deck_commitment: str
    rules_version: str
    turn_seconds: int | None
    advice_allowed: bool
    created_at: datetime


class PageInfo(Model, mirrors=types.PageInfo):
    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


class MatchEdge(Model, mirrors=types.MatchEdge):
    cursor: str
    node: Match


class MatchConnection(Model, mirrors=types.MatchConnection):
    edges: list[MatchEdge]
    page_info: PageInfo


class BotLevel(Model, mirrors=types.BotLevel, leaves_out=("count",)):
    name: str
    description: str
    budget_ms: int
    faults: int


class BotLevels(Model):
    """The levels that bots can be asked for, gentlest first."""

    bot_levels: list[BotLevel]


class ScoutAndShows(Model):
    """Every Scout & Show that the caller may play, as of a version."""

    version: int
    scout_and_show: list[ScoutAndShowOption]

    @classmethod
    def of(cls, view: views.View, version: int) -> Self:
        """As many as there are: up to some 3,200 actions."""
        options = [
            ScoutAndShowOption(
                end=option.end,
                flip=option.flip,
                insert_at=option.insert_at,
                shows=[ShowOption.of(show) for show in option.shows],
            )
            for option in legal.scout_and_shows(view)
        ]
        return cls(version=version, scout_and_show=options)


class ShowsAfterScout(Model):
    """The shows that a Scout & Show with the scout asked about allows, as of a version."""

    version: int
    shows: list[ShowOption]


def cards(values: Cards) -> tuple[Card, ...]:
    """Cards from left to right."""
    return tuple(Card(top=card.top, bottom=card.bottom) for card in values)


def match_of(view: views.View, version: int, digest: str) -> Match:
    """A match as its viewer may know it, as of a version and its hash."""
    own = view.you
    you = None
    if own is not None:
        you = You(seat=own.seat, hand=cards(own.hand), legal=LegalActions.of(view, own.hand))
    return Match(
        id=view.match_id,
        version=version,
        hash=digest,
        status=view.status,
        visibility=view.visibility,
        join_code=view.join_code,
        player_count=len(view.seats),
        round_count=view.round_count,
        seats=[Seat.model_validate(seat) for seat in view.seats],
        round=None if view.round is None else Round.of(view.round),
        you=you,
        winners=view.winners,
        notation=types.notation(view, {}),
        deck_commitment=view.deck_commitment,
        rules_version=view.rules_version,
        turn_seconds=view.turn_seconds,
        advice_allowed=view.advice,
        created_at=at(view.created_at),
    )
