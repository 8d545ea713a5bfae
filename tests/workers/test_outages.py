"""Times that an outage took are given again, by pulses in a real Redis, an hour old or fresh."""

# mypy: disable-error-code="union-attr"

import asyncio
from typing import Any

import pytest
from redis.asyncio import Redis

from api.bootstrap import Parts
from api.ledger import now_ms
from api.service import MatchService
from api.store import keys
from api.store.connections import connect
from api.store.redis import RedisDirectory, RedisStore
from engine.due import ClockToExpire, MatchToAbandon
from engine.state import Status
from engine.views import TurnRanOut
from tests.api.test_away import SECONDS, alone_and_away
from tests.api.test_service import BOT, PLAYER, World, new
from workers import house
from workers.outages import APART_MS, RECONNECT_MS, SILENCE_MS, Outages
from workers.sweeper import Sweeper

HOUR = 3_600_000


async def pulse(redis: Redis, **ago: int) -> int:
    """Say who was last at work so many milliseconds ago; the time of Redis."""
    seconds, micros = await redis.time()
    now = seconds * 1000 + micros // 1000
    await redis.hset(keys.PULSES, mapping={who: now - ms for who, ms in ago.items()})
    return now


async def outages(redis: Redis) -> Outages:
    found = Outages(RedisStore(redis))
    await found.look()
    return found


async def test_nobody_is_missed_who_never_was_there(redis):
    found = await outages(redis)

    assert (found.lasts, found.took(now_ms())) == (False, False)
    assert int(await redis.hget(keys.PULSES, "sweeper")) > 0


async def test_a_short_silence_is_none(redis):
    now = await pulse(redis, api=SILENCE_MS - 1000, sweeper=SILENCE_MS - 1000)

    found = await outages(redis)
    assert (found.lasts, found.took(now)) == (False, False)


