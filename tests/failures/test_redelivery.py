"""A task delivered three times (kind 20), in time and long after: one move, one score."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
from celery import Celery
from redis.asyncio import Redis

from api import broker
from api.store.connections import connect
from engine.audit import audit
from tests.conftest import Stack, until_finished
from tests.failures.people import BOT, PLAYER, people

QUEUES = {broker.BOT: "bots", broker.SCORE: "scoring", broker.CLOCK: "bots"}
Send = Callable[[str, str, int], None]


@pytest.fixture
def send(stack: Stack) -> Iterator[Send]:
    """Sends a task as the API does, three times."""
    app: Celery = broker.celery_app(stack.redis_url)

    def send(task: str, match_id: str, version: int) -> None:
        for _ in range(3):
            app.send_task(task, args=(match_id, version), queue=QUEUES[task], retry=False)

    yield send
    app.close()


@pytest.fixture
async def redis(stack: Stack) -> AsyncIterator[Redis]:
    client = connect(stack.redis_url)
    yield client
    await client.aclose()


async def worked_off(redis: Redis) -> None:
    """Wait until no task waits or is being done."""
    async with asyncio.timeout(30):
        while True:
            counts = [await redis.llen("bots"), await redis.llen("scoring")]
            counts.append(await redis.hlen("unacked"))
            if not any(counts):
                return
            await asyncio.sleep(0.05)


async def test_a_match_whose_every_task_comes_four_times_is_as_any_other(stack, send, redis):
    async with people(stack, 1) as (ann,):
        match = await ann.rest.create(BOT, BOT, BOT, visibility="PUBLIC")
        match_id = match["id"]
        async for update in ann.graphql.updates(match_id, 0):
            for task in (broker.BOT, broker.SCORE):
                send(task, match_id, update["version"])
        end = await ann.match(match_id)
        await worked_off(redis)
        replay = (await ann.rest.get(f"/matches/{match_id}/replay")).json()

        assert audit(replay) == []  # no version with another's move, no result twice
        kinds = Counter(e["type"] for v in replay["log"] for e in v["events"])
        assert (kinds["HandsDealt"], kinds["RoundEnded"], kinds["MatchFinished"]) == (3, 3, 1)
        for version in range(1, end["version"] + 2):
            for task in QUEUES:
                send(task, match_id, version)
        await worked_off(redis)
        assert await ann.match(match_id) == end


async def test_tasks_of_versions_that_have_passed_do_nothing_for_a_player(stack, send, redis):
    async with people(stack, 1) as (ann,):
        match = await ann.rest.create(PLAYER, BOT, BOT, visibility="PUBLIC", turnSeconds=86_400)
        match_id = match["id"]
        assert (await ann.by_rest(match_id, "hand", {"flip": False}))[0] == "OK"
        async with asyncio.timeout(20):
            async for update in ann.graphql.updates(match_id):
                round_ = update["match"]["round"]
                if round_ and round_["turn"] == 0:
                    break
        before = await ann.match(match_id)
        for version in range(1, before["version"] + 1):  # the one that waits for her, too
            for task in QUEUES:
                send(task, match_id, version)
        other = await ann.rest.create(BOT, BOT, visibility="PUBLIC")
        assert (await until_finished(ann.graphql, other["id"], 30))["winners"]
        await worked_off(redis)

        assert await ann.match(match_id) == before
