"""Tokens: resolvers of a few lines over their service."""

import strawberry

from api.graphql.context import ContextInfo
from api.identity.caller import Caller, names_of
from api.identity.ports import Token
from api.identity.service import NewToken
from api.values import Meta
from schema.inputs import CreateTokenInput, MoveMeta, token_key
from schema.scopes import Scope
from schema.tokens import AccessToken, RevokeTokenPayload, TokenPayload
from schema.types import at


async def listed(info: ContextInfo, player_id: str | None) -> list[AccessToken]:
    """The caller's tokens, or for an operator another player's.

    Raises:
        Unauthenticated: the caller has not signed in.
        Refused: FORBIDDEN.
    """
    caller = await info.context.signed_in()
    tokens = await info.context.identity.tokens(caller, player_id)
    return [shown(token, caller) for token in tokens]


async def create(info: ContextInfo, new: CreateTokenInput) -> TokenPayload:
    """A further token of the caller's.

    Raises:
        Unauthenticated: the caller has not signed in.
        RuleError: INVALID_INPUT.
        Refused: FORBIDDEN, KEY_REUSED, TOO_MANY_TOKENS.
    """
    caller = await info.context.player(Scope.PLAY)
    meta = Meta(token_key(new.meta))
    wanted = NewToken(new.name, frozenset(new.scopes), new.expires_in_seconds)
    made = await info.context.identity.create(caller, wanted, meta)
    return TokenPayload(
        user_errors=[],
        token=made.token,
        access_token=shown(made.listed, caller),
        client_mutation_id=new.client_mutation_id,
    )


async def revoke(info: ContextInfo, token_id: str, meta: MoveMeta | None) -> RevokeTokenPayload:
    """End a token.

    Raises:
        Unauthenticated: the caller has not signed in.
        RuleError: INVALID_INPUT.
        Refused: FORBIDDEN, NOT_FOUND, KEY_REUSED.
    """
    caller = await info.context.signed_in()
    await info.context.identity.revoke(caller, token_id, Meta(token_key(meta)))
    return RevokeTokenPayload(user_errors=[], token_id=strawberry.ID(token_id))


def shown(token: Token, caller: Caller) -> AccessToken:
    """A token as its owner sees it."""
    return AccessToken(
        id=strawberry.ID(token.token_id),
        name=token.name,
        scopes=[Scope(name) for name in names_of(token.scopes)],
        created_at=at(token.created_at),
        expires_at=at(token.expires_at),
        current=token.token_id == caller.token_id,
    )
