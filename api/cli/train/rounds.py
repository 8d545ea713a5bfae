"""Rounds that nets play against each other, as they are learnt from.

Written to be compiled together with ``engine.bots`` (see ``compiled``): arrays and numbers alone.
The world is what ``engine.bots.features`` calls facts, by seat number instead of seen from a seat.
"""

from typing import Any, NamedTuple

import numpy as np

from engine.bots.after import (
    GOES_ON,
    ROOM,
    after,
    lead,
    margin,
    share,
    strongest,
    table_after,
)
from engine.bots.features import (
    BLOCK,
    CHIP,
    CHIPS,
    CHOOSING,
    FACTS,
    HAND,
    HIGHEST,
    KNOWN,
    LAST,
    NEAR,
    NEXT,
    OWN_STRUCTURE,
    OWNER,
    PLAYERS,
    ROW,
    SCORE,
    SEATS,
    UNSEEN,
    features,
)
from engine.bots.moves import MOST, SCOUT, SHOW, WIDTH, moves, strength

LIMIT = 200  # actions; learners need not see the rare longer rounds
STEPS = 1024  # positions of a round that are learnt from
LEARNER, PAST, HEURISTIC, GREEDY = 0, 1, 2, 3  # policies
TIE_BREAK = 0.002  # as engine.bots.weighing
SPREAD = np.array([0.0, 0.0, 6.0, 8.0, 9.0, 9.0])  # of totals before the last round, by players


class Round(NamedTuple):
    """A round: hands by seat, the active set, who is known to hold what, what has been seen."""

    world: Any
    tops: Any
    bottoms: Any
    table: Any
    undersides: Any
    known: Any  # seat, lower number, higher number: 1 if everybody knows the card to be there
    seen: Any  # top, bottom: 1 once it has lain on the table


class Mind(NamedTuple):
    """Where a decision is made: a seat's facts, its moves, and one imagined after the other."""

    facts: Any
    out: Any
    imagined: Any
    tops: Any
    bottoms: Any
    table: Any
    undersides: Any
    scratch: Any
    row: Any
    base: Any
    base_hidden: Any
    hidden: Any
    middle: Any
    result: Any  # margin expected at the round's end; share of the win in a last round


class Trail(NamedTuple):
    """The learner's positions of a round: whose, where they are written, lead and value then."""

    seat: Any
    place: Any
    lead: Any
    value: Any


def below(chance: Any, bound: int) -> Any:
    """A number from 0 to ``bound`` - 1; ``chance[0]`` is the generator's state (xorshift32)."""
    x = chance[0]
    x ^= (x << 13) & 0xFFFFFFFF
    x ^= x >> 17
    x ^= (x << 5) & 0xFFFFFFFF
    chance[0] = x
    return (x * bound) >> 32


def _round() -> Round:
    return Round(
        np.zeros(FACTS, np.int64),
        np.zeros((5, ROOM), np.int64),
        np.zeros((5, ROOM), np.int64),
        np.zeros(ROOM, np.int64),
        np.zeros(ROOM, np.int64),
        np.zeros((5, 11, 11), np.int64),
        np.zeros((11, 11), np.int64),
    )


def _mind(inputs: int, nets: Any) -> Mind:
    width, narrow = nets[0][2].shape
    return Mind(
        np.zeros(FACTS, np.int64),
        np.zeros(MOST * WIDTH, np.int64),
        np.zeros(FACTS, np.int64),
        np.zeros(ROOM, np.int64),
        np.zeros(ROOM, np.int64),
        np.zeros(ROOM, np.int64),
        np.zeros(ROOM, np.int64),
        np.zeros(ROOM, np.int64),
        np.zeros(inputs, np.float32),
        np.zeros(inputs, np.float32),
        np.zeros(width, np.float32),
        np.zeros(width, np.float32),
        np.zeros(narrow, np.float32),
        np.zeros(2, np.float64),
    )


def _trail() -> Trail:
    return Trail(
        np.zeros(STEPS, np.int64),
        np.zeros(STEPS, np.int64),
        np.zeros(STEPS, np.float64),
        np.zeros((STEPS, 2), np.float64),
    )


def _begin(chance: Any, on: Round, players: int, hand: int, last: int) -> None:
    """A round before the choice of hands; before a last one, totals apart by about ``SPREAD``."""
    world = on.world
    world[:] = 0
    on.known[:] = 0
    on.seen[:] = 0
    world[PLAYERS] = players
    world[OWNER] = -1
    world[NEXT] = below(chance, players)
    world[CHOOSING] = 1
    world[LAST] = last
    for seat in range(players):
        block = SEATS + seat * BLOCK
        world[block + HAND] = hand
        world[block + CHIPS] = 3 if players == 2 else 0
        world[block + CHIP] = 1 if players > 2 else 0
        if last:
            total = 0
            for _ in range(4):  # near enough to a normal distribution
                total += below(chance, 1001) - 500
            world[block + SCORE] = int(total * SPREAD[players] / 577)
    _deal(chance, on, players, hand)


