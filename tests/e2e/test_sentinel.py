"""A failover by Sentinel under play: what was acknowledged is there, and the matches go on."""

import asyncio
import time

from tests.client import Client
from tests.conftest import start_stack
from tests.redises import replicated, sentinels

BOT, PLAYER, OPEN = {"kind": "BOT"}, {"kind": "PLAYER"}, {"kind": "OPEN"}
FAILOVER_SECONDS = 40


async def test_matches_go_on_when_the_primary_is_killed(tmp_path):
    with replicated(tmp_path, 2) as nodes, sentinels(tmp_path, nodes[0]) as url:
        stack = await asyncio.to_thread(
            start_stack,
            tmp_path,
            RINGMASTER_REDIS_URL=url,
            RINGMASTER_REPLICAS="1",
            RINGMASTER_BOT_GRACE_MS="500",
        )
        async with Client(stack.url) as ann:
            await ann.sign_in("Ann")
            played = [await ann.create(BOT, BOT, BOT, visibility="PUBLIC") for _ in range(3)]
            acknowledged: list[str] = []
            opening = asyncio.create_task(keep_opening(ann, acknowledged))
            await until_more(acknowledged, 10)

            await asyncio.to_thread(nodes[0].kill)
            began = time.monotonic()
            await until_more(acknowledged, 10)
            assert time.monotonic() - began < FAILOVER_SECONDS
            opening.cancel()

            for match_id in acknowledged:
                assert await ann.match(match_id), "acknowledged, and lost"
            for match in played:
                await finished(ann, match["id"])
            after = await ann.create(BOT, BOT, BOT)
            await finished(ann, after["id"])
        await asyncio.to_thread(stack.stop)


async def keep_opening(ann: Client, acknowledged: list[str]) -> None:
    """Open matches one after the other, and remember those that were acknowledged."""
    while True:
        try:
            acknowledged.append((await ann.create(PLAYER, OPEN))["id"])
        except AssertionError:  # refused, as it should be while there is no primary
            await asyncio.sleep(0.1)


async def until_more(found: list[str], count: int) -> None:
    wanted = len(found) + count
    async with asyncio.timeout(FAILOVER_SECONDS + 20):
        while len(found) < wanted:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.1)


async def finished(ann: Client, match_id: str) -> None:
    async with asyncio.timeout(90):
        while True:
            answer = await ann.post("query ($m: ID!) { match(id: $m) { status } }", m=match_id)
            if "errors" not in answer and answer["data"]["match"]["status"] == "FINISHED":
                return
            await asyncio.sleep(0.2)
