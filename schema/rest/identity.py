"""Who is calling, as REST tells it."""

from datetime import datetime

from schema import payloads, tokens
from schema.rest.base import Model
from schema.scopes import Scope


class Guest(Model, mirrors=payloads.GuestPayload, leaves_out=("user_errors",)):
    token: str
    player_id: str


class AccessToken(Model, mirrors=tokens.AccessToken):
    id: str
    name: str
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime
    current: bool


class AccessTokens(Model):
    """A player's tokens, the newest first."""

    tokens: list[AccessToken]


class NewAccessToken(
    Model, mirrors=tokens.TokenPayload, leaves_out=("user_errors", "client_mutation_id")
):
    token: str
    access_token: AccessToken
