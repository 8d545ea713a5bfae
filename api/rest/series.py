"""Series: many matches between bots."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from api import requests
from api.limits.buckets import Bucket
from api.paging import counted_cursor, counted_place, page_info
from api.rest.answers import Route, answer, documented
from api.rest.doors import Keyed, Player, Seated, Services, Visit, takes
from api.rest.matches import DEAR, WHOLE, After, First
from api.rest.updates import STREAMED, Cursor, LastEventId, Told, event_stream, wants_stream
from api.series.service import Progress, Standing, series_not_found
from schema.cost import LOADED
from schema.pages import USUAL_PAGE
from schema.rest.inputs import CreateSeries
from schema.rest.match import PageInfo
from schema.rest.replay import Replay
from schema.rest.series import (
    Series,
    SeriesMatchConnection,
    SeriesMatchEdge,
    SeriesUpdate,
    matches_of,
)
from schema.types import at

router = APIRouter(prefix="/v1/series", tags=["series"], route_class=Route)

SeriesId = Annotated[str, Path(alias="seriesId", description="The id of a series of the caller's.")]


@router.post(
    "",
    status_code=201,
    response_model=Series,
    summary="Play a series of matches between bots",
    dependencies=takes(Bucket.CREATES),
    **documented(401, 403, 409, 415, 422),
)
async def create_series(
    parts: Services, player: Player, meta: Keyed, asked: CreateSeries
) -> Response:
    """For the caller to follow."""
    standing = await requests.create_series(parts.series, player, asked.asked(meta))
    location = f"/v1/series/{standing.series.series_id}"
    return answer(_series(standing), 201, Location=location)


@router.get(
    "/{seriesId}",
    response_model=Series,
    summary="A series",
    dependencies=takes(Bucket.READS, WHOLE),
    **documented(401, 403, 404, 422),
)
async def series(parts: Services, seated: Seated, series_id: SeriesId) -> Response:
    """As it stands."""
    return answer(_series(await _look(parts, seated, series_id)))


@router.post(
    "/{seriesId}/cancel",
    response_model=Series,
    summary="End a series: what was counted stays",
    dependencies=takes(Bucket.PLAYS),
    **documented(401, 403, 404, 409, 422),
)
async def cancel_series(
    parts: Services, player: Player, meta: Keyed, series_id: SeriesId
) -> Response:
    """One that is over stays as it is."""
    asked = requests.meta_of_new(meta)
    return answer(_series(await parts.series.cancel(series_id, player.player_id, asked)))


@router.get(
    "/{seriesId}/matches",
    response_model=SeriesMatchConnection,
    summary="Single matches, in the order in which they were counted",
    dependencies=takes(Bucket.READS, LOADED, each=20),
    **documented(401, 403, 404, 422),
)
async def series_matches(
    parts: Services,
    seated: Seated,
    series_id: SeriesId,
    first: First = USUAL_PAGE,
    after: After = None,
) -> Response:
    """Pages in the form of Relay's connections."""
    standing = await _look(parts, seated, series_id)
    place = 0 if after is None else counted_place(after)
    counted, more = await parts.series.results(standing, place, first)
    nodes = matches_of(tuple(one.result for one in counted))
    edges = [
        SeriesMatchEdge(cursor=counted_cursor(one.version), node=node)
        for one, node in zip(counted, nodes, strict=True)
    ]
    info = page_info([edge.cursor for edge in edges], after, more=more)
    return answer(SeriesMatchConnection(edges=edges, page_info=PageInfo.model_validate(info)))


@router.get(
    "/{seriesId}/matches/{number}/replay",
    response_model=Replay,
    summary="The replay of a counted match, where they are kept",
    dependencies=takes(Bucket.READS, DEAR),
    **documented(401, 403, 404, 422),
)
async def series_replay(
    parts: Services,
    seated: Seated,
    series_id: SeriesId,
    number: Annotated[int, Path(ge=1, lt=2**31, description="The match's number, from 1.")],
) -> Response:
    """For series asked for with `replays`."""
    document = await parts.series.replay(series_id, number, seated.player_id)
    if document is None:
        raise series_not_found()
    return Response(document, media_type="application/json")


@router.get(
    "/{seriesId}/updates",
    response_model=Series,
    summary="The progress of a series",
    dependencies=takes(Bucket.STREAMS),
    **documented(401, 403, 404, 410, 422, responses=STREAMED),
)
async def series_updates(
    request: Request,
    parts: Services,
    visitor: Visit,
    seated: Seated,
    series_id: SeriesId,
    after: Cursor = None,
    last_event_id: LastEventId = None,
) -> Response:
    """As `text/event-stream`, how it stands, or with a cursor what was counted since, and then its
    progress; as JSON, how it stands.
    """
    if not wants_stream(request):
        return answer(_series(await _look(parts, seated, series_id)))
    cursor = after if last_event_id is None else int(last_event_id)
    await parts.series.check_follow(series_id, seated.player_id, cursor)
    standing = await _look(parts, seated, series_id)
    if standing.status.over and cursor == standing.step.version:
        return Response(status_code=204)
    progress = parts.series.follow(series_id, seated.player_id, cursor)
    return event_stream(parts.streams.lasting(progress, await visitor.permit()), _told)


def _told(made: Progress) -> Told:
    step = made.standing.step
    update = SeriesUpdate(
        version=step.version,
        at=at(step.at),
        results=matches_of(made.results),
        series=_series(made.standing),
    )
    return Told(update, step.version, made.standing.status.over)


async def _look(parts: Services, seated: Seated, series_id: str) -> Standing:
    standing = await parts.series.look(series_id, seated.player_id)
    if standing is None:
        raise series_not_found()
    return standing


def _series(standing: Standing) -> Series:
    found, step = standing.series, standing.step
    return Series.of(
        found.series_id,
        found.spec,
        step.sums,
        standing.status,
        step.version,
        found.created_at,
    )
