"""Cards as text: ``3/10`` is top 3, bottom 10."""

from functools import cache

from engine.cards import HIGHEST, Card, Cards
from engine.notation.words import NotationError, parse_number


@cache
def format_card(card: Card) -> str:
    """The text of a card, top number first."""
    return f"{card.top}/{card.bottom}"


def parse_card(text: str) -> Card:
    """The card that a text names.

    >>> parse_card("3/10")
    Card(top=3, bottom=10)

    Raises:
        NotationError: the text names no card of the game.
    """
    top, _, bottom = text.partition("/")
    try:
        card = Card(parse_number(top, HIGHEST), parse_number(bottom, HIGHEST))
    except NotationError:
        raise NotationError("a card is written top/bottom, as in 3/10") from None
    if card.top == card.bottom or min(card) < 1:
        raise NotationError("a card has two different numbers from 1 to 10")
    return card


def format_cards(cards: Cards) -> str:
    """Cards from left to right, a space between them."""
    return " ".join(format_card(card) for card in cards)


def parse_cards(text: str) -> Cards:
    """The cards that a text names, from left to right.

    Raises:
        NotationError: a word of the text names no card.
    """
    return tuple(parse_card(word) for word in text.split())
