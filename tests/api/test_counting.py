"""What is appended counts once, whatever becomes of the answer to the append."""

import logging
from dataclasses import dataclass

import pytest
from prometheus_client import REGISTRY

from api.errors import Unavailable
from api.observe.work import Work, working
from api.ports import Append
from api.service import MatchService
from api.store.memory import MemoryDirectory, MemoryStore
from api.store.redis import RedisDirectory, RedisStore
from api.values import Joining, Limits, Meta
from engine.bots import quick_action
from engine.commands import ExpireTurn
from engine.due import ClockToExpire
from engine.errors import RuleError
from tests.api.test_service import OPEN, PLAYER, Hints, Rivals, World, choose, new, playing, three


def commits() -> int:
    """All that was counted so far in this process."""
    return sum(
        int(sample.value)
        for family in REGISTRY.collect()
        if family.name == "ringmaster_commits"
        for sample in family.samples
    )


def moves(action: str, by: str) -> int:
    labels = {"action": action, "by": by}
    return int(REGISTRY.get_sample_value("ringmaster_moves_total", labels) or 0)


class Failing(RedisStore):
    """A real Redis; an append fails before or after it is made, as the connection may."""

    fails: str | None = None

    async def append(self, append: Append) -> bool:
        fails, self.fails = self.fails, None
        if fails == "before":
            raise Unavailable("lost")
        written = await super().append(append)
        if fails == "after":
            raise Unavailable("lost")
        return written and fails != "repeated"


@dataclass
class Setting:
    store: Failing
    service: MatchService
    other: MatchService
    match_id: str


@pytest.fixture
async def setting(redis) -> Setting:
    """A match in which bob and cid have chosen, at version 5, in two processes."""
    store = Failing(redis)
    directory, hints = RedisDirectory(redis), Hints()
    service = MatchService(store, directory, hints)
    match_id = await three(service)
    for player in ("bob", "cid"):
        await choose(service, match_id, player)
    return Setting(store, service, MatchService(RedisStore(redis), directory, hints), match_id)


async def test_an_append_that_was_repeated_after_its_answer_was_lost_counts_once(setting):
    before, work = commits(), Work("rest")
    setting.store.fails = "repeated"

    with working(work):
        answer = await choose(setting.service, setting.match_id, "ann")

    assert (answer.version, commits() - before) == (6, 1)
    assert (work.commits, work.match, work.version) == (["CHOOSE_HAND"], setting.match_id, 6)
    assert not setting.service.in_doubt()


async def test_an_append_that_nobody_was_answered_counts_once_it_is_found(setting, caplog):
    before, work = commits(), Work("rest")
    setting.store.fails = "after"

    with working(work), pytest.raises(Unavailable):
        await choose(setting.service, setting.match_id, "ann")
    line = work.fields()
    assert (commits(), setting.service.in_doubt()) == (before, True)
    with caplog.at_level(logging.INFO, "ringmaster"):
        for _ in range(2):
            await setting.service.settle_doubts()

    assert (commits() - before, setting.service.in_doubt()) == (1, False)
    assert "commits" not in line
    (found,) = [r.fields for r in caplog.records if r.getMessage() == "commit"]
    assert found == {"match": setting.match_id, "version": 6, "commits": ["CHOOSE_HAND"]}


async def test_a_commit_of_no_request_has_a_line_of_its_own(setting, caplog):
    with caplog.at_level(logging.INFO, "ringmaster"):
        await choose(setting.service, setting.match_id, "ann")

    (record,) = [r for r in caplog.records if r.getMessage() == "commit"]
    assert record.fields["commits"] == ["CHOOSE_HAND"]


async def test_a_retry_under_the_same_key_counts_what_the_first_attempt_did_once(setting):
    before, keyed = commits(), Meta(key="k", request="choose")
    setting.store.fails = "after"

    with pytest.raises(Unavailable):
        await choose(setting.service, setting.match_id, "ann", keyed)
    for _ in range(2):
        assert (await choose(setting.service, setting.match_id, "ann", keyed)).version == 6

    assert commits() - before == 1


async def test_what_was_never_written_is_never_counted(setting):
    before = commits()
    setting.store.fails = "before"

    with pytest.raises(Unavailable):
        await choose(setting.service, setting.match_id, "ann")
    await setting.service.settle_doubts()
    assert setting.service.in_doubt()  # it may still be on its way
    await choose(setting.other, setting.match_id, "ann")
    await setting.service.settle_doubts()

    assert (commits() - before, setting.service.in_doubt()) == (1, False)  # the other's


async def test_what_a_follower_reads_before_the_answer_comes_counts_once(setting):
    before = commits()

    class Slow(Failing):
        reader: MatchService

        async def append(self, append: Append) -> bool:
            written = await super().append(append)
            await self.reader.look(append.match_id, "ann")
            return written

    slow = Slow(setting.store._redis)
    slow.reader = MatchService(slow, RedisDirectory(setting.store._redis), Hints())
    answer = await choose(slow.reader, setting.match_id, "ann")

    assert (answer.version, commits() - before) == (6, 1)


async def test_races_that_were_lost_count_for_who_has_won_them():
    world = World(MemoryStore(), MemoryDirectory())
    before = commits()
    answer = await world.service().create("ann", new(PLAYER, OPEN, OPEN, OPEN, OPEN))
    match_id = answer.view.match_id
    others = ["bob", "cid", "dan", "eve"]
    for player in others:
        await world.service().join(match_id, player, Joining(player))
    store = Rivals(**vars(world.store))
    store.waiting, store.other = others, world.service()

    await choose(World(store, world.directory).service(), match_id, "ann")

    assert commits() - before == len(store.logs[match_id]) == 10


async def test_a_refusal_is_no_commit(setting):
    before = commits()

    with pytest.raises(RuleError):
        await choose(setting.service, setting.match_id, "bob")

    assert commits() == before


async def test_a_turn_that_ran_out_is_a_move_of_the_clock():
    world = World(MemoryStore(), MemoryDirectory())
    service = MatchService(
        world.store, world.directory, world.hints, limits=Limits(), now=lambda: world.clock
    )
    answer = await service.create("ann", new(PLAYER, OPEN, turn_seconds=10))
    match_id = answer.view.match_id
    await service.join(match_id, "bob", Joining("Bob"))
    world.clock += 20_000
    before = moves("CHOOSE_HAND", "clock"), moves("CHOOSE_HAND", "player")

    owed = await service.owed(match_id)
    assert owed is not None
    assert isinstance(owed.due, ClockToExpire)
    assert owed.view is not None
    await service.settle(owed, ExpireTurn(quick_action(owed.view)))

    assert (moves("CHOOSE_HAND", "clock"), moves("CHOOSE_HAND", "player")) == (
        before[0] + 1,
        before[1],
    )


async def test_a_move_is_its_players():
    world = World(MemoryStore(), MemoryDirectory())
    before = moves("CHOOSE_HAND", "player")

    await playing(world.service())

    assert moves("CHOOSE_HAND", "player") - before == 3
