"""Reading: matches, pages of public ones, series, bot levels."""

import json

import strawberry
from strawberry import field

from api.errors import Refused
from api.graphql import operators as of_operators
from api.graphql import series as of_series
from api.graphql import tokens as of_tokens
from api.graphql.context import ContextInfo
from api.graphql.refusals import user_error
from api.identity.service import MOST_TOKENS
from api.paging import match_cursor, match_place, page_info, page_size
from api.store.keys import is_series_id
from engine.bots import LEVELS
from engine.errors import RuleError
from engine.state import Status
from schema.advice import AdvicePayload, advice_of
from schema.cost import LOADED, WRITTEN, paged, sized, weighs
from schema.operators import (
    PROCESSES,
    InspectMatchPayload,
    OperatorActConnection,
    Process,
    StuckMatch,
)
from schema.pages import PAGE_LIMIT
from schema.scopes import Scope
from schema.series import Series
from schema.tokens import AccessToken
from schema.types import BotLevel, Match, MatchConnection, MatchEdge, Node, match_of


@strawberry.type
class Query:
    @field(
        description="Relay: any object by its id, null if there is none for the caller.",
        directives=weighs(LOADED),
    )
    async def node(self, info: ContextInfo, id: strawberry.ID) -> Node | None:  # noqa: A002
        if is_series_id(id):
            return await of_series.look(info, id)
        return await _match(info, id)

    @field(
        description="A match by its id, null if there is none that the caller may see.",
        directives=weighs(LOADED),
    )
    async def match(self, info: ContextInfo, id: strawberry.ID) -> Match | None:  # noqa: A002
        return await _match(info, id)

    @field(description="Public matches, newest first.", directives=paged(["edges"], LOADED))
    async def matches(
        self,
        info: ContextInfo,
        status: Status | None = None,
        first: int | None = 20,
        after: str | None = None,
    ) -> MatchConnection:
        limit = page_size(first)
        place = None if after is None else match_place(after)
        caller = await info.context.viewer_id()
        answers, more = await info.context.service.page(status, place, limit, caller)
        edges = [
            MatchEdge(
                cursor=match_cursor(answer),
                node=match_of(answer.view, answer.version, answer.hash),
            )
            for answer in answers
        ]
        return MatchConnection(
            edges=edges,
            page_info=page_info([edge.cursor for edge in edges], after, more=more),
        )

    @field(
        description=(
            "The replay of a finished match as a JSON document, with the secret of its deals, for "
            "anybody to check; null until then."
        ),
        directives=weighs(2000),
    )
    async def replay(self, info: ContextInfo, match_id: strawberry.ID) -> str | None:
        document = await info.context.service.replay(match_id, await info.context.viewer_id())
        return None if document is None else json.dumps(document, separators=(",", ":"))

    @field(
        description="A series of the caller's by its id, null if there is none.",
        directives=weighs(LOADED),
    )
    async def series(self, info: ContextInfo, id: strawberry.ID) -> Series | None:  # noqa: A002
        return await of_series.look(info, id)

    @field(
        description=(
            "The replay of a counted match of a series that was asked to keep them, as a JSON "
            "document (docs/replay.md); null if there is none."
        ),
        directives=weighs(200),
    )
    async def series_replay(
        self, info: ContextInfo, series_id: strawberry.ID, number: int
    ) -> str | None:
        caller = await info.context.viewer_id()
        return await info.context.series.replay(series_id, number, caller)

    @field(
        description=(
            "What a level of bots would do in the caller's place, from what the caller's seat may "
            "know; only in matches opened with `advice`."
        ),
        directives=paged(["advice"], 1500),
    )
    async def advice(
        self,
        info: ContextInfo,
        match_id: strawberry.ID,
        level: str = "expert",
        first: int | None = 5,
    ) -> AdvicePayload:
        try:
            limit = page_size(first)
            player = await info.context.player(Scope.BOT)
            found = await info.context.service.advise(match_id, player.player_id, level, limit)
        except (RuleError, Refused) as error:
            return AdvicePayload(user_errors=[user_error(error)], advice=[])
        return AdvicePayload(user_errors=[], advice=[advice_of(one) for one in found])

    @field(
        description=(
            "The caller's tokens, newest first, without their secrets; for operators also those of "
            "another player."
        ),
        directives=sized(MOST_TOKENS),
    )
    async def tokens(
        self, info: ContextInfo, player_id: strawberry.ID | None = None
    ) -> list[AccessToken]:
        return await of_tokens.listed(info, player_id)

    @field(
        description=(
            "For operators: matches that the house owes something since so many seconds, the "
            "longest first."
        ),
        directives=sized(PAGE_LIMIT, 2000),
    )
    async def stuck_matches(
        self,
        info: ContextInfo,
        older_than_seconds: int | None = None,
        first: int | None = None,
    ) -> list[StuckMatch]:
        return await of_operators.stuck(info, older_than_seconds, first)

    @field(
        description=(
            "For operators: any match, as everybody could see it, who plays it, and what it waits "
            "for."
        ),
        directives=weighs(WRITTEN),
    )
    async def inspect_match(
        self, info: ContextInfo, match_id: strawberry.ID
    ) -> InspectMatchPayload:
        try:
            found = await of_operators.inspect(info, match_id)
        except (RuleError, Refused) as error:
            return InspectMatchPayload(user_errors=[user_error(error)])
        return InspectMatchPayload(user_errors=[], inspection=found)

    @field(description="For operators: the processes at work.", directives=sized(PROCESSES, LOADED))
    async def processes(self, info: ContextInfo) -> list[Process]:
        return await of_operators.processes(info)

    @field(
        description="For operators: what operators did, the newest first.",
        directives=paged(["edges"], LOADED),
    )
    async def operator_acts(
        self, info: ContextInfo, first: int | None = 20, after: str | None = None
    ) -> OperatorActConnection:
        return await of_operators.acts(info, first, after)

    @field(
        description="The levels that bots can be asked for, gentlest first.",
        directives=sized(10),
    )
    def bot_levels(self, info: ContextInfo) -> list[BotLevel]:
        count = info.context.service.faults
        return [
            BotLevel(
                name=level.name,
                description=level.description,
                budget_ms=level.budget_ms,
                count=count,
            )
            for level in LEVELS.values()
        ]


async def _match(info: ContextInfo, match_id: str) -> Match | None:
    answer = await info.context.service.look(match_id, await info.context.viewer_id())
    return None if answer is None else match_of(answer.view, answer.version, answer.hash)
