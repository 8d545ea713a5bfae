"""What is a set and which set is stronger (rules: Show, points 1 and 2)."""

from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple

from engine.cards import HIGHEST, Cards


class SetKind(StrEnum):
    """The kind of a set; a single is neither of the other two."""

    SINGLE = "SINGLE"
    MATCHING = "MATCHING"
    CONSECUTIVE = "CONSECUTIVE"


class SetAt(NamedTuple):
    """A set found in a hand: ``size`` cards from position ``first`` on."""

    first: int
    size: int
    kind: SetKind
    strength: int


NO_STRENGTH = 0
COUNT: Final = 5  # a strength holds the number of cards from this bit on


def kind_of(tops: Sequence[int]) -> SetKind | None:
    """The kind of neighbouring cards with these top numbers, None if they are no set.

    >>> kind_of([5, 4, 3]), kind_of([3, 4, 3]), kind_of([10, 1])
    (<SetKind.CONSECUTIVE: 'CONSECUTIVE'>, None, None)
    """
    if not tops:
        return None
    if len(tops) == 1:
        return SetKind.SINGLE
    step = tops[1] - tops[0]
    if step not in (-1, 0, 1):
        return None
    if any(right - left != step for left, right in pairwise(tops)):
        return None
    return SetKind.CONSECUTIVE if step else SetKind.MATCHING


def rank(count: int, matching: int, smallest: int) -> int:
    """One integer that orders as (count, 1 if matching else 0, smallest top)."""
    return count << COUNT | matching << 4 | smallest


def strength(tops: Sequence[int]) -> int:
    """The strength of a set; NO_STRENGTH for an empty table. Greater beats smaller.

    >>> strength([8, 8]) < strength([2, 3, 4]) < strength([1, 1, 1])
    True
    """
    kind = kind_of(tops)
    return NO_STRENGTH if kind is None else rank(len(tops), kind is SetKind.MATCHING, min(tops))


def tops_of(cards: Cards) -> list[int]:
    """The numbers that count, left to right."""
    return [card[0] for card in cards]


def sets_in(tops: Sequence[int], beating: int = NO_STRENGTH) -> list[SetAt]:
    """Every set in a hand that is stronger than ``beating``, from the right, in one pass."""
    fewest = max(2, beating >> COUNT)  # fewer cards are never stronger
    match = rise = fall = 0  # how far each kind of run reaches from the position to its right
    right = -HIGHEST  # follows nothing
    found: list[SetAt] = []
    for first in range(len(tops) - 1, -1, -1):
        top = tops[first]
        match = match + 1 if top == right else 1
        rise = rise + 1 if top == right - 1 else 1
        fall = fall + 1 if top == right + 1 else 1
        right = top
        single = rank(1, 0, top)
        if single > beating:
            found.append(SetAt(first, 1, SetKind.SINGLE, single))
        for count in range(fewest, match + 1):
            worth = rank(count, 1, top)
            if worth > beating:
                found.append(SetAt(first, count, SetKind.MATCHING, worth))
        for count in range(fewest, rise + 1):
            worth = rank(count, 0, top)
            if worth > beating:
                found.append(SetAt(first, count, SetKind.CONSECUTIVE, worth))
        for count in range(fewest, fall + 1):
            worth = rank(count, 0, top - count + 1)
            if worth > beating:
                found.append(SetAt(first, count, SetKind.CONSECUTIVE, worth))
    return found


def sets_with(tops: Sequence[int], top: int, gap: int, beating: int = NO_STRENGTH) -> list[SetAt]:
    """The sets that a card of this top is part of in a gap of a hand, in no particular order.

    As many as ``sets_in`` finds with it in the hand that the card has been put into.
    """
    found: list[SetAt] = []
    single = rank(1, 0, top)
    if single > beating:
        found.append(SetAt(gap, 1, SetKind.SINGLE, single))
    size = len(tops)
    to_it = top - tops[gap - 1] if gap else HIGHEST
    from_it = tops[gap] - top if gap < size else HIGHEST
    for step in (0, 1, -1):
        if step not in (to_it, from_it):
            continue
        left = right = 0  # how many cards go on from it to both sides
        while left < gap and tops[gap - left - 1] == top - (left + 1) * step:
            left += 1
        while right < size - gap and tops[gap + right] == top + (right + 1) * step:
            right += 1
        kind = SetKind.CONSECUTIVE if step else SetKind.MATCHING
        for before in range(left, -1, -1):
            for after in range(0 if before else 1, right + 1):
                count = before + after + 1
                worth = rank(count, not step, min(top - before * step, top + after * step))
                if worth > beating:
                    found.append(SetAt(gap - before, count, kind, worth))
    return found
