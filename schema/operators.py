"""What operators see; built from what everybody may see of a match, so nothing hidden is near."""

from datetime import datetime

import strawberry
from strawberry import field

from engine.state import Status
from schema import enums  # noqa: F401 - registers the enums that the types below use
from schema.acts import Act, ProcessKind, WaitsFor
from schema.cost import SEATS, sized, weighs
from schema.pages import TOLD
from schema.payloads import UserError
from schema.types import Match, PageInfo

PROCESSES = 200  # in one list, at most


@strawberry.type(description="A match that the house owes something since too long ago.")
class StuckMatch:
    match_id: strawberry.ID
    version: int | None = field(description="Null if its log cannot be read, as is `status`.")
    status: Status | None
    waits_for: WaitsFor
    seat: int | None = field(description="Whose turn it is, of a bot or a clock.")
    level: str | None = field(description="Of the bot that is to act.")
    since: datetime = field(description="When it should have been done.")


@strawberry.type(description="A player on a seat.")
class SeatedPlayer:
    seat: int
    player_id: strawberry.ID


@strawberry.type(description="A commit by the types of its events.")
class CommitLine:
    version: int
    at: datetime
    events: list[str]


@strawberry.type(description="A match for an operator: what everybody could see, and who plays.")
class MatchInspection:
    match: Match
    waits_for: WaitsFor | None = field(description="Null if it waits for a person, or is over.")
    seat: int | None = field(description="Whose turn it is, of a bot or a clock.")
    level: str | None = field(description="Of the bot that is to act.")
    host: strawberry.ID | None = field(description="The player who opened it.")
    players: list[SeatedPlayer] = field(directives=sized(SEATS))
    commits: list[CommitLine] = field(
        description="The last ones, the oldest first.", directives=sized(TOLD)
    )


@strawberry.type(description="A process that has said in the last 15 s that it is at work.")
class Process:
    id: strawberry.ID
    kind: ProcessKind
    release: str = field(description="Of the package that it runs.")
    started_at: datetime
    seen_at: datetime
    queues: list[str] = field(description="What a worker takes from.")
    streams: int = field(description="Subscriptions that an API process serves.")
    draining: bool = field(description="It was asked to end, and does so.")


@strawberry.type(description="Something that an operator did.")
class OperatorAct:
    id: strawberry.ID
    at: datetime
    operator: str = field(description="A player's id, or `cli:USER@HOST`.")
    act: Act
    target: str = field(description="The match, process or player; empty: all that were stuck.")
    reason: str | None
    outcome: str | None = field(
        description="`DONE`, or the code of the refusal; null if that is not known (yet)."
    )


@strawberry.type(description="An act in a page.")
class OperatorActEdge:
    cursor: str
    node: OperatorAct


@strawberry.type(description="A page of acts.")
class OperatorActConnection:
    edges: list[OperatorActEdge]
    page_info: PageInfo


@strawberry.type(description="A match as an operator sees it, or why not.")
class InspectMatchPayload:
    user_errors: list[UserError] = field(description="Empty on success.")
    inspection: MatchInspection | None = field(default=None, directives=weighs(10))


@strawberry.type(description="How much was sent to the workers again, or why not.")
class SendDuePayload:
    user_errors: list[UserError] = field(description="Empty on success.")
    sent: int | None = field(
        description="Of so many matches; what was done meanwhile is not done twice.", default=None
    )


@strawberry.type(description="The process that was asked to end, or why not.")
class DrainProcessPayload:
    user_errors: list[UserError] = field(description="Empty on success.")
    process_id: strawberry.ID | None = None


@strawberry.type(description="How many tokens are no longer valid, or why they still are.")
class RevokeTokensPayload:
    user_errors: list[UserError] = field(description="Empty on success.")
    revoked: int | None = None
