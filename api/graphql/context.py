"""What a resolver may use: the service, and who is calling."""

from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response
from strawberry.types import Info

from api.errors import Unauthenticated
from api.graphql.gate import Admission, Gate
from api.identity.caller import Caller
from api.identity.service import Identity
from api.identity.visitor import Visitor
from api.lobby import Lobby
from api.operators.service import Operators
from api.series.service import SeriesService
from api.service import MatchService
from api.streams import Permit, Streams
from schema.scopes import Scope


@dataclass
class Context:
    """One request, or one WebSocket connection.

    ``connection_params`` is set by the WebSocket handler from ``connection_init``.
    """

    service: MatchService
    series: SeriesService
    lobby: Lobby
    identity: Identity
    operators: Operators
    authorization: str | None = field(repr=False)
    streams: Streams
    gate: Gate
    address: str
    answer: Response | None = field(default=None, repr=False)  # over HTTP, for its headers
    admitted: Admission | None = None  # a stream over HTTP is, before it begins
    connection_params: dict[str, Any] | None = field(default=None, repr=False)

    async def player(self, scope: Scope) -> Caller:
        """Who is calling, with a token that allows what ``scope`` stands for.

        Raises:
            Unauthenticated: no token, or one that is not valid.
            Refused: FORBIDDEN.
        """
        return await self._visitor().player(scope)

    async def signed_in(self) -> Caller:
        """Who is calling, whatever the token allows.

        Raises:
            Unauthenticated: no token, or one that is not valid.
        """
        return await self._visitor().player()

    async def player_id(self) -> str | None:
        """Whom an operation is charged to, None without a token.

        Raises:
            Unauthenticated: the token is not valid.
        """
        caller = await self._visitor().caller()
        return None if caller is None else caller.player_id

    async def viewer_id(self) -> str | None:
        """The player through whose eyes the caller may look, None for what everybody may see.

        Raises:
            Unauthenticated: the token is not valid.
        """
        return await self._visitor().viewer_id()

    async def permit(self) -> Permit | None:
        """What a stream that is begun now depends on, None if on no token.

        Raises:
            Unauthenticated: the token is not valid.
        """
        return await self._visitor().permit()

    def _visitor(self) -> Visitor:
        params = self.connection_params or {}
        # Headers know no case, so neither does this.
        given = [value for name, value in params.items() if name.lower() == "authorization"]
        authorization = given[0] if given else self.authorization
        if authorization is not None and not isinstance(authorization, str):
            raise Unauthenticated("`authorization` is a string of the form `Bearer TOKEN`.")
        return Visitor(self.identity, authorization)


ContextInfo = Info[Context, None]
