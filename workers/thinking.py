"""A bot's decision, and a quick action in its place where the level fails."""

import logging

from engine.actions import Action
from engine.bots import LEVELS, quick_action
from engine.legal import is_legal
from engine.views import History, View

log = logging.getLogger("ringmaster.bots")


def think(level: str, view: View, history: History, seed: int) -> Action:
    """What a level does for the view's own seat; if it fails, a quick action, and a log line.

    Raises:
        ValueError: the seat has nothing to do.
    """
    fault = "IllegalAction"
    try:
        action = LEVELS[level].action(view, history, seed)
        if is_legal(view, action):
            return action
    except Exception as error:  # noqa: BLE001 - a broken level must not stop the match
        fault = type(error).__name__  # its text could carry the hand
    log.error("level %s failed in match %s: %s", level, view.match_id, fault)
    return quick_action(view)
