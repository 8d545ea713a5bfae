"""Tokens in Redis: a key for each hash, a list for each player.

A token is listed before it is valid, and invalid before it is taken from the list: whatever ends
between two writes, nothing is valid that is not listed, and a revocation is finished by its retry.
What was revoked leaves a mark in the place of the grant, which no issue writes over.
"""

from importlib.resources import files
from typing import Any, Final

from redis.asyncio import Redis

from api.identity.ports import Grant, Token
from api.store import keys
from api.store.connections import Replicas, reaching
from api.store.records import decode_grant, decode_token, encode_grant, encode_token
from api.store.redis import KEY_TTL

REVOKED: Final = b"revoked"
KEPT: Final = 65536  # revocations that a reader may be behind without missing one
_NO_LIMIT: Final = 2**31


class RedisTokens:
    """The tokens of all players (``TokenStore``)."""

    def __init__(self, redis: Redis, replicas: int = 0) -> None:
        self._redis = redis
        self._replicas = Replicas(redis, replicas)
        self._list = redis.register_script((files("api.store") / "token_list.lua").read_bytes())

    async def find(self, token_hash: str) -> Grant | None:
        key = keys.guest(token_hash)
        async with reaching("token_find"):
            record: Any = await self._redis.get(key)
            if record is None or record == REVOKED:
                return None
            return decode_grant(record) or decode_grant(record, await self._redis.pexpiretime(key))

    async def issue(self, token: Token, grant: Grant, limit: int, now: int) -> bool:
        key = keys.guest(token.hash)
        async with reaching("token_issue"):
            if token.expires_at <= now or await self._redis.exists(key):
                return True
            if not await self._listed(token, grant.player_id, limit, now):
                return False
            record = encode_grant(grant)
            written = await self._redis.set(key, record, nx=True, pxat=token.expires_at)
            if not written and await self._redis.get(key) == REVOKED:
                await self._redis.hdel(keys.tokens(grant.player_id), token.token_id)
        return True

    async def adopt(self, token: Token, player_id: str, now: int) -> None:
        async with reaching("token_adopt"):
            await self._listed(token, player_id, _NO_LIMIT, now)

    async def _listed(self, token: Token, player_id: str, limit: int, now: int) -> bool:
        listed = await self._list(
            keys=[keys.tokens(player_id)],
            args=[token.token_id, encode_token(token), limit, now, token.expires_at],
        )
        return bool(listed == 1)

    async def tokens(self, player_id: str, now: int) -> list[Token]:
        async with reaching("token_list"):
            records: Any = await self._redis.hgetall(keys.tokens(player_id))
        found = [decode_token(id_.decode(), record) for id_, record in records.items()]
        live = [token for token in found if token.expires_at > now]
        return sorted(live, key=lambda token: (token.created_at, token.token_id), reverse=True)

    async def revoke(self, player_id: str, token_id: str, until: int) -> bool:
        listed, mark = keys.tokens(player_id), keys.revoked(token_id)
        async with reaching("token_revoke"):
            record: Any = await self._redis.hget(listed, token_id)
            if record is None:
                return bool(await self._redis.exists(mark))
            token = decode_token(token_id, record)
            end = max(until, token.expires_at)
            guest = keys.guest(token.hash)
            # On the replicas first: what is revoked must not come back with a failover.
            await self._replicas.write(guest, "SET", guest, REVOKED, "PXAT", end)
            await self._redis.xadd(keys.REVOKED, {"t": token_id}, maxlen=KEPT, approximate=True)
            await self._redis.set(mark, "1", pxat=end)
            await self._redis.hdel(listed, token_id)
        return True

    async def claim(self, player_id: str, key: str, value: str) -> str:
        return await self._first(keys.claim(player_id, key), value)

    async def sign_in_as(self, digest: str, value: str) -> str:
        return await self._first(keys.signed_in(digest), value)

    async def _first(self, key: str, value: str) -> str:
        async with reaching("token_first"):
            first: Any = await self._redis.set(key, value, nx=True, get=True, ex=KEY_TTL)
        return value if first is None else str(first.decode())
