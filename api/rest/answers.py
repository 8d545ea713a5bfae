"""What a route answers: a model as JSON, or a problem document (RFC 9457)."""

import logging
from collections.abc import Awaitable, Callable, Coroutine
from http import HTTPStatus
from typing import Any, Final

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from api.errors import RateLimited, Refused, ServiceError
from api.limits.buckets import refusal_headers
from api.observe.work import refused
from api.problems import problem, request_extensions, request_sentence, status_of
from api.values import Answer, Moment
from engine.errors import RuleError
from schema.codes import ErrorCode
from schema.rest.base import Model
from schema.rest.plain import match_json
from schema.rest.problem import FieldProblem, Problem

PROBLEM: Final = "application/problem+json"
_ALWAYS: Final = (429, 500, 503)

log = logging.getLogger("ringmaster.rest")


def answer(model: Model, status: int = 200, **headers: str) -> Response:
    """A model as JSON."""
    return Response(model.model_dump_json(), status, headers, "application/json")


def match_answer(found: Answer, status: int = 200, **headers: str) -> Response:
    """A match, with its version as the entity tag (RFC 9110)."""
    told = {"ETag": f'"{found.version}"', **headers}
    return Response(encoded_match(found), status, told, "application/json")


def encoded_match(found: Answer | Moment) -> bytes:
    """A match as JSON, encoded once for its answer and for all followers who may know as much."""
    made: bytes | None = found.encoded.get("match")
    if made is None:
        made = match_json(found.view, found.version, found.hash, found.shared)
        found.encoded["match"] = made
    return made


def documented(*statuses: int, **more: Any) -> dict[str, Any]:
    """What a route may answer beside its success, for the document."""
    found: dict[int | str, Any] = {
        status: {"model": Problem, "description": HTTPStatus(status).phrase}
        for status in sorted({*statuses, *_ALWAYS, *((413,) if 415 in statuses else ())})
    }
    return {"responses": {**found, **more.pop("responses", {})}, **more}


class Route(APIRoute):
    """A route whose every failure is a problem document, and none of which tells what failed."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            return await answered(request, handler, self.path)

        return guarded


async def answered(
    request: Request, work: Callable[[Request], Awaitable[Response]], path: str
) -> Response:
    """What ``work`` answers, or what its failure is told as; with what is left of a bucket.

    Raises:
        HTTPException: what is answered by the application, such as 404 or 405.
    """
    response = await _answered(request, work, path)
    response.headers.update(getattr(request.state, "rate_limit", {}))
    return response


async def _answered(
    request: Request, work: Callable[[Request], Awaitable[Response]], path: str
) -> Response:
    try:
        return await work(request)
    except RateLimited as error:
        refusal = problem_answer(told(error))
        refusal.headers.update(refusal_headers(error))
        return refusal
    except (RuleError, ServiceError) as error:
        return problem_answer(told(error))
    except RequestValidationError as error:
        return problem_answer(malformed(request, error))
    except HTTPException as error:
        if error.status_code != HTTPStatus.BAD_REQUEST:
            raise
        # Nested beyond what can be read, or no text at all.
        return problem_answer(_unreadable())
    except Exception as error:  # noqa: BLE001 - its text could carry a hidden card
        log.error("unexpected %s at %s", type(error).__name__, path)  # noqa: TRY400
        return problem_answer(_problem(500, "INTERNAL", "Something failed on our side."))


def told(error: RuleError | ServiceError) -> Problem:
    """A refusal or a failure as a client is told of it."""
    match error:
        case RuleError() | Refused():
            found = problem(error)
            return _problem(
                status_of(found.code),
                found.code,
                found.sentence,
                path=None if found.field is None else [found.field],
                current_version=found.current_version,
            )
        case _:
            extensions = request_extensions(error)
            return _problem(
                status_of(str(extensions["code"])),
                str(extensions["code"]),
                request_sentence(error),
                **{name: extensions.get(name) for name in ("bucket", "limit")},
                retry_after=extensions.get("retryAfter"),
            )


def malformed(request: Request, error: RequestValidationError) -> Problem:
    """A request that its model does not take: every part at fault, none of what was sent."""
    sent = request.headers.get("content-type", "application/json").partition(";")[0].strip()
    if sent.lower() != "application/json" and any(e["loc"][0] == "body" for e in error.errors()):
        sentence = "A body is JSON: `Content-Type: application/json`."
        return _problem(415, "UNSUPPORTED_MEDIA_TYPE", sentence)
    if any(fault["type"] == "json_invalid" for fault in error.errors()):
        return _unreadable()
    faults = [
        FieldProblem(path=_place(fault["loc"]), message=fault["msg"])
        for fault in error.errors()
        if fault["type"] != "none_required"  # the other half of what may be left out
    ]
    first = faults[0]
    sentence = f"{'.'.join(first.path)}: {first.message}"
    return _problem(422, ErrorCode.INVALID_INPUT, sentence, path=first.path, errors=faults)


def _unreadable() -> Problem:
    return _problem(422, ErrorCode.INVALID_INPUT, "The body cannot be read as JSON.")


def _place(loc: tuple[int | str, ...]) -> list[str]:
    """Where in the request a fault is; of a parameter its name, not the parts of its type."""
    kind, *path = map(str, loc)
    if kind != "body":
        return path[:1]
    return path or [kind]


def problem_answer(found: Problem) -> Response:
    """A problem document, with the headers that go with its status."""
    refused(found.code)
    headers = {}
    if found.status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    if found.retry_after is not None:
        headers["Retry-After"] = str(found.retry_after)
    if found.current_version is not None:
        headers["ETag"] = f'"{found.current_version}"'
    return Response(found.model_dump_json(exclude_none=True), found.status, headers, PROBLEM)


def _problem(status: int, code: str, detail: str, **more: Any) -> Problem:
    return Problem(title=HTTPStatus(status).phrase, status=status, code=code, detail=detail, **more)
