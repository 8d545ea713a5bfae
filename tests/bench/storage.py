"""What Redis does and keeps for a commit and for a whole match."""

import asyncio
import time
from collections.abc import Iterator
from itertools import pairwise
from statistics import median
from typing import Any, Final

from redis import Redis

from api.ports import Append, Commit
from api.store.connections import connect
from api.store.keys import log, new_match_id
from api.store.redis import RedisStore
from engine.events import HandChosen
from tests.bench.driver import crowd
from tests.bench.figures import Figure, middle
from tests.bench.serving import Served, serving
from tests.client import Client

MATCHES: Final = 8
SECONDS: Final = 120
MARK: Final = "bench:mark"
WATCHED: Final = 12  # moves whose commands are looked at one by one


def storage() -> Iterator[Figure]:
    """Commands and round trips of a move, bytes of commits and matches, time of an append."""
    with serving() as served:
        yield from asyncio.run(_commands(served))
        yield from asyncio.run(_append(served.redis_url))
        yield from _stored(served)


async def _commands(served: Served) -> list[Figure]:
    """One move at a time, nobody following: what its caller waits for, and what the script does."""
    redis = connect(served.redis_url)
    asked: list[dict[str, Any]] = []
    async with Client(served.url) as ann, Client(served.url) as bob:
        match = await _two_players(ann, bob)
        async with redis.monitor() as monitor:
            await redis.set(MARK, 1)
            for _ in range(WATCHED):
                mover = (ann, bob)[match["round"]["turn"]]
                seen = await mover.match(match["id"])
                assert seen is not None
                await redis.set(MARK, 1)
                match = await mover.act(seen)
                await redis.set(MARK, 1)
                if match["status"] != "PLAYING":
                    break
            await redis.set(MARK, "end")
            async with asyncio.timeout(SECONDS):
                while not asked or asked[-1]["command"] != f"SET {MARK} end":
                    asked.append(await monitor.next_command())
    keys = [key async for key in redis.scan_iter(f"rm:*:idem:{match['id']}:*")]
    remembered = [float(await redis.memory_usage(key, samples=0) or 0) for key in keys]
    await redis.aclose()
    marks = [number for number, told in enumerate(asked) if told["command"] == f"SET {MARK} 1"]
    trips, inside = [], []
    for start, end in list(pairwise(marks))[1::2]:  # between are the looks before the moves
        about = [told for told in asked[start:end] if match["id"] in told["command"]]
        trips.append(float(sum(told["client_type"] != "lua" for told in about)))
        inside.append(float(sum(told["client_type"] == "lua" for told in asked[start:end])))
    return [
        middle("Redis round trips on the way of a move's caller", trips, "", target=2, moonshot=1),
        middle("Redis commands inside the script of a move", inside, ""),
        middle("stored for an idempotency key, for a day", remembered, "bytes"),
    ]


async def _two_players(ann: Client, bob: Client) -> dict[str, Any]:
    for person in (ann, bob):
        await person.sign_in("P")
    match = await ann.create({"kind": "PLAYER"}, {"kind": "OPEN"}, visibility="PUBLIC")
    await bob.join(matchId=match["id"], name="Bob")
    await ann.choose(match["id"], idempotencyKey="a-key-of-some-length")
    chosen: dict[str, Any] = (await bob.choose(match["id"]))["match"]
    return chosen


async def _append(url: str) -> list[Figure]:
    """An append beside a PING, on the clock."""
    pings, appends = await append_times(url)
    return [
        Figure(
            "append of a commit, on the clock",
            median(appends),
            "us",
            ratio=median(appends) / median(pings),
            of="PING",
        )
    ]


async def append_times(url: str) -> tuple[list[float], list[float]]:
    """Microseconds on the clock of PINGs, and of appends of a commit, in turn."""
    redis = connect(url)
    store = RedisStore(redis)
    match_id, pings, appends = new_match_id(), [], []
    for version in range(1, 501):
        began = time.perf_counter()
        await redis.ping()
        pings.append((time.perf_counter() - began) * 1e6)
        commit = Commit(version, version, (HandChosen(0, True, None),), "bench", "00" * 32)
        began = time.perf_counter()
        assert await store.append(Append(match_id, commit, 10**13, 600))
        appends.append((time.perf_counter() - began) * 1e6)
    await redis.aclose()
    return pings, appends


def _stored(served: Served) -> Iterator[Figure]:
    """Whole matches of four people, as they lie in Redis once they are over."""
    finished: list[str] = []
    with crowd("http", served.url) as people, served.redis_client() as redis:
        written = _written(redis)
        people.ask("seat", MATCHES)
        people.ask("play")
        until = time.monotonic() + SECONDS
        while len(finished) < MATCHES and time.monotonic() < until:
            time.sleep(0.2)
            finished += people.ask("count")["finished"]
        people.ask("pause")
        people.ask("leave")
        written = _written(redis) - written
        commits = [int(redis.xlen(log(match))) for match in finished]
        sizes = [float(redis.memory_usage(log(match), samples=0) or 0) for match in finished]
        records = [_records(redis, match) for match in finished]
        every = _all_commits(redis)
    yield middle(
        "stored bytes a commit, its share of the stream included",
        [size / count for size, count in zip(sizes, commits, strict=True)],
        "bytes",
        target=500,
        moonshot=250,
        note="without idempotency keys",
    )
    yield middle(
        "of which the record itself",
        [size / count for size, count in zip(records, commits, strict=True)],
        "bytes",
    )
    yield Figure("written to the append-only file a commit", written / every, "bytes")
    yield middle(
        "stored for a whole match of four",
        [size / 1024 for size in sizes],
        "KiB",
        target=64,
        moonshot=32,
    )
    yield middle("commits of a whole match of four", [float(count) for count in commits], "")


def _written(redis: Redis) -> int:
    told: Any = redis.info("persistence")
    return int(told["aof_current_size"])


def _records(redis: Redis, match_id: str) -> float:
    entries: Any = redis.xrange(log(match_id))
    return float(sum(len(field.encode()) for _, entry in entries for field in entry.values()))


def _all_commits(redis: Redis) -> int:
    return sum(int(redis.xlen(key)) for key in redis.scan_iter("rm:*:log:*", count=1000))
