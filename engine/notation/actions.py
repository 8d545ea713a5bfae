"""Actions as tokens: ``keep``, ``flip``, ``S3x2``, ``L4k``, ``R0f+S0x3``."""

import re
from typing import Final, assert_never

from engine.actions import Action, ChooseHand, End, Scout, ScoutAndShow, Show
from engine.notation.words import NotationError, format_number, parse_number

KEEP: Final = "keep"
FLIP: Final = "flip"
_ENDS: Final = {"L": End.LEFT, "R": End.RIGHT}
_LETTERS: Final = {end: letter for letter, end in _ENDS.items()}
_SHOW: Final = re.compile("S([0-9]+)x([0-9]+)")
_SCOUT: Final = re.compile("([LR])([0-9]+)([kf])")


def format_action(action: Action) -> str:
    """The token of an action; the seat is not part of it.

    >>> format_action(ScoutAndShow(1, End.LEFT, 4, flip=True, first=3, count=2))
    'L4f+S3x2'

    Raises:
        NotationError: a number of the action is negative or has more than nine digits.
    """
    match action:
        case ChooseHand():
            return FLIP if action.flip else KEEP
        case Show():
            return f"S{format_number(action.first)}x{format_number(action.count)}"
        case Scout():
            way_up = "f" if action.flip else "k"
            return f"{_LETTERS[action.end]}{format_number(action.insert_at)}{way_up}"
        case ScoutAndShow():
            return "+".join(format_action(half) for half in action.halves())
        case _:
            assert_never(action)


def parse_action(text: str, seat: int) -> Action:
    """The action of ``seat`` that a token names; whether it is legal is not asked.

    >>> parse_action("S3x2", 1)
    Show(seat=1, first=3, count=2)

    Raises:
        NotationError: the text is no token of an action.
    """
    if text in (KEEP, FLIP):
        return ChooseHand(seat, text == FLIP)
    if "+" in text:
        left, _, right = text.partition("+")
        scout, show = _parse_scout(left, seat), _parse_show(right, seat)
        return ScoutAndShow(seat, scout.end, scout.insert_at, scout.flip, show.first, show.count)
    if text.startswith("S"):
        return _parse_show(text, seat)
    if text.startswith(tuple(_ENDS)):
        return _parse_scout(text, seat)
    raise NotationError("an action is keep, flip, a show (S3x2), a scout (L4k) or both (L4k+S3x2)")


def _parse_show(text: str, seat: int) -> Show:
    found = _SHOW.fullmatch(text)
    if found is None:
        raise NotationError("a show is S, first position, x, number of cards, as in S3x2")
    return Show(seat, parse_number(found[1]), parse_number(found[2]))


def _parse_scout(text: str, seat: int) -> Scout:
    found = _SCOUT.fullmatch(text)
    if found is None:
        raise NotationError(
            "a scout is L or R, gap, k (kept as it lies) or f (flipped), as in L4k or R0f"
        )
    return Scout(seat, _ENDS[found[1]], parse_number(found[2]), found[3] == "f")
