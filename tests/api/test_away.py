"""People who go, and matches that end for it, by a clock: what is due when, dated and kept."""

# mypy: disable-error-code="union-attr, arg-type"

import pytest

from api.errors import Refused
from api.service import MatchService
from api.store import keys
from api.store.memory import MemoryDirectory, MemoryStore
from api.store.redis import RedisDirectory, RedisStore
from api.values import Joining, Limits, Meta, Owed
from engine.actions import ChooseHand
from engine.bots import quick_action
from engine.commands import AbandonMatch, ExpireTurn, RestartClock
from engine.due import BotToAct, ClockToExpire, MatchToAbandon
from engine.errors import Reason, RuleError
from engine.events import ClockRestarted, MatchAbandoned, PlayerReturned
from engine.lobby import SUBSTITUTE_LEVEL
from engine.state import Status, Visibility
from engine.views import SeatGoneAway, TurnRanOut
from schema.codes import ErrorCode
from tests.api.test_service import BOT, OPEN, PLAYER, World, new
from workers import house

SECONDS = 30
ABANDON = 1000 * Limits().abandon


@pytest.fixture(params=["memory", "redis"])
async def world(request, redis) -> World:
    if request.param == "memory":
        return World(MemoryStore(), MemoryDirectory())
    return World(RedisStore(redis), RedisDirectory(redis))


@pytest.fixture
def service(world: World) -> MatchService:
    return world.service()


async def due_at(world: World, match_id: str) -> int | None:
    """When the sweeper is to look at the match, None: never."""
    return dict(await world.store.due(10**15, 100)).get(match_id)


async def go_on(world: World, service: MatchService, match_id: str, late: int = 0) -> bool:
    """Let the house do one thing, a clock ``late`` ms after its deadline; False at a standstill."""
    owed = await service.owed(match_id)
    assert owed is not None
    match owed.due:
        case ClockToExpire(deadline=deadline):
            assert await due_at(world, match_id) == deadline
            world.clock = deadline + late
            await house.expire_turn(service, match_id, owed.version)
        case BotToAct():
            await house.play_bot(service, match_id, owed.version)
        case MatchToAbandon():
            return False
        case _:
            await house.score_round(service, match_id, owed.version)
    return True


async def alone_and_away(world: World, service: MatchService) -> str:
    """A match of ann and bots that stands still, since she let three turns run out."""
    opened = await service.create("ann", new(PLAYER, BOT, BOT, turn_seconds=SECONDS))
    while await go_on(world, service, opened.view.match_id, late=700):
        pass
    return opened.view.match_id


async def test_a_turn_that_ran_out_is_dated_at_its_deadline(world, service):
    opened = await service.create("ann", new(PLAYER, BOT, BOT, turn_seconds=SECONDS))
    match_id, deadlines = opened.view.match_id, []
    for _ in range(20):
        owed = await service.owed(match_id)
        if owed is not None and isinstance(owed.due, ClockToExpire):
            deadlines.append(owed.due.deadline)
        if not await go_on(world, service, match_id, late=4321):
            break
    page, _ = await world.service().updates(match_id, None, 0, 100)

    ran_out = [m for m in page if any(isinstance(e, TurnRanOut) for e in m.events)]
    assert [m.at for m in ran_out] == deadlines
    assert len(deadlines) == 3
    assert [m.at for m in page] == sorted(m.at for m in page)
    # The next clock runs from when it could be seen, not from that date.
    after = ran_out[0].view.round
    assert after is not None
    assert after.deadline in (None, deadlines[0], deadlines[0] + 4321 + 1000 * SECONDS)


