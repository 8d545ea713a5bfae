"""A process of its own full of people who play: ``python -m tests.bench.crowd WAY URL...``.

It is told what to do by lines on its standard input, and answers each with a line of JSON:

    seat N [PEOPLE]   let N matches of four be open in all, everybody following, all hands chosen
    open N [PEOPLE]   let N matches of four be open in all that nobody follows
    play [RATE]       play on, so many moves a second in all, or as fast as it goes
    pause             make no new moves
    count             what was done since the last time: moves, latencies in ms, matches finished
    renew             from now on, let people be new guests at every match
    leave             give up all matches, close all connections but those of the people
"""

import asyncio
import gc
import json
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any

from tests.bench.people import SEATS, WAYS, Json, Person, Sitting, choice

AT_ONCE = 16  # matches being seated
LATE = 64  # versions of a match whose time of sending is remembered


class Pace:
    """When the next move may be made, over all matches."""

    def __init__(self) -> None:
        self._allowed = asyncio.Event()
        self._gap, self._next = 0.0, 0.0

    def play(self, rate: float | None = None) -> None:
        self._gap, self._next = (1 / rate if rate else 0.0), time.monotonic()
        self._allowed.set()

    def pause(self) -> None:
        self._allowed.clear()

    async def turn(self) -> None:
        """Return when it is this move's time; those who ask earlier go earlier."""
        await self._allowed.wait()
        if self._gap:
            now = time.monotonic()
            at = max(now, self._next)
            self._next = at + self._gap
            await asyncio.sleep(at - now)
            await self._allowed.wait()


@dataclass
class Tally:
    """What the crowd has done since it was last asked."""

    moves: int = 0
    latencies: list[float] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)

    def take(self) -> Json:
        told = {"moves": self.moves, "latencies": self.latencies, "finished": self.finished}
        self.moves, self.latencies, self.finished = 0, [], []
        return told


class Seated:
    """Four people at one match after another, all of them following it."""

    def __init__(self, people: list[Person], pace: Pace, tally: Tally) -> None:
        self.people, self.pace, self.tally = people, pace, tally
        self.ready = asyncio.Event()  # the hands of the first match are chosen
        self.renew = False  # sign in anew for every match
        self._sent: dict[int, tuple[float, int]] = {}  # version to come -> when, by which seat

    async def run(self) -> None:
        while True:
            if self.renew:
                for person in self.people:
                    await person.sign_in()
            match_id = await opened(self.people)
            self._sent = {}
            async with asyncio.TaskGroup() as seats:
                for number, person in enumerate(self.people):
                    seats.create_task(self._seat(number, person.sit(match_id)))
            self.tally.finished.append(match_id)

    async def _seat(self, number: int, sitting: Sitting) -> None:
        acted = 0
        async with sitting:
            async for at, update in sitting.updates():
                self._arrived(number, at, update["version"])
                match = update["match"]
                if match["status"] == "FINISHED":
                    return
                if match["status"] == "PLAYING":
                    self.ready.set()
                if match["you"] is None or match["version"] < acted:
                    continue  # nobody is dealt cards yet, or it is from before our own move
                found = choice(match["you"]["legal"])
                if found is not None:
                    acted = await self._move(number, sitting, match, *found)
        raise AssertionError(f"a stream ended before its match: {sitting.last_words}")

    async def _move(
        self, number: int, sitting: Sitting, match: Json, name: str, arguments: Json
    ) -> int:
        if name != "chooseHand" or self.ready.is_set():
            await self.pace.turn()
        if name != "chooseHand":  # then all four act at once, and no version is foretold
            self._sent[match["version"] + 1] = time.perf_counter(), number
            self._sent.pop(match["version"] - LATE, None)
        version = await sitting.move(match["id"], name, arguments)
        self.tally.moves += 1
        return version

    def _arrived(self, number: int, at: float, version: int) -> None:
        sent = self._sent.get(version)
        if sent is not None and sent[1] != number:
            self.tally.latencies.append((at - sent[0]) * 1000)


async def opened(people: list[Person]) -> str:
    """A new match that all of these have joined."""
    match_id = await people[0].create()
    for person in people[1:]:
        await person.join(match_id)
    return match_id


class Crowd:
    """Everybody in this process."""

    def __init__(self, way: str, urls: list[str]) -> None:
        self.way, self.urls = WAYS[way], urls
        self.pace, self.tally = Pace(), Tally()
        self.people: list[Person] = []
        self.tables: list[tuple[Seated, asyncio.Task[None]]] = []
        self.unfollowed: list[str] = []
        self.renew = False

    async def _fours(self, number: int, people: int) -> list[list[Person]]:
        """So many tables' people: of some hundred people, each sits at several if need be."""
        wanted = min(number * SEATS, people)
        for url in islice(cycle(self.urls), len(self.people), wanted):
            self.people.append(self.way(url))
            await self.people[-1].sign_in()
        sitting = cycle(self.people)
        return [list(islice(sitting, SEATS)) for _ in range(number)]

    async def seat(self, number: int, people: int = 200) -> None:
        fours = deque(await self._fours(number, people))
        for _ in self.tables:
            fours.popleft()
        at_once = asyncio.Semaphore(AT_ONCE)

        async def sit(four: list[Person]) -> None:
            async with at_once:
                table = Seated(four, self.pace, self.tally)
                table.renew = self.renew
                task = asyncio.create_task(table.run())
                self.tables.append((table, task))
                ready = asyncio.create_task(table.ready.wait())
                await asyncio.wait((ready, task), return_when=asyncio.FIRST_COMPLETED)
                if task.done():
                    await task  # raises what went wrong

        await asyncio.gather(*map(sit, fours))
        self.tally.take()

    async def open(self, number: int, people: int = 200) -> None:
        fours = (await self._fours(number, people))[len(self.unfollowed) :]
        for start in range(0, len(fours), AT_ONCE):
            batch = fours[start : start + AT_ONCE]
            self.unfollowed += await asyncio.gather(*map(opened, batch))

    async def leave(self) -> None:
        tasks = [task for _, task in self.tables]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.tables = []
        self.tally.take()

    def count(self) -> Json:
        for _, task in self.tables:
            if task.done():
                task.result()  # raises what went wrong
        return self.tally.take()

    async def do(self, word: str, *numbers: float) -> Json:
        if word in {"seat", "open"}:
            await getattr(self, word)(*map(int, numbers))
        elif word == "play":
            self.pace.play(*numbers)
        elif word == "pause":
            self.pace.pause()
        elif word == "renew":
            self.renew = True
        elif word == "count":
            return self.count()
        else:
            await self.leave()
        return {}


async def main(way: str, urls: list[str]) -> None:
    gc.disable()  # its pauses would be told as the server's; few cycles are made in a few minutes
    crowd = Crowd(way, urls)
    _say({"ready": True})
    while line := await asyncio.to_thread(sys.stdin.readline):
        word, *numbers = line.split()
        _say(await crowd.do(word, *map(float, numbers)))
    await crowd.leave()
    for person in crowd.people:
        await person.close()


def _say(answer: Any) -> None:
    print(json.dumps(answer), flush=True)  # noqa: T201 - whoever started this reads it


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
