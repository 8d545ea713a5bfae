"""Refusals as clients read them in payloads."""

from api.errors import Refused
from api.observe.work import refused
from api.problems import problem
from engine.errors import RuleError
from schema.payloads import UserError


def user_error(error: RuleError | Refused) -> UserError:
    """Why a request was refused, for the caller to mend."""
    told = problem(error)
    refused(told.code)
    return UserError(
        code=told.code,
        message=told.sentence,
        path=None if told.field is None else [told.field],
        current_version=told.current_version,
    )
