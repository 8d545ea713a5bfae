"""The table of a series against a plain computation over all results."""

# mypy: disable-error-code="union-attr"

from math import sqrt
from random import Random
from statistics import mean

import pytest

from engine.cards import ROUNDS
from engine.series import Result, Spec, place
from engine.standings import _student as student
from engine.standings import add, none_yet, quantities, table


def results(spec: Spec, seed: int) -> list[Result]:
    """Made-up results in which entries differ and matches of a deal hang together."""
    chance = Random(seed)
    found = []
    luck: dict[int, list[int]] = {}
    for number in range(1, spec.matches + 1):
        where = place(spec, number)
        seats = luck.setdefault(where.deal, [chance.randint(-9, 9) for _ in spec.entries])
        totals = tuple(
            seats[seat] + 2 * entry + chance.randint(-4, 4)
            for seat, entry in enumerate(where.seating)
        )
        winners = tuple(s for s, total in enumerate(totals) if total == max(totals))
        found.append(Result(number, where.deal, where.seating, (totals,), totals, winners))
    return found


def summed(spec: Spec, found: list[Result]):
    sums, deals = none_yet(spec.players), dict[int, tuple[int, ...]]()
    for result in found:
        sums, deals[result.deal] = add(sums, deals.get(result.deal, ()), quantities(result))
    return sums


def plain(values: dict[int, list[float]]) -> tuple[float, float, float]:
    """Mean of values grouped by deal, with the limits of the interval clustered by deal."""
    m = sum(len(group) for group in values.values())
    g = len(values)
    centre = mean(value for group in values.values() for value in group)
    spread = sum(sum(value - centre for value in group) ** 2 for group in values.values())
    half = student(g - 1) * sqrt(g / (g - 1) * spread) / m
    return centre, centre - half, centre + half


def by_deal(found: list[Result], entry: int, value) -> dict[int, list[float]]:
    groups: dict[int, list[float]] = {}
    for result in found:
        groups.setdefault(result.deal, []).append(value(result, result.seating.index(entry)))
    return groups


def win(result: Result, seat: int) -> float:
    return (seat in result.winners) / len(result.winners)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("duplicate", [True, False])
def test_the_table_is_what_all_results_say(players, duplicate):
    spec = Spec(("regular",) * players, 43, duplicate=duplicate)  # the last deal is not full
    found, rounds = results(spec, players), ROUNDS[players]

    def difference(result, seat):
        others = [t for s, t in enumerate(result.totals) if s != seat]
        return (result.totals[seat] - mean(others)) / rounds

    for line in table(summed(spec, found), players):
        shares = plain(by_deal(found, line.entry, win))
        ahead = plain(by_deal(found, line.entry, difference))
        points = [r.totals[r.seating.index(line.entry)] / rounds for r in found]
        assert line.played == 43
        assert line.wins == pytest.approx(sum(map(sum, by_deal(found, line.entry, win).values())))
        assert line.points == pytest.approx(mean(points))
        got = (line.win_share, line.win_share_interval.low, line.win_share_interval.high)
        assert got == pytest.approx(shares)
        got = (line.difference, line.difference_interval.low, line.difference_interval.high)
        assert got == pytest.approx(ahead)


def test_the_order_of_results_changes_nothing():
    spec = Spec(("regular",) * 4, 41)
    found = results(spec, 1)
    sums = summed(spec, found)
    for seed in range(5):
        Random(seed).shuffle(found)
        assert summed(spec, found) == sums


def test_wins_of_all_entries_are_the_matches():
    spec = Spec(("regular",) * 5, 60)

    lines = table(summed(spec, results(spec, 7)), 5)

    assert sum(line.wins for line in lines) == pytest.approx(60)
    assert sum(line.difference or 0 for line in lines) == pytest.approx(0)


def test_without_matches_there_is_no_mean_and_with_one_deal_no_interval():
    spec = Spec(("regular",) * 3, 3)
    for line in table(none_yet(3), 3):
        assert (line.played, line.wins, line.win_share, line.points) == (0, 0, None, None)
        assert line.difference is None
        assert line.difference_interval is None
    for line in table(summed(spec, results(spec, 1)), 3):
        assert line.win_share is not None
        assert line.win_share_interval is None
        assert line.difference_interval is None


def test_entries_that_never_differ_have_an_interval_of_no_width():
    drawn = [Result(n, n, (0, 1), ((5, 5),), (5, 5), (0, 1)) for n in range(1, 9)]
    spec = Spec(("regular",) * 2, 8)

    line = table(summed(spec, drawn), 2)[0]

    assert (line.win_share, line.wins, line.difference) == (0.5, 4, 0)
    assert (line.win_share_interval.low, line.win_share_interval.high) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("freedom", "point"), [(1, 12.7062), (9, 2.2622), (10, 2.2281), (30, 2.0423), (999, 1.9623)]
)
def test_points_of_students_distribution(freedom, point):
    assert student(freedom) == pytest.approx(point, abs=2e-4)


def test_intervals_hold_the_truth_as_often_as_they_say():
    spec = Spec(("regular",) * 4, 80)  # 20 deals
    held = 0
    for seed in range(300):
        line = table(summed(spec, results(spec, seed)), 4)[3]
        # Entry 3 is 2 * 3 points ahead of 0, so 4 ahead of the mean of 0, 1, 2: over four rounds 1.
        held += line.difference_interval.low <= 1.0 <= line.difference_interval.high
    assert 0.90 <= held / 300 <= 0.99
