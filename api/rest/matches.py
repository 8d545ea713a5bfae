"""Matches: open, find, look at, join, leave, start, move, replay."""

import json
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Path, Query, Response
from pydantic.json_schema import SkipJsonSchema

from api import requests
from api.errors import not_found
from api.limits.buckets import Bucket
from api.paging import match_cursor, match_place, page_info
from api.rest.answers import Route, answer, documented, match_answer
from api.rest.doors import (
    OPTIONAL_SIGN_IN,
    Keyed,
    Meta,
    Operator,
    Player,
    Seated,
    Services,
    Viewer,
    takes,
)
from api.values import Answer
from engine import legal
from engine.actions import End
from engine.bots.advice import advisers
from engine.errors import Reason, RuleError
from engine.state import Status
from schema.cost import LOADED
from schema.inputs import MoveMeta
from schema.pages import PAGE_LIMIT, USUAL_PAGE
from schema.rest import inputs
from schema.rest.advice import Advice, AdviceList
from schema.rest.match import (
    Match,
    MatchConnection,
    MatchEdge,
    PageInfo,
    ScoutAndShows,
    ShowOption,
    ShowsAfterScout,
    match_of,
)
from schema.rest.replay import Replay

router = APIRouter(prefix="/v1/matches", tags=["matches"], route_class=Route)

codes = APIRouter(prefix="/v1", tags=["matches"], route_class=Route)

WHOLE: Final = 360  # points: a match with everything in it, as GraphQL prices it
DEAR: Final = 2000  # a replay, or every Scout & Show

MatchId = Annotated[str, Path(alias="matchId", description="The match's id.")]
First = Annotated[int, Query(ge=0, le=PAGE_LIMIT, description="Nodes of a page.")]
After = Annotated[
    str | SkipJsonSchema[None], Query(max_length=200, description="A page's `endCursor`.")
]
Adviser = Annotated[
    str,
    Query(
        max_length=100,
        description="A level that gives advice.",
        json_schema_extra=lambda schema: schema.update(enum=advisers()),
    ),
]
TAGGED: dict[str, Any] = {
    "headers": {"ETag": {"description": "The version.", "schema": {"type": "string"}}}
}


@router.post(
    "",
    status_code=201,
    response_model=Match,
    summary="Open a match; it starts by itself once no seat is OPEN",
    dependencies=takes(Bucket.CREATES),
    **documented(401, 403, 409, 415, 422),
)
async def create_match(
    parts: Services, player: Player, meta: Keyed, asked: inputs.CreateMatch
) -> Response:
    """The first PLAYER seat is the caller's."""
    found = await requests.create(parts.service, player, asked.asked(meta))
    return match_answer(found, 201, Location=f"/v1/matches/{found.view.match_id}")


@router.get(
    "",
    response_model=MatchConnection,
    summary="Public matches, newest first",
    openapi_extra=OPTIONAL_SIGN_IN,
    dependencies=takes(Bucket.READS, LOADED, each=WHOLE),
    **documented(401, 422),
)
async def matches(
    parts: Services,
    viewer: Viewer,
    status: Status | SkipJsonSchema[None] = None,
    first: First = USUAL_PAGE,
    after: After = None,
) -> Response:
    """Pages in the form of Relay's connections."""
    place = None if after is None else match_place(after)
    answers, more = await parts.service.page(status, place, first, viewer)
    edges = [
        MatchEdge(cursor=match_cursor(a), node=match_of(a.view, a.version, a.hash)) for a in answers
    ]
    info = page_info([edge.cursor for edge in edges], after, more=more)
    return answer(MatchConnection(edges=edges, page_info=PageInfo.model_validate(info)))


@codes.post(
    "/join",
    response_model=Match,
    summary="Take an open seat of the match that a join code leads to",
    dependencies=takes(Bucket.CREATES),
    **documented(401, 403, 404, 409, 412, 415, 422),
)
async def join_match_by_code(
    parts: Services, seated: Seated, meta: Meta, asked: inputs.JoinByCode
) -> Response:
    """For those who have a code and no id."""
    return match_answer(await requests.join(parts.service, seated, asked.asked(None, meta)))


