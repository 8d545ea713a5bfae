"""The first two levels: show the longest set, else take the card that links best."""

from collections.abc import Sequence
from random import Random

from engine.actions import Action, ChooseHand, Scout, ScoutAndShow, Show
from engine.cards import Cards, flipped
from engine.legal import may_choose, scout_and_shows, scout_ends, shows
from engine.sets import SetAt, sets_in, tops_of
from engine.views import History, OwnSeat, View

WORTH_THE_CHIP = 3  # cards in a show that make a Scout & Show worth its chip
ERRS = 0.4  # how often ``casual`` takes another sensible action


def regular(view: View, history: History, budget: int, seed: int) -> Action:  # noqa: ARG001
    """The longest show, the weakest on ties; else a big Scout & Show; else the best scout.

    The view alone decides.

    Raises:
        ValueError: the seat has nothing to do.
    """
    return ranked(view)[0]


def casual(view: View, history: History, budget: int, seed: int) -> Action:  # noqa: ARG001
    """As ``regular``, but now and then one of the next best actions, by ``seed``.

    Raises:
        ValueError: the seat has nothing to do.
    """
    sensible = ranked(view)
    chance = Random(seed)
    if len(sensible) > 1 and chance.random() < ERRS:
        return chance.choice(sensible[1:4])
    return sensible[0]


def structure(tops: Sequence[int]) -> int:
    """How well a hand hangs together: the squares of the sizes of all sets in it."""
    return sum(found.size * found.size for found in sets_in(tops) if found.size > 1)


def ranked(view: View) -> list[Action]:
    """The sensible actions, best first.

    Raises:
        ValueError: the seat has nothing to do.
    """
    you = view.you
    if you is None:
        raise ValueError("a spectator has nothing to do")
    if may_choose(view):
        return [ChooseHand(you.seat, _flips(you.hand))]
    options = shows(view)
    if options:
        return [Show(you.seat, o.first, o.size) for o in sorted(options, key=_longest_weakest)]
    actions = _big_scout_and_shows(view, you) + _linking_scouts(view, you)
    if not actions:
        raise ValueError("this seat has nothing to do")
    return actions


def _flips(hand: Cards) -> bool:
    return structure(tops_of(flipped(hand))) > structure(tops_of(hand))


def _longest_weakest(option: SetAt) -> tuple[int, int]:
    return -option.size, option.strength


def _big_scout_and_shows(view: View, you: OwnSeat) -> list[Action]:
    found = [
        (show.strength, ScoutAndShow(you.seat, o.end, o.insert_at, o.flip, show.first, show.size))
        for o in scout_and_shows(view)
        for show in o.shows
        if show.size >= WORTH_THE_CHIP
    ]
    found.sort(key=lambda pair: -pair[0])
    return [action for _, action in found[:1]]


def _linking_scouts(view: View, you: OwnSeat) -> list[Action]:
    round_ = view.round
    if round_ is None:
        return []
    tops = tops_of(you.hand)
    found = []
    for end in scout_ends(view):
        card = round_.table[0 if end == "LEFT" else -1]
        for flip, top in ((False, card.top), (True, card.bottom)):
            for gap in range(len(tops) + 1):
                worth = structure([*tops[:gap], top, *tops[gap:]])
                found.append((worth, Scout(you.seat, end, gap, flip)))
    found.sort(key=lambda pair: -pair[0])
    return [action for _, action in found]
