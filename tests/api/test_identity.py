"""Tokens: scoped, listed, revoked; of which the store has a keyed hash and no more."""

import asyncio
import re
import time
from typing import Any

import pytest

from api.errors import Refused, Unauthenticated
from api.identity.caller import Caller
from api.identity.marks import owner
from api.identity.service import MOST_TOKENS, Identity, NewToken
from api.identity.visitor import Visitor
from api.ports import Ring
from api.store.memory import MemoryStore
from api.store.tokens_memory import MemoryTokens
from api.streams import Streams
from api.values import Meta
from engine.errors import Reason, RuleError
from schema.codes import ErrorCode
from schema.scopes import Scope

DAY = 24 * 3600 * 1000
KEY = "k" * 20 + "-0123456789ab"
PLAY, BOT, SPECTATE, OPERATE = ({scope} for scope in Scope)


class World:
    """Processes that share a store, and a clock that does not run."""

    def __init__(self) -> None:
        self.store = MemoryTokens(MemoryStore())
        self.now = time.time_ns() // 1_000_000

    def process(self, **more: Any) -> Identity:
        options: dict[str, Any] = {"ttl": 1000, "secret": "key", "now": lambda: self.now}
        return Identity(self.store, Streams(60), **{**options, **more})


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def identity(world: World) -> Identity:
    return world.process()


async def known(identity: Identity, token: str) -> Caller:
    caller = await identity.recognise(f"Bearer {token}")
    assert caller is not None
    return caller


async def ann(identity: Identity) -> Caller:
    return await known(identity, (await identity.sign_in("Ann")).token)


def new(scopes: set[Scope], seconds: int | None = None, name: str = "mine") -> NewToken:
    return NewToken(name, frozenset(scopes), seconds)


async def refusal(work) -> ErrorCode:
    with pytest.raises(Refused) as refused:
        await work
    return refused.value.code


async def test_a_token_is_recognised_by_every_process_with_the_same_secret(world, identity):
    made = await identity.sign_in("  Ann ")

    caller = await world.process().recognise(f"bearer {made.token}")

    assert caller == await known(identity, made.token)
    assert (caller.player_id, caller.name) == (made.player_id, "Ann")
    assert caller.scopes == PLAY
    assert caller.expires_at == world.now + 1_000_000
    with pytest.raises(Unauthenticated):
        await world.process(secret="other").recognise(f"Bearer {made.token}")


async def test_two_guests_of_one_name_are_two_players(identity):
    first, second = await identity.sign_in("Ann"), await identity.sign_in("Ann")

    assert first.token != second.token
    assert first.player_id != second.player_id


async def test_neither_the_store_nor_any_repr_holds_a_token(world, identity):
    made = await identity.sign_in("Ann", KEY)
    caller = await known(identity, made.token)
    further = await identity.create(caller, new(BOT), Meta("k"))
    visitor = Visitor(identity, f"Bearer {made.token}")
    shown = [world.store, made, further, caller, visitor, await visitor.permit()]
    secret = [made.token, further.token, KEY, caller.seed.hex(), repr(caller.seed)]

    for thing in shown:
        assert not [text for text in secret if text in repr(thing)], type(thing)
    for thing in shown[1:]:
        assert made.player_id not in repr(thing)


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer ", "Basic YTpi", "Bearer ü", "Bearer " + "x" * 9000, "Bearer a.b.c"],
)
async def test_what_is_no_token_is_refused(identity, authorization):
    with pytest.raises(Unauthenticated):
        await identity.recognise(authorization)


async def test_a_token_that_has_expired_is_refused_though_it_was_just_known(world, identity):
    made = await identity.sign_in("Ann")
    await known(identity, made.token)

    world.now += 1_000_000

    with pytest.raises(Unauthenticated):
        await identity.recognise(f"Bearer {made.token}")


ALLOWED = {Scope.PLAY: PLAY | BOT | SPECTATE, Scope.BOT: BOT | SPECTATE, Scope.SPECTATE: SPECTATE}


@pytest.mark.parametrize("scope", Scope)
async def test_a_scope_allows_what_it_includes_and_nothing_else(identity, scope):
    made = await identity.make("Ann", frozenset({scope}))
    visitor = Visitor(identity, f"Bearer {made.token}")

    for asked in Scope:
        if asked in ALLOWED.get(scope, OPERATE | SPECTATE):
            assert (await visitor.player(asked)).player_id == made.player_id
        else:
            assert await refusal(visitor.player(asked)) is ErrorCode.FORBIDDEN
    sees = scope in (Scope.PLAY, Scope.BOT)
    assert await visitor.viewer_id() == (made.player_id if sees else None)


