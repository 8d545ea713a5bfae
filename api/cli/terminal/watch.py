"""``ringmaster watch``: follow a match to its end."""

import asyncio
from contextlib import aclosing
from functools import partial

from api.cli.terminal.client import Client, default_url
from api.cli.terminal.data import OVER, Match
from api.cli.terminal.drawing import final_text, hand_text, position_line
from api.cli.terminal.errors import Refused, Unusable
from api.cli.terminal.screen import Screen, make_console
from api.cli.terminal.session import run, say_line
from api.cli.terminal.situation import situation
from api.cli.terminal.telling import tell


def watch(match_id: str, url: str, token: str | None, *, notation: bool) -> int:
    """Follow a match as a spectator, or from the seat of a token; the exit code.

    ``notation``: a line per version, as in docs/notation.md, instead of a drawing.
    """
    return run(lambda: _watch(match_id, url, token, notation), url)


async def _watch(match_id: str, url: str, token: str | None, notation: bool) -> int:
    screen = Screen(make_console())
    async with Client(url, token, on_line=partial(say_line, screen)) as client:
        match = await _find(client, match_id)
        try:
            return await (_write if notation else _follow)(client, screen, match)
        except asyncio.CancelledError:
            screen.print_line(f"Watch on with: {_way_back(client, match_id)}")
            raise


async def _find(client: Client, match_id: str) -> Match:
    try:
        return await client.match(match_id)
    except Refused as refused:
        if refused.code != "NOT_FOUND":
            raise
        raise Unusable(
            f"There is no match {match_id} that you may see; a private one is shown to its players "
            "alone (--token)."
        ) from None


async def _follow(client: Client, screen: Screen, match: Match) -> int:
    if match["status"] in OVER:
        screen.print(final_text(match))
        return 0
    screen.print(situation(match, screen.paper))
    async with aclosing(client.updates(match["id"], match["version"])) as updates:
        async for update in updates:
            screen.print(*tell(update, match))
            match = update["match"]
            if not update["events"]:
                screen.print(situation(match, screen.paper))
            elif match["you"] and any(e["type"] == "HandsDealt" for e in update["events"]):
                screen.print(hand_text(match["you"]["hand"], screen.paper))
    return 0


async def _write(client: Client, screen: Screen, match: Match) -> int:
    screen.print_line(position_line(match))
    if match["status"] not in OVER:
        async with aclosing(client.updates(match["id"], match["version"])) as updates:
            async for update in updates:
                screen.print_line(position_line(update["match"]))
    return 0


def _way_back(client: Client, match_id: str) -> str:
    url = "" if client.url == default_url() else f" --url {client.url}"
    token = f" --token {client.token}" if client.token else ""
    return f"ringmaster watch {match_id}{url}{token}"
