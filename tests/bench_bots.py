"""`make bench-bots`: CPU per decision by level and number of players, and a turn end to end.

Positions are those that each level leads to against itself; CPU time, since wall time is the
machine's. Every figure stands beside the calibration loop's.
"""

import asyncio
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from rich.console import Console
from rich.table import Table

from api.store.connections import connect
from api.store.redis import RedisStore
from engine.bots import LEVELS, Level
from engine.cards import PLAYER_COUNTS
from engine.series import Order, Spec, play
from engine.views import History, View
from tests.bench import calibrate, stolen, store_figures
from tests.client import Client
from tests.conftest import Stack, start_stack

MATCHES = 6
TURNS = 4  # matches of four bots that turns are timed in


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


async def turns(stack: Stack, level: str) -> list[float]:
    """Milliseconds from commit to commit where a bot plays on the running server."""
    client = Client(stack.url)
    await client.sign_in("Bench")
    found: list[float] = []
    for _ in range(TURNS):
        match = await client.create(*[{"kind": "BOT", "botLevel": level}] * 4, visibility="PUBLIC")
        async for _ in client.updates(match["id"], after=0):
            pass  # until it is over
        found += await commit_times(stack, match["id"])
    await client.http.aclose()
    return found


async def commit_times(stack: Stack, match_id: str) -> list[float]:
    """Milliseconds between neighbouring commits of a match, from the log's own clock."""
    redis = connect(stack.redis_url)
    commits, _ = await RedisStore(redis).load(match_id, 0)
    await redis.aclose()
    return [float(after.at - before.at) for before, after in pairwise(commits)]


def main() -> None:
    console = Console()
    loop, (stolen_before, ticks_before) = calibrate(), stolen()
    table = Table("level", "players", "decisions", "p50 ms", "p99 ms", "most ms", "p99 per loop")
    for level in LEVELS.values():
        for players in PLAYER_COUNTS:
            times = decisions(level, players)
            p99 = quantiles(times, n=100)[98]
            table.add_row(
                *(level.name, str(players), str(len(times))),
                *(f"{median(times):.2f}", f"{p99:.2f}", f"{max(times):.2f}"),
                f"{p99 / 1000 / loop:.1e}",
            )
    console.print(table)
    with tempfile.TemporaryDirectory() as folder:
        stack = start_stack(Path(folder))
        try:
            ping, _ = asyncio.run(store_figures(stack.redis_url))
            for name in ("regular", "expert"):
                times = asyncio.run(turns(stack, name))
                p50, p99 = median(times), quantiles(times, n=100)[98]
                console.print(
                    f"{name}: from commit to commit p50 {p50:.1f} ms, p99 {p99:.1f} ms, "
                    f"{p50 * 1000 / ping:.0f} Redis round trips of {ping:.0f} us"
                )
        finally:
            stack.stop()
    stolen_after, ticks_after = stolen()
    share = (stolen_after - stolen_before) / max(1, ticks_after - ticks_before)
    console.print(
        f"calibration loop: {loop:.3f} CPU s, again {calibrate():.3f}; stolen {share:.1%}"
    )


if __name__ == "__main__":
    main()
