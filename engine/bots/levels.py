"""The levels a host can choose from, gentlest first."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from engine.actions import Action, ChooseHand, Scout, Show
from engine.bots import greedy, heuristic
from engine.bots.nets import net
from engine.bots.sight import sight
from engine.bots.weighing import Weighed, weigh
from engine.legal import may_choose, scout_ends, shows
from engine.views import History, View

Ranking = Callable[[View, History, int], list[Action]]


def by_heuristic(view: View, history: History, budget: int) -> list[Action]:
    """At most ``budget`` actions worth weighing, by what a careful player counts up, best first.

    Raises:
        ValueError: the seat has nothing to do.
    """
    return _actions(weigh(sight(view, history), budget, heuristic.worth, by_win=False))


def by_rule_of_thumb(view: View, history: History, budget: int) -> list[Action]:
    """As ``by_heuristic``, those first that the first two levels would play."""
    first = greedy.ranked(view)
    return [*first, *(a for a in by_heuristic(view, history, budget) if a not in first)]


def by_small_net(view: View, history: History, budget: int) -> list[Action]:
    """As ``by_heuristic``, by a small net that has learnt what points are to come."""
    seen = sight(view, history)
    return _actions(weigh(seen, budget, net("strong", len(view.seats)).worth, by_win=False))


def by_net(view: View, history: History, budget: int) -> list[Action]:
    """As ``by_small_net``, by a wider net, and in a match's last round by who will win it."""
    seen = sight(view, history)
    return _actions(weigh(seen, budget, net("expert", len(view.seats)).worth, by_win=True))


def _actions(weighed: list[Weighed]) -> list[Action]:
    return [one.action for one in weighed]


@dataclass(frozen=True, slots=True)
class Level:
    """A level of play.

    ``choose(view, history, budget, seed)`` returns a legal action for the view's own seat: a pure
    function of what the seat sees, of what everybody saw in this round, of the number of positions
    that it may value at most, and of a seed. ``budget_ms`` is the CPU time in milliseconds that a
    decision is meant to stay under. ``ranking(view, history, budget)`` are legal actions, the best
    first, for advice; without one the level gives none.
    """

    name: str
    description: str
    budget_ms: int
    choose: Callable[[View, History, int, int], Action]
    budget: int = 64
    ranking: Ranking | None = None

    def action(self, view: View, history: History, seed: int) -> Action:
        """What this level does with its usual budget.

        Raises:
            ValueError: the seat has nothing to do.
        """
        return self.choose(view, history, self.budget, seed)


def _ranked(name: str, description: str, ranking: Ranking) -> Level:
    def best(view: View, history: History, budget: int, seed: int) -> Action:  # noqa: ARG001
        return ranking(view, history, budget)[0]

    return Level(name, description, 25, best, ranking=ranking)


LEVELS: Final = {
    level.name: level
    for level in (
        Level(
            "casual",
            "Plays sensibly and misses a better action now and then.",
            25,
            greedy.casual,
            ranking=by_rule_of_thumb,
        ),
        Level(
            "regular",
            "Shows its longest set, scouts what links best.",
            25,
            greedy.regular,
            ranking=by_rule_of_thumb,
        ),
        _ranked(
            "skilled",
            "Counts up what an action leaves it with, and heeds what others took in the open.",
            by_heuristic,
        ),
        _ranked("strong", "Has learnt from many rounds what a position is worth.", by_small_net),
        _ranked(
            "expert",
            "Has learnt from many more, and plays a match's last round to win the match.",
            by_net,
        ),
    )
}


def quick_action(view: View) -> Action:
    """A legal action at once, for a level that failed: keep, the first show, or a scout.

    Raises:
        ValueError: it is not this seat's turn.
    """
    you = view.you
    if you is not None:
        if may_choose(view):
            return ChooseHand(you.seat, flip=False)
        for show in shows(view):
            return Show(you.seat, show.first, show.size)
        for end in scout_ends(view):
            return Scout(you.seat, end, insert_at=0, flip=False)
    raise ValueError("this seat has nothing to do")
