"""A series as its creator sees it."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

import strawberry
from strawberry import Private, field

from engine.series import Result, SeriesStatus, Spec
from engine.standings import Interval as EngineInterval
from engine.standings import Line, Sums, table
from schema import enums  # noqa: F401 - registers the enums that the types below use
from schema.cost import LOADED, SEATS, paged, sized, weighs
from schema.pages import PAGE_LIMIT
from schema.types import Node, PageInfo, at


@strawberry.type(description="An interval of 95 %, clustered by deal (docs/series.md).")
class Interval:
    low: float
    high: float


@strawberry.type(description="How one of `seats` has done so far, wherever it sat.")
class SeriesLine:
    entry: int = field(description="Its place in `seats`, from 0.")
    level: str
    played: int = field(description="Matches counted.")
    wins: float = field(description="A win shared by two counts half for each, and so on.")
    win_share: float | None = field(description="wins / played")
    win_share_interval: Interval | None = field(description="Null before the second deal.")
    points_per_round: float | None = field(description="Mean points per round.")
    difference_per_round: float | None = field(
        description="Points per round more than the mean of the others in the same match."
    )
    difference_interval: Interval | None = field(description="Null before the second deal.")


@strawberry.type(description="A match of a series.")
class SeriesMatch:
    number: int = field(description="From 1; in which order they end is another matter.")
    deal: int = field(description="From 1; matches of one deal are dealt the same cards.")
    seating: list[int] = field(description="By seat, the entry of `seats` that sat there.")
    rounds: list[list[int]] = field(
        description="By round and seat, the points.", directives=weighs(4)
    )
    totals: list[int] = field(description="By seat, the points over all rounds.")
    winners: list[int] = field(description="The seats that share the highest total.")


@strawberry.type(description="A match in a page.")
class SeriesMatchEdge:
    cursor: str
    node: SeriesMatch


@strawberry.type(description="A page of the matches of a series.")
class SeriesMatchConnection:
    edges: list[SeriesMatchEdge]
    page_info: PageInfo


Page = Callable[[int | None, str | None], Awaitable[SeriesMatchConnection]]


@strawberry.type(description="Many matches between bots of the same levels, as of a version.")
class Series(Node):
    spec: Private[Spec]
    sums: Private[Sums]
    created_ms: Private[int]
    page: Private[Page]
    status: SeriesStatus
    version: int = field(description="The cursor of `seriesUpdates`: 1, and 1 more each match.")

    @field(description="The levels that play.")
    def seats(self) -> list[str]:
        return list(self.spec.entries)

    @field(description="Matches asked for.")
    def matches(self) -> int:
        return self.spec.matches

    @field(description="Each match shifts the levels by one seat.")
    def rotate(self) -> bool:
        return self.spec.rotate

    @field(description="Each deal is played in every rotation.")
    def duplicate_deals(self) -> bool:
        return self.spec.per_deal > 1

    @field(description="The replays of all matches are kept for `seriesReplay`.")
    def replays(self) -> bool:
        return self.spec.replays

    @field(description="Matches counted so far.")
    def played(self) -> int:
        return self.sums.matches

    @field
    def created_at(self) -> datetime:
        return at(self.created_ms)

    @field(
        description="The table: a line per entry of `seats`, in their order.",
        directives=sized(SEATS, 25),
    )
    def results(self) -> list[SeriesLine]:
        return lines_of(self.sums, self.spec)

    @field(
        description="Single matches, in the order in which they were counted.",
        directives=paged(["edges"], LOADED),
    )
    async def match_results(
        self, first: int | None = 20, after: str | None = None
    ) -> SeriesMatchConnection:
        return await self.page(first, after)


@strawberry.type(description="What happened in a series since the update before.")
class SeriesUpdate:
    version: int = field(description="The cursor to resume from, with `after`.")
    at: datetime = field(description="When the last of it happened.")
    results: list[SeriesMatch] = field(
        description="Every match counted since the update before; none in a first update of state.",
        directives=sized(PAGE_LIMIT),
    )
    series: Series = field(description="The series right after it.")


def matches_of(results: Sequence[Result]) -> list[SeriesMatch]:
    """Results as clients see them."""
    return [
        SeriesMatch(
            number=result.number,
            deal=result.deal,
            seating=list(result.seating),
            rounds=[list(points) for points in result.rounds],
            totals=list(result.totals),
            winners=list(result.winners),
        )
        for result in results
    ]


def lines_of(sums: Sums, spec: Spec) -> list[SeriesLine]:
    """The table of a series, a line per entry."""
    return [_line(line, spec) for line in table(sums, spec.players)]


def _line(line: Line, spec: Spec) -> SeriesLine:
    return SeriesLine(
        entry=line.entry,
        level=spec.entries[line.entry],
        played=line.played,
        wins=line.wins,
        win_share=line.win_share,
        win_share_interval=_interval(line.win_share_interval),
        points_per_round=line.points,
        difference_per_round=line.difference,
        difference_interval=_interval(line.difference_interval),
    )


def _interval(interval: EngineInterval | None) -> Interval | None:
    return None if interval is None else Interval(low=interval.low, high=interval.high)
