"""The engine's closed lists, published under the names that clients know."""

from enum import StrEnum

import strawberry

from engine.actions import End
from engine.series import SeriesStatus
from engine.sets import SetKind
from engine.state import RoundEnd, SeatKind, Status, Visibility
from schema.acts import Act, ProcessKind, WaitsFor
from schema.codes import ErrorCode
from schema.scopes import Scope

strawberry.enum(Status, name="MatchStatus", description="Where a match stands.")
strawberry.enum(SeatKind, description="Who sits on a seat.")
strawberry.enum(SetKind, description="The kind of a set; a single is neither of the other two.")
strawberry.enum(End, description="An end of the active set as it lies on the table.")
strawberry.enum(RoundEnd, description="Why a round ended.")
strawberry.enum(Visibility, description="Who may find and watch a match.")
strawberry.enum(SeriesStatus, description="Where a series stands.")
strawberry.enum(Scope, name="TokenScope", description="What a token allows (docs/identity.md).")
strawberry.enum(Act, name="OperatorActKind", description="What an operator can do.")
strawberry.enum(ProcessKind, description="What a process does.")
strawberry.enum(WaitsFor, description="What of the house's a match waits for.")
strawberry.enum(ErrorCode, description="Why a request was refused; stable, to be acted on.")

PUBLISHED: tuple[type[StrEnum], ...] = (
    Status,
    SeatKind,
    SetKind,
    End,
    RoundEnd,
    Visibility,
    SeriesStatus,
    Scope,
    Act,
    ProcessKind,
    WaitsFor,
    ErrorCode,
)
