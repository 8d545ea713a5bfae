"""Names: shown as they are written in any script, and nothing in them that nobody can see."""

import pytest

from api.identity.names import NAME_LIMIT, clean_name
from engine.errors import Reason, RuleError

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
GOOD = {
    "plain": "Ann",
    "with a space": "Ann of Cleves",
    "umlauts": "Zoë Groß",
    "Arabic": "ليلى",
    "Hebrew": "שרה",
    "Japanese": "さくら",
    "Hindi with a joiner after a virama": "क\u094d\u200dष",
    "one emoji": "🎪",
    "a family of joined emoji": FAMILY,
    "a heart with a variation selector": "\u2764\ufe0f",
    "a heart on fire": "\u2764\ufe0f\u200d\U0001f525",
    "a skin tone joined to a profession": "\U0001f469\U0001f3fd\u200d\U0001f680",
    "nodding, with an arrow": "\U0001f642\u200d\u2195\ufe0f",
    "shaking, with a mathematical arrow": "\U0001f642\u200d\u2194\ufe0f",
    "an emoji newer than Python's tables": "\U0001fae9",
    "the flag of Scotland": (
        "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
    ),
    "a keycap": "1\ufe0f\u20e3",
    "as long as can be": "x" * NAME_LIMIT,
}
BAD = {
    "empty": "",
    "spaces": "   ",
    "too long": "x" * (NAME_LIMIT + 1),
    "far too long": "x" * 100_000,
    "a null": "a\u0000b",
    "a line feed": "a\nb",
    "a line separator": "a\u2028b",
    "a paragraph separator": "a\u2029b",
    "right to left override": "a\u202eb",
    "left to right embedding": "a\u202ab",
    "an isolate": "a\u2066b",
    "a right to left mark": "a\u200fb",
    "an Arabic letter mark": "a\u061cb",
    "a zero width space": "\u200b",
    "a joiner in the middle of letters": "An\u200dn",
    "a joiner at the end": "Ann\u200d",
    "a joiner at the start": "\u200d🎪",
    "a joiner after an emoji and before a letter": "🎪\u200da",
    "two joiners": "🎪\u200d\u200d🎪",
    "a non-joiner between letters": "An\u200cn",
    "a soft hyphen": "An\u00adn",
    "a byte order mark": "\ufeffAnn",
    "a variation selector alone": "\ufe0f",
    "a Hangul filler": "\u3164",
    "an empty Braille cell": "\u2800",
    "tags without a flag": "a\U000e0067\U000e007f",
    "an endless flag": "\U0001f3f4" + "\U000e0067" * 7 + "\U000e007f",
    "a lone surrogate": "a\ud800",
    "private use": "a\ue000",
    "unassigned": "a\u0378",
}


@pytest.mark.parametrize("kind", GOOD)
def test_a_name_that_can_be_shown_is_kept(kind):
    assert clean_name(f" {GOOD[kind]} ") == GOOD[kind]


@pytest.mark.parametrize("kind", BAD)
def test_a_name_that_cannot_be_shown_is_refused(kind):
    with pytest.raises(RuleError) as refused:
        clean_name(BAD[kind], "nick")

    assert (refused.value.reason, refused.value.field) == (Reason.INVALID_INPUT, "nick")


def test_two_spellings_of_a_name_become_one():
    assert clean_name("Zoe\u0308") == clean_name("Zo\u00eb") == "Zo\u00eb"
