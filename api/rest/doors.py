"""What a route is given: the services, who is calling, and how a command is to be carried out."""

import re
from typing import Annotated, Any, Final

from fastapi import Depends, Header, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from api.bootstrap import Parts
from api.identity.caller import Caller
from api.identity.visitor import Visitor
from schema.inputs import MoveMeta
from schema.scopes import Scope

SIGN_IN_FIRST: Final = "Sign in first: `POST /v1/guests` gives a token to send as `Bearer TOKEN`."
OPTIONAL_SIGN_IN: Final[dict[str, Any]] = {"security": [{}, {"HTTPBearer": []}]}
_TAG: Final = r'^("[1-9][0-9]{0,8}"|[1-9][0-9]{0,8}|\*)$'
_QUOTED: Final = re.compile(r'"(.*)"\Z')
_KEY_WORDS: Final = (
    "1 to 128 printable ASCII characters: the same key again does it only once, and is answered "
    "alike. Quotes around it, as RFC 8941 has them, are not part of it."
)
_VERSION_WORDS: Final = 'The match\'s version as `"17"`: refuse with 412 at any other; `*`: at all.'

# Says in the document how to sign in; what is sent is judged by `recognise`, which tells more.
_bearer = HTTPBearer(auto_error=False, description="A token of `POST /v1/guests`.")


def _parts(request: Request) -> Parts:
    parts: Parts = request.app.state.parts
    return parts


Services = Annotated[Parts, Depends(_parts)]


def _visitor(request: Request, parts: Services) -> Visitor:
    return Visitor(parts.identity, request.headers.get("authorization"), SIGN_IN_FIRST)


Visit = Annotated[Visitor, Depends(_visitor)]
_Shown = Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]


async def _viewer(visitor: Visit) -> str | None:
    return await visitor.viewer_id()


async def _signed_in(visitor: Visit, _: _Shown) -> Caller:
    return await visitor.player()


async def _player(visitor: Visit, _: _Shown) -> Caller:
    return await visitor.player(Scope.PLAY)


async def _seated(visitor: Visit, _: _Shown) -> Caller:
    return await visitor.player(Scope.BOT)


# Through whose eyes the caller may look; whoever has signed in; with a token that allows all that a
# player does; with one that allows what a bot on a seat does.
Viewer = Annotated[str | None, Depends(_viewer)]
SignedIn = Annotated[Caller, Depends(_signed_in)]
Player = Annotated[Caller, Depends(_player)]
Seated = Annotated[Caller, Depends(_seated)]


def _key(
    key: Annotated[
        Annotated[str, Field(pattern=r"^[!-~]{1,130}$")] | SkipJsonSchema[None],
        Header(alias="Idempotency-Key", description=_KEY_WORDS),
    ] = None,
) -> MoveMeta:
    quoted = None if key is None else _QUOTED.match(key)
    return MoveMeta(idempotency_key=quoted.group(1) if quoted else key)


def _meta(
    keyed: Annotated[MoveMeta, Depends(_key)],
    version: Annotated[
        Annotated[str, Field(pattern=r'^("[1-9][0-9]{0,8}"|[1-9][0-9]{0,8}|\*)$')]
        | SkipJsonSchema[None],
        Header(alias="If-Match", description=_VERSION_WORDS),
    ] = None,
) -> MoveMeta:
    if version is None or version == "*":
        return keyed
    return MoveMeta(idempotency_key=keyed.idempotency_key, expected_version=int(version.strip('"')))


Keyed = Annotated[MoveMeta, Depends(_key)]
Meta = Annotated[MoveMeta, Depends(_meta)]
