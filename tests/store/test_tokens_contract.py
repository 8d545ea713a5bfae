"""What every store of tokens promises: one suite for Redis and its twin in memory."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress

import pytest
from redis.asyncio import Redis

from api.identity.caller import Caller
from api.identity.marks import Marks
from api.identity.ports import Grant, Token, TokenStore
from api.identity.service import Identity
from api.ports import EventStore, Key
from api.store import keys
from api.store.keys import new_match_id
from api.store.memory import MemoryStore
from api.store.redis import RedisStore
from api.store.tokens import RedisTokens
from api.store.tokens_memory import MemoryTokens
from api.streams import Streams
from schema.scopes import Scope
from tests.conftest import emptied, servers
from tests.store.test_contract import all_listen

HOUR = 3600 * 1000
NOW = time.time_ns() // 1_000_000
Stores = tuple[EventStore, TokenStore]


@pytest.fixture(scope="module", params=["memory", *servers(), "cluster"])
async def stores(request) -> AsyncIterator[Stores]:
    if request.param == "memory":
        log = MemoryStore()
        yield log, MemoryTokens(log)
        return
    redis = await emptied(request.getfixturevalue(f"{request.param}_url"))
    yield RedisStore(redis), RedisTokens(redis)
    await redis.aclose()


@pytest.fixture
def store(stores: Stores) -> TokenStore:
    return stores[1]


@pytest.fixture
def log(stores: Stores) -> EventStore:
    return stores[0]


def player() -> str:
    return f"p-{secrets.token_urlsafe(12)}"


def token(
    player_id: str, *, scope: Scope = Scope.PLAY, created: int = NOW, expires: int = NOW + HOUR
) -> tuple[Token, Grant]:
    hash_ = secrets.token_hex(32)
    scopes = frozenset({scope})
    listed = Token(
        Marks("").token_id(player_id, hash_), 'my "bøt"', scopes, created, expires, hash_
    )
    return listed, Grant(player_id, "Ann", scopes, expires)


async def issued(store: TokenStore, player_id: str, **more) -> Token:
    listed, grant = token(player_id, **more)
    assert await store.issue(listed, grant, 50, NOW)
    return listed


async def test_a_token_is_found_by_its_hash_and_listed(store):
    ann = player()
    listed, grant = token(ann, scope=Scope.BOT)

    assert await store.find(listed.hash) is None
    assert await store.issue(listed, grant, 50, NOW)

    assert await store.find(listed.hash) == grant
    assert await store.find("other") is None
    assert await store.tokens(ann, NOW) == [listed]
    assert await store.tokens(player(), NOW) == []


async def test_a_list_has_the_newest_first_and_nothing_that_has_expired(store):
    ann = player()
    old = await issued(store, ann, created=NOW - 5)
    new = await issued(store, ann, created=NOW - 1, expires=NOW + 2 * HOUR)

    assert await store.tokens(ann, NOW) == [new, old]
    assert await store.tokens(ann, NOW + HOUR) == [new]


async def test_a_token_revoked_is_not_found_not_listed_and_not_issued_again(store):
    ann = player()
    listed, grant = token(ann)
    await store.issue(listed, grant, 50, NOW)

    assert await store.revoke(ann, listed.token_id, NOW + HOUR)
    assert await store.revoke(ann, listed.token_id, NOW + HOUR)
    assert await store.issue(listed, grant, 50, NOW)

    assert await store.find(listed.hash) is None
    assert await store.tokens(ann, NOW) == []


async def test_a_token_is_revoked_by_its_own_player_alone(store):
    ann, eve = player(), player()
    listed = await issued(store, ann)

    assert not await store.revoke(eve, listed.token_id, NOW + HOUR)
    assert not await store.revoke(ann, "t-none", NOW + HOUR)
    assert await store.find(listed.hash) is not None


async def test_a_token_issued_again_is_listed_once(store):
    ann = player()
    listed, grant = token(ann)

    for _ in range(3):
        assert await store.issue(listed, grant, 1, NOW)

    assert await store.tokens(ann, NOW) == [listed]


async def test_a_player_has_so_many_and_no_more_however_they_race(store):
    ann = player()
    wanted = [token(ann) for _ in range(20)]

    answers = await asyncio.gather(*(store.issue(t, g, 5, NOW) for t, g in wanted))

    assert sum(answers) == 5
    assert len(await store.tokens(ann, NOW)) == 5
    for (listed, _), made in zip(wanted, answers, strict=True):
        assert (await store.find(listed.hash) is not None) == made


async def test_what_has_expired_or_was_revoked_makes_room(store):
    ann, later = player(), NOW + HOUR
    await issued(store, ann, expires=later)
    second = await issued(store, ann, expires=later + HOUR)
    third, grant = token(ann, expires=later + HOUR)

    assert not await store.issue(third, grant, 2, NOW)
    assert await store.issue(third, grant, 2, later)
    await store.revoke(ann, second.token_id, later)
    fourth, grant = token(ann, expires=later + HOUR)
    assert await store.issue(fourth, grant, 2, later)

    assert set(await store.tokens(ann, later)) == {third, fourth}


async def test_the_bell_rings_for_a_revocation(store, log):
    ann = player()
    listed = await issued(store, ann)

    async def listen() -> None:
        async with aclosing(log.bells()) as bells:
            async for ring in bells:
                if ring is None:
                    listening.set()
                elif listed.token_id in ring.revoked:
                    assert ring.matches == frozenset()
                    return

    listening = asyncio.Event()
    listener = asyncio.create_task(listen())
    await listening.wait()
    await all_listen(log)
    await store.revoke(ann, listed.token_id, NOW + HOUR)

    await asyncio.wait_for(listener, 5)


async def test_a_key_stands_for_its_first_value_in_the_one_namespace_of_its_player(store, log):
    ann, key = player(), secrets.token_hex(8)

    assert await store.claim(ann, key, "first") == "first"
    assert await store.claim(ann, key, "second") == "first"
    assert await store.claim(player(), key, "second") == "second"
    assert (await log.load(new_match_id(), 0, Key(ann, key, "move")))[1].fingerprint == "first"


async def test_the_key_of_a_sign_in_stands_for_its_first_value(store):
    digest = secrets.token_hex(8)

    answers = await asyncio.gather(*(store.sign_in_as(digest, f"{n}") for n in range(20)))

    assert len(set(answers)) == 1


async def test_a_token_of_the_release_before_is_valid_listed_and_can_be_revoked(redis: Redis):
    text, marks = secrets.token_urlsafe(32), Marks("key")
    key = keys.guest(marks.hash(text))
    await redis.set(key, '{"id":"p-aaaaaaaaaaaaaaaa","name":"Ann"}', ex=1000)
    identity = Identity(RedisTokens(redis), Streams(60), ttl=60, secret="key")

    caller = await identity.recognise(f"Bearer {text}")

    assert isinstance(caller, Caller)
    assert (caller.player_id, caller.scopes) == ("p-aaaaaaaaaaaaaaaa", frozenset({Scope.PLAY}))
    assert abs(caller.expires_at - time.time() * 1000 - 1_000_000) < 5000
    (listed,) = await identity.tokens(caller)
    assert listed.token_id == caller.token_id


@pytest.mark.parametrize("writes", range(6))
async def test_whatever_ends_between_two_writes_nothing_is_valid_and_not_listed(redis, writes):
    ann = player()
    listed, grant = token(ann)
    store = RedisTokens(StopsAfter(redis, writes))  # type: ignore[arg-type]
    with suppress(StoppedError):
        await store.issue(listed, grant, 50, NOW)

    whole = RedisTokens(redis)
    if await whole.find(listed.hash) is not None:
        assert await whole.tokens(ann, NOW) == [listed]


@pytest.mark.parametrize("writes", range(6))
async def test_a_revocation_cut_off_anywhere_is_finished_by_its_retry(redis, writes):
    ann = player()
    whole = RedisTokens(redis)
    listed = await issued(whole, ann)
    cut_off = RedisTokens(StopsAfter(redis, writes))  # type: ignore[arg-type]
    with suppress(StoppedError):
        await cut_off.revoke(ann, listed.token_id, NOW + HOUR)

    # Valid still, or listed still, or all is done: never valid and out of reach.
    if await whole.find(listed.hash) is not None:
        assert await whole.tokens(ann, NOW) == [listed]
    assert await whole.revoke(ann, listed.token_id, NOW + HOUR)

    assert await whole.find(listed.hash) is None
    assert await whole.tokens(ann, NOW) == []
    assert await redis.xlen(keys.REVOKED) >= 1


async def test_a_token_revoked_while_it_is_being_issued_is_never_valid(redis):
    ann = player()
    whole = RedisTokens(redis)
    listed, grant = token(ann)

    async def meanwhile() -> None:
        assert await whole.revoke(ann, listed.token_id, NOW + HOUR)

    slow = RedisTokens(StopsAfter(redis, 2, meanwhile))  # type: ignore[arg-type]
    assert await slow.issue(listed, grant, 50, NOW)

    assert await whole.find(listed.hash) is None
    assert await whole.tokens(ann, NOW) == []


class StoppedError(Exception):
    """The process ended here."""


class StopsAfter:
    """A Redis client that stops before command number ``left`` + 1: for good, or for a while."""

    def __init__(self, redis: Redis, left: int, meanwhile=None) -> None:
        self._redis = redis
        self._left = left
        self._meanwhile = meanwhile

    def register_script(self, script):
        run = self._redis.register_script(script)

        async def counted(**more):
            await self._count()
            return await run(**more)

        return counted

    async def _count(self) -> None:
        self._left -= 1
        if self._left == -1:
            if self._meanwhile is None:
                raise StoppedError
            await self._meanwhile()

    def __getattr__(self, name):
        async def command(*args, **more):
            await self._count()
            return await getattr(self._redis, name)(*args, **more)

        return command
