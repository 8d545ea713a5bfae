"""Tokens in memory: the twin of those in Redis, for tests and for trying things out."""

from dataclasses import dataclass, field

from api.identity.ports import Grant, Token
from api.ports import Ring
from api.store.memory import MemoryStore


@dataclass
class MemoryTokens:
    """Tokens in dictionaries; nothing expires. Rings the bell of ``log`` and shares its keys."""

    log: MemoryStore = field(default_factory=MemoryStore)
    grants: dict[str, Grant | None] = field(default_factory=dict)  # None: revoked
    lists: dict[str, dict[str, Token]] = field(default_factory=dict)
    revoked: set[str] = field(default_factory=set)
    sign_ins: dict[str, str] = field(default_factory=dict)

    async def find(self, token_hash: str) -> Grant | None:
        return self.grants.get(token_hash)

    async def issue(self, token: Token, grant: Grant, limit: int, now: int) -> bool:
        if token.expires_at <= now or token.hash in self.grants:
            return True
        if not self._listed(token, grant.player_id, limit, now):
            return False
        self.grants[token.hash] = grant
        return True

    async def adopt(self, token: Token, player_id: str, now: int) -> None:
        self._listed(token, player_id, 2**31, now)

    def _listed(self, token: Token, player_id: str, limit: int, now: int) -> bool:
        listed = self.lists.setdefault(player_id, {})
        if token.token_id in listed:
            return True
        if sum(other.expires_at > now for other in listed.values()) >= limit:
            return False
        listed[token.token_id] = token
        return True

    async def tokens(self, player_id: str, now: int) -> list[Token]:
        live = [t for t in self.lists.get(player_id, {}).values() if t.expires_at > now]
        return sorted(live, key=lambda token: (token.created_at, token.token_id), reverse=True)

    async def revoke(self, player_id: str, token_id: str, until: int) -> bool:  # noqa: ARG002
        token = self.lists.get(player_id, {}).pop(token_id, None)
        if token is None:
            return token_id in self.revoked
        self.grants[token.hash] = None
        self.revoked.add(token_id)
        self.log.ring(Ring(revoked=frozenset({token_id})))
        return True

    async def claim(self, player_id: str, key: str, value: str) -> str:
        return self.log.claims.setdefault((player_id, key), value)

    async def sign_in_as(self, digest: str, value: str) -> str:
        return self.sign_ins.setdefault(digest, value)
