"""What a move costs at Redis, as Redis sees it."""

import asyncio

from api.store.connections import connect
from tests.client import Client


async def test_a_move_costs_two_round_trips(client, stack):
    async with Client(stack.url) as bob:
        await bob.sign_in("Bob")
        match = await client.create({"kind": "PLAYER"}, {"kind": "OPEN"}, visibility="PUBLIC")
        await bob.join(matchId=match["id"], name="Bob")
        await client.choose(match["id"])
        match = (await bob.choose(match["id"]))["match"]
        mover = (client, bob)[match["round"]["turn"]]

        redis = connect(stack.redis_url)
        async with redis.monitor() as monitor:
            payload = await mover.show(match["id"], 0, 1)
            commands: list[dict] = []
            async with asyncio.timeout(5):
                while not any("bell" in command["command"] for command in commands):
                    command = await monitor.next_command()
                    if match["id"] in command["command"]:
                        commands.append(command)
        await redis.aclose()

    assert payload["userErrors"] == []
    sent = [c["command"].split()[0] for c in commands if c["client_type"] != "lua"]
    assert sent == ["XRANGE", "EVALSHA"]


async def test_what_is_counted_for_the_limits_is_seldom_asked_of_redis(client, stack):
    match = await client.create({"kind": "PLAYER"}, {"kind": "OPEN"})
    redis = connect(stack.redis_url)
    asked = 0
    async with redis.monitor() as monitor:
        for _ in range(50):
            assert (await client.show(match["id"], 0, 1))["userErrors"]
        await redis.set("done", 1)
        async with asyncio.timeout(10):
            while True:
                command = await monitor.next_command()
                if command["command"].startswith("SET done"):
                    break
                asked += command["client_type"] != "lua" and "rm:limit" in command["command"]
    await redis.aclose()

    assert (
        asked <= 4
    )  # the player's bucket and the address's, each at most with a question after it
