"""One request's caller, as every transport asks for it."""

from dataclasses import dataclass, field
from typing import Final

from api.errors import Unauthenticated
from api.identity.caller import Caller
from api.identity.service import Identity, require
from api.streams import Permit
from schema.scopes import Scope

SIGN_IN_FIRST: Final = "Sign in first: `signInAsGuest` gives a token to send as `Bearer TOKEN`."


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who came with an authorization; asked anew each time, since a token may end meanwhile."""

    identity: Identity
    authorization: str | None = field(repr=False)
    sign_in_first: str = SIGN_IN_FIRST

    async def caller(self) -> Caller | None:
        """Who is calling, None without a token.

        Raises:
            Unauthenticated: the token is not valid.
        """
        return await self.identity.recognise(self.authorization)

    async def player(self, scope: Scope | None = None) -> Caller:
        """Who is calling, with a token that allows what ``scope`` stands for.

        Raises:
            Unauthenticated: no token, or one that is not valid.
            Refused: FORBIDDEN.
        """
        caller = await self.caller()
        if caller is None:
            raise Unauthenticated(self.sign_in_first)
        if scope is not None:
            require(caller, scope)
        return caller

    async def viewer_id(self) -> str | None:
        """The player through whose eyes the caller may look, None for what everybody may see.

        Raises:
            Unauthenticated: the token is not valid.
        """
        caller = await self.caller()
        return None if caller is None else caller.viewer_id

    async def permit(self) -> Permit | None:
        """What a stream that is begun now depends on, None if on no token.

        Raises:
            Unauthenticated: the token is not valid.
        """
        caller = await self.caller()
        return None if caller is None else Permit(caller.token_id, caller.expires_at, self.caller)
