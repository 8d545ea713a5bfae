"""What a route is given: the services, who is calling, and how a command is to be carried out."""

import re
from dataclasses import replace
from typing import Annotated, Any, Final

from fastapi import Depends, Header, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from api.bootstrap import Parts
from api.errors import Unauthenticated
from api.identity.caller import Caller
from api.identity.visitor import Visitor
from api.limits.buckets import Bucket, Standing
from api.limits.limiter import Caller as Charged
from schema.cost import LOADED
from schema.inputs import MoveMeta
from schema.pages import PAGE_LIMIT, USUAL_PAGE
from schema.scopes import Scope

SIGN_IN_FIRST: Final = "Sign in first: `POST /v1/guests` gives a token to send as `Bearer TOKEN`."
OPTIONAL_SIGN_IN: Final[dict[str, Any]] = {"security": [{}, {"HTTPBearer": []}]}
KEY: Final = r"^[!-~]{1,130}$"
TAG: Final = r'^((W/)?"[1-9][0-9]{0,8}"|[1-9][0-9]{0,8}|\*)$'
_QUOTED: Final = re.compile(r'"(.*)"\Z')
_KEY_WORDS: Final = (
    "1 to 128 printable ASCII characters: the same key again does it only once, and is answered "
    "alike. Quotes around it, as RFC 8941 has them, are not part of it."
)
_SIGN_IN_WORDS: Final = (
    "As secret as the token that it leads to: 32 to 128 printable ASCII characters that nobody can "
    "guess. The same key and name give the same player and token again for a day."
)
_VERSION_WORDS: Final = (
    'The match\'s version as `"17"`, or as a proxy may have made it `W/"17"`: refuse with 412 at '
    "any other. `*`: at all."
)

# Says in the document how to sign in; what is sent is judged by `recognise`, which tells more.
_bearer = HTTPBearer(auto_error=False, description="A token of `POST /v1/guests`.")


# All are coroutines: FastAPI calls what is none in a thread, which costs more than the work itself.


async def _parts(request: Request) -> Parts:
    parts: Parts = request.app.state.parts
    return parts


Services = Annotated[Parts, Depends(_parts)]


async def _visitor(request: Request, parts: Services) -> Visitor:
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


async def _operator(visitor: Visit, _: _Shown) -> Caller:
    return await visitor.player(Scope.OPERATE)


# Through whose eyes the caller may look; whoever has signed in; with a token that allows all that a
# player does; with one that allows what a bot on a seat does; with one of an operator.
Viewer = Annotated[str | None, Depends(_viewer)]
SignedIn = Annotated[Caller, Depends(_signed_in)]
Player = Annotated[Caller, Depends(_player)]
Seated = Annotated[Caller, Depends(_seated)]
Operator = Annotated[Caller, Depends(_operator)]


def address_of(request: Request) -> str:
    """Where a request comes from."""
    return request.client.host if request.client else ""


def tell(request: Request, standing: Standing | None) -> None:
    """Let the answer carry what is left of a bucket."""
    if standing is not None:
        request.state.rate_limit = standing.headers()


class Charge:
    """What a route takes from a bucket before it does anything; ``each``: per node of a page.

    Raises:
        Unauthenticated: the token is not valid.
        RateLimited: the caller has not so much left.
        Unavailable: Redis cannot be reached.
    """

    def __init__(self, bucket: Bucket, points: int = 1, each: int = 0) -> None:
        self._bucket = bucket
        self._points = points
        self._each = each

    async def __call__(self, request: Request, parts: Services, visitor: Visit) -> None:
        """Charge whoever is calling; a guess at a token is a read of its address."""
        address = address_of(request)
        try:
            caller = await visitor.caller()
        except Unauthenticated:
            await parts.limiter.charge_address(Bucket.READS, address, LOADED)
            raise
        charged = Charged(None if caller is None else caller.player_id, address)
        amount = self._points + (self._each and self._each * _nodes(request))
        tell(request, await parts.limiter.charge(self._bucket, charged, amount))


def _nodes(request: Request) -> int:
    """How many nodes a page is asked to have; what is wrong with that is told elsewhere."""
    asked = request.query_params.get("first", str(USUAL_PAGE))
    wanted = int(asked) if asked.isdecimal() and len(asked) < 4 else 0
    return wanted if wanted <= PAGE_LIMIT else 0


def takes(bucket: Bucket, points: int = 1, each: int = 0) -> list[Any]:
    """A route's ``dependencies``: what it costs."""
    return [Depends(Charge(bucket, points, each))]


def key_of(header: str | None) -> str | None:
    """The key in a header of the form ``KEY``."""
    quoted = None if header is None else _QUOTED.match(header)
    return quoted.group(1) if quoted else header


def version_of(header: str | None) -> int | None:
    """The version in a header of the form ``TAG``, None for any."""
    if header is None or header == "*":
        return None
    return int(header.removeprefix("W/").strip('"'))


async def _key(
    key: Annotated[
        Annotated[str, Field(pattern=KEY)] | SkipJsonSchema[None],
        Header(alias="Idempotency-Key", description=_KEY_WORDS),
    ] = None,
) -> MoveMeta:
    return MoveMeta(idempotency_key=key_of(key))


async def _secret_key(
    key: Annotated[
        Annotated[str, Field(pattern=r"^[!-~]{32,130}$")] | SkipJsonSchema[None],
        Header(alias="Idempotency-Key", description=_SIGN_IN_WORDS),
    ] = None,
) -> str | None:
    return (await _key(key)).idempotency_key


async def _meta(
    keyed: Annotated[MoveMeta, Depends(_key)],
    version: Annotated[
        Annotated[str, Field(pattern=TAG)] | SkipJsonSchema[None],
        Header(alias="If-Match", description=_VERSION_WORDS),
    ] = None,
) -> MoveMeta:
    return replace(keyed, expected_version=version_of(version))


SecretKey = Annotated[str | None, Depends(_secret_key)]
Keyed = Annotated[MoveMeta, Depends(_key)]
Meta = Annotated[MoveMeta, Depends(_meta)]
