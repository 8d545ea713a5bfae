"""Following a match: a page of updates, or a stream of server-sent events that resumes."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Annotated, Any, Final, NamedTuple, TypeVar

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema
from sse_starlette import EventSourceResponse
from starlette.types import Message, Send

from api.errors import ServiceError
from api.graphql.negotiation import answer_type
from api.limits.buckets import Bucket
from api.observe.work import refused
from api.rest.answers import Route, documented, encoded_match, told
from api.rest.doors import OPTIONAL_SIGN_IN, Charge, Services, Viewer, Visit
from api.rest.matches import WHOLE, MatchId
from api.values import Moment
from schema.cost import LOADED
from schema.pages import PAGE_LIMIT, USUAL_PAGE
from schema.rest.base import Model
from schema.rest.events import StreamEnd, UpdatePage
from schema.rest.plain import page_json, update_json

T = TypeVar("T")

PING_SECONDS: Final = 15
RETRY_MS: Final = 1000
EVENT_STREAM: Final = "text/event-stream"

router = APIRouter(prefix="/v1/matches", tags=["updates"], route_class=Route)

Cursor = Annotated[
    Annotated[int, Field(ge=0, lt=2**31)] | SkipJsonSchema[None],
    Query(description="The version after which to begin."),
]
LastEventId = Annotated[
    Annotated[str, Field(pattern=r"^[0-9]{1,9}$")] | SkipJsonSchema[None],
    Header(
        alias="Last-Event-ID",
        description="The version of the last update received; goes before `after`.",
    ),
]
STREAMED: Final[dict[int | str, Any]] = {
    200: {
        "content": {
            EVENT_STREAM: {
                "schema": {
                    "type": "string",
                    "description": (
                        "`event: update` with an update as its data and its version as its id; "
                        "`event: complete` at the end, with a StreamEnd; `event: problem`, with a "
                        "Problem, if it ends for another reason."
                    ),
                }
            }
        }
    },
    204: {"description": "The match is over, and all of it was received: do not come again."},
}


_STREAM: Final = Charge(Bucket.STREAMS)
_PAGE: Final = Charge(Bucket.READS, LOADED, each=WHOLE)


async def _charge(request: Request, parts: Services, visitor: Visit) -> None:
    charge = _STREAM if wants_stream(request) else _PAGE
    await charge(request, parts, visitor)


@router.get(
    "/{matchId}/updates",
    response_model=UpdatePage,
    summary="What happened in a match since a version",
    openapi_extra=OPTIONAL_SIGN_IN,
    dependencies=[Depends(_charge)],
    **documented(401, 404, 410, 422, responses=STREAMED),
)
async def match_updates(
    request: Request,
    parts: Services,
    visitor: Visit,
    viewer: Viewer,
    match_id: MatchId,
    after: Cursor = None,
    first: Annotated[
        int, Query(ge=1, le=PAGE_LIMIT, description="Updates of a page.")
    ] = USUAL_PAGE,
    last_event_id: LastEventId = None,
) -> Response:
    """As JSON, a page from version `after` (0) on. As `text/event-stream`, the state first, or
    with a cursor everything after it, and then each update as it happens.
    """
    if not wants_stream(request):
        page, version = await parts.service.updates(match_id, viewer, after or 0, first)
        more = bool(page) and page[-1].version < version
        told_of = page_json([_encoded(moment) for moment in page], version, more=more)
        return Response(told_of, media_type="application/json")
    cursor = after if last_event_id is None else int(last_event_id)
    standing = await parts.service.check_follow(match_id, viewer, cursor)
    if standing.view.status.over and cursor == standing.version:
        return Response(status_code=204)
    moments = parts.service.follow(match_id, viewer, cursor)
    return event_stream(parts.streams.lasting(moments, await visitor.permit()), _told)


def wants_stream(request: Request) -> bool:
    """Whether a client asks for server-sent events."""
    return answer_type(request.headers.get("accept", "")) == EVENT_STREAM


class Told(NamedTuple):
    """An update as a stream tells it; ``over``: nothing will follow."""

    update: Model | bytes  # or JSON already
    cursor: int | None = None
    over: bool = False


class _Stream(EventSourceResponse):
    """Sends without a clock for each event: a peer that takes nothing is the kernel's to end."""

    async def _send_with_timeout(self, send: Send, message: Message) -> None:
        await send(message)


def event_stream(source: AsyncGenerator[T, None], told_of: Callable[[T], Told]) -> Response:
    """What a source yields as server-sent events, with pings between them and a typed end."""
    return _Stream(_events(source, told_of), ping=PING_SECONDS, sep="\n")


async def _events(
    source: AsyncGenerator[T, None], told_of: Callable[[T], Told]
) -> AsyncGenerator[bytes, None]:
    over = False
    try:
        async with aclosing(source):
            async for item in source:
                update, cursor, over = told_of(item)
                yield _event("update", update, cursor)
    except ServiceError as error:
        problem = told(error)
        refused(problem.code)
        yield _event("problem", problem.model_dump_json(exclude_none=True).encode())
        return
    yield _event("complete", StreamEnd(reason="OVER" if over else "LIFETIME"))


def _event(name: str, data: Model | bytes, cursor: int | None = None) -> bytes:
    """An event as it is sent; JSON has no line breaks of its own."""
    told_of = data if isinstance(data, bytes) else data.model_dump_json().encode()
    if cursor is None:
        return b"event: %b\ndata: %b\n\n" % (name.encode(), told_of)
    event = (cursor, name.encode(), told_of, RETRY_MS)
    return b"id: %d\nevent: %b\ndata: %b\nretry: %d\n\n" % event


def _told(moment: Moment) -> Told:
    return Told(_encoded(moment), moment.version, moment.view.status.over)


def _encoded(moment: Moment) -> bytes:
    """An update as JSON, encoded once for all who may know as much."""
    found: bytes | None = moment.encoded.get("update")
    if found is None:
        match = encoded_match(moment)
        found = update_json(moment.version, moment.at, moment.events, match, moment.shared)
        moment.encoded["update"] = found
    return found