@pytest.mark.parametrize(
    ("ago", "lasts"),
    [
        ({"api": 200, "sweeper": HOUR}, False),
        ({"api": HOUR, "sweeper": 200}, True),
        ({"api": HOUR, "sweeper": HOUR + 900}, True),
    ],
)
async def test_an_outage_is_from_the_last_pulse_until_now(redis, ago, lasts):
    now = await pulse(redis, **ago)
    begun = now - max(ago.values())

    found = await outages(redis)

    assert found.lasts is lasts
    assert [found.took(begun + ms) for ms in (-1, 0, HOUR // 2)] == [False, True, True]
    assert found.took(found.until + RECONNECT_MS)
    assert not found.took(found.until + RECONNECT_MS + 1)


async def test_it_is_remembered_by_the_sweeper_after(redis):
    now = await pulse(redis, api=200, sweeper=HOUR)
    await outages(redis)

    found = await outages(redis)
    assert (found.lasts, found.took(now - HOUR // 2)) == (False, True)
    assert not found.took(now - HOUR - 1)


@pytest.mark.parametrize(("apart", "one"), [(APART_MS // 2, True), (2 * APART_MS, False)])
async def test_outages_that_follow_each_other_soon_are_one(redis, apart, one):
    now = await pulse(redis, api=SILENCE_MS + 1000, sweeper=0)
    await RedisStore(redis).keep_outage(now - HOUR, now - apart)

    found = await outages(redis)

    assert found.lasts
    assert found.took(now - HOUR // 2) is one


async def test_it_ends_once_the_api_is_at_work_again(redis):
    store = RedisStore(redis)
    now = await pulse(redis, api=HOUR, sweeper=0)
    found = await outages(redis)
    assert found.lasts

    await store.pulse("api")
    await found.look()

    assert not found.lasts
    assert found.took(now - HOUR)


async def waiting(parts: Parts, world: World) -> tuple[str, int]:
    """A match that waits for ann, and her deadline, an hour ago less her time."""
    world.clock = now_ms() - HOUR
    service = world.service()
    opened = await service.create("ann", new(PLAYER, BOT, turn_seconds=SECONDS))
    match_id = opened.view.match_id
    while not isinstance((owed := await service.owed(match_id)).due, ClockToExpire):
        await house.play_bot(service, match_id, owed.version)
    assert (await parts.store.due(now_ms(), 10))[0][0] == match_id
    return match_id, owed.due.deadline


@pytest.fixture
def world(parts: Parts) -> World:
    return World(parts.store, RedisDirectory(parts.redis))


async def sweep(parts: Parts) -> None:
    sweeper = Sweeper(parts)
    await sweeper._outages.look()
    await sweeper.sweep()


async def round_of(service: MatchService, match_id: str):
    return (await service.look(match_id, "ann")).view.round


async def test_a_clock_that_ran_out_in_an_outage_runs_anew(redis, parts, world):
    match_id, _ = await waiting(parts, world)
    await pulse(redis, api=200, sweeper=HOUR + 5000)
    begun = now_ms()

    await sweep(parts)

    deadline = (await round_of(parts.service, match_id)).deadline
    assert begun + 1000 * SECONDS <= deadline <= now_ms() + 1000 * SECONDS
    assert dict(await parts.store.due(10**15, 10)) == {match_id: deadline}
    version = (await parts.service.look(match_id, "ann")).version
    await sweep(parts)
    assert (await parts.service.look(match_id, "ann")).version == version


async def test_while_the_api_cannot_be_reached_no_clock_runs_out(redis, parts, world):
    match_id, deadline = await waiting(parts, world)
    await pulse(redis, api=HOUR + 5000, sweeper=200)

    await sweep(parts)
    assert (await round_of(parts.service, match_id)).deadline == deadline
    assert await redis.llen("bots") == 0

    await parts.store.pulse("api")
    await redis.zadd(keys.due(keys.shard(match_id)), {match_id: deadline})  # as after the grace
    await sweep(parts)
    assert (await round_of(parts.service, match_id)).deadline > now_ms()


async def test_a_clock_that_ran_out_before_the_outage_has_run_out(redis, parts, world):
    match_id, deadline = await waiting(parts, world)
    await pulse(redis, api=200, sweeper=HOUR // 2)

    await sweep(parts)
    async with asyncio.timeout(5):
        while await redis.llen("bots") != 1:  # noqa: ASYNC110 - sent from a thread
            await asyncio.sleep(0.02)
    assert (await round_of(parts.service, match_id)).deadline == deadline

    version = (await parts.service.look(match_id, "ann")).version
    for _ in range(3):
        await house.expire_turn(parts.service, match_id, version)
    page, after = await parts.service.updates(match_id, None, version, 10)
    assert after == version + 1
    assert isinstance(page[0].events[0], TurnRanOut)
    assert page[0].at == deadline


@pytest.mark.parametrize(("down", "ends"), [(30_000, True), (3 * HOUR // 2, False)])
async def test_who_is_away_has_the_time_to_return_that_an_outage_took(
    redis, parts, world, down, ends
):
    world.clock = now_ms() - 2 * HOUR
    match_id = await alone_and_away(world, world.service())
    owed = await parts.service.owed(match_id)
    assert isinstance(owed.due, MatchToAbandon)
    assert await parts.store.due(now_ms(), 10)
    await pulse(redis, api=200, sweeper=down)

    await sweep(parts)

    seen = (await parts.service.look(match_id, "ann")).view.status
    assert (seen is Status.ABANDONED) == ends


async def test_processes_of_the_api_and_the_sweeper_have_a_pulse(stack):
    async with connect(stack.redis_url) as redis, asyncio.timeout(20):
        first = await pulses(redis)
        while not all(map(int.__lt__, first, await pulses(redis))):  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def pulses(redis: Redis) -> list[int]:
    found: Any = await redis.hmget(keys.PULSES, ["api", "sweeper"])
    return [int(at) for at in found]
