"""How things stand, put together for the moments at which a player looks up."""

from datetime import UTC, datetime

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from api.cli.terminal.data import Match
from api.cli.terminal.drawing import (
    Paper,
    choice_text,
    hand_text,
    round_heading,
    seats_table,
    table_text,
)
from api.cli.terminal.prompt import HELP, NUMBERING


def situation(match: Match, paper: Paper) -> RenderableType:
    """What the viewer needs to see now: the seats in the lobby, else table, seats and hand."""
    you = match["you"]
    if match["status"] == "LOBBY":
        return Group(Text(), lobby_text(match), Text(), seats_table(match))
    if you and you["legal"]["flip"]:
        return Group(Text(), choice_text(you["hand"], paper))
    parts: list[RenderableType] = [Text(), board(match, paper)]
    if you:
        parts += [Text(), hand_text(you["hand"], paper)]
    return Group(*parts)


def board(match: Match, paper: Paper) -> RenderableType:
    """The table and the seats."""
    heading = round_heading(match)
    time = _time_left(match)
    if time:
        heading.append(f", {time}", "not bold")
    return Group(heading, table_text(match, paper), seats_table(match))


def lobby_text(match: Match) -> Text:
    """Who is waited for, and how others come in."""
    missing = sum(seat["kind"] == "OPEN" for seat in match["seats"])
    text = Text(f"Waiting for {missing} more {'player' if missing == 1 else 'players'}.")
    if match["joinCode"]:
        code = match["joinCode"]
        text.append(" Join code: ").append(code, "bold")
        text.append(f"\nOthers enter with: ringmaster play --join {code}")
        text.append("\n`start` lets bots take the open seats.", "dim")
    return text


def help_text() -> RenderableType:
    """Every command with an example."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(style="cyan", min_width=18)
    table.add_column()
    for form, meaning in HELP:
        table.add_row(form, meaning)
    return Group(table, Text(NUMBERING))


def _time_left(match: Match) -> str:
    deadline = match["round"]["deadline"] if match["round"] else None
    if deadline is None:
        return ""
    left = datetime.fromisoformat(deadline) - datetime.now(UTC)
    return f"{max(0, round(left.total_seconds()))} s left for this turn"
