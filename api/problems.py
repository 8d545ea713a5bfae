"""From an exception to what a client is told: one table for every transport."""

from dataclasses import dataclass
from typing import Final

from api.errors import (
    RateLimited,
    Refused,
    ServiceError,
    TooDear,
    Unauthenticated,
    Unavailable,
)
from engine.errors import RuleError
from schema.codes import ErrorCode

_STATUS: Final = {
    "INVALID_INPUT": 422,
    "NOT_FOUND": 404,
    "FORBIDDEN": 403,
    "NOT_SEATED": 403,
    "STALE_VERSION": 412,
    "CURSOR_EXPIRED": 410,
    "UNAUTHENTICATED": 401,
    "RATE_LIMITED": 429,
    "UNAVAILABLE": 503,
    "INTERNAL": 500,
}
UNAUTHENTICATED: Final = "UNAUTHENTICATED"
UNAVAILABLE: Final = "UNAVAILABLE"
RATE_LIMITED: Final = "RATE_LIMITED"
COST_LIMIT: Final = "COST_LIMIT"
RETRY_AFTER_SECONDS: Final = 2


@dataclass(frozen=True, slots=True)
class Problem:
    """What the caller can mend: a code, a sentence, the field at fault."""

    code: ErrorCode
    sentence: str
    field: str | None
    current_version: int | None


def problem(error: RuleError | Refused) -> Problem:
    """A refusal as a client is told of it."""
    if isinstance(error, RuleError):
        return Problem(ErrorCode(error.reason.value), str(error), error.field, None)
    return Problem(error.code, str(error), error.field, error.current_version)


def status_of(code: str) -> int:
    """The HTTP status of a code: 409 for what the state or the rules forbid."""
    return _STATUS.get(code, 409)


def request_extensions(error: ServiceError) -> dict[str, object]:
    """The ``extensions`` of a GraphQL error for what is wrong with a request as a whole."""
    match error:
        case Unauthenticated():
            return {"code": UNAUTHENTICATED}
        case Unavailable():
            return {"code": UNAVAILABLE, "retryAfter": RETRY_AFTER_SECONDS}
        case RateLimited():
            return {
                "code": RATE_LIMITED,
                "bucket": error.bucket,
                "limit": error.limit,
                "retryAfter": error.retry_after,
            }
        case TooDear():
            return {"code": COST_LIMIT, "cost": error.cost, "limit": error.limit}
        case Refused(code=code, current_version=version):
            told: dict[str, object] = {"code": code.value}
            return told if version is None else {**told, "currentVersion": version}
        case _:
            return {"code": "INTERNAL"}


def request_sentence(error: ServiceError) -> str:
    """The message that goes with it; never the text of a failure inside."""
    if isinstance(error, Unavailable):
        return "The service is not available for a moment; try again."
    return str(error)
