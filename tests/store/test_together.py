"""What is asked in one turn of the loop goes to a real Redis at once; each has their answer."""

import asyncio
import signal
from collections.abc import AsyncIterator

import pytest
from prometheus_client import REGISTRY
from redis.asyncio import Redis
from redis.exceptions import NoScriptError, ResponseError

from api import patience
from api.errors import Unavailable
from api.store.connections import connect, reaching
from api.store.together import Together
from tests.conftest import RedisServer, start_redis


@pytest.fixture
def together(redis: Redis) -> Together:
    return Together(redis)


@pytest.fixture
async def frozen(tmp_path) -> AsyncIterator[tuple[RedisServer, Redis]]:
    """A Redis of one's own, to be stopped, and a client with but two connections to it."""
    server = start_redis(tmp_path)
    client = connect(server.url, max_connections=2)
    yield server, client
    server.process.send_signal(signal.SIGCONT)
    await client.aclose()
    server.stop()


async def reads(redis: Redis) -> int:
    """How often Redis has read from its connections, this time included."""
    return int((await redis.info("stats"))["total_reads_processed"])


def timeouts() -> float:
    """How many operations of this process were counted as timed out."""
    return REGISTRY.get_sample_value("ringmaster_redis_failures_total", {"kind": "timeout"}) or 0


async def test_what_is_asked_in_one_turn_is_read_at_once(redis, together):
    before = await reads(redis)
    answers = await asyncio.gather(*(together.run("INCR", "n") for _ in range(20)))
    assert answers == list(range(1, 21))
    assert await reads(redis) - before == 2  # theirs, and this question


async def test_what_is_asked_one_after_the_other_waits_for_nothing_else(redis, together):
    before = await reads(redis)
    assert [await together.run("INCR", "n") for _ in range(3)] == [1, 2, 3]
    assert await reads(redis) - before == 4


async def test_each_has_their_own_answer_or_refusal(together):
    asked = [("SET", "a", "1"), ("LPOP", "a"), ("GET", "a"), ("EVALSHA", "ab" * 20, 0)]
    told = await asyncio.gather(*(together.run(*c) for c in asked), return_exceptions=True)
    assert isinstance(told[1], ResponseError)
    assert "WRONGTYPE" in str(told[1])
    assert told[2] == b"1"
    assert isinstance(told[3], NoScriptError)


async def test_several_commands_of_one_keep_their_order_among_those_of_others(redis, together):
    before = await reads(redis)
    first, second = await asyncio.gather(
        together.ask([("SET", "a", "1"), ("GET", "a")]),
        together.ask([("INCR", "a"), ("GET", "a")]),
    )
    assert (first, second) == ([b"OK", b"1"], [2, b"2"])
    assert await reads(redis) - before == 2


async def test_a_refusal_of_one_command_is_raised_when_all_were_carried_out(redis, together):
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        await together.ask([("SET", "a", "1"), ("LPOP", "a"), ("SET", "a", "2")])
    assert await redis.get("a") == b"2"


async def test_who_goes_away_takes_nothing_from_the_others(together):
    first, second = (asyncio.create_task(together.run("INCR", "n")) for _ in range(2))
    await asyncio.sleep(0)  # both have asked
    first.cancel()
    assert await second == 2
    assert first.cancelled()
    assert await together.run("GET", "n") == b"2"


async def test_a_connection_that_was_cut_is_opened_anew_for_all(redis, together):
    await together.run("SET", "a", "1")
    await redis.client_kill_filter(_type="normal", skipme=False)
    assert await asyncio.gather(*(together.run("GET", "a") for _ in range(3))) == [b"1"] * 3


async def test_nothing_hangs_on_a_redis_that_does_not_answer(frozen, monkeypatch):
    monkeypatch.setattr(patience, "ANSWER_SECONDS", 0.5)
    server, redis = frozen
    together = Together(redis)
    before = timeouts()

    async def ask() -> bytes | None:
        async with reaching("test"):
            return await together.run("GET", "a")

    assert await ask() is None
    server.process.send_signal(signal.SIGSTOP)
    for _ in range(3):  # more than there are connections
        told = await asyncio.gather(ask(), ask(), return_exceptions=True)
        assert [type(error) for error in told] == [Unavailable] * 2
    assert timeouts() - before == 6  # as many as have asked
    server.process.send_signal(signal.SIGCONT)
    assert list(await asyncio.gather(ask(), ask())) == [None] * 2
