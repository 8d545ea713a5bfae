"""Matches of series as a worker plays them, without a broker: levels that fail, odd messages."""

import asyncio
import logging
from types import SimpleNamespace

import pytest

from api.series.service import SeriesService
from api.store.series_memory import MemorySeriesStore
from api.values import Meta
from engine.bots import LEVELS, Level
from engine.series import SeriesStatus, Spec
from workers import batch


class Runtime:
    """A worker process's, on a loop of the test's own."""

    def __init__(self) -> None:
        self.waiting: list[tuple[str, int]] = []
        self.series = SeriesService(MemorySeriesStore(), self)
        self.faults: list[tuple[str, str]] = []
        self.parts = SimpleNamespace(series=self.series, service=self)
        self._runner = asyncio.Runner()

    def play(self, series_id: str, number: int) -> None:
        self.waiting.append((series_id, number))

    async def count_fault(self, level: str, fault: str) -> None:
        self.faults.append((level, fault))

    def run(self, work):
        return self._runner.run(work)

    def finish(self, spec: Spec) -> str:
        """Play a whole series; its id."""
        made = self.run(self.series.create("ann", spec, Meta()))
        while self.waiting:
            batch.play_match(self, *self.waiting.pop(0))  # type: ignore[arg-type]
        return made.series.series_id

    def close(self) -> None:
        self._runner.close()


@pytest.fixture
def runtime():
    runtime = Runtime()
    yield runtime
    runtime.close()


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_a_series_is_played_to_its_end(runtime, players):
    spec = Spec((*LEVELS, *("regular",) * 3)[:players], players + 1)

    series_id = runtime.finish(spec)

    standing = runtime.run(runtime.series.look(series_id, "ann"))
    assert standing.status is SeriesStatus.FINISHED
    assert standing.step.sums.matches == players + 1


def raises(view, *_):
    raise RuntimeError(f"with {view.you.hand} in its text")


def test_a_level_that_fails_stops_no_series(runtime, monkeypatch, caplog):
    monkeypatch.setitem(LEVELS, "broken", Level("broken", "Fails.", 1, raises))

    with caplog.at_level(logging.ERROR, "ringmaster"):
        series_id = runtime.finish(Spec(("broken", "regular"), 2))

    standing = runtime.run(runtime.series.look(series_id, "ann"))
    assert standing.status is SeriesStatus.FINISHED
    assert "bot fault: level=broken kind=RAISED" in caplog.text
    assert set(runtime.faults) == {("broken", "RAISED")}
    assert "top=" not in caplog.text


@pytest.mark.parametrize(("series_id", "number"), [("s0-aaaaaaaaaaaaaaaa", 1), ("nonsense", -1)])
def test_messages_that_mean_nothing_do_nothing(runtime, series_id, number):
    batch.play_match(runtime, series_id, number)

    assert runtime.waiting == []
