"""`make bench-bots`: CPU per decision by level and number of players, and a turn end to end.

Positions are those that each level leads to against itself; CPU time, since wall time is the
machine's. Every figure stands beside the calibration loop's.
"""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from statistics import median, quantiles
from typing import Any

from rich.table import Table

from api.store.connections import connect
from api.store.redis import RedisStore
from engine.bots import LEVELS, Level
from engine.cards import PLAYER_COUNTS
from engine.series import Order, Spec, play
from engine.views import History, View
from tests.bench.figures import Figure, middle, table
from tests.bench.machine import Mood, tell, wide
from tests.bench.serving import Served, serving
from tests.bench.storage import append_times
from tests.client import Client

MATCHES = 6
RUNS = 5  # matches of four bots of each level that turns are timed in


def decisions(level: Level, players: int) -> list[float]:
    """CPU milliseconds of every decision in some matches of one level."""
    found: list[float] = []

    def choose(_: str, view: View, history: History, seed: int) -> Any:
        began = time.process_time()
        action = level.action(view, history, seed)
        found.append((time.process_time() - began) * 1000)
        return action

    spec = Spec((level.name,) * players, MATCHES)
    for number in range(1, MATCHES + 1):
        play(Order("bench", spec, number, 0, "5eed" * 16), choose)
    return found


async def turns(served: Served, level: str) -> list[float]:
    """Milliseconds from commit to commit in a match where bots play on the running server."""
    async with Client(served.url) as client:
        await client.sign_in("Bench")
        match = await client.create(*[{"kind": "BOT", "botLevel": level}] * 4, visibility="PUBLIC")
        async for _ in client.updates(match["id"], after=0):
            pass  # until it is over
    return await commit_times(served, match["id"])


async def commit_times(served: Served, match_id: str) -> list[float]:
    """Milliseconds between neighbouring commits of a match, from the log's own clock."""
    redis = connect(served.redis_url)
    commits, _ = await RedisStore(redis).load(match_id, 0)
    await redis.aclose()
    return [float(after.at - before.at) for before, after in pairwise(commits)]


def turns_of_bots() -> Iterator[Figure]:
    """From commit to commit where a bot plays on the running server, beside a Redis round trip."""
    runs: dict[str, list[list[float]]] = {"regular": [], "expert": []}
    with serving(pinned=False) as served:
        pings, _ = asyncio.run(append_times(served.redis_url))
        for _ in range(RUNS):
            for name, found in runs.items():
                found.append(asyncio.run(turns(served, name)))
    ping = median(pings) / 1000
    yield Figure("Redis round trip", ping, "ms")
    for name, found in runs.items():
        half = middle(f"turn of `{name}`, commit to commit, p50", map(median, found), "ms")
        half = replace(half, ratio=half.value / ping, of="Redis round trip", judge_ratio=True)
        if name == "regular":  # it hardly thinks
            half = replace(half, target=15, moonshot=8)
        yield half
        ends = [quantiles(times, n=100)[98] for times in found]
        yield middle(f"turn of `{name}`, commit to commit, p99", ends, "ms")


def main() -> None:
    console, mood = wide(), Mood()
    mood.look()
    loop = mood.loops[0].cpu
    shown = Table("level", "players", "decisions", "p50 ms", "p99 ms", "most ms", "p99 in loops")
    for level in LEVELS.values():
        for players in PLAYER_COUNTS:
            times = decisions(level, players)
            p99 = quantiles(times, n=100)[98]
            shown.add_row(
                *(level.name, str(players), str(len(times))),
                *(f"{median(times):.2f}", f"{p99:.2f}", f"{max(times):.2f}"),
                f"{p99 / 1000 / loop:.4f}",
            )
    console.print(shown)
    console.print(table({"bots": list(turns_of_bots())}))
    mood.look()
    tell(console, mood)


if __name__ == "__main__":
    main()
