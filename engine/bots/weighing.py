"""Every move worth weighing with what it is expected to be worth."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.actions import Action, ChooseHand, End, Scout, ScoutAndShow, Show
from engine.bots import features as f
from engine.bots.after import GOES_ON, ROOM, after, lead, margin, share, table_after
from engine.bots.moves import MOST, SCOUT, SCOUT_AND_SHOW, SHOW, WIDTH, moves
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
    return sorted(_weighed(seen, found, valuer, by_win=by_win), key=_worth, reverse=True)


def estimate(seen: Sight, actions: Sequence[Action], valuer: Valuer) -> list[Weighed]:
    """Legal actions, whichever they are, with what they are expected to be worth; as ordered."""
    if seen.choosing:
        found = {one[0]: one for one in _choices(seen)}
        chosen = [found[action] for action in actions]
    else:
        chosen = [_after(seen, _move(action), 0) for action in actions]
    return _weighed(seen, chosen, valuer, by_win=True)


def _weighed(seen: Sight, found: "list[_After]", valuer: Valuer, *, by_win: bool) -> list[Weighed]:
    points, wins = valuer(_rows(found, f.width(seen.facts[f.PLAYERS])))
    last = by_win and bool(seen.facts[f.LAST])
    weighed = []
    for n, (action, *_, facts, ender) in enumerate(found):
        if ender == GOES_ON:
            worth, win = float(points[n]) + lead(facts), float(wins[n])
        else:
            worth, win = margin(facts, ender), share(facts, ender)
        worth, win = round(worth, DECIMALS), round(win, DECIMALS)
        weighed.append(Weighed(action, worth, win if last else None))
    return weighed


def _worth(weighed: Weighed) -> float:
    if weighed.win is None:
        return weighed.points
    return round(weighed.win + TIE_BREAK * weighed.points, DECIMALS)


def _rows(found: "list[_After]", width: int) -> Any:
    """A row of features for each; what hangs on the hand alone is worked out once per hand."""
    rows = [0.0] * (width * len(found))
    scratch = [0] * ROOM
    known: dict[tuple[int, ...], tuple[int, list[float]]] = {}
    for n, (_, tops, table, undersides, size, facts, _) in enumerate(found):
        at, hand = n * width, facts[f.SEATS + f.HAND]
        key = tuple(tops[:hand])
        if key in known:
            best, rows[at : at + f.HAND_WIDTH] = known[key]
        else:
            best = f.own_hand(rows, at, tops, hand, scratch)
            known[key] = best, rows[at : at + f.HAND_WIDTH]
        f.all_else(rows, at, best, table, undersides, size, facts)
    return np.array(rows).reshape(-1, width)


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
    return [_after(seen, out, at) for at in _foremost(out, count, budget)]


def _after(seen: Sight, out: list[int], at: int) -> _After:
    tops, bottoms = seen.tops[:], seen.bottoms[:]
    table, undersides, facts = seen.table[:], seen.undersides[:], seen.facts[:]
    ender = after(out, at, tops, bottoms, table, undersides, seen.table_size, facts)
    size = table_after(out, at, seen.table_size)
    return _action(seen.seat, out, at), tops, table, undersides, size, facts, ender


def _foremost(out: list[int], count: int, budget: int) -> list[int]:
    """Where the moves begin; of too many, the Scout & Shows of the smallest sets are left out."""
    places = list(range(0, WIDTH * count, WIDTH))
    if count > budget:
        places.sort(key=lambda at: -out[at + 5] if out[at] == SCOUT_AND_SHOW else -MOST)
    return places[: max(1, budget)]


def _action(seat: int, out: list[int], at: int) -> Action:
    kind, end, gap, flip, first, count = out[at : at + WIDTH]
    if kind == SHOW:
        return Show(seat, first, count)
    side = End.RIGHT if end else End.LEFT
    if kind == SCOUT:
        return Scout(seat, side, gap, bool(flip))
    return ScoutAndShow(seat, side, gap, bool(flip), first, count)


def _move(action: Action) -> list[int]:
    """An action in play as ``engine.bots.moves`` writes it."""
    match action:
        case Show():
            return [SHOW, 0, 0, 0, action.first, action.count]
        case Scout():
            return [SCOUT, _end(action.end), action.insert_at, int(action.flip), 0, 0]
        case ScoutAndShow():
            scout = _move(action.halves()[0])
            return [SCOUT_AND_SHOW, *scout[1:4], action.first, action.count]
        case _:
            raise ValueError("this is no move")


def _end(end: End) -> int:
    return int(end is End.RIGHT)
