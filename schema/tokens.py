"""A player's tokens, as their owner sees them."""

from datetime import datetime

import strawberry
from strawberry import field

from schema import enums  # noqa: F401 - registers the enums that the types below use
from schema.payloads import UserError
from schema.scopes import Scope


@strawberry.type(description="A token of the caller's, without the secret itself.")
class AccessToken:
    id: strawberry.ID = field(description="For `revokeToken`; opens nothing.")
    name: str
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime
    current: bool = field(description="Whether this request carries it.")


@strawberry.type(description="A new token, or why there is none.")
class TokenPayload:
    user_errors: list[UserError] = field(description="Empty on success.")
    token: str | None = field(
        description="Secret, and told this once: whoever has it may do what its scopes allow.",
        default=None,
    )
    access_token: AccessToken | None = None
    client_mutation_id: str | None = field(description="As given in the input.", default=None)


@strawberry.type(description="The token that is no longer valid, or why it still is.")
class RevokeTokenPayload:
    user_errors: list[UserError] = field(description="Empty on success.")
    token_id: strawberry.ID | None = None
