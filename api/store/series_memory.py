"""Series in memory: the twin of those in Redis, for tests and for trying things out."""

from dataclasses import dataclass, field

from api.ports import Key, Ring
from api.series.ports import Count, Halt, Opening, Series, Step
from api.store.memory import MemoryStore
from engine.series import Order, SeriesStatus
from engine.standings import add, none_yet, quantities


@dataclass
class _Kept:
    series: Series
    secret: str
    sent: int
    steps: list[Step]
    deals: dict[int, tuple[int, ...]] = field(default_factory=dict)
    replays: dict[int, bytes] = field(default_factory=dict)

    @property
    def running(self) -> bool:
        return self.steps[-1].status(self.series.spec) is SeriesStatus.RUNNING

    @property
    def done(self) -> set[int]:
        return {step.result.number for step in self.steps if step.result}


@dataclass
class MemorySeriesStore:
    """Series in dictionaries; nothing expires. Rings the bell of ``log`` and shares its keys."""

    log: MemoryStore = field(default_factory=MemoryStore)
    kept: dict[str, _Kept] = field(default_factory=dict)
    keys: dict[tuple[str, str], str] = field(default_factory=dict)
    due_times: dict[str, int] = field(default_factory=dict)

    async def claim(self, key: Key) -> bool:
        claimed = self.log.claims.setdefault((key.caller, key.key), key.fingerprint)
        return claimed == key.fingerprint

    async def open(self, opening: Opening) -> str | None:
        series, key = opening.series, opening.key
        if key is not None and (key.caller, key.key) in self.keys:
            return self.keys[key.caller, key.key]
        if series.series_id in self.kept:
            return series.series_id
        others = [k for k in self.kept.values() if k.series.owner == series.owner and k.running]
        if len(others) >= opening.limit:
            return None
        first = Step(1, series.created_at, none_yet(series.spec.players))
        self.kept[series.series_id] = _Kept(series, opening.secret, opening.sent, [first])
        self.due_times[series.series_id] = opening.due_at
        if key is not None:
            self.keys[key.caller, key.key] = series.series_id
        return series.series_id

    async def find(self, series_id: str) -> tuple[Series, Step] | None:
        kept = self.kept.get(series_id)
        return None if kept is None else (kept.series, kept.steps[-1])

    async def steps(self, series_id: str, first: int, last: int | None, limit: int) -> list[Step]:
        kept = self.kept.get(series_id)
        return [] if kept is None else kept.steps[max(first, 1) - 1 : last][:limit]

    async def order(self, series_id: str, number: int) -> tuple[Series, Order] | None:
        kept = self.kept.get(series_id)
        if kept is None or not kept.running or number in kept.done:
            return None
        series = kept.series
        if number > series.spec.matches:
            return None
        return series, Order(series_id, series.spec, number, series.created_at, kept.secret)

    async def count(self, count: Count) -> int | None:
        # No await below: one event loop makes this as atomic as the script.
        kept, result = self.kept.get(count.series.series_id), count.result
        if kept is None or not kept.running or result.number in kept.done:
            return None
        spec, last = kept.series.spec, kept.steps[-1]
        if not 1 <= result.number <= spec.matches:
            return None
        deal = kept.deals.get(result.deal, ())
        sums, kept.deals[result.deal] = add(last.sums, deal, quantities(result))
        self._append(kept, Step(last.version + 1, count.at, sums, result))
        if count.replay is not None:
            kept.replays[result.number] = count.replay
        self.due_times[count.series.series_id] = count.due_at
        if not kept.running:
            del self.due_times[count.series.series_id]
        if kept.sent == spec.matches:
            return 0
        kept.sent += 1
        return kept.sent

    async def cancel(self, series: Series, at: int, ttl: int) -> bool:  # noqa: ARG002
        kept = self.kept.get(series.series_id)
        if kept is None or not kept.running:
            return False
        last = kept.steps[-1]
        self._append(kept, Step(last.version + 1, at, last.sums, cancelled=True))
        self.due_times.pop(series.series_id, None)
        return True

    def _append(self, kept: _Kept, step: Step) -> None:
        kept.steps.append(step)
        self.log.ring(Ring(matches=frozenset({kept.series.series_id})))

    async def halt(self, series_id: str) -> Halt | None:
        kept = self.kept.get(series_id)
        if kept is None:
            return None
        sent = range(1, kept.sent + 1) if kept.running else ()
        return Halt(kept.steps[-1].at, tuple(n for n in sent if n not in kept.done))

    async def replay(self, series_id: str, number: int) -> bytes | None:
        kept = self.kept.get(series_id)
        return None if kept is None else kept.replays.get(number)

    async def due(self, now: int, limit: int) -> list[tuple[str, int]]:
        found = [(series_id, at) for series_id, at in self.due_times.items() if at <= now]
        return sorted(found, key=lambda pair: pair[1])[:limit]

    async def postpone(self, series_id: str, seen: int, until: int) -> bool:
        if self.due_times.get(series_id) != seen:
            return False
        self.due_times[series_id] = until
        return True

    async def forget(self, series_id: str) -> None:
        self.due_times.pop(series_id, None)
