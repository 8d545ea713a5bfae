"""What a card does between the parts of a hand, worked out once, for ``engine.bots.playouts``.

A row is the gap between two neighbouring parts, and those within the right one.
"""

from typing import Final, NamedTuple

from engine.bots.greedy import WORTH_THE_CHIP
from engine.bots.parts import (
    CARDS,
    NO_PART,
    Found,
    Once,
    Part,
    facts,
    found_at,
    joined,
    of_parts,
    part_of,
    pieces_of,
    squares_with,
)
from engine.cards import HIGHEST
from engine.sets import COUNT, rank

Pair = tuple[Part, Part]
Values = tuple[int, ...]  # by tops from 1 on
# By ten times a card's top and its underside: twice the most that a row has for it either way up,
# and one more if it has that for the card as it lies.
ByCard = bytes | tuple[int, ...]

SMALL: Final = rank(WORTH_THE_CHIP, 0, 0)  # weaker than all sets that are worth the chip
GAINS, WORTHS = 0, 1  # where they are in a ``Gap``
_NOTHING: Final = bytes(HIGHEST + 1) + bytes([1]) * HIGHEST**2


class Gap(NamedTuple):
    """What a card adds to the structure of a hand, and the strongest set that is then with it.

    The set's strength is told over ``SMALL``; 0: it is not worth the chip.
    """

    gains: Values
    worths: Values


def _gains(pair: Pair) -> ByCard:
    return _gains_beside[facts[pair[0]].tail, pair[1]]


def _worths(pair: Pair) -> ByCard:
    return _worths_beside[facts[pair[0]].tail, pair[1]]


def _best_gains(beside: tuple[bytes, Part]) -> ByCard:
    return _best(*beside, GAINS)


def _best_worths(beside: tuple[bytes, Part]) -> ByCard:
    return _best(*beside, WORTHS)


def _best(tail: bytes, right: Part, what: int) -> ByCard:
    values = _between[tail, facts[right].head][what]
    if right & CARDS > 1:
        values = tuple(map(max, values, _within[right][what]))
    if not any(values):
        return _NOTHING
    if max(values) > 127:  # twice that and one is no byte
        turned = [2 * value for value in values]
        found = [max(2 * value + 1, other) for value in values for other in turned]
        return (*[0] * (HIGHEST + 1), *found)
    doubled = bytes([2 * value for value in values])
    found_bytes = {value: doubled.translate(_at_least[2 * value + 1]) for value in {*values}}
    return bytes(HIGHEST + 1) + b"".join([found_bytes[value] for value in values])


def _at_least_table(low: int) -> bytes:
    return bytes([max(low, value) for value in range(256)])


def _within_part(part: Part) -> Gap:
    gaps = _gaps[part]
    gains = zip(*[gap.gains for gap in gaps], strict=True)
    worths = zip(*[gap.worths for gap in gaps], strict=True)
    return Gap(tuple(map(max, gains)), tuple(map(max, worths)))


def _gaps_within(part: Part) -> list[Gap]:
    tops = facts[part].tops
    ends = [(tops[:gap][::-1], tops[gap:]) for gap in range(1, len(tops))]
    return [_between[left[: _reach(left)], right[: _reach(right)]] for left, right in ends]


def _reach(side: bytes) -> int:
    """How many cards are in the longest set that a stretch begins with."""
    count = min(2, len(side))
    while count < len(side) and side[count] - side[count - 1] == side[1] - side[0]:
        count += 1
    return count


def _put(place: tuple[Part, Part, int]) -> tuple[int, tuple[Part, ...]]:
    left, right, top = place
    offset = _best_gap(left, right, top, GAINS)
    if offset:
        tops = facts[right].tops
        put = pieces_of(tops[:offset] + bytes([top]) + tops[offset:])
        return offset, (left, *put) if left else put
    card = part_of[bytes([top])]
    card, left = (whole, NO_PART) if left and (whole := joined[left, card]) else (card, left)
    card, right = (whole, NO_PART) if right and (whole := joined[card, right]) else (card, right)
    return 0, tuple([piece for piece in (left, card, right) if piece])


def _made(place: tuple[Part, Part, int, int]) -> tuple[int, Found]:
    left, right, top, worth = place
    before, after = facts[left].tops, facts[right].tops
    offset = _best_gap(left, right, top, WORTHS)
    sides = (after[:offset], after[offset:]) if offset else (before, after)
    first = len(before) + offset + _first_card(*sides, top, worth)
    tops = before + after[:offset] + bytes([top]) + after[offset:]
    return offset, found_at(tops, first, worth >> COUNT)


def _best_gap(left: Part, right: Part, top: int, what: int) -> int:
    """The first gap of a row that has the most; 0 is the one before the right part."""
    if right & CARDS < 2:
        return 0
    gaps = (_between[facts[left].tail, facts[right].head], *_gaps[right])
    column = [gap[what][top - 1] for gap in gaps]
    return column.index(max(column))


def _first_card(left: bytes, right: bytes, top: int, worth: int) -> int:
    """Where the set of this strength with a card between two sides begins, seen from the card."""
    if worth >> 4 & 1:  # matching
        return len(left.rstrip(bytes([top]))) - len(left)
    low = worth & 15
    high = low + (worth >> COUNT) - 1
    below, above = bytes(range(low, top)), bytes(range(top + 1, high + 1))
    rises = left.endswith(below) and right.startswith(above)
    return low - top if rises else top - high


def _gap_between(ends: tuple[bytes, bytes]) -> Gap:
    # Both sides are one set, and told from the gap on.
    left, right = ends
    lost = 0
    if left and right and -2 < (step := right[0] - left[0]) < 2:
        before, after = _follow(left, left[0], -step) - 1, _follow(right, right[0], step)
        lost = squares_with(before, after) - squares_with(before, 0)
    gains, worths = [], []
    linked = {side[0] + step for side in ends if side for step in (-1, 0, 1)}
    for top in range(1, HIGHEST + 1):
        gain = worth = 0
        if top not in linked:
            gains.append(-lost)
            worths.append(0)
            continue
        for step in (0, 1, -1):
            before, after = _follow(left, top - step, -step), _follow(right, top + step, step)
            if before or after:
                gain += squares_with(before, after)
                smallest = min(top - before * step, top + after * step)
                worth = max(worth, rank(before + after + 1, not step, smallest) - SMALL)
        gains.append(gain - lost)
        worths.append(worth)
    return Gap(tuple(gains), tuple(worths))


def _follow(side: bytes, top: int, step: int) -> int:
    """How many cards of a side go on from this top by steps."""
    if not side or side[0] != top:
        return 0
    return len(side) if len(side) > 1 and side[1] - top == step else 1


gains = of_parts(_gains)  # by neighbours: the most that a card adds to the structure of the hand
worths = of_parts(_worths)  # the strongest set with it, over ``SMALL``
puts = of_parts(
    _put
)  # by neighbours and top: where a card gains most in their row, and what they are then
made = of_parts(
    _made
)  # and by strength: where it first makes such a set, and that set in what they are
_gains_beside = of_parts(_best_gains)
_worths_beside = of_parts(_best_worths)
_between = Once(_gap_between)  # of the sets that a card in a gap would lie between
_gaps = of_parts(_gaps_within)
_within = of_parts(_within_part)
_at_least = Once(_at_least_table)
