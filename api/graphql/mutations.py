"""Writing: each mutation builds a command, submits it, and answers with the match."""

from collections.abc import Awaitable, Callable

import strawberry
from strawberry import field

from api.errors import Refused
from api.graphql import series as of_series
from api.graphql.context import ContextInfo
from api.graphql.refusals import user_error
from api.guests import clean_name
from api.values import Answer, Meta, NewMatch
from engine.cards import PLAYER_COUNTS
from engine.codec import encode_action
from engine.errors import Reason, RuleError
from engine.state import SeatKind, Visibility
from schema.cost import WRITTEN, weighs
from schema.inputs import (
    ChooseHandInput,
    CreateMatchInput,
    CreateSeriesInput,
    JoinMatchInput,
    MoveInput,
    MoveMeta,
    ScoutAndShowInput,
    ScoutInput,
    SeatInput,
    ShowInput,
    check_entropy,
    check_key,
    check_turn_seconds,
    seat_setup,
)
from schema.payloads import GuestPayload, MatchPayload, SeriesPayload
from schema.series import Series
from schema.types import match_of


@strawberry.type
class Mutation:
    @field(description="A token for a new player of this name.", directives=weighs(WRITTEN))
    async def sign_in_as_guest(self, info: ContextInfo, name: str) -> GuestPayload:
        try:
            token, guest = await info.context.guests.sign_in(name)
        except RuleError as error:
            return GuestPayload(user_errors=[user_error(error)])
        return GuestPayload(user_errors=[], token=token, player_id=strawberry.ID(guest.player_id))

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
            player = await info.context.player()
            new = _new_match(input, player.player_id, player.name)
            return await info.context.service.create(player.player_id, new)

        return await _payload(work, input.client_mutation_id)

    @field(
        description="Take an open seat, by match id (public) or by join code.",
        directives=weighs(WRITTEN),
    )
    async def join_match(
        self,
        info: ContextInfo,
        input: JoinMatchInput,  # noqa: A002
    ) -> MatchPayload:
        async def work() -> Answer:
            player = (await info.context.player()).player_id
            name, entropy = clean_name(input.name), check_entropy(input.entropy)
            service = info.context.service
            if input.join_code is not None:
                return await service.join_by_code(
                    input.join_code, input.match_id, player, name, entropy
                )
            if input.match_id is not None:
                return await service.join(input.match_id, player, name, entropy, invited=False)
            raise RuleError(Reason.INVALID_INPUT, "joinCode", "Give `matchId` or `joinCode`.")

        return await _payload(work, input.client_mutation_id)

    @field(
        description="Give up one's seat: it opens again in the lobby, a bot takes it later.",
        directives=weighs(WRITTEN),
    )
    async def leave_match(self, info: ContextInfo, match_id: strawberry.ID) -> MatchPayload:
        async def work() -> Answer:
            player = await info.context.player()
            return await info.context.service.leave(match_id, player.player_id)

        return await _payload(work)

    @field(
        description="The host starts early: bots take the seats still OPEN.",
        directives=weighs(WRITTEN),
    )
    async def start_match(self, info: ContextInfo, match_id: strawberry.ID) -> MatchPayload:
        async def work() -> Answer:
            player = await info.context.player()
            return await info.context.service.start(match_id, player.player_id)

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
    async def cancel_series(self, info: ContextInfo, series_id: strawberry.ID) -> SeriesPayload:
        return await _series(of_series.cancel(info, series_id))


async def _series(work: Awaitable[Series], client_mutation_id: str | None = None) -> SeriesPayload:
    try:
        series = await work
    except (RuleError, Refused) as error:
        errors = [user_error(error)]
        return SeriesPayload(user_errors=errors, client_mutation_id=client_mutation_id)
    return SeriesPayload(user_errors=[], series=series, client_mutation_id=client_mutation_id)


async def _move(info: ContextInfo, move: MoveInput) -> MatchPayload:
    async def work() -> Answer:
        player = await info.context.player()
        meta = move.meta or MoveMeta()
        request = encode_action(move.action(0))  # the seat is the caller's own, whatever it is
        return await info.context.service.act(
            move.match_id,
            player.player_id,
            move.action,
            Meta(check_key(meta.idempotency_key), meta.expected_version, request),
        )

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
        match=match_of(answer.view, answer.version, answer.hash),
        client_mutation_id=client_mutation_id,
    )


def _new_match(new: CreateMatchInput, caller: str, caller_name: str) -> NewMatch:
    entropy = check_entropy(new.entropy)
    if len(new.seats) > max(PLAYER_COUNTS):  # before any work per seat
        raise RuleError(Reason.INVALID_INPUT, "seats", "A match has 2 to 5 seats.")
    seats = []
    for number, seat in enumerate(new.seats):
        name = None if seat.name is None else clean_name(seat.name)
        own = name or caller_name
        setup = SeatInput(kind=seat.kind, name=name, bot_level=seat.bot_level)
        seats.append(seat_setup(setup, number, caller, own, entropy))
    if entropy is not None and all(s.kind is not SeatKind.PLAYER for s in seats):
        sentence = "Entropy goes with a seat of your own."
        raise RuleError(Reason.INVALID_INPUT, "entropy", sentence)
    return NewMatch(
        tuple(seats),
        new.visibility or Visibility.PRIVATE,
        check_turn_seconds(new.turn_seconds),
        bool(new.advice),
    )
