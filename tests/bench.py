"""`make bench`: what the engine and a move cost, as ratios within one run.

Absolute times drift on shared machines: every figure stands beside the calibration loop's.
"""

import asyncio
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from api.ports import Append, Commit
from api.store.connections import connect
from api.store.keys import new_match_id
from api.store.redis import RedisStore
from engine.audit import audit
from engine.bots import LEVELS
from engine.events import HandChosen
from engine.legal import legal_actions
from engine.replay import document
from engine.views import View, view
from tests.builders import any_legal, logged, play_out
from tests.client import Client
from tests.conftest import start_stack

RUNS = 5
MATCHES, MOVERS = 20, 4


def calibrate() -> float:
    """CPU seconds of a fixed loop; the same machine in the same mood takes the same time."""
    began = time.process_time()
    total = 0
    for number in range(3_000_000):
        total += number & 7
    return time.process_time() - began


def stolen() -> tuple[int, int]:
    """Ticks stolen by the host, and all ticks, since boot."""
    ticks = [int(t) for t in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return ticks[7], sum(ticks)


def cpu_of(work: Callable[[], int]) -> float:
    """CPU microseconds per unit of work, the median of several runs."""
    found = []
    for _ in range(RUNS):
        began = time.process_time()
        units = work()
        found.append((time.process_time() - began) / units * 1e6)
    return statistics.median(found)


def greedy_rounds() -> int:
    level = LEVELS["regular"]
    actions = 0
    for seed in range(4):
        commits = play_out(4, seed, lambda m, s, c: level.action(view(m, s), (), c.getrandbits(32)))
        actions += len(commits)
    return actions


def replay_of(seed: int) -> str:
    level = LEVELS["regular"]
    commits = play_out(4, seed, lambda m, s, c: level.action(view(m, s), (), c.getrandbits(32)))
    return json.dumps(document(logged(commits)))


def longest_position() -> View:
    """The view with the most legal actions that random play led to."""
    best, most = None, 0
    for seed in range(12):
        for _, match in play_out(4, seed, any_legal, rounds=1):
            round_ = match.round
            if round_ is None or round_.turn is None:
                continue
            seen = view(match, round_.turn)
            count = len(legal_actions(seen))
            if count > most:
                best, most = seen, count
    assert best is not None
    return best


async def store_figures(url: str) -> tuple[float, float]:
    """Wall microseconds of a PING and of an append, medians."""
    redis = connect(url)
    store = RedisStore(redis)
    match_id, pings, appends = new_match_id(), [], []
    for version in range(1, 501):
        began = time.perf_counter()
        await redis.ping()
        pings.append(time.perf_counter() - began)
        commit = Commit(version, version, (HandChosen(0, True, None),), "bench", "00" * 32)
        began = time.perf_counter()
        assert await store.append(Append(match_id, commit, 10**13, 600))
        appends.append(time.perf_counter() - began)
    await redis.aclose()
    return statistics.median(pings) * 1e6, statistics.median(appends) * 1e6


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def move_figures(url: str, pid: int) -> tuple[float, int]:
    """API CPU milliseconds per accepted move over HTTP, two people a match, and moves played."""
    clients = [Client(url) for _ in range(MOVERS * 2)]
    for number, client in enumerate(clients):
        await client.sign_in(f"P{number}")
    began, moves = cpu_seconds(pid), 0

    async def play(ann: Client, bob: Client) -> int:
        match = await ann.create({"kind": "PLAYER"}, {"kind": "OPEN"}, visibility="PUBLIC")
        await bob.join(matchId=match["id"], name="Bob")
        played = 0
        await ann.choose(match["id"])
        match = (await bob.choose(match["id"]))["match"]
        while match["status"] == "PLAYING":
            mover = (ann, bob)[match["round"]["turn"]]
            seen = await mover.match(match["id"])
            assert seen is not None
            match = await mover.act(seen)
            played += 1
        return played

    pairs = list(zip(clients[::2], clients[1::2], strict=True))
    for _ in range(MATCHES // MOVERS):
        moves += sum(await asyncio.gather(*(play(*pair) for pair in pairs)))
    cpu = cpu_seconds(pid) - began
    for client in clients:
        await client.http.aclose()
    return cpu / moves * 1000, moves


def main() -> None:
    console = Console()
    loop, (stolen_before, ticks_before) = calibrate(), stolen()
    table = Table("what", "figure", "per calibration loop")

    def row(what: str, value: float, unit: str) -> None:
        table.add_row(what, f"{value:,.1f} {unit}", f"{value / (loop * 1e6):.2e}")

    per_action = cpu_of(greedy_rounds)
    row("engine: decide, evolve and a greedy bot, CPU per action", per_action, "us")
    replays = [replay_of(seed) for seed in range(20)]
    parse = cpu_of(lambda: len([json.loads(replay) for replay in replays]))
    parsed = [json.loads(replay) for replay in replays]
    checked = cpu_of(lambda: sum(audit(replay) == [] for replay in parsed))
    row("json.loads of a replay of 4 players, CPU", parse, "us")
    row(f"audit of it, CPU ({checked / parse:.0f} json.loads)", checked, "us")
    longest = longest_position()
    count = len(legal_actions(longest))
    per_list = cpu_of(lambda: len([legal_actions(longest) for _ in range(20)]))
    row(f"legal_actions of a position with {count} of them, CPU", per_list, "us")
    with tempfile.TemporaryDirectory() as folder:
        stack = start_stack(Path(folder))
        try:
            ping, append = asyncio.run(store_figures(stack.redis_url))
            row("Redis PING, wall, median", ping, "us")
            row(f"append of a commit, wall, median ({append / ping:.1f} PINGs)", append, "us")
            found = subprocess.check_output(["pgrep", "-P", str(stack.process.pid)], text=True)
            api = next(
                int(pid)
                for pid in found.split()
                if b"api.cli.main\0api" in Path(f"/proc/{pid}/cmdline").read_bytes()
            )
            per_move, moves = asyncio.run(move_figures(stack.url, api))
            row(f"API: a move and the look before it, CPU ({moves} moves)", per_move * 1000, "us")
        finally:
            stack.stop()
    stolen_after, ticks_after = stolen()
    share = (stolen_after - stolen_before) / max(1, ticks_after - ticks_before)
    console.print(table)
    console.print(
        f"calibration loop: {loop:.3f} CPU s, again {calibrate():.3f}; stolen {share:.1%}"
    )


if __name__ == "__main__":
    main()