def _deal(chance: Any, on: Round, players: int, hand: int) -> None:
    """Shuffle and deal; ``world[UNSEEN + v]`` becomes how many cards of the deck bear v."""
    deck = np.zeros((45, 2), np.int64)
    count = 0
    for a in range(1, 10):
        for b in range(a + 1, 11):
            if (players == 3 and b == 10) or (players in (2, 4) and a == 9):
                continue
            deck[count, 0] = a
            deck[count, 1] = b
            count += 1
            on.world[UNSEEN + a] += 1
            on.world[UNSEEN + b] += 1
    for i in range(count - 1, 0, -1):
        j = below(chance, i + 1)
        for k in range(2):
            swap = deck[i, k]
            deck[i, k] = deck[j, k]
            deck[j, k] = swap
    for seat in range(players):
        for i in range(hand):
            flip = below(chance, 2)
            on.tops[seat, i] = deck[seat * hand + i, flip]
            on.bottoms[seat, i] = deck[seat * hand + i, 1 - flip]


def facts_of(on: Round, seat: int, facts: Any) -> None:
    """What a seat knows, as ``engine.bots.sight`` tells it from a view and a history."""
    world = on.world
    players = world[PLAYERS]
    for i in range(SEATS):
        facts[i] = world[i]
    if world[OWNER] >= 0:
        facts[OWNER] = (world[OWNER] - seat) % players
    facts[NEXT] = (world[NEXT] - seat) % players
    for other in range(players):
        here, there = SEATS + other * BLOCK, SEATS + (seat + other) % players * BLOCK
        for i in range(BLOCK):
            facts[here + i] = world[there + i]
    for number in range(1, 11):
        facts[UNSEEN + number] = world[UNSEEN + number]
    for i in range(world[SEATS + seat * BLOCK + HAND]):
        top, bottom = on.tops[seat, i], on.bottoms[seat, i]
        if not on.seen[top, bottom]:
            facts[UNSEEN + top] -= 1
            facts[UNSEEN + bottom] -= 1


def _decide(
    chance: Any,
    on: Round,
    mind: Mind,
    seat: int,
    size: int,
    policy: int,
    nets: Any,
    line: Any,
    noisy: bool,
    by_win: int,
) -> Any:
    """The best move (1 while choosing: flip), which ``mind`` then holds, and its ender."""
    facts = mind.facts
    facts_of(on, seat, facts)
    count = 2
    if not facts[CHOOSING]:
        may_scout = size > 0 and (facts[PLAYERS] > 2 or facts[SEATS + CHIPS] > 0)
        count = moves(
            mind.out,
            on.tops[seat],
            facts[SEATS + HAND],
            on.table,
            on.undersides,
            size,
            1 if may_scout else 0,
            1 if may_scout and facts[SEATS + CHIP] else 0,
            mind.scratch,
        )
    best = -1
    best_worth = -1e9
    fresh = True
    for move in range(count):
        ender = _imagine(on, mind, seat, size, move)
        _weigh(mind, policy, nets, line, fresh, ender, move, size)
        fresh = fresh and ender != GOES_ON
        worth = mind.result[0]
        if facts[LAST] and by_win and policy < HEURISTIC:
            worth = mind.result[1] + TIE_BREAK * mind.result[0]
            if noisy:
                worth += 0.0001 * below(chance, 1000)
        elif noisy:
            worth += 0.002 * below(chance, 1000)
        if worth > best_worth:
            best = move
            best_worth = worth
    ender = _imagine(on, mind, seat, size, best)
    _weigh(mind, policy, nets, line, fresh, ender, best, size)
    return best, ender


def _imagine(on: Round, mind: Mind, seat: int, size: int, move: int) -> Any:
    """Carry a move out in the mind; who ends the round by it."""
    for i in range(FACTS):
        mind.imagined[i] = mind.facts[i]
    hand = mind.facts[SEATS + HAND]
    for i in range(size):
        mind.table[i] = on.table[i]
        mind.undersides[i] = on.undersides[i]
    if mind.facts[CHOOSING]:
        for i in range(hand):
            mind.tops[i] = on.tops[seat, i] if move == 0 else on.bottoms[seat, i]
        return GOES_ON
    for i in range(hand):
        mind.tops[i] = on.tops[seat, i]
        mind.bottoms[i] = on.bottoms[seat, i]
    return after(
        mind.out,
        move * WIDTH,
        mind.tops,
        mind.bottoms,
        mind.table,
        mind.undersides,
        size,
        mind.imagined,
    )


