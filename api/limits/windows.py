"""Fixed windows in Redis: how many hits of a key, and when they are forgotten."""

import time
from typing import Any, Protocol

from limits.aio.storage import RedisStorage
from redis.asyncio import Redis

from api.store import keys
from api.store.redis import reaching


class Windows(Protocol):
    """Counts hits of a key for all processes, from its first one on for some seconds."""

    async def take(
        self, key: str, seconds: int, amount: int, *, known: bool
    ) -> tuple[int, float | None]:
        """Count hits; the count with these, and the seconds until it begins anew.

        The seconds are None if the caller knows the window and it is still the same.

        Raises:
            Unavailable: the counts cannot be reached.
        """
        ...


class RedisWindows:
    """``Windows`` by the storage of the ``limits`` library, on the connections of the process."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        options: Any = {"connection_pool": redis.connection_pool}  # which knows where
        self._storage = RedisStorage(
            "async+redis://", implementation="redispy", key_prefix=keys.LIMITS, **options
        )

    async def take(
        self, key: str, seconds: int, amount: int, *, known: bool
    ) -> tuple[int, float | None]:
        asked = time.monotonic()
        async with reaching():
            count = await self._storage.incr(key, seconds, amount)
            if count == amount:
                return count, float(seconds)  # the first of its window
            if known:
                return count, None
            # The library's `get_expiry` knows whole seconds only.
            left = await self._redis.pttl(f"{keys.LIMITS}:{key}") / 1000
        # A window as young as this could have begun after the hits were counted.
        young = seconds - left < time.monotonic() - asked
        return count, 0.0 if young else max(0.0, left)
