"""Following a match, cut to what the viewer may know, or a series."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import strawberry

from api.graphql import series as of_series
from api.graphql.context import ContextInfo
from api.lobby import News
from api.values import Moment
from schema.events import MatchUpdate
from schema.lobby import LobbyUpdate
from schema.series import SeriesUpdate
from schema.types import match_of


@strawberry.type
class Subscription:
    @strawberry.subscription(
        description=(
            "First the match as it stands (or, with `after`, every update after that version), "
            "then each update as it happens: in order, none twice, none missing. Completes when "
            "the match is over. If it completes earlier, its time was up: resume with `after`."
        )
    )
    async def match_updates(
        self, info: ContextInfo, match_id: strawberry.ID, after: int | None = None
    ) -> AsyncGenerator[MatchUpdate, None]:
        # Not a generator itself: what is refused here is an `error` message, not a first update.
        context = info.context
        player_id, permit = await context.viewer_id(), await context.permit()
        await context.service.check_follow(match_id, player_id, after)
        moments = context.service.follow(match_id, player_id, after)
        return _updates(context.streams.lasting(moments, permit))

    @strawberry.subscription(
        description=(
            "First the newest hundred public matches that can be joined, then what changes among "
            "them. It has no cursor: who comes again is told the state first, again."
        )
    )
    async def lobby_updates(self, info: ContextInfo) -> AsyncGenerator[LobbyUpdate, None]:
        context = info.context
        permit = await context.permit()
        return _lobby(context.streams.lasting(context.lobby.follow(), permit))

    @strawberry.subscription(
        description=(
            "First a series of the caller's as it stands (or, with `after`, everything after that "
            "version), then its progress: in order, none twice, none missing. Matches counted "
            "within a tenth of a second may come in one update, each of them in `results`. "
            "Completes when the series is over. If it completes earlier, its time was up: resume "
            "with `after`."
        )
    )
    async def series_updates(
        self, info: ContextInfo, series_id: strawberry.ID, after: int | None = None
    ) -> AsyncGenerator[SeriesUpdate, None]:
        return await of_series.updates(info, series_id, after)


async def _lobby(news: AsyncGenerator[News, None]) -> AsyncGenerator[LobbyUpdate, None]:
    async with aclosing(news):
        async for one in news:
            yield LobbyUpdate(
                matches=[match_of(found.view, found.version, found.hash) for found in one.open],
                gone=[strawberry.ID(match_id) for match_id in one.gone],
            )


async def _updates(moments: AsyncGenerator[Moment, None]) -> AsyncGenerator[MatchUpdate, None]:
    async with aclosing(moments):
        async for moment in moments:
            yield _update(moment)


def _update(moment: Moment) -> MatchUpdate:
    """An update, made once for all who may know as much."""
    found: MatchUpdate | None = moment.encoded.get("graphql")
    if found is None:
        found = moment.encoded["graphql"] = MatchUpdate(
            happened=moment.events,
            at_ms=moment.at,
            version=moment.version,
            match=match_of(moment.view, moment.version, moment.hash, moment.shared),
            told={},
            shared=moment.shared,
        )
    return found
