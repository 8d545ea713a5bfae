"""What every store promises: one suite for the Redis log and its twin in memory."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from api.errors import Unavailable
from api.ports import Append, Commit, Directory, EventStore, Key, Listing, Remembered
from api.store import keys
from api.store.keys import new_match_id
from api.store.memory import MemoryDirectory, MemoryStore
from api.store.redis import RedisDirectory, RedisStore
from api.values import Fault
from engine.events import HandChosen, MatchAbandoned
from engine.state import Status
from tests.conftest import emptied, servers


@pytest.fixture(scope="module", params=["memory", *servers(), "cluster"])
async def stores(request) -> AsyncIterator[tuple[EventStore, Directory]]:
    """Each kind of store, empty, with the directory that goes with it."""
    if request.param == "memory":
        yield MemoryStore(), MemoryDirectory()
        return
    redis = await emptied(request.getfixturevalue(f"{request.param}_url"))
    yield RedisStore(redis), RedisDirectory(redis)
    await redis.aclose()


@pytest.fixture
def store(stores) -> EventStore:
    return stores[0]


@pytest.fixture
def directory(stores) -> Directory:
    return stores[1]


def commit(version: int, nonce: str = "n") -> Commit:
    return Commit(
        version, 1_700_000_000_000 + version, (HandChosen(1, True, None),), nonce, "ab" * 32
    )


def append(match_id: str, version: int, **more) -> Append:
    nonce = more.pop("nonce", "n")
    fields = {"due_at": None, "ttl": 600, **more}
    return Append(match_id=match_id, commit=commit(version, nonce), **fields)


async def test_a_log_reads_back_what_was_appended(store):
    match_id = new_match_id()

    assert await store.append(append(match_id, 1))
    assert await store.append(append(match_id, 2))

    assert await store.load(match_id, 0) == ([commit(1), commit(2)], None)


async def test_reading_begins_with_the_version_named(store):
    match_id = new_match_id()
    for version in (1, 2, 3):
        await store.append(append(match_id, version))

    assert await store.load(match_id, 2) == ([commit(2), commit(3)], None)
    assert await store.load(match_id, 4) == ([], None)


async def test_an_unknown_match_is_empty(store):
    assert await store.load(new_match_id(), 0) == ([], None)


@pytest.mark.parametrize("version", [1, 2, 4, 100])
async def test_only_the_next_version_is_written(store, version):
    match_id = new_match_id()
    await store.append(append(match_id, 1))
    await store.append(append(match_id, 2))

    assert not await store.append(append(match_id, version, nonce="other"))

    assert await store.load(match_id, 0) == ([commit(1), commit(2)], None)


async def test_what_does_not_follow_the_log_s_last_commit_is_refused(store):
    match_id = new_match_id()
    await store.append(append(match_id, 1, nonce="a1"))

    assert not await store.append(append(match_id, 2, previous="b1"))
    assert not await store.append(append(match_id, 2, previous="a"))
    assert await store.append(append(match_id, 2, previous="a1"))


async def test_an_append_to_nothing_but_at_version_one_is_refused(store):
    match_id = new_match_id()

    assert not await store.append(append(match_id, 6))

    assert await store.load(match_id, 0) == ([], None)


# What a Cluster's client drops while it is being opened it leaves to the collector.
@pytest.mark.filterwarnings("ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning")
async def test_of_twenty_racing_writers_one_wins_each_version(store):
    match_id, told = new_match_id(), 0
    for version in range(1, 11):
        answers = await asyncio.gather(
            *(store.append(append(match_id, version, nonce=f"{n}")) for n in range(20)),
            return_exceptions=True,
        )
        commits, _ = await store.load(match_id, version)
        (winner,) = (int(c.nonce) for c in commits)
        # An append whose answer is lost is repeated, and is then refused as all others are. Where a
        # Cluster's client loses one connection of a node, it fails all that it is opening there.
        assert all(isinstance(answer, bool | Unavailable) for answer in answers)
        assert [n for n, answer in enumerate(answers) if answer is True] in ([winner], [])
        told += answers.count(True)

    assert told >= 8
    commits, _ = await store.load(match_id, 0)
    assert [c.version for c in commits] == list(range(1, 11))
    gc.collect()


async def test_a_refused_append_writes_nothing_at_all(store):
    match_id = new_match_id()
    await store.append(append(match_id, 1, due_at=50))
    listing = Listing(7, None, Status.LOBBY)

    refused = append(match_id, 5, due_at=60, key=Key("p", match_id, "f"), listing=listing)
    assert not await store.append(refused)

    assert (match_id, 50) in await store.due(10**13, 1000)
    assert await store.load(match_id, 1, Key("p", match_id, "f")) == (
        [commit(1)],
        None,
    )
    assert match_id not in [m for _, m in await store.listed(None, None, 1000)]


async def test_a_key_remembers_what_it_made(store):
    match_id = new_match_id()
    key = Key("p", match_id, "f")

    assert await store.append(append(match_id, 1, key=key))

    assert (await store.load(match_id, 1, key))[1] == Remembered("f", 1, "n")


async def test_a_key_opens_one_match_for_one_request(store):
    key, first, second = Key("p", new_match_id(), "f"), new_match_id(), new_match_id()

    assert await store.claim_id(key, first) == first
    assert await store.claim_id(key, second) == first
    assert await store.claim_id(Key("p", key.key, "other"), second) is None
    assert await store.claim_id(Key("q", key.key, "f"), second) == second
    assert (await store.load(second, 0, Key("p", key.key, "g")))[1] == Remembered("f", 0)


async def test_a_key_can_stand_for_a_version_that_it_did_not_make(store):
    match_id = new_match_id()
    key = Key("p", match_id, "f")
    await store.append(append(match_id, 1))

    await store.remember(match_id, key, Remembered("f", 1, "n"))
    await store.remember(match_id, key, Remembered("f", 7, "n"))

    assert (await store.load(match_id, 1, key))[1] == Remembered("f", 1, "n")


async def test_a_key_makes_only_one_commit(store):
    match_id = new_match_id()
    key = Key("p", match_id, "f")
    await store.append(append(match_id, 1, key=key))

    assert not await store.append(append(match_id, 2, key=key))

    assert await store.load(match_id, 0) == ([commit(1)], None)


async def test_keys_belong_to_their_caller_and_match(store):
    match_id, other = new_match_id(), new_match_id()
    await store.append(append(match_id, 1, key=Key("p", match_id, "f")))

    assert await store.append(append(match_id, 2, key=Key("q", match_id, "f")))
    assert await store.append(append(other, 1, key=Key("p", match_id, "f")))
    assert (await store.load(match_id, 0, Key("r", match_id, "f")))[1] is None


async def test_a_key_is_its_callers_first_request_for_it_whatever_the_match(store):
    match_id, other = new_match_id(), new_match_id()
    first, second = Key("p", match_id, "first"), Key("p", match_id, "second")

    assert (await store.load(match_id, 0, first))[1] is None
    assert (await store.load(match_id, 0, first))[1] is None
    assert (await store.load(other, 0, second))[1] == Remembered("first", 0)
    assert (await store.load(other, 0, Key("q", match_id, "second")))[1] is None


async def test_of_twenty_requests_that_race_for_a_key_one_has_it(store):
    ids = [new_match_id() for _ in range(20)]
    loads = (store.load(m, 0, Key("p", ids[0], f"{n}")) for n, m in enumerate(ids))

    found = [remembered for _, remembered in await asyncio.gather(*loads)]

    assert found.count(None) == 1
    assert {r.fingerprint for r in found if r} == {str(found.index(None))}


async def test_of_twenty_writers_with_one_key_one_wins(store):
    match_id = new_match_id()
    await store.append(append(match_id, 1))

    answers = await asyncio.gather(
        *(store.append(append(match_id, 2, key=Key("p", match_id, "f"))) for _ in range(20))
    )

    assert sum(answers) == 1


async def test_what_is_due_comes_when_it_is_due_and_goes_with_the_next_commit(store):
    match_id = new_match_id()
    await store.append(append(match_id, 1, due_at=1000))

    assert match_id not in [m for m, _ in await store.due(999, 1000)]
    assert (match_id, 1000) in await store.due(1000, 1000)

    await store.append(append(match_id, 2))

    assert match_id not in [m for m, _ in await store.due(10**13, 1000)]


async def test_due_matches_come_earliest_first(store):
    late, early = new_match_id(), new_match_id()
    await store.append(append(late, 1, due_at=2))
    await store.append(append(early, 1, due_at=1))

    found = [m for m, _ in await store.due(2, 1000) if m in (late, early)]

    assert found == [early, late]


async def test_postponing_moves_only_the_time_that_was_seen(store):
    match_id = new_match_id()
    await store.append(append(match_id, 1, due_at=1000))

    assert await store.postpone(match_id, 1000, 5000)
    assert not await store.postpone(match_id, 1000, 9000)
    assert (match_id, 5000) in await store.due(5000, 1000)

    await store.append(append(match_id, 2))

    assert not await store.postpone(match_id, 5000, 9000)
    assert match_id not in [m for m, _ in await store.due(10**13, 1000)]


async def test_public_matches_are_listed_by_status_newest_first(store):
    older, newer = new_match_id(), new_match_id()
    for match_id, created_at in ((older, 10**14), (newer, 10**14 + 1)):
        listing = Listing(created_at, None, Status.LOBBY)
        await store.append(append(match_id, 1, listing=listing))

    assert (await store.listed(Status.LOBBY, None, 2)) == [(10**14 + 1, newer), (10**14, older)]
    assert (await store.listed(None, (10**14 + 1, newer), 1)) == [(10**14, older)]

    moved = Listing(10**14 + 1, Status.LOBBY, Status.CHOOSING)
    await store.append(append(newer, 2, listing=moved))

    assert (await store.listed(Status.LOBBY, None, 1)) == [(10**14, older)]
    assert (await store.listed(Status.CHOOSING, None, 1)) == [(10**14 + 1, newer)]
    for match_id in (older, newer):
        await store.unlist(match_id)
    assert not {older, newer} & {m for _, m in await store.listed(None, None, 1000)}


async def test_pages_of_a_list_miss_and_repeat_nothing_at_equal_times(store):
    ids = [new_match_id() for _ in range(9)]
    for match_id in ids:
        listing = Listing(2 * 10**14, None, Status.SCORING)
        await store.append(append(match_id, 1, listing=listing))

    found: list[str] = []
    place = None
    while page := await store.listed(Status.SCORING, place, 2):
        found += [match_id for _, match_id in page]
        place = page[-1]

    assert sorted(found) == sorted(ids)
    for match_id in ids:
        await store.unlist(match_id)


async def all_listen(store: EventStore) -> None:
    """Wait for the last of the readers that there are on a Cluster."""
    async with asyncio.timeout(10):
        while store.silence() > 10:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)


async def test_a_bell_rings_for_every_append(store):
    first, second = new_match_id(), new_match_id()
    rung: set[str] = set()
    nonces: dict[str, str] = {}

    async def listen() -> None:
        async with aclosing(store.bells()) as bells:
            async for ring in bells:
                if ring is None:
                    listening.set()
                else:
                    rung.update(ring.matches)
                    nonces.update(ring.nonces)
                if {first, second} <= rung:
                    return

    listening = asyncio.Event()
    listener = asyncio.create_task(listen())
    await listening.wait()
    await all_listen(store)
    await store.append(append(first, 1))
    await store.append(append(second, 1, nonce="m"))

    await asyncio.wait_for(listener, 10)
    assert nonces == {first: "n", second: "m"}


async def test_matches_that_have_expired_are_taken_out_of_the_lists(store):
    kept, *gone = (new_match_id() for _ in range(30))
    listing = Listing(1_700_000_000_000, None, Status.LOBBY)
    for match_id in (kept, *gone):
        await store.append(append(match_id, 1, listing=listing, due_at=5))
    await expire(store, gone)

    tidied = [await store.tidy(5) for _ in range(200)]

    assert sum(tidied) == 29
    for status in (None, Status.LOBBY):
        assert [m for _, m in await store.listed(status, None, 100) if m in {kept, *gone}] == [kept]
    assert {m for m, _ in await store.due(10, 100)} & {kept, *gone} == {kept}


async def expire(store: EventStore, matches: list[str]) -> None:
    """Let the logs of some matches be gone."""
    for match_id in matches:
        if isinstance(store, MemoryStore):
            del store.logs[match_id]
        else:
            assert isinstance(store, RedisStore)
            await store._redis.delete(keys.log(match_id))


async def test_events_come_back_as_they_were(store):
    match_id = new_match_id()
    events = (HandChosen(0, False, 2), MatchAbandoned('gøne "quoted"'))
    written = Commit(1, 5, events, "n", "cd" * 32)

    await store.append(Append(match_id, written, None, 600))

    assert await store.load(match_id, 0) == ([written], None)


async def test_a_join_code_leads_to_one_match(directory):
    first, second = new_match_id(), new_match_id()

    assert await directory.reserve_code(f"C{first}", first, 60)
    assert await directory.reserve_code(f"C{first}", first, 60)
    assert not await directory.reserve_code(f"C{first}", second, 60)
    assert await directory.find_code(f"C{first}") == first
    assert await directory.find_code("NOWHERE") is None


async def test_a_join_code_lives_on_for_as_long_as_it_is_kept(directory):
    match_id = new_match_id()
    await directory.reserve_code(f"C{match_id}", match_id, 1)

    await directory.keep_code(f"C{match_id}", 60)
    await directory.keep_code("NOWHERE", 60)
    await asyncio.sleep(1.2)

    assert await directory.find_code(f"C{match_id}") == match_id
    assert await directory.find_code("NOWHERE") is None


async def test_seats_are_held_until_they_are_used_or_overdue(directory):
    first, second = new_match_id(), new_match_id()
    await directory.hold(first, "ann", 1000)
    await directory.hold(second, "ann", 900)
    await directory.hold(first, "bob", 800)
    await directory.hold(first, "bob", 1100)

    assert await directory.overdue(899, 10) == []
    assert await directory.overdue(1100, 10) == [(second, "ann"), (first, "ann"), (first, "bob")]
    assert await directory.overdue(1100, 1) == [(second, "ann")]

    await directory.use(second, "ann")
    await directory.use(second, "nobody")
    await directory.use(first, "ann")
    assert await directory.overdue(1100, 10) == [(first, "bob")]
    await directory.use(first, "bob")


async def test_faults_are_counted_by_level_and_kind(directory):
    for _ in range(20):  # one by one: what a Cluster's client sends again it may count again
        await directory.count_fault("hasty", Fault.TIMEOUT)
    await directory.count_fault("hasty", Fault.RAISED)
    await directory.count_fault("other", Fault.ILLEGAL)

    assert await directory.faults("hasty") == {Fault.TIMEOUT: 20, Fault.RAISED: 1}
    assert await directory.faults("other") == {Fault.ILLEGAL: 1}
    assert await directory.faults("flawless") == {}
