"""Signed tokens (JWTs) of an outside issuer, checked against the keys that it publishes (JWKS)."""

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import jwt
from jwt import PyJWK, PyJWKClient

from api.errors import Unavailable
from api.identity.caller import Caller
from api.identity.marks import Marks, outside_player
from api.identity.names import clean_name
from api.identity.recogniser import unknown
from engine.errors import RuleError
from schema.scopes import Scope

# Asymmetric alone: whoever can check a token must not be able to make one.
ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
LEEWAY_SECONDS: Final = 10
FETCH_SECONDS: Final = 3
FRESH_SECONDS: Final = 300  # for which keys are taken without asking again
STALE_SECONDS: Final = 3600  # for which they are taken if asking fails
PAUSE_SECONDS: Final = 10  # between fetches, whatever is asked for meanwhile
RETRY_SECONDS: Final = 2  # between fetches that fail
NAMELESS: Final = "Player"
_LATEST: Final = 253_402_214_400  # a day before the end of the year 9999, the last there is
_SUBJECT_LIMIT: Final = 1024

log = logging.getLogger("ringmaster.identity")


class Keys:
    """The issuer's keys by their ids, fetched seldom, whatever callers send."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = PyJWKClient(url, cache_jwk_set=False, timeout=FETCH_SECONDS)
        self._clock = clock
        # Of its own, so that a slow issuer can take no thread from others.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="jwks")
        self._fetching = asyncio.Lock()
        self._keys: dict[str, PyJWK] = {}
        self._fetched = self._tried = float("-inf")

    async def get(self, key_id: str) -> PyJWK:
        """The key with an id.

        Raises:
            Unauthenticated: the issuer has no such key.
            Unavailable: the issuer cannot be reached.
        """
        key = self._keys.get(key_id)
        if key is not None and self._clock() - self._fetched < FRESH_SECONDS:
            return key
        async with self._fetching:
            if self._may_fetch(key_id):
                await self._fetch()
        since = self._clock() - self._fetched
        key = self._keys.get(key_id)
        if since >= STALE_SECONDS or (key is None and self._fetched < self._tried):
            raise Unavailable("the issuer of tokens cannot be reached")
        if key is None:
            raise unknown()
        return key

    def _may_fetch(self, key_id: str) -> bool:
        now = self._clock()
        failed = self._fetched < self._tried
        if now - self._tried < (RETRY_SECONDS if failed else PAUSE_SECONDS):
            return False
        return key_id not in self._keys or now - self._fetched >= FRESH_SECONDS

    async def _fetch(self) -> None:
        began = self._clock()
        try:
            async with asyncio.timeout(FETCH_SECONDS + 1):
                loop = asyncio.get_running_loop()
                keys = await loop.run_in_executor(self._thread, self._client.get_signing_keys)
        except Exception as error:  # noqa: BLE001 - what an issuer can send is endless
            log.warning("keys of the issuer not fetched: %s", type(error).__name__)
            self._tried = self._clock()
            return
        self._keys = {key.key_id: key for key in keys if isinstance(key.key_id, str)}
        self._fetched = self._tried = began

    def close(self) -> None:
        """Let go of the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)


class Issuer:
    """Recognises the callers of one issuer."""

    def __init__(self, keys: Keys, name: str, audience: str, marks: Marks) -> None:
        self._keys = keys
        self._name = name
        self._audience = audience
        self._marks = marks

    async def recognise(self, token: str) -> Caller:
        """The caller behind a token.

        Raises:
            Unauthenticated: it is not signed by the issuer, not for us, or not valid now.
            Unavailable: the issuer's keys cannot be had.
        """
        key = await self._keys.get(_key_id(token))
        claims = self._claims(token, key)
        subject = claims["sub"]
        if not 1 <= len(subject) <= _SUBJECT_LIMIT:
            raise unknown()
        return Caller(
            player_id=outside_player(self._name, subject),
            name=_name(claims),
            scopes=_scopes(claims.get("scope")),
            token_id=None,
            expires_at=(min(int(claims["exp"]), _LATEST) + LEEWAY_SECONDS) * 1000,
            seed=self._marks.seed(token),
        )

    def close(self) -> None:
        self._keys.close()

    def _claims(self, token: str, key: PyJWK) -> dict[str, Any]:
        try:
            return jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                audience=self._audience,
                issuer=self._name,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
            raise unknown() from None


def _key_id(token: str) -> str:
    """The id of the key that a token says it is signed with; nothing of it is trusted."""
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
        raise unknown() from None
    key_id = header.get("kid")
    if header.get("alg") not in ALGORITHMS or not isinstance(key_id, str):
        raise unknown()
    return key_id


def _name(claims: dict[str, Any]) -> str:
    for claim in ("name", "preferred_username"):
        given = claims.get(claim)
        if isinstance(given, str):
            try:
                return clean_name(given)
            except RuleError:
                continue
    return NAMELESS


def _scopes(claim: object) -> frozenset[Scope]:
    """Those of ours that a claim names; everything that a guest may do if it names none.

    Raises:
        Unauthenticated: it cannot be read: it is neither a string nor a list of strings, or it
            spells one of ours in another case, which scopes are told apart by (RFC 6749, 3.3).
    """
    given = claim.split() if isinstance(claim, str) else [] if claim is None else claim
    if not isinstance(given, list) or not all(isinstance(word, str) for word in given):
        raise unknown()
    ours = {scope.value.lower(): scope for scope in Scope}
    if any(word not in ours and word.lower() in ours for word in given):
        raise unknown()
    named = frozenset(ours[word] for word in given if word in ours)
    return named or frozenset({Scope.PLAY})
