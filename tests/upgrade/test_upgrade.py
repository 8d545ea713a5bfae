"""Processes of two releases side by side: each is exchanged for its successor while people play.

``ringmaster-0.1.0.tar.xz`` holds the packages of the release before.
"""

import asyncio
import signal
import tarfile
import time
from pathlib import Path
from random import Random
from typing import Final

import aiohttp
import pytest

from api.store import keys
from tests.chaos.ground import Ground, Process, until
from tests.chaos.judging import judge
from tests.chaos.people import Guest, Town
from tests.chaos.records import read_log
from tests.chaos.tables import OPEN, PLAYER, bots

ROOT: Final = Path(__file__).parents[2]
BEFORE: Final = Path(__file__).parent / "ringmaster-0.1.0.tar.xz"
MATCHES: Final = 6
SECONDS: Final = 60.0  # for what is waited for


async def sit_down(town: Town, number: int) -> tuple[str, list[Guest]]:
    """A match of two people, by GraphQL and by REST, and two bots."""
    guests = [town.guest(rest=rest, keyed=True) for rest in (False, True)]
    for guest in guests:
        await guest.sign_in()
    opening = {"seats": [PLAYER, OPEN, *bots(2, "regular")], "visibility": "PUBLIC"}
    match_id = (await guests[0].surely("createMatch", opening, f"open-{number}"))["id"]
    joining = {"matchId": match_id, "name": "P"}
    await guests[1].surely("joinMatch", joining, f"join-{number}")
    town.record.matches.append(match_id)
    town.record.keyed |= {(match_id, 0), (match_id, 1)}
    return match_id, guests


async def exchange(process: Process) -> None:
    """Stop a process politely and start the one of this release in its place."""
    await process.end(signal.SIGTERM)
    process.env["PYTHONPATH"] = str(ROOT)
    await process.again()


def progress(ground: Ground, matches: list[str]) -> int:
    return sum(len(read_log(ground.direct, match_id).entries) for match_id in matches)


async def move_on(ground: Ground, matches: list[str]) -> None:
    """Let all of them together get some commits further, or to their ends."""
    before = progress(ground, matches)
    await until(lambda: progress(ground, matches) >= before + 2 * MATCHES, SECONDS)


@pytest.mark.timeout(180)
async def test_nothing_is_lost_or_doubled_while_a_release_takes_over_from_the_one_before(tmp_path):
    with tarfile.open(BEFORE) as packed:
        packed.extractall(tmp_path / "before", filter="data")
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as http:
        path = f"{tmp_path / 'before'}:{ROOT}"
        async with Ground(tmp_path, http, house=1, PYTHONPATH=path) as ground:
            town = Town(http, ground.addresses, Random(1), thought=1.0)
            tables = await asyncio.gather(*(sit_down(town, n) for n in range(MATCHES)))
            matches = [match_id for match_id, _ in tables]
            playing = [
                asyncio.create_task(guest.follow(match_id, plays=True))
                for match_id, guests in tables
                for guest in guests
            ]
            assert not ground.direct.exists(keys.PROCESSES)  # 0.1.0 knows of no such list
            for process in (*ground.sweepers, *ground.workers, *ground.apis):
                await exchange(process)
                await move_on(ground, matches)
            await until(lambda: ground.direct.hlen(keys.PROCESSES) == 4, SECONDS)
            for task in playing:
                task.cancel()
            ended = await asyncio.gather(*playing, return_exceptions=True)
            logs = {match_id: read_log(ground.direct, match_id) for match_id in matches}
            output = "".join(log.read_text() for log in tmp_path.glob("*.log"))

    assert {type(one) for one in ended} <= {asyncio.CancelledError, type(None)}, ended
    assert judge(town.record, logs, time.time()) == []
    assert "Traceback" not in output
    assert "cannot be read" not in output
