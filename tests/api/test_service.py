"""The one door, over the store in memory and a real Redis: what is done once, what is refused."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from api.errors import Refused, Unavailable
from api.ports import Append, Commit, Key, Remembered
from api.service import MatchService
from api.store import keys
from api.store.memory import MemoryDirectory, MemoryStore
from api.store.redis import RedisDirectory, RedisStore
from api.values import Answer, Joining, Limits, Meta, NewMatch
from engine.actions import Action, ChooseHand, End, Scout, Show
from engine.commands import AbandonMatch, ExpireTurn, ScoreRound
from engine.due import BotToAct, ClockToExpire, Due, MatchToAbandon, RoundToScore
from engine.errors import Reason, RuleError
from engine.legal import legal_actions
from engine.state import Seat, SeatKind, Status, Visibility
from engine.views import View
from schema.codes import ErrorCode


@dataclass
class Hints:
    """Jobs that only remember what was hinted."""

    sent: list[tuple[str, int, Due]] = field(default_factory=list)

    def hint(self, match_id: str, version: int, due: Due) -> None:
        self.sent.append((match_id, version, due))


@dataclass
class World:
    """A service with all that it stands on."""

    store: MemoryStore | RedisStore
    directory: MemoryDirectory | RedisDirectory
    hints: Hints = field(default_factory=Hints)
    clock: int = 1_700_000_000_000

    def service(self) -> MatchService:
        """One more process over the same store."""
        return MatchService(
            self.store,
            self.directory,
            self.hints,
            limits=Limits(600, 900, 2000),
            now=lambda: self.clock,
        )


@pytest.fixture(params=["memory", "redis"])
async def world(request, redis) -> AsyncIterator[World]:
    if request.param == "memory":
        yield World(MemoryStore(), MemoryDirectory())
    else:
        yield World(RedisStore(redis), RedisDirectory(redis))


@pytest.fixture
def service(world: World) -> MatchService:
    return world.service()


PLAYER = Seat(SeatKind.PLAYER, "Ann", None, "ann")
OPEN = Seat(SeatKind.OPEN)
BOT = Seat(SeatKind.BOT, "Bot", "regular")


def new(*seats: Seat, visibility=Visibility.PUBLIC, turn_seconds=None) -> NewMatch:
    return NewMatch(seats, visibility, turn_seconds)


async def three(service: MatchService, visibility=Visibility.PUBLIC) -> str:
    """A started match of the players ann, bob and cid."""
    answer = await service.create("ann", new(PLAYER, OPEN, OPEN, visibility=visibility))
    match_id = answer.view.match_id
    assert answer.view.you is not None
    code = answer.view.join_code
    assert code is not None
    for player, name in (("bob", "Bob"), ("cid", "Cid")):
        await service.join_by_code(code, match_id, player, Joining(name))
    return match_id


async def playing(service: MatchService) -> tuple[str, str]:
    """A match in which hands are chosen, and the player to act."""
    match_id = await three(service)
    for player in ("ann", "bob", "cid"):
        answer = await choose(service, match_id, player)
    assert answer.view.round is not None
    assert answer.view.round.turn is not None
    return match_id, ("ann", "bob", "cid")[answer.view.round.turn]


async def choose(service, match_id, player, meta: Meta = Meta()) -> Answer:  # noqa: B008 - frozen
    return await service.act(match_id, player, lambda seat: ChooseHand(seat, False), meta)


def show_one(seat: int) -> Action:
    return Show(seat, 0, 1)


def any_action(view: View) -> Action:
    return legal_actions(view)[0]


async def test_a_match_of_bots_starts_at_once_and_is_hinted(world, service):
    answer = await service.create("ann", new(BOT, BOT, BOT))

    assert answer.version == 1
    assert answer.view.status is Status.CHOOSING
    assert world.hints.sent == [(answer.view.match_id, 1, BotToAct(0, "regular"))]


async def test_the_last_seat_taken_starts_the_match(service):
    match_id = await three(service)

    answer = await service.look(match_id, "bob")

    assert answer is not None
    assert answer.view.status is Status.CHOOSING
    assert answer.version == 3


async def test_every_process_sees_every_commit(world, service):
    match_id, player = await playing(service)
    other = world.service()

    await other.act(match_id, player, show_one, Meta())
    seen = await service.look(match_id, None)

    assert seen is not None
    assert seen.version == 7
    assert seen.view.round is not None
    assert len(seen.view.round.table) == 1


async def test_a_refused_action_changes_nothing(service):
    match_id, player = await playing(service)
    before = await service.look(match_id, player)

    with pytest.raises(RuleError) as refused:
        await service.act(match_id, player, lambda seat: Show(seat, 90, 1), Meta())

    assert refused.value.reason is Reason.BAD_RANGE
    assert await service.look(match_id, player) == before


@pytest.mark.parametrize("match_id", ["m0-aaaaaaaaaaaaaaaa", "nonsense", "", "é" * 50])
async def test_an_unknown_match_is_not_found_and_nothing_is_made(service, match_id):
    async def follow() -> None:
        async for _ in service.follow(match_id, "ann", None):
            pass

    for work in (
        choose(service, match_id, "ann"),
        service.join(match_id, "ann", Joining("Ann")),
        service.leave(match_id, "ann"),
        service.start(match_id, "ann"),
        follow(),
    ):
        with pytest.raises(Refused) as refused:
            await work
        assert refused.value.code is ErrorCode.NOT_FOUND

    assert await service.look(match_id, "ann") is None


async def test_who_has_no_seat_cannot_act(service):
    match_id = await three(service)

    with pytest.raises(RuleError) as refused:
        await choose(service, match_id, "eve")

    assert refused.value.reason is Reason.NOT_SEATED


async def test_a_private_match_is_seen_by_those_seated_only(service):
    match_id = await three(service, Visibility.PRIVATE)

    assert await service.look(match_id, "cid") is not None
    assert await service.look(match_id, "eve") is None
    assert await service.look(match_id, None) is None
    with pytest.raises(Refused) as refused:
        await service.check_follow(match_id, "eve", None)
    assert refused.value.code is ErrorCode.NOT_FOUND


async def test_a_private_match_is_joined_by_its_code_alone(service):
    answer = await service.create("ann", new(PLAYER, OPEN, BOT, visibility=Visibility.PRIVATE))
    match_id = answer.view.match_id
    assert answer.view.you is not None
    code = answer.view.join_code
    assert code is not None

    with pytest.raises(RuleError) as refused:
        await service.join(match_id, "bob", Joining("Bob"))
    assert refused.value.reason is Reason.FORBIDDEN

    joined = await service.join_by_code(f" {code.lower()} ", None, "bob", Joining("Bob"))

    assert joined.view.you is not None
    assert joined.view.you.seat == 1
    with pytest.raises(Refused) as unknown:
        await service.join_by_code("NOWHERE", None, "bob", Joining("Bob"))
    assert unknown.value.code is ErrorCode.NOT_FOUND


async def test_joining_twice_is_joining_once(service):
    answer = await service.create("ann", new(PLAYER, OPEN, OPEN))
    match_id = answer.view.match_id

    first = await service.join(match_id, "bob", Joining("Bob"))
    again = await service.join(match_id, "bob", Joining("Bob"))

    assert (first.version, again.version) == (2, 2)


async def test_no_seat_is_given_twice_to_a_crowd(world):
    answer = await world.service().create("ann", new(PLAYER, OPEN, OPEN, OPEN))
    services = [world.service() for _ in range(4)]

    async def join(number: int) -> str:
        try:
            await services[number % 4].join(answer.view.match_id, f"p{number}", Joining("P"))
        except (RuleError, Refused) as refused:
            return refused.reason if isinstance(refused, RuleError) else refused.code
        return "joined"

    outcomes = await asyncio.gather(*(join(number) for number in range(40)))

    assert outcomes.count("joined") == 3
    assert set(outcomes) <= {"joined", "MATCH_FULL", "STALE_VERSION"}


async def test_the_same_key_does_it_once_and_answers_alike(world, service):
    match_id, player = await playing(service)
    meta = Meta("key-1", None, ["show", 0, 1])

    first = await service.act(match_id, player, show_one, meta)
    again = await world.service().act(match_id, player, show_one, meta)

    assert again == first
    later = await service.look(match_id, player)
    assert later is not None
    assert later.version == first.version


async def test_the_first_answer_is_given_even_after_the_match_moved_on(service):
    match_id, player = await playing(service)
    meta = Meta("key-1", 6, ["show", 0, 1])
    first = await service.act(match_id, player, show_one, meta)
    following = {"ann": "bob", "bob": "cid", "cid": "ann"}[player]
    look = await service.look(match_id, following)
    assert look is not None
    await service.act(match_id, following, lambda _: any_action(look.view), Meta())

    assert await service.act(match_id, player, show_one, meta) == first


async def test_a_key_for_another_request_is_refused(service):
    match_id, player = await playing(service)
    await service.act(match_id, player, show_one, Meta("key-1", None, ["show", 0, 1]))

    with pytest.raises(Refused) as refused:
        await service.act(match_id, player, show_one, Meta("key-1", None, ["show", 0, 2]))

    assert refused.value.code is ErrorCode.KEY_REUSED


async def test_a_key_is_refused_on_another_match_and_at_another_version(service):
    match_id, player = await playing(service)
    other, _ = await playing(service)
    first = await service.act(match_id, player, show_one, Meta("key-1", 6, ["show", 0, 1]))

    for wrong, version in ((other, 6), (match_id, 7), (match_id, None)):
        with pytest.raises(Refused) as refused:
            await service.act(wrong, player, show_one, Meta("key-1", version, ["show", 0, 1]))
        assert refused.value.code is ErrorCode.KEY_REUSED

    look = await service.look(other, player)
    assert look is not None
    assert look.version == 6
    assert await service.act(match_id, player, show_one, Meta("key-1", 6, ["show", 0, 1])) == first


async def test_keys_of_different_callers_do_not_meet(service):
    match_id = await three(service)

    first = await choose(service, match_id, "ann", Meta("k", None, "flip"))
    second = await choose(service, match_id, "bob", Meta("k", None, "flip"))

    assert second.version == first.version + 1


async def test_a_stale_expected_version_tells_the_current_one(service):
    match_id, player = await playing(service)

    with pytest.raises(Refused) as refused:
        await service.act(match_id, player, show_one, Meta(expected_version=2))

    assert refused.value.code is ErrorCode.STALE_VERSION
    assert refused.value.current_version == 6


async def test_fifty_writers_make_one_move(world):
    match_id, player = await playing(world.service())
    services = [world.service() for _ in range(5)]

    async def show(number: int) -> str:
        try:
            await services[number % 5].act(match_id, player, show_one, Meta())
        except RuleError as refused:
            return refused.reason.value
        return "shown"

    outcomes = await asyncio.gather(*(show(number) for number in range(50)))

    assert outcomes.count("shown") == 1
    assert set(outcomes) == {"shown", "NOT_YOUR_TURN"}


async def test_a_match_opened_again_under_its_key_has_one_join_code():
    directory = MemoryDirectory()
    world = World(MemoryStore(), directory)
    asked = Meta("k", None, "open")

    first, *again = [
        await world.service().create("ann", new(PLAYER, OPEN), asked) for _ in range(3)
    ]

    assert again == [first, first]
    assert list(directory.codes) == [first.view.join_code]


class Rivals(MemoryStore):
    """A store in which others are quicker: before each append one of them makes a choice."""

    waiting: list[str]
    other: MatchService

    async def append(self, append: Append) -> bool:
        if self.waiting:
            await choose(self.other, append.match_id, self.waiting.pop())
        return await super().append(append)


async def test_a_choice_that_all_others_overtake_is_made_all_the_same():
    world = World(MemoryStore(), MemoryDirectory())
    answer = await world.service().create("ann", new(PLAYER, OPEN, OPEN, OPEN, OPEN))
    match_id = answer.view.match_id
    others = ["bob", "cid", "dan", "eve"]
    for player in others:
        await world.service().join(match_id, player, Joining(player))
    store = Rivals(**vars(world.store))
    store.waiting, store.other = others, world.service()

    answer = await choose(World(store, world.directory).service(), match_id, "ann")

    assert answer.view.status is Status.PLAYING


class CountsLooks(MemoryStore):
    """A store that counts how often a log is read."""

    looks = 0

    async def load(
        self, match_id: str, since: int, key: Key | None = None
    ) -> tuple[list[Commit], Remembered | None]:
        self.looks += 1
        return await super().load(match_id, since, key)


async def test_a_command_upon_the_version_known_is_carried_out_without_a_look():
    store = CountsLooks()
    service = World(store, MemoryDirectory()).service()
    match_id, player = await playing(service)
    before = store.looks

    answer = await service.act(match_id, player, show_one, Meta(expected_version=6))

    assert answer.version == 7
    assert store.looks == before


async def test_nobody_is_refused_for_what_is_true_no_more(world):
    here, there = world.service(), world.service()
    match_id, player = await playing(here)
    follower = here.follow(match_id, player, 5)  # so that what is known here is built upon
    await anext(follower)
    await there.act(match_id, player, show_one, Meta())
    following = {"ann": "bob", "bob": "cid", "cid": "ann"}[player]

    answer = await here.act(
        match_id, following, lambda seat: Scout(seat, End.LEFT, 0, False), Meta()
    )

    assert answer.version == 8
    await follower.aclose()


async def lose_the_end(store: MemoryStore | RedisStore, match_id: str) -> None:
    """Take the log's last commit away, as a failover may."""
    if isinstance(store, MemoryStore):
        store.logs[match_id].pop()
    else:
        redis: Any = store._redis
        *kept, _ = await redis.xrange(keys.log(match_id))
        await redis.delete(keys.log(match_id))
        for id_, fields in kept:
            await redis.xadd(keys.log(match_id), fields, id_)


