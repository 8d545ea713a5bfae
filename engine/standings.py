"""The table of a series: sums that a result is added to, and what follows from them.

All sums are whole numbers, so that the order in which results come in changes nothing. Matches of
one deal hang together; the intervals count deals, not matches (docs/series.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

from engine.cards import ROUNDS
from engine.series import Result

WIN: Final = 60  # a win in whole numbers, however many share it
QUANTITIES: Final = 3  # per entry: wins, points, difference to the others


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over deals g with m matches, and per quantity x over the same: x, x squared, x times m.

    ``of`` has the three sums of every quantity of every entry, one after the other; x is a deal's
    own sum over its matches.
    """

    matches: int = 0
    deals: int = 0
    squares: int = 0
    of: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval that holds the true mean in 95 of 100 series."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Line:
    """One entry's line of the table; means are None before the first match, intervals before
    the second deal. ``difference`` is to the mean of the others, in points per round.
    """

    entry: int
    played: int
    wins: float
    win_share: float | None
    win_share_interval: Interval | None
    points: float | None
    difference: float | None
    difference_interval: Interval | None


def none_yet(players: int) -> Sums:
    """The sums of no match."""
    return Sums(of=(0,) * (players * QUANTITIES * 3))


def quantities(result: Result) -> tuple[int, ...]:
    """What a match adds, by entry: wins in sixtieths, points, and points times the seats minus
    the points of all, which is the difference to the mean of the others times the others.
    """
    players, points = len(result.totals), sum(result.totals)
    found = []
    for entry in range(players):
        seat = result.seating.index(entry)
        won = WIN // len(result.winners) if seat in result.winners else 0
        total = result.totals[seat]
        found += [won, total, players * total - points]
    return tuple(found)


def add(sums: Sums, deal: Sequence[int], values: Sequence[int]) -> tuple[Sums, tuple[int, ...]]:
    """The sums with one more match, and its deal's own sums: matches, then every quantity.

    ``deal`` is empty for the first match of a deal. ``api/store/series_count.lua`` does the same.
    """
    m, *before = deal or (0,) * (1 + len(values))
    of = list(sums.of)
    for i, value in enumerate(values):
        x = before[i]
        of[3 * i] += value
        of[3 * i + 1] += (x + value) ** 2 - x**2
        of[3 * i + 2] += (x + value) * (m + 1) - x * m
        before[i] = x + value
    new = Sums(
        sums.matches + 1, sums.deals + (m == 0), sums.squares + (m + 1) ** 2 - m**2, tuple(of)
    )
    return new, (m + 1, *before)


def table(sums: Sums, players: int) -> list[Line]:
    """A line per entry, in the order of the entries."""
    return [_line(sums, players, entry) for entry in range(players)]


def _line(sums: Sums, players: int, entry: int) -> Line:
    first = entry * QUANTITIES
    wins, points, difference = (_Mean(sums, first + i) for i in range(QUANTITIES))
    rounds = ROUNDS[players]
    return Line(
        entry=entry,
        played=sums.matches,
        wins=wins.sum / WIN,
        win_share=wins.value(WIN),
        win_share_interval=wins.interval(WIN),
        points=points.value(rounds),
        difference=difference.value(rounds * (players - 1)),
        difference_interval=difference.interval(rounds * (players - 1)),
    )


class _Mean:
    """A mean per match as a ratio of sums over deals, each deal one draw (linearised variance)."""

    def __init__(self, sums: Sums, quantity: int) -> None:
        self.sum, self._xx, self._xm = sums.of[3 * quantity : 3 * quantity + 3]
        self._sums = sums

    def value(self, unit: int) -> float | None:
        """The mean in units, None without a match."""
        return self.sum / self._sums.matches / unit if self._sums.matches else None

    def interval(self, unit: int) -> Interval | None:
        """The interval in units, None without a second deal."""
        matches, deals = self._sums.matches, self._sums.deals
        if deals < 2:
            return None
        # The sum of (x - mean * m) squared over the deals, times matches squared: whole numbers.
        spread = (
            self._xx * matches**2
            - 2 * self.sum * self._xm * matches
            + self.sum**2 * self._sums.squares
        )
        error = sqrt(spread * deals / (deals - 1)) / matches**2
        mean, half = self.sum / matches, _student(deals - 1) * error
        return Interval((mean - half) / unit, (mean + half) / unit)


_Z: Final = 1.959963984540054
_FEW: Final = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622)


def _student(freedom: int) -> float:
    """The 97.5 % point of Student's distribution, to three digits."""
    if freedom <= len(_FEW):
        return _FEW[freedom - 1]
    z, n = _Z, freedom
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    )
