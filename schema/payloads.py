"""What mutations answer: the match, or why not."""

import strawberry
from strawberry import field

from schema.codes import ErrorCode
from schema.cost import ERRORS, sized
from schema.series import Series
from schema.types import Match


@strawberry.interface(description="Why a request was refused, for the caller to mend.")
class UserErrorLike:
    code: ErrorCode
    message: str = field(description="A sentence that a front end may show.")


@strawberry.type(description="Why a request was refused, for the caller to mend.")
class UserError(UserErrorLike):
    path: list[str] | None = field(description="The input field at fault.", default=None)
    current_version: int | None = field(
        description="The match's version, where the code is about versions.", default=None
    )


@strawberry.type(description="A guest's token, to be sent as `Authorization: Bearer TOKEN`.")
class GuestPayload:
    user_errors: list[UserError] = field(description="Empty on success.", directives=sized(ERRORS))
    token: str | None = field(description="Secret: whoever has it is this player.", default=None)
    player_id: strawberry.ID | None = None


@strawberry.type(description="The match after the mutation, or why it was refused.")
class MatchPayload:
    user_errors: list[UserError] = field(description="Empty on success.", directives=sized(ERRORS))
    match: Match | None = None
    client_mutation_id: str | None = field(description="As given in the input.", default=None)


@strawberry.type(description="The series after the mutation, or why it was refused.")
class SeriesPayload:
    user_errors: list[UserError] = field(description="Empty on success.", directives=sized(ERRORS))
    series: Series | None = None
    client_mutation_id: str | None = field(description="As given in the input.", default=None)
