"""Public matches that have expired leave the lists, though nobody reads those."""

from typing import Any

from redis.asyncio import Redis

from api.bootstrap import build
from api.settings import Settings
from api.store import keys
from tests.api.test_service import OPEN, PLAYER, new
from workers.sweeper import Sweeper


async def listed(redis: Redis) -> set[str]:
    """The members of every list there is."""
    found: set[str] = set()
    async for name in redis.scan_iter("rm:*:public:*"):
        members: Any = await redis.zrange(name, 0, -1)
        found |= {member.decode() for member in members}
    return found


async def test_the_sweeper_takes_expired_matches_out_of_all_lists(redis_url: str, redis: Redis):
    parts = build(Settings(redis_url=redis_url))
    opened = [await parts.service.create("ann", new(PLAYER, OPEN)) for _ in range(6)]
    ids = [answer.view.match_id for answer in opened]
    assert await listed(redis) == set(ids)
    await redis.delete(*map(keys.log, ids[:3]))  # as Redis does at the end of their time

    sweeper = Sweeper(parts)
    for _ in keys.SHARDS:
        await sweeper.unlist_expired()

    assert await listed(redis) == set(ids[3:])
    await parts.close()
