"""What one's own action leads to, as far as its seat can know (see ``engine.bots.features``)."""

from collections.abc import MutableSequence, Sequence

from engine.bots.features import (
    BLOCK,
    CAPTURED,
    CHIP,
    CHIPS,
    HAND,
    NEXT,
    OWNER,
    PLAYERS,
    ROW,
    SCORE,
    SEATS,
)
from engine.bots.moves import SCOUT, SHOW, strength
from engine.sets import rank

Ints = MutableSequence[int]

GOES_ON = -1  # instead of who ended the round
ROOM = 48  # cards that a hand or an active set has room for here


def after(
    moves: Sequence[int],
    at: int,
    tops: Ints,
    bottoms: Ints,
    table: Ints,
    undersides: Ints,
    table_size: int,
    facts: Ints,
) -> int:
    """Carry out the move at ``moves[at]`` of the seat that the facts are for, in place.

    All lists have ``ROOM`` for what comes. Returns who ended the round, in seats after the viewer,
    or ``GOES_ON``.
    """
    kind = moves[at]
    facts[NEXT] = 1
    if kind != SHOW:
        _scout(moves, at, tops, bottoms, table, undersides, table_size, facts)
        table_size -= 1
        if kind == SCOUT:
            return _ender_of_scout(tops, table, table_size, facts)
        facts[SEATS + CHIP] = 0
    first, count = moves[at + 4], moves[at + 5]
    size = facts[SEATS + HAND]
    for i in range(count):
        table[i] = tops[first + i]
        undersides[i] = bottoms[first + i]
    for i in range(first + count, size):
        tops[i - count] = tops[i]
        bottoms[i - count] = bottoms[i]
    facts[SEATS + CAPTURED] += table_size
    facts[SEATS + HAND] = size - count
    facts[OWNER] = 0
    facts[ROW] = 0
    return 0 if size == count else GOES_ON


def table_after(moves: Sequence[int], at: int, table_size: int) -> int:
    """How many cards lie on the table after the move."""
    return table_size - 1 if moves[at] == SCOUT else moves[at + 5]


def _scout(
    moves: Sequence[int],
    at: int,
    tops: Ints,
    bottoms: Ints,
    table: Ints,
    undersides: Ints,
    table_size: int,
    facts: Ints,
) -> None:
    end, gap, flip = moves[at + 1], moves[at + 2], moves[at + 3]
    size = facts[SEATS + HAND]
    card = 0 if end == 0 else table_size - 1
    top, bottom = table[card], undersides[card]
    for i in range(size, gap, -1):
        tops[i] = tops[i - 1]
        bottoms[i] = bottoms[i - 1]
    tops[gap] = bottom if flip else top
    bottoms[gap] = top if flip else bottom
    for i in range(card, table_size - 1):
        table[i] = table[i + 1]
        undersides[i] = undersides[i + 1]
    facts[SEATS + HAND] = size + 1
    if facts[PLAYERS] == 2:
        facts[SEATS + CHIPS] -= 1
    else:
        facts[SEATS + facts[OWNER] * BLOCK + CHIPS] += 1


def _ender_of_scout(tops: Sequence[int], table: Sequence[int], left: int, facts: Ints) -> int:
    owner = facts[OWNER]
    facts[ROW] += 1
    if left == 0:
        facts[OWNER] = -1
    if facts[PLAYERS] > 2:
        return owner if facts[ROW] == facts[PLAYERS] - 1 else GOES_ON
    facts[NEXT] = 0
    if left == 0 or facts[SEATS + CHIPS] > 0:
        return GOES_ON
    stuck = strongest(tops, facts[SEATS + HAND]) <= strength(table, 0, left)
    return owner if stuck else GOES_ON


def _reach(tops: Sequence[int], size: int, first: int, step: int) -> int:
    """How many cards from ``first`` on rise by ``step`` each."""
    last = first + 1
    while last < size and tops[last] - tops[last - 1] == step:
        last += 1
    return last - first


def strongest(tops: Sequence[int], size: int) -> int:
    """The strength of the strongest set in a hand."""
    best = 0
    for first in range(size):
        for step in range(-1, 2):
            count = _reach(tops, size, first, step)
            low = min(tops[first], tops[first + count - 1])
            best = max(best, rank(count, 1 if step == 0 and count > 1 else 0, low))
    return best


def lead(facts: Sequence[int]) -> float:
    """Points in hand so far this round: the viewer's less the others' mean."""
    players = facts[PLAYERS]
    others = 0.0
    for seat in range(1, players):
        block = SEATS + seat * BLOCK
        others += facts[block + CAPTURED] + facts[block + CHIPS]
    return facts[SEATS + CAPTURED] + facts[SEATS + CHIPS] - others / (players - 1)


def margin(facts: Sequence[int], ender: int) -> float:
    """The round's points once it has ended: the viewer's less the others' mean."""
    players = facts[PLAYERS]
    others = 0.0
    for seat in range(1, players):
        others += 0 if seat == ender else facts[SEATS + seat * BLOCK + HAND]
    own = 0 if ender == 0 else facts[SEATS + HAND]
    return lead(facts) - own + others / (players - 1)


def share(facts: Sequence[int], ender: int) -> float:
    """The viewer's share of the match's win once its last round has ended: 1, 1/2 of a tie, 0."""
    best = -1000
    winners = 0
    for seat in range(facts[PLAYERS]):
        block = SEATS + seat * BLOCK
        total = facts[block + SCORE] + facts[block + CAPTURED] + facts[block + CHIPS]
        if seat != ender:
            total -= facts[block + HAND]
        if seat == 0:
            own = total
        if total > best:
            best = total
            winners = 0
        if total == best:
            winners += 1
    return 1.0 / winners if own == best else 0.0
