"""What is derived from secrets: hashes to store, ids to show, tokens to give again."""

import base64
import hmac
import re
from hashlib import sha256
from typing import Final

_TOKEN_ID: Final = re.compile(r"t-[A-Za-z0-9_-]{16}\.([pj]-[A-Za-z0-9_-]{16,32})\Z")
# Before every message, so that none of one kind is one of another, or a token.
_PREFIX: Final = "ringmaster/1/"


class Marks:
    """Everything made with the server's secret."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def hash(self, token: str) -> str:
        """Under which a token is stored."""
        return hmac.digest(self._secret, token.encode(), "sha256").hex()

    def token_id(self, player_id: str, token_hash: str) -> str:
        """The id of a token, for its owner to name it by; leads back to neither token nor hash."""
        return f"t-{_text(self._mac('token-id', token_hash))[:16]}.{player_id}"

    def seed(self, token: str) -> bytes:
        """What tokens made with this one are derived from; not stored."""
        return self._mac("seed", token)

    def sign_in(self, key: str) -> str:
        """Under which a sign-in's idempotency key is remembered."""
        return self._mac("sign-in", key).hex()

    def first_token(self, key: str, nonce: str) -> str:
        """The token of a sign-in under a key."""
        return _text(self._mac("first-token", f"{nonce}\n{key}"))

    def further_token(self, seed: bytes, key: str, nonce: str) -> str:
        """The token that is made under a key with the token that the seed is of."""
        return _text(self._mac("further-token", f"{seed.hex()}\n{nonce}\n{key}"))

    def _mac(self, kind: str, message: str) -> bytes:
        return hmac.digest(self._secret, f"{_PREFIX}{kind}\n{message}".encode(), "sha256")


def owner(token_id: str) -> str | None:
    """The player in whose list a token is found; None if no token can have this id."""
    found = _TOKEN_ID.match(token_id)
    return found.group(1) if found else None


def outside_player(issuer: str, subject: str) -> str:
    """The player id of an issuer's subject: the same each time, and never a guest's."""
    message = f"{len(issuer)}\n{issuer}\n{subject}"
    return f"j-{_text(sha256(message.encode('utf-8', 'surrogatepass')).digest())[:32]}"


def _text(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
