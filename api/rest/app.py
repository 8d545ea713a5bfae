"""The REST application and its OpenAPI document, mounted beside GraphQL."""

import json
from http import HTTPStatus
from importlib.metadata import version
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.routing import APIRoute
from pydantic.alias_generators import to_camel
from starlette.exceptions import HTTPException
from starlette.routing import Match

from api.bootstrap import Parts
from api.rest import lobby, matches, operators, people, series, updates
from api.rest.answers import PROBLEM, problem_answer
from schema.rest.problem import Problem

ROUTERS: Final = (
    people.router,
    matches.router,
    matches.codes,
    lobby.router,
    updates.router,
    series.router,
    operators.router,
)
LINKED: Final = {"/v1/matches": "matchId", "/v1/series": "seriesId"}
TITLE: Final = "Ringmaster"
# Python's releases have other words for some statuses.
_CODES: Final = {413: "CONTENT_TOO_LARGE", 500: "INTERNAL"}
ABOUT: Final = (
    "Matches of the card game SCOUT. The fields are those of GraphQL at /graphql; docs/api.md "
    "shows every operation, and what to do on each code."
)


class RestApp(FastAPI):
    """FastAPI, whose document tells failures as they are sent: as problem documents."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI 3.1 document, made of the routes and their models."""
        if self.openapi_schema is None:
            document = super().openapi()
            _tell_problems(document)
            for maker, parameter in LINKED.items():
                _link(document, maker, parameter)
            self.openapi_schema = document
        return self.openapi_schema


def _tell_problems(document: dict[str, Any]) -> None:
    for path in document["paths"].values():
        for operation in path.values():
            for status, found in operation["responses"].items():
                content = found.get("content", {})
                if int(status) >= HTTPStatus.BAD_REQUEST and "application/json" in content:
                    found["content"] = {PROBLEM: content["application/json"]}


def _link(document: dict[str, Any], maker: str, parameter: str) -> None:
    """Say what can be done with what a path makes: everything that takes its id."""
    links = {
        operation["operationId"]: {
            "operationId": operation["operationId"],
            "parameters": {parameter: "$response.body#/id"},
        }
        for path, methods in document["paths"].items()
        for operation in methods.values()
        if f"{{{parameter}}}" in path
    }
    document["paths"][maker]["post"]["responses"]["201"]["links"] = links


def create_rest(parts: Parts | None) -> RestApp:
    """The application; without ``parts`` it can only be asked for its document."""
    app = RestApp(
        title=TITLE,
        version=version("scout-ringmaster"),
        description=ABOUT,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=_operation_id,
        separate_input_output_schemas=False,
        exception_handlers={HTTPException: nothing_here},
    )
    for router in ROUTERS:
        app.include_router(router)
    app.state.parts = parts
    return app


def document() -> str:
    """The OpenAPI document as it is checked in, for people to read."""
    return json.dumps(create_rest(None).openapi(), indent=2, ensure_ascii=False)


def _operation_id(route: APIRoute) -> str:
    return to_camel(route.name)


async def nothing_here(request: Request, error: Exception) -> Response:
    """What no route answers, as a problem document (RFC 9457)."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    title = HTTPStatus(status).phrase
    code = _CODES.get(status) or title.upper().replace(" ", "_")
    found = problem_answer(Problem(title=title, status=status, code=code, detail=f"{title}."))
    if isinstance(error, HTTPException):
        found.headers.update(error.headers or {})
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        found.headers["Allow"] = ", ".join(sorted(_allowed(request)))
    return found


def too_large(sentence: str) -> Response:
    """What a body over the limit is answered."""
    title = HTTPStatus.REQUEST_ENTITY_TOO_LARGE.phrase
    found = Problem(title=title, status=413, code=_CODES[413], detail=sentence)
    return problem_answer(found)


def _allowed(request: Request) -> set[str]:
    """Every method that the path has; Starlette names those of its first route only."""
    routes = [r for router in ROUTERS for r in router.routes if isinstance(r, APIRoute)]
    found = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return {method for route in found for method in route.methods or ()}