@router.get(
    "/{matchId}",
    response_model=Match,
    summary="A match as the caller may see it",
    openapi_extra=OPTIONAL_SIGN_IN,
    dependencies=takes(Bucket.READS, WHOLE),
    **documented(401, 404, 422, responses={200: TAGGED, 304: {"description": "Not Modified"}}),
)
async def match(
    parts: Services,
    viewer: Viewer,
    match_id: MatchId,
    known: Annotated[
        str | SkipJsonSchema[None],
        Header(alias="If-None-Match", description='The version that is known, as `"17"`.'),
    ] = None,
) -> Response:
    """With the hand and the legal moves of the caller's own seat, if any."""
    found = await _look(parts, viewer, match_id)
    tag = f'"{found.version}"'
    # Compared weakly (RFC 9110, 13.1.2): a proxy that compresses makes tags weak.
    tags = [each.strip().removeprefix("W/") for each in (known or "").split(",")]
    if tag in tags or "*" in tags:
        return Response(status_code=304, headers={"ETag": tag})
    return match_answer(found)


@router.post(
    "/{matchId}/join",
    response_model=Match,
    summary="Take an open seat: of a public match, or with `joinCode`",
    dependencies=takes(Bucket.CREATES),
    **documented(401, 403, 404, 409, 412, 415, 422),
)
async def join_match(
    parts: Services, seated: Seated, meta: Meta, match_id: MatchId, asked: inputs.JoinMatch
) -> Response:
    """Who sits there already, stays there. In the lobby a seat is held for a while
    (`RINGMASTER_SEAT_HOLD_SECONDS`) for whoever took it to look at the match, follow it or act;
    then it is open again.
    """
    return match_answer(await requests.join(parts.service, seated, asked.asked(match_id, meta)))


@router.post(
    "/{matchId}/leave",
    response_model=Match,
    summary="Give up one's seat: it opens again in the lobby, a bot takes it later",
    dependencies=takes(Bucket.PLAYS),
    **documented(401, 403, 404, 409, 412, 422),
)
async def leave_match(parts: Services, seated: Seated, meta: Meta, match_id: MatchId) -> Response:
    """For good: once play has begun there is no way back."""
    asked = requests.meta_of(meta, "leaveMatch")
    return match_answer(await parts.service.leave(match_id, seated.player_id, asked))


@router.post(
    "/{matchId}/start",
    response_model=Match,
    summary="The host starts early: bots take the seats still OPEN",
    dependencies=takes(Bucket.PLAYS),
    **documented(401, 403, 404, 409, 412, 422),
)
async def start_match(parts: Services, player: Player, meta: Meta, match_id: MatchId) -> Response:
    """A match starts by itself once no seat is OPEN."""
    asked = requests.meta_of(meta, "startMatch")
    return match_answer(await parts.service.start(match_id, player.player_id, asked))


@router.post(
    "/{matchId}/return",
    response_model=Match,
    summary="Play one's seat again, which a bot plays while one is away",
    dependencies=takes(Bucket.PLAYS),
    **documented(401, 403, 404, 409, 412, 422),
)
async def return_to_match(
    parts: Services, seated: Seated, meta: Meta, match_id: MatchId
) -> Response:
    """A move or joining again does the same. Nothing happens if one is not away."""
    asked = requests.meta_of(meta, "returnToMatch")
    return match_answer(await parts.service.come_back(match_id, seated.player_id, asked))


@router.post(
    "/{matchId}/cancel",
    response_model=Match,
    summary="End any match without a result; for operators",
    dependencies=takes(Bucket.PLAYS),
    **documented(401, 403, 404, 409, 412, 415, 422),
)
async def cancel_match(
    parts: Services, operator: Operator, meta: Meta, match_id: MatchId, asked: inputs.CancelMatch
) -> Response:
    """Takes a token with the scope OPERATE. Everybody who follows the match is told the reason."""
    return match_answer(
        await requests.cancel(parts.operators, operator, match_id, asked.reason, meta)
    )


MOVE: dict[str, Any] = {
    "response_model": Match,
    "dependencies": takes(Bucket.PLAYS),
    **documented(401, 403, 404, 409, 412, 415, 422, responses={200: TAGGED}),
}


@router.post("/{matchId}/hand", summary="Keep the hand as dealt, or flip all of it", **MOVE)
async def choose_hand(
    parts: Services, seated: Seated, meta: Meta, match_id: MatchId, asked: inputs.ChooseHand
) -> Response:
    """Once a round, before its first turn."""
    return await _move(parts, seated, meta, match_id, asked)