def _weigh(
    mind: Mind,
    policy: int,
    nets: Any,
    line: Any,
    fresh: bool,
    ender: int,
    move: int,
    size: int,
) -> None:
    """Value what ``move`` led to, with ``size`` cards on the table before.

    ``fresh``: a decision's first.
    """
    facts, row, result = mind.imagined, mind.row, mind.result
    if ender != GOES_ON:
        result[0] = margin(facts, ender)
        result[1] = share(facts, ender)
        return
    size = 0 if facts[CHOOSING] else table_after(mind.out, move * WIDTH, size)
    row[:] = 0
    hand = facts[SEATS + HAND]
    features(row, 0, mind.tops, hand, mind.table, mind.undersides, size, facts, mind.scratch)
    if policy == GREEDY:
        result[0] = row[OWN_STRUCTURE]
        if not facts[CHOOSING]:
            result[0] += _greed(mind.out, move * WIDTH, mind.table, size)
        return
    if policy == HEURISTIC:
        total = 0.0
        for i in range(row.shape[0]):
            total += row[i] * line[i]
        result[0] = lead(facts) + total
        result[1] = 0.0
        return
    net = nets[0] if policy == LEARNER else nets[1]
    if fresh:
        _first_layer(net, row, mind.base, mind.base_hidden)
    _value(net, row, mind.base, mind.base_hidden, mind.hidden, mind.middle, result)
    result[0] += lead(facts)
    result[1] = 1 / (1 + np.exp(-result[1]))


def _greed(out: Any, at: int, table: Any, size: int) -> Any:
    """As ``engine.bots.greedy``: the longest and weakest show, a big Scout & Show, else a scout."""
    kind, count = out[at], out[at + 5]
    if kind == SCOUT:
        return 0.0
    shown = strength(table, 0, size)
    if kind == SHOW:
        return 1e6 + 1e4 * count - shown
    return 1e5 + shown if count > 2 else -1e5


def _first_layer(net: Any, row: Any, base: Any, base_hidden: Any) -> None:
    """Make ``row`` the one that the others of a decision are compared with."""
    first, first_bias = net[0], net[1]
    base[:] = row
    for j in range(first.shape[1]):
        base_hidden[j] = first_bias[j]
    for i in range(row.shape[0]):
        x = row[i]
        if x != 0:
            for j in range(first.shape[1]):
                base_hidden[j] += x * first[i, j]


def _value(
    net: Any, row: Any, base: Any, base_hidden: Any, hidden: Any, middle: Any, result: Any
) -> None:
    """Points still to come and a win's log-odds, as ``engine.bots.nets``.

    ``base_hidden`` is the first layer for ``base``, a row of the same decision: most is alike.
    """
    first, _, second, second_bias, last, last_bias = net
    width, narrow = second.shape
    for j in range(width):
        hidden[j] = base_hidden[j]
    for i in range(row.shape[0]):
        x = row[i] - base[i]
        if x != 0:
            for j in range(width):
                hidden[j] += x * first[i, j]
    for j in range(narrow):
        middle[j] = second_bias[j]
    for i in range(width):
        x = hidden[i]
        if x > 0:
            for j in range(narrow):
                middle[j] += x * second[i, j]
    for k in range(2):
        total = last_bias[k]
        for j in range(narrow):
            if middle[j] > 0:
                total += middle[j] * last[j, k]
        result[k] = total


def _choose(on: Round, seat: int, flip: int, last: bool) -> None:
    """Hold the hand as dealt or flipped; play starts when all have chosen."""
    if flip:
        for i in range(on.world[SEATS + seat * BLOCK + HAND]):
            swap = on.tops[seat, i]
            on.tops[seat, i] = on.bottoms[seat, i]
            on.bottoms[seat, i] = swap
    if last:
        on.world[CHOOSING] = 0


def _carry_out(on: Round, mind: Mind, seat: int, move: int, size: int) -> Any:
    """Play a move; who ended the round, in seats after this one, or ``GOES_ON``."""
    at, world = move * WIDTH, on.world
    kind = mind.out[at]
    if kind != SHOW:
        card = 0 if mind.out[at + 1] == 0 else size - 1
        a = min(on.table[card], on.undersides[card])
        b = max(on.table[card], on.undersides[card])
        on.known[seat, a, b] = 1
    ender = after(
        mind.out, at, on.tops[seat], on.bottoms[seat], on.table, on.undersides, size, mind.facts
    )
    left = table_after(mind.out, at, size)
    _take_over(world, seat, mind.facts)
    if kind != SCOUT:
        _lay_open(on, seat, left)
    _tell(world, seat, on.known[seat])
    if ender == GOES_ON and world[PLAYERS] == 2 and kind == SHOW and _is_stuck(on, left):
        return 0
    return ender


