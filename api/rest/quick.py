"""Plain moves straight to the service: FastAPI's way there costs as much as the move.

Only what is known to be taken goes this way. Anything else, above all what a model or the form of a
header refuses, is FastAPI's before anything was charged; so all refusals and the document are made
in one place. `tests/api/test_quick.py` compares the two ways.
"""

import re
from typing import Final, NamedTuple

import orjson
from fastapi import Request, Response
from pydantic import ValidationError
from starlette.types import ASGIApp, Receive, Scope, Send

from api import requests
from api.bootstrap import Parts
from api.identity.visitor import Visitor
from api.limits.buckets import Bucket
from api.rest.answers import answered, match_answer
from api.rest.doors import KEY, SIGN_IN_FIRST, TAG, Charge, key_of, version_of
from schema.inputs import MoveInput, MoveMeta
from schema.rest import inputs
from schema.scopes import Scope as TokenScope

BODY: Final = "ringmaster.body"  # where in an ASGI scope the body is, once it has been read
MOVES: Final[dict[str, type[inputs.Move]]] = {
    "hand": inputs.ChooseHand,
    "show": inputs.Show,
    "scout": inputs.Scout,
    "scout-and-show": inputs.ScoutAndShow,
}
_PATH: Final = re.compile(r"/v1/matches/([^/]+)/(hand|show|scout|scout-and-show)")
_KEY: Final = re.compile(KEY)
_TAG: Final = re.compile(TAG)
_CHARGE: Final = Charge(Bucket.PLAYS)


class Plain(NamedTuple):
    """A move that its model takes, and what it came with."""

    path: str
    move: MoveInput
    authorization: str | None


class _Route(NamedTuple):
    """By its template, as those who observe requests tell it."""

    path: str


class Quick:
    """REST, with a way of its own for plain moves."""

    def __init__(self, app: ASGIApp, parts: Parts) -> None:
        self._app = app
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        plain = plain_move(scope)
        if plain is None:
            await self._app(scope, receive, send)
            return

        scope["route"] = _Route(plain.path)

        async def work(request: Request) -> Response:
            return await self._carry_out(request, plain)

        response = await answered(Request(scope, receive), work, plain.path)
        await response(scope, receive, send)

    async def _carry_out(self, request: Request, plain: Plain) -> Response:
        visitor = Visitor(self._parts.identity, plain.authorization, SIGN_IN_FIRST)
        await _CHARGE(request, self._parts, visitor)
        seated = await visitor.player(TokenScope.BOT)
        return match_answer(await requests.move(self._parts.service, seated, plain.move))


def plain_move(scope: Scope) -> Plain | None:
    """The move that a request asks for, None if it is anything else or anything about it is odd."""
    found = _PATH.fullmatch(scope["path"])
    if found is None or scope["method"] != "POST" or BODY not in scope or scope.get("root_path"):
        return None
    headers: dict[bytes, bytes] = dict(scope["headers"])
    if len(headers) != len(scope["headers"]) or headers.get(b"content-type") != b"application/json":
        return None
    key, version = _header(headers, b"idempotency-key"), _header(headers, b"if-match")
    if (key is not None and not _KEY.fullmatch(key)) or (
        version is not None and not _TAG.fullmatch(version)
    ):
        return None
    meta = MoveMeta(idempotency_key=key_of(key), expected_version=version_of(version))
    try:
        asked = MOVES[found[2]].model_validate(orjson.loads(scope[BODY]))
    except (orjson.JSONDecodeError, ValidationError):
        return None
    path = f"/v1/matches/{{matchId}}/{found[2]}"  # what is logged is nobody's text
    return Plain(path, asked.asked(found[1], meta), _header(headers, b"authorization"))


def _header(headers: dict[bytes, bytes], name: bytes) -> str | None:
    value = headers.get(name)
    return None if value is None else value.decode("latin-1")
