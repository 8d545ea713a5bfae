"""A match that this release cannot read stops nothing but itself."""

import pytest

from api.store import keys
from api.store.connections import connect
from tests.conftest import until_finished

BOT = {"kind": "BOT"}


@pytest.mark.parametrize("damaged", [False, True])
async def test_one_unreadable_match_stops_no_other(client, stack, damaged):
    poisoned = await client.create({"kind": "PLAYER"}, {"kind": "OPEN"}, visibility="PUBLIC")
    match_id, version = poisoned["id"], poisoned["version"]
    redis = connect(stack.redis_url)
    try:
        record = b'{"s":2,"at":1,"n":"x","h":"00","e":[{"type":"Later"}]}'
        await redis.xadd(keys.log(match_id), {"c": record}, id=f"{version + 1}-0")
        if damaged:
            await redis.set(keys.log(match_id), "no log at all")
        await redis.zadd(keys.due(keys.shard(match_id)), {match_id: 1})

        healthy = [await client.create(*[BOT] * 3, visibility="PUBLIC") for _ in range(3)]
        # With the hints gone only the sweeper can bring them on, past the one it cannot read.
        await redis.delete("bots", "scoring")
        for match in healthy:
            assert (await until_finished(client, match["id"]))["winners"]

        page = await client.data("{ matches(first: 50) { edges { node { id } } } }")
        listed = {edge["node"]["id"] for edge in page["matches"]["edges"]}
        assert {match["id"] for match in healthy} <= listed
        assert match_id not in listed
        answer = await client.post("query ($m: ID!) { match(id: $m) { id } }", m=match_id)
        assert answer["errors"][0]["extensions"]["code"] == "INTERNAL"
        assert stack.process.poll() is None
        assert "sweeper died" not in (stack.folder / "stderr.log").read_text()
    finally:
        await redis.delete(keys.log(match_id))
        await redis.zrem(keys.due(keys.shard(match_id)), match_id)
        await redis.aclose()
