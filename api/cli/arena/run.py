"""Plays contests on all cores with a progress bar, and prints a line for each."""

import sys
from collections import defaultdict
from collections.abc import Generator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from pathlib import Path

from rich.console import Console
from rich.table import Table

from api.cli.arena.contests import Contest, LevelFailed, Played, play_deal, standing
from api.cli.pool import pool, progress
from engine.series import Result
from engine.standings import Interval, Line

Results = dict[Contest, list[Result]]


def arena(contests: Sequence[Contest], jobs: int, replays: Path | None, levels: str) -> int:
    """Play everything and print the table; the exit code, 1 if a level fails.

    ``replays``: a file to write them to, one a line, as `ringmaster audit` reads them.
    """
    results: Results = defaultdict(list)
    kept = replays.open("w", encoding="utf-8") if replays else None
    try:
        with closing(_played(contests, jobs, levels, replays=replays is not None)) as every:
            for played in every:
                results[played.contest] += played.results
                if kept:
                    kept.writelines(f"{line}\n" for line in played.replays)
    except (LevelFailed, BrokenProcessPool) as failure:
        told = failure if isinstance(failure, LevelFailed) else "a process of the arena died"
        print(f"ringmaster: {told}", file=sys.stderr)  # noqa: T201
        return 1
    finally:
        if kept:
            kept.close()
    Console().print(_table(contests, results))
    return 0


def _played(
    contests: Sequence[Contest], jobs: int, levels: str, *, replays: bool
) -> Generator[Played]:
    matches = sum(contest.deals * contest.players for contest in contests)
    with (
        pool(jobs) as processes,
        progress() as bar,
    ):
        task = bar.add_task("matches", total=matches)
        working = [
            processes.submit(play_deal, contest, deal, replays=replays, levels=levels)
            for contest in contests
            for deal in range(1, contest.deals + 1)
        ]
        for work in as_completed(working):
            yield work.result()
            bar.advance(task, len(work.result().results))


def _table(contests: Sequence[Contest], results: Results) -> Table:
    found = Table(
        "level", "against", "players", "deals", "matches", "points a round", "wins", "fair share"
    )
    for contest in contests:
        ordered = sorted(results[contest], key=lambda result: result.number)
        found.add_row(*_row(contest, standing(contest.players, ordered)))
    return found


def _row(contest: Contest, line: Line) -> list[str]:
    return [
        contest.level,
        contest.against,
        str(contest.players),
        str(contest.deals),
        str(line.played),
        _with(line.difference, line.difference_interval, "+.2f"),
        _with(line.win_share, line.win_share_interval, ".3f"),
        f"{1 / contest.players:.3f}",
    ]


def _with(value: float | None, interval: Interval | None, form: str) -> str:
    if value is None:
        return "-"
    if interval is None:
        return f"{value:{form}}"
    return f"{value:{form}} [{interval.low:{form}}, {interval.high:{form}}]"
