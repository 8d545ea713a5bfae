"""Names fit to show, in every script and with emoji, and no way to look like another's."""

import re
import unicodedata
from typing import Final

from engine.errors import Reason, RuleError

NAME_LIMIT: Final = 40
_JOINER: Final = "\u200d"
_NON_JOINER: Final = "\u200c"
_VIRAMA: Final = 9  # the combining class after which Indic scripts use the two joiners
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")  # nothing to see
# A black flag followed by the letters of a region, such as Scotland's.
_REGION: Final = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f")


def clean_name(name: str, field: str = "name") -> str:
    """A name fit to show: 1 to 40 characters, printable, NFC, trimmed.

    Raises:
        RuleError: INVALID_INPUT.
    """
    # What is too long by far is not worth normalising.
    clean = unicodedata.normalize("NFC", name[: 4 * NAME_LIMIT].strip())
    if len(name.strip()) > NAME_LIMIT or not 1 <= len(clean) <= NAME_LIMIT:
        raise RuleError(Reason.INVALID_INPUT, field, f"A name has 1 to {NAME_LIMIT} characters.")
    shown = _REGION.sub("\U0001f3f4", clean)
    if not all(_printable(shown, place) for place in range(len(shown))):
        raise RuleError(Reason.INVALID_INPUT, field, "A name has printable characters only.")
    if not any(unicodedata.category(c)[0] in "LNPS" or _pictograph(c) for c in shown):
        raise RuleError(Reason.INVALID_INPUT, field, "A name has something to see.")
    return clean


def _printable(text: str, place: int) -> bool:
    character = text[place]
    if character in {_JOINER, _NON_JOINER}:
        return _joins(text, place)
    category = unicodedata.category(character)
    if category == "Cn":
        return _pictograph(character)
    # Controls, formats that reorder text, surrogates, private use; ends of lines and paragraphs.
    return character not in _BLANK and category[0] != "C" and category not in {"Zl", "Zp"}


def _joins(text: str, place: int) -> bool:
    """Whether a joiner stands where a script or an emoji needs it, and not to be invisible."""
    before, after = text[:place], text[place + 1 :]
    if not before or not after:
        return False
    if unicodedata.combining(before[-1]) == _VIRAMA:
        return True
    return text[place] == _JOINER and _emoji(before[-1]) and _emoji(after[0])


def _emoji(character: str) -> bool:
    # The last of an emoji may be a variation selector, a skin tone or the arrow of a nod.
    symbol = unicodedata.category(character) in {"So", "Sk", "Sm"}
    return symbol or character == "\ufe0f" or _pictograph(character)


def _pictograph(character: str) -> bool:
    """Whether a character is in a block of emoji, also of a Unicode newer than Python's."""
    return "\U0001f000" <= character <= "\U0001faff"