async def test_what_was_known_of_a_log_that_lost_its_end_is_not_built_upon(world):
    here, there = world.service(), world.service()
    match_id = await three(here)
    await choose(here, match_id, "bob")  # version 4, which is lost
    await lose_the_end(world.store, match_id)
    await choose(there, match_id, "cid")  # another version 4

    answer = await choose(here, match_id, "ann", Meta(expected_version=4))

    chosen = [seat.has_chosen for seat in answer.view.seats]
    assert chosen == [True, False, True]


class LosesAnswers(MemoryStore):
    """A store whose appends succeed and then report a failure, as after a lost connection."""

    async def append(self, append: Append) -> bool:
        await super().append(append)
        return False


class Down(MemoryStore):
    """A store that cannot be reached."""

    async def load(
        self,
        match_id: str,  # noqa: ARG002
        since: int,  # noqa: ARG002
        key: Key | None = None,  # noqa: ARG002
    ) -> tuple[list[Commit], Remembered | None]:
        raise Unavailable("down")


async def test_an_append_whose_answer_was_lost_is_recognised():
    world = World(MemoryStore(), MemoryDirectory())
    match_id, player = await playing(world.service())
    store = LosesAnswers(**vars(world.store))
    service = World(store, world.directory).service()

    answer = await service.act(match_id, player, show_one, Meta())

    assert answer.version == 7
    assert len(store.logs[match_id]) == 7


