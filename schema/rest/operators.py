"""What operators see, as REST tells it."""

from datetime import datetime
from typing import Annotated

from pydantic import Field, StrictBool, StrictStr

from engine.state import Status
from schema import operators
from schema.acts import Act, ProcessKind, WaitsFor
from schema.inputs import REASON_LIMIT
from schema.rest.base import Input, Model
from schema.rest.match import Match, PageInfo

Reason = Annotated[StrictStr, Field(min_length=1, max_length=REASON_LIMIT)]


class StuckMatch(Model, mirrors=operators.StuckMatch):
    match_id: str
    version: int | None
    status: Status | None
    waits_for: WaitsFor
    seat: int | None
    level: str | None
    since: datetime


class StuckMatches(Model):
    """The longest stuck first."""

    matches: list[StuckMatch]


class SeatedPlayer(Model, mirrors=operators.SeatedPlayer):
    seat: int
    player_id: str


class CommitLine(Model, mirrors=operators.CommitLine):
    version: int
    at: datetime
    events: list[str]


class MatchInspection(Model, mirrors=operators.MatchInspection):
    match: Match
    waits_for: WaitsFor | None
    seat: int | None
    level: str | None
    host: str | None
    players: list[SeatedPlayer]
    commits: list[CommitLine]


class Process(Model, mirrors=operators.Process):
    id: str
    kind: ProcessKind
    release: str
    started_at: datetime
    seen_at: datetime
    queues: list[str]
    streams: int
    draining: bool


class Processes(Model):
    """By kind and id."""

    processes: list[Process]


class OperatorAct(Model, mirrors=operators.OperatorAct):
    id: str
    at: datetime
    operator: str
    act: Act
    target: str
    reason: str | None
    outcome: str | None


class OperatorActEdge(Model, mirrors=operators.OperatorActEdge):
    cursor: str
    node: OperatorAct


class OperatorActs(Model, mirrors=operators.OperatorActConnection):
    edges: list[OperatorActEdge]
    page_info: PageInfo


class SendDue(Input):
    """How what is owed is to be sent again."""

    quick: StrictBool = False


class Given(Input):
    """Why an operator does it."""

    reason: Reason


class Sent(Model, mirrors=operators.SendDuePayload, leaves_out=("user_errors",)):
    sent: int


class Revoked(Model, mirrors=operators.RevokeTokensPayload, leaves_out=("user_errors",)):
    revoked: int
