"""``ringmaster token``: a token for an operator, written to Redis, printed once."""

import asyncio
import sys

from api.cli.unreachable import told
from api.errors import Unavailable
from api.identity.service import Identity
from api.settings import Settings
from api.store.connections import connect
from api.store.tokens import RedisTokens
from api.streams import Streams
from engine.errors import RuleError
from schema.scopes import Scope


def token(settings: Settings, name: str, scopes: frozenset[Scope], seconds: int | None) -> int:
    """Make a player of this name with one token, print that; the exit code."""
    try:
        made = asyncio.run(_make(settings, name, scopes, seconds))
    except (RuleError, Unavailable) as error:
        print(f"ringmaster: {told(error, settings.redis_url)}", file=sys.stderr)  # noqa: T201
        return 1
    print(made)  # noqa: T201 - what the command is for
    return 0


async def _make(
    settings: Settings, name: str, scopes: frozenset[Scope], seconds: int | None
) -> str:
    redis = connect(settings.redis_url)
    try:
        identity = Identity(
            RedisTokens(redis),
            Streams(settings.stream_seconds),
            ttl=settings.guest_ttl,
            secret=settings.secret.get_secret_value(),
        )
        return (await identity.make(name, scopes, seconds)).token
    finally:
        await redis.aclose()
