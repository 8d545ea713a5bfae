"""A real worker on a real broker: tasks delivered twice, lost, late."""

import asyncio

from api import broker
from api.broker import celery_app
from api.store.connections import connect
from api.store.redis import RedisStore
from tests.conftest import until_finished
from tests.observed import counted, of

BOT = {"kind": "BOT"}


async def test_messages_delivered_again_change_nothing(client, stack):
    match = await client.create(*[BOT] * 3, visibility="PUBLIC")
    finished = await until_finished(client, match["id"])
    app = celery_app(stack.redis_url)

    def send_everything_again() -> None:
        for version in range(1, finished["version"] + 1):
            for task, queue in broker.ROUTES.items():
                app.send_task(task, args=(match["id"], version), queue=queue)
        app.close()

    await asyncio.to_thread(send_everything_again)
    other = await client.create(*[BOT] * 3, visibility="PUBLIC")
    await until_finished(client, other["id"])  # by then the ones before were taken

    assert await client.match(match["id"]) == finished


async def test_messages_that_mean_nothing_stop_no_worker(client, stack):
    app = celery_app(stack.redis_url)

    def send() -> None:
        for args in (("nonsense", 1), ("m0-aaaaaaaaaaaaaaaa", -1), (), (1, "x"), ("m0", None, 3)):
            app.send_task(broker.BOT, args=args, queue="bots")
        app.close()

    await asyncio.to_thread(send)
    match = await client.create(*[BOT] * 3, visibility="PUBLIC")

    assert (await until_finished(client, match["id"]))["winners"]


async def test_the_sweeper_sends_again_what_was_lost(client, stack):
    redis = connect(stack.redis_url)
    try:
        matches = [await client.create(*[BOT] * 4, visibility="PUBLIC") for _ in range(3)]
        for _ in range(5):  # throw away what waits in the queues, as a broker that died would
            await redis.delete("bots", "scoring")
            await asyncio.sleep(0.02)
        for match in matches:
            assert (await until_finished(client, match["id"]))["winners"]

        due = dict(await RedisStore(redis).due(10**15, 1000))
        assert not due.keys() & {match["id"] for match in matches}
        found = await asyncio.to_thread(counted, stack, "ringmaster_sweeper_catches_total")
        assert of(found, "ringmaster_sweeper_catches_total", "kind")["bot"] > 0
    finally:
        await redis.aclose()
