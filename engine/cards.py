"""Cards, decks and the sizes that depend on the number of players (rules: Cards)."""

from functools import cache
from typing import Final, NamedTuple

PLAYER_COUNTS: Final = (2, 3, 4, 5)
HAND_SIZE: Final = {2: 11, 3: 12, 4: 11, 5: 9}
ROUNDS: Final = {2: 2, 3: 3, 4: 4, 5: 5}
HIGHEST: Final = 10


class Card(NamedTuple):
    """A card as it lies: ``top`` counts, ``bottom`` would count if it were turned."""

    top: int
    bottom: int

    def turned(self) -> "Card":
        """The same card the other way up.

        >>> Card(3, 10).turned()
        Card(top=10, bottom=3)
        """
        return Card(self.bottom, self.top)


Cards = tuple[Card, ...]


def flipped(cards: Cards) -> Cards:
    """Every card turned, the left-to-right order kept."""
    return tuple(card.turned() for card in cards)


@cache
def deck(players: int) -> Cards:
    """The cards used by ``players`` (2 to 5), lower number on top, sorted.

    >>> [len(deck(n)) for n in PLAYER_COUNTS]
    [44, 36, 44, 45]
    """
    every = (Card(a, b) for a in range(1, HIGHEST) for b in range(a + 1, HIGHEST + 1))
    if players == 3:
        return tuple(card for card in every if card.bottom != HIGHEST)
    if players == 5:
        return tuple(every)
    return tuple(card for card in every if card != (HIGHEST - 1, HIGHEST))
