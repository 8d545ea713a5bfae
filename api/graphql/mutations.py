"""Writing: each mutation builds a command, submits it, and answers with the match."""

from collections.abc import Awaitable, Callable

import strawberry
from strawberry import field

from api import requests
from api.errors import Refused
from api.graphql import operators as of_operators
from api.graphql import series as of_series
from api.graphql import tokens as of_tokens
from api.graphql.context import ContextInfo
from api.graphql.refusals import user_error
from api.values import Answer
from engine.errors import RuleError
from schema.cost import WRITTEN, weighs
from schema.inputs import (
    ChooseHandInput,
    CreateMatchInput,
    CreateSeriesInput,
    CreateTokenInput,
    JoinMatchInput,
    MoveInput,
    MoveMeta,
    ScoutAndShowInput,
    ScoutInput,
    ShowInput,
    check_sign_in_key,
)
from schema.operators import DrainProcessPayload, RevokeTokensPayload, SendDuePayload
from schema.payloads import GuestPayload, MatchPayload, SeriesPayload
from schema.scopes import Scope
from schema.series import Series
from schema.tokens import RevokeTokenPayload, TokenPayload
from schema.types import match_of


@strawberry.type
class Mutation:
    @field(
        description=(
            "A token for a new player of this name. With an `idempotencyKey`, a secret of 32 to "
            "128 printable ASCII characters, a retry within a day gives the same token again."
        ),
        directives=weighs(WRITTEN),
    )
    async def sign_in_as_guest(
        self, info: ContextInfo, name: str, idempotency_key: str | None = None
    ) -> GuestPayload:
        try:
            made = await info.context.identity.sign_in(name, check_sign_in_key(idempotency_key))
        except (RuleError, Refused) as error:
            return GuestPayload(user_errors=[user_error(error)])
        player_id = strawberry.ID(made.player_id)
        return GuestPayload(user_errors=[], token=made.token, player_id=player_id)

    @field(
        description="A further token of the caller's, which allows as much or less.",
        directives=weighs(WRITTEN),
    )
    async def create_token(
        self,
        info: ContextInfo,
        input: CreateTokenInput,  # noqa: A002
    ) -> TokenPayload:
        try:
            return await of_tokens.create(info, input)
        except (RuleError, Refused) as error:
            errors = [user_error(error)]
            return TokenPayload(user_errors=errors, client_mutation_id=input.client_mutation_id)

    @field(
        description=(
            "End a token of the caller's for good, and every stream that was begun with it, in "
            "whichever process, within two seconds."
        ),
        directives=weighs(WRITTEN),
    )
    async def revoke_token(
        self, info: ContextInfo, token_id: strawberry.ID, meta: MoveMeta | None = None
    ) -> RevokeTokenPayload:
        try:
            return await of_tokens.revoke(info, token_id, meta)
        except (RuleError, Refused) as error:
            return RevokeTokenPayload(user_errors=[user_error(error)])

    @field(
        description="Open a match; it starts by itself once no seat is OPEN.",
        directives=weighs(WRITTEN),
    )
    async def create_match(
        self,
        info: ContextInfo,
        input: CreateMatchInput,  # noqa: A002
    ) -> MatchPayload:
        async def work() -> Answer:
            player = await info.context.player(Scope.PLAY)
            return await requests.create(info.context.service, player, input)

        return await _payload(work, input.client_mutation_id)

    @field(
        description=(
            "Take an open seat, by match id (public) or by join code. In the lobby it is yours for "
            "good once you look at the match, follow it or act; until then it is held for a while "
            "(`RINGMASTER_SEAT_HOLD_SECONDS`), then it is open again."
        ),
        directives=weighs(WRITTEN),
    )
    async def join_match(
        self,
        info: ContextInfo,
        input: JoinMatchInput,  # noqa: A002
    ) -> MatchPayload:
        async def work() -> Answer:
            player = await info.context.player(Scope.BOT)
            return await requests.join(info.context.service, player, input)

        return await _payload(work, input.client_mutation_id)

    @field(
        description="Give up one's seat: it opens again in the lobby, a bot takes it later.",
        directives=weighs(WRITTEN),
    )
    async def leave_match(
        self, info: ContextInfo, match_id: strawberry.ID, meta: MoveMeta | None = None
    ) -> MatchPayload:
        async def work() -> Answer:
            player = await info.context.player(Scope.BOT)
            asked = requests.meta_of(meta, "leaveMatch")
            return await info.context.service.leave(match_id, player.player_id, asked)

        return await _payload(work)

    @field(
        description=(
            "Play one's seat again, which a bot plays since three turns in a row ran out; a move "
            "or `joinMatch` does the same. Nothing happens if one is not away."
        ),
        directives=weighs(WRITTEN),
    )
    async def return_to_match(
        self, info: ContextInfo, match_id: strawberry.ID, meta: MoveMeta | None = None
    ) -> MatchPayload:
        async def work() -> Answer:
            player = await info.context.player(Scope.BOT)
            asked = requests.meta_of(meta, "returnToMatch")
            return await info.context.service.come_back(match_id, player.player_id, asked)

        return await _payload(work)

    @field(
        description=(
            "End any match without a result; for tokens with the scope OPERATE. Everybody who "
            "follows it is told the reason by `MatchAbandoned`."
        ),
        directives=weighs(WRITTEN),
    )
    async def cancel_match(
        self,
        info: ContextInfo,
        match_id: strawberry.ID,
        reason: str,
        meta: MoveMeta | None = None,
    ) -> MatchPayload:
        async def work() -> Answer:
            operator = await info.context.player(Scope.OPERATE)
            return await requests.cancel(info.context.operators, operator, match_id, reason, meta)

        return await _payload(work)

    @field(
        description=(
            "For operators: send the workers again what this match is owed, or without one what "
            "all stuck matches are. What was done meanwhile is not done twice. `quick`: a quick "
            "move in place of what a bot's level would play."
        ),
        directives=weighs(2000),
    )
    async def send_due(
        self,
        info: ContextInfo,
        match_id: strawberry.ID | None = None,
        quick: bool = False,
    ) -> SendDuePayload:
        try:
            return await of_operators.send_due(info, match_id, quick=quick)
        except (RuleError, Refused) as error:
            return SendDuePayload(user_errors=[user_error(error)])

    @field(
        description=(
            "For operators: let a process finish what it does and end. An API process ends its "
            "streams politely, for clients to resume elsewhere."
        ),
        directives=weighs(WRITTEN),
    )
    async def drain_process(
        self, info: ContextInfo, process_id: strawberry.ID, reason: str
    ) -> DrainProcessPayload:
        try:
            return await of_operators.drain(info, process_id, reason)
        except (RuleError, Refused) as error:
            return DrainProcessPayload(user_errors=[user_error(error)])

    @field(
        description="For operators: end every token of a player, and every stream of these.",
        directives=weighs(20 * WRITTEN),
    )
    async def revoke_tokens(
        self, info: ContextInfo, player_id: strawberry.ID, reason: str
    ) -> RevokeTokensPayload:
        try:
            return await of_operators.revoke_tokens(info, player_id, reason)
        except (RuleError, Refused) as error:
            return RevokeTokensPayload(user_errors=[user_error(error)])

    @field(
        description="The host starts early: bots take the seats still OPEN.",
        directives=weighs(WRITTEN),
    )
    async def start_match(
        self, info: ContextInfo, match_id: strawberry.ID, meta: MoveMeta | None = None
    ) -> MatchPayload:
        async def work() -> Answer:
            player = await info.context.player(Scope.PLAY)
            asked = requests.meta_of(meta, "startMatch")
            return await info.context.service.start(match_id, player.player_id, asked)

        return await _payload(work)

    @field(description="Keep the hand as dealt, or flip all of it.", directives=weighs(WRITTEN))
    async def choose_hand(
        self,
        info: ContextInfo,
        input: ChooseHandInput,  # noqa: A002
    ) -> MatchPayload:
        return await _move(info, input)

    @field(description="Show a set of neighbouring cards.", directives=weighs(WRITTEN))
    async def show(
        self,
        info: ContextInfo,
        input: ShowInput,  # noqa: A002
    ) -> MatchPayload:
        return await _move(info, input)

    @field(description="Take a card from an end of the active set.", directives=weighs(WRITTEN))
    async def scout(
        self,
        info: ContextInfo,
        input: ScoutInput,  # noqa: A002
    ) -> MatchPayload:
        return await _move(info, input)

    @field(
        description="Scout and at once show, once per round; not with two players.",
        directives=weighs(WRITTEN),
    )
    async def scout_and_show(
        self,
        info: ContextInfo,
        input: ScoutAndShowInput,  # noqa: A002
    ) -> MatchPayload:
        return await _move(info, input)

    @field(
        description="Play a series of matches between bots, for the caller to follow.",
        directives=weighs(WRITTEN),
    )
    async def create_series(
        self,
        info: ContextInfo,
        input: CreateSeriesInput,  # noqa: A002
    ) -> SeriesPayload:
        return await _series(of_series.create(info, input), input.client_mutation_id)

    @field(
        description="End a series of the caller's: what was counted stays.",
        directives=weighs(WRITTEN),
    )
    async def cancel_series(
        self, info: ContextInfo, series_id: strawberry.ID, meta: MoveMeta | None = None
    ) -> SeriesPayload:
        return await _series(of_series.cancel(info, series_id, meta))


async def _series(work: Awaitable[Series], client_mutation_id: str | None = None) -> SeriesPayload:
    try:
        series = await work
    except (RuleError, Refused) as error:
        errors = [user_error(error)]
        return SeriesPayload(user_errors=errors, client_mutation_id=client_mutation_id)
    return SeriesPayload(user_errors=[], series=series, client_mutation_id=client_mutation_id)


async def _move(info: ContextInfo, move: MoveInput) -> MatchPayload:
    async def work() -> Answer:
        return await requests.move(info.context.service, await info.context.player(Scope.BOT), move)

    return await _payload(work)


async def _payload(
    work: Callable[[], Awaitable[Answer]], client_mutation_id: str | None = None
) -> MatchPayload:
    try:
        answer = await work()
    except (RuleError, Refused) as error:
        return MatchPayload(user_errors=[user_error(error)], client_mutation_id=client_mutation_id)
    return MatchPayload(
        user_errors=[],
        match=match_of(answer.view, answer.version, answer.hash, answer.shared),
        client_mutation_id=client_mutation_id,
    )