async def test_a_store_that_is_down_is_unavailable():
    with pytest.raises(Unavailable):
        await World(Down(), MemoryDirectory()).service().look("m0-aaaaaaaaaaaaaaaa", None)


async def collect(service, match_id, player, after, until: int) -> list:
    found = []
    async for moment in service.follow(match_id, player, after):
        found.append(moment)
        if moment.version >= until:
            break
    return found


async def test_following_begins_with_the_state_and_goes_on_with_each_commit(world, service):
    match_id = await three(service)
    keeping_up = asyncio.create_task(service.keep_up())
    following = asyncio.create_task(collect(service, match_id, "ann", None, 6))
    await asyncio.sleep(0.1)
    other = world.service()
    for player in ("ann", "bob", "cid"):
        await choose(other, match_id, player)

    moments = await asyncio.wait_for(following, 5)
    keeping_up.cancel()

    assert [moment.version for moment in moments] == [3, 4, 5, 6]
    assert moments[0].events == ()
    assert all(len(moment.events) == 1 for moment in moments[1:])


async def test_following_from_a_cursor_misses_and_repeats_nothing(service):
    match_id, _ = await playing(service)

    for after in range(7):
        moments = (
            await asyncio.wait_for(collect(service, match_id, "ann", after, 6), 5)
            if after < 6
            else []
        )
        assert [moment.version for moment in moments] == list(range(after + 1, 7))


