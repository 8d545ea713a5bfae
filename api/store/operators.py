"""What operators did, and who is at work, in Redis; all of it in one slot."""

import json
from collections.abc import Mapping
from typing import Any, Final

from redis.asyncio import Redis

from api.ledger import now_ms
from api.operators.ports import Entry, Process
from api.store import keys
from api.store.connections import reaching
from api.store.redis import newest_first, places
from schema.acts import Act, ProcessKind

KEPT_SECONDS: Final = 400 * 24 * 3600  # acts: a year, and some time to look at it
# A process that has said nothing for so long has ended; it speaks every two seconds.
SILENT_MS: Final = 15_000
ASKED_SECONDS: Final = 60  # to be heard by the process that is asked to end


class RedisRecords:
    """The acts of all operators (``Records``)."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def begin(self, entry: Entry) -> None:
        record: Any = {
            "at": entry.at,
            "operator": entry.operator,
            "act": entry.act.value,
            "target": entry.target,
            **({} if entry.reason is None else {"reason": entry.reason}),
        }
        place = keys.act(entry.entry_id)
        async with reaching("act_begin"), self._redis.pipeline(transaction=True) as pipe:
            pipe.hset(place, mapping=record)
            pipe.expire(place, KEPT_SECONDS)
            pipe.zadd(keys.ACTS, {entry.entry_id: entry.at})
            pipe.zremrangebyscore(keys.ACTS, "-inf", entry.at - 1000 * KEPT_SECONDS)
            await pipe.execute()

    async def end(self, entry_id: str, outcome: str) -> None:
        async with reaching("act_end"):
            await self._redis.hset(keys.act(entry_id), "outcome", outcome)

    async def newest(self, before: tuple[int, str] | None, limit: int) -> list[Entry]:
        async with reaching("acts"):
            acts: Any = await self._redis.zrange(keys.ACTS, **newest_first(before, limit))
            found = places(acts, before, limit)
            async with self._redis.pipeline(transaction=False) as pipe:
                for _, entry_id in found:
                    pipe.hgetall(keys.act(entry_id))
                records = await pipe.execute() if found else []
        return [_entry(id_, r) for (_, id_), r in zip(found, records, strict=True) if r]


def _entry(entry_id: str, record: Mapping[bytes, bytes]) -> Entry:
    told = {name.decode(): value.decode() for name, value in record.items()}
    return Entry(
        entry_id=entry_id,
        at=int(told["at"]),
        operator=told["operator"],
        act=Act(told["act"]),
        target=told["target"],
        reason=told.get("reason"),
        outcome=told.get("outcome"),
    )


class RedisProcesses:
    """Who is at work (``Processes``)."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def announce(self, process: Process) -> bool:
        record = {
            "kind": process.kind.value,
            "release": process.release,
            "started": process.started_at,
            "seen": process.seen_at,
            "queues": list(process.queues),
            "streams": process.streams,
            "draining": process.draining,
        }
        async with reaching("announce"), self._redis.pipeline(transaction=False) as pipe:
            pipe.hset(keys.PROCESSES, process.process_id, json.dumps(record))
            pipe.getdel(keys.end(process.process_id))
            _, asked = await pipe.execute()
        return asked is not None

    async def leave(self, process_id: str) -> None:
        async with reaching("leave"):
            await self._redis.hdel(keys.PROCESSES, process_id)

    async def all(self) -> list[Process]:
        async with reaching("processes"):
            records: Any = await self._redis.hgetall(keys.PROCESSES)
            found = [_process(id_.decode(), json.loads(r)) for id_, r in records.items()]
            since = now_ms() - SILENT_MS
            gone = [process.process_id for process in found if process.seen_at < since]
            if gone:
                await self._redis.hdel(keys.PROCESSES, *gone)
        live = [process for process in found if process.seen_at >= since]
        return sorted(live, key=lambda process: (process.kind, process.process_id))

    async def ask_to_end(self, process_id: str) -> bool:
        if all(process.process_id != process_id for process in await self.all()):
            return False
        async with reaching("ask_to_end"):
            await self._redis.set(keys.end(process_id), "1", ex=ASKED_SECONDS)
        return True


def _process(process_id: str, record: Mapping[str, Any]) -> Process:
    return Process(
        process_id=process_id,
        kind=ProcessKind(record["kind"]),
        release=record["release"],
        started_at=record["started"],
        seen_at=record["seen"],
        queues=tuple(record["queues"]),
        streams=record["streams"],
        draining=record["draining"],
    )
