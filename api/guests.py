"""Who is calling: guests and their opaque tokens, of which only the hash is stored."""

import hmac
import secrets
import time
from collections import OrderedDict
from typing import Final

from api.errors import Unauthenticated
from api.identity.names import clean_name
from api.ports import Directory, Guest

_CACHED: Final = 10_000
_CACHE_SECONDS: Final = 300


class Guests:
    """Signs guests in and recognises them."""

    def __init__(self, directory: Directory, ttl: int, secret: str = "") -> None:
        self._directory = directory
        self._ttl = ttl
        self._secret = secret.encode()
        # Saves a round trip per move; a guest never changes while the token is valid.
        self._cache: OrderedDict[str, tuple[float, Guest]] = OrderedDict()

    async def sign_in(self, name: str) -> tuple[str, Guest]:
        """A new token and its guest.

        Raises:
            RuleError: INVALID_INPUT for a name that cannot be shown.
            Unavailable: Redis cannot be reached.
        """
        guest = Guest(f"p-{secrets.token_urlsafe(12)}", clean_name(name))
        token = secrets.token_urlsafe(32)
        await self._directory.save_guest(self._hash(token), guest, self._ttl)
        return token, guest

    async def recognise(self, authorization: str | None) -> Guest | None:
        """The guest behind ``Bearer TOKEN``, None if nothing was given.

        Raises:
            Unauthenticated: something else was given, or a token that is not known.
            Unavailable: Redis cannot be reached.
        """
        if authorization is None:
            return None
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip().isascii():
            raise Unauthenticated("The authorization is not of the form `Bearer TOKEN`.")
        key, now = self._hash(token.strip()), time.monotonic()
        cached = self._cache.get(key)
        if cached is not None and now - cached[0] < _CACHE_SECONDS:
            return cached[1]
        guest = await self._directory.find_guest(key)
        if guest is None:
            raise Unauthenticated("This token is not known; sign in again.")
        self._cache[key] = (now, guest)
        if len(self._cache) > _CACHED:
            self._cache.popitem(last=False)
        return guest

    def _hash(self, token: str) -> str:
        return hmac.digest(self._secret, token.encode(), "sha256").hex()
