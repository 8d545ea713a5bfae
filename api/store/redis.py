"""The store in Redis: a stream per match, written by one script."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from importlib.resources import files
from itertools import chain, cycle
from typing import Any, Final, NamedTuple

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from api.cancelling import end_if_cancelled, stop
from api.errors import Unconfirmed
from api.ports import Append, Commit, Key, Pulses, Remembered, Ring
from api.store import keys
from api.store.connections import Replicas, cluster_of, reaching
from api.store.records import (
    decode_commit,
    decode_remembered,
    encode_commit,
    encode_remembered,
)
from api.store.together import Command, Together
from api.values import Fault
from engine.state import Status

KEY_TTL = 24 * 3600  # the contract: idempotency keys live at least 24 h
# A log, and what leads to it, is kept for a hundredth longer than asked for, so that few commits
# have to say so again.
LONGER = 1010  # ms a second
APPEND_SECONDS = 10.0  # more than an append takes from here until it is made
KNOWN = 4096  # matches whose last commit is remembered
BLOCK_MS = 2000
HEAR_SECONDS = 5  # for the answer to a read that blocks; well over that
# After a read that told something: to block on all bells for each one that rings costs Redis more
# than the commit. Only what follows within this time waits for it, and none of this process's own.
GATHER_SECONDS = 0.004
AGAIN_SECONDS = 0.2  # after which bells are read again where that has failed
MARK_MS = 60_000
TIES = 16  # matches of one millisecond that a page may have to skip


async def overdue(
    redis: Redis, due: Callable[[str], str], now: int, limit: int
) -> list[tuple[str, int]]:
    """What is due by ``now`` in the sets ``due(shard)`` of all shards, the longest due first.

    Raises:
        Unavailable: Redis cannot be reached.
    """
    async with reaching("overdue"), redis.pipeline(transaction=False) as pipe:
        for shard in keys.SHARDS:
            pipe.zrange(due(shard), "-inf", now, byscore=True, offset=0, num=limit, withscores=True)
        shards = await pipe.execute()
    found = [(member.decode(), int(score)) for shard in shards for member, score in shard]
    return sorted(found, key=lambda pair: pair[1])[:limit]


def newest_first(before: tuple[int, str] | None, limit: int) -> dict[str, Any]:
    """How a page of a set by time is asked for (ZRANGE); what comes is for ``places``."""
    return {
        "start": "+inf" if before is None else before[0],
        "end": "-inf",
        "desc": True,
        "byscore": True,
        "offset": 0,
        "num": limit + TIES,
        "withscores": True,
    }


def places(
    found: Iterable[tuple[bytes, float]], before: tuple[int, str] | None, limit: int
) -> list[tuple[int, str]]:
    """Times and members of such pages, the newest first, those before a place in that order."""
    told = ((int(score), member.decode()) for member, score in found)
    return sorted((f for f in told if before is None or f < before), reverse=True)[:limit]


class _Rung:
    """What several readers have heard, told together."""

    def __init__(self) -> None:
        self._heard: Ring | None = Ring()
        self._any = asyncio.Event()

    def add(self, ring: Ring | None) -> None:
        """Take in what was heard; None: anything may have happened."""
        before = self._heard
        self._heard = None if before is None or ring is None else before.and_(ring)
        self._any.set()

    async def wait(self, readers: list[asyncio.Task[None]]) -> Ring | None:
        """All that was heard since the last time, once there is something.

        Raises:
            Exception: what a reader failed with.
        """
        rings = asyncio.ensure_future(self._any.wait())
        try:
            await asyncio.wait({rings, *readers}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            rings.cancel()
        for reader in readers:
            if reader.done():
                reader.result()
        heard, self._heard = self._heard, Ring()
        self._any.clear()
        return heard


class _Known(NamedTuple):
    """What a match's last commit, made here, has left behind.

    Attributes:
        nonce: its own; whatever is appended behind another may find something else.
        until: the log is kept so long at least, in seconds since the epoch.
        idle: nothing is owed.
    """

    nonce: str
    until: float
    idle: bool


_UNKNOWN: Final = _Known("", 0.0, idle=False)


class RedisStore:
    """The log of every match (``EventStore``); ``replicas`` have a commit before it counts."""

    def __init__(self, redis: Redis, replicas: int = 0) -> None:
        self._redis = redis
        self._together = Together(redis) if cluster_of(redis) is None else None
        self._replicas = Replicas(redis, replicas, self._together)
        self._shards = cycle(keys.SHARDS)  # whose lists are tidied in turn
        self._counted = cycle(keys.SHARDS)  # the same of open matches
        self._scanned: dict[str, int] = {}  # how far each of them is
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._heard: dict[int, float] = {}  # when each reader of bells was last answered
        folder = files("api.store")
        self._commit = redis.register_script((folder / "commit.lua").read_bytes())
        self._lease = redis.register_script((folder / "lease.lua").read_bytes())
        self._pulse = redis.register_script((folder / "pulse.lua").read_bytes())
        self._postpone = redis.register_script((folder / "postpone.lua").read_bytes())

    async def load(
        self, match_id: str, since: int, key: Key | None = None
    ) -> tuple[list[Commit], Remembered | None]:
        first = f"{since}-0" if since else "-"
        asked: list[Command] = [("XRANGE", keys.log(match_id), first, "+")]
        if key is not None:  # in this order the key is never older than the log that was read
            asked.append(("GET", keys.idempotency(match_id, key.caller, key.key)))
            claim = keys.claim(key.caller, key.key)
            asked.append(("SET", claim, key.fingerprint, "NX", "GET", "EX", KEY_TTL))
        async with reaching("load"), _logs_alone():
            entries, *of_key = await self._ask(asked)
        commits = _commits(entries)
        if not of_key:
            return commits, None
        remembered, claimed = of_key
        if claimed is not None and key is not None and claimed.decode() != key.fingerprint:
            return commits, Remembered(claimed.decode(), 0)
        return commits, decode_remembered(remembered) if remembered else None

    async def _ask(self, commands: list[Command]) -> list[Any]:
        """What Redis answers to commands, in their order where they are about one match."""
        if self._together is not None:
            return await self._together.ask(commands)
        async with self._redis.pipeline(transaction=False) as pipe:
            for command in commands:
                pipe.execute_command(*command, get=True)  # what SET is to tell, as without a client
            return await pipe.execute()

    async def claim_id(self, key: Key, match_id: str) -> str | None:
        async with reaching("claim_id"), self._redis.pipeline(transaction=False) as pipe:
            claim, opened = keys.claim(key.caller, key.key), keys.opened(key.caller, key.key)
            pipe.set(claim, key.fingerprint, nx=True, get=True, ex=KEY_TTL)
            # Kept a little longer than the claim, so that no retry finds only half of it.
            pipe.set(opened, match_id, nx=True, get=True, ex=KEY_TTL + 60)
            claimed, first = await pipe.execute()
        if claimed is not None and claimed.decode() != key.fingerprint:
            return None
        return match_id if first is None else str(first.decode())

    async def remember(self, match_id: str, key: Key, what: Remembered) -> None:
        record = encode_remembered(what)
        async with reaching("remember"):
            place = keys.idempotency(match_id, key.caller, key.key)
            await self._redis.set(place, record, nx=True, ex=KEY_TTL)

    async def append(self, append: Append) -> bool:
        match_id, commit = append.match_id, append.commit
        known = self._known.pop(match_id, None)
        if known is None or known.nonce != append.previous:
            known = _UNKNOWN  # others have appended since
        now = time.time()
        names, args = _arguments(append, known, now)
        async with reaching("append"):
            written, enough = await self._replicas.run(self._commit, keys=names, args=args)
        if not written:
            return False
        until = known.until if written == 1 else now + written / 1000
        if not append.over:
            self._known[match_id] = _Known(commit.nonce, until, append.due_at is None)
            if len(self._known) > KNOWN:
                self._known.popitem(last=False)
        if not enough:
            raise Unconfirmed("too few replicas have answered")
        return True

    async def confirm(self, match_id: str) -> None:
        key = keys.mark(keys.shard(match_id))
        async with reaching("confirm"):
            await self._replicas.write(key, "SET", key, "1", "PX", MARK_MS)

    async def bells(self) -> AsyncGenerator[Ring | None, None]:
        rung = _Rung()
        streams = [keys.REVOKED, *(keys.bell(shard) for shard in keys.SHARDS)]
        # A Cluster answers a read of one slot only, so each stream has a reader of its own there.
        groups = [streams] if cluster_of(self._redis) is None else [[name] for name in streams]
        self._heard = dict.fromkeys(range(len(groups)), 0.0)
        readers = [
            asyncio.create_task(self._hear(number, group, rung))
            for number, group in enumerate(groups)
        ]
        try:
            while True:
                yield await rung.wait(readers)
        finally:
            await asyncio.gather(*map(stop, readers))

    async def _hear(self, number: int, streams: list[str], rung: _Rung) -> None:
        """Read some bells for ever; what is missed after a failure may be anything."""
        seen: dict[Any, Any] | None = None
        while True:
            end_if_cancelled()
            try:
                async with asyncio.timeout(HEAR_SECONDS):
                    if seen is None:
                        seen = await self._last_entries(streams)
                        self._heard[number] = time.monotonic()
                        rung.add(None)
                    found = await self._redis.xread(seen, count=512, block=BLOCK_MS)
            except (RedisError, OSError, TimeoutError):
                seen = None
                await asyncio.sleep(AGAIN_SECONDS)
                continue
            self._heard[number] = time.monotonic()
            for stream, entries in _streams(found):
                seen[stream.decode()] = entries[-1][0]
                rung.add(_ring([fields for _, fields in entries]))
            if found:
                await asyncio.sleep(GATHER_SECONDS)

    def silence(self) -> float:
        return time.monotonic() - min(self._heard.values(), default=0.0)

    async def _last_entries(self, streams: list[str]) -> dict[Any, Any]:
        async with self._redis.pipeline(transaction=False) as pipe:
            for stream in streams:
                pipe.xrevrange(stream, count=1)
            tails = await pipe.execute()
        return {s: tail[0][0] if tail else "0-0" for s, tail in zip(streams, tails, strict=True)}

    async def listed(
        self, status: Status | None, before: tuple[int, str] | None, limit: int
    ) -> list[tuple[int, str]]:
        async with reaching("listed"), self._redis.pipeline(transaction=False) as pipe:
            for shard in keys.SHARDS:
                pipe.zrange(keys.public(shard, status), **newest_first(before, limit))
            shards = await pipe.execute()
        return places(chain.from_iterable(shards), before, limit)

    async def unlist(self, match_id: str) -> None:
        shard = keys.shard(match_id)
        async with reaching("unlist"), self._redis.pipeline(transaction=False) as pipe:
            pipe.zrem(keys.due(shard), match_id)
            pipe.zrem(keys.open_matches(shard), match_id)
            for status in (None, *Status):
                pipe.zrem(keys.public(shard, status), match_id)
            await pipe.execute()

    async def tidy(self, limit: int) -> int:
        shard = next(self._shards)
        public = keys.public(shard, None)
        async with reaching("tidy"):
            found: Any = await self._redis.zscan(public, self._scanned.get(shard, 0), count=limit)
            self._scanned[shard], members = found
            matches = [member.decode() for member, _ in members]
            async with self._redis.pipeline(transaction=False) as pipe:
                for match_id in matches:
                    pipe.exists(keys.log(match_id))
                there = await pipe.execute() if matches else []
        gone = [match_id for match_id, found in zip(matches, there, strict=True) if not found]
        for match_id in gone:
            await self.unlist(match_id)
        return len(gone)

    async def forget_expired(self, now: int) -> None:
        """Take what has expired out of the open matches of a shard, another one each time."""
        shard = next(self._counted)
        async with reaching("forget_expired"):
            await self._redis.zremrangebyscore(keys.open_matches(shard), "-inf", now)

    async def due(self, now: int, limit: int) -> list[tuple[str, int]]:
        return await overdue(self._redis, keys.due, now, limit)

    async def postpone(self, match_id: str, seen: int, until: int) -> bool:
        async with reaching("postpone"):
            moved = await self._postpone(
                keys=[keys.due(keys.shard(match_id))], args=[match_id, seen, until]
            )
        return bool(moved == 1)

    async def lease(self, key: str, holder: str, ms: int) -> bool:
        """Take or keep a lease for ``ms`` milliseconds; False while another holds it."""
        async with reaching("lease"):
            return bool(await self._lease(keys=[key], args=[holder, ms]) == 1)

    async def probe(self) -> None:
        async with reaching("probe"), self._redis.pipeline(transaction=False) as pipe:
            for shard in keys.SHARDS:  # of a Cluster each node answers for itself
                pipe.get(keys.mark(shard))  # first: a replica without its master refuses this too
                pipe.set(keys.mark(shard), "1", px=MARK_MS)
            await pipe.execute()

    async def pulse(self, who: str) -> Pulses:
        """Say that ``who`` is at work; what was known until then."""
        async with reaching("pulse"):
            found = await self._pulse(keys=[keys.PULSES], args=[who])
        now, *before = found
        return Pulses(int(now), *(None if text is None else int(text) for text in before))

    async def keep_outage(self, since: int, until: int) -> None:
        """Keep when nobody could move."""
        async with reaching("keep_outage"):
            await self._redis.hset(keys.PULSES, mapping={"since": since, "until": until})


class RedisDirectory:
    """Join codes, seats held and the levels' faults (``Directory``)."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def reserve_code(self, code: str, match_id: str, ttl: int) -> bool:
        async with reaching("reserve_code"):
            key = keys.code(code)
            if await self._redis.set(key, match_id, nx=True, px=ttl * LONGER):
                return True
            # A repeated command may meet its own first attempt.
            return bool(await self._redis.get(key) == match_id.encode())

    async def find_code(self, code: str) -> str | None:
        async with reaching("find_code"):
            match_id: Any = await self._redis.get(keys.code(code))
        return match_id.decode() if match_id else None

    async def keep_code(self, code: str, ttl: int) -> None:
        async with reaching("keep_code"):
            await self._redis.pexpire(keys.code(code), ttl * LONGER)

    async def hold(self, match_id: str, player: str, until: int) -> None:
        async with reaching("hold"):
            holds = keys.holds(keys.shard(match_id))
            await self._redis.zadd(holds, {f"{match_id} {player}": until})

    async def use(self, match_id: str, player: str) -> None:
        async with reaching("use"):
            await self._redis.zrem(keys.holds(keys.shard(match_id)), f"{match_id} {player}")

    async def overdue(self, now: int, limit: int) -> list[tuple[str, str]]:
        found = await overdue(self._redis, keys.holds, now, limit)
        return [(match_id, player) for match_id, _, player in (m.partition(" ") for m, _ in found)]

    async def count_fault(self, level: str, fault: Fault) -> None:
        async with reaching("count_fault"):
            await self._redis.hincrby(keys.faults(level), fault, 1)

    async def faults(self, level: str) -> dict[Fault, int]:
        async with reaching("faults"):
            counts: Any = await self._redis.hgetall(keys.faults(level))
        return {kind: int(counts[kind.encode()]) for kind in Fault if kind.encode() in counts}


