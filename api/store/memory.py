"""The store in memory: the Redis log's twin, for tests and for trying things out."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from api.ports import Append, Commit, Key, Remembered, Ring
from api.store.records import decode_commit, encode_commit
from api.values import Fault
from engine.state import Status


@dataclass
class MemoryStore:
    """Logs, lists and due times in dictionaries; records as in Redis; nothing expires."""

    logs: dict[str, list[bytes]] = field(default_factory=dict)
    keys: dict[tuple[str, str, str], Remembered] = field(default_factory=dict)
    claims: dict[tuple[str, str], str] = field(default_factory=dict)
    opened: dict[tuple[str, str], str] = field(default_factory=dict)
    due_times: dict[str, int] = field(default_factory=dict)
    lists: dict[str, tuple[int, Status]] = field(default_factory=dict)
    listeners: list[asyncio.Queue[Ring]] = field(default_factory=list)

    async def load(
        self, match_id: str, since: int, key: Key | None = None
    ) -> tuple[list[Commit], Remembered | None]:
        records = self.logs.get(match_id, [])
        first = max(since, 1)
        commits = [decode_commit(first + i, r) for i, r in enumerate(records[first - 1 :])]
        if key is None:
            return commits, None
        claimed = self.claims.setdefault((key.caller, key.key), key.fingerprint)
        if claimed != key.fingerprint:
            return commits, Remembered(claimed, 0)
        return commits, self.keys.get((match_id, key.caller, key.key))

    async def claim_id(self, key: Key, match_id: str) -> str | None:
        place = (key.caller, key.key)
        if self.claims.setdefault(place, key.fingerprint) != key.fingerprint:
            return None
        return self.opened.setdefault(place, match_id)

    async def remember(self, match_id: str, key: Key, what: Remembered) -> None:
        self.keys.setdefault((match_id, key.caller, key.key), what)

    async def append(self, append: Append) -> bool:
        # No await below: one event loop makes this as atomic as the script.
        match_id, commit = append.match_id, append.commit
        log = self.logs.get(match_id, [])
        if len(log) + 1 != commit.version:
            return False
        if append.previous and decode_commit(len(log), log[-1]).nonce != append.previous:
            return False
        if append.key is not None:
            place = (match_id, append.key.caller, append.key.key)
            if place in self.keys:
                return False
            self.keys[place] = Remembered(append.key.fingerprint, commit.version, commit.nonce)
        self.logs.setdefault(match_id, []).append(encode_commit(commit))
        if append.due_at is None:
            self.due_times.pop(match_id, None)
        else:
            self.due_times[match_id] = append.due_at
        if append.listing is not None:
            self.lists[match_id] = (append.listing.created_at, append.listing.after)
        ids = frozenset({match_id})
        nonces = {match_id: commit.nonce}
        self.ring(Ring(ids, ids if append.lobby else frozenset(), nonces=nonces))
        return True

    def ring(self, ring: Ring) -> None:
        """Tell all who listen."""
        for listener in self.listeners:
            listener.put_nowait(ring)

    async def bells(self) -> AsyncGenerator[Ring | None, None]:
        queue: asyncio.Queue[Ring] = asyncio.Queue()
        self.listeners.append(queue)
        try:
            yield None
            while True:
                yield await queue.get()
        finally:
            self.listeners.remove(queue)

    async def listed(
        self, status: Status | None, before: tuple[int, str] | None, limit: int
    ) -> list[tuple[int, str]]:
        found = [
            (created_at, match_id)
            for match_id, (created_at, now) in self.lists.items()
            if status in (None, now) and (before is None or (created_at, match_id) < before)
        ]
        return sorted(found, reverse=True)[:limit]

    async def unlist(self, match_id: str) -> None:
        self.lists.pop(match_id, None)
        self.due_times.pop(match_id, None)

    async def tidy(self, limit: int) -> int:
        gone = [match_id for match_id in self.lists if match_id not in self.logs][:limit]
        for match_id in gone:
            await self.unlist(match_id)
        return len(gone)

    async def due(self, now: int, limit: int) -> list[tuple[str, int]]:
        found = [(match_id, at) for match_id, at in self.due_times.items() if at <= now]
        return sorted(found, key=lambda pair: pair[1])[:limit]

    async def postpone(self, match_id: str, seen: int, until: int) -> bool:
        if self.due_times.get(match_id) != seen:
            return False
        self.due_times[match_id] = until
        return True

    async def confirm(self, match_id: str) -> None:
        pass

    def silence(self) -> float:
        return 0.0

    async def probe(self) -> None:
        pass


@dataclass
class MemoryDirectory:
    """Join codes, holds and faults in dictionaries; nothing expires."""

    codes: dict[str, str] = field(default_factory=dict)
    holds: dict[tuple[str, str], int] = field(default_factory=dict)
    fault_counts: dict[str, Counter[Fault]] = field(default_factory=dict)

    async def reserve_code(self, code: str, match_id: str, ttl: int) -> bool:  # noqa: ARG002
        return self.codes.setdefault(code, match_id) == match_id

    async def find_code(self, code: str) -> str | None:
        return self.codes.get(code)

    async def keep_code(self, code: str, ttl: int) -> None:
        pass

    async def hold(self, match_id: str, player: str, until: int) -> None:
        self.holds[match_id, player] = until

    async def use(self, match_id: str, player: str) -> None:
        self.holds.pop((match_id, player), None)

    async def overdue(self, now: int, limit: int) -> list[tuple[str, str]]:
        found = [(until, place) for place, until in self.holds.items() if until <= now]
        return [place for _, place in sorted(found)[:limit]]

    async def count_fault(self, level: str, fault: Fault) -> None:
        self.fault_counts.setdefault(level, Counter())[fault] += 1

    async def faults(self, level: str) -> dict[Fault, int]:
        return dict(self.fault_counts.get(level, ()))
