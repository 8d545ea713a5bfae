"""What a level would do in one's own place, and why, from what one's seat may know."""

from dataclasses import dataclass
from typing import assert_never

from engine.actions import Action, ChooseHand, Scout, ScoutAndShow, Show
from engine.bots.levels import LEVELS
from engine.bots.nets import net
from engine.bots.sight import Known, known, sight
from engine.bots.weighing import estimate
from engine.cards import Cards, flipped
from engine.evolve import inserted
from engine.legal import taken
from engine.sets import SetKind, kind_of, sets_in, tops_of
from engine.views import History, RoundView, View


@dataclass(frozen=True, slots=True)
class Advice:
    """A legal action, best first.

    ``points``: the margin expected at the round's end, one's own points less the others' mean.
    ``win``: in a match's last round the share of the win expected. The order is the level's, the
    expectations are those of ``expert``, whose nets have learnt them.
    """

    action: Action
    points: float
    win: float | None
    reason: str


def advisers() -> list[str]:
    """The names of the levels that give advice."""
    return [name for name, level in LEVELS.items() if level.ranking is not None]


def advise(view: View, history: History, level: str, first: int = 100) -> list[Advice]:
    """What a level would do in the viewer's own seat, at most ``first`` actions, the best first.

    Raises:
        ValueError: the seat has nothing to do, or the level gives no advice.
        KeyError: there is no such level.
    """
    ranking = LEVELS[level].ranking
    if ranking is None:
        raise ValueError("this level gives no advice")
    actions = ranking(view, history, LEVELS[level].budget)[:first]
    if not actions:
        return []
    expected = estimate(sight(view, history), actions, net("expert", len(view.seats)).worth)
    knowledge = known(history, len(view.seats))
    return [
        Advice(
            one.action,
            round(one.points, 2),
            None if one.win is None else round(one.win, 3),
            reason(view, knowledge, one.action),
        )
        for one in expected
    ]


def reason(view: View, knowledge: Known, action: Action) -> str:
    """A sentence or two on what an action does, from visible information alone."""
    you, round_ = view.you, view.round
    if you is None or round_ is None:
        raise ValueError("a spectator has nothing to do")
    match action:
        case ChooseHand():
            hand = flipped(you.hand) if action.flip else you.hand
            return f"{'Flipped' if action.flip else 'As dealt'}, {_best_set(hand)}."
        case Show():
            return _show(view, knowledge, you.hand, round_.table, action)
        case Scout():
            return _scout(view, you.hand, round_, action)
        case ScoutAndShow():
            scout, show = action.halves()
            card, left = taken(round_.table, scout.end, scout.flip)
            hand = inserted(you.hand, card, scout.insert_at)
            then = _show(view, knowledge, hand, left, show)
            joins = show.first <= scout.insert_at < show.first + show.count
            why = "to show with" if joins else "so that less is to be beaten"
            return f"Takes the {card.top} {why}. {then}"
        case _:
            assert_never(action)


def _show(view: View, knowledge: Known, hand: Cards, table: Cards, show: Show) -> str:
    cards = hand[show.first : show.first + show.count]
    parts = [f"Shows {_named(cards)}"]
    if table:
        parts.append(f"captures {_cards(len(table))}")
    left = len(hand) - len(cards)
    parts.append(f"leaves {_cards(left)} in hand" if left else "empties the hand")
    threat = _who_beats(view, knowledge, cards) if left else None
    sentence = ", ".join(parts[:-1]) + f" and {parts[-1]}."
    return sentence if threat is None else f"{sentence} {threat}"


def _scout(view: View, hand: Cards, round_: RoundView, scout: Scout) -> str:
    card, _ = taken(round_.table, scout.end, scout.flip)
    after = inserted(hand, card, scout.insert_at)
    at = scout.insert_at
    joined = [
        found
        for found in sets_in(tops_of(after))
        if found.size > 1 and found.first <= at < found.first + found.size
    ]
    where = "where it goes with nothing yet"
    if joined:
        best = max(joined, key=lambda found: found.strength)
        where = f"making {_named(after[best.first : best.first + best.size])}"
    takes = f"Takes the {card.top}, {where}"
    if len(view.seats) == 2:
        return f"{takes}; it costs a scout chip."
    ends = round_.scouts_in_a_row == len(view.seats) - 2
    paid = f"{takes}; {_seat(view, round_.owner)} gets a scout chip"
    return f"{paid}, and the round ends." if ends else f"{paid}."


def _who_beats(view: View, knowledge: Known, cards: Cards) -> str | None:
    """Whose scouted card, known to all, can beat a single."""
    if len(cards) != 1:
        return None
    for seat, held in enumerate(knowledge.held):
        higher = [card for card in held if max(card) > cards[0].top]
        if higher and view.you is not None and seat != view.you.seat:
            low, high = max(higher, key=max)
            return f"{_seat(view, seat)} is known to hold the card {low}/{high}."
    return None


def _best_set(hand: Cards) -> str:
    best = max(sets_in(tops_of(hand)), key=lambda found: found.strength)
    return f"{_named(hand[best.first : best.first + best.size])} is the strongest set"


def _named(cards: Cards) -> str:
    tops = "-".join(str(card.top) for card in cards)
    names = {SetKind.SINGLE: "", SetKind.MATCHING: "matching ", SetKind.CONSECUTIVE: "the run "}
    return names[kind_of(tops_of(cards)) or SetKind.SINGLE] + tops


def _cards(count: int) -> str:
    return "1 card" if count == 1 else f"{count} cards"


def _seat(view: View, seat: int | None) -> str:
    if seat is None:
        return "nobody"
    return view.seats[seat].name or f"Seat {seat}"
