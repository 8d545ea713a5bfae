"""What a resolver may use: the service, and who is calling."""

from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response
from strawberry.types import Info

from api.errors import Unauthenticated
from api.graphql.gate import Admission, Gate
from api.guests import Guests
from api.ports import Guest
from api.series.service import SeriesService
from api.service import MatchService
from api.streams import Streams

SIGN_IN_FIRST = "Sign in first: `signInAsGuest` gives a token to send as `Bearer TOKEN`."


@dataclass
class Context:
    """One request, or one WebSocket connection.

    ``connection_params`` is set by the WebSocket handler from ``connection_init``.
    """

    service: MatchService
    series: SeriesService
    guests: Guests
    authorization: str | None
    streams: Streams
    gate: Gate
    address: str
    answer: Response | None = field(default=None, repr=False)  # over HTTP, for its headers
    admitted: Admission | None = None  # a stream over HTTP is, before it begins
    connection_params: dict[str, Any] | None = field(default=None, repr=False)

    async def caller(self) -> Guest | None:
        """The guest who is calling, None without a token.

        Raises:
            Unauthenticated: the token is not known.
        """
        params = self.connection_params or {}
        # Headers know no case, so neither does this.
        given = [value for name, value in params.items() if name.lower() == "authorization"]
        authorization = given[0] if given else self.authorization
        if authorization is not None and not isinstance(authorization, str):
            raise Unauthenticated("`authorization` is a string of the form `Bearer TOKEN`.")
        return await self.guests.recognise(authorization)

    async def player(self) -> Guest:
        """The guest who is calling.

        Raises:
            Unauthenticated: no token, or one that is not known.
        """
        guest = await self.caller()
        if guest is None:
            raise Unauthenticated(SIGN_IN_FIRST)
        return guest

    async def player_id(self) -> str | None:
        """The player id of the guest who is calling, None without a token."""
        guest = await self.caller()
        return None if guest is None else guest.player_id


ContextInfo = Info[Context, None]
