"""A match that fails holds up no other (kind 15), and says so with a code.

Levels that raise or hang: tests/e2e/test_bad_levels.py; the sweeper past such a match:
tests/e2e/test_unreadable.py; Redis gone or slow: tests/store/test_outage.py.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from statistics import median

import pytest

from api.store import keys
from api.store.connections import connect
from tests.client import messages, subscribe
from tests.conftest import Stack, until_finished
from tests.failures.people import BOT, OPEN, PLAYER, Person, people

RECORD = b'{"s":2,"at":1,"n":"x","h":"00","e":[{"type":"Later"}]}'


@pytest.fixture
async def failing(stack: Stack) -> AsyncIterator[str]:
    """A public match whose log has an entry that nobody can read."""
    redis = connect(stack.redis_url)
    async with people(stack, 1) as (ann,):
        match = await ann.rest.create(PLAYER, OPEN, visibility="PUBLIC")
    match_id = match["id"]
    await redis.xadd(keys.log(match_id), {"c": RECORD}, id=f"{match['version'] + 1}-0")
    yield match_id
    shard = keys.shard(match_id)
    await redis.delete(keys.log(match_id))
    for listed in (None, "LOBBY"):
        name = keys.public(shard, None).replace("ALL", listed or "ALL")
        await redis.zrem(name, match_id)
    await redis.aclose()


async def test_whoever_asks_for_it_is_told_with_a_code(stack, failing):
    async with people(stack, 1) as (ann,):
        read = await ann.graphql.post("query ($m: ID!) { match(id: $m) { id } }", m=failing)
        written, _ = await ann.by_graphql(failing, "join", {"name": "Ann"})
        async with ann.graphql.socket() as ws:
            await subscribe(ws, "1", failing)
            streamed = await anext(messages(ws))
            await ws.send(json.dumps({"type": "ping"}))
            assert json.loads(await ws.recv())["type"] == "pong"
        answers = [
            await ann.rest.get(f"/matches/{failing}"),
            await ann.rest.get(f"/matches/{failing}/updates"),
            await ann.rest.post(f"/matches/{failing}/join", {"name": "Ann"}),
            await ann.http.get(
                f"/v1/matches/{failing}/updates", headers={"accept": "text/event-stream"}
            ),
        ]

    assert read["errors"][0]["extensions"]["code"] == written == "INTERNAL"
    assert (streamed["type"], streamed["payload"][0]["extensions"]["code"]) == ("error", "INTERNAL")
    for answer in answers:
        assert (answer.status_code, answer.json()["code"]) == (500, "INTERNAL")
        assert "Later" not in answer.text


async def latencies(person: Person, match_id: str, count: int) -> list[float]:
    """How long a choice that was made already and a look take, by both transports."""
    found = []
    for number in range(count):
        begun = time.perf_counter()
        if number % 2:
            await person.by_rest(match_id, "show", {"first": 0, "count": 40})
        else:
            assert await person.graphql.match(match_id)
        found.append(time.perf_counter() - begun)
    return found


async def test_the_others_keep_their_pace(stack, failing):
    async with people(stack, 2) as (ann, eve):
        healthy = await ann.rest.create(PLAYER, BOT, visibility="PUBLIC")
        alone = await latencies(ann, healthy["id"], 60)
        stopped = asyncio.Event()
        asked = 0

        async def nag() -> None:
            nonlocal asked
            while not stopped.is_set():
                assert (await eve.rest.get(f"/matches/{failing}")).status_code == 500
                assert (await eve.by_graphql(failing, "join", {"name": "Eve"}))[0] == "INTERNAL"
                asked += 2
                await asyncio.sleep(0.02)

        nagging = asyncio.create_task(nag())
        beside = await latencies(ann, healthy["id"], 60)
        while asked < 20 and not nagging.done():
            beside += await latencies(ann, healthy["id"], 20)
        bots = await ann.rest.create(BOT, BOT, BOT, visibility="PUBLIC")
        end = await until_finished(ann.graphql, bots["id"], 30)
        stopped.set()
        await nagging

    assert end["winners"]
    assert median(beside) < 3 * median(alone) + 0.02
    assert sorted(beside)[-4] < 0.5
