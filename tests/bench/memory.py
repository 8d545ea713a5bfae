"""What an open match keeps in memory, in the API process and in Redis, nobody following it."""

from collections.abc import Iterator
from typing import Any, Final

from redis import Redis

from tests.bench.driver import crowd
from tests.bench.figures import Figure, middle
from tests.bench.machine import resident
from tests.bench.serving import serving

RUNS: Final = 5
BATCH: Final = 80  # 400 in all, which the API process keeps


def memory() -> Iterator[Figure]:
    """Matches of four, hands dealt; each run opens more of them."""
    kept: list[float] = []
    stored: list[float] = []
    with serving() as served, served.redis_client() as redis, crowd("http", served.url) as people:
        people.ask("open", BATCH)  # code and documents that all share
        for run in range(2, RUNS + 2):
            rss, used = resident(served.api), _used(redis)
            people.ask("open", BATCH * run)
            kept.append((resident(served.api) - rss) / BATCH)
            stored.append((_used(redis) - used) / BATCH / 1024)
    yield middle("API memory of an open match", kept, "KiB")
    yield middle("Redis memory of an open match", stored, "KiB", note="queues and bells included")


def _used(redis: Redis) -> int:
    told: Any = redis.info("memory")
    return int(told["used_memory"])