async def test_nobody_is_not_somebody_without_rights(identity):
    nobody = Visitor(identity, None)

    assert await nobody.viewer_id() is None
    assert await nobody.permit() is None
    with pytest.raises(Unauthenticated):
        await nobody.player(Scope.SPECTATE)


async def test_a_further_token_is_the_same_player_with_fewer_rights(world, identity):
    caller = await ann(identity)
    world.now += 1

    made = await identity.create(caller, new(SPECTATE, 60), Meta())

    seen = await known(identity, made.token)
    assert (seen.player_id, seen.name) == (caller.player_id, "Ann")
    assert seen.scopes == SPECTATE
    assert seen.expires_at == world.now + 60_000
    assert [t.name for t in await identity.tokens(caller)] == ["mine", "Ann"]
    assert made.listed.token_id == seen.token_id
    assert owner(made.listed.token_id) == caller.player_id


async def test_no_token_makes_one_that_is_more_than_itself(identity):
    caller = await ann(identity)
    operator = await known(identity, (await identity.make("Op", frozenset(PLAY | OPERATE))).token)

    assert await refusal(identity.create(caller, new(OPERATE), Meta())) is ErrorCode.FORBIDDEN
    assert await refusal(identity.create(caller, new(PLAY, 1001), Meta())) is ErrorCode.FORBIDDEN
    assert (await identity.create(caller, new(PLAY, 1000), Meta())).token
    assert (await identity.create(operator, new(OPERATE), Meta())).token
    for scopes in (BOT, SPECTATE, OPERATE):
        made = await identity.make("Ann", frozenset(scopes))
        lesser = await known(identity, made.token)
        assert await refusal(identity.create(lesser, new(SPECTATE), Meta())) is ErrorCode.FORBIDDEN


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        (new(set()), "scopes"),
        (new(BOT, 0), "expiresInSeconds"),
        (new(BOT, -5), "expiresInSeconds"),
        (new(BOT, 2**31 - 1), "expiresInSeconds"),
        (new(BOT, name=""), "name"),
        (new(BOT, name="a\u2028b"), "name"),
    ],
)
async def test_what_a_token_cannot_be_is_refused_by_field(identity, wanted, field):
    with pytest.raises(RuleError) as refused:
        await identity.create(await ann(identity), wanted, Meta())

    assert (refused.value.reason, refused.value.field) == (Reason.INVALID_INPUT, field)


async def test_a_player_has_a_bounded_number_of_tokens(identity):
    caller = await ann(identity)
    made = [await identity.create(caller, new(BOT), Meta()) for _ in range(MOST_TOKENS - 1)]

    assert await refusal(identity.create(caller, new(BOT), Meta())) is ErrorCode.TOO_MANY_TOKENS
    await identity.revoke(caller, made[0].listed.token_id, Meta())
    assert (await identity.create(caller, new(BOT), Meta())).token


async def test_who_may_list_and_revoke_what(identity):
    caller, eve = await ann(identity), await ann(identity)
    operator = await known(identity, (await identity.make("Op", frozenset(OPERATE))).token)
    made = [await identity.create(caller, new(scopes), Meta()) for scopes in (BOT, SPECTATE, PLAY)]
    bot, spectator = [await known(identity, m.token) for m in made[:2]]
    id_ = made[2].listed.token_id

    assert await refusal(identity.tokens(bot)) is ErrorCode.FORBIDDEN
    assert await refusal(identity.tokens(eve, caller.player_id)) is ErrorCode.FORBIDDEN
    assert len(await identity.tokens(operator, caller.player_id)) == 4
    assert await refusal(identity.revoke(bot, id_, Meta())) is ErrorCode.FORBIDDEN
    for token_id in (id_, "t-" + "a" * 16 + "." + eve.player_id, "", "x", caller.player_id):
        assert await refusal(identity.revoke(eve, token_id, Meta())) is ErrorCode.NOT_FOUND
    assert spectator.token_id
    await identity.revoke(spectator, spectator.token_id, Meta())
    await identity.revoke(operator, id_, Meta())
    await identity.revoke(caller, made[0].listed.token_id, Meta())

    assert [t.token_id for t in await identity.tokens(caller)] == [caller.token_id]
    for gone in made:
        with pytest.raises(Unauthenticated):
            await identity.recognise(f"Bearer {gone.token}")


