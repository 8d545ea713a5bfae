"""One run: life goes on, faults are made, and after each it is judged."""

import asyncio
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, Final

import aiohttp

from api.store import keys
from tests.chaos.faults import FAULTS, World
from tests.chaos.ground import Ground, until
from tests.chaos.judging import STILL_SECONDS, judge, slowest
from tests.chaos.leftovers import expire, leftovers
from tests.chaos.people import Town
from tests.chaos.records import Fault, Log, read_log
from tests.chaos.schedule import Step
from tests.chaos.tables import clocked, house, people

FAULT_SECONDS: Final = 120  # for a fault to be made and mended
END_SECONDS: Final = 90  # after the last fault, until all matches are over
SHORT_SECONDS: Final = 3
CLEAN_SECONDS: Final = 20  # after matches have expired, until nothing is left of them

Say = Callable[[str], None]


class Run:
    """Makes faults in the order of ``steps`` and finds what is wrong."""

    def __init__(self, folder: Path, ground: Ground, town: Town, say: Say, *, short: bool) -> None:
        self._folder, self._short = folder, short
        self._ground, self._town, self._say = ground, town, say
        self._world = World(ground, town, short=short)
        self._began = time.time()
        self._logs: dict[str, Log] = {}
        self._settled: set[str] = set()
        self.wrong: dict[str, None] = {}

    async def go(self, steps: Iterable[Step], seconds: float) -> None:
        """Live until so many seconds have passed or the steps are done; then judge it all."""
        ways = (people(self._town), clocked(self._town), *map(self._house, ("casual", "ponders")))
        living = [asyncio.create_task(way) for way in ways]
        try:
            for step in steps:
                if time.time() - self._began > seconds:
                    break
                await asyncio.sleep(step.pause)
                await asyncio.gather(*(self._make(*fault) for fault in step.faults))
                await self._revive()
                self._judge()
                for task in living:
                    if task.done():
                        await task
            await self._end(living)
        finally:
            for task in living:
                task.cancel()
            await asyncio.gather(*living, return_exceptions=True)

    async def _house(self, level: str) -> None:
        await house(self._town, level)

    async def _make(self, name: str, seed: int) -> None:
        began = time.time()
        try:
            async with asyncio.timeout(FAULT_SECONDS):
                told = await FAULTS[name][1](self._world, Random(seed))
        except TimeoutError:
            told = "could not be made or mended"
            self._find([f"{name} {told}"])
        self._town.record.faults.append(Fault(name, began, time.time()))
        self._tell(f"{name} {told}".strip() + f" ({time.time() - began:.1f} s)")

    async def _revive(self) -> None:
        """Start again what ended by itself, as `ringmaster up` does; only a worker ever may."""
        for process in self._ground.processes:
            if not process.running():
                self._tell(f"{process.name} ended by itself")
                if process not in self._ground.workers:
                    self._find([f"{process.name} ended by itself"])
                await process.again()

    def _judge(self) -> None:
        """Judge all matches that were not judged to their end yet."""
        record = self._town.record
        now, waiting = time.time(), [m for m in record.matches if m not in self._settled]
        logs = {match_id: read_log(self._ground.direct, match_id) for match_id in waiting}
        self._logs.update(logs)
        self._find(judge(record, logs, now))
        self._settled |= {m for m, log in logs.items() if log.over and m in record.replays}

    def _find(self, wrong: Iterable[str]) -> None:
        for line in wrong:
            if line not in self.wrong:
                self.wrong[line] = None
                self._tell(f"WRONG {line}")

    async def _end(self, living: list[asyncio.Task[None]]) -> None:
        """Let all matches end, in the short form those of now; judge them, and let them expire."""
        self._town.closing.set()
        end = time.time() + (SHORT_SECONDS if self._short else END_SECONDS)
        late: set[asyncio.Task[None]] = set(living)
        while late and time.time() < end:
            _, late = await asyncio.wait(late, timeout=1)
            await self._revive()
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        for task in living:
            if task not in late:
                task.result()
        self._judge()
        record = self._town.record
        for match_id in record.matches:
            log = self._logs[match_id]
            last = log.entries[-1].at if log.entries else 0.0
            if not log.over and time.time() - last > STILL_SECONDS:
                self._find([f"{match_id}: stands still at its version {len(log.entries)}"])
        self._count()
        if self.wrong:
            self._keep()
        expire(self._ground.direct, record.matches)
        with suppress(TimeoutError):
            await until(lambda: not self._left(), CLEAN_SECONDS)
        self._find(self._left())

    def _keep(self) -> None:
        """Write down what tells why something was wrong."""
        told = [*self._town.record.failures]
        for match_id in self._town.record.matches:
            if any(line.startswith(match_id) for line in self.wrong):
                found: Any = self._ground.direct.xrange(keys.log(match_id))
                told += [f"{match_id} {id_!r} {commit[b'c']!r}" for id_, commit in found]
        (self._folder / "seen.log").write_text("\n".join(told))

    def _left(self) -> list[str]:
        return list(leftovers(self._ground.direct, self._town.record.matches))

    def _count(self) -> None:
        record, logs = self._town.record, self._logs.values()
        for fault in record.faults:
            waited = slowest(logs, fault, record.faults, time.time())
            if waited is not None:
                self._tell(f"after {fault.name}: bots moved on within {waited:.1f} s")
        updates = sum(len(stream.seen) for stream in record.streams)
        ran = sum(entry.expired for log in logs for entry in log.entries)
        self._tell(
            f"{len(record.faults)} faults; {len(record.matches)} matches, {len(record.replays)} "
            f"to their replays; {sum(len(log.entries) for log in logs)} versions, "
            f"{len(record.acks)} acknowledged moves, {updates} updates on {len(record.streams)} "
            f"streams; {record.asked} requests, {len(record.failures)} failures; "
            f"{ran} clocks ran out; {len(self.wrong)} wrong"
        )

    def _tell(self, line: str) -> None:
        self._say(f"{time.time() - self._began:6.1f} s  {line}")


async def run(
    folder: Path, seed: int, steps: Iterable[Step], seconds: float, say: Say, *, short: bool = False
) -> list[str]:
    """Everything that was wrong in a run, which leaves nothing behind."""
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as http:
        ground = Ground(folder, http)
        async with ground:
            town = Town(http, ground.addresses, Random(seed))
            living = Run(folder, ground, town, say, short=short)
            await living.go(steps, seconds)
    return [*living.wrong, *(f"{name} {pid} was left" for pid, name in ground.left().items())]
