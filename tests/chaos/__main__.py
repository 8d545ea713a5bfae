"""`make chaos`: faults at moments of the seed's choosing, under a light load, and what they broke.

Exit code 1 if anything was wrong.
"""

import argparse
import asyncio
import secrets
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from tests.chaos.run import run
from tests.chaos.schedule import schedule

console = Console(highlight=False, soft_wrap=True, markup=False)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=3, help="of faults; ends a minute later")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    args = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    console.print(f"seed {args.seed}")
    folder = Path(tempfile.mkdtemp(prefix="ringmaster-chaos-"))
    living = run(folder, args.seed, schedule(args.seed), args.minutes * 60, console.print)
    try:
        wrong = asyncio.run(living)
    except KeyboardInterrupt:
        shutil.rmtree(folder)
        return 130
    for line in wrong:
        console.print(line)
    if wrong:
        console.print(f"{len(wrong)} wrong; what the processes wrote is in {folder}")
        return 1
    shutil.rmtree(folder)
    console.print("nothing was wrong")
    return 0


if __name__ == "__main__":
    sys.exit(main())