@pytest.mark.parametrize("after", [7, 10**9, -1])
async def test_a_cursor_that_the_log_does_not_have_has_expired(service, after):
    match_id, _ = await playing(service)

    with pytest.raises(Refused) as refused:
        await service.check_follow(match_id, "ann", after)

    assert refused.value.code is ErrorCode.CURSOR_EXPIRED
    assert refused.value.current_version == 6


async def settle_all(world: World, service: MatchService, match_id: str) -> None:
    """Do all that the house owes, as the workers would."""
    while (owed := await service.owed(match_id)) is not None:
        match owed.due:
            case BotToAct():
                assert owed.view is not None
                await service.settle(owed, any_action(owed.view))
            case RoundToScore():
                await service.settle(owed, ScoreRound())
            case ClockToExpire():
                assert owed.view is not None
                world.clock = owed.due.deadline
                await service.settle(owed, ExpireTurn(any_action(owed.view)))
            case MatchToAbandon():
                world.clock = owed.due.since + 1000 * Limits().abandon
                await service.settle(owed, AbandonMatch())


async def test_a_match_of_bots_ends_and_its_stream_completes(world, service):
    answer = await service.create("ann", new(BOT, BOT, BOT))
    await settle_all(world, service, answer.view.match_id)

    moments = [moment async for moment in service.follow(answer.view.match_id, None, 0)]

    assert [moment.version for moment in moments] == list(range(1, len(moments) + 1))
    assert moments[-1].view.status is Status.FINISHED
    assert moments[-1].view.winners


