"""What tests of the terminal front end share: real matches, and the commands as processes."""

import asyncio
import io
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

import pytest
from rich.console import Console, RenderableType

from api.cli.terminal.client import Client
from api.cli.terminal.data import Match, Update
from api.cli.terminal.moves import Move, sensible_move

COMMAND = (sys.executable, "-m", "api.cli.main")
SECONDS = 40


def render(what: RenderableType, width: int = 80, *, colour: bool = False) -> str:
    """What a console prints, with escape sequences only if ``colour``."""
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        highlight=False,
        markup=False,
        emoji=False,
        _environ={},
    )
    console.print(what)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@dataclass
class Story:
    """A whole match as the player on seat 0 saw it, and the moves of that player."""

    start: Match
    updates: list[Update] = field(default_factory=list)
    moves: list[tuple[Match, Move]] = field(default_factory=list)

    def first(self, wanted: Callable[[Match], bool]) -> Match:
        return next(match for match in (u["match"] for u in self.updates) if wanted(match))

    @property
    def choosing(self) -> Match:
        return self.start

    @property
    def my_turn(self) -> Match:
        """A turn of the player's with a set on the table to scout from or to beat."""
        return self.first(lambda m: bool(m["you"] and m["you"]["legal"]["scout"]))

    @property
    def end(self) -> Match:
        return self.updates[-1]["match"]


async def take_part(client: Client, players: int = 3, *, public: bool = False) -> Match:
    """Sign in and open a match against bots."""
    await client.sign_in("Ann")
    bots = [{"kind": "BOT", "botLevel": "casual"}] * (players - 1)
    return await client.create([{"kind": "PLAYER"}, *bots], "PUBLIC" if public else "PRIVATE")


async def play_out(client: Client, match: Match, follower: Client | None = None) -> Story:
    """Play a match to its end, deciding on what ``follower`` sees."""
    story, seen, done = Story(match), match, 0
    async with aclosing((follower or client).updates(match["id"], match["version"])) as updates:
        while True:
            move = sensible_move(seen) if seen["version"] >= done else None
            if move is not None:
                story.moves.append((seen, move))
                done = (await client.play(match["id"], move))["version"]
            update = await anext(updates, None)
            if update is None:
                return story
            story.updates.append(update)
            seen = update["match"]


@pytest.fixture(scope="session")
async def story(stack) -> Story:
    async with Client(stack.url) as client, asyncio.timeout(SECONDS):
        return await play_out(client, await take_part(client))


@pytest.fixture
async def client(stack) -> AsyncIterator[Client]:
    """The front end's own client at the real stack, not signed in."""
    async with Client(stack.url) as client:
        yield client


@dataclass
class Ended:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


async def ringmaster(*arguments: str, input_: str = "", **env: str) -> Ended:
    """Run a command with ``input_`` in a pipe, to its end."""
    process = await start(*arguments, **env)
    async with asyncio.timeout(SECONDS):
        out, err = await process.communicate(input_.encode())
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())


async def start(*arguments: str, **env: str) -> asyncio.subprocess.Process:
    """Start a command with pipes."""
    return await asyncio.create_subprocess_exec(
        *COMMAND,
        *arguments,
        env={**os.environ, "COLUMNS": "200", **env},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
