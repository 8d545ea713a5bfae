"""The lobby: the public matches that can be joined, as a page or as a stream."""

from fastapi import APIRouter, Request, Response

from api.limits.buckets import Bucket
from api.lobby import News
from api.rest.answers import Route, answer, documented
from api.rest.doors import OPTIONAL_SIGN_IN, Services, Visit, takes
from api.rest.updates import EVENT_STREAM, Told, event_stream, wants_stream
from engine.state import Status
from schema.pages import PAGE_LIMIT
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
        news = parts.streams.lasting(parts.lobby.follow(), permit)
        return event_stream(news, lambda one: Told(_update(one)))
    found, _ = await parts.service.page(Status.LOBBY, None, PAGE_LIMIT, None)
    return answer(_update(News(tuple(found), ())))


def _update(news: News) -> LobbyUpdate:
    matches = [match_of(found.view, found.version, found.hash) for found in news.open]
    return LobbyUpdate(matches=matches, gone=list(news.gone))
