"""One API process against two behind one Redis, the people of every match spread over both."""

from collections.abc import Iterator
from contextlib import ExitStack
from statistics import median
from typing import Final

from tests.bench.driver import crowd
from tests.bench.figures import Figure, middle
from tests.bench.machine import CORES, OTHER_CORES, SERVER_CORES
from tests.bench.moves import busy, one_run
from tests.bench.serving import Window, second_api, serving

RUNS: Final = 5
ENOUGH: Final = 4  # cores for two API processes, their clients, and Redis with the workers
TARGET, MOONSHOT = 1.7, 1.95  # times the moves of one process


def two() -> Iterator[Figure]:
    """Moves per second and CPU per move of both, in turn.

    Where cores are too few for both, both have that of the first: what a move then takes of it says
    how many two cores would carry.
    """
    cramped = len(CORES) < ENOUGH
    one: list[Window] = []
    both: list[Window] = []
    with ExitStack() as open_:
        served = open_.enter_context(serving())
        url, pid = open_.enter_context(second_api(served, SERVER_CORES if cramped else OTHER_CORES))
        alone = open_.enter_context(crowd("socket", served.url))
        spread = open_.enter_context(crowd("socket", served.url, url))
        one_run(served, alone)
        one_run(served, spread, served.api, pid)
        for _ in range(RUNS):
            one.append(one_run(served, alone))
            both.append(one_run(served, spread, served.api, pid))
    yield middle("moves, one API process", [run.rate for run in one], "moves/s", note=busy(one))
    rates = [run.rate for run in both]
    yield middle(
        "moves, two API processes",
        rates,
        "moves/s",
        ratio=median(rates) / median(run.rate for run in one),
        of="one process",
        target=None if cramped else TARGET,
        moonshot=None if cramped else MOONSHOT,
        judge_ratio=True,
        at_least=True,
        note=busy(both) + (f"; {len(CORES)} cores, so both share one" if cramped else ""),
    )
    single = [run.per_move(run.server) for run in one]
    double = [run.per_move(run.server) for run in both]
    yield middle("API CPU of a move, one process", single, "ms")
    yield middle(
        "API CPU of a move, two processes together",
        double,
        "ms",
        ratio=median(double) / median(single),
        of="one process",
        target=2 / TARGET,
        moonshot=2 / MOONSHOT,
        judge_ratio=True,
    )
