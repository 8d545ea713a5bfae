"""What a level would do in the caller's place."""

from enum import StrEnum
from typing import assert_never

import strawberry
from strawberry import field

from engine.actions import Action, ChooseHand, End, Scout, ScoutAndShow, Show
from engine.bots.advice import Advice as EngineAdvice
from schema.cost import ERRORS, sized
from schema.payloads import UserError


@strawberry.enum(description="What a seat can do.")
class ActionType(StrEnum):
    """As in replays."""

    CHOOSE_HAND = "CHOOSE_HAND"
    SHOW = "SHOW"
    SCOUT = "SCOUT"
    SCOUT_AND_SHOW = "SCOUT_AND_SHOW"


@strawberry.type(
    description="A legal action, as in replays: SCOUT_AND_SHOW has the fields of both its halves."
)
class AdvisedAction:
    type: ActionType
    flip: bool | None = field(description="CHOOSE_HAND, SCOUT, SCOUT_AND_SHOW.", default=None)
    end: End | None = field(description="SCOUT, SCOUT_AND_SHOW.", default=None)
    insert_at: int | None = field(description="SCOUT, SCOUT_AND_SHOW.", default=None)
    first: int | None = field(
        description="SHOW, SCOUT_AND_SHOW: counted after the insertion.", default=None
    )
    count: int | None = field(description="SHOW, SCOUT_AND_SHOW.", default=None)


@strawberry.type(description="A legal action with what it is expected to lead to.")
class Advice:
    action: AdvisedAction
    points: float = field(
        description=(
            "What `expert` expects at the round's end: one's own points less the others' mean. The "
            "order is that of the level asked for."
        )
    )
    win: float | None = field(
        description="Expected share of the match's win; only in its last round."
    )
    reason: str = field(description="A sentence or two, from what the caller's seat may know.")


@strawberry.type(description="Advice, the best first, or why there is none.")
class AdvicePayload:
    user_errors: list[UserError] = field(description="Empty on success.", directives=sized(ERRORS))
    advice: list[Advice] = field(description="Empty when it is not the caller's turn.")


def advice_of(found: EngineAdvice) -> Advice:
    """Advice as clients see it."""
    return Advice(
        action=_action(found.action), points=found.points, win=found.win, reason=found.reason
    )


def _action(action: Action) -> AdvisedAction:
    match action:
        case ChooseHand():
            return AdvisedAction(type=ActionType.CHOOSE_HAND, flip=action.flip)
        case Show():
            return AdvisedAction(type=ActionType.SHOW, first=action.first, count=action.count)
        case Scout():
            return AdvisedAction(
                type=ActionType.SCOUT,
                flip=action.flip,
                end=action.end,
                insert_at=action.insert_at,
            )
        case ScoutAndShow():
            return AdvisedAction(
                type=ActionType.SCOUT_AND_SHOW,
                flip=action.flip,
                end=action.end,
                insert_at=action.insert_at,
                first=action.first,
                count=action.count,
            )
        case _:
            assert_never(action)
