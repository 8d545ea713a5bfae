"""A position after one's own action as numbers, for what values it.

As in ``engine.bots.moves``: small integers in flat lists, one source for playing and training.

What is known of a position is a flat list of ``FACTS`` integers: the five below up to ``SEATS``,
then a block of ``BLOCK`` for each seat, the viewer's first, then in turn order, then how many cards
that the viewer has not seen this round bear each number.
"""

from collections.abc import MutableSequence, Sequence

from engine.sets import rank

Ints = MutableSequence[int]
Floats = MutableSequence[float]

# Facts.
PLAYERS = 0
OWNER = 1  # of the active set, in seats after the viewer; -1: an empty table
ROW = 2  # scouts since the last show
NEXT = 3  # who acts next, in seats after the viewer
CHOOSING = 4  # 1: hands are being chosen
LAST = 5  # 1: the last round of the match
SEATS = 6
BLOCK = 8
HAND = 0
CAPTURED = 1
CHIPS = 2
CHIP = 3  # 1: Scout & Show is still to be had
SCORE = 4  # of finished rounds
KNOWN = 5  # cards scouted in the open and not shown since
HIGHEST = 6  # the highest number on those
NEAR = 7  # a bit for each number on those or next to one
UNSEEN = SEATS + 5 * BLOCK - 1  # + number
FACTS = UNSEEN + 11

# Features, in this order: the own hand,
OWN_SIZE = 0  # one of 13, up to 12 and more
OWN_TOPS = 13  # by number
OWN_SINGLES = 23  # cards that belong to no set once the sets are taken out, by number
OWN_SETS = 33  # whole sets of 2, 3, 4, 5 and more: matching, then consecutive
OWN_PEELS = 41  # four sets taken out one after the other: size, matching, lowest
OWN_TURNS = 53  # shows needed for all, and how many of them are singles
OWN_STEPS = 55  # neighbours 0, 1, 2 apart, next but one 0, 1 apart
OWN_STRUCTURE = 60  # squared sizes of all sets
OWN_LOWEST = 61  # of the singles
OWN_HIGHEST = 62
HAND_WIDTH = 63
# the table,
SET_SIZE = 63  # one of 7, up to 6 and more
SET_MATCHING = 70
SET_LOW = 71  # one of 10
SET_OWNER = 81  # one of 5, in seats after the viewer
SET_MINE = 86  # its size, if it is the viewer's
SCOUTS = 87  # one of 5, up to 4
STARTER = 92  # one of 5, while hands are chosen
AGAIN = 97  # the viewer acts again (two players)
LAST_ROUND = 98
# the viewer,
CAN_BEAT = 99  # somebody else's set, with the strongest of the hand
MY_CAPTURED = 100
MY_CHIPS = 101
MY_CHIP = 102
MY_KNOWN = 103
OUT_THERE = 104  # unseen cards, by number
# and each opponent.
OPPONENTS = 114
THEIR_SIZE = 0
THEIR_FEW = 1  # one of 4, of 1 to 4 cards
THEIR_CAPTURED = 5
THEIR_CHIPS = 6
THEIR_CHIP = 7
THEIR_LEAD = 8  # over the viewer before the last round
THEIR_KNOWN = 9
THEIR_HIGHEST = 10
THEY_BEAT = 11  # the single on the table, with a card known to be theirs
THEY_LINK = 12  # ends of the active set that go with cards known to be theirs
OPPONENT = 13

PEELS = 4


def width(players: int) -> int:
    """How many numbers ``features`` writes."""
    return OPPONENTS + OPPONENT * (players - 1)


def features(
    out: Floats,
    at: int,
    tops: Sequence[int],
    size: int,
    table: Sequence[int],
    undersides: Sequence[int],
    table_size: int,
    facts: Sequence[int],
    scratch: Ints,
) -> None:
    """Write ``width(players)`` numbers from ``out[at]`` on, where there are zeros.

    All describe the position after the viewer's action: the hand's ``tops``, ``size`` of them, top
    and bottom numbers of the active set, and ``facts``. ``scratch`` holds as many as the hand.
    """
    best = own_hand(out, at, tops, size, scratch)
    all_else(out, at, best, table, undersides, table_size, facts)


