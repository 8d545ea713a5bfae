"""Deals that anyone can check: hands and starters derived from a committed secret.

The byte streams, ``below`` and the orders are a contract with other programs
(docs/verifiable-deals.md): change nothing here without a new rules version.
"""

import hmac
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Final

from engine.cards import HAND_SIZE, Card, Cards, deck

_PREFIX = "ringmaster/1"
_WORD = 2**32
LONGEST_ENTROPY: Final = 64


def commitment(secret: str) -> str:
    """Lower-case hex of SHA-256 over the secret's bytes; ``secret`` is hex."""
    return sha256(bytes.fromhex(secret)).hexdigest()


def is_entropy(text: str) -> bool:
    """Whether a player may give this as entropy: 1 to 64 printable ASCII characters, no space."""
    return 1 <= len(text) <= LONGEST_ENTROPY and all("!" <= char <= "~" for char in text)


def key_of_deals(secret: str, entropy: Mapping[int, str]) -> bytes:
    """The key: the secret itself, or, where seats gave entropy, an HMAC over their lines."""
    key = bytes.fromhex(secret)
    if not entropy:
        return key
    lines = "\n".join(f"{seat}:{entropy[seat]}" for seat in sorted(entropy))
    return hmac.digest(key, lines.encode("ascii"), "sha256")


class _Numbers:
    """Uniform numbers below a bound, read from HMAC blocks ``{name}/{k}``."""

    def __init__(self, key: bytes, name: str) -> None:
        self._words = self._read(key, name)

    @staticmethod
    def _read(key: bytes, name: str) -> Iterator[int]:
        block = 0
        while True:
            data = hmac.digest(key, f"{_PREFIX}/{name}/{block}".encode("ascii"), "sha256")
            for at in range(0, len(data), 4):
                yield int.from_bytes(data[at : at + 4], "big")
            block += 1

    def below(self, bound: int) -> int:
        """A number from 0 to ``bound`` - 1, none likelier than another."""
        limit = _WORD // bound * bound
        return next(word for word in self._words if word < limit) % bound


def starter(key: bytes, players: int, round_number: int) -> int:
    """The seat that starts a round (rounds count from 1)."""
    return (_Numbers(key, "starter").below(players) + round_number - 1) % players


def shuffled(key: bytes, players: int, round_number: int) -> Cards:
    """The deck of a round, in order and way up as shuffled."""
    numbers = _Numbers(key, f"deal/{round_number}")
    cards = list(deck(players))
    for i in range(len(cards) - 1, 0, -1):
        j = numbers.below(i + 1)
        cards[i], cards[j] = cards[j], cards[i]
    return tuple(Card(*card).turned() if numbers.below(2) else card for card in cards)


def hands(key: bytes, players: int, round_number: int) -> tuple[Cards, ...]:
    """The hands of a round as dealt, per seat, left to right."""
    size = HAND_SIZE[players]
    first = 0
    if players == 2 and round_number == 2:
        # Two players see each card once: round 2 is the other half of round 1's shuffle.
        first, round_number = 2 * size, 1
    cards = shuffled(key, players, round_number)
    return tuple(cards[first + seat * size :][:size] for seat in range(players))
