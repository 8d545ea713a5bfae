"""Series at their service, over the store in memory and a real Redis."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest

from api.errors import Refused, Unavailable
from api.ports import EventStore
from api.series import service as series_service
from api.series.ports import SeriesStore, Step
from api.series.service import HALT_GRACES, RUNNING_LIMIT, WINDOW, Progress, SeriesService
from api.store import keys
from api.store.memory import MemoryStore
from api.store.redis import RedisStore
from api.store.series import RedisSeriesStore
from api.store.series_memory import MemorySeriesStore
from api.values import Limits, Meta
from engine.audit import audit
from engine.bots import LEVELS
from engine.decide import Events
from engine.errors import RuleError
from engine.series import Order, Result, SeriesStatus, Spec, place, play
from engine.standings import add, none_yet, quantities
from schema.codes import ErrorCode

GRACE = 2000
HALT = HALT_GRACES * GRACE


@dataclass
class World:
    """A service of series with all that it stands on, and matches that wait until a test plays."""

    log: EventStore
    store: SeriesStore
    clock: int = 1_700_000_000_000
    waiting: list[tuple[str, int]] = field(default_factory=list)

    def play(self, series_id: str, number: int) -> None:
        self.waiting.append((series_id, number))

    def service(self) -> SeriesService:
        limits = Limits(600, 900, GRACE)
        return SeriesService(self.store, self, limits=limits, now=lambda: self.clock)

    async def work(self, service: SeriesService, times: int = 1) -> Result | None:
        """Play the match that has waited longest; its result if there was something to play."""
        series_id, number = self.waiting.pop(0)
        result = None
        for _ in range(times):
            self.clock += 1
            found = await service.order(series_id, number)
            if found is not None:
                result, log = played(found[1])
                await service.count(found[0], result, log)
        return result

    async def work_off(self, service: SeriesService, times: int = 1) -> None:
        while self.waiting:
            await self.work(service, times)


def played(order: Order) -> tuple[Result, list[Events]]:
    """A match played for its replay, or made up where nobody asks for it."""
    if order.spec.replays:
        return play(order, lambda level, *known: LEVELS[level].action(*known))
    where, players = place(order.spec, order.number), order.spec.players
    totals = tuple((7 * order.number + 5 * seat) % 23 - 4 for seat in range(players))
    winners = tuple(seat for seat in range(players) if totals[seat] == max(totals))
    return Result(order.number, where.deal, where.seating, (totals,), totals, winners), []


@pytest.fixture(params=["memory", "redis"])
async def world(request, redis) -> AsyncIterator[World]:
    if request.param == "memory":
        log = MemoryStore()
        yield World(log, MemorySeriesStore(log))
    else:
        yield World(RedisStore(redis), RedisSeriesStore(redis))


@pytest.fixture
async def service(world: World, monkeypatch) -> AsyncIterator[SeriesService]:
    """A service whose followers are woken, and told things apart."""
    monkeypatch.setattr(series_service, "PAUSE_SECONDS", 0)
    service = world.service()

    async def keep_up() -> None:
        async for rung in world.log.bells():
            service.wake(rung)

    task = asyncio.create_task(keep_up())
    yield service
    task.cancel()


def spec(matches: int = 7, **more) -> Spec:
    return Spec(("regular", "casual", "regular"), matches, **more)


async def create(service: SeriesService, *, caller: str = "ann", of: Spec | None = None) -> str:
    standing = await service.create(caller, of or spec(), Meta())
    return standing.series.series_id


async def all_of(service: SeriesService, series_id: str, after: int | None = 0) -> list[Progress]:
    async with asyncio.timeout(20):
        return [told async for told in service.follow(series_id, "ann", after)]


async def steps(service: SeriesService, series_id: str) -> list[Result]:
    return [result for told in await all_of(service, series_id) for result in told.results]


def code(refused) -> ErrorCode:
    return refused.value.code


async def test_a_new_series_sends_its_first_matches(world, service):
    standing = await service.create("ann", spec(40), Meta())

    assert standing.status is SeriesStatus.RUNNING
    assert (standing.step.version, standing.step.sums.matches) == (1, 0)
    series_id = standing.series.series_id
    assert world.waiting == [(series_id, n) for n in range(1, WINDOW + 1)]


async def test_every_match_is_counted_once_and_each_sends_the_next(world, service):
    series_id = await create(service, of=spec(40))
    most = 0
    while world.waiting:
        most = max(most, len(world.waiting))
        await world.work(service)

    standing = await service.look(series_id, "ann")
    assert standing.status is SeriesStatus.FINISHED
    assert standing.step.sums.matches == 40
    assert most == WINDOW
    assert sorted(r.number for r in await steps(service, series_id)) == list(range(1, 41))


async def test_every_task_run_three_times_changes_nothing_more(world, service):
    series_id = await create(service)
    late = list(world.waiting)
    await world.work_off(service, times=3)
    before = await service.look(series_id, "ann")

    world.waiting = late
    await world.work_off(service)

    assert before.step.version == 8
    assert await service.look(series_id, "ann") == before
    assert world.waiting == []


async def test_two_workers_with_the_same_match_count_it_once(service):
    series_id = await create(service)
    found = await service.order(series_id, 1)
    result, log = played(found[1])

    await asyncio.gather(*(service.count(found[0], result, log) for _ in range(9)))

    assert (await service.look(series_id, "ann")).step.sums.matches == 1


async def test_what_was_lost_is_sent_again_once_nothing_moves(world, service):
    series_id = await create(service, of=spec(40))
    world.waiting = world.waiting[3:]  # three are lost, as with a worker that is killed
    await world.work_off(service)
    assert (await service.look(series_id, "ann")).step.sums.matches == 37

    world.clock += HALT - 1
    assert await service.revive(100) == 0
    world.clock += 1
    assert await service.revive(100) == 3
    assert world.waiting == [(series_id, 1), (series_id, 2), (series_id, 3)]
    assert await service.revive(100) == 0
    await world.work_off(service)

    assert (await service.look(series_id, "ann")).status is SeriesStatus.FINISHED
    assert sorted(r.number for r in await steps(service, series_id)) == list(range(1, 41))
    world.clock += 10**9
    assert await service.revive(100) == 0


async def test_a_series_whose_maker_died_before_sending_is_found(world, service):
    series_id = await create(service)
    world.waiting.clear()
    world.clock += HALT

    assert await service.revive(100) == 7
    await world.work_off(service)

    assert (await service.look(series_id, "ann")).status is SeriesStatus.FINISHED


async def test_what_waits_for_long_is_sent_again_less_and_less(world, service):
    await create(service)
    sent_at, began = [], world.clock
    for _ in range(1000):
        world.clock += HALT
        if await service.revive(100):
            sent_at.append((world.clock - began) // HALT)

    assert sent_at[:5] == [1, 2, 4, 8, 16]
    assert max(b - a for a, b in pairwise(sent_at)) * HALT <= 600_000


async def test_a_series_that_is_gone_is_looked_at_no_more(world, service):
    series_id = await create(service)
    if isinstance(world.store, RedisSeriesStore):
        await world.store._redis.delete(keys.series(series_id))
    else:
        world.store.kept.clear()
    world.clock += HALT

    assert await service.revive(100) == 0
    assert await world.store.due(world.clock, 100) == []
    await world.work_off(service)
    assert await service.look(series_id, "ann") is None


async def test_a_series_that_cannot_be_read_stops_no_other(world, service, caplog):
    broken, healthy = await create(service), await create(service, caller="bob")
    if isinstance(world.store, RedisSeriesStore):
        later: dict[Any, Any] = {"s": "of a later release"}
        await world.store._redis.xadd(keys.series(broken, ":log"), later, id="2-0")
    else:
        world.store.kept[broken].steps.clear()
    world.waiting.clear()
    world.clock += HALT

    assert await service.revive(100) == 7
    assert {series_id for series_id, _ in world.waiting} == {healthy}
    assert broken in caplog.text
    assert [series_id for series_id, _ in await world.store.due(world.clock, 9)] == []


async def test_after_a_cancellation_nothing_is_sent_or_counted(world, service):
    series_id = await create(service, of=spec(40))
    await world.work(service)
    found = await service.order(series_id, 2)  # a worker is at it
    result, log = played(found[1])

    standing = await service.cancel(series_id, "ann")
    await service.count(found[0], result, log)
    await world.work_off(service)

    assert standing.status is SeriesStatus.CANCELLED
    assert await service.look(series_id, "ann") == standing
    assert standing.step.sums.matches == 1
    assert await service.cancel(series_id, "ann") == standing
    world.clock += 10**9
    assert await service.revive(100) == 0


async def test_cancelling_what_is_finished_leaves_it_finished(world, service):
    series_id = await create(service)
    await world.work_off(service)

    assert (await service.cancel(series_id, "ann")).status is SeriesStatus.FINISHED


async def test_followers_are_told_the_end_of_a_cancelled_series(world, service):
    series_id = await create(service)
    following = asyncio.create_task(all_of(service, series_id, None))
    await asyncio.sleep(0.05)
    await world.work(service)
    await asyncio.sleep(0.05)
    await service.cancel(series_id, "ann")

    told = await following
    assert [p.standing.status for p in told][-1] is SeriesStatus.CANCELLED
    assert [r.number for p in told for r in p.results] == [1]
    assert told[0].results == ()


async def test_a_stream_cut_anywhere_and_resumed_misses_and_repeats_nothing(world, service):
    series_id = await create(service)
    await world.work_off(service)
    whole = await steps(service, series_id)

    for cut in range(1, 9):
        told = await all_of(service, series_id, cut)
        assert whole[: cut - 1] + [r for p in told for r in p.results] == whole
        assert [p.standing.step.version for p in told][-1:] == ([8] if cut < 8 else [])


async def test_every_update_is_the_series_right_after_it(world, service):
    series_id = await create(service, of=spec(20))
    following = asyncio.create_task(all_of(service, series_id))
    while world.waiting:
        await world.work(service)
        await asyncio.sleep(0)
    sums, deals, version = none_yet(3), dict[int, tuple[int, ...]](), 1

    for told in await following:
        for result in told.results:
            values = quantities(result)
            sums, deals[result.deal] = add(sums, deals.get(result.deal, ()), values)
            version += 1
        assert told.standing.step.sums == sums
        assert told.standing.step.version == version
    assert version == 21


async def test_a_long_past_comes_in_parts(world, service, monkeypatch):
    monkeypatch.setattr(series_service, "AT_ONCE", 4)
    series_id = await create(service, of=spec(20))
    await world.work_off(service)

    told = await all_of(service, series_id)

    assert len(told) == 5
    assert len([r for p in told for r in p.results]) == 20


async def test_a_store_that_fails_for_a_moment_breaks_no_stream(world, service, monkeypatch):
    monkeypatch.setattr(series_service, "PATIENCE_SECONDS", 0.01)
    series_id = await create(service)
    failures = iter([True, False, True, True])
    real = world.store.steps

    async def now_and_then(*args) -> list[Step]:
        if next(failures, False):
            raise Unavailable("gone")
        return await real(*args)

    monkeypatch.setattr(world.store, "steps", now_and_then)
    following = asyncio.create_task(steps(service, series_id))
    await asyncio.sleep(0.02)
    await world.work_off(service)

    assert len(await following) == 7


@pytest.mark.parametrize("after", [-1, 2, 10**9])
async def test_a_version_that_is_not_there_is_said_with_the_one_that_is(service, after):
    series_id = await create(service)

    for call in (service.check_follow(series_id, "ann", after), all_of(service, series_id, after)):
        with pytest.raises(Refused) as refused:
            await call
        assert code(refused) is ErrorCode.CURSOR_EXPIRED
        assert refused.value.current_version == 1


@pytest.mark.parametrize("caller", ["bob", None])
async def test_a_series_is_its_creators_alone(world, service, caller):
    series_id = await create(service, of=spec(replays=True))
    await world.work(service)

    assert await service.look(series_id, caller) is None
    assert await service.replay(series_id, 1, caller) is None
    with pytest.raises(Refused) as refused:
        await service.check_follow(series_id, caller, None)
    assert code(refused) is ErrorCode.NOT_FOUND
    if caller is not None:
        with pytest.raises(Refused) as refused:
            await service.cancel(series_id, caller)
        assert code(refused) is ErrorCode.NOT_FOUND


@pytest.mark.parametrize("series_id", ["", "s0", "m0-aaaaaaaaaaaaaaaa", "s0-aaaaaaaaaaaaaaaa"])
async def test_what_is_no_series_is_not_found(service, series_id):
    assert await service.look(series_id, "ann") is None
    assert await service.order(series_id, 1) is None
    with pytest.raises(Refused):
        await service.cancel(series_id, "ann")


@pytest.mark.parametrize("number", [-(10**20), -1, 0, 8, 10**20])
async def test_numbers_that_mean_nothing_are_played_by_nobody(service, number):
    series_id = await create(service, of=spec(replays=True))

    assert await service.order(series_id, number) is None
    assert await service.replay(series_id, number, "ann") is None


async def test_a_caller_has_only_so_many_running(world, service):
    first, *_ = [await create(service) for _ in range(RUNNING_LIMIT)]
    waiting = list(world.waiting)

    with pytest.raises(Refused) as refused:
        await create(service)
    assert code(refused) is ErrorCode.TOO_MANY_SERIES
    assert str(RUNNING_LIMIT) in str(refused.value)
    assert world.waiting == waiting
    await create(service, caller="bob")

    await service.cancel(first, "ann")
    await create(service)


async def test_one_key_makes_one_series_and_answers_alike(world, service):
    meta = Meta("key", None, ["a"])
    first = await service.create("ann", spec(), meta)
    sent = list(world.waiting)
    await world.work(service)

    again = await service.create("ann", spec(), meta)

    assert again == first
    assert world.waiting == sent[1:]
    with pytest.raises(Refused) as refused:
        await service.create("ann", spec(8), Meta("key", None, ["b"]))
    assert code(refused) is ErrorCode.KEY_REUSED
    assert (await service.create("bob", spec(8), Meta("key", None, ["b"]))).series != first.series


async def test_of_ten_creations_under_one_key_one_happens(world):
    meta = Meta("key", None, ["a"])

    made = await asyncio.gather(*(world.service().create("ann", spec(), meta) for _ in range(10)))

    assert len({standing.series.series_id for standing in made}) == 1
    assert len(world.waiting) == 7


@pytest.mark.parametrize("of", [Spec(("regular",), 1), spec(0), spec(10_001)])
async def test_what_cannot_be_played_is_refused(world, service, of):
    with pytest.raises(RuleError):
        await service.create("ann", of, Meta())
    assert world.waiting == []


async def test_pages_of_results_are_those_of_the_version(world, service):
    series_id = await create(service)
    for _ in range(4):
        await world.work(service)
    standing = await service.look(series_id, "ann")
    await world.work_off(service)
    whole = await steps(service, series_id)

    pages, after, more = [], 0, True
    while more:
        page, more = await service.results(standing, after, 3)
        pages.append([counted.result for counted in page])
        after = page[-1].version

    assert pages == [whole[:3], whole[3:4]]
    assert await service.results(standing, 0, 0) == ([], True)
    assert await service.results(standing, 5, 3) == ([], False)
    cancelled = await service.cancel(await create(service), "ann")
    assert await service.results(cancelled, 0, 3) == ([], False)


async def test_replays_are_kept_where_asked_for_and_pass_the_audit(world, service):
    kept, not_kept = await create(service, of=spec(replays=True)), await create(service)
    assert await service.replay(kept, 1, "ann") is None
    await world.work_off(service)

    documents = [json.loads(await service.replay(kept, n, "ann")) for n in range(1, 8)]

    assert [audit(document) for document in documents] == [[]] * 7
    assert [d["matchId"] for d in documents] == [f"{kept}-{n}" for n in range(1, 8)]
    assert len({d["secret"] for d in documents}) == 3  # of three deals
    assert await service.replay(not_kept, 1, "ann") is None


async def test_the_secret_of_a_series_is_nowhere_but_in_the_store(world, service):
    series_id = await create(service, of=spec(replays=True))
    series, order = await service.order(series_id, 1)
    await world.work_off(service)

    told = [repr(p) for p in await all_of(service, series_id)]
    replays = [await service.replay(series_id, n, "ann") for n in range(1, 8)]

    assert len(order.secret) == 64
    assert not [
        text for text in (*told, *replays, repr(series), repr(order)) if order.secret in text
    ]
