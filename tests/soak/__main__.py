"""`make soak`: hours of a light, mixed load, and whether anything grows. ``--help`` tells the rest.

Exit code 1 if something does. Samples go to a CSV of lines ``seconds,name,value``, from which
``--judge`` judges and draws again.
"""

import argparse
import asyncio
import csv
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from redis import Redis
from rich.console import Console

from api.store.keys import REVOKED, SHARDS, bell
from api.store.tokens import KEPT as REVOCATIONS
from api.timelines import KEPT
from tests.bench.driver import Driver, crowd
from tests.bench.people import WAYS
from tests.conftest import Stack, start_stack
from tests.soak.judging import Curve, allowed, grown, picture, read, rise
from tests.soak.life import Life
from tests.soak.sampling import sample

LOG: Final = 20_000  # characters of the processes' output, where it ends badly
EVERY: Final = 10  # seconds
TABLES: Final = 2  # of four people, for each way to play
MOVES: Final = 4.0  # a second, for each way
BELLS: Final = 4096  # what the script keeps of a shard's bell
SHORT: Final = {
    "RINGMASTER_MATCH_TTL": "60",
    "RINGMASTER_FINISHED_TTL": "60",
    "RINGMASTER_GUEST_TTL": "840",
    "RINGMASTER_SEAT_HOLD_SECONDS": "30",
}

console = Console(highlight=False, soft_wrap=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--csv", type=Path, default=Path("soak.csv"))
    parser.add_argument("--drawings", type=Path, help="folder for the curves as SVG")
    parser.add_argument("--judge", action="store_true", help="only judge the CSV there is")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if not args.judge:
        with tempfile.TemporaryDirectory(prefix="ringmaster-soak-") as folder:
            stack = start_stack(Path(folder), None, **SHORT)
            try:
                asyncio.run(soak(stack, args.minutes * 60, args.csv, args.seed))
            except BaseException:
                print((Path(folder) / "stderr.log").read_text()[-LOG:])  # noqa: T201
                raise
            finally:
                stack.stop()
    curves = read(args.csv)
    if args.drawings:
        draw(curves, args.drawings)
    return judge(curves)


async def soak(stack: Stack, seconds: float, path: Path, seed: int) -> None:
    """Live for a while, and write a sample every ten seconds."""
    life = Life(stack.url, seed)
    with ExitStack() as open_:
        redis = open_.enter_context(Redis.from_url(stack.redis_url, decode_responses=True))
        fill_streams(redis)
        crowds = [open_.enter_context(crowd(way, stack.url)) for way in WAYS]
        await asyncio.to_thread(_begin, crowds)
        lines = open_.enter_context(path.open("w", newline=""))
        living = asyncio.create_task(life.run())
        began, moves = time.monotonic(), 0
        while (now := time.monotonic() - began) < seconds:
            await asyncio.wait((living,), timeout=EVERY - now % EVERY)
            if living.done():
                break
            moves += sum(await asyncio.to_thread(_moves, crowds))
            found = await asyncio.to_thread(sample, stack.process.pid, redis)
            found["done/matches of bots"] = life.done["bots"]
            found["done/matches"] = life.done["bots"] + life.done["lobby"]
            at = round(time.monotonic() - began, 1)
            csv.writer(lines).writerows((at, name, value) for name, value in found.items())
            lines.flush()
        living.cancel()
        await asyncio.gather(living, return_exceptions=not living.done())
    done = ", ".join(f"{name} {count}" for name, count in sorted(life.done.items()))
    console.print(f"{now / 60:.1f} minutes: {moves} moves of people; {done}")


def fill_streams(redis: Redis) -> None:
    """Fill the streams of fixed length, so that their filling is not taken for growth."""
    with redis.pipeline(transaction=False) as pipe:
        for shard in SHARDS:
            for _ in range(BELLS):
                pipe.xadd(bell(shard), {"m": f"m{shard}-{'A' * 16}"})
            pipe.execute()
        for _ in range(REVOCATIONS):
            pipe.xadd(REVOKED, {"t": "A" * 16})
        pipe.execute()


def _begin(crowds: list[Driver]) -> None:
    for people in crowds:
        people.ask("renew")
        people.ask("seat", TABLES)
        people.ask("play", MOVES)


def _moves(crowds: list[Driver]) -> list[int]:
    return [people.ask("count")["moves"] for people in crowds]


def judge(curves: dict[str, Curve]) -> int:
    """Say what grows; the exit code."""
    unjudged = ["done/", "keys/revoked"]  # that a token was revoked is kept for a day
    for who, made in (("rss/api", "done/matches"), ("rss/worker", "done/matches of bots")):
        end = curves[made][-1][0]
        before = max((value for at, value in curves[made] if at <= end / 2), default=0)
        if before < KEPT:
            console.print(
                f"{who} is not judged: by half-time {before:.0f} matches, and a process keeps the "
                f"last {KEPT}; longer runs fill that"
            )
            unjudged.append(who)
    judged = {name: curve for name, curve in curves.items() if not name.startswith("done/")}
    end = max(curve[-1][0] for curve in judged.values())
    bad = grown(judged, unjudged)
    for name, curve in sorted(judged.items()):
        rose, may = rise(curve, end), allowed(name, curve, end)
        mark = "not judged" if name.startswith(tuple(unjudged)) else ""
        mark = "GROWS" if name in bad else mark
        last = f"{curve[-1][1]:10,.0f}"
        console.print(f"{name:24} last {last}  rose {rose:+9,.1f} of {may:,.1f} {mark}")
    console.print("grows: " + ", ".join(bad) if bad else "flat: nothing grows")
    return bool(bad)


def draw(curves: dict[str, Curve], folder: Path) -> None:
    """Memory, keys and open files as pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    for prefix, title, unit, divisor in (
        ("rss", "Memory of the processes", "MiB", 1024),
        ("keys", "Keys in Redis", "keys", 1),
        ("files", "Open files", "files", 1),
        ("redis", "Memory of Redis", "KiB", 1),
    ):
        chosen = {n.split("/")[1]: c for n, c in curves.items() if n.startswith(f"{prefix}/")}
        (folder / f"{prefix}.svg").write_text(picture(title, unit, chosen, divisor))


if __name__ == "__main__":
    sys.exit(main())
