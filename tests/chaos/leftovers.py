"""What is left in Redis of matches that have expired."""

import time
from collections.abc import Iterable, Iterator
from typing import Any

from redis import Redis

from api.store import keys
from engine.state import Status


def expire(redis: Redis, match_ids: Iterable[str]) -> None:
    """Let matches expire now, as Redis does by itself once their time is over."""
    for match_id in match_ids:
        redis.pexpire(keys.log(match_id), 1)


def leftovers(redis: Redis, match_ids: Iterable[str]) -> Iterator[str]:
    """Entries of due sets, holds and lists, and keys that would stay for ever, of such matches."""
    gone = set(match_ids)
    now = int(time.time() * 1000)
    for shard in keys.SHARDS:
        # A seat is held for a time of its own, whatever becomes of the match.
        sets: list[tuple[str, Any]] = [(keys.due(shard), "+inf"), (keys.holds(shard), now)]
        sets += [(keys.public(shard, status), "+inf") for status in (None, *Status)]
        for name, until in sets:
            found: Any = redis.zrangebyscore(name, "-inf", until)
            for member in found:
                if member.decode().split()[0] in gone:
                    yield f"{name} still has {member.decode().split()[0]}"
    for key in redis.scan_iter("rm:*", count=1000):
        name = key.decode()
        if any(match_id in name for match_id in gone) and redis.ttl(key) == -1:
            yield f"{name} never expires"
