"""The lobby: the public matches that can be joined, as a page or as a stream."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi import APIRouter, Request, Response
from sse_starlette import ServerSentEvent

from api.errors import ServiceError
from api.limits.buckets import Bucket
from api.lobby import News
from api.rest.answers import Route, answer, documented, told
from api.rest.doors import OPTIONAL_SIGN_IN, Services, Visit, takes
from api.rest.updates import EVENT_STREAM, event, event_stream, wants_stream
from engine.state import Status
from schema.pages import PAGE_LIMIT
from schema.rest.events import StreamEnd
from schema.rest.lobby import LobbyUpdate
from schema.rest.match import match_of

router = APIRouter(prefix="/v1/lobby", tags=["matches"], route_class=Route)


@router.get(
    "",
    response_model=LobbyUpdate,
    summary="The public matches that can be joined",
    openapi_extra=OPTIONAL_SIGN_IN,
    dependencies=takes(Bucket.STREAMS),
    **documented(401, 422, responses={200: {"content": {EVENT_STREAM: {}}}}),
)
async def lobby(request: Request, parts: Services, visitor: Visit) -> Response:
    """The newest hundred, as everybody sees them. As `text/event-stream`, these first and then, in
    each `event: update`, what has changed; it has no cursor, who comes again is told all again.
    """
    permit = await visitor.permit()
    if wants_stream(request):
        return event_stream(_events(parts.streams.lasting(parts.lobby.follow(), permit)))
    found, _ = await parts.service.page(Status.LOBBY, None, PAGE_LIMIT, None)
    return answer(_update(News(tuple(found), ())))


async def _events(news: AsyncGenerator[News, None]) -> AsyncGenerator[ServerSentEvent, None]:
    try:
        async with aclosing(news):
            async for one in news:
                yield event("update", _update(one))
    except ServiceError as error:
        yield event("problem", told(error))
        return
    yield event("complete", StreamEnd(reason="LIFETIME"))


def _update(news: News) -> LobbyUpdate:
    matches = [match_of(found.view, found.version, found.hash) for found in news.open]
    return LobbyUpdate(matches=matches, gone=list(news.gone))
