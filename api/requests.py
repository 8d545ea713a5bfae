"""From what clients send to what the services take: the same for every transport."""

import dataclasses
from typing import Any, Final

from api.identity.caller import Caller
from api.identity.names import clean_name
from api.operators.service import Operator, Operators
from api.series.service import SeriesService, Standing
from api.service import MatchService
from api.values import Answer, Joining, Meta, NewMatch
from engine.cards import PLAYER_COUNTS
from engine.codec import encode_action
from engine.errors import Reason, RuleError
from engine.state import SeatKind, Visibility
from schema.inputs import (
    CreateMatchInput,
    CreateSeriesInput,
    JoinMatchInput,
    MoveInput,
    MoveMeta,
    SeatInput,
    check_entropy,
    check_key,
    check_reason,
    check_turn_seconds,
    check_version,
    seat_setup,
    series_spec,
)

LONGEST_AGO: Final = 30 * 24 * 3600  # seconds


def meta_of(meta: MoveMeta | None, *request: Any) -> Meta:
    """How a command is to be carried out; ``request`` is what it asks for.

    Raises:
        RuleError: INVALID_INPUT.
    """
    meta = meta or MoveMeta()
    key, version = check_key(meta.idempotency_key), check_version(meta.expected_version)
    return Meta(key, version, list(request))


def meta_of_new(meta: MoveMeta | None, *request: Any) -> Meta:
    """The same for what is yet to be created, which has no version to expect.

    Raises:
        RuleError: INVALID_INPUT.
    """
    if meta is not None and meta.expected_version is not None:
        sentence = "What is yet to be created has no version."
        raise RuleError(Reason.INVALID_INPUT, "expectedVersion", sentence)
    return meta_of(meta, *request)


async def create(service: MatchService, player: Caller, new: CreateMatchInput) -> Answer:
    """Open a match for a player.

    Raises:
        RuleError: INVALID_INPUT.
        Refused: KEY_REUSED.
        Unavailable: Redis cannot be reached.
    """
    match = _new_match(new, player)
    # What was left out is what it stands for, however a transport spells that.
    defaults = {"visibility": match.visibility, "advice": match.advice}
    meta = meta_of_new(new.meta, "createMatch", {**_asked(new), **defaults})
    return await service.create(player.player_id, match, meta)


async def join(service: MatchService, player: Caller, joining: JoinMatchInput) -> Answer:
    """Seat a player in the match that an id or a join code leads to.

    Raises:
        RuleError: INVALID_INPUT, FORBIDDEN, MATCH_FULL, MATCH_OVER.
        Refused: NOT_FOUND, STALE_VERSION, KEY_REUSED.
        Unavailable: Redis cannot be reached.
    """
    seat = Joining(clean_name(joining.name), check_entropy(joining.entropy))
    meta = meta_of(joining.meta, "joinMatch", _asked(joining))
    match_id, caller = joining.match_id, player.player_id
    if joining.join_code is not None:
        return await service.join_by_code(joining.join_code, match_id, caller, seat, meta)
    if match_id is not None:
        return await service.join(match_id, caller, seat, meta)
    raise RuleError(Reason.INVALID_INPUT, "joinCode", "Give `matchId` or `joinCode`.")


async def cancel(
    operators: Operators, operator: Caller, match_id: str, reason: str, meta: MoveMeta | None
) -> Answer:
    """End a match for an operator, who sees of it what everybody may see.

    Raises:
        RuleError: INVALID_INPUT, MATCH_OVER.
        Refused: NOT_FOUND, STALE_VERSION, KEY_REUSED.
        Unavailable: Redis cannot be reached.
    """
    told = check_reason(reason)
    asked = meta_of(meta, "cancelMatch", told)
    return await operators.cancel(operator_of(operator), match_id, told, asked)


async def drain(operators: Operators, operator: Caller, process_id: str, reason: str) -> None:
    """Ask a process to end for an operator.

    Raises:
        RuleError: INVALID_INPUT.
        Refused: NOT_FOUND.
        Unavailable: Redis cannot be reached.
    """
    await operators.drain(operator_of(operator), process_id, check_reason(reason))


async def revoke_tokens(operators: Operators, operator: Caller, player_id: str, reason: str) -> int:
    """End every token of a player for an operator; how many were valid.

    Raises:
        RuleError: INVALID_INPUT.
        Unavailable: Redis cannot be reached.
    """
    return await operators.revoke(operator_of(operator), player_id, check_reason(reason))


def seconds_of(seconds: int) -> int:
    """How long ago something should have been done.

    Raises:
        RuleError: INVALID_INPUT.
    """
    if not 0 <= seconds <= LONGEST_AGO:
        sentence = f"From 0 to {LONGEST_AGO} seconds."
        raise RuleError(Reason.INVALID_INPUT, "olderThanSeconds", sentence)
    return seconds


def operator_of(caller: Caller) -> Operator:
    """An operator as the record names one."""
    return Operator(caller.player_id, caller.viewer_id)


async def create_series(service: SeriesService, player: Caller, new: CreateSeriesInput) -> Standing:
    """Begin a series for a player.

    Raises:
        RuleError: INVALID_INPUT.
        Refused: TOO_MANY_SERIES, KEY_REUSED.
        Unavailable: Redis cannot be reached.
    """
    spec = series_spec(new)
    request = [spec.entries, spec.matches, spec.rotate, spec.duplicate, spec.replays]
    return await service.create(player.player_id, spec, meta_of_new(new.meta, *request))


async def move(service: MatchService, player: Caller, asked: MoveInput) -> Answer:
    """Play an action from a player's seat.

    Raises:
        Refused: NOT_FOUND, STALE_VERSION, KEY_REUSED.
        RuleError: INVALID_INPUT, NOT_SEATED and every reason of the rules.
        Unavailable: Redis cannot be reached.
    """
    request = []
    if asked.meta is not None and asked.meta.idempotency_key is not None:
        # The seat is the caller's own, whatever it is.
        request = [encode_action(asked.action(0))]
    meta = meta_of(asked.meta, *request)
    return await service.act(asked.match_id, player.player_id, asked.action, meta)


def _asked(asked: CreateMatchInput | JoinMatchInput) -> dict[str, Any]:
    fields = dataclasses.asdict(asked)
    return {name: fields[name] for name in fields if name not in ("meta", "client_mutation_id")}


def _new_match(new: CreateMatchInput, player: Caller) -> NewMatch:
    entropy = check_entropy(new.entropy)
    if len(new.seats) > max(PLAYER_COUNTS):  # before any work per seat
        raise RuleError(Reason.INVALID_INPUT, "seats", "A match has 2 to 5 seats.")
    seats = []
    for number, seat in enumerate(new.seats):
        name = None if seat.name is None else clean_name(seat.name)
        setup = SeatInput(kind=seat.kind, name=name, bot_level=seat.bot_level)
        seats.append(seat_setup(setup, number, player.player_id, name or player.name, entropy))
    if entropy is not None and all(s.kind is not SeatKind.PLAYER for s in seats):
        sentence = "Entropy goes with a seat of your own."
        raise RuleError(Reason.INVALID_INPUT, "entropy", sentence)
    return NewMatch(
        tuple(seats),
        new.visibility or Visibility.PRIVATE,
        check_turn_seconds(new.turn_seconds),
        bool(new.advice),
    )
