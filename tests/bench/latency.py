"""From a move to its opponents' update, at a paced rate, with more and more matches open."""

from collections.abc import Iterator
from statistics import median, quantiles
from typing import Final

from tests.bench.driver import crowd
from tests.bench.figures import Figure
from tests.bench.machine import resident
from tests.bench.moves import busy
from tests.bench.serving import serving, watch

RUNS: Final = 5
OPEN: Final = (50, 200, 800)
SECONDS: Final = 3.0
SATURATING: Final = 2.0  # seconds at full load, of which the best of some looks counts
LOOKS: Final = 3
SHARE: Final = 0.5  # of the rate that saturates
KEPT: Final = 0.9  # share of the pace that has to be kept


def latency() -> Iterator[Figure]:
    """p50 and p99 at each number of open matches, the same rate at all; medians of the runs.

    Moves are spread evenly over time and over all matches. Everybody follows their match on a
    WebSocket of their own, so 800 matches are 3,200 connections.
    """
    with serving() as served, crowd("socket", served.url) as people:
        people.ask("seat", OPEN[0])
        people.ask("play")
        rate = max(watch(served, people, SATURATING).rate for _ in range(LOOKS)) * SHARE
        people.ask("pause")
        yield Figure(
            "rate of the paced play", rate, "moves/s", note=f"{SHARE:.0%} of what saturates"
        )
        memory = {}
        for number in OPEN:
            people.ask("seat", number, seconds=300)
            memory[number] = resident(served.api)
            people.ask("play", rate)
            runs = [watch(served, people, SECONDS, to_the_end=True) for _ in range(RUNS)]
            people.ask("pause")
            halves = tuple(median(run.latencies) for run in runs)
            ends = tuple(quantiles(run.latencies, n=100)[98] for run in runs)
            name = f"move to opponents' update, {number} matches open"
            reached = median(run.rate for run in runs)
            kept = reached > KEPT * rate  # a queue that grows makes p50 as bad as p99
            note = f"{reached:.0f} moves/s; {busy(runs)}"
            yield Figure(f"{name}, p50", median(halves), "ms", halves, note=note)
            yield Figure(
                f"{name}, p99",
                median(ends),
                "ms",
                ends,
                ratio=median(ends) / median(halves),
                of="p50",
                target=4 if kept else None,
                moonshot=3 if kept else None,
                judge_ratio=True,
                note="" if kept else "not judged: the pace was not kept",
            )
        less, more = OPEN[-2:]
        each = (memory[more] - memory[less]) / (more - less)
        yield Figure("API memory of an open match and its four connections", each, "KiB")
