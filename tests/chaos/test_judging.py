"""The judge finds what is planted: a harness that finds nothing would be worth as little."""

from dataclasses import replace
from itertools import islice

import pytest
from redis import Redis

from api.store import keys as names
from tests.chaos.faults import FAULTS
from tests.chaos.judging import FROZEN, STILL_SECONDS, judge, slowest
from tests.chaos.leftovers import expire, leftovers
from tests.chaos.records import Ack, Entry, Fault, Log, Record, Seen, Stream
from tests.chaos.schedule import schedule

MATCH, KEYED = "m0-aaaaaaaaaaaaaaaa", 1
HASHES = [f"{version:064x}" for version in range(1, 7)]


def entry(version: int, seat: int, **more) -> Entry:
    return Entry(version, 100.0 + version, HASHES[version - 1], frozenset({seat}), **more)


@pytest.fixture
def log() -> Log:
    """Seat 1 moves with keys, seat 0 without; the match is over."""
    return Log(MATCH, [entry(v, v % 2) for v in range(1, 7)], list(HASHES), over=True)


@pytest.fixture
def record() -> Record:
    acks = [
        Ack(MATCH, v, HASHES[v - 1], v % 2, f"key-{v}" if v % 2 == KEYED else None)
        for v in range(1, 7)
    ]
    seen = [Seen(version, hash_) for version, hash_ in enumerate(HASHES, 1)]
    streams = [Stream("Ann", MATCH, seen, over=True), Stream("Bob", MATCH, seen[:4])]
    return Record(acks, streams, {(MATCH, KEYED)})


def found(record: Record, log: Log, now: float = 110.0) -> list[str]:
    return [line.removeprefix(f"{MATCH}: ") for line in judge(record, {MATCH: log}, now)]


def test_what_is_right_is_not_called_wrong(record, log):
    record.acks.append(record.acks[0])  # a retry is answered alike
    assert found(record, log) == []


def test_an_acknowledged_version_that_the_log_lost(record, log):
    del log.entries[-1], record.streams[0].seen[-1]
    assert found(record, log) == ["version 6, acknowledged to seat 0, is lost"]


def test_a_log_that_lost_its_end_and_grew_another(record, log):
    log.entries[-1] = log.entries[-1]._replace(hash=HASHES[0])
    log.chained[-1] = HASHES[0]
    assert found(record, log) == [
        "version 6, acknowledged to seat 0, is another one in the log",
        "the stream of Ann saw another version 6 than the log has",
    ]


def test_an_acknowledged_version_of_somebody_else(record, log):
    log.entries[3] = log.entries[3]._replace(movers=frozenset({3}))
    assert found(record, log) == ["version 4, acknowledged to seat 0, is no move of that seat"]


def test_a_gap_in_a_log(record, log):
    del log.entries[2]
    assert "version 4 stands where 3 belongs" in found(record, log)


def test_a_repeated_version_in_a_log(record, log):
    log.entries.insert(2, log.entries[2])
    assert "version 3 stands where 4 belongs" in found(record, log)


def test_a_hash_that_is_not_of_its_events(record, log):
    log.chained[1] = HASHES[5]
    assert found(record, log) == ["the hash of version 2 is not that of its events"]


def test_a_log_that_is_gone(record, log):
    assert "there is no log" in found(record, replace(log, entries=[], over=False))


@pytest.mark.parametrize(
    ("seen", "wrong"),
    [
        ([1, 2, 4], "the stream of Bob saw version 4 where 3 belongs"),
        ([1, 2, 2], "the stream of Bob saw version 2 where 3 belongs"),
        ([2, 1], "the stream of Bob saw version 2 where 1 belongs"),
    ],
)
def test_a_stream_with_a_gap_a_repetition_or_out_of_order(record, log, seen, wrong):
    record.streams[1].seen = [Seen(version, HASHES[version - 1]) for version in seen]
    assert found(record, log) == [wrong]


def test_a_stream_that_saw_something_else(record, log):
    record.streams[1].seen[1:] = [Seen(2, HASHES[4])]
    assert found(record, log) == ["the stream of Bob saw another version 2 than the log has"]


def test_a_stream_that_ended_before_the_match(record, log):
    del record.streams[0].seen[-1]
    assert found(record, log) == ["the stream of Ann ended at version 5 of 6"]