async def test_a_date_is_never_before_that_of_the_version_before(world, service):
    opened = await service.create("ann", new(PLAYER, OPEN, OPEN, turn_seconds=SECONDS))
    match_id = opened.view.match_id
    for player in ("bob", "cid"):
        await service.join(match_id, player, Joining(player))
    owed = await service.owed(match_id)
    assert isinstance(owed.due, ClockToExpire)
    world.clock = owed.due.deadline + 50
    await service.act(match_id, "bob", lambda seat: ChooseHand(seat, flip=False), Meta())
    world.clock += 50
    owed = await service.owed(match_id)
    await service.settle(owed, ExpireTurn(quick_action(owed.view)))

    page, _ = await service.updates(match_id, None, 0, 100)
    assert [m.at for m in page][-2:] == [owed.due.deadline + 50] * 2


async def test_a_deserted_match_is_looked_at_when_it_is_to_be_given_up(world, service):
    match_id = await alone_and_away(world, service)
    stood = await service.look(match_id, "ann")

    assert stood.view.seats[0].away
    owed = await service.owed(match_id)
    assert await due_at(world, match_id) == owed.due.since + ABANDON

    world.clock = owed.due.since + ABANDON
    await service.settle(owed, AbandonMatch())
    await service.settle(owed, AbandonMatch())

    ended = await service.look(match_id, "ann")
    assert (ended.view.status, ended.version) == (Status.ABANDONED, stood.version + 1)
    assert await due_at(world, match_id) is None
    assert match_id not in [m for _, m in await world.store.listed(Status.PLAYING, None, 10)]
    assert match_id in [m for _, m in await world.store.listed(Status.ABANDONED, None, 10)]


async def test_without_a_time_a_deserted_match_waits_as_any_other(world):
    service = MatchService(
        world.store,
        world.directory,
        world.hints,
        limits=Limits(abandon=0),
        now=lambda: world.clock,
    )
    match_id = await alone_and_away(world, service)

    assert await due_at(world, match_id) is None


@pytest.mark.parametrize("way", ["return", "join"])
async def test_a_return_sets_the_match_going_again(world, service, way):
    match_id = await alone_and_away(world, service)
    world.clock += 5000

    if way == "return":
        answer = await service.come_back(match_id, "ann", Meta("k", None, "r"))
        again = await world.service().come_back(match_id, "ann", Meta("k", None, "r"))
    else:
        answer = await service.join(match_id, "ann", Joining("Other"))
        again = await service.join(match_id, "ann", Joining("Other"))

    assert (again.version, again.view) == (answer.version, answer.view)
    assert [seat.away for seat in answer.view.seats] == [False] * 3
    assert answer.view.seats[0].name == "Ann"
    assert answer.view.round.deadline == world.clock + 1000 * SECONDS
    page, _ = await service.updates(match_id, None, answer.version - 1, 1)
    assert page[0].events == (PlayerReturned(0),)
    assert (await service.owed(match_id)).due != MatchToAbandon(world.clock)


async def ann_plays(world: World, service: MatchService, match_id: str) -> Owed:
    """Ann moves if she is waited for, else the house does what it owes, which comes back."""
    owed = await service.owed(match_id)
    assert owed is not None
    if isinstance(owed.due, ClockToExpire) and owed.due.seat == 0:
        await service.act(match_id, "ann", lambda _: quick_action(owed.view), Meta())
    elif owed.due != BotToAct(1, SUBSTITUTE_LEVEL):
        await go_on(world, service, match_id)
    return owed


async def test_two_returns_and_a_bots_move_at_once_make_one_of_each(world, service):
    opened = await service.create("ann", new(PLAYER, OPEN, BOT, turn_seconds=SECONDS))
    match_id = opened.view.match_id
    await service.join(match_id, "bob", Joining("Bob"))
    while (owed := await ann_plays(world, service, match_id)).due != BotToAct(1, SUBSTITUTE_LEVEL):
        pass

    await service.come_back(match_id, "bob")
    await house.play_bot(service, match_id, owed.version)  # what was on its way comes too late
    await service.come_back(match_id, "bob")

    after = await service.look(match_id, "ann")
    assert after.version == owed.version + 1
    assert not after.view.seats[1].away