def _arguments(append: Append, known: _Known, now: float) -> tuple[list[str], list[Any]]:
    """Keys and arguments of the script, as it says; no more of either than it needs."""
    match_id, commit, key, listing = append.match_id, append.commit, append.key, append.listing
    shard, log = keys.shard(match_id), keys.log(match_id)
    due: int | str = "" if append.due_at is None else append.due_at
    if known.idle and append.due_at is None:
        due = "-"
    names: list[str] = [log, keys.bell(shard)]
    args: list[Any] = [match_id, commit.version, encode_commit(commit), commit.nonce]
    args.append(append.previous)
    kept = not append.over and known.until > now + append.ttl + APPEND_SECONDS
    rare = key is not None or listing is not None or append.lobby or append.traceparent
    if kept and due == "-" and not rare:
        return names, args
    names += [keys.due(shard), keys.open_matches(shard)]
    longest = append.ttl * (1000 if append.over else LONGER)
    expires = "" if append.over else int(now * 1000) + longest
    args += [due, "-" if kept else append.ttl * 1000, longest, expires]
    if not rare:
        return names, args
    made = Remembered(key.fingerprint, commit.version, commit.nonce) if key else None
    names.append(keys.idempotency(match_id, key.caller, key.key) if key else log)
    args += [append.traceparent, "l" if append.lobby else ""]
    args += [encode_remembered(made) if made else b"", KEY_TTL]
    if listing is not None:
        names += [keys.public(shard, status) for status in (listing.before, listing.after, None)]
        args.append(listing.created_at)
    return names, args


