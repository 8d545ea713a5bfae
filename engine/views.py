"""The only two exits of hidden cards: ``view`` of a state, by ``view_with``, and ``redact``.

A ``View`` has one place for cards in hand, the viewer's own; a redacted event has none.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, assert_never

from engine import events as e
from engine.actions import End
from engine.cards import ROUNDS, Card, Cards
from engine.sets import SetKind
from engine.state import (
    Match,
    Round,
    RoundResult,
    SeatKind,
    Status,
    Visibility,
)


class SeatView(NamedTuple):
    """What everybody may know of a seat. Counts are of this round, ``score`` of finished rounds."""

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


class RoundView(NamedTuple):
    """What everybody may know of the round in play, or of the last one."""

    number: int
    starter: int
    turn: int | None
    table: Cards
    owner: int | None
    scouts_in_a_row: int
    deadline: int | None
    result: RoundResult | None


@dataclass(frozen=True, slots=True)
class OwnSeat:
    """What only the seat's own player may know: the hand, left to right."""

    seat: int
    hand: Cards = field(repr=False)


@dataclass(frozen=True, slots=True)
class View:
    """A match as one viewer may know it.

    ``you`` is None for spectators, ``join_code`` for all who may not invite others.
    """

    match_id: str
    status: Status
    visibility: Visibility
    round_count: int
    seats: tuple[SeatView, ...]
    round: RoundView | None
    you: OwnSeat | None
    join_code: str | None = field(repr=False)
    winners: tuple[int, ...] | None
    deck_commitment: str
    rules_version: str
    turn_seconds: int | None
    advice: bool
    created_at: int


def view(match: Match, seat: int | None, *, host: bool = False) -> View:
    """The match as the player of ``seat`` may know it, or as a spectator may (None).

    ``host``: the viewer is the match's host, who may invite others without having a seat.

    Raises:
        ValueError: the match has no such seat.
    """
    return view_with(common(match), match, seat, host=host)


class Common(NamedTuple):
    """What all views of a state have in common, made once for all of them."""

    seats: tuple[SeatView, ...]
    round: RoundView | None


def common(match: Match) -> Common:
    """What everybody may know of the seats and the round."""
    round_ = match.round
    return Common(
        tuple([_seat_view(match, round_, number) for number in range(match.players)]),
        None if round_ is None else _round_view(match, round_),
    )


def view_with(known: Common, match: Match, seat: int | None, *, host: bool = False) -> View:
    """What ``view`` gives, with what is in common of the same state.

    Raises:
        ValueError: the match has no such seat.
    """
    if seat is not None and not 0 <= seat < match.players:
        raise ValueError("the match has no such seat")
    return View(
        match_id=match.match_id,
        status=match.status,
        visibility=match.visibility,
        round_count=ROUNDS[match.players],
        seats=known.seats,
        round=known.round,
        you=None if seat is None else _own(match.round, seat),
        join_code=match.join_code if host or seat is not None else None,
        winners=match.winners,
        deck_commitment=match.deck_commitment,
        rules_version=match.rules_version,
        turn_seconds=match.turn_seconds,
        advice=match.advice,
        created_at=match.created_at,
    )


def _seat_view(match: Match, round_: Round | None, number: int) -> SeatView:
    seat = match.seats[number]
    return SeatView(
        number=number,
        kind=seat.kind,
        name=seat.name,
        bot_level=seat.bot_level,
        away=seat.away,
        score=match.scores[number],
        hand_size=len(round_.hands[number]) if round_ else 0,
        captured=round_.captured[number] if round_ else 0,
        scout_chips=round_.chips[number] if round_ else 0,
        scout_and_show_available=(
            round_ is not None and match.players > 2 and not round_.scout_and_show_spent[number]
        ),
        has_chosen=round_.chosen[number] if round_ else False,
    )


def _round_view(match: Match, round_: Round) -> RoundView:
    return RoundView(
        number=round_.number,
        starter=round_.starter,
        turn=round_.turn,
        table=round_.table,
        owner=round_.owner,
        scouts_in_a_row=round_.scouts_in_a_row,
        deadline=match.deadline,
        result=round_.result,
    )


def _own(round_: Round | None, seat: int) -> OwnSeat:
    return OwnSeat(seat, round_.hands[seat] if round_ else ())


@dataclass(frozen=True, slots=True)
class SeatTaken:
    """Somebody sat down."""

    seat: int
    name: str


@dataclass(frozen=True, slots=True)
class SeatLeft:
    """Somebody gave up a seat."""

    seat: int


@dataclass(frozen=True, slots=True)
class RoundDealt:
    """A round was dealt; nobody's hand is told."""

    round: int
    starter: int


@dataclass(frozen=True, slots=True)
class ChoiceMade:
    """A seat has chosen, not which way."""

    seat: int


@dataclass(frozen=True, slots=True)
class ShownSet:
    """A set lies on the table."""

    seat: int
    cards: Cards
    kind: SetKind
    captured: int


@dataclass(frozen=True, slots=True)
class ScoutedCard:
    """A card left the active set, as it lay; not where it went, nor which way up."""

    seat: int
    end: End
    card: Card
    owner: int


@dataclass(frozen=True, slots=True)
class TurnRanOut:
    """A seat let its clock run out; what was played for it follows."""

    seat: int


@dataclass(frozen=True, slots=True)
class SeatGoneAway:
    """A bot plays for the person of a seat until the return."""

    seat: int


@dataclass(frozen=True, slots=True)
class RoundScored:
    """A round was scored."""

    result: RoundResult


PublicEvent = (
    SeatTaken
    | SeatLeft
    | e.MatchStarted
    | RoundDealt
    | ChoiceMade
    | ShownSet
    | ScoutedCard
    | TurnRanOut
    | e.ClockRestarted
    | SeatGoneAway
    | e.PlayerReturned
    | RoundScored
    | e.MatchFinished
    | e.MatchAbandoned
)


History = tuple[PublicEvent, ...]


def history(events: Iterable[e.Event]) -> History:
    """What everybody has seen of the round in play: the redacted events since its deal.

    ``events`` is a log, or any end of one that holds the deal.
    """
    since: list[e.Event] = []
    for event in events:
        if isinstance(event, e.HandsDealt):
            since.clear()
        since.append(event)
    return tuple(told for event in since if (told := redact(event)) is not None)


def redact(  # noqa: C901, PLR0912 - one case per event
    event: e.Event,
) -> PublicEvent | None:
    """What every viewer may know of an event, None if nothing; the same for all of them."""
    match event:
        case e.PlayerJoined() | e.SeatFilled():
            return SeatTaken(event.seat, event.name)
        case e.PlayerLeft():
            return SeatLeft(event.seat)
        case e.HandsDealt():
            return RoundDealt(event.round, event.starter)
        case e.HandChosen():
            return ChoiceMade(event.seat)
        case e.SetShown():
            return ShownSet(event.seat, event.cards, event.kind, event.captured)
        case e.CardScouted():
            return ScoutedCard(event.seat, event.end, event.card, event.owner)
        case e.TurnExpired():
            return TurnRanOut(event.seat)
        case e.SeatHandedToBot():
            return SeatGoneAway(event.seat)
        case e.MatchStarted() | e.ClockRestarted() | e.PlayerReturned():
            return event
        case e.RoundEnded():
            return RoundScored(event.result)
        case e.MatchFinished() | e.MatchAbandoned():
            return event
        case e.MatchCreated() | e.PlayEnded() | e.ClockStarted():
            return None
        case e.ClockKept() | e.MatchDeserted():
            return None
        case _:
            assert_never(event)
