"""What a subscriber costs the API process, one that is told nothing and one that is told moves."""

import asyncio
import sys
import time
from collections.abc import Iterator
from typing import Final

from tests.bench.driver import Driver
from tests.bench.figures import Figure, middle
from tests.bench.machine import cpu_seconds, resident
from tests.bench.serving import Served, serving
from tests.client import Client

NUMBER: Final = 1000
IDLE_SECONDS: Final = 22  # at least one ping each
RUNS: Final = 5
MOVES: Final = 4  # a run
SECONDS: Final = 30


def subscribers() -> Iterator[Figure]:
    """1,000 spectators of one match, each on a WebSocket of its own, in one API process."""
    with serving() as served:
        figures: list[Figure] = asyncio.run(_measured(served))
    yield from figures


async def _measured(served: Served) -> list[Figure]:
    async with Client(served.url) as ann, Client(served.url) as bob:
        for person in (ann, bob):
            await person.sign_in("P")
        match = await ann.create({"kind": "PLAYER"}, {"kind": "OPEN"}, visibility="PUBLIC")
        await bob.join(matchId=match["id"], name="Bob")
        before = resident(served.api)
        command = [sys.executable, "-m", "tests.bench.watchers", served.url, match["id"]]
        with Driver([*command, str(NUMBER)]) as watchers:
            each = (resident(served.api) - before) / NUMBER
            idle = _idle(served, watchers)
            busy = await _busy(served, watchers, (ann, bob), match["id"])
    memory = Figure(
        f"memory of a subscriber, {NUMBER} of one process", each, "KiB", target=60, moonshot=20
    )
    return [memory, *idle, *busy]


def _idle(served: Served, watchers: Driver) -> list[Figure]:
    received, cpu = watchers.ask("count")["bytes"], cpu_seconds(served.api)
    began = time.monotonic()
    time.sleep(IDLE_SECONDS)
    minutes = (time.monotonic() - began) / 60 * NUMBER
    cpu = cpu_seconds(served.api) - cpu
    received = watchers.ask("count")["bytes"] - received
    return [
        Figure("CPU of an idle subscriber", cpu / minutes * 1000, "ms/minute"),
        Figure("bytes to an idle subscriber", received / minutes, "bytes/minute"),
    ]


async def _busy(
    served: Served, watchers: Driver, people: tuple[Client, Client], match_id: str
) -> list[Figure]:
    costs, halves, lasts, sizes = (list[float]() for _ in range(4))
    match = (await people[0].choose(match_id))["match"]
    match = (await people[1].choose(match_id))["match"]
    told = _until(watchers, 2 * NUMBER)
    for _ in range(RUNS):
        cpu, received, known = cpu_seconds(served.api), told["bytes"], told["updates"]
        for _ in range(MOVES):
            mover = people[match["round"]["turn"]]
            seen = await mover.match(match_id)
            assert seen is not None
            sent = time.monotonic()
            match = await mover.act(seen)
            if match["status"] != "PLAYING":
                return _figures(costs, halves, lasts, sizes)
            told = _until(watchers, told["updates"] + NUMBER)
            times = sorted(told["last"])
            halves.append((times[NUMBER // 2] - sent) * 1000)
            lasts.append((times[NUMBER * 99 // 100] - sent) * 1000)
        updates = told["updates"] - known
        costs.append((cpu_seconds(served.api) - cpu) / updates * 1e6)
        sizes.append((told["bytes"] - received) / updates)
    return _figures(costs, halves, lasts, sizes)


def _until(watchers: Driver, updates: int) -> dict:
    """What the watchers tell once so many updates have come."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        told: dict = watchers.ask("count")
        if told["updates"] >= updates:
            return told
        time.sleep(0.02)
    raise TimeoutError("updates are missing")


def _figures(
    costs: list[float], halves: list[float], lasts: list[float], sizes: list[float]
) -> list[Figure]:
    return [
        middle("API CPU of an update to one of them", costs, "us"),
        middle("bytes of an update to one of them", sizes, "bytes"),
        middle("from a move to half of them", halves, "ms"),
        middle("from a move to 99 % of them", lasts, "ms"),
    ]
