"""What every store of series promises: one suite for Redis and the twin in memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace

import pytest

from api.ports import EventStore, Key, Ring
from api.series.ports import Count, Halt, Opening, Series, SeriesStore, Step
from api.store.keys import new_match_id, new_series_id
from api.store.memory import MemoryStore
from api.store.redis import RedisStore
from api.store.series import RedisSeriesStore
from api.store.series_memory import MemorySeriesStore
from engine.series import Order, Result, SeriesStatus, Spec, place
from engine.standings import add, none_yet, quantities
from tests.conftest import emptied, servers
from tests.store.test_contract import all_listen

SECRET = "5eed" * 16
NOW = 1_700_000_000_000


@pytest.fixture(scope="module", params=["memory", *servers(), "cluster"])
async def stores(request) -> AsyncIterator[tuple[EventStore, SeriesStore]]:
    """Each kind of store, with the log whose bell it rings."""
    if request.param == "memory":
        log = MemoryStore()
        yield log, MemorySeriesStore(log)
        return
    redis = await emptied(request.getfixturevalue(f"{request.param}_url"))
    yield RedisStore(redis), RedisSeriesStore(redis)
    await redis.aclose()


@pytest.fixture
def store(stores) -> SeriesStore:
    return stores[1]


@pytest.fixture
def log(stores) -> EventStore:
    return stores[0]


def series(matches: int = 6, players: int = 3, owner: str | None = None, **more) -> Series:
    owner = owner or new_match_id()
    spec = Spec(("regular",) * players, matches, **more)
    return Series(new_series_id(owner), spec, NOW, owner)


def opening(of: Series, **more) -> Opening:
    fields = {"sent": 2, "limit": 4, "due_at": NOW + 50, "ttl": 600, "secret": SECRET, **more}
    return Opening(of, **fields)


def result(of: Series, number: int, luck: int = 0) -> Result:
    where, seats = place(of.spec, number), range(of.spec.players)
    totals = tuple((7 * number + 5 * seat + luck) % 23 - 4 for seat in seats)
    winners = tuple(seat for seat in seats if totals[seat] == max(totals))
    return Result(number, where.deal, where.seating, (totals,), totals, winners)


def counting(of: Series, number: int, **more) -> Count:
    luck = more.pop("luck", 0)
    fields = {"at": NOW + number, "due_at": NOW + 90, "ttl": 600, "ttl_over": 900, **more}
    return Count(of, result(of, number, luck), **fields)


async def begun(store: SeriesStore, **more) -> Series:
    of = series(**more)
    assert await store.open(opening(of)) == of.series_id
    return of


async def last(store: SeriesStore, of: Series) -> Step:
    found = await store.find(of.series_id)
    assert found is not None
    assert found[0] == of
    return found[1]


async def test_a_new_series_has_one_step_and_nothing_counted(store):
    of = await begun(store)

    assert await last(store, of) == Step(1, NOW, none_yet(3))
    assert (await last(store, of)).status(of.spec) is SeriesStatus.RUNNING


async def test_a_series_that_is_not_there(store):
    of = series()

    assert await store.find(of.series_id) is None
    assert await store.steps(of.series_id, 1, None, 10) == []
    assert await store.order(of.series_id, 1) is None
    assert await store.count(counting(of, 1)) is None
    assert not await store.cancel(of, NOW, 60)
    assert await store.halt(of.series_id) is None
    assert await store.replay(of.series_id, 1) is None
    assert await store.find(of.series_id) is None


async def test_opening_twice_is_opening_once(store):
    of = await begun(store)
    await store.count(counting(of, 1))

    assert await store.open(opening(of)) == of.series_id

    assert (await last(store, of)).version == 2


async def test_every_match_counted_is_a_step_and_the_next_is_sent(store):
    of = await begun(store)

    assert [await store.count(counting(of, n)) for n in (2, 1, 3, 6, 5, 4)] == [3, 4, 5, 6, 0, 0]

    steps = await store.steps(of.series_id, 1, None, 100)
    assert [step.version for step in steps] == list(range(1, 8))
    assert [step.result and step.result.number for step in steps] == [None, 2, 1, 3, 6, 5, 4]
    assert [step.result for step in steps[1:]] == [result(of, n) for n in (2, 1, 3, 6, 5, 4)]
    assert [step.status(of.spec) for step in steps[-2:]] == [
        SeriesStatus.RUNNING,
        SeriesStatus.FINISHED,
    ]


async def test_steps_are_read_between_versions(store):
    of = await begun(store)
    for number in range(1, 7):
        await store.count(counting(of, number))

    async def versions(first, last, limit=100):
        return [step.version for step in await store.steps(of.series_id, first, last, limit)]

    assert await versions(3, None) == [3, 4, 5, 6, 7]
    assert await versions(3, 5) == [3, 4, 5]
    assert await versions(2, None, 2) == [2, 3]
    assert await versions(8, None) == []
    assert await versions(0, 1) == [1]


async def test_a_match_is_counted_once_whatever_it_says_the_second_time(store):
    of = await begun(store)
    assert await store.count(counting(of, 1, replay=b"first")) == 3
    before = await last(store, of)

    assert await store.count(counting(of, 1, luck=5, replay=b"second")) is None

    assert await last(store, of) == before
    assert await store.replay(of.series_id, 1) == b"first"
    assert (await store.halt(of.series_id)) == Halt(before.at, (2, 3))


async def test_of_twenty_that_race_to_count_a_match_one_does(store):
    of = await begun(store, matches=20)

    answers = await asyncio.gather(
        *(store.count(counting(of, n, luck=i)) for i in range(20) for n in (1, 2, 3))
    )

    assert sum(answer is not None for answer in answers) == 3
    assert sorted(answer for answer in answers if answer) == [3, 4, 5]
    assert (await last(store, of)).version == 4


@pytest.mark.parametrize("number", [0, 7, 10_000])
async def test_a_number_that_the_series_has_not_is_not_counted(store, number):
    of = await begun(store)
    other = replace(of, spec=replace(of.spec, matches=10_000))

    assert await store.count(counting(other, number)) is None
    assert (await last(store, of)).version == 1
    assert number == 0 or await store.order(of.series_id, number) is None


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("duplicate", [True, False])
async def test_sums_are_those_of_the_engine(store, players, duplicate):
    of = await begun(store, matches=3 * players + 1, players=players, duplicate=duplicate)
    sums, deals = none_yet(players), dict[int, tuple[int, ...]]()
    for number in range(of.spec.matches, 0, -1):
        await store.count(counting(of, number))
        found = result(of, number)
        sums, deals[found.deal] = add(sums, deals.get(found.deal, ()), quantities(found))

        assert (await last(store, of)).sums == sums


async def test_a_cancelled_series_counts_nothing_more(store):
    of = await begun(store)
    await store.count(counting(of, 1))
    before = await last(store, of)

    assert await store.cancel(of, NOW + 70, 900)
    assert not await store.cancel(of, NOW + 80, 900)

    after = await last(store, of)
    assert after == Step(3, NOW + 70, before.sums, cancelled=True)
    assert after.status(of.spec) is SeriesStatus.CANCELLED
    assert await store.count(counting(of, 2)) is None
    assert await store.order(of.series_id, 2) is None
    assert await store.halt(of.series_id) == Halt(NOW + 70, ())
    assert await last(store, of) == after


async def test_a_finished_series_cannot_be_cancelled(store):
    of = await begun(store, matches=1)
    await store.count(counting(of, 1))

    assert not await store.cancel(of, NOW, 900)
    assert (await last(store, of)).status(of.spec) is SeriesStatus.FINISHED


async def test_an_order_is_what_there_is_to_play(store):
    of = await begun(store)

    assert await store.order(of.series_id, 2) == (of, Order(of.series_id, of.spec, 2, NOW, SECRET))
    await store.count(counting(of, 2))
    assert await store.order(of.series_id, 2) is None


async def test_what_was_sent_and_not_counted_is_known(store):
    of = await begun(store, matches=40)
    assert await store.halt(of.series_id) == Halt(NOW, (1, 2))
    for number in (2, 1, 4, 9, 17):
        await store.count(counting(of, number))

    assert await store.halt(of.series_id) == Halt(NOW + 17, (3, 5, 6, 7))


async def test_a_series_is_due_until_it_is_over(store):
    finished, cancelled = await begun(store, matches=1), await begun(store)

    async def due(now: int) -> dict[str, int]:
        ids = {finished.series_id, cancelled.series_id}
        return {i: at for i, at in await store.due(now, 1000) if i in ids}

    assert await due(NOW + 49) == {}
    assert await due(NOW + 50) == {finished.series_id: NOW + 50, cancelled.series_id: NOW + 50}
    await store.count(counting(cancelled, 1))
    assert (await due(NOW + 90))[cancelled.series_id] == NOW + 90
    await store.count(counting(finished, 1))
    await store.cancel(cancelled, NOW, 60)
    assert await due(10**13) == {}


async def test_postponing_moves_only_the_time_that_was_seen(store):
    of = await begun(store)

    assert await store.postpone(of.series_id, NOW + 50, NOW + 500)
    assert not await store.postpone(of.series_id, NOW + 50, NOW + 900)
    assert (of.series_id, NOW + 500) in await store.due(NOW + 500, 1000)
    await store.forget(of.series_id)
    assert not await store.postpone(of.series_id, NOW + 500, NOW + 900)


async def test_an_owner_has_only_so_many_running_series(store):
    owner = new_match_id()
    running = [await begun(store, owner=owner) for _ in range(4)]
    fifth = series(owner=owner)
    assert await store.open(opening(fifth)) is None
    assert await store.find(fifth.series_id) is None
    assert await store.open(opening(series())) is not None

    await store.cancel(running[0], NOW, 60)
    assert await store.open(opening(fifth)) == fifth.series_id
    assert await store.open(opening(series(owner=owner))) is None

    last_one = running[1]
    for number in range(1, 7):
        await store.count(counting(last_one, number))
    assert await store.open(opening(series(owner=owner))) is not None


async def test_of_ten_openings_that_race_four_are_allowed(store):
    owner = new_match_id()

    opened = await asyncio.gather(*(store.open(opening(series(owner=owner))) for _ in range(10)))

    assert sum(series_id is not None for series_id in opened) == 4


async def test_a_key_makes_one_series(store):
    owner = new_match_id()
    key = Key(owner, "k", "f")
    made = [await store.open(opening(series(owner=owner), key=key)) for _ in range(6)]

    assert len(set(made)) == 1
    assert made[0] is not None


async def test_a_key_is_its_callers_first_request_for_it_matches_included(store, log):
    owner, match_id = new_match_id(), new_match_id()

    assert await store.claim(Key(owner, "k", "f"))
    assert await store.claim(Key(owner, "k", "f"))
    assert not await store.claim(Key(owner, "k", "other"))
    assert await store.claim(Key("else", owner, "other"))
    assert (await log.load(match_id, 0, Key(owner, "k", "move")))[1].fingerprint == "f"


async def test_replays_are_kept_where_they_are_given(store):
    of = await begun(store)
    await store.count(counting(of, 1, replay=b"\x00\xff"))
    await store.count(counting(of, 2))

    assert await store.replay(of.series_id, 1) == b"\x00\xff"
    assert await store.replay(of.series_id, 2) is None


async def test_the_bell_rings_for_every_step(store, log):
    of = await begun(store)
    heard: list[Ring] = []

    async def listen() -> None:
        async with aclosing(log.bells()) as bells:
            async for rung in bells:
                if rung is None:
                    listening.set()
                elif of.series_id in rung.matches:
                    heard.append(rung)
                    return

    for change in (lambda: store.count(counting(of, 1)), lambda: store.cancel(of, NOW, 60)):
        listening = asyncio.Event()
        listener = asyncio.create_task(listen())
        await listening.wait()
        await all_listen(log)
        await change()
        await asyncio.wait_for(listener, 5)

    assert len(heard) == 2
