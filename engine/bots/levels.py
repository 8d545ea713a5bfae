"""The levels a host can choose from, gentlest first."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from engine.actions import Action, ChooseHand, Scout, Show
from engine.bots import greedy
from engine.legal import may_choose, scout_ends, shows
from engine.views import History, View


@dataclass(frozen=True, slots=True)
class Level:
    """A level of play.

    ``choose(view, history, budget, seed)`` returns a legal action for the view's own seat: a pure
    function of what the seat sees, of what everybody saw in this round, of the number of positions
    that it may value at most, and of a seed. ``budget_ms`` is the CPU time in milliseconds that a
    decision is meant to stay under.
    """

    name: str
    description: str
    budget_ms: int
    choose: Callable[[View, History, int, int], Action]
    budget: int = 400

    def action(self, view: View, history: History, seed: int) -> Action:
        """What this level does with its usual budget.

        Raises:
            ValueError: the seat has nothing to do.
        """
        return self.choose(view, history, self.budget, seed)


LEVELS: Final = {
    level.name: level
    for level in (
        Level(
            "casual", "Plays sensibly and misses a better action now and then.", 25, greedy.casual
        ),
        Level("regular", "Shows its longest set, scouts what links best.", 25, greedy.regular),
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