async def test_a_revocation_said_twice_is_answered_alike(identity):
    caller = await ann(identity)
    made = await identity.create(caller, new(BOT), Meta())

    for _ in range(2):
        await identity.revoke(caller, made.listed.token_id, Meta("revoke-1"))
    other = identity.revoke(caller, caller.token_id or "", Meta("revoke-1"))

    assert await refusal(other) is ErrorCode.KEY_REUSED
    assert await known(identity, (await identity.sign_in("Eve")).token)


async def test_a_sign_in_sent_again_is_the_same_player_and_token(world, identity):
    first = await identity.sign_in("Ann", KEY)
    world.now += 5000

    again = await world.process().sign_in(" Ann", KEY)

    assert again == first
    assert await refusal(identity.sign_in("Bob", KEY)) is ErrorCode.KEY_REUSED
    assert (await identity.sign_in("Ann", KEY + "x")).player_id != first.player_id
    assert len(await identity.tokens(await known(identity, first.token))) == 1


async def test_a_sign_in_sent_again_after_a_revocation_is_the_same_dead_token(identity):
    first = await identity.sign_in("Ann", KEY)
    caller = await known(identity, first.token)
    await identity.revoke(caller, first.listed.token_id, Meta())

    again = await identity.sign_in("Ann", KEY)

    assert again.token == first.token
    with pytest.raises(Unauthenticated):
        await identity.recognise(f"Bearer {again.token}")
    assert await identity.tokens(caller) == []


async def test_a_retry_gives_no_token_a_longer_life(world, identity):
    first = await identity.sign_in("Ann", KEY)
    world.now += 1_000_000

    assert (await identity.sign_in("Ann", KEY)).token == first.token
    with pytest.raises(Unauthenticated):
        await identity.recognise(f"Bearer {first.token}")


async def test_what_a_key_leads_to_cannot_be_had_without_the_servers_secret(world):
    first = await world.process().sign_in("Ann", KEY)
    store, world.store = world.store, MemoryTokens(MemoryStore())
    world.store.sign_ins = dict(store.sign_ins)

    other = await world.process(secret="other").sign_in("Ann", KEY)

    assert other.token != first.token


async def test_a_further_token_made_again_is_the_same(world, identity):
    caller = await ann(identity)
    first = await identity.create(caller, new(BOT, 600), Meta("k"))
    world.now += 500_000  # asked for now, 600 s would be longer than the caller's own

    again = await world.process().create(caller, new(BOT, 600), Meta("k"))

    assert again == first
    for wanted in (new(SPECTATE, 600), new(BOT, 601), new(BOT, 600, "other")):
        assert await refusal(identity.create(caller, wanted, Meta("k"))) is ErrorCode.KEY_REUSED
    stranger = await identity.create(await ann(identity), new(BOT, 600), Meta("k"))
    assert stranger.token != first.token


async def test_a_key_belongs_to_the_token_that_it_was_used_with(identity):
    caller = await ann(identity)
    first = await identity.create(caller, new(PLAY), Meta())
    other = await known(identity, first.token)
    await identity.create(caller, new(BOT), Meta("k"))

    assert await refusal(identity.create(other, new(BOT), Meta("k"))) is ErrorCode.KEY_REUSED


async def test_a_further_token_made_again_after_its_revocation_stays_dead(identity):
    caller = await ann(identity)
    first = await identity.create(caller, new(BOT), Meta("k"))
    await identity.revoke(caller, first.listed.token_id, Meta())

    again = await identity.create(caller, new(BOT), Meta("k"))

    assert again.token == first.token
    with pytest.raises(Unauthenticated):
        await identity.recognise(f"Bearer {again.token}")
    for _ in range(MOST_TOKENS - 1):
        await identity.create(caller, new(BOT), Meta())
    assert await identity.create(caller, new(BOT), Meta("k")) == first


async def test_ids_tell_nothing_of_tokens_and_open_nothing(world, identity):
    made = await identity.sign_in("Ann")
    listed = made.listed

    assert re.fullmatch(r"t-[\w-]{16}\.p-[\w-]{16}", listed.token_id)
    for text in (listed.token_id, listed.hash, made.player_id, listed.token_id.split(".")[0]):
        with pytest.raises(Unauthenticated):
            await identity.recognise(f"Bearer {text}")
    assert listed.hash[:16] not in listed.token_id
    assert world.process(secret="")._marks.token_id("p", listed.hash)[:18] not in listed.token_id


