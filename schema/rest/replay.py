"""The replay document (docs/replay.md) as a model, for the OpenAPI document and its clients."""

from typing import Annotated, Any, Literal

from pydantic import Field

from engine.actions import End
from engine.replay import FORMAT
from engine.state import RoundEnd, SeatKind
from schema.rest.base import Model
from schema.rest.match import ScoreLine

PlainCard = Annotated[list[int], Field(min_length=2, max_length=2, description="[top, bottom]")]


class ReplaySeat(Model):
    """Who sat on a seat at the end."""

    seat: int
    kind: SeatKind
    name: str | None
    bot_level: str | None


class ReplayAction(Model):
    """An action; `type` tells which of the fields it has."""

    seat: int
    type: Literal["SHOW", "SCOUT", "SCOUT_AND_SHOW"]
    end: End | None = None
    insert_at: int | None = None
    flip: bool | None = None
    first: int | None = None
    count: int | None = None


class ReplayResult(Model):
    """A round's score."""

    reason: RoundEnd
    ender: int | None
    lines: list[ScoreLine]


class ReplayRound(Model):
    """A round from its deal to its score."""

    number: int
    starter: int
    hands: list[list[PlainCard]] = Field(description="By seat, as dealt, before the choice.")
    flipped: list[bool] = Field(description="By seat.")
    actions: list[ReplayAction]
    result: ReplayResult


class ReplayVersion(Model):
    """A version of the log: its public events and its link in the chain of hashes."""

    version: int
    events: list[dict[str, Any]]
    hash: str


class Replay(Model):
    """A finished match, for anybody to check (docs/replay.md)."""

    format: Literal["ringmaster-replay/1"] = FORMAT
    match_id: str
    players: int
    rules_version: str
    secret: str
    deck_commitment: str
    entropy: dict[str, str]
    seats: list[ReplaySeat]
    rounds: list[ReplayRound]
    totals: list[int]
    winners: list[int]
    log: list[ReplayVersion]
