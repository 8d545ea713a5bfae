"""What a commit leaves out because it is known to be so, and what it must not leave out."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from api.ports import Append, Commit
from api.store import keys
from api.store.connections import connect
from api.store.keys import new_match_id
from api.store.redis import RedisStore
from engine.events import HandChosen

TTL = 100_000  # a hundredth of it is far more than any append takes
LEFT_OUT = ("pexpire", "pttl", "zadd", "zrem")


@pytest.fixture
async def processes(redis_url) -> AsyncIterator[tuple[RedisStore, RedisStore]]:
    """The stores of two processes."""
    clients = [connect(redis_url) for _ in range(2)]
    yield RedisStore(clients[0]), RedisStore(clients[1])
    for client in clients:
        await client.aclose()


def append(match_id: str, version: int, **more) -> Append:
    commit = Commit(
        version, 1_700_000_000_000, (HandChosen(1, True, None),), f"n{version}", "ab" * 32
    )
    previous = f"n{version - 1}" if version > 1 else ""
    fields = {"due_at": None, "ttl": TTL, "previous": previous, **more}
    return Append(match_id=match_id, commit=commit, **fields)


async def calls(redis: Redis) -> list[int]:
    """How often each of those commands was carried out."""
    stats = await redis.info("commandstats")
    return [stats.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in LEFT_OUT]


async def left(redis: Redis, match_id: str) -> int:
    """For how many milliseconds a log is kept."""
    return await redis.pttl(keys.log(match_id))


async def is_due(redis: Redis, match_id: str) -> bool:
    return await redis.zscore(keys.due(keys.shard(match_id)), match_id) is not None


async def test_moves_that_follow_our_own_change_neither_due_set_nor_expiry(processes, redis):
    store, match_id = processes[0], new_match_id()
    assert await store.append(append(match_id, 1))
    before = await calls(redis)

    for version in range(2, 40):
        assert await store.append(append(match_id, version))

    assert await calls(redis) == before
    assert TTL * 1000 < await left(redis, match_id) <= TTL * 1010


async def test_a_log_is_kept_for_long_enough_behind_a_process_of_the_release_before(
    processes, redis
):
    ours, theirs = processes
    match_id = new_match_id()
    await ours.append(append(match_id, 1))
    await theirs.append(append(match_id, 2))
    await redis.expire(keys.log(match_id), TTL)  # as it does with every commit
    await asyncio.sleep(0.05)
    assert await left(redis, match_id) < TTL * 1000

    await ours.append(append(match_id, 3))

    assert await left(redis, match_id) > TTL * 1000


async def test_a_log_that_is_no_longer_kept_for_long_enough_is_kept_anew(
    processes, redis, monkeypatch
):
    store, match_id = processes[0], new_match_id()
    await store.append(append(match_id, 1))
    await redis.pexpire(keys.log(match_id), TTL * 1000 - 1)  # so much later is it
    later = time.time() + TTL / 100
    monkeypatch.setattr("api.store.redis.time.time", lambda: later)

    await store.append(append(match_id, 2))

    assert await left(redis, match_id) > TTL * 1000


async def test_a_log_is_kept_for_less_once_that_is_asked_for(processes, redis):
    ours, theirs = processes
    match_id = new_match_id()
    await ours.append(append(match_id, 1))

    await theirs.append(append(match_id, 2, ttl=TTL // 2))

    assert await left(redis, match_id) <= TTL // 2 * 1010


async def test_what_another_process_was_owed_goes_with_our_commit(processes, redis):
    ours, theirs = processes
    match_id = new_match_id()
    await ours.append(append(match_id, 1))
    await ours.append(append(match_id, 2))
    await theirs.append(append(match_id, 3, due_at=5))
    assert await is_due(redis, match_id)

    await ours.append(append(match_id, 4))

    assert not await is_due(redis, match_id)


async def test_what_we_were_owed_goes_with_our_next_commit(processes, redis):
    store, match_id = processes[0], new_match_id()
    await store.append(append(match_id, 1, due_at=5))
    assert await is_due(redis, match_id)

    await store.append(append(match_id, 2))

    assert not await is_due(redis, match_id)


async def test_an_open_match_counts_for_as_long_as_its_log_is_kept(processes, redis):
    store, match_id = processes[0], new_match_id()
    opened = keys.open_matches(keys.shard(match_id))
    await store.append(append(match_id, 1))
    await store.append(append(match_id, 2))

    gone = await redis.execute_command("PEXPIRETIME", keys.log(match_id))
    assert abs(await redis.zscore(opened, match_id) - gone) < 5000

    await store.append(append(match_id, 3, over=True, ttl=2 * TTL))

    assert await redis.zscore(opened, match_id) is None
    assert 2 * TTL * 1000 - 5000 < await left(redis, match_id) <= 2 * TTL * 1000


async def test_a_bell_is_cut_though_no_match_gets_far(processes, redis):
    store, match_id = processes[0], new_match_id()
    bell = keys.bell(keys.shard(match_id))
    async with redis.pipeline(transaction=False) as pipe:
        for _ in range(6000):
            pipe.xadd(bell, {"m": match_id})
        await pipe.execute()

    await store.append(append(match_id, 1))

    assert await redis.xlen(bell) < 4096 + 200
