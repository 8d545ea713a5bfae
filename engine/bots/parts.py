"""What the parts of a hand hold, each worked out once, for ``engine.bots.playouts``.

A part is a longest stretch of neighbours that differ by one at most, as the bytes of its tops. No
set reaches over two parts, so a hand holds what its parts hold; and there are few different ones.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from engine.bots.greedy import WORTH_THE_CHIP, broken, squares
from engine.bots.greedy import structure as structure_of
from engine.cards import HIGHEST
from engine.sets import COUNT, rank, sets_in, sets_with
from engine.sets import strength as strength_of

K = TypeVar("K")
V = TypeVar("V")
Parts = list[bytes]
Row = tuple[int, ...]

SMALL: Final = rank(WORTH_THE_CHIP, 0, 0)  # weaker than all sets that are worth the chip
NO_PART: Final = b""


class Once(dict[K, V]):
    """What a function returns, by its argument; all is forgotten when it has ``most`` of them."""

    def __init__(self, function: Callable[[K], V], most: int = 1 << 16) -> None:
        super().__init__()
        self._function, self._most = function, most

    def __missing__(self, argument: K) -> V:
        if len(self) >= self._most:
            self.clear()
        found = self[argument] = self._function(argument)
        return found


def parts_of(tops: bytes) -> Parts:
    """The parts of a hand from the left."""
    parts, begin = [], 0
    last = tops[0]
    for at, top in enumerate(tops):
        if not -2 < top - last < 2:
            parts.append(tops[begin:at])
            begin = at
        last = top
    return [*parts, tops[begin:]]


def mend(parts: Parts, at: int, pieces: Iterable[bytes]) -> None:
    """Put pieces in the place of part ``at``, in place; what then hangs together is one part."""
    low = at - 1 if at else 0
    mended = parts[low:at]
    for piece in (*pieces, *parts[at + 1 : at + 2]):
        if not piece:
            continue
        if mended and -2 < mended[-1][-1] - piece[0] < 2:
            mended[-1] += piece
        else:
            mended.append(piece)
    parts[low : at + 2] = mended


def put_between(parts: Parts, at: int, card: bytes) -> None:
    """Put a card before part ``at``, or after the last, in place."""
    top = card[0]
    from_left = at > 0 and -2 < parts[at - 1][-1] - top < 2
    to_right = at < len(parts) and -2 < parts[at][0] - top < 2
    if from_left and to_right:
        parts[at - 1 : at + 1] = [parts[at - 1] + card + parts[at]]
    elif from_left:
        parts[at - 1] += card
    elif to_right:
        parts[at] = card + parts[at]
    else:
        parts.insert(at, card)


def take_out(parts: Parts, at: int) -> None:
    """Take a whole part out of a hand, in place."""
    del parts[at]
    if 0 < at < len(parts) and -2 < parts[at - 1][-1] - parts[at][0] < 2:
        parts[at - 1 : at + 1] = [parts[at - 1] + parts[at]]


def beside(parts: Parts, at: int) -> tuple[bytes, bytes]:
    """The neighbours that ``row`` number ``at`` is of; ``NO_PART`` beyond the ends of the hand."""
    return (parts[at - 1] if at else NO_PART), (parts[at] if at < len(parts) else NO_PART)


def find(parts: Parts, position: int) -> tuple[int, int]:
    """Which part the card at a position of the hand is in, and where in it."""
    at = 0
    while position >= len(parts[at]):
        position -= len(parts[at])
        at += 1
    return at, position


def _strongest(part: bytes) -> int:
    return max(found.strength for found in sets_in(part))


def _longest(part: bytes) -> list[tuple[int, int]]:
    size = strongest[part] >> COUNT
    return sorted((s.strength, s.first) for s in sets_in(part) if s.size == size)


strength = Once(strength_of)
structure = Once(structure_of)
strongest = Once(_strongest)  # the strength of the strongest set in a part
longest = Once(_longest)  # the sets of the most cards: strength and first card, the weakest first


def longest_weakest(parts: Sequence[bytes], beating: int, size: int) -> tuple[int, int, int]:
    """Of the sets of ``size`` cards, which no part has longer ones than, the weakest that beats.

    Returns its part, its first card there and its strength; of equals the first from the left.

    Raises:
        ValueError: there is none.
    """
    best = 1 << 30
    for at, part in enumerate(parts):
        if len(part) < size:
            continue
        for worth, first in longest[part]:
            if worth > beating and worth >> COUNT == size:
                if worth < best:
                    best, holder, offset = worth, at, first
                break
    if best == 1 << 30:
        raise ValueError("no set is strong enough")
    return holder, offset, best


def _row(beside: tuple[bytes, bytes]) -> Row:
    left, right = beside
    before = _at(left, right, 0)
    return tuple(map(max, before, _within[right])) if len(right) > 1 else before


def _best_within(part: bytes) -> Row:
    gaps = [_at(NO_PART, part, gap) for gap in range(1, len(part))]
    return tuple(map(max, zip(*gaps, strict=True)))


# What a card can do in the gap between two neighbouring parts, or within the right one. At its top
# is the most that it adds to the structure of the hand; at ``HIGHEST`` more the strength of the
# strongest set with it, 0 if that is not worth the chip.
row = Once(_row)


def first_gap(left: bytes, right: bytes, key: int, value: int) -> int:
    """Which gap of a row has this value; 0 is the one before the right part.

    Raises:
        ValueError: none has.
    """
    return [gap[key] for gap in _gaps[left, right]].index(value)


def first_card(left: bytes, right: bytes, gap: int, top: int, worth: int) -> int:
    """Where in a gap of a row the set of this strength with the card begins, seen from the card."""
    left, right = _sides(left, right, gap)
    if worth >> 4 & 1:  # matching
        return len(left.rstrip(bytes([top]))) - len(left)
    low = worth & 15
    high = low + (worth >> COUNT) - 1
    below, above = bytes(range(low, top)), bytes(range(top + 1, high + 1))
    rises = left.endswith(below) and right.startswith(above)
    return low - top if rises else top - high


def _at(left: bytes, right: bytes, gap: int) -> Row:
    before, after = _sides(left, right, gap)
    turned = before[::-1]
    return _between[turned[: _reach(turned)], after[: _reach(after)]]


def _every_gap(beside: tuple[bytes, bytes]) -> list[Row]:
    return [_at(*beside, gap) for gap in range(len(beside[1]))]


def _sides(left: bytes, right: bytes, gap: int) -> tuple[bytes, bytes]:
    return (right[:gap], right[gap:]) if gap else (left, right)


def _reach(part: bytes) -> int:
    """How many cards are in the longest set that a part begins with."""
    count = min(2, len(part))
    while count < len(part) and part[count] - part[count - 1] == part[1] - part[0]:
        count += 1
    return count


def _at_gap(sides: tuple[bytes, bytes]) -> Row:
    # The cards to the left are told from the card on.
    left, tops = sides[0][::-1], sides[0][::-1] + sides[1]
    lost = broken(tops)[len(left)]
    found = [sets_with(tops, top, len(left)) for top in range(1, HIGHEST + 1)]
    gains = [squares(sets) - lost for sets in found]
    worths = [max(s.strength for s in sets) for sets in found]
    return (0, *gains, *(worth if worth > SMALL else 0 for worth in worths))


_between = Once(_at_gap)  # of the sets that a card in a gap would lie between
_within = Once(_best_within)
_gaps = Once(_every_gap)
