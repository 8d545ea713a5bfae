"""The lobby as clients follow it."""

import strawberry
from strawberry import field

from schema.cost import sized
from schema.pages import PAGE_LIMIT
from schema.types import Match


@strawberry.type(description="What has changed among the public matches that can be joined.")
class LobbyUpdate:
    matches: list[Match] = field(
        description="Open matches that are new or have changed, as everybody sees them.",
        directives=sized(PAGE_LIMIT),
    )
    gone: list[strawberry.ID] = field(
        description="Ids of matches told of before that can no longer be joined."
    )
