"""From what a request carries to its caller, mostly without asking Redis."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Protocol

from api.errors import Unauthenticated
from api.identity.caller import Caller
from api.identity.marks import Marks
from api.identity.ports import Grant, Token, TokenStore

CACHED: Final = 10_000
CACHE_SECONDS: Final = 300
OUTSIDE_SECONDS: Final = 30  # for which a checked signature is not checked again
ATTEMPTS: Final = 3
LONGEST: Final = 8192  # characters of a token


class Outside(Protocol):
    """An issuer of tokens that are not our own."""

    async def recognise(self, token: str) -> Caller:
        """The caller behind a token.

        Raises:
            Unauthenticated: it is not valid.
            Unavailable: that cannot be found out now.
        """
        ...

    def close(self) -> None:
        """Let go of what it holds."""
        ...


class Recogniser:
    """Knows callers by their tokens, and forgets those that are revoked."""

    def __init__(
        self, store: TokenStore, marks: Marks, outside: Outside | None, now: Callable[[], int]
    ) -> None:
        self._store = store
        self._marks = marks
        self._outside = outside
        self._now = now
        # Until when, by the monotonic clock, and who. Saves a round trip, or the check of a
        # signature, per request: what a token allows changes by its revocation alone.
        self._cache: OrderedDict[str, tuple[float, Caller]] = OrderedDict()
        self._changes = 0

    async def recognise(self, authorization: str | None) -> Caller | None:
        """The caller behind ``Bearer TOKEN``, None if nothing was given.

        Raises:
            Unauthenticated: something else was given, or a token that is not valid.
            Unavailable: Redis, or the issuer of the token, cannot be reached.
        """
        if authorization is None:
            return None
        scheme, _, token = authorization.partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token.isascii() or len(token) > LONGEST:
            raise Unauthenticated("The authorization is not of the form `Bearer TOKEN`.")
        caller = await self._known(token)
        if caller.expires_at <= self._now():
            raise unknown()
        return caller

    def forget(self, token_ids: frozenset[str] | None) -> None:
        """Know these tokens no more without looking; None: all."""
        self._changes += 1
        if token_ids is None:
            self._cache.clear()
            return
        for key in [k for k, (_, known) in self._cache.items() if known.token_id in token_ids]:
            del self._cache[key]

    async def _known(self, token: str) -> Caller:
        key, now = self._marks.hash(token), time.monotonic()
        cached = self._cache.get(key)
        if cached is not None and now < cached[0]:
            return cached[1]
        if self._outside is not None and token.count(".") == 2:  # ours have none
            caller = await self._outside.recognise(token)
            self._keep(key, now + OUTSIDE_SECONDS, caller)
            return caller
        for _ in range(ATTEMPTS):
            seen = self._changes
            caller = await self._look_up(token, key)
            if seen == self._changes:
                self._keep(key, now + CACHE_SECONDS, caller)
                break
            # Something was revoked while Redis was asked, perhaps this: what was read may be old.
        return caller

    def _keep(self, key: str, until: float, caller: Caller) -> None:
        self._cache[key] = (until, caller)
        for _ in range(2):  # one more than comes, so that those who have gone are forgotten in time
            oldest = next(iter(self._cache))
            if self._cache[oldest][0] < time.monotonic() or len(self._cache) > CACHED:
                del self._cache[oldest]

    async def _look_up(self, token: str, key: str) -> Caller:
        grant = await self._store.find(key)
        if grant is None:
            raise unknown()
        token_id = self._marks.token_id(grant.player_id, key)
        if not grant.listed:
            await self._adopt(grant, token_id, key)
        return Caller(
            player_id=grant.player_id,
            name=grant.name,
            scopes=grant.scopes,
            token_id=token_id,
            expires_at=grant.expires_at,
            seed=self._marks.seed(token),
        )

    async def _adopt(self, grant: Grant, token_id: str, key: str) -> None:
        """List a token of a release that had no lists, so that its owner can revoke it."""
        now = self._now()
        token = Token(token_id, grant.name, grant.scopes, now, grant.expires_at, key)
        await self._store.adopt(token, grant.player_id, now)


def unknown() -> Unauthenticated:
    """The token was never made, has expired, or was revoked: which of them is not told."""
    return Unauthenticated("This token is not known; sign in again.")