@router.post("/{matchId}/show", summary="Show a set of neighbouring cards", **MOVE)
async def show(
    parts: Services, seated: Seated, meta: Meta, match_id: MatchId, asked: inputs.Show
) -> Response:
    """One that beats the active set, or any on an empty table."""
    return await _move(parts, seated, meta, match_id, asked)


@router.post("/{matchId}/scout", summary="Take a card from an end of the active set", **MOVE)
async def scout(
    parts: Services, seated: Seated, meta: Meta, match_id: MatchId, asked: inputs.Scout
) -> Response:
    """Into any gap of the hand, either way up."""
    return await _move(parts, seated, meta, match_id, asked)


@router.post("/{matchId}/scout-and-show", summary="Scout and at once show, once per round", **MOVE)
async def scout_and_show(
    parts: Services, seated: Seated, meta: Meta, match_id: MatchId, asked: inputs.ScoutAndShow
) -> Response:
    """All of it, or nothing; not with two players."""
    return await _move(parts, seated, meta, match_id, asked)


@router.get(
    "/{matchId}/scout-and-show",
    response_model=ScoutAndShows,
    summary="Every Scout & Show that the caller may play now",
    dependencies=takes(Bucket.READS, DEAR),
    **documented(401, 403, 404, 422),
)
async def scout_and_shows(parts: Services, seated: Seated, match_id: MatchId) -> Response:
    """Up to some 3,200 actions."""
    found = await _own(parts, seated, match_id)
    return answer(ScoutAndShows.of(found.view, found.version))


@router.get(
    "/{matchId}/shows-after-scout",
    response_model=ShowsAfterScout,
    summary="The shows that a Scout & Show with this scout allows",
    dependencies=takes(Bucket.READS, WHOLE),
    **documented(401, 403, 404, 422),
)
async def shows_after_scout(
    parts: Services,
    seated: Seated,
    match_id: MatchId,
    end: End,
    insert_at: Annotated[int, Query(alias="insertAt", ge=-(2**31), lt=2**31)],
    flip: bool,
) -> Response:
    """The second step for a front end that lets its player scout first."""
    found = await _own(parts, seated, match_id)
    shows = legal.shows_after_scout(found.view, end, insert_at, flip)
    return answer(
        ShowsAfterScout(version=found.version, shows=[ShowOption.of(each) for each in shows])
    )


@router.get(
    "/{matchId}/advice",
    response_model=AdviceList,
    summary="What a level of bots would do in the caller's place",
    dependencies=takes(Bucket.READS, WHOLE),
    **documented(401, 403, 404, 422),
)
async def advice(
    parts: Services,
    seated: Seated,
    match_id: MatchId,
    level: Adviser = "expert",
    first: First = 5,
) -> Response:
    """From what the caller's seat may know; only in matches opened with `advice`."""
    found = await parts.service.advise(match_id, seated.player_id, level, first)
    return answer(AdviceList(advice=[Advice.of(one) for one in found]))


@router.get(
    "/{matchId}/replay",
    response_model=Replay,
    summary="The replay of a finished match, with the secret of its deals",
    openapi_extra=OPTIONAL_SIGN_IN,
    dependencies=takes(Bucket.READS, DEAR),
    **documented(401, 404, 422),
)
async def replay(parts: Services, viewer: Viewer, match_id: MatchId) -> Response:
    """For anybody to check (docs/replay.md); 404 until the match is FINISHED."""
    document = await parts.service.replay(match_id, viewer)
    if document is None:
        raise not_found()
    return Response(json.dumps(document, separators=(",", ":")), media_type="application/json")


async def _move(
    parts: Services, seated: Seated, meta: MoveMeta, match_id: str, asked: inputs.Move
) -> Response:
    return match_answer(await requests.move(parts.service, seated, asked.asked(match_id, meta)))


async def _look(parts: Services, viewer: str | None, match_id: str) -> Answer:
    found = await parts.service.look(match_id, viewer)
    if found is None:
        raise not_found()
    return found


async def _own(parts: Services, seated: Seated, match_id: str) -> Answer:
    found = await _look(parts, seated.player_id, match_id)
    if found.view.you is None:
        raise RuleError(Reason.NOT_SEATED)
    return found