async def test_when_all_have_left_the_bots_are_stopped_after_the_time(world, service):
    opened = await service.create("ann", new(PLAYER, BOT))
    match_id = opened.view.match_id
    await service.leave(match_id, "ann")
    owed = await service.owed(match_id)
    assert isinstance(owed.due, BotToAct)

    world.clock += ABANDON
    late = await service.owed(match_id)
    assert isinstance(late.due, MatchToAbandon)
    await house.play_bot(service, match_id, owed.version)
    assert (await service.look(match_id, None)).version == owed.version
    await service.settle(late, AbandonMatch())
    assert (await service.look(match_id, None)).view.status is Status.ABANDONED


async def test_a_match_of_bots_alone_is_hosted_as_long_as_it_takes(world, service):
    opened = await service.create("ann", new(BOT, BOT))
    world.clock += 100 * ABANDON

    owed = await service.owed(opened.view.match_id)
    assert isinstance(owed.due, BotToAct)


async def test_a_clock_restarted_is_due_anew(world, service):
    opened = await service.create("ann", new(PLAYER, BOT, turn_seconds=SECONDS))
    match_id = opened.view.match_id
    while not isinstance((owed := await service.owed(match_id)).due, ClockToExpire):
        await go_on(world, service, match_id)
    world.clock = owed.due.deadline + 60_000

    await service.settle(owed, RestartClock())
    await service.settle(owed, RestartClock())

    assert await due_at(world, match_id) == world.clock + 1000 * SECONDS
    page, version = await service.updates(match_id, None, owed.version, 10)
    assert (version, page[0].events, page[0].at) == (
        owed.version + 1,
        (ClockRestarted(SECONDS),),
        world.clock,
    )


@pytest.mark.parametrize("visibility", list(Visibility))
@pytest.mark.parametrize("began", [True, False])
async def test_an_operator_ends_any_match_and_sees_no_more_of_it(world, service, visibility, began):
    seats = (PLAYER, BOT if began else OPEN)
    opened = await service.create("ann", new(*seats, visibility=visibility, turn_seconds=SECONDS))
    match_id = opened.view.match_id

    meta = Meta("cancel-1", None, "r")
    ended = await service.cancel(match_id, "op", None, "Stuck.", meta)
    again = await world.service().cancel(match_id, "op", None, "Stuck.", meta)

    assert (ended.view.status, ended.view.you, ended.view.join_code) == (
        Status.ABANDONED,
        None,
        None,
    )
    assert again.version == ended.version
    assert await due_at(world, match_id) is None
    page, _ = await service.updates(match_id, "ann", opened.version, 10)
    assert [m.events for m in page] == [(MatchAbandoned("Stuck."),)]
    for refused in (
        service.cancel(match_id, "op", None, "Again."),
        service.join(match_id, "bob", Joining("Bob")),
        service.come_back(match_id, "ann"),
        service.act(match_id, "ann", lambda seat: ChooseHand(seat, flip=False), Meta()),
    ):
        with pytest.raises(RuleError) as why:
            await refused
        assert why.value.reason is Reason.MATCH_OVER
    with pytest.raises(Refused) as missing:
        await service.cancel("m0-aaaaaaaaaaaaaaaa", "op", None, "Stuck.")
    assert missing.value.code is ErrorCode.NOT_FOUND


async def test_a_match_given_up_is_kept_as_long_as_one_that_is_over(redis):
    world = World(RedisStore(redis), RedisDirectory(redis))
    service = world.service()
    match_id = await alone_and_away(world, service)
    assert 590 < await redis.ttl(keys.log(match_id)) <= 606
    page, _ = await service.updates(match_id, None, 0, 100)
    assert [e for m in page for e in m.events if isinstance(e, SeatGoneAway)] == [SeatGoneAway(0)]

    owed = await service.owed(match_id)
    world.clock = owed.due.since + ABANDON
    await service.settle(owed, AbandonMatch())

    assert 890 < await redis.ttl(keys.log(match_id)) <= 900
