"""What operators do, for tokens with the scope OPERATE."""

from collections.abc import Sequence
from typing import Annotated, Final

from fastapi import APIRouter, Path, Query, Response

from api import requests
from api.graphql.operators import act, inspection, process, stuck_match
from api.limits.buckets import Bucket
from api.operators.ports import Entry, Process
from api.operators.service import STUCK_SECONDS, Stuck
from api.paging import act_cursor, act_place, page_info
from api.requests import LONGEST_AGO, operator_of
from api.rest.answers import Route, answer, documented
from api.rest.doors import Operator, Services, takes
from api.rest.matches import After, First, MatchId
from api.values import Inspection
from schema.cost import LOADED, WRITTEN
from schema.operators import PROCESSES
from schema.pages import USUAL_PAGE
from schema.rest import operators as models
from schema.rest.match import PageInfo, match_of

DEAR: Final = 2000  # points: many matches are looked at

router = APIRouter(prefix="/v1/operator", tags=["operators"], route_class=Route)


@router.get(
    "/stuck-matches",
    response_model=models.StuckMatches,
    summary="Matches that the house owes something since too long ago",
    dependencies=takes(Bucket.READS, DEAR),
    **documented(401, 403, 422),
)
async def stuck_matches(
    parts: Services,
    _: Operator,
    first: First = USUAL_PAGE,
    seconds: Annotated[int, Query(alias="olderThanSeconds", ge=0, le=LONGEST_AGO)] = STUCK_SECONDS,
) -> Response:
    """The longest first."""
    return answer(stuck_list(await parts.operators.stuck(seconds, first)))


@router.get(
    "/matches/{matchId}",
    response_model=models.MatchInspection,
    summary="Any match, as everybody could see it, who plays it, and what it waits for",
    dependencies=takes(Bucket.READS, WRITTEN),
    **documented(401, 403, 404, 422),
)
async def inspect_match(parts: Services, operator: Operator, match_id: MatchId) -> Response:
    """Without a card that is hidden; on record."""
    return answer(inspected(await parts.operators.inspect(operator_of(operator), match_id)))


@router.post(
    "/matches/{matchId}/send-due",
    response_model=models.Sent,
    summary="Send the workers again what a match is owed",
    dependencies=takes(Bucket.PLAYS),
    **documented(401, 403, 404, 415, 422),
)
async def send_due_of_match(
    parts: Services, operator: Operator, match_id: MatchId, asked: models.SendDue
) -> Response:
    """What was done meanwhile is not done twice."""
    by = operator_of(operator)
    return answer(models.Sent(sent=await parts.operators.send_due(by, match_id, quick=asked.quick)))


@router.post(
    "/send-due",
    response_model=models.Sent,
    summary="Send the workers again what all stuck matches are owed",
    dependencies=takes(Bucket.PLAYS),
    **documented(401, 403, 415, 422),
)
async def send_due(parts: Services, operator: Operator, asked: models.SendDue) -> Response:
    """What was done meanwhile is not done twice."""
    by = operator_of(operator)
    return answer(models.Sent(sent=await parts.operators.send_due(by, None, quick=asked.quick)))


@router.get(
    "/processes",
    response_model=models.Processes,
    summary="The processes at work",
    dependencies=takes(Bucket.READS, LOADED),
    **documented(401, 403, 422),
)
async def processes(parts: Services, _: Operator) -> Response:
    """Those that have said so in the last 15 seconds."""
    return answer(process_list(await parts.operators.processes()))


@router.post(
    "/processes/{processId}/drain",
    status_code=204,
    summary="Let a process finish what it does and end",
    dependencies=takes(Bucket.PLAYS),
    **documented(401, 403, 404, 415, 422),
)
async def drain_process(
    parts: Services,
    operator: Operator,
    process_id: Annotated[str, Path(alias="processId", description="As it is listed.")],
    asked: models.Given,
) -> Response:
    """An API process ends its streams politely, for clients to resume elsewhere."""
    await requests.drain(parts.operators, operator, process_id, asked.reason)
    return Response(status_code=204)


@router.post(
    "/players/{playerId}/revoke-tokens",
    response_model=models.Revoked,
    summary="End every token of a player, and every stream of these",
    dependencies=takes(Bucket.PLAYS),
    **documented(401, 403, 404, 415, 422),
)
async def revoke_tokens(
    parts: Services,
    operator: Operator,
    player_id: Annotated[str, Path(alias="playerId", description="As an inspection tells it.")],
    asked: models.Given,
) -> Response:
    """In this process they have ended when this returns, in the others within two seconds."""
    revoked = await requests.revoke_tokens(parts.operators, operator, player_id, asked.reason)
    return answer(models.Revoked(revoked=revoked))


@router.get(
    "/acts",
    response_model=models.OperatorActs,
    summary="What operators did, the newest first",
    dependencies=takes(Bucket.READS, LOADED),
    **documented(401, 403, 422),
)
async def operator_acts(
    parts: Services, _: Operator, first: First = USUAL_PAGE, after: After = None
) -> Response:
    """Kept for 400 days."""
    place = None if after is None else act_place(after)
    entries, more = await parts.operators.acts(place, first)
    return answer(act_page(entries, after, more=more))


def stuck_list(found: Sequence[Stuck]) -> models.StuckMatches:
    """Stuck matches as operators see them."""
    shown = [models.StuckMatch.model_validate(stuck_match(one)) for one in found]
    return models.StuckMatches(matches=shown)


def inspected(seen: Inspection) -> models.MatchInspection:
    """A match as operators see it."""
    shown, found = inspection(seen), seen.answer
    return models.MatchInspection(
        match=match_of(found.view, found.version, found.hash),
        waits_for=shown.waits_for,
        seat=shown.seat,
        level=shown.level,
        host=shown.host,
        players=[models.SeatedPlayer.model_validate(player) for player in shown.players],
        commits=[models.CommitLine.model_validate(commit) for commit in shown.commits],
    )


def process_list(found: Sequence[Process]) -> models.Processes:
    """Processes as operators see them."""
    shown = [models.Process.model_validate(process(one)) for one in found[:PROCESSES]]
    return models.Processes(processes=shown)


def act_page(entries: Sequence[Entry], after: str | None, *, more: bool) -> models.OperatorActs:
    """A page of acts, asked for ``after`` a cursor; ``more``: others follow."""
    edges = [
        models.OperatorActEdge(
            cursor=act_cursor(entry), node=models.OperatorAct.model_validate(act(entry))
        )
        for entry in entries
    ]
    info = page_info([edge.cursor for edge in edges], after, more=more)
    return models.OperatorActs(edges=edges, page_info=PageInfo.model_validate(info))
