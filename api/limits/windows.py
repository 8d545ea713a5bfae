"""Fixed windows in Redis: how many hits of a key, and when they are forgotten."""

from importlib.resources import files
from typing import Protocol

from redis.asyncio import Redis

from api.store import keys
from api.store.connections import reaching


class Windows(Protocol):
    """Counts hits of a key for all processes, from its first one on for some seconds."""

    async def take(
        self, key: str, seconds: int, amount: int, *, known: bool
    ) -> tuple[int, float | None]:
        """Count hits; the count with these, and the seconds until it begins anew.

        The seconds are None if the caller knows the window and it is still the same.

        Raises:
            Unwritable: the counts can be read alone.
            Unavailable: the counts cannot be reached.
        """
        ...


class RedisWindows:
    """``Windows`` in Redis, each a key of its own."""

    def __init__(self, redis: Redis) -> None:
        self._hit = redis.register_script((files("api.store") / "hits.lua").read_bytes())

    async def take(
        self, key: str, seconds: int, amount: int, *, known: bool
    ) -> tuple[int, float | None]:
        async with reaching("limit"):
            count, left = await self._hit(keys=[keys.limit(key)], args=[amount, 1000 * seconds])
        return count, None if known and count != amount else left / 1000
