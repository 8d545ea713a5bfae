"""What the processes and Redis keep, once."""

from collections import Counter
from pathlib import Path
from typing import Any, Final

from redis import Redis

from tests.bench.machine import children, part, resident

# Keys that hold what belongs to many, by how to count what is in them.
SIZES: Final = {"zset": "zcard", "stream": "xlen", "hash": "hlen", "list": "llen", "set": "scard"}
SHARED: Final = {
    *("due", "open", "holds", "bell", "public", "series-due", "revoked-stream", "celery"),
}


def processes(up: int) -> dict[str, int]:
    """The processes of a stack by name, the children of its workers numbered."""
    found = {}
    for pid in children(up):
        name = part(pid)
        found[name] = pid
        for number, child in enumerate(children(pid), 1):
            found[f"{name} {number}"] = child
    return found


def kind(key: str) -> str:
    """What a key is of, by its prefix."""
    if not key.startswith("rm:"):
        return "celery"
    words = key.split(":")
    if key == "rm:revoked":
        return "revoked-stream"
    return words[2] if words[1].startswith("{s") else words[1]


def sample(up: int, redis: Redis) -> dict[str, float]:
    """Memory in KiB and open files of each process, keys and members of each kind in Redis."""
    found: dict[str, float] = {}
    for name, pid in processes(up).items():
        found[f"rss/{name}"] = resident(pid)
        found[f"files/{name}"] = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    memory: Any = redis.info("memory")
    found["redis/memory"] = memory["used_memory"] / 1024
    count: Counter[str] = Counter()
    for key in redis.scan_iter(count=1000):
        of = kind(key)
        count[f"keys/{of}"] += 1
        if of in SHARED:
            count[f"members/{of}"] += _size(redis, key)
    count["keys/guest"] -= count["keys/revoked"]  # each leaves a mark among them, for a day
    return {**found, **count}


def _size(redis: Redis, key: str) -> int:
    how = SIZES.get(str(redis.type(key)))
    return int(getattr(redis, how)(key)) if how else 1
