"""``ringmaster play``: take a seat and play it."""

import asyncio
import contextlib
import sys
from functools import partial

from rich.text import Text

from api.cli.terminal.client import Client
from api.cli.terminal.data import Match
from api.cli.terminal.editor import LineEditor
from api.cli.terminal.game import INPUT_ENDED, Game
from api.cli.terminal.keyboard import Lines, standard_input
from api.cli.terminal.screen import Screen, can_edit, is_terminal, make_console
from api.cli.terminal.seating import Wish, check, take_seat, way_back
from api.cli.terminal.session import run, say_line


def play(wish: Wish) -> int:
    """Play as the command line wishes; the exit code."""
    return run(lambda: _play(wish), wish.url)


async def _play(wish: Wish) -> int:
    check(wish)
    console = make_console()
    editor = LineEditor() if can_edit(console) and not wish.auto else None
    screen = Screen(console, editor)
    async with Client(wish.url, wish.token, on_line=partial(say_line, screen)) as client:
        match = await take_seat(client, wish)
        try:
            return await _play_out(client, screen, match, _lines(screen, editor, wish))
        except asyncio.CancelledError:
            _tell_way_back(client, screen, match)
            raise


def _lines(screen: Screen, editor: LineEditor | None, wish: Wish) -> Lines | None:
    if wish.auto:
        return None
    return Lines(standard_input(), editor, screen.redraw)


async def _play_out(client: Client, screen: Screen, match: Match, lines: Lines | None) -> int:
    _tell_way_back(client, screen, match)
    if lines is not None:
        screen.print(Text("`help` lists the commands.", "dim"))
    game = Game(client, screen, match, lines, person=is_terminal(sys.stdin))
    with lines.open() if lines is not None else contextlib.nullcontext():
        code = await game.run()
    if code == INPUT_ENDED:
        _tell_way_back(client, screen, match)
    return code


def _tell_way_back(client: Client, screen: Screen, match: Match) -> None:
    screen.prompt("")
    screen.print_line(f"Come back with: {way_back(client, match)}")
