"""Guests and their tokens, and the levels that bots can be asked for."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request, Response

from api.graphql.tokens import shown
from api.identity.service import NewToken
from api.limits.buckets import Bucket
from api.rest.answers import Route, answer, documented
from api.rest.doors import (
    OPTIONAL_SIGN_IN,
    Keyed,
    Player,
    SecretKey,
    Services,
    SignedIn,
    address_of,
    takes,
    tell,
)
from api.values import Meta
from engine.bots import LEVELS
from schema.inputs import check_sign_in_key, token_key
from schema.rest.identity import AccessToken, AccessTokens, Guest, NewAccessToken
from schema.rest.inputs import CreateToken, SignIn
from schema.rest.match import BotLevel, BotLevels

router = APIRouter(prefix="/v1", tags=["people and bots"], route_class=Route)


async def _charge_address(request: Request, parts: Services) -> None:
    tell(request, await parts.limiter.charge_address(Bucket.CREATES, address_of(request)))


@router.post(
    "/guests",
    status_code=201,
    response_model=Guest,
    summary="A token for a new player of this name",
    dependencies=[Depends(_charge_address)],
    **documented(409, 415, 422),
)
async def sign_in_as_guest(parts: Services, key: SecretKey, asked: SignIn) -> Response:
    """The token is told once; whoever has it is this player."""
    made = await parts.identity.sign_in(asked.name, check_sign_in_key(key))
    return answer(Guest(token=made.token, player_id=made.player_id), 201)


@router.post(
    "/tokens",
    status_code=201,
    response_model=NewAccessToken,
    summary="A further token of the caller's, which allows as much or less",
    dependencies=takes(Bucket.CREATES),
    **documented(401, 403, 409, 415, 422),
)
async def create_token(
    parts: Services, player: Player, meta: Keyed, asked: CreateToken
) -> Response:
    """The token is told this once."""
    wanted = NewToken(asked.name, frozenset(asked.scopes), asked.expires_in_seconds)
    made = await parts.identity.create(player, wanted, Meta(token_key(meta)))
    listed = AccessToken.model_validate(shown(made.listed, player))
    return answer(NewAccessToken(token=made.token, access_token=listed), 201)


@router.get(
    "/tokens",
    response_model=AccessTokens,
    summary="The caller's tokens",
    dependencies=takes(Bucket.READS, 100),
    **documented(401, 403, 422),
)
async def tokens(parts: Services, caller: SignedIn) -> Response:
    """Without their secrets."""
    found = await parts.identity.tokens(caller)
    listed = [AccessToken.model_validate(shown(token, caller)) for token in found]
    return answer(AccessTokens(tokens=listed))


@router.delete(
    "/tokens/{tokenId}",
    status_code=204,
    summary="End a token for good, and every stream of it",
    dependencies=takes(Bucket.PLAYS),
    **documented(401, 403, 404, 409, 422),
)
async def revoke_token(
    parts: Services,
    caller: SignedIn,
    meta: Keyed,
    token_id: Annotated[str, Path(alias="tokenId", description="As `GET /v1/tokens` tells it.")],
) -> Response:
    """Any token may end itself."""
    await parts.identity.revoke(caller, token_id, Meta(token_key(meta)))
    return Response(status_code=204)


@router.get(
    "/bot-levels",
    response_model=BotLevels,
    summary="The levels that bots can be asked for, gentlest first",
    openapi_extra=OPTIONAL_SIGN_IN,
    dependencies=takes(Bucket.READS, 100),
    **documented(401),
)
async def bot_levels(parts: Services) -> Response:
    """With how often a quick move was played in place of a level's own."""
    levels = [
        BotLevel(
            name=level.name,
            description=level.description,
            budget_ms=level.budget_ms,
            faults=await parts.service.faults(level.name),
        )
        for level in LEVELS.values()
    ]
    return answer(BotLevels(bot_levels=levels))
