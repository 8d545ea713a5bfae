"""What a move costs at Redis, as Redis sees it."""

import asyncio

import pytest
from redis.asyncio import Redis

from api.store.connections import connect
from tests.client import Client, messages, subscribe
from tests.conftest import Stack


async def until_done(redis: Redis, monitor, word: str) -> list[str]:
    """The commands with a word in them that Redis was sent, but not those of scripts."""
    await redis.set("done", 1)
    sent: list[str] = []
    async with asyncio.timeout(10):
        while True:
            command = await monitor.next_command()
            if command["command"].startswith("SET done"):
                return sent
            name = command["command"].split()[0]
            # The sweeper looks whether a match that is listed has expired.
            if word in command["command"] and command["client_type"] != "lua" and name != "EXISTS":
                sent.append(name)


@pytest.mark.parametrize(
    ("followed", "meta", "trips"),
    [
        (False, {}, ["XRANGE", "EVALSHA"]),
        # What is known is likely to be all; the script finds out whether it is.
        (False, {"expectedVersion": 4}, ["EVALSHA"]),
        (True, {}, ["EVALSHA"]),
        (True, {"idempotencyKey": "k"}, ["XRANGE", "GET", "EVALSHA"]),  # the first two in one
    ],
)
async def test_a_move_costs_two_round_trips_or_one(client, stack, followed, meta, trips):
    # On a busy machine a bell is now and then heard before the answer to the commit that rang it,
    # and the commit read back.
    for _ in range(3):
        sent = await sent_for_a_move(client, stack, meta, followed=followed)
        if sent == trips:
            return
    assert sent == trips


async def sent_for_a_move(client: Client, stack: Stack, meta: dict, *, followed: bool) -> list[str]:
    """The commands about a match while one of its two players moves."""
    async with Client(stack.url) as bob, client.socket() as ws:
        await bob.sign_in("Bob")
        match = await client.create({"kind": "PLAYER"}, {"kind": "OPEN"}, visibility="PUBLIC")
        await bob.join(matchId=match["id"], name="Bob")
        await client.choose(match["id"])
        match = (await bob.choose(match["id"]))["match"]
        mover = (client, bob)[match["round"]["turn"]]
        if "idempotencyKey" in meta:
            meta = {"idempotencyKey": match["id"]}  # one of its own at each attempt
        if followed:
            await subscribe(ws, "1", match["id"])
            await anext(messages(ws))

        redis = connect(stack.redis_url)
        async with redis.monitor() as monitor:
            payload = await mover.show(match["id"], 0, 1, **meta)
            if followed:
                await anext(messages(ws))
                await asyncio.sleep(0.1)  # for the process to hear the bell of its own commit
            sent = await until_done(redis, monitor, match["id"])
        await redis.aclose()
    assert payload["userErrors"] == []
    return sent


async def test_what_is_counted_for_the_limits_is_seldom_asked_of_redis(client, stack):
    match = await client.create({"kind": "PLAYER"}, {"kind": "OPEN"})
    redis = connect(stack.redis_url)
    async with redis.monitor() as monitor:
        for _ in range(50):
            assert (await client.show(match["id"], 0, 1))["userErrors"]
        asked = await until_done(redis, monitor, "rm:limit")
    await redis.aclose()

    # The player's bucket and the address's, each at most with a question after it.
    assert len(asked) <= 4
