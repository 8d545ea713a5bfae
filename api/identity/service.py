"""Everything that can be done with tokens, for every transport alike."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from api.errors import Refused
from api.identity.caller import Caller, names_of, rights
from api.identity.marks import Marks, owner
from api.identity.names import clean_name
from api.identity.ports import Grant, Token, TokenStore
from api.identity.recogniser import Outside, Recogniser
from api.ledger import fingerprint, key_reused, now_ms
from api.ports import Ring
from api.streams import Streams
from api.values import Meta
from engine.errors import Reason, RuleError
from schema.codes import ErrorCode
from schema.scopes import Scope

MOST_TOKENS: Final = 50  # of one player
_REMEMBERED_MS: Final = 25 * 3600 * 1000  # longer than an idempotency key is
_LONGEST: Final = 10 * 365 * 24 * 3600  # seconds


@dataclass(frozen=True, slots=True)
class NewToken:
    """What a caller asks for; ``seconds`` None: as long as the caller's own."""

    name: str
    scopes: frozenset[Scope]
    seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """A token, told this once, and what is known of it afterwards."""

    token: str = field(repr=False)
    player_id: str = field(repr=False)
    listed: Token


class Identity:
    """Signs guests in, recognises callers, makes, lists and revokes their tokens."""

    def __init__(
        self,
        store: TokenStore,
        streams: Streams,
        *,
        ttl: int,
        secret: str = "",
        outside: Outside | None = None,
        now: Callable[[], int] = now_ms,
    ) -> None:
        self._store = store
        self._streams = streams
        self._ttl = ttl
        self._marks = Marks(secret)
        self._now = now
        self._recogniser = Recogniser(store, self._marks, outside, now)
        self.recognise = self._recogniser.recognise

    async def sign_in(self, name: str, key: str | None = None) -> Made:
        """A new player and a token for everything that a guest may do.

        Under a ``key``, a secret that is checked already, the same again for a day.

        Raises:
            RuleError: INVALID_INPUT for a name that cannot be shown.
            Refused: KEY_REUSED.
            Unavailable: Redis cannot be reached.
        """
        name, now = clean_name(name), self._now()
        player_id, token, at = f"p-{secrets.token_urlsafe(12)}", secrets.token_urlsafe(32), now
        if key is not None:
            asked = fingerprint(["signInAsGuest", name])
            claim = f"{asked}:{secrets.token_hex(16)}:{now}:{player_id}"
            held = await self._store.sign_in_as(self._marks.sign_in(key), claim)
            first, nonce, since, player_id = held.split(":")
            if first != asked:
                raise key_reused()
            token, at = self._marks.first_token(key, nonce), int(since)
        expires_at = at + self._ttl * 1000
        grant = Grant(player_id, name, frozenset({Scope.PLAY}), expires_at)
        return await self._issue(token, grant, name, at)

    async def make(self, name: str, scopes: frozenset[Scope], seconds: int | None = None) -> Made:
        """A new player and a token with these scopes; for operators, not for callers.

        Raises:
            RuleError: INVALID_INPUT for a name that cannot be shown.
            Unavailable: Redis cannot be reached.
        """
        name, now = clean_name(name), self._now()
        player_id, token = f"p-{secrets.token_urlsafe(12)}", secrets.token_urlsafe(32)
        grant = Grant(player_id, name, scopes, now + (seconds or self._ttl) * 1000)
        return await self._issue(token, grant, name, now)

    async def create(self, caller: Caller, new: NewToken, meta: Meta) -> Made:
        """A further token of the caller's, with no more rights and no longer life than this one.

        Raises:
            RuleError: INVALID_INPUT.
            Refused: FORBIDDEN, KEY_REUSED, TOO_MANY_TOKENS.
            Unavailable: Redis cannot be reached.
        """
        require(caller, Scope.PLAY)
        name = clean_name(new.name)
        _check(new, caller)
        token, at = secrets.token_urlsafe(32), self._now()
        if meta.key is not None:
            # The token shown is part of the request: without it the new one cannot be derived.
            asked = fingerprint(
                ["createToken", name, names_of(new.scopes), new.seconds, caller.seed.hex()]
            )
            claim = f"{asked}:{secrets.token_hex(16)}:{at}"
            first, *more = (await self._store.claim(caller.player_id, meta.key, claim)).split(":")
            if first != asked:
                raise key_reused()
            token, at = self._marks.further_token(caller.seed, meta.key, more[0]), int(more[1])
        expires_at = caller.expires_at if new.seconds is None else at + new.seconds * 1000
        if expires_at > caller.expires_at:
            sentence = "A token lives no longer than the one that it is made with."
            raise Refused(ErrorCode.FORBIDDEN, sentence, field="expiresInSeconds")
        grant = Grant(caller.player_id, caller.name, new.scopes, expires_at)
        return await self._issue(token, grant, name, at)

    async def tokens(self, caller: Caller, player_id: str | None = None) -> list[Token]:
        """The caller's tokens, or for an operator any player's, the newest first.

        Raises:
            Refused: FORBIDDEN.
            Unavailable: Redis cannot be reached.
        """
        if player_id not in (None, caller.player_id):
            require(caller, Scope.OPERATE)
        elif not caller.may(Scope.OPERATE):
            require(caller, Scope.PLAY)
        return await self._store.tokens(player_id or caller.player_id, self._now())

    async def revoke(self, caller: Caller, token_id: str, meta: Meta) -> None:
        """End a token of the caller's, or for an operator anybody's, and every stream of it.

        Any token may end itself. In this process it has ended when this returns, in the others
        within two seconds.

        Raises:
            Refused: NOT_FOUND, FORBIDDEN, KEY_REUSED.
            Unavailable: Redis cannot be reached.
        """
        player_id = owner(token_id)
        own = player_id == caller.player_id
        if player_id is None or not (own or caller.may(Scope.OPERATE)):
            raise token_not_found()
        if token_id != caller.token_id and not caller.may(Scope.OPERATE):
            require(caller, Scope.PLAY)
        if meta.key is not None:
            asked = fingerprint(["revokeToken", token_id])
            if await self._store.claim(caller.player_id, meta.key, asked) != asked:
                raise key_reused()
        if not await self._end(player_id, token_id):
            raise token_not_found()

    async def revoke_all(self, player_id: str) -> int:
        """End every token of a player, and every stream of them; how many were valid.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        valid = await self._store.tokens(player_id, self._now())
        return sum([await self._end(player_id, token.token_id) for token in valid])

    async def _end(self, player_id: str, token_id: str) -> bool:
        """End a token, if the player has or had it."""
        try:
            found = await self._store.revoke(player_id, token_id, self._now() + _REMEMBERED_MS)
        finally:
            self._recogniser.forget(frozenset({token_id}))
        if found:
            self._streams.revoke(frozenset({token_id}))
        return found

    def heed(self, ring: Ring | None) -> None:
        """Take in what other processes have revoked; None: they may have revoked anything."""
        if ring is None:
            self._recogniser.forget(None)
            self._streams.check()
        elif ring.revoked:
            self._recogniser.forget(ring.revoked)
            self._streams.revoke(ring.revoked)

    async def _issue(self, token: str, grant: Grant, name: str, at: int) -> Made:
        key = self._marks.hash(token)
        token_id = self._marks.token_id(grant.player_id, key)
        listed = Token(token_id, name, grant.scopes, at, grant.expires_at, key)
        if not await self._store.issue(listed, grant, MOST_TOKENS, self._now()):
            sentence = f"You have {MOST_TOKENS} tokens; revoke one first."
            raise Refused(ErrorCode.TOO_MANY_TOKENS, sentence)
        return Made(token, grant.player_id, listed)


def require(caller: Caller, scope: Scope) -> None:
    """Whether the token shown allows something.

    Raises:
        Refused: FORBIDDEN.
    """
    if not caller.may(scope):
        sentence = f"The token does not allow this; it takes one with the scope {scope.value}."
        raise Refused(ErrorCode.FORBIDDEN, sentence)


def _check(new: NewToken, caller: Caller) -> None:
    if not new.scopes:
        raise RuleError(Reason.INVALID_INPUT, "scopes", "A token has one scope or more.")
    if new.seconds is not None and not 1 <= new.seconds <= _LONGEST:
        sentence = f"A token lives 1 to {_LONGEST} seconds."
        raise RuleError(Reason.INVALID_INPUT, "expiresInSeconds", sentence)
    if not new.scopes <= rights(caller.scopes):
        sentence = "A token allows no more than the one that it is made with."
        raise Refused(ErrorCode.FORBIDDEN, sentence, field="scopes")


def token_not_found() -> Refused:
    """No token has this id, or none that the caller may revoke."""
    return Refused(ErrorCode.NOT_FOUND, "There is no such token.", field="tokenId")
