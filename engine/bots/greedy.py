"""The first two levels: show the longest set, else take the card that links best."""

from collections.abc import Iterable, Sequence
from operator import itemgetter
from random import Random

from engine.actions import Action, ChooseHand, Scout, ScoutAndShow, Show
from engine.cards import Cards, flipped
from engine.legal import may_choose, scout_and_shows, scout_ends, shows, taken
from engine.sets import SetAt, sets_in, sets_with, tops_of
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
    return squares(sets_in(tops))


def squares(sets: Iterable[SetAt]) -> int:
    """The squares of the sizes of sets of two cards and more, added up."""
    return sum([size * size for _, size, _, _ in sets if size > 1])


def broken(tops: Sequence[int]) -> list[int]:
    """What a card of no set takes from the structure of a hand, by the gap it is put into."""
    lost = [0] * (len(tops) + 1)
    for first, size, _, _ in sets_in(tops):
        for gap in range(first + 1, first + size):
            lost[gap] += size * size
    return lost


def made(tops: Sequence[int], top: int, gap: int) -> int:
    """What the sets that a card becomes part of in a gap add to the structure of a hand."""
    return squares(sets_with(tops, top, gap))


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
        (show.strength, scout, show)
        for scout in scout_and_shows(view)
        for show in scout.shows
        if show.size >= WORTH_THE_CHIP
    ]
    if not found:
        return []
    _, scout, show = max(found, key=itemgetter(0))  # the first of equals
    gap, flip = scout.insert_at, scout.flip
    return [ScoutAndShow(you.seat, scout.end, gap, flip, show.first, show.size)]


def _linking_scouts(view: View, you: OwnSeat) -> list[Action]:
    round_ = view.round
    if round_ is None:
        return []
    tops = tops_of(you.hand)
    lost = broken(tops)
    found = []
    for end in scout_ends(view):
        for flip in (False, True):
            card, _ = taken(round_.table, end, flip)
            found += [
                (made(tops, card.top, gap) - lost[gap], Scout(you.seat, end, gap, flip))
                for gap in range(len(tops) + 1)
            ]
    found.sort(key=itemgetter(0), reverse=True)
    return [action for _, action in found]