def own_hand(out: Floats, at: int, tops: Sequence[int], size: int, scratch: Ints) -> int:
    """Write what the hand alone decides, the first ``HAND_WIDTH``; its strongest set's strength."""
    _links(out, at, tops, size)
    return _sets(out, at, tops, size, scratch)


def all_else(
    out: Floats,
    at: int,
    best: int,
    table: Sequence[int],
    undersides: Sequence[int],
    table_size: int,
    facts: Sequence[int],
) -> None:
    """Write the rest; ``best`` is the strength of the hand's strongest set."""
    strength = _table(out, at, table, table_size, facts)
    if facts[OWNER] > 0 and best > strength:
        out[at + CAN_BEAT] = 1.0
    out[at + MY_CAPTURED] = facts[SEATS + CAPTURED] / 10
    out[at + MY_CHIPS] = facts[SEATS + CHIPS] / 10
    out[at + MY_CHIP] = facts[SEATS + CHIP]
    out[at + MY_KNOWN] = facts[SEATS + KNOWN] / 5
    for number in range(1, 11):
        out[at + OUT_THERE + number - 1] = facts[UNSEEN + number] / 9
    for seat in range(1, facts[PLAYERS]):
        there = at + OPPONENTS + OPPONENT * (seat - 1)
        _opponent(out, there, SEATS + seat * BLOCK, facts)
        if table_size > 0 and facts[OWNER] != seat:
            _threat(out, there, SEATS + seat * BLOCK, table, undersides, table_size, facts)


def _links(out: Floats, at: int, tops: Sequence[int], size: int) -> None:
    """The hand's size, its numbers, and how neighbours go together."""
    out[at + OWN_SIZE + min(size, 12)] = 1.0
    steps = at + OWN_STEPS
    structure = 0
    before = -9  # the card before the last one
    last = -9
    run = step = 0  # cards in the set that ends here, and by how much it rises
    for i in range(size):
        top = tops[i]
        out[at + OWN_TOPS + top - 1] += 0.25
        apart = top - last
        if -3 < apart < 3:
            out[steps + abs(apart)] += 0.2
        if -2 < top - before < 2:
            out[steps + 3 + abs(top - before)] += 0.2
        if -2 < apart < 2:
            if run > 1 and apart == step:
                run += 1
            else:
                structure += _set_of(out, at, run, step)
                run = 2
                step = apart
        else:
            structure += _set_of(out, at, run, step)
            run = 1
        before = last
        last = top
    structure += _set_of(out, at, run, step)
    out[at + OWN_STRUCTURE] = structure / 30


def _set_of(out: Floats, at: int, count: int, step: int) -> int:
    """Note a set that is part of no longer one; the squared sizes of it and of all within it."""
    if count < 2:
        return 0
    out[at + OWN_SETS + min(count, 5) - 2 + (0 if step == 0 else 4)] += 0.5
    if count == 2:
        return 4
    squares = 0
    for part in range(2, count + 1):
        squares += (count - part + 1) * part * part
    return squares


def _sets(out: Floats, at: int, tops: Sequence[int], size: int, left: Ints) -> int:
    """Take the strongest set out, again and again; the strength of the first."""
    for i in range(size):
        left[i] = tops[i]
    turns = best = 0
    while True:
        top, end = _strongest(left, size)
        if top == 0:
            break
        best = max(best, top)
        count = top >> 5
        if turns < PEELS:
            peel = at + OWN_PEELS + 3 * turns
            out[peel] = count / 5
            out[peel + 1] = (top >> 4) & 1
            out[peel + 2] = (top & 15) / 10
        for i in range(end, size):
            left[i - count] = left[i]
        size -= count
        turns += 1
    out[at + OWN_TURNS] = (turns + size) / 6
    out[at + OWN_TURNS + 1] = size / 6
    return max(best, _singles(out, at, left, size))


