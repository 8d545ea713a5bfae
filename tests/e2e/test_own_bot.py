"""`examples/bot.py` as its reader runs it: whole matches, lost connections, a server that dies."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cli.proxy import Proxy
from tests.client import Client
from tests.conftest import Stack
from tests.e2e.test_up import pid_of

ROOT = Path(__file__).parents[2]
SEATED = re.compile(r"match (\S+) code (\S+) token (\S+)")
MOVES = ("SetShown", "CardScouted")


class Bot:
    """The example as a process, seated."""

    def __init__(self, process: asyncio.subprocess.Process, match: str, code: str, token: str):
        self.process, self.match, self.code, self.token = process, match, code, token

    async def end(self) -> str:
        """What it prints about the result."""
        async with asyncio.timeout(60):
            out, errors = await self.process.communicate()
        assert self.process.returncode == 0, errors.decode()
        return out.decode()


async def run_bot(url: str, *arguments: str) -> Bot:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "examples/bot.py", "--url", url, *arguments),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    async with asyncio.timeout(20):
        seated = SEATED.match((await process.stdout.readline()).decode())
    assert seated
    return Bot(process, *seated.groups())


async def story(url: str, bot: Bot) -> list[dict[str, Any]]:
    """Every update of the bot's match."""
    async with Client(url) as client:
        client.token = bot.token
        return [update async for update in client.updates(bot.match, 0)]


async def test_the_example_plays_a_whole_match(stack):
    bot = await run_bot(stack.url, "--bots", "2", "--level", "casual", "--name", "Zoe")

    out = await bot.end()

    updates = await story(stack.url, bot)
    seats = updates[-1]["match"]["seats"]
    assert [seat["botLevel"] for seat in seats] == [None, "casual", "casual"]
    winners = updates[-1]["match"]["winners"]
    assert out.splitlines() == [
        f"seat {s['number']} {s['name']}: {s['score']} points"
        + (", won" if s["number"] in winners else "")
        for s in seats
    ]
    assert "seat 0 Zoe" in out


async def test_two_of_them_meet_by_join_code_and_come_back_by_token(stack):
    host = await run_bot(stack.url, "--bots", "1", "--open", "1")
    host.process.kill()
    guest = await run_bot(stack.url, "--code", host.code, "--name", "Second")
    again = await run_bot(stack.url, "--token", host.token, "--match", host.match)

    assert "Second" in await guest.end()
    assert "Second" in await again.end()
    assert again.match == guest.match == host.match
    await host.process.communicate()


async def test_an_illegal_move_ends_the_program_and_says_why(stack, tmp_path):
    source = (ROOT / "examples" / "bot.py").read_text()
    wrong = source.replace('"first": longest["first"]', '"first": 99')
    (tmp_path / "bot.py").write_text(wrong)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "bot.py", "--url", stack.url),
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )

    async with asyncio.timeout(20):
        _, errors = await process.communicate()

    assert process.returncode == 1
    assert errors.decode().startswith("bot: show ")
    assert "BAD_RANGE" in errors.decode()
    assert "Traceback" not in errors.decode()


async def test_it_survives_cut_connections_lost_answers_and_a_server_that_dies(stack):
    async with Proxy(stack.url, cut_after=8) as proxy:
        bot = await run_bot(proxy.url, "--bots", "2")
        await until(lambda: proxy.cuts >= 3)
        proxy.answers_to_lose = 3
        await until(lambda: proxy.answers_to_lose == 0)
        proxy.cut_after = None
        victim = pid_of_api(stack)
        assert bot.process.returncode is None  # in play
        os.kill(victim, signal.SIGKILL)

        assert "won" in await bot.end()

    assert pid_of_api(stack) != victim
    check_moves(await story(stack.url, bot))


def pid_of_api(stack: Stack) -> int:
    return pid_of(f"FOLDER={stack.folder}", "api.cli.main api")


async def until(happened: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not happened():  # noqa: ASYNC110 - the proxy only counts
            await asyncio.sleep(0.02)


def check_moves(updates: list[dict[str, Any]]) -> None:
    """No version is missing and nobody has moved twice."""
    assert [update["version"] for update in updates] == list(range(1, len(updates) + 1))
    movers: list[int] = []
    for update in updates:
        seats = [event["seat"] for event in update["events"] if event["__typename"] in MOVES]
        if any(event["__typename"] == "HandsDealt" for event in update["events"]):
            movers.clear()
        if seats:
            assert movers[-1:] != seats[:1]
            movers.append(seats[0])
    assert updates[-1]["match"]["status"] == "FINISHED"
