"""A long series on a real stack whose batch worker is killed again and again: ``--help``.

Prints what was counted and how long it took; exits with 1 if a match was lost, counted twice, or
ended otherwise than in this process.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from rich.console import Console

from tests import series
from tests.client import Client
from tests.conftest import Stack, start_stack

console = Console(highlight=False, soft_wrap=True)


async def soak(stack: Stack, args: argparse.Namespace) -> list[str]:
    """Play the series through all kills; what was wrong with it."""
    chance, began = Random(args.seed), time.monotonic()
    async with Client(stack.url) as client:
        await client.sign_in("Soak")
        seats = [args.level] * args.players
        series_id = (await series.create(client, *seats, matches=args.matches))["id"]
        at = sorted(chance.sample(range(1, args.matches), args.kills))
        for kill, played in enumerate(at):
            await series.until_played(client, series_id, played)
            await asyncio.sleep(chance.random() / 5)  # so that it hits any moment of a match
            child = kill % 2 == 0
            hit = series.kill_batch_worker(stack.folder, child=child)
            what = "child" if child else "main process"
            console.print(f"{time.monotonic() - began:6.1f} s  killed the {what}: {hit}")
        async for update in series.updates(client, series_id):
            last = update["series"]
        seconds = time.monotonic() - began
        results = await series.all_results(client, series_id)
    console.print(f"{last['status']}: {last['played']} matches in {seconds:.1f} s")
    return await _faults(stack, args, last, results)


async def _faults(
    stack: Stack, args: argparse.Namespace, last: dict, results: list[dict]
) -> list[str]:
    numbers = [result["number"] for result in results]
    wins = sum(line["wins"] for line in last["results"])
    every = await series.orders(stack.redis_url, last["id"])
    chosen = Random(args.seed).sample(every, min(args.again, len(every)))
    told = {result["number"]: result for result in results}
    differ = [o.number for o in chosen if series.played_here(o) != told.get(o.number)]
    console.print(f"counted {len(numbers)}, different numbers {len(set(numbers))}, wins {wins:.6f}")
    console.print(f"played {len(chosen)} again here: {len(differ)} differ")
    faults = []
    if sorted(numbers) != list(range(1, args.matches + 1)):
        faults.append("matches were lost or counted twice")
    if last["status"] != "FINISHED" or abs(wins - args.matches) > 1e-6:
        faults.append("the table does not add up")
    if differ:
        faults.append(f"matches differ: {differ}")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=5, help="child and main process in turn")
    parser.add_argument("--players", type=int, default=4)
    parser.add_argument("--level", default="regular")
    parser.add_argument("--again", type=int, default=100, help="matches to play again here")
    parser.add_argument("--seed", type=int, default=1, help="of when to kill")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        stack = start_stack(Path(folder), None, RINGMASTER_TEST_FOLDER=folder)
        try:
            faults = asyncio.run(soak(stack, args))
        finally:
            stack.stop()
    console.print("\n".join(faults) or "nothing lost, nothing twice")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
