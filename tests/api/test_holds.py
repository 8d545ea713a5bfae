"""Seats of the lobby that nobody came for: by a clock, in one process and in two."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass

import pytest

from api.errors import Refused, Unavailable
from api.ports import Append
from api.service import MatchService
from api.store import keys
from api.store.memory import MemoryDirectory, MemoryStore
from api.store.redis import RedisDirectory, RedisStore
from api.values import Joining, Limits, Meta
from engine.actions import Show
from engine.errors import RuleError
from engine.state import SeatKind, Status, Visibility
from tests.api.test_service import BOT, OPEN, PLAYER, World, new

SECONDS = 120
Use = Callable[[MatchService, str], Awaitable[object]]


@pytest.fixture(params=["memory", "redis"])
async def world(request, redis) -> World:
    if request.param == "memory":
        return World(MemoryStore(), MemoryDirectory())
    return World(RedisStore(redis), RedisDirectory(redis))


@pytest.fixture
def service(world: World) -> MatchService:
    return world.service()


async def lobby(service: MatchService, *joining: str) -> str:
    """A match of ann, who is its host, with room for one more than who joins."""
    opened = await service.create("ann", new(PLAYER, *[OPEN] * (len(joining) + 1)))
    for player in joining:
        await service.join(opened.view.match_id, player, Joining(player))
    return opened.view.match_id


async def seated(service: MatchService, match_id: str) -> list[str | None]:
    answer = await service.look(match_id, None)
    assert answer is not None
    return [seat.name for seat in answer.view.seats if seat.kind is SeatKind.PLAYER]


async def pass_time(world: World, seconds: float) -> int:
    """Let time pass and sweep, in another process; the number of seats freed."""
    world.clock += int(1000 * seconds)
    return await world.service().free_seats(100)


async def test_a_seat_that_nobody_came_for_is_open_again(world, service):
    match_id = await lobby(service, "bob", "cid")

    assert await pass_time(world, SECONDS - 1) == 0
    assert await pass_time(world, 1) == 2
    assert await seated(service, match_id) == ["Ann"]
    assert await pass_time(world, SECONDS) == 0

    joined = await service.join(match_id, "dan", Joining("dan"))
    assert joined.view.you is not None
    assert joined.view.you.seat == 1


async def look(service: MatchService, match_id: str) -> object:
    return await service.look(match_id, "bob")


async def page_of_updates(service: MatchService, match_id: str) -> object:
    return await service.updates(match_id, "bob", 0, 10)


async def stream(service: MatchService, match_id: str) -> object:
    async with aclosing(service.follow(match_id, "bob", None)) as moments:
        return await anext(moments)


async def move(service: MatchService, match_id: str) -> None:
    with pytest.raises(RuleError):
        await service.act(match_id, "bob", lambda seat: Show(seat, 0, 1), Meta())


async def read_the_list(service: MatchService, match_id: str) -> None:
    answers, _ = await service.page(None, None, 10, "bob")
    assert match_id in [answer.view.match_id for answer in answers]


@pytest.mark.parametrize("use", [look, page_of_updates, stream, move, read_the_list])
async def test_whoever_comes_once_has_the_seat_for_good(world, service, use: Use):
    match_id = await lobby(service, "bob")
    await pass_time(world, SECONDS - 1)

    await use(world.service(), match_id)

    assert await pass_time(world, 10 * SECONDS) == 0
    assert await seated(service, match_id) == ["Ann", "bob"]


async def test_a_look_through_other_eyes_is_not_the_players(world, service):
    match_id = await lobby(service, "bob")

    await service.look(match_id, None)
    await service.look(match_id, "ann")

    assert await pass_time(world, SECONDS) == 1


async def test_who_followed_the_lobby_before_joining_has_come(world, service):
    opened = await service.create("ann", new(PLAYER, OPEN, OPEN, OPEN))
    match_id = opened.view.match_id
    async with aclosing(service.follow(match_id, "bob", None)) as moments:
        await anext(moments)
        await service.join(match_id, "bob", Joining("bob"))
        assert (await anext(moments)).view.you is not None
        waiting = asyncio.create_task(anext(moments))  # the stream goes on
        await asyncio.sleep(0.1)
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting

        assert await pass_time(world, SECONDS) == 0


async def test_who_joins_again_and_again_is_not_held_anew(world, service):
    match_id = await lobby(service, "bob")
    await service.look(match_id, "bob")
    for process in (service, world.service()):
        await process.join(match_id, "bob", Joining("bob"))
        await process.join(match_id, "bob", Joining("bob"), Meta("key", None, "r"))

    assert await pass_time(world, SECONDS) == 0

    other = await lobby(service, "bob")
    await pass_time(world, SECONDS - 1)
    await service.join(other, "bob", Joining("bob"))  # neither a use nor a new hold
    assert await pass_time(world, 1) == 1


async def test_who_left_and_came_back_has_to_come_anew(world, service):
    match_id = await lobby(service, "bob")
    await service.look(match_id, "bob")
    await service.leave(match_id, "bob")
    await service.join(match_id, "bob", Joining("bob"))

    assert await pass_time(world, SECONDS - 1) == 0
    await service.look(match_id, "bob")
    assert await pass_time(world, 1) == 0


async def test_a_match_that_has_begun_keeps_its_players(world, service):
    match_id = await lobby(service, "bob")
    await service.start(match_id, "ann")

    assert await pass_time(world, SECONDS) == 0
    assert await seated(service, match_id) == ["Ann", "bob"]
    assert await world.directory.overdue(world.clock, 10) == []


async def test_a_refused_join_holds_nothing(world, service):
    public = await lobby(service)
    answer = await service.create("ann", new(PLAYER, OPEN, visibility=Visibility.PRIVATE))
    private = answer.view.match_id
    full = await lobby(service)
    await service.join(full, "cid", Joining("cid"))

    for match_id, joining, meta in (
        (public, Joining("bob", "no entropy"), Meta()),
        (public, Joining("bob"), Meta(expected_version=9)),
        (private, Joining("bob"), Meta()),
        (full, Joining("bob"), Meta()),
        ("m0-aaaaaaaaaaaaaaaa", Joining("bob"), Meta()),
    ):
        with pytest.raises((RuleError, Refused)):
            await service.join(match_id, "bob", joining, meta)

    held = await world.directory.overdue(world.clock + 10**9, 10)
    assert [player for _, player in held if player == "bob"] == []


async def test_the_host_may_take_time_and_who_became_host_may_not(world, service):
    opened = await service.create("ann", new(OPEN, OPEN, OPEN))
    match_id = opened.view.match_id
    await service.join(match_id, "ann", Joining("Ann"))
    await service.join(match_id, "bob", Joining("bob"))
    await service.leave(match_id, "ann")

    assert await pass_time(world, SECONDS) == 1
    answer = await service.look(match_id, None)
    assert answer is not None
    assert answer.view.status is Status.ABANDONED  # nobody is left


async def test_without_a_time_seats_are_never_freed(world):
    service = MatchService(
        world.store, world.directory, world.hints, limits=Limits(seat_hold=0), now=lambda: 0
    )
    match_id = await lobby(service, "bob")

    assert await world.directory.overdue(10**15, 10) == []
    assert await service.free_seats(10) == 0
    assert await seated(service, match_id) == ["Ann", "bob"]


async def test_a_hold_of_what_is_gone_is_dropped(world):
    await world.directory.hold("m0-aaaaaaaaaaaaaaaa", "bob", 0)

    assert await pass_time(world, 0) == 0
    assert await world.directory.overdue(world.clock, 10) == []


async def test_a_seat_in_use_costs_no_further_round_trip(redis):
    service = World(RedisStore(redis), RedisDirectory(redis)).service()
    match_id = await lobby(service, "bob")
    await service.look(match_id, "bob")

    async def commands() -> int:
        stats = await redis.info("commandstats")
        return sum(found["calls"] for name, found in stats.items() if name == "cmdstat_zrem")

    before = await commands()
    for _ in range(5):
        await service.look(match_id, "bob")
    assert await commands() == before


async def test_a_join_code_lives_as_long_as_its_match(redis):
    service = World(RedisStore(redis), RedisDirectory(redis)).service()
    opened = await service.create("ann", new(PLAYER, OPEN, OPEN, OPEN, BOT))
    match_id, code = opened.view.match_id, opened.view.join_code
    assert code is not None

    async def lives() -> tuple[int, int]:
        return await redis.ttl(keys.code(code)), await redis.ttl(keys.log(match_id))

    for change in (
        service.join_by_code(code, None, "bob", Joining("bob")),
        service.join(match_id, "cid", Joining("cid")),
        service.leave(match_id, "cid"),
        service.start(match_id, "ann"),
    ):
        await redis.expire(keys.code(code), 5)
        await change
        of_code, of_match = await lives()
        assert of_code >= of_match - 1 > 500


async def test_a_host_without_a_seat_can_invite(service):
    opened = await service.create("ann", new(OPEN, OPEN, OPEN, visibility=Visibility.PRIVATE))
    match_id, code = opened.view.match_id, opened.view.join_code
    assert code is not None

    await service.join_by_code(code, None, "bob", Joining("bob"))

    seen = await service.look(match_id, "ann")
    assert seen is not None
    assert (seen.view.you, seen.view.join_code) == (None, code)


@dataclass
class Overtaken(MemoryDirectory):
    """Another request of the same player joins and comes while a hold is on its way."""

    meanwhile: Callable[[], Awaitable[object]] | None = None

    async def hold(self, match_id: str, player: str, until: int) -> None:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()
        await super().hold(match_id, player, until)


@pytest.mark.parametrize("meta", [Meta(), Meta("k", None, "r"), Meta(expected_version=1)])
async def test_a_join_overtaken_by_the_same_player_holds_nothing(meta):
    directory = Overtaken()
    world = World(MemoryStore(), directory)

    async def join_and_come() -> None:
        other = world.service()
        await other.join(match_id, "bob", Joining("bob"), meta)
        await other.look(match_id, "bob")

    opened = await world.service().create("ann", new(PLAYER, OPEN, OPEN))
    match_id = opened.view.match_id
    directory.meanwhile = join_and_come
    with suppress(Refused):
        await world.service().join(match_id, "bob", Joining("bob"), meta)

    assert directory.holds == {}
    assert await pass_time(world, SECONDS) == 0
    assert await seated(world.service(), match_id) == ["Ann", "bob"]


async def test_a_join_that_fails_half_way_leaves_no_seat_that_is_never_freed():
    class Breaking(MemoryStore):
        async def append(self, append: Append) -> bool:
            await super().append(append)
            raise Unavailable("the answer was lost")

    store = Breaking()
    broken = World(store, MemoryDirectory())
    sound = MemoryStore(store.logs, store.keys, store.claims, store.opened)
    opened = await World(sound, broken.directory).service().create("ann", new(PLAYER, OPEN, OPEN))
    match_id = opened.view.match_id
    with pytest.raises(Unavailable):
        await broken.service().join(match_id, "bob", Joining("bob"))

    after = World(sound, broken.directory)
    assert await seated(after.service(), match_id) == ["Ann", "bob"]
    assert await pass_time(after, SECONDS) == 1
