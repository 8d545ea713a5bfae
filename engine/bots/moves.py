"""Which actions a bot weighs: the legal ones less those that are never better.

Everything here works on small integers in flat lists and calls nothing but its like, since a
decision does it hundreds of times, and so that `ringmaster train` can compile this very source.
A move is six numbers: kind, end (0 left, 1 right), gap, flip, first, count.
"""

from collections.abc import MutableSequence, Sequence

from engine.sets import rank

Ints = MutableSequence[int]

SHOW, SCOUT, SCOUT_AND_SHOW = 0, 1, 2
WIDTH = 6
MOST = 400  # moves weighed at most; the longest list seen has 170


def moves(
    out: Ints,
    tops: Sequence[int],
    size: int,
    table: Sequence[int],
    undersides: Sequence[int],
    table_size: int,
    may_scout: int,
    may_scout_and_show: int,
    hand: Ints,
) -> int:
    """Write the moves worth weighing to ``out`` (``WIDTH`` numbers each); how many.

    ``tops``: of the hand, ``size`` of them; ``table`` and ``undersides``: top and bottom of the
    cards of the active set. All shows; scouts to the ends of the hand and beside a card that they
    link with; Scout & Shows of two cards and more, with the scouted card in the set, or that the
    scout alone makes strong enough.
    ``hand`` is scratch space for one card more than the hand.
    """
    full = strength(table, 0, table_size)
    found = shows(out, 0, tops, size, full, 1 << 30, -1, SHOW, 0, 0, 0)
    if not may_scout:
        return found
    for end in range(min(2, table_size)):
        at = 0 if end == 0 else table_size - 1
        left = strength(table, 1 - end, table_size - end)
        for flip in range(2):
            card = undersides[at] if flip else table[at]
            for gap in range(size + 1):
                linked = links(tops, size, card, gap)
                if (linked or gap in (0, size)) and found < MOST:
                    put(out, found, SCOUT, end, gap, flip, 0, 0)
                    found += 1
                if may_scout_and_show and (linked or gap == size):
                    for i in range(gap):
                        hand[i] = tops[i]
                    hand[gap] = card
                    for i in range(gap, size):
                        hand[i + 1] = tops[i]
                    found = shows(
                        out, found, hand, size + 1, left, full, gap, SCOUT_AND_SHOW, end, gap, flip
                    )
    return found


def put(
    out: Ints, index: int, kind: int, end: int, gap: int, flip: int, first: int, count: int
) -> None:
    """Write one move."""
    at = index * WIDTH
    out[at] = kind
    out[at + 1] = end
    out[at + 2] = gap
    out[at + 3] = flip
    out[at + 4] = first
    out[at + 5] = count


def links(tops: Sequence[int], size: int, card: int, gap: int) -> bool:
    """Whether a card in this gap touches its like, at the right end of a group of its equals."""
    left = tops[gap - 1] if gap > 0 else -9
    right = tops[gap] if gap < size else -9
    return (card != right and abs(card - left) <= 1) or abs(card - right) == 1


def strength(tops: Sequence[int], first: int, last: int) -> int:
    """As ``engine.sets.strength`` of the cards from ``first`` up to ``last``; they are a set."""
    count = last - first
    if count <= 0:
        return 0
    low, high = tops[first], tops[last - 1]
    return rank(count, int(count > 1 and low == high), min(low, high))


def shows(
    out: Ints,
    found: int,
    tops: Sequence[int],
    size: int,
    beating: int,
    full: int,
    holding: int,
    kind: int,
    end: int,
    gap: int,
    flip: int,
) -> int:
    """Add the sets stronger than ``beating`` that hold ``holding`` or are not above ``full``.

    Of the sets within a group of equal cards only those at its ends are told apart. Returns how
    many moves there are now.
    """
    for first in range(size):
        low = tops[first]
        for step in range(-1, 2):
            last = first + 1
            while last < size and tops[last] - tops[last - 1] == step:
                last += 1
            if step == 0:
                inside = first > 0 and tops[first - 1] == low
            for count in range(1 if step == 0 else 2, last - first + 1):
                if step == 0 and inside and first + count < last:
                    continue
                if kind == SCOUT_AND_SHOW and count == 1:
                    continue  # not worth the chip
                value = rank(count, int(step == 0 and count > 1), min(low, tops[first + count - 1]))
                holds = first <= holding < first + count
                if value > beating and (holds or value <= full) and found < MOST:
                    put(out, found, kind, end, gap, flip, first, count)
                    found += 1
    return found
