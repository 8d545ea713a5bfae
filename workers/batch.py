"""Matches of series, each played whole by one worker process."""

from engine.actions import Action
from engine.series import play
from engine.views import History, View
from workers.runtime import Runtime
from workers.thinking import think


def play_match(runtime: Runtime, series_id: str, number: int) -> None:
    """Play a match and count it; nothing happens if it is counted, or its series over or gone.

    A level that fails or answers with an illegal action is logged, and a quick action is played.
    """
    found = runtime.run(runtime.parts.series.order(series_id, number))
    if found is None:
        return
    series, order = found
    # Not on the event loop: it may take longer than what the loop may wait for.
    result, log = play(order, choose)
    runtime.run(runtime.parts.series.count(series, result, log))


def choose(level: str, view: View, history: History, seed: int) -> Action:
    """What a level does in a match of a series."""
    return think(level, view, history, seed)
