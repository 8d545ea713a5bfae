"""The levels a host can choose from, gentlest first."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from engine.actions import Action, ChooseHand, Scout, Show
from engine.bots import greedy
from engine.legal import may_choose, scout_ends, shows
from engine.views import View


@dataclass(frozen=True, slots=True)
class Level:
    """A level of play. ``choose`` returns a legal action for the view's own seat.

    ``budget_ms`` is the CPU time in milliseconds that a decision is meant to stay under.
    """

    name: str
    description: str
    budget_ms: int
    choose: Callable[[View, int], Action]


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
