"""What happens in a match as clients see it, built from redacted events alone."""

from datetime import datetime
from typing import Annotated, Any, assert_never

import strawberry
from strawberry import Private, field

from engine import events as e
from engine import views
from engine.actions import End
from engine.sets import SetKind
from schema.cost import ACTIVE_SET, EVENTS, LOADED, sized, weighs
from schema.types import ALIKE, Card, Match, RoundResult, at, cards, round_result


@strawberry.type(description="Somebody took a seat.")
class PlayerJoined:
    seat: int
    name: str


@strawberry.type(description="Somebody gave up a seat: it is open in the lobby, a bot's later.")
class PlayerLeft:
    seat: int


@strawberry.type(description="No seat is open any more.")
class MatchStarted:
    players: int


@strawberry.type(description="A round was dealt; everybody now chooses which way up to hold it.")
class HandsDealt:
    round: int
    starter: int


@strawberry.type(description="A seat has chosen; not which way.")
class HandChosen:
    seat: int


@strawberry.type(description="A set was shown and is the new active set.")
class SetShown:
    seat: int
    cards: list[Card] = field(directives=sized(ACTIVE_SET))
    kind: SetKind
    captured: int = field(description="Cards captured from the active set before.")


@strawberry.type(description="A card was scouted; where it went only the scouter's hand tells.")
class CardScouted:
    seat: int
    end: End
    card: Card = field(description="As it lay on the table.")
    owner: int = field(description="The active set's owner.")


@strawberry.type(description="A clock ran out; a bot played this turn, in the same update.")
class TurnExpired:
    seat: int


@strawberry.type(
    description=(
        "The clock ran out while the server could not be reached: whoever the match waits for has "
        "the whole time again."
    )
)
class ClockRestarted:
    seconds: int = field(description="From now on; `round.deadline` says until when.")


@strawberry.type(
    description=(
        "Three turns of this seat in a row ran out: a bot plays for its player, until the player "
        "moves, joins again or calls `returnToMatch`."
    )
)
class SeatHandedToBot:
    seat: int


@strawberry.type(description="The player of a seat that a bot played for is back.")
class PlayerReturned:
    seat: int


@strawberry.type(description="A round was scored.")
class RoundEnded:
    result: RoundResult


@strawberry.type(description="The last round was scored.")
class MatchFinished:
    winners: list[int] = field(description="Seat numbers of all who share the highest total.")
    totals: list[int] = field(description="Points by seat number.")


@strawberry.type(description="The match ended without a result.")
class MatchAbandoned:
    reason: str = field(
        description=(
            "EVERYBODY_LEFT, NOBODY_RETURNED (all who did not leave were away for too long), or an "
            "operator's sentence."
        )
    )


MatchEvent = Annotated[
    PlayerJoined
    | PlayerLeft
    | MatchStarted
    | HandsDealt
    | HandChosen
    | SetShown
    | CardScouted
    | TurnExpired
    | ClockRestarted
    | SeatHandedToBot
    | PlayerReturned
    | RoundEnded
    | MatchFinished
    | MatchAbandoned,
    strawberry.union(name="MatchEvent", description="One thing that happened."),
]


@strawberry.type(description="One commit: what happened, and the match right after it.")
class MatchUpdate:
    happened: Private[tuple[views.PublicEvent, ...]]
    at_ms: Private[int]
    version: int = field(description="Give it as `after` to resume from here.")
    match: Match = field(directives=weighs(LOADED))
    # What was made of it, by selection: the same for all who are told of it.
    told: Private[dict[Any, dict[str, Any]]]
    # What was made of the fields that are `ALIKE`, for all viewers of this version.
    shared: Private[dict[Any, Any]]

    @field(
        description="When it happened; a turn that ran out, at its deadline.",
    )
    def at(self) -> datetime:
        return at(self.at_ms)

    @field(
        description="Empty in the first update of a stream begun without `after`.",
        directives=sized(EVENTS),
        metadata=ALIKE,
    )
    def events(self) -> list[MatchEvent]:
        return [match_event(event) for event in self.happened]


def match_event(  # noqa: C901, PLR0912 - one case per event
    event: views.PublicEvent,
) -> MatchEvent:
    """A redacted event as clients see it."""
    match event:
        case views.SeatTaken():
            return PlayerJoined(seat=event.seat, name=event.name)
        case views.SeatLeft():
            return PlayerLeft(seat=event.seat)
        case e.MatchStarted():
            return MatchStarted(players=event.players)
        case views.RoundDealt():
            return HandsDealt(round=event.round, starter=event.starter)
        case views.ChoiceMade():
            return HandChosen(seat=event.seat)
        case views.ShownSet():
            return SetShown(
                seat=event.seat,
                cards=cards(event.cards),
                kind=event.kind,
                captured=event.captured,
            )
        case views.ScoutedCard():
            card = Card(top=event.card.top, bottom=event.card.bottom)
            return CardScouted(seat=event.seat, end=event.end, card=card, owner=event.owner)
        case views.TurnRanOut():
            return TurnExpired(seat=event.seat)
        case e.ClockRestarted():
            return ClockRestarted(seconds=event.seconds)
        case views.SeatGoneAway():
            return SeatHandedToBot(seat=event.seat)
        case e.PlayerReturned():
            return PlayerReturned(seat=event.seat)
        case views.RoundScored():
            return RoundEnded(result=round_result(event.result))
        case e.MatchFinished():
            return MatchFinished(winners=list(event.winners), totals=list(event.totals))
        case e.MatchAbandoned():
            return MatchAbandoned(reason=event.reason)
        case _:
            assert_never(event)
