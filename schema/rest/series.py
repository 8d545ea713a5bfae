"""A series as REST shows it."""

from datetime import datetime
from typing import Self

from engine.series import Result, SeriesStatus, Spec
from engine.standings import Sums
from schema import series
from schema.rest.base import Model
from schema.rest.match import PageInfo
from schema.types import at


class Interval(Model, mirrors=series.Interval):
    low: float
    high: float


class SeriesLine(Model, mirrors=series.SeriesLine):
    entry: int
    level: str
    played: int
    wins: float
    win_share: float | None
    win_share_interval: Interval | None
    points_per_round: float | None
    difference_per_round: float | None
    difference_interval: Interval | None


class SeriesMatch(Model, mirrors=series.SeriesMatch):
    number: int
    deal: int
    seating: list[int]
    rounds: list[list[int]]
    totals: list[int]
    winners: list[int]


class SeriesMatchEdge(Model, mirrors=series.SeriesMatchEdge):
    cursor: str
    node: SeriesMatch


class SeriesMatchConnection(Model, mirrors=series.SeriesMatchConnection):
    edges: list[SeriesMatchEdge]
    page_info: PageInfo


class Series(
    Model,
    mirrors=series.Series,
    leaves_out=("spec", "sums", "created_ms", "page", "match_results"),
):
    id: str
    status: SeriesStatus
    version: int
    seats: list[str]
    matches: int
    rotate: bool
    duplicate_deals: bool
    replays: bool
    played: int
    created_at: datetime
    results: list[SeriesLine]

    @classmethod
    def of(  # noqa: PLR0917 - the parts of a standing
        cls, id_: str, spec: Spec, sums: Sums, status: SeriesStatus, version: int, created_ms: int
    ) -> Self:
        """A series as of a version."""
        return cls(
            id=id_,
            status=status,
            version=version,
            seats=list(spec.entries),
            matches=spec.matches,
            rotate=spec.rotate,
            duplicate_deals=spec.per_deal > 1,
            replays=spec.replays,
            played=sums.matches,
            created_at=at(created_ms),
            results=[SeriesLine.model_validate(line) for line in series.lines_of(sums, spec)],
        )


class SeriesUpdate(Model, mirrors=series.SeriesUpdate):
    version: int
    at: datetime
    results: list[SeriesMatch]
    series: Series


def matches_of(results: tuple[Result, ...]) -> list[SeriesMatch]:
    """Results as REST shows them."""
    return [SeriesMatch.model_validate(match) for match in series.matches_of(results)]
