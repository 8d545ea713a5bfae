"""Advice as REST tells it."""

from typing import Self

from engine.actions import End
from engine.bots.advice import Advice as EngineAdvice
from schema import advice
from schema.advice import ActionType
from schema.rest.base import Model


class AdvisedAction(Model, mirrors=advice.AdvisedAction):
    type: ActionType
    flip: bool | None
    end: End | None
    insert_at: int | None
    first: int | None
    count: int | None


class Advice(Model, mirrors=advice.Advice):
    action: AdvisedAction
    points: float
    win: float | None
    reason: str

    @classmethod
    def of(cls, found: EngineAdvice) -> Self:
        """Advice as REST tells it."""
        return cls.model_validate(advice.advice_of(found))


class AdviceList(Model):
    """Legal actions, the best first; empty when it is not the caller's turn."""

    advice: list[Advice]
