"""What clients ask for, each input turned into the engine's own words or refused."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import strawberry
from strawberry import field
from strawberry.types.arguments import InputContext
from strawberry.types.base import StrawberryOptional, get_object_definition, has_object_definition
from strawberry.utils.str_converters import to_camel_case

from engine import actions
from engine.actions import End
from engine.bots import LEVELS
from engine.errors import Reason, RuleError
from engine.series import Spec, check
from engine.state import Seat, SeatKind, Visibility
from schema import enums  # noqa: F401 - registers the enums that the inputs below use
from schema.scopes import Scope

KEY_LIMIT: Final = 128
REASON_LIMIT: Final = 200
TURN_SECONDS: Final = range(5, 24 * 3600 + 1)
_ENTROPY: Final = re.compile(r"[!-~]{1,64}\Z")
_KEY: Final = re.compile(r"[!-~]{1,128}\Z")
_SIGN_IN_KEY: Final = re.compile(r"[!-~]{32,128}\Z")


@strawberry.input(description="A seat of a new match.")
class SeatInput:
    kind: SeatKind = field(description="PLAYER is the caller's own seat, at most one.")
    name: str | None = field(description="Shown to all; a bot's or the caller's.", default=None)
    bot_level: str | None = field(description="A name of `botLevels`, for BOT.", default=None)


@strawberry.input(description="How to carry out a mutation.")
class MoveMeta:
    idempotency_key: str | None = field(
        description="1 to 128 printable ASCII characters; the same key again does it only once.",
        default=None,
    )
    expected_version: int | None = field(
        description="Refuse with STALE_VERSION unless the match is at this version.", default=None
    )


@strawberry.input(description="A new match. It starts by itself once no seat is OPEN.")
class CreateMatchInput:
    seats: list[SeatInput] = field(description="2 to 5; the number of players.")
    visibility: Visibility | None = field(
        description="PUBLIC: listed and open to spectators.", default=Visibility.PRIVATE
    )
    turn_seconds: int | None = field(
        description=(
            "A clock, 5 to 86400: when it runs out, a bot plays that turn, and after three in a "
            "row all turns until the player returns."
        ),
        default=None,
    )
    entropy: str | None = field(
        description="The caller's share of the deals: 1 to 64 printable ASCII characters.",
        default=None,
    )
    advice: bool | None = field(
        description="Let every player ask what a bot would do in their place.", default=False
    )
    meta: MoveMeta | None = field(
        description="Only `idempotencyKey`: there is no version yet to expect.", default=None
    )
    client_mutation_id: str | None = None


@strawberry.input(description="Which match to join, by id or by join code.")
class JoinMatchInput:
    name: str = field(description="Shown to all.")
    match_id: strawberry.ID | None = None
    join_code: str | None = None
    entropy: str | None = field(
        description="The caller's share of the deals: 1 to 64 printable ASCII characters.",
        default=None,
    )
    meta: MoveMeta | None = None
    client_mutation_id: str | None = None


@strawberry.input(description="Keep the hand as dealt, or flip all of it.")
class ChooseHandInput:
    match_id: strawberry.ID
    flip: bool
    meta: MoveMeta | None = None

    def action(self, seat: int) -> actions.Action:
        return actions.ChooseHand(seat, self.flip)


@strawberry.input(description="Show `count` cards from position `first` on.")
class ShowInput:
    match_id: strawberry.ID
    first: int
    count: int
    meta: MoveMeta | None = None

    def action(self, seat: int) -> actions.Action:
        return actions.Show(seat, self.first, self.count)


@strawberry.input(description="Take the card at an end of the active set into a gap of the hand.")
class ScoutInput:
    match_id: strawberry.ID
    end: End
    insert_at: int = field(description="0 before the first card, up to the number of cards.")
    flip: bool = field(description="Turn the card over from how it lay on the table.")
    meta: MoveMeta | None = None

    def action(self, seat: int) -> actions.Action:
        return actions.Scout(seat, self.end, self.insert_at, self.flip)


@strawberry.input(description="The scout of a Scout & Show.")
class ScoutPart:
    end: End
    insert_at: int
    flip: bool


@strawberry.input(description="The show of a Scout & Show; positions after the insertion.")
class ShowPart:
    first: int
    count: int


@strawberry.input(description="A scout and at once a show: all of it, or nothing.")
class ScoutAndShowInput:
    match_id: strawberry.ID
    scout: ScoutPart
    show: ShowPart
    meta: MoveMeta | None = None

    def action(self, seat: int) -> actions.Action:
        return actions.ScoutAndShow(
            seat,
            self.scout.end,
            self.scout.insert_at,
            self.scout.flip,
            self.show.first,
            self.show.count,
        )


def _built(type_: type, value: Mapping[str, Any], _: InputContext) -> Any:
    return type_(
        **{
            name: part if inner is None or part is None else _built(inner, part, _)
            for told, name, inner in _parts(type_)
            if (part := value.get(told, ...)) is not ...
        }
    )


@cache
def _parts(type_: Any) -> list[tuple[str, str, type | None]]:
    """The fields of an input: as they are sent, as they are here, and the input in each, if any."""
    definition, parts = type_.__strawberry_definition__, []
    for part in definition.fields:
        held = part.resolve_type(type_definition=definition)
        held = held.of_type if isinstance(held, StrawberryOptional) else held
        inner = held if has_object_definition(held) else None
        parts.append((to_camel_case(part.python_name), part.python_name, inner))
    return parts


# The library would find out anew for each value what its parts are, which takes half as long as a
# move does.
for _move in (ChooseHandInput, ShowInput, ScoutInput, ScoutAndShowInput):
    get_object_definition(_move, strict=True).from_input = _built


@strawberry.input(description="A series of matches between bots, to be played one after another.")
class CreateSeriesInput:
    seats: list[str] = field(description="2 to 5 names of `botLevels`, one per seat.")
    matches: int = field(description="1 to 10000.")
    rotate: bool | None = field(
        description="Each match shifts the levels by one seat.", default=True
    )
    duplicate_deals: bool | None = field(
        description=(
            "Each deal is played once in every rotation, so that every level sits in every seat "
            "of it. Without `rotate` there is but one, and no deal comes twice."
        ),
        default=True,
    )
    replays: bool | None = field(
        description="Keep the replay of every match for `seriesReplay`.", default=False
    )
    meta: MoveMeta | None = field(
        description="Only `idempotencyKey`: there is no version yet to expect.", default=None
    )
    client_mutation_id: str | None = None


@strawberry.input(description="A further token of the caller's.")
class CreateTokenInput:
    name: str = field(description="For its owner to tell it by: 1 to 40 characters.")
    scopes: list[Scope] = field(description="No more than the caller's own token allows.")
    expires_in_seconds: int | None = field(
        description="No longer than the caller's own; by default as long as that.", default=None
    )
    meta: MoveMeta | None = field(
        description="Only `idempotencyKey`: a token has no version.", default=None
    )
    client_mutation_id: str | None = None


MoveInput = ChooseHandInput | ShowInput | ScoutInput | ScoutAndShowInput


def check_entropy(entropy: str | None) -> str | None:
    """Entropy as the deals take it.

    Raises:
        RuleError: INVALID_INPUT.
    """
    if entropy is not None and not _ENTROPY.match(entropy):
        sentence = "Entropy has 1 to 64 printable ASCII characters and no space."
        raise RuleError(Reason.INVALID_INPUT, "entropy", sentence)
    return entropy


def check_key(key: str | None) -> str | None:
    """An idempotency key.

    Raises:
        RuleError: INVALID_INPUT.
    """
    if key is not None and not _KEY.match(key):
        sentence = f"An idempotency key has 1 to {KEY_LIMIT} printable ASCII characters."
        raise RuleError(Reason.INVALID_INPUT, "idempotencyKey", sentence)
    return key


def check_version(version: int | None) -> int | None:
    """A version to expect; the first commit of a match is version 1.

    Raises:
        RuleError: INVALID_INPUT.
    """
    if version is not None and version < 1:
        sentence = "A version is a number from 1 on."
        raise RuleError(Reason.INVALID_INPUT, "expectedVersion", sentence)
    return version


def check_sign_in_key(key: str | None) -> str | None:
    """The idempotency key of a sign-in: as hard to guess as the token that it leads to.

    Raises:
        RuleError: INVALID_INPUT.
    """
    if key is not None and not _SIGN_IN_KEY.match(key):
        sentence = "The key of a sign-in is a secret of 32 to 128 printable ASCII characters."
        raise RuleError(Reason.INVALID_INPUT, "idempotencyKey", sentence)
    return key


def token_key(meta: MoveMeta | None) -> str | None:
    """The idempotency key of a request about tokens.

    Raises:
        RuleError: INVALID_INPUT.
    """
    if meta is not None and meta.expected_version is not None:
        raise RuleError(Reason.INVALID_INPUT, "expectedVersion", "A token has no version.")
    return None if meta is None else check_key(meta.idempotency_key)


def check_reason(reason: str) -> str:
    """Why an operator ends a match, as everybody is told it: printable, without outer spaces.

    Raises:
        RuleError: INVALID_INPUT.
    """
    clean = reason[: 2 * REASON_LIMIT].strip()
    if not 1 <= len(clean) <= REASON_LIMIT or not clean.isprintable():
        sentence = f"A reason has 1 to {REASON_LIMIT} printable characters."
        raise RuleError(Reason.INVALID_INPUT, "reason", sentence)
    return clean


def check_turn_seconds(seconds: int | None) -> int | None:
    """A clock's seconds per turn.

    Raises:
        RuleError: INVALID_INPUT.
    """
    if seconds is not None and seconds not in TURN_SECONDS:
        raise RuleError(Reason.INVALID_INPUT, "turnSeconds", "A clock has 5 to 86400 seconds.")
    return seconds


def seat_setup(
    seat: SeatInput, number: int, caller: str, caller_name: str, entropy: str | None
) -> Seat:
    """A seat as the engine lays it out; names are given clean, the caller's as ``caller_name``.

    Raises:
        RuleError: INVALID_INPUT.
    """
    if seat.kind is not SeatKind.BOT and seat.bot_level is not None:
        raise RuleError(Reason.INVALID_INPUT, "botLevel", "Only a BOT has a level.")
    match seat.kind:
        case SeatKind.PLAYER:
            return Seat(SeatKind.PLAYER, caller_name, None, caller, entropy)
        case SeatKind.OPEN:
            if seat.name is not None:
                raise RuleError(Reason.INVALID_INPUT, "name", "An OPEN seat has no name yet.")
            return Seat(SeatKind.OPEN)
        case SeatKind.BOT:
            level = seat.bot_level or "regular"
            if level not in LEVELS:
                sentence = f"There is no such level; there are {', '.join(LEVELS)}."
                raise RuleError(Reason.INVALID_INPUT, "botLevel", sentence)
            return Seat(SeatKind.BOT, seat.name or f"Bot {number + 1}", level)


def series_spec(new: CreateSeriesInput) -> Spec:
    """A series as the engine plays it.

    Raises:
        RuleError: INVALID_INPUT.
    """
    spec = Spec(
        entries=tuple(new.seats),
        matches=new.matches,
        rotate=new.rotate is not False,
        duplicate=new.duplicate_deals is not False,
        replays=new.replays is True,
    )
    check(spec)
    if not set(spec.entries) <= set(LEVELS):
        sentence = f"There is no such level; there are {', '.join(LEVELS)}."
        raise RuleError(Reason.INVALID_INPUT, "seats", sentence)
    return spec
