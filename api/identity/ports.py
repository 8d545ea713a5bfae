"""What identity needs from outside: a store of tokens."""

from dataclasses import dataclass, field
from typing import Protocol

from schema.scopes import Scope


@dataclass(frozen=True, slots=True)
class Grant:
    """What is stored under the hash of a token.

    ``expires_at`` in milliseconds since the epoch. ``listed`` is False for a token of a release
    that had no lists.
    """

    player_id: str = field(repr=False)
    name: str
    scopes: frozenset[Scope]
    expires_at: int
    listed: bool = True


@dataclass(frozen=True, slots=True)
class Token:
    """A token in its player's list; times in milliseconds since the epoch."""

    token_id: str = field(repr=False)
    name: str
    scopes: frozenset[Scope]
    created_at: int
    expires_at: int
    hash: str = field(repr=False)


class TokenStore(Protocol):
    """The tokens of all players, by their hashes, and the keys under which they were made.

    Every method raises ``Unavailable`` when the store cannot be reached.
    """

    async def find(self, token_hash: str) -> Grant | None:
        """What a token allows; None if it is not known, has expired or was revoked."""
        ...

    async def issue(self, token: Token, grant: Grant, limit: int, now: int) -> bool:
        """List a token and then let it be valid; False if its player has ``limit`` of them.

        Again for the same token: nothing changes, and one that was revoked stays so.
        """
        ...

    async def adopt(self, token: Token, player_id: str, now: int) -> None:
        """List a token that is valid and was not listed."""
        ...

    async def tokens(self, player_id: str, now: int) -> list[Token]:
        """The tokens of a player that have not expired, the newest first."""
        ...

    async def revoke(self, player_id: str, token_id: str, until: int) -> bool:
        """End a token and tell every process; False if the player never had it.

        It stays known as revoked until ``until`` or longer, in milliseconds since the epoch. Again
        for the same token: nothing changes, and the answer is the same.
        """
        ...

    async def claim(self, player_id: str, key: str, value: str) -> str:
        """The value that an idempotency key of a player stands for: the first one given."""
        ...

    async def sign_in_as(self, digest: str, value: str) -> str:
        """The same for the key of a sign-in, by its digest."""
        ...
