"""What the table of `make bench` says of a figure, and of the machine."""

import pytest

from tests.bench.figures import Figure, middle, number
from tests.bench.machine import CROWDED, DRIFT, Loop, Mood


@pytest.mark.parametrize(
    ("figure", "met"),
    [
        (Figure("cpu", 3, "ms", target=3), True),
        (Figure("cpu", 3.1, "ms", target=3), False),
        (Figure("rate", 9, "moves/s", target=10, at_least=True), False),
        (Figure("rate", 10, "moves/s", target=10, at_least=True), True),
        (Figure("cpu", 9, "ms", ratio=2, of="theirs", target=4, judge_ratio=True), True),
        (Figure("cpu", 1, "ms", ratio=5, of="theirs", target=4, judge_ratio=True), False),
        (Figure("cpu", 1, "ms", ratio=5, of="theirs"), None),
    ],
)
def test_a_target_is_met_by_the_figure_or_by_its_ratio(figure, met):
    assert figure.met is met


def test_the_middle_of_the_runs_is_told_and_all_of_them_kept():
    figure = middle("cpu", [3.0, 1.0, 40.0], "ms")

    assert (figure.value, figure.runs) == (3.0, (3.0, 1.0, 40.0))


def test_numbers_have_three_digits_that_count():
    assert [number(n) for n in (0.123, 12.34, 1234.5)] == ["0.12", "12.3", "1,234"]


@pytest.mark.parametrize(
    ("loops", "doubt"),
    [
        ([Loop(1, 1), Loop(DRIFT - 0.01, 1.14)], None),
        ([Loop(1, 1), Loop(DRIFT + 0.01, 1.17)], "another's CPU"),
        ([Loop(1, CROWDED + 0.01), Loop(1, 1)], "others ran"),
    ],
)
def test_a_moody_machine_is_not_trusted(loops, doubt, monkeypatch):
    monkeypatch.setattr(Mood, "stolen", 0.0)
    mood = Mood()
    mood.loops = loops

    doubts = mood.doubts()

    assert doubts == [] if doubt is None else doubt in doubts[0]


def test_stolen_time_is_not_trusted(monkeypatch):
    monkeypatch.setattr(Mood, "stolen", 0.03)
    mood = Mood()
    mood.loops = [Loop(1, 1)]

    assert "stolen" in mood.doubts()[0]
