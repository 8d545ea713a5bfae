"""A figure, and the one table that all of them stand in."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from rich.table import Table


@dataclass(frozen=True)
class Figure:
    """What was measured, the median of its runs.

    ``ratio`` is the figure by that of ``of``, from the same run. ``target`` and ``moonshot`` are
    for the ratio if ``judge_ratio``, else for the figure.
    """

    what: str
    value: float
    unit: str
    runs: tuple[float, ...] = ()
    ratio: float | None = None
    of: str = ""
    target: float | None = None
    moonshot: float | None = None
    judge_ratio: bool = False
    at_least: bool = False
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None: there is none."""
        judged = self.ratio if self.judge_ratio else self.value
        if self.target is None or judged is None:
            return None
        return judged >= self.target if self.at_least else judged <= self.target


def middle(what: str, runs: Iterable[float], unit: str, **more: Any) -> Figure:
    """The median of several runs as a figure."""
    found = tuple(runs)
    return Figure(what, median(found), unit, found, **more)


def table(parts: dict[str, list[Figure]]) -> Table:
    """All figures, part by part."""
    shown = Table("what", "figure", "runs", "ratio", "target", "moonshot", show_lines=False)
    for part, figures in parts.items():
        shown.add_section()
        shown.add_row(f"[bold]{part}[/]")
        for figure in figures:
            shown.add_row(*_cells(figure))
    return shown


def _cells(figure: Figure) -> tuple[str, ...]:
    colour = {None: "", True: "[green]", False: "[red]"}[figure.met]
    runs = f"{number(min(figure.runs))} .. {number(max(figure.runs))}" if figure.runs else ""
    ratio = "" if figure.ratio is None else f"{number(figure.ratio)} x {figure.of}"
    what = f"{figure.what}\n  [dim]{figure.note}[/]" if figure.note else figure.what
    value = f"{number(figure.value)} {figure.unit}".strip()
    if figure.judge_ratio:
        ratio = colour + ratio
    else:
        value = colour + value
    return what, value, runs, ratio, _limit(figure, figure.target), _limit(figure, figure.moonshot)


def _limit(figure: Figure, limit: float | None) -> str:
    if limit is None:
        return ""
    sign, unit = (">=" if figure.at_least else "<="), ("x" if figure.judge_ratio else figure.unit)
    return f"{sign} {number(limit)} {unit}"


def number(value: float) -> str:
    """Three digits that count, and no exponent."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def plain(parts: dict[str, list[Figure]]) -> list[dict[str, Any]]:
    """All figures as JSON."""
    return [
        {"part": part, **asdict(figure), "met": figure.met}
        for part, figures in parts.items()
        for figure in figures
    ]