def _strongest(tops: Sequence[int], size: int) -> tuple[int, int]:
    """The strength of the strongest set of two cards and more, 0 if none, and where it ends."""
    best = best_end = run = 0
    last = -9
    step = 77  # of no set
    for i in range(size + 1):
        card = tops[i] if i < size else 99
        apart = card - last
        last = card
        if apart == step:
            run += 1
            continue
        if run > 1:  # a set has come to its end
            low = tops[i - 1] if step < 0 else tops[i - run]
            worth = rank(run, 1 if step == 0 else 0, low)
            if worth > best:
                best = worth
                best_end = i
        run = 1
        step = 77
        if -2 < apart < 2:
            run = 2
            step = apart
    return best, best_end


def _singles(out: Floats, at: int, left: Sequence[int], size: int) -> int:
    """The cards that no set took; the strength of the highest."""
    if size == 0:
        return 0
    lowest = highest = left[0]
    for i in range(size):
        out[at + OWN_SINGLES + left[i] - 1] += 0.5
        lowest = min(lowest, left[i])
        highest = max(highest, left[i])
    out[at + OWN_LOWEST] = lowest / 10
    out[at + OWN_HIGHEST] = highest / 10
    return rank(1, 0, highest)


def _table(
    out: Floats, at: int, table: Sequence[int], table_size: int, facts: Sequence[int]
) -> int:
    """What lies on the table, and whose; its strength."""
    strength = 0
    out[at + SET_SIZE + min(table_size, 6)] = 1.0
    if table_size > 0:
        low = min(table[0], table[table_size - 1])
        matching = 1 if table_size > 1 and table[0] == table[table_size - 1] else 0
        strength = rank(table_size, matching, low)
        out[at + SET_MATCHING] = matching
        out[at + SET_LOW + low - 1] = 1.0
        out[at + SET_OWNER + facts[OWNER]] = 1.0
        if facts[OWNER] == 0:
            out[at + SET_MINE] = table_size / 5
    if facts[CHOOSING]:
        out[at + STARTER + facts[NEXT]] = 1.0
    else:
        out[at + SCOUTS + min(facts[ROW], 4)] = 1.0
        out[at + AGAIN] = 1.0 if facts[NEXT] == 0 else 0.0
    out[at + LAST_ROUND] = facts[LAST]
    return strength


def _opponent(out: Floats, at: int, block: int, facts: Sequence[int]) -> None:
    """What everybody knows of an opponent."""
    hand = facts[block + HAND]
    out[at + THEIR_SIZE] = hand / 10
    if 0 < hand < 5:
        out[at + THEIR_FEW + hand - 1] = 1.0
    out[at + THEIR_CAPTURED] = facts[block + CAPTURED] / 10
    out[at + THEIR_CHIPS] = facts[block + CHIPS] / 10
    out[at + THEIR_CHIP] = facts[block + CHIP]
    out[at + THEIR_KNOWN] = facts[block + KNOWN] / 5
    out[at + THEIR_HIGHEST] = facts[block + HIGHEST] / 10
    if facts[LAST]:
        out[at + THEIR_LEAD] = (facts[block + SCORE] - facts[SEATS + SCORE]) / 20


def _threat(
    out: Floats,
    at: int,
    block: int,
    table: Sequence[int],
    undersides: Sequence[int],
    table_size: int,
    facts: Sequence[int],
) -> None:
    """What the cards that an opponent is known to hold mean for the active set."""
    if table_size == 1 and facts[block + HIGHEST] > table[0]:
        out[at + THEY_BEAT] = 1.0
    near = facts[block + NEAR]
    for i in range(2):
        end = i * (table_size - 1)
        if (near >> table[end]) & 1 or (near >> undersides[end]) & 1:
            out[at + THEY_LINK] += 0.5
