"""Series in Redis: a stream of steps per series, written by scripts."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

from redis.asyncio import Redis

from api.ports import Key
from api.series.ports import Count, Halt, Opening, Series, Step
from api.store import keys
from api.store.connections import reaching
from api.store.records import (
    decode_result,
    decode_spec,
    decode_sums,
    encode_result,
    encode_spec,
    encode_sums,
)
from api.store.redis import KEY_TTL, overdue
from engine.series import Order, SeriesStatus
from engine.standings import none_yet, quantities

_PARTS: Final = ("", ":log", ":done", ":deals", ":replays")


class RedisSeriesStore:
    """Every series (``SeriesStore``)."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        folder = files("api.store")
        self._open = redis.register_script((folder / "series_open.lua").read_bytes())
        self._count = redis.register_script((folder / "series_count.lua").read_bytes())
        self._cancel = redis.register_script((folder / "series_cancel.lua").read_bytes())
        self._postpone = redis.register_script((folder / "postpone.lua").read_bytes())

    async def claim(self, key: Key) -> bool:
        async with reaching("series_claim"):
            claimed: Any = await self._redis.set(
                keys.claim(key.caller, key.key), key.fingerprint, nx=True, get=True, ex=KEY_TTL
            )
        return claimed is None or bool(claimed.decode() == key.fingerprint)

    async def open(self, opening: Opening) -> str | None:
        series, key = opening.series, opening.key
        id_, spec = series.series_id, series.spec
        shard = keys.series_shard(id_)
        async with reaching("series_open"):
            made = await self._open(
                keys=[
                    keys.series(id_),
                    keys.series(id_, ":log"),
                    keys.series_due(shard),
                    keys.series_of(shard, series.owner),
                    keys.series_key(shard, key.caller, key.key) if key else keys.series(id_),
                ],
                args=[
                    *(id_, series.created_at, encode_spec(spec), series.owner, opening.secret),
                    *(spec.matches, opening.sent, opening.due_at, opening.ttl, opening.limit),
                    *(encode_sums(none_yet(spec.players)), KEY_TTL if key else ""),
                ],
            )
        return made.decode() or None

    async def find(self, series_id: str) -> tuple[Series, Step] | None:
        async with reaching("series_find"), self._redis.pipeline(transaction=False) as pipe:
            pipe.hmget(keys.series(series_id), "spec", "at", "owner")
            pipe.xrevrange(keys.series(series_id, ":log"), count=1)
            fields, tail = await pipe.execute()
        if fields[0] is None or not tail:
            return None
        return _series(series_id, fields), _step(*tail[0])

    async def steps(self, series_id: str, first: int, last: int | None, limit: int) -> list[Step]:
        until = "+" if last is None else f"{last}-0"
        async with reaching("series_steps"):
            entries: Any = await self._redis.xrange(
                keys.series(series_id, ":log"), f"{first}-0", until, count=limit
            )
        return [_step(*entry) for entry in entries]

    async def order(self, series_id: str, number: int) -> tuple[Series, Order] | None:
        async with reaching("series_order"), self._redis.pipeline(transaction=False) as pipe:
            pipe.hmget(keys.series(series_id), "spec", "at", "owner", "secret", "status")
            pipe.getbit(keys.series(series_id, ":done"), number)
            fields, done = await pipe.execute()
        if fields[0] is None or done or fields[4].decode() != SeriesStatus.RUNNING:
            return None
        series = _series(series_id, fields)
        if number > series.spec.matches:
            return None
        order = Order(series_id, series.spec, number, series.created_at, fields[3].decode())
        return series, order

    async def count(self, count: Count) -> int | None:
        series, result = count.series, count.result
        async with reaching("series_count"):
            next_: int = await self._count(
                keys=_all_keys(series),
                args=[
                    *(series.series_id, result.number, count.at, encode_result(result)),
                    *(result.deal, series.spec.per_deal),
                    " ".join(map(str, quantities(result))),
                    *(count.replay or b"", count.due_at, count.ttl, count.ttl_over),
                ],
            )
        return None if next_ < 0 else next_

    async def cancel(self, series: Series, at: int, ttl: int) -> bool:
        async with reaching("series_cancel"):
            done = await self._cancel(keys=_all_keys(series), args=[series.series_id, at, ttl])
        return bool(done == 1)

    async def halt(self, series_id: str) -> Halt | None:
        async with reaching("series_halt"), self._redis.pipeline(transaction=False) as pipe:
            pipe.hmget(keys.series(series_id), "status", "sent")
            pipe.get(keys.series(series_id, ":done"))
            pipe.xrevrange(keys.series(series_id, ":log"), count=1)
            fields, done, tail = await pipe.execute()
        if fields[0] is None or not tail:
            return None
        since = _step(*tail[0]).at
        if fields[0].decode() != SeriesStatus.RUNNING:
            return Halt(since, ())
        sent = range(1, int(fields[1]) + 1)
        return Halt(since, tuple(number for number in sent if not _bit(done or b"", number)))

    async def replay(self, series_id: str, number: int) -> bytes | None:
        async with reaching("series_replay"):
            kept: Any = await self._redis.hget(keys.series(series_id, ":replays"), str(number))
        return bytes(kept) if kept else None

    async def due(self, now: int, limit: int) -> list[tuple[str, int]]:
        return await overdue(self._redis, keys.series_due, now, limit)

    async def postpone(self, series_id: str, seen: int, until: int) -> bool:
        due = keys.series_due(keys.series_shard(series_id))
        async with reaching("series_postpone"):
            return bool(await self._postpone(keys=[due], args=[series_id, seen, until]) == 1)

    async def forget(self, series_id: str) -> None:
        async with reaching("series_forget"):
            await self._redis.zrem(keys.series_due(keys.series_shard(series_id)), series_id)


def _all_keys(series: Series) -> list[str]:
    shard = keys.series_shard(series.series_id)
    return [
        *(keys.series(series.series_id, part) for part in _PARTS),
        keys.series_due(shard),
        keys.series_of(shard, series.owner),
        keys.bell(shard),
    ]


def _series(series_id: str, fields: list[bytes]) -> Series:
    return Series(series_id, decode_spec(fields[0]), int(fields[1]), fields[2].decode())


def _step(id_: bytes, fields: Mapping[bytes, bytes]) -> Step:
    result = fields.get(b"r")
    return Step(
        version=int(id_.split(b"-")[0]),
        at=int(fields[b"a"]),
        sums=decode_sums(fields[b"s"]),
        result=None if result is None else decode_result(result),
        cancelled=b"x" in fields,
    )


def _bit(bitmap: bytes, number: int) -> bool:
    at, bit = divmod(number, 8)  # the first bit of a byte is its highest
    return at < len(bitmap) and bool(bitmap[at] & 0x80 >> bit)