# What other processes hear.


async def test_a_revocation_heard_of_ends_what_was_cached(world, identity):
    made = await identity.sign_in("Ann")
    other = world.process()
    caller = await known(other, made.token)
    await identity.revoke(caller, made.listed.token_id, Meta())
    assert await known(other, made.token)  # it has not heard of it yet

    other.heed(Ring(revoked=frozenset({made.listed.token_id})))

    with pytest.raises(Unauthenticated):
        await other.recognise(f"Bearer {made.token}")


async def test_after_a_gap_nothing_cached_counts(world, identity):
    made = await identity.sign_in("Ann")
    other = world.process()
    caller = await known(other, made.token)
    await identity.revoke(caller, made.listed.token_id, Meta())

    other.heed(None)

    with pytest.raises(Unauthenticated):
        await other.recognise(f"Bearer {made.token}")


async def test_a_revocation_while_a_token_is_looked_up_is_not_cached_over(world, identity):
    made = await identity.sign_in("Ann")
    other = world.process()
    find = world.store.find

    async def slowly(token_hash: str) -> Any:
        found = await find(token_hash)
        if found is not None and len(world.store.revoked) == 0:
            await identity.revoke(await known(identity, made.token), made.listed.token_id, Meta())
            other.heed(Ring(revoked=frozenset({made.listed.token_id})))
        return found

    await known(identity, made.token)
    world.store.find = slowly

    with pytest.raises(Unauthenticated):
        await other.recognise(f"Bearer {made.token}")


# Streams.


async def forever():
    yield 1
    await asyncio.Event().wait()


async def begun(identity: Identity, token: str):
    """A stream that has sent what it had, and its next item."""
    permit = await Visitor(identity, f"Bearer {token}").permit()
    stream = identity._streams.lasting(forever(), permit)
    assert await anext(stream) == 1
    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    return waiting


@pytest.mark.parametrize("ring", [None, "revoked"])
async def test_a_stream_ends_with_its_token(world, identity, ring):
    made, others = await identity.sign_in("Ann"), await identity.sign_in("Eve")
    other = world.process()
    waiting, healthy = await begun(other, made.token), await begun(other, others.token)
    await identity.revoke(await known(identity, made.token), made.listed.token_id, Meta())

    other.heed(Ring(revoked=frozenset({made.listed.token_id})) if ring else None)

    with pytest.raises(Unauthenticated):
        await asyncio.wait_for(waiting, 2)
    assert not healthy.done()
    healthy.cancel()


async def test_a_stream_ends_at_once_in_the_process_that_revokes(identity):
    made = await identity.sign_in("Ann")
    waiting = await begun(identity, made.token)

    await identity.revoke(await known(identity, made.token), made.listed.token_id, Meta())

    with pytest.raises(Unauthenticated):
        await asyncio.wait_for(waiting, 0.2)


async def test_a_token_revoked_before_its_stream_is_known_ends_it(identity):
    made = await identity.sign_in("Ann")
    permit = await Visitor(identity, f"Bearer {made.token}").permit()
    stream = identity._streams.lasting(forever(), permit)
    await identity.revoke(await known(identity, made.token), made.listed.token_id, Meta())

    with pytest.raises(Unauthenticated):
        await anext(stream)


async def without_end():
    while True:
        yield 1


@pytest.mark.parametrize("source", [without_end, forever])
async def test_a_follower_that_was_busy_is_told_of_a_revocation_and_nothing_more(identity, source):
    made = await identity.sign_in("Ann")
    permit = await Visitor(identity, f"Bearer {made.token}").permit()
    stream = identity._streams.lasting(source(), permit)
    await anext(stream)
    await identity.revoke(await known(identity, made.token), made.listed.token_id, Meta())

    with pytest.raises(Unauthenticated):
        await asyncio.wait_for(anext(stream), 1)


async def test_a_stream_ends_when_its_token_expires(world):
    identity = world.process(ttl=1)
    made = await identity.sign_in("Ann")
    began = time.monotonic()
    waiting = await begun(identity, made.token)

    with pytest.raises(Unauthenticated):
        await asyncio.wait_for(waiting, 3)
    assert time.monotonic() - began < 2


async def test_a_stream_without_a_token_ends_politely():
    streams = Streams(0.05)

    assert [item async for item in streams.lasting(forever())] == [1]
    assert not streams._open
