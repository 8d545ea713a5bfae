"""How many matches there are, as Redis knows it."""

from dataclasses import dataclass

from redis.asyncio import Redis

from api.store import keys
from api.store.connections import reaching
from engine.state import Status


@dataclass(frozen=True, slots=True)
class Figures:
    """Numbers of matches and series at one time.

    Attributes:
        open: matches that are not over, and have not expired.
        due: matches that are owed something, now or later.
        overdue: those of them that were owed it for a while.
        public: matches listed, by status.
        series: series that are running.
    """

    open: int
    due: int
    overdue: int
    public: dict[Status, int]
    series: int


async def figures(redis: Redis, now: int, late: int) -> Figures:
    """Count them; ``now`` in milliseconds since the epoch, ``late``: after how many it is overdue.

    Raises:
        Unavailable: Redis cannot be reached.
    """
    async with reaching("figures"), redis.pipeline(transaction=False) as pipe:
        for shard in keys.SHARDS:
            pipe.zcount(keys.open_matches(shard), now, "+inf")
            pipe.zcard(keys.due(shard))
            pipe.zcount(keys.due(shard), "-inf", now - late)
            pipe.zcard(keys.series_due(shard))
            for status in Status:
                pipe.zcard(keys.public(shard, status))
        counts = await pipe.execute()
    each = len(counts) // len(keys.SHARDS)
    open_, due, overdue, series, *public = (sum(counts[n::each]) for n in range(each))
    return Figures(open_, due, overdue, dict(zip(Status, public, strict=True)), series)