async def test_clocks_play_for_people_who_are_gone(world, service):
    answer = await service.create("ann", new(PLAYER, BOT, BOT, turn_seconds=30))
    await settle_all(world, service, answer.view.match_id)

    look = await service.look(answer.view.match_id, "ann")

    assert look is not None
    assert look.view.status is Status.ABANDONED  # she was the only one there


async def test_what_is_owed_twice_is_done_once(world, service):
    answer = await service.create("ann", new(BOT, BOT, BOT))
    owed = await service.owed(answer.view.match_id, 1)
    assert owed is not None
    assert owed.view is not None
    action = any_action(owed.view)

    for _ in range(3):
        await world.service().settle(owed, action)

    look = await service.look(answer.view.match_id, None)
    assert look is not None
    assert look.version == 2
    assert await service.owed(answer.view.match_id, 1) is None


async def test_public_matches_are_paged_newest_first_and_private_ones_hidden(world, service):
    ids = []
    for _ in range(3):
        world.clock += 1
        ids.append((await service.create("ann", new(PLAYER, OPEN))).view.match_id)
    await service.create("ann", new(PLAYER, OPEN, visibility=Visibility.PRIVATE))

    first, more = await service.page(Status.LOBBY, None, 2, None)
    last = first[-1].view
    rest, end = await service.page(Status.LOBBY, (last.created_at, last.match_id), 2, None)

    assert [a.view.match_id for a in (*first, *rest)] == ids[::-1]
    assert (more, end) == (True, False)
    assert await service.page(Status.FINISHED, None, 2, None) == ([], False)


async def test_leaving_in_play_hands_the_seat_to_a_bot(world, service):
    match_id = await three(service)

    await service.leave(match_id, "ann")

    assert world.hints.sent[-1][2] == BotToAct(0, "regular")
    with pytest.raises(RuleError) as refused:
        await choose(service, match_id, "ann")
    assert refused.value.reason is Reason.NOT_SEATED


async def test_who_joined_late_may_follow_a_private_match_from_its_beginning(service):
    match_id = await three(service, Visibility.PRIVATE)

    moments = await asyncio.wait_for(collect(service, match_id, "cid", 0, 3), 5)

    assert [moment.version for moment in moments] == [1, 2, 3]
    assert [moment.view.you is None for moment in moments] == [True, True, False]


