"""Guests, and the levels that bots can be asked for."""

from fastapi import APIRouter, Response

from api.rest.answers import Route, answer, documented
from api.rest.doors import Services
from engine.bots import LEVELS
from schema.rest.identity import Guest
from schema.rest.inputs import SignIn
from schema.rest.match import BotLevel, BotLevels

router = APIRouter(prefix="/v1", tags=["people and bots"], route_class=Route)


@router.post(
    "/guests",
    status_code=201,
    response_model=Guest,
    summary="A token for a new player of this name",
    **documented(415, 422),
)
async def sign_in_as_guest(parts: Services, asked: SignIn) -> Response:
    """The token is told once; whoever has it is this player."""
    token, guest = await parts.guests.sign_in(asked.name)
    return answer(Guest(token=token, player_id=guest.player_id), 201)


@router.get(
    "/bot-levels",
    response_model=BotLevels,
    summary="The levels that bots can be asked for, gentlest first",
    **documented(),
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
