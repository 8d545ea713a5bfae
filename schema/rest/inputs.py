"""What is sent to REST, each the twin of a GraphQL input.

What may be left out is null by default: clients made of the document would have to give any other.
"""

from typing import Annotated, Any

import strawberry
from pydantic import BeforeValidator, Field, StrictBool, StrictInt, StrictStr

from engine.actions import End
from engine.bots import LEVELS
from engine.series import MOST_MATCHES
from engine.state import SeatKind, Visibility
from schema import inputs
from schema.rest.base import Input
from schema.scopes import Scope

TEN_YEARS = 10 * 365 * 24 * 3600  # seconds
Name = Annotated[StrictStr, Field(min_length=1, max_length=40)]


def _levels_known(schema: dict[str, Any]) -> None:
    schema["enum"] = list(LEVELS)  # those of this process, plugged-in ones too


BotLevelName = Annotated[StrictStr, Field(json_schema_extra=_levels_known)]
Entropy = Annotated[StrictStr, Field(pattern=r"^[!-~]{1,64}$")]


def _whole(value: Any) -> Any:
    """JSON has one kind of number: 2.0 is 2, as in GraphQL."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)  # after the bounds, which are told in the document only so
# Integers of 32 bits, as in GraphQL.
Position = Annotated[StrictInt, Field(ge=-(2**31), lt=2**31), WHOLE]


class SeatInput(Input, mirrors=inputs.SeatInput):
    kind: SeatKind = Field(strict=False)
    name: Name | None = None
    bot_level: BotLevelName | None = None

    def asked(self) -> inputs.SeatInput:
        """The same as GraphQL has it."""
        return inputs.SeatInput(kind=self.kind, name=self.name, bot_level=self.bot_level)


class CreateMatch(
    Input, mirrors=inputs.CreateMatchInput, leaves_out=("meta", "client_mutation_id")
):
    seats: list[SeatInput] = Field(min_length=2, max_length=5)
    visibility: Annotated[Visibility | None, Field(strict=False)] = None
    turn_seconds: Annotated[StrictInt, Field(ge=5, le=86_400), WHOLE] | None = None
    entropy: Entropy | None = None
    advice: StrictBool | None = None

    def asked(self, meta: inputs.MoveMeta) -> inputs.CreateMatchInput:
        """The same as GraphQL has it."""
        return inputs.CreateMatchInput(
            seats=[seat.asked() for seat in self.seats],
            visibility=self.visibility,
            turn_seconds=self.turn_seconds,
            entropy=self.entropy,
            advice=self.advice,
            meta=meta,
        )


class JoinMatch(
    Input,
    mirrors=inputs.JoinMatchInput,
    leaves_out=("match_id", "meta", "client_mutation_id"),
):
    name: Name
    join_code: Annotated[StrictStr, Field(max_length=64)] | None = None
    entropy: Entropy | None = None

    def asked(self, match_id: str | None, meta: inputs.MoveMeta) -> inputs.JoinMatchInput:
        """The same as GraphQL has it."""
        return inputs.JoinMatchInput(
            name=self.name,
            match_id=None if match_id is None else strawberry.ID(match_id),
            join_code=self.join_code,
            entropy=self.entropy,
            meta=meta,
        )


class JoinByCode(JoinMatch):
    """A seat in the match that a join code leads to."""

    join_code: Annotated[StrictStr, Field(max_length=64)]


class CancelMatch(Input):
    """Why a match ends."""

    reason: Annotated[StrictStr, Field(min_length=1, max_length=inputs.REASON_LIMIT)] = Field(
        description="Told to everybody who follows the match: 1 to 200 printable characters."
    )


class ChooseHand(Input, mirrors=inputs.ChooseHandInput, leaves_out=("match_id", "meta")):
    flip: StrictBool

    def asked(self, match_id: str, meta: inputs.MoveMeta) -> inputs.MoveInput:
        """The same as GraphQL has it."""
        return inputs.ChooseHandInput(match_id=strawberry.ID(match_id), flip=self.flip, meta=meta)


class Show(Input, mirrors=inputs.ShowInput, leaves_out=("match_id", "meta")):
    first: Position
    count: Position

    def asked(self, match_id: str, meta: inputs.MoveMeta) -> inputs.MoveInput:
        """The same as GraphQL has it."""
        return inputs.ShowInput(
            match_id=strawberry.ID(match_id), first=self.first, count=self.count, meta=meta
        )


class Scout(Input, mirrors=inputs.ScoutInput, leaves_out=("match_id", "meta")):
    end: End = Field(strict=False)
    insert_at: Position
    flip: StrictBool

    def asked(self, match_id: str, meta: inputs.MoveMeta) -> inputs.MoveInput:
        """The same as GraphQL has it."""
        return inputs.ScoutInput(
            match_id=strawberry.ID(match_id),
            end=self.end,
            insert_at=self.insert_at,
            flip=self.flip,
            meta=meta,
        )


class ScoutPart(Input, mirrors=inputs.ScoutPart):
    end: End = Field(strict=False)
    insert_at: Position
    flip: StrictBool


class ShowPart(Input, mirrors=inputs.ShowPart):
    first: Position
    count: Position


class ScoutAndShow(Input, mirrors=inputs.ScoutAndShowInput, leaves_out=("match_id", "meta")):
    scout: ScoutPart
    show: ShowPart

    def asked(self, match_id: str, meta: inputs.MoveMeta) -> inputs.MoveInput:
        """The same as GraphQL has it."""
        return inputs.ScoutAndShowInput(
            match_id=strawberry.ID(match_id),
            scout=inputs.ScoutPart(
                end=self.scout.end, insert_at=self.scout.insert_at, flip=self.scout.flip
            ),
            show=inputs.ShowPart(first=self.show.first, count=self.show.count),
            meta=meta,
        )


Move = ChooseHand | Show | Scout | ScoutAndShow


class CreateSeries(
    Input, mirrors=inputs.CreateSeriesInput, leaves_out=("meta", "client_mutation_id")
):
    seats: list[BotLevelName] = Field(min_length=2, max_length=5)
    matches: Annotated[StrictInt, Field(ge=1, le=MOST_MATCHES), WHOLE]
    rotate: StrictBool | None = None
    duplicate_deals: StrictBool | None = None
    replays: StrictBool | None = None

    def asked(self, meta: inputs.MoveMeta) -> inputs.CreateSeriesInput:
        """The same as GraphQL has it."""
        return inputs.CreateSeriesInput(
            seats=list(self.seats),
            matches=self.matches,
            rotate=self.rotate,
            duplicate_deals=self.duplicate_deals,
            replays=self.replays,
            meta=meta,
        )


class CreateToken(
    Input, mirrors=inputs.CreateTokenInput, leaves_out=("meta", "client_mutation_id")
):
    name: Name
    scopes: list[Annotated[Scope, Field(strict=False)]] = Field(min_length=1, max_length=4)
    expires_in_seconds: Annotated[StrictInt, Field(ge=1, le=10 * 365 * 24 * 3600), WHOLE] | None = (
        None
    )


class SignIn(Input):
    """A new player."""

    name: Name = Field(description="Shown to others in matches.")
