"""Moves at full load: how many a second, and what each costs, by every way to send it."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from statistics import median
from typing import Final

from tests.bench.driver import Driver, crowd
from tests.bench.figures import Figure, middle
from tests.bench.serving import Served, Window, serving, watch

RUNS: Final = 5
MATCHES: Final = 16
SECONDS: Final = 3.0
NAMES: Final = {
    "http": "GraphQL over HTTP, updates by WebSocket",
    "socket": "GraphQL over one WebSocket",
    "rest": "REST, updates by SSE",
}


def one_run(served: Served, people: Driver, *servers: int) -> Window:
    """Fresh matches of four played at full load, all seats following, until one is over."""
    people.ask("seat", MATCHES)
    people.ask("play")
    try:
        return watch(served, people, SECONDS, *servers)
    finally:
        people.ask("pause")
        people.ask("leave")


def moves() -> Iterator[Figure]:
    """Moves per second and CPU per move of the three ways, one run of each in turn."""
    runs: dict[str, list[Window]] = {way: [] for way in NAMES}
    with ExitStack() as open_:
        served = open_.enter_context(serving())
        crowds = {way: open_.enter_context(crowd(way, served.url)) for way in NAMES}
        for people in crowds.values():
            one_run(served, people)  # the first documents are parsed, the first pages faulted in
        for _ in range(RUNS):
            for way, people in crowds.items():
                runs[way].append(one_run(served, people))
    yield from figures(runs)


def figures(runs: dict[str, list[Window]]) -> Iterator[Figure]:
    """The runs of each way as figures."""
    cheapest = min(runs, key=lambda way: middle("", _costs(runs[way]), "").value)
    least = middle("", _costs(runs[cheapest]), "").value
    for way, name in NAMES.items():
        yield middle(
            f"moves by {name}", [run.rate for run in runs[way]], "moves/s", note=busy(runs[way])
        )
        cost = middle(f"API CPU of a move by {name}", _costs(runs[way]), "ms")
        yield replace(cost, ratio=cost.value / least, of=f"`{cheapest}`")
    every = [run for way in runs.values() for run in way]
    yield middle(
        "Redis CPU of a move, fan-out, scoring and queues included",
        [run.per_move(run.redis) * 1000 for run in every],
        "us",
        target=60,
        moonshot=30,
    )
    yield middle(
        "CPU of workers and sweeper a move", [run.per_move(run.workers) for run in every], "ms"
    )
    yield middle(
        "Redis commands a move, those inside the script and of followers included",
        [run.commands / run.moves for run in every],
        "commands",
    )


def busy(runs: list[Window]) -> str:
    """What share of a core the API and the clients had: the one near 1 is what was saturated."""
    api = median(run.server / run.seconds for run in runs)
    clients = median(run.clients / run.seconds for run in runs)
    return f"of a core: API {api:.2f}, clients {clients:.2f}"


def _costs(runs: list[Window]) -> list[float]:
    return [run.per_move(run.server) for run in runs]
