"""What happens in a match as REST tells it; ``type`` is the name of the GraphQL type."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from engine.actions import End
from engine.sets import SetKind
from schema import events
from schema.rest.base import Model
from schema.rest.match import Card, Match, RoundResult


class PlayerJoined(Model, mirrors=events.PlayerJoined):
    type: Literal["PlayerJoined"] = "PlayerJoined"
    seat: int
    name: str


class PlayerLeft(Model, mirrors=events.PlayerLeft):
    type: Literal["PlayerLeft"] = "PlayerLeft"
    seat: int


class MatchStarted(Model, mirrors=events.MatchStarted):
    type: Literal["MatchStarted"] = "MatchStarted"
    players: int


class HandsDealt(Model, mirrors=events.HandsDealt):
    type: Literal["HandsDealt"] = "HandsDealt"
    round: int
    starter: int


class HandChosen(Model, mirrors=events.HandChosen):
    type: Literal["HandChosen"] = "HandChosen"
    seat: int


class SetShown(Model, mirrors=events.SetShown):
    type: Literal["SetShown"] = "SetShown"
    seat: int
    cards: list[Card]
    kind: SetKind
    captured: int


class CardScouted(Model, mirrors=events.CardScouted):
    type: Literal["CardScouted"] = "CardScouted"
    seat: int
    end: End
    card: Card
    owner: int


class TurnExpired(Model, mirrors=events.TurnExpired):
    type: Literal["TurnExpired"] = "TurnExpired"
    seat: int


class ClockRestarted(Model, mirrors=events.ClockRestarted):
    type: Literal["ClockRestarted"] = "ClockRestarted"
    seconds: int


class SeatHandedToBot(Model, mirrors=events.SeatHandedToBot):
    type: Literal["SeatHandedToBot"] = "SeatHandedToBot"
    seat: int


class PlayerReturned(Model, mirrors=events.PlayerReturned):
    type: Literal["PlayerReturned"] = "PlayerReturned"
    seat: int


class RoundEnded(Model, mirrors=events.RoundEnded):
    type: Literal["RoundEnded"] = "RoundEnded"
    result: RoundResult


class MatchFinished(Model, mirrors=events.MatchFinished):
    type: Literal["MatchFinished"] = "MatchFinished"
    winners: list[int]
    totals: list[int]


class MatchAbandoned(Model, mirrors=events.MatchAbandoned):
    type: Literal["MatchAbandoned"] = "MatchAbandoned"
    reason: str


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
    Field(discriminator="type"),
]


class MatchUpdate(Model, mirrors=events.MatchUpdate, leaves_out=("happened", "at_ms")):
    version: int
    at: datetime
    events: list[MatchEvent]
    match: Match


class UpdatePage(Model):
    """Updates in order, from a cursor on."""

    updates: list[MatchUpdate]
    version: int = Field(description="The match's current version.")
    has_next_page: bool = Field(
        description="More follow: ask again, `after` the last update's version."
    )


class StreamEnd(Model):
    """The last event of a stream, `complete`, and why it ends."""

    reason: Literal["OVER", "LIFETIME"] = Field(
        description="OVER: no more will happen. LIFETIME: resume with `Last-Event-ID`."
    )
