"""Series: resolvers of a few lines over their service."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import strawberry

from api.graphql.context import ContextInfo
from api.paging import counted_cursor, counted_place, page_info, page_size
from api.requests import create_series, meta_of_new
from api.series.service import Progress, SeriesService, Standing
from schema.inputs import CreateSeriesInput, MoveMeta
from schema.scopes import Scope
from schema.series import (
    Series,
    SeriesMatchConnection,
    SeriesMatchEdge,
    SeriesUpdate,
    matches_of,
)
from schema.types import at


async def create(info: ContextInfo, new: CreateSeriesInput) -> Series:
    """Begin a series for the caller.

    Raises:
        Unauthenticated: the caller has not signed in.
        RuleError: INVALID_INPUT.
        Refused: FORBIDDEN, TOO_MANY_SERIES, KEY_REUSED.
    """
    player = await info.context.player(Scope.PLAY)
    standing = await create_series(info.context.series, player, new)
    return series_of(info.context.series, standing)


async def cancel(info: ContextInfo, series_id: str, meta: MoveMeta | None) -> Series:
    """End a series of the caller's.

    Raises:
        Unauthenticated: the caller has not signed in.
        RuleError: INVALID_INPUT.
        Refused: FORBIDDEN, NOT_FOUND, KEY_REUSED.
    """
    player = await info.context.player(Scope.PLAY)
    asked = meta_of_new(meta)
    standing = await info.context.series.cancel(series_id, player.player_id, asked)
    return series_of(info.context.series, standing)


async def look(info: ContextInfo, series_id: str) -> Series | None:
    """A series of the caller's, None if there is none."""
    service = info.context.series
    standing = await service.look(series_id, await info.context.viewer_id())
    return None if standing is None else series_of(service, standing)


async def updates(
    info: ContextInfo, series_id: str, after: int | None
) -> AsyncGenerator[SeriesUpdate, None]:
    """The progress of a series of the caller's.

    Raises:
        Refused: NOT_FOUND, CURSOR_EXPIRED.
    """
    service, player_id = info.context.series, await info.context.viewer_id()
    permit = await info.context.permit()
    await service.check_follow(series_id, player_id, after)
    progress = service.follow(series_id, player_id, after)
    return _updates(service, info.context.streams.lasting(progress, permit))


async def _updates(
    service: SeriesService, progress: AsyncGenerator[Progress, None]
) -> AsyncGenerator[SeriesUpdate, None]:
    async with aclosing(progress):
        async for told in progress:
            step = told.standing.step
            yield SeriesUpdate(
                version=step.version,
                at=at(step.at),
                results=matches_of(told.results),
                series=series_of(service, told.standing),
            )


def series_of(service: SeriesService, standing: Standing) -> Series:
    """A series as its creator sees it."""
    series, step = standing.series, standing.step

    async def page(first: int | None, after: str | None) -> SeriesMatchConnection:
        return await _page(service, standing, first, after)

    return Series(
        id=strawberry.ID(series.series_id),
        spec=series.spec,
        sums=step.sums,
        created_ms=series.created_at,
        page=page,
        status=standing.status,
        version=step.version,
    )


async def _page(
    service: SeriesService, standing: Standing, first: int | None, after: str | None
) -> SeriesMatchConnection:
    limit = page_size(first)
    place = 0 if after is None else counted_place(after)
    counted, more = await service.results(standing, place, limit)
    edges = [
        SeriesMatchEdge(cursor=counted_cursor(one.version), node=node)
        for one, node in zip(counted, matches_of([c.result for c in counted]), strict=True)
    ]
    return SeriesMatchConnection(
        edges=edges,
        page_info=page_info([edge.cursor for edge in edges], after, more=more),
    )