def test_a_key_that_made_two_moves(record, log):
    record.acks[2] = record.acks[2]._replace(key="key-1")
    assert found(record, log) == ["the key key-1 led to versions [1, 3]"]


def test_a_move_made_again_without_being_acknowledged(record, log):
    del record.acks[2]  # as if a retry had made version 3
    assert found(record, log) == ["version 3 of seat 1 answers no key"]


def test_two_keys_for_one_move(record, log):
    record.acks.append(record.acks[0]._replace(key="other"))
    assert found(record, log) == ["version 1 answers the keys ['key-1', 'other']"]


def test_a_clock_that_ran_out(record, log):
    log.entries[1:] = [e._replace(at=e.at + 20) for e in log.entries[1:]]
    log.entries[1] = log.entries[1]._replace(expired=True)
    wrong = ["a clock ran out at version 2, though its player was there"]
    assert found(record, log, 130) == wrong
    record.faults += [Fault("all API processes killed", 105, 115), Fault(FROZEN, 90, 105)]
    assert found(record, log, 130) == wrong
    record.faults.append(Fault(FROZEN, 110, 120))
    assert found(record, log, 130) == []


def test_a_match_that_stands_still(record, log):
    log.entries[-1] = log.entries[-1]._replace(owed=True)  # at 106
    log.over = False
    assert found(record, log, 106 + STILL_SECONDS) == []
    (wrong,) = found(record, log, 107 + STILL_SECONDS)
    assert wrong == "version 6 stood for 16.0 s with nothing broken"


def test_a_match_that_stood_still_for_a_while(record, log):
    log.entries[4:] = [
        log.entries[4]._replace(owed=True),
        log.entries[5]._replace(at=105 + STILL_SECONDS + 1),
    ]
    assert found(record, log) == ["version 5 stood for 16.0 s with nothing broken"]
    record.faults.append(Fault("a fault", 110, 112))
    assert found(record, log) == []


def test_how_long_bots_took_after_a_fault(log):
    log.house = True
    fault, late = Fault("a fault", 101.5, 102.5), Fault("a fault", 101, 106.5)
    other = Fault("another", 107, 109)
    assert slowest([log], fault, [fault], 110) == 0.5
    assert slowest([log], late, [late], 110) is None  # it was over
    log.entries[-1] = log.entries[-1]._replace(owed=True)
    assert slowest([log], late, [late], 110) == 3.5
    assert slowest([log], late, [late, other], 110) == 1.5


def test_a_replay_that_differs(record, log):
    record.replays[MATCH] = {"format": "none", "log": [{"hash": hash_} for hash_ in HASHES[:5]]}
    wrong = found(record, log)
    assert "the replay's hashes are not those of the log" in wrong
    assert any(line.startswith("replay: ") for line in wrong)


async def test_what_expired_matches_leave_behind(redis_url, redis):
    shard = names.shard(MATCH)
    await redis.zadd(names.due(shard), {MATCH: 10**14})
    await redis.zadd(names.public(shard, None), {MATCH: 1, "m0-bbbbbbbbbbbbbbbb": 1})
    await redis.zadd(names.holds(shard), {f"{MATCH} ann": 1, f"{MATCH} bob": 10**14})
    await redis.set(names.idempotency(MATCH, "ann", "key"), "1")
    await redis.set(names.idempotency(MATCH, "ann", "other"), "1", ex=60)
    await redis.xadd(names.log(MATCH), {"c": "1"})
    with Redis.from_url(redis_url) as blocking:
        expire(blocking, [MATCH])
        found = list(leftovers(blocking, [MATCH]))

    assert found == [
        f"{names.due(shard)} still has {MATCH}",
        f"{names.holds(shard)} still has {MATCH}",
        f"{names.public(shard, None)} still has {MATCH}",
        f"{names.idempotency(MATCH, 'ann', 'key')} never expires",
    ]


def test_a_seed_is_a_schedule_and_every_fault_has_its_turn():
    first = list(islice(schedule(7), 60))
    assert first == list(islice(schedule(7), 60))
    assert first != list(islice(schedule(8), 60))
    assert FROZEN in FAULTS
    made = [name for step in first for name, _ in step.faults]
    assert set(made) == set(FAULTS)
    for step in first:
        broken = [word for name, _ in step.faults for word in FAULTS[name][0].split()]
        assert len(broken) == len(set(broken))
