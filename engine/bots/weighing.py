"""Every move worth weighing with what it is expected to be worth."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.actions import Action, ChooseHand, End, Scout, ScoutAndShow, Show
from engine.bots import features as f
from engine.bots.after import GOES_ON, ROOM, after, lead, margin, share, table_after
from engine.bots.moves import MOST, SCOUT, SHOW, WIDTH, moves
from engine.bots.sight import Sight

# Rows of features to points still to come and, in a match's last round, shares of the win.
Valuer = Callable[[Any], tuple[Any, Any]]

TIE_BREAK = 0.002  # of a win, for a point more in the last round
DECIMALS = 9  # beyond these, sums depend on the order in which a processor adds


@dataclass(frozen=True, slots=True)
class Weighed:
    """An action with the margin it is expected to lead to, and in the last round the win's share.

    ``points``: at the round's end, the seat's less the others' mean.
    """

    action: Action
    points: float
    win: float | None


def weigh(seen: Sight, budget: int, valuer: Valuer, *, by_win: bool) -> list[Weighed]:
    """The moves worth weighing, at most ``budget`` of them, the best first.

    ``by_win``: in the match's last round a share of the win counts instead of points.
    """
    found = _choices(seen) if seen.choosing else _afters(seen, budget)
    width = f.width(seen.facts[f.PLAYERS])
    rows = [0.0] * (width * len(found))
    scratch = [0] * ROOM
    for n, (_, tops, table, undersides, size, facts, _) in enumerate(found):
        hand = facts[f.SEATS + f.HAND]
        f.features(rows, n * width, tops, hand, table, undersides, size, facts, scratch)
    points, wins = valuer(np.array(rows).reshape(-1, width))
    last = by_win and bool(seen.facts[f.LAST])
    weighed = []
    for n, (action, *_, facts, ender) in enumerate(found):
        if ender == GOES_ON:
            worth, win = float(points[n]) + lead(facts), float(wins[n])
        else:
            worth, win = margin(facts, ender), share(facts, ender)
        worth, win = round(worth, DECIMALS), round(win, DECIMALS)
        weighed.append(Weighed(action, worth, win if last else None))
    return sorted(weighed, key=_worth, reverse=True)


def _worth(weighed: Weighed) -> float:
    if weighed.win is None:
        return weighed.points
    return round(weighed.win + TIE_BREAK * weighed.points, DECIMALS)


_After = tuple[Action, list[int], list[int], list[int], int, list[int], int]


def _choices(seen: Sight) -> list[_After]:
    rest = (seen.table, seen.undersides, seen.table_size, seen.facts, GOES_ON)
    return [
        (ChooseHand(seen.seat, flip=False), seen.tops, *rest),
        (ChooseHand(seen.seat, flip=True), seen.bottoms, *rest),
    ]


def _afters(seen: Sight, budget: int) -> list[_After]:
    out = [0] * (MOST * WIDTH)
    count = moves(
        out,
        seen.tops,
        seen.facts[f.SEATS + f.HAND],
        seen.table,
        seen.undersides,
        seen.table_size,
        seen.may_scout,
        seen.may_scout_and_show,
        [0] * ROOM,
    )
    found: list[_After] = []
    for at in range(0, WIDTH * max(1, min(count, budget)), WIDTH):
        tops, bottoms = seen.tops[:], seen.bottoms[:]
        table, undersides, facts = seen.table[:], seen.undersides[:], seen.facts[:]
        ender = after(out, at, tops, bottoms, table, undersides, seen.table_size, facts)
        size = table_after(out, at, seen.table_size)
        found.append((_action(seen.seat, out, at), tops, table, undersides, size, facts, ender))
    return found


def _action(seat: int, out: list[int], at: int) -> Action:
    kind, end, gap, flip, first, count = out[at : at + WIDTH]
    if kind == SHOW:
        return Show(seat, first, count)
    side = End.RIGHT if end else End.LEFT
    if kind == SCOUT:
        return Scout(seat, side, gap, bool(flip))
    return ScoutAndShow(seat, side, gap, bool(flip), first, count)
