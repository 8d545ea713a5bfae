"""Replicas that have a move before it is acknowledged: with a real one that stops to answer."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from api.errors import Unconfirmed
from api.store import keys
from api.store.connections import REPLICAS_MS, connect
from api.store.redis import RedisDirectory, RedisStore
from api.store.tokens import RedisTokens
from api.values import Meta
from tests.api.test_service import BOT, OPEN, PLAYER, Hints, World, new, playing, show_one
from tests.redises import Node, in_step, replicated, until
from tests.store.test_tokens_contract import NOW, issued, player


@dataclass
class Pair:
    """A service that wants one replica, and the replica."""

    world: World
    primary: Node
    replica: Node
    tokens: RedisTokens

    def versions(self, match_id: str) -> int:
        """How many commits of a match the replica has."""
        with self.replica.client() as client:
            return int(client.xlen(keys.log(match_id)))


@pytest.fixture
async def pair(tmp_path) -> AsyncIterator[Pair]:
    with replicated(tmp_path) as (primary, replica):
        redis = connect(primary.url)
        world = World(RedisStore(redis, replicas=1), RedisDirectory(redis))
        yield Pair(world, primary, replica, RedisTokens(redis, replicas=1))
        await redis.aclose()


async def show(pair: Pair, match_id: str, mover: str, key: str) -> int:
    meta = Meta(key=key, request=["show"])
    answer = await pair.world.service().act(match_id, mover, show_one, meta)
    return answer.version


async def test_what_is_acknowledged_is_on_the_replica_already(pair):
    match_id, mover = await playing(pair.world.service())

    assert await show(pair, match_id, mover, "k") == pair.versions(match_id)


async def test_a_commit_waits_in_its_own_round_trip(pair):
    match_id, mover = await playing(pair.world.service())
    redis = connect(pair.primary.url)
    seen: list[dict[str, Any]] = []
    async with redis.monitor() as monitor, asyncio.timeout(10):
        await show(pair, match_id, mover, "k")
        while not seen or not seen[-1]["command"].startswith("WAIT"):
            seen.append(await monitor.next_command())
    await redis.aclose()

    sent = [c for c in seen if c["client_type"] != "lua"]
    assert [c["command"].split()[0] for c in sent[-2:]] == ["EVALSHA", "WAIT"]
    assert sent[-1]["client_port"] == sent[-2]["client_port"]


async def test_without_the_replica_a_move_stands_but_is_not_acknowledged(pair):
    service = pair.world.service()
    match_id, mover = await playing(service)
    version = (await service.look(match_id, mover)).version
    pair.world.hints.sent.clear()
    pair.replica.signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        for _ in range(2):  # and its retry, which finds it done
            with pytest.raises(Unconfirmed):
                await show(pair, match_id, mover, "k")
        assert time.monotonic() - began < 2 * REPLICAS_MS / 1000 + 2
        assert (await service.look(match_id, mover)).version == version + 1
    finally:
        pair.replica.signal(signal.SIGCONT)
    until(lambda: in_step(pair.primary))

    assert await show(pair, match_id, mover, "k") == version + 1
    assert pair.versions(match_id) == version + 1


async def test_without_the_replica_a_match_is_opened_and_not_acknowledged(pair):
    meta = Meta(key="open", request=["create"])

    async def create() -> str:
        answer = await pair.world.service().create("ann", new(PLAYER, OPEN), meta)
        return answer.view.match_id

    pair.replica.signal(signal.SIGSTOP)
    try:
        for _ in range(2):
            with pytest.raises(Unconfirmed):
                await create()
    finally:
        pair.replica.signal(signal.SIGCONT)
    until(lambda: in_step(pair.primary))

    match_id = await create()
    assert pair.versions(match_id) == 1


async def test_what_is_owed_is_announced_though_it_is_not_acknowledged(pair):
    pair.world.hints = Hints()
    pair.replica.signal(signal.SIGSTOP)
    try:
        with pytest.raises(Unconfirmed):
            await pair.world.service().create("ann", new(BOT, BOT))
    finally:
        pair.replica.signal(signal.SIGCONT)

    assert pair.world.hints.sent


async def test_a_token_is_revoked_on_the_replica_or_still_to_be_revoked(pair):
    ann = player()
    made = await issued(pair.tokens, ann)
    pair.replica.signal(signal.SIGSTOP)
    try:
        with pytest.raises(Unconfirmed):
            await pair.tokens.revoke(ann, made.token_id, NOW)
        assert await pair.tokens.tokens(ann, NOW) == [made]
    finally:
        pair.replica.signal(signal.SIGCONT)
    until(lambda: in_step(pair.primary))

    assert await pair.tokens.revoke(ann, made.token_id, NOW)
    with pair.replica.client() as client:
        assert client.get(keys.guest(made.hash)) == "revoked"
