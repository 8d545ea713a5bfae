"""A seat that a bot plays for its player is taken again: by coming back, or by `--auto`."""

import asyncio
import io
from collections.abc import AsyncGenerator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from rich.console import Console

from api.cli.terminal.client import Client
from api.cli.terminal.data import Match, Update
from api.cli.terminal.game import PLAYED_OUT, Game
from api.cli.terminal.moves import Move
from api.cli.terminal.prompt import Word, parse
from api.cli.terminal.screen import Screen
from api.cli.terminal.seating import Wish, take_seat
from tests.cli.conftest import Story


@dataclass
class Server:
    """What a client tells of a match whose end follows the player's return."""

    state: Match
    end: Match
    asked: list[str] = field(default_factory=list)
    returned: asyncio.Event = field(default_factory=asyncio.Event)

    async def match(self, match_id: str) -> Match:
        assert match_id == self.state["id"]
        return self.state

    async def come_back(self, match_id: str) -> Match:
        self.asked.append(f"return to {match_id}")
        self.state = deepcopy(self.state)
        self.state["seats"][0]["away"] = False
        self.returned.set()
        return self.state

    async def play(self, _: str, move: Move) -> Match:
        raise AssertionError(f"played {move}")

    async def updates(self, _: str, __: int) -> AsyncGenerator[Update, None]:
        await self.returned.wait()
        events: Any = [{"type": "PlayerReturned", "seat": 0}]
        yield {"version": self.end["version"], "events": events, "match": self.end}


@pytest.fixture
def server(story: Story) -> Server:
    away = deepcopy(story.my_turn)
    away["seats"][0]["away"] = True
    return Server(away, story.end)


async def test_whoever_comes_back_to_a_seat_has_it_again(server: Server):
    wish = Wish("http://127.0.0.1", token="t", match=server.state["id"])

    taken = await take_seat(cast("Client", server), wish)

    assert not taken["seats"][0]["away"]
    assert server.asked == [f"return to {taken['id']}"]
    assert await take_seat(cast("Client", server), wish) == taken
    assert len(server.asked) == 1


async def test_a_seat_that_plays_by_itself_returns_by_itself(server: Server):
    console = Console(file=io.StringIO(), width=80, _environ={})
    game = Game(cast("Client", server), Screen(console), server.state, None, person=False)

    async with asyncio.timeout(5):
        assert await game.run() == PLAYED_OUT
    assert server.asked == [f"return to {server.state['id']}"]


def test_back_is_a_command():
    assert parse("back") is Word.BACK
