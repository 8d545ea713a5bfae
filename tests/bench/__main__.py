"""`make bench`: everything that is measured, in one run and one table. ``--help`` tells the rest.

Absolute times drift on shared machines. What counts are ratios within one run and CPU per unit of
work; the calibration loop and the stolen time say whether even these are to be trusted.
"""

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from tests.bench.bots import turns_of_bots
from tests.bench.figures import Figure, plain, table
from tests.bench.latency import latency
from tests.bench.machine import CORES, Mood, tell, wide
from tests.bench.memory import memory
from tests.bench.moves import moves
from tests.bench.observing import observing
from tests.bench.rivals import against_peers
from tests.bench.rules import rules
from tests.bench.starts import starts
from tests.bench.storage import storage
from tests.bench.subscribers import subscribers
from tests.bench.two import two

PARTS: Final[dict[str, Callable[[], Iterator[Figure]]]] = {
    "moves": moves,
    "storage": storage,
    "rules": rules,
    "bots": turns_of_bots,
    "observing": observing,
    "memory": memory,
    "subscribers": subscribers,
    "two": two,
    "starts": starts,
    "latency": latency,
}
BESIDE_PEERS: Final[dict[str, Callable[[], Iterator[Figure]]]] = {
    "moves": against_peers,
    "rules": partial(rules, peers=True),
}
SECONDS: Final = 600  # after which no other part is begun; the longest is the last


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--only", default=os.environ.get("ONLY", ""), help=", ".join(PARTS))
    parser.add_argument("--json", default=os.environ.get("JSON", ""), help="file to write")
    parser.add_argument("--peers", action="store_true", default=bool(os.environ.get("PEERS")))
    args = parser.parse_args()
    wanted = [part for part in args.only.split(",") if part] or list(PARTS)
    if unknown := set(wanted) - set(PARTS):
        parser.error(f"there is no part {', '.join(unknown)}")
    parts = {**PARTS, **BESIDE_PEERS} if args.peers else PARTS
    console, mood, began = wide(), Mood(), time.monotonic()
    mood.look()
    found: dict[str, list[Figure]] = {}
    try:
        for part in wanted:
            if time.monotonic() - began > SECONDS:
                console.print(f"{part}: left out, {SECONDS} s are over")
                continue
            found[part] = []
            for figure in parts[part]():
                found[part].append(figure)
            mood.look()
            console.print(f"[dim]{part} after {time.monotonic() - began:.0f} s[/]")
    finally:  # a part that fails does not take the figures of the others with it
        console.print(table(found))
        tell(console, mood)
    if args.json:
        Path(args.json).write_text(json.dumps(document(found, mood), indent=1) + "\n")


def document(found: dict[str, list[Figure]], mood: Mood) -> dict[str, object]:
    """All of it as JSON."""
    return {
        "loops": [{"cpu": loop.cpu, "wall": loop.wall} for loop in mood.loops],
        "stolen": mood.stolen,
        "doubts": mood.doubts(),
        "cores": len(CORES),
        "python": platform.python_version(),
        "figures": plain(found),
    }


if __name__ == "__main__":
    main()
