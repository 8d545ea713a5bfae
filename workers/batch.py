"""Matches of series, each played whole by one worker process."""

from api.values import Fault
from engine.actions import Action
from engine.series import play
from engine.views import History, View
from workers.runtime import Runtime
from workers.thinking import think


def play_match(runtime: Runtime, series_id: str, number: int) -> bool:
    """Play a match and count it; False if it is counted, or its series over or gone.

    In place of a level that fails a quick action is played; the fault is logged and counted.
    """
    found = runtime.run(runtime.parts.series.order(series_id, number))
    if found is None:
        return False
    series, order = found
    faults: list[tuple[str, Fault]] = []

    def choose(level: str, view: View, history: History, seed: int) -> Action:
        thought = think(level, view, history, seed)
        if thought.fault is not None:
            faults.append((level, thought.fault))
        return thought.action

    # Not on the event loop: it may take longer than what the loop may wait for.
    result, log = play(order, choose)
    runtime.run(runtime.parts.series.count(series, result, log))
    for level, fault in faults:
        runtime.run(runtime.parts.service.count_fault(level, fault))
    return True
