"""Cards, actions and positions as text, exact both ways (docs/notation.md)."""

from engine.notation.actions import format_action, parse_action
from engine.notation.cards import format_card, format_cards, parse_card, parse_cards
from engine.notation.positions import format_common, format_position, format_view
from engine.notation.reading import match_at, parse_position, parse_view
from engine.notation.words import NotationError

__all__ = [
    "NotationError",
    "format_action",
    "format_card",
    "format_cards",
    "format_common",
    "format_position",
    "format_view",
    "match_at",
    "parse_action",
    "parse_card",
    "parse_cards",
    "parse_position",
    "parse_view",
]
