"""Matches of series, each played whole by one worker process."""

from engine.series import play
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
    result, log = play(order, think)
    runtime.run(runtime.parts.series.count(series, result, log))