async def test_who_leaves_a_private_match_sees_no_more_of_it(service):
    answer = await service.create("ann", new(PLAYER, OPEN, OPEN, visibility=Visibility.PRIVATE))
    match_id = answer.view.match_id
    assert answer.view.you is not None
    assert answer.view.join_code is not None
    await service.join_by_code(answer.view.join_code, None, "bob", Joining("Bob"))
    stream = service.follow(match_id, "bob", None)
    await anext(stream)

    await service.leave(match_id, "bob")

    assert [moment async for moment in stream] == []


async def test_a_host_without_a_seat_may_take_one_of_a_private_match(service):
    answer = await service.create("ann", new(OPEN, OPEN, visibility=Visibility.PRIVATE))

    joined = await service.join(answer.view.match_id, "ann", Joining("Ann"))

    assert joined.view.you is not None
    assert joined.view.join_code


async def test_a_code_of_another_match_than_the_one_meant_is_refused(service):
    one = await service.create("ann", new(PLAYER, OPEN))
    other = await service.create("ann", new(PLAYER, OPEN))
    assert one.view.you is not None
    code = one.view.join_code
    assert code is not None

    with pytest.raises(Refused) as refused:
        await service.join_by_code(code, other.view.match_id, "bob", "Bob", None)

    assert refused.value.code is ErrorCode.NOT_FOUND


async def test_who_catches_up_lets_others_in_between(service):
    match_id, _ = await playing(service)
    version = (await service.look(match_id, "ann")).version
    turns, done = 0, asyncio.Event()

    async def other() -> None:
        nonlocal turns
        while not done.is_set():
            turns += 1
            await asyncio.sleep(0)

    waiting = asyncio.create_task(other())
    moments = await collect(service, match_id, "ann", 0, version)
    done.set()
    await waiting

    assert len(moments) == version
    assert turns >= version - 1


async def lose_log(world: World, match_id: str) -> None:
    """What happens to a match that is kept for less long than its keys."""
    if isinstance(world.store, MemoryStore):
        del world.store.logs[match_id]
    else:
        await world.store._redis.delete(keys.log(match_id))


async def test_a_key_that_outlives_its_match_is_answered_as_one_of_no_match(world):
    service, meta = world.service(), Meta(key="k", request=["choose"])
    match_id = await three(service)
    await choose(service, match_id, "ann", meta)
    await lose_log(world, match_id)

    for process in (service, world.service()):
        with pytest.raises(Refused) as caught:
            await choose(process, match_id, "ann", meta)
        assert caught.value.code is ErrorCode.NOT_FOUND


async def test_a_key_of_a_match_that_was_opened_anew_stands_for_nothing_in_it(world):
    service, opening = world.service(), Meta(key="open", request=["create"])
    seats = new(PLAYER, BOT)
    match_id = (await service.create("ann", seats, opening)).view.match_id
    before = await choose(service, match_id, "ann", Meta(key="k", request=["choose"]))
    await lose_log(world, match_id)
    assert (await service.create("ann", seats, opening)).view.match_id == match_id
    assert (await choose(service, match_id, "ann")).version == before.version

    for process in (service, world.service()):
        with pytest.raises(Refused) as caught:
            await choose(process, match_id, "ann", Meta(key="k", request=["choose"]))
        assert caught.value.code is ErrorCode.STALE_VERSION


async def test_a_follower_is_told_of_another_log_though_it_has_grown_past_the_first(world):
    service, opening = world.service(), Meta(key="open", request=["create"])
    seats = new(PLAYER, OPEN, OPEN)
    match_id = (await service.create("ann", seats, opening)).view.match_id
    seen = service.follow(match_id, "ann", None)
    assert (await anext(seen)).version == 1
    await lose_log(world, match_id)
    assert (await service.create("ann", seats, opening)).view.match_id == match_id
    await service.start(match_id, "ann")

    with pytest.raises(Refused) as caught:
        await anext(seen)

    assert caught.value.code is ErrorCode.CURSOR_EXPIRED
