"""The list of legal moves: shows line by line, scouts as a grid, all numbered."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from api.cli.terminal.data import Card, Match
from api.cli.terminal.drawing import Paper, tops
from api.cli.terminal.moves import (
    ChooseHand,
    Move,
    Scout,
    ScoutAndShow,
    Show,
    legal_moves,
    scouted_card,
)

LABEL_WIDTH = 17
CELL_WIDTH = 4


def moves_list(match: Match, paper: Paper) -> tuple[RenderableType, list[Move]]:
    """What the viewer may do, to print and by number from 1."""
    you = match["you"]
    moves = legal_moves(you["legal"]) if you else []
    if you is None or not moves:
        return Text("There is nothing you can do now."), []
    hand = you["hand"]
    lines: list[RenderableType] = [
        _line(number, move, hand)
        for number, move in enumerate(moves, 1)
        if isinstance(move, Show | ChooseHand)
    ]
    scouts = [(n, move) for n, move in enumerate(moves, 1) if isinstance(move, Scout)]
    if scouts:
        lines += _grids(match, scouts, paper)
    if you["legal"]["scoutAndShowAvailable"]:
        lines.append(
            Text(
                "Scout & Show is possible as well; `moves left 4` or `moves right 0 flip` lists "
                "those that begin with that scout."
            )
        )
    lines.append(Text("Enter a number, or the command itself.", "dim"))
    return Group(*lines), moves


def scout_and_shows_list(
    match: Match, scout: Scout, shows: Sequence[Show]
) -> tuple[RenderableType, list[Move]]:
    """The Scout & Shows that begin with a scout, to print and by number from 1."""
    card, you = scouted_card(match, scout), match["you"]
    if not shows or card is None or you is None:
        return Text(f"No Scout & Show can begin with `{scout}` now."), []
    hand = [*you["hand"][: scout.insert_at], card, *you["hand"][scout.insert_at :]]
    moves: list[Move] = [ScoutAndShow(scout, show) for show in shows]
    return Group(*(_line(n, move, hand) for n, move in enumerate(moves, 1))), moves


def _line(number: int, move: Move, hand: Sequence[Card]) -> Text:
    line = Text.assemble((f"{number:>3}", "cyan"), f"  {move}")
    show = move.show if isinstance(move, ScoutAndShow) else move
    if isinstance(show, Show):
        shown = tops(hand[show.first : show.first + show.count])
        line.append(":  ").append(shown, "bold")
    return line


def _grids(match: Match, scouts: Sequence[tuple[int, Scout]], paper: Paper) -> list[RenderableType]:
    """One row per end and way up, one column per gap, as many grids as the width asks for."""
    by_row: dict[tuple[str, bool], list[tuple[int, Scout]]] = {}
    for number, scout in scouts:
        by_row.setdefault((scout.end, scout.flip), []).append((number, scout))
    gaps = len(next(iter(by_row.values())))
    per_grid = max(1, (paper.width - LABEL_WIDTH) // CELL_WIDTH)
    return [
        _grid(match, [row[start : start + per_grid] for row in by_row.values()])
        for start in range(0, gaps, per_grid)
    ]


def _grid(match: Match, rows: Sequence[Sequence[tuple[int, Scout]]]) -> Table:
    grid = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    grid.add_column("scout to gap", min_width=LABEL_WIDTH - 1)
    for _, scout in rows[0]:
        grid.add_column(str(scout.insert_at), justify="right", style="cyan", min_width=3)
    for row in rows:
        scout = row[0][1]
        card = scouted_card(match, scout)
        label = Text(f" {scout.end.lower()}{' flip' if scout.flip else ''}")
        if card is not None:
            label.append(":").append(f" {card['top']}", "bold").append(f"/{card['bottom']}", "dim")
        grid.add_row(label, *(str(number) for number, _ in row))
    return grid