@asynccontextmanager
async def _logs_alone() -> AsyncIterator[None]:
    """Raises ValueError, as for a commit that cannot be read, if a log is none."""
    try:
        yield
    except ResponseError as error:
        if "WRONGTYPE" not in str(error):
            raise
        raise ValueError("not a log") from error


def _commits(entries: Any) -> list[Commit]:
    """The commits of a log's entries, whose only field is "c"."""
    return [decode_commit(int(id_.split(b"-")[0]), _record(fields)) for id_, fields in entries]


def _record(fields: dict[bytes, bytes] | list[bytes]) -> bytes:
    return fields[b"c"] if isinstance(fields, dict) else fields[1]  # parsed, or as it came


def _ring(told: list[dict[bytes, bytes]]) -> Ring:
    """What the entries of a bell tell together."""

    def ids(kind: bytes) -> frozenset[str]:
        return frozenset(fields[kind].decode() for fields in told if kind in fields)

    nonces = {f[b"m"].decode(): f[b"n"].decode() for f in told if b"n" in f}
    traces = {f[b"n"].decode(): f[b"p"].decode() for f in told if b"p" in f}
    return Ring(ids(b"m"), ids(b"l"), ids(b"t"), nonces, traces)


def _streams(reply: Any) -> list[tuple[bytes, Any]]:
    """XREAD's reply as pairs, whichever protocol the connection speaks."""
    pairs = reply.items() if isinstance(reply, dict) else reply or ()
    return [(name, entries) for name, entries in pairs if entries]
