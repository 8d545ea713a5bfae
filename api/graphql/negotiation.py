"""Which answers a client takes, as the GraphQL over HTTP specification has it."""

from functools import lru_cache
from typing import Final

from strawberry.http.parse_content_type import parse_content_type

JSON: Final = "application/json"
GRAPHQL_JSON: Final = "application/graphql-response+json"
EVENTS: Final = "text/event-stream"
_STATUSES: Final = {"RATE_LIMITED": 429, "UNAVAILABLE": 503, "INTERNAL": 500}
_BAD_REQUEST: Final = 400
_LEAST: Final = 0.001  # the smallest weight that is not a refusal
_CACHED: Final = 128  # header fields as clients send them, which are few


@lru_cache(_CACHED)
def sends_json(content_type: str) -> bool:
    """Whether a body is JSON in UTF-8, which is what GraphQL is sent as."""
    media_type, parameters = parse_content_type(content_type)
    charset = parameters.get("charset", "utf-8")
    return media_type.lower() == JSON and charset.strip("\"'").lower() in ("utf-8", "utf8")


@lru_cache(_CACHED)
def answer_type(accept: str) -> str | None:
    """The media type of an answer, None if the client takes none that we have."""
    ranges = _ranges(accept) or {"*/*": 1.0}
    weights = {kind: _weight(kind, ranges) for kind in (GRAPHQL_JSON, JSON)}
    best = max(weights.values())
    if ranges.get(EVENTS, 0) >= max(best, _LEAST):
        return EVENTS
    if not best:
        return None
    preferred = GRAPHQL_JSON if GRAPHQL_JSON in ranges else JSON
    return preferred if weights[preferred] == best else max(weights, key=weights.__getitem__)


def request_error_status(code: object) -> int:
    """The status of a request that was not carried out, by its first error's code."""
    return _STATUSES.get(str(code), _BAD_REQUEST)


def _ranges(accept: str) -> dict[str, float]:
    found = {}
    for part in accept.split(","):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        if name:
            found[name] = next((_number(p[2:]) for p in parameters if p.startswith("q=")), 1.0)
    return found


def _weight(kind: str, ranges: dict[str, float]) -> float:
    return next((ranges[r] for r in (kind, "application/*", "*/*") if r in ranges), 0.0)


def _number(text: str) -> float:
    try:
        return min(1.0, max(0.0, float(text)))
    except ValueError:
        return 0.0