def _take_over(world: Any, seat: int, facts: Any) -> None:
    """The world after what the seat did to its own facts."""
    players = world[PLAYERS]
    world[OWNER] = (facts[OWNER] + seat) % players if facts[OWNER] >= 0 else -1
    world[ROW] = facts[ROW]
    world[NEXT] = (facts[NEXT] + seat) % players
    for other in range(players):
        here, there = SEATS + other * BLOCK, SEATS + (seat + other) % players * BLOCK
        for i in range(KNOWN):
            world[there + i] = facts[here + i]


def _lay_open(on: Round, seat: int, size: int) -> None:
    """Cards that were shown are seen, and no longer known to be in the hand."""
    for i in range(size):
        a = min(on.table[i], on.undersides[i])
        b = max(on.table[i], on.undersides[i])
        on.known[seat, a, b] = 0
        if not on.seen[a, b]:
            on.seen[a, b] = 1
            on.seen[b, a] = 1
            on.world[UNSEEN + a] -= 1
            on.world[UNSEEN + b] -= 1


def _tell(world: Any, seat: int, known: Any) -> None:
    """Note anew what everybody knows of a seat's hand."""
    count = highest = near = 0
    for a in range(1, 10):
        for b in range(a + 1, 11):
            if known[a, b]:
                count += 1
                highest = max(highest, b)
                near |= (7 << (a - 1)) | (7 << (b - 1))
    block = SEATS + seat * BLOCK
    world[block + KNOWN] = count
    world[block + HIGHEST] = highest
    world[block + NEAR] = near


def _is_stuck(on: Round, size: int) -> bool:
    """Two players: whether the next one can neither scout nor show; the shower cannot know."""
    block = SEATS + on.world[NEXT] * BLOCK
    if on.world[block + CHIPS] > 0:
        return False
    best = strongest(on.tops[on.world[NEXT]], on.world[block + HAND])
    return best <= strength(on.table, 0, size)


def _targets(
    on: Round,
    mind: Mind,
    trail: Trail,
    steps: int,
    over: int,
    trace: float,
    notes: Any,
    totals: Any,
) -> None:
    """The seats' margins, and what each position on the trail was to be valued at (TD(lambda))."""
    players = on.world[PLAYERS]
    returns = np.zeros((5, 2), np.float64)
    for seat in range(players):
        facts_of(on, seat, mind.facts)
        ender = (over - seat) % players if over >= 0 else GOES_ON
        returns[seat, 0] = margin(mind.facts, ender)
        returns[seat, 1] = share(mind.facts, ender)
        totals[seat] = returns[seat, 0]
    for step in range(steps - 1, -1, -1):
        seat, place = trail.seat[step], trail.place[step]
        notes[place, 0] = returns[seat, 0] - trail.lead[step]
        notes[place, 1] = returns[seat, 1]
        for k in range(2):
            returns[seat, k] = trace * returns[seat, k] + (1 - trace) * trail.value[step, k]


def play(
    chance: Any,
    players: int,
    hand: int,
    nets: Any,
    line: Any,
    policies: Any,
    last_rounds: float,
    by_win: int,
    explore: float,
    trace: float,
    rows: Any,
    notes: Any,
    totals: Any,
) -> int:
    """Play a round per row of ``policies``, by seat; how many positions the learner can learn from.

    ``nets`` are the learner's and a former self's, ``line`` the heuristic's weights. ``rows`` gets
    a position's features, ``notes`` the points still to come, the share of the win, and 1 for a
    last round. ``totals`` gets each seat's margin by round. ``trace`` is lambda: how far a target
    looks beyond the next position of one's own.
    """
    on, mind, trail = _round(), _mind(rows.shape[1], nets), _trail()
    written = 0
    for r in range(policies.shape[0]):
        last = 1 if below(chance, 1000) < last_rounds * 1000 else 0
        _begin(chance, on, players, hand, last)
        steps = size = 0
        over = -1  # the seat that ended the round
        for action in range(LIMIT + players):
            seat = action if action < players else on.world[NEXT]
            policy = policies[r, seat]
            noisy = below(chance, 1000) < explore * 1000
            best, ended = _decide(chance, on, mind, seat, size, policy, nets, line, noisy, by_win)
            if policy == LEARNER and ended == GOES_ON and written < rows.shape[0] and steps < STEPS:
                rows[written] = mind.row
                notes[written, 2] = last
                trail.seat[steps] = seat
                trail.place[steps] = written
                trail.lead[steps] = lead(mind.imagined)
                trail.value[steps] = mind.result
                written += 1
                steps += 1
            if action < players:
                _choose(on, seat, best, action == players - 1)
                continue
            ender = _carry_out(on, mind, seat, best, size)
            size = table_after(mind.out, best * WIDTH, size)
            if ender != GOES_ON:
                over = (seat + ender) % players
                break
        _targets(on, mind, trail, steps, over, trace, notes, totals[r])
    return written
