"""Buckets, leased in chunks: exactly the limit, whoever counts, and few questions to Redis."""

import asyncio

import pytest

from api.errors import RateLimited, Unavailable
from api.limits.buckets import Bucket, Rate, rate_of
from api.limits.limiter import Caller, Limiter, site_of
from api.limits.windows import RedisWindows
from api.store import keys
from api.store.connections import connect
from tests.conftest import start_redis

ANN = Caller("p-ann", "192.0.2.1")


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Counts:
    """Windows in memory, by a clock that is told the time."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.windows: dict[str, tuple[int, float]] = {}
        self.asked = 0

    async def take(
        self, key: str, seconds: int, amount: int, *, known: bool
    ) -> tuple[int, float | None]:
        self.asked += 1
        await asyncio.sleep(0)
        count, ends = self.windows.get(key, (0, 0.0))
        if self.clock.now >= ends:
            count, ends = 0, self.clock.now + seconds
        self.windows[key] = (count + amount, ends)
        known_still = known and count
        return count + amount, None if known_still else ends - self.clock.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def counts(clock: Clock) -> Counts:
    return Counts(clock)


def limiter(counts: Counts, amount: int = 100, factor: int = 10) -> Limiter:
    rates = {Bucket.PLAYS: Rate(amount, 60, factor), Bucket.READS: Rate(amount, 60, factor)}
    return Limiter(rates, counts, counts.clock)


async def passed(limits: Limiter, times: int, caller: Caller = ANN) -> int:
    """How many of so many plays, all at once, are let through."""
    charged = [limits.charge(Bucket.PLAYS, caller) for _ in range(times)]
    results = await asyncio.gather(*charged, return_exceptions=True)
    assert {type(r) for r in results if isinstance(r, BaseException)} <= {RateLimited}
    return sum(not isinstance(result, BaseException) for result in results)


@pytest.mark.parametrize("amount", [1, 7, 100, 1234])
async def test_one_process_lets_exactly_the_limit_through(counts, amount):
    limits = limiter(counts, amount)

    assert await passed(limits, amount + 50) == amount


async def test_processes_together_let_no_more_than_the_limit_through(counts):
    several = [limiter(counts) for _ in range(5)]

    through = [await passed(limits, 7) for _ in range(10) for limits in several]

    assert sum(through) == 100


async def test_what_is_left_is_told_exactly(counts, clock):
    limits = limiter(counts)
    for number in range(1, 101):
        standing = await limits.charge(Bucket.PLAYS, ANN)
        assert standing is not None
        assert (standing.limit, standing.remaining) == (100, 100 - number)
    clock.now += 20.5

    with pytest.raises(RateLimited) as caught:
        await limits.charge(Bucket.PLAYS, ANN)

    refusal = caught.value
    assert (refusal.bucket, refusal.limit, refusal.remaining) == ("plays", 100, 0)
    assert refusal.retry_after == 40  # 39.5, rounded up


async def test_it_works_again_when_it_was_said(counts, clock):
    limits = limiter(counts)
    assert await passed(limits, 101) == 100
    clock.now += 59.9
    assert await passed(limits, 1) == 0
    clock.now += 0.1

    assert await passed(limits, 101) == 100


async def test_a_client_that_hammers_costs_redis_nothing(counts):
    limits = limiter(counts)
    await passed(limits, 101)
    asked = counts.asked

    assert await passed(limits, 1000) == 0
    assert counts.asked == asked


async def test_hits_are_leased_in_chunks(counts):
    limits = limiter(counts, 2_400)

    assert await passed(limits, 2_400) == 2_400
    assert counts.asked < 150


async def test_a_crowd_waits_for_a_redis_that_fails_once_and_not_in_turn(clock):
    limits, asked, answered = limiter(Counts(clock)), 0, asyncio.Event()

    async def take(*_: object, **__: object) -> tuple[int, float | None]:
        nonlocal asked
        asked += 1
        await answered.wait()
        raise Unavailable("it fails")

    limits._windows.take = take  # type: ignore[method-assign]
    crowd = [asyncio.create_task(limits.charge(Bucket.PLAYS, ANN)) for _ in range(50)]
    while asked < 2:  # noqa: ASYNC110 - nothing tells
        await asyncio.sleep(0)
    answered.set()
    results = await asyncio.gather(*crowd, return_exceptions=True)

    assert {type(result) for result in results} == {Unavailable}
    assert asked == 2  # for the player's window and the address's
    with pytest.raises(Unavailable):
        await limits.charge(Bucket.PLAYS, ANN)
    assert asked == 4  # who comes later asks again


async def test_a_window_without_an_end_begins_anew(redis):
    windows = RedisWindows(redis)
    await redis.set(keys.limit("plays:p:x"), 11_999)  # as in the last millisecond of its time

    assert await windows.take("plays:p:x", 60, 600, known=False) == (600, 60.0)
    assert await windows.take("plays:p:x", 60, 600, known=True) == (1200, None)


async def test_a_refusal_takes_nothing(counts):
    limits = limiter(counts)
    await limits.charge(Bucket.READS, ANN, 70)
    with pytest.raises(RateLimited):
        await limits.charge(Bucket.READS, ANN, 31)

    standing = await limits.charge(Bucket.READS, ANN, 30)

    assert standing is not None
    assert standing.remaining == 0


async def test_a_read_dearer_than_the_bucket_takes_all_of_it(counts):
    limits = limiter(counts)

    standing = await limits.charge(Bucket.READS, ANN, 5000)

    assert standing is not None
    assert standing.remaining == 0


async def test_reads_never_take_from_plays_not_even_of_the_same_address(counts):
    limits = limiter(counts, factor=1)
    await limits.charge(Bucket.READS, ANN, 100)
    for caller in (ANN, Caller("p-bob", ANN.address), Caller(None, ANN.address)):
        with pytest.raises(RateLimited):
            await limits.charge(Bucket.READS, caller, 1)

    assert await limits.charge(Bucket.PLAYS, ANN) is not None


async def test_players_have_their_own_buckets_and_an_address_a_larger_one(counts):
    limits = limiter(counts, amount=10, factor=3)
    players = [Caller(f"p-{number}", ANN.address) for number in range(5)]

    through = [await passed(limits, 12, player) for player in players]

    assert through == [10, 10, 10, 0, 0]
    assert await passed(limits, 12, Caller("p-0", "192.0.2.2")) == 0
    assert await passed(limits, 12, Caller("p-9", "192.0.2.2")) == 10


async def test_what_one_refuses_is_not_taken_from_the_other(counts):
    limits = limiter(counts, amount=10, factor=1)
    assert await passed(limits, 6, Caller("p-0", ANN.address)) == 6
    other = Caller("p-1", ANN.address)
    assert await passed(limits, 6, other) == 4

    assert await passed(limits, 6, Caller("p-1", "192.0.2.2")) == 6


async def test_no_limit_is_none(counts):
    limits = Limiter({Bucket.PLAYS: None}, counts)

    assert await limits.charge(Bucket.PLAYS, ANN) is None
    assert counts.asked == 0


def test_one_customer_of_ipv6_is_one_address():
    assert site_of("2001:db8:1:2::1") == site_of("2001:db8:1:2:ffff::9") == "2001:db8:1:2::/64"
    assert site_of("::ffff:192.0.2.1") == "192.0.2.1"
    assert site_of("") == ""


@pytest.mark.parametrize("text", ["12", "many", "0/minute", "5/fortnight", "-1/minute"])
def test_what_is_no_limit_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        rate_of(text, 1)


@pytest.mark.parametrize(
    ("text", "rate"),
    [("", None), ("5/minute", Rate(5, 60, 2)), ("7 per 10 seconds", Rate(7, 10, 2))],
)
def test_limits_are_read(text, rate):
    assert rate_of(text, 2) == rate


async def test_in_redis_processes_share_a_window_and_it_ends(redis):
    rates = {Bucket.PLAYS: Rate(40, 1, 10)}
    several = [Limiter(rates, RedisWindows(redis)) for _ in range(4)]

    through = await asyncio.gather(*(passed(limits, 30) for limits in several))
    await asyncio.sleep(1.05)
    again = await passed(several[0], 50)

    # What is leased to others and not spent is lost to this window.
    assert 30 <= sum(through) <= 40
    assert again == 40


async def test_in_redis_a_late_process_knows_when_the_window_ends(redis):
    rates = {Bucket.PLAYS: Rate(10, 2, 10)}
    assert await passed(Limiter(rates, RedisWindows(redis)), 10) == 10
    await asyncio.sleep(0.9)
    late = Limiter(rates, RedisWindows(redis))

    with pytest.raises(RateLimited) as caught:
        await late.charge(Bucket.PLAYS, ANN)
    assert caught.value.retry_after == 2  # 1.1, rounded up
    await asyncio.sleep(1.15)

    assert await passed(late, 11) == 10


async def test_a_redis_that_is_gone_is_unavailable(tmp_path):
    server = await asyncio.to_thread(start_redis, tmp_path)
    redis = connect(server.url)
    limits = Limiter({Bucket.PLAYS: Rate(10, 60, 10)}, RedisWindows(redis))
    await asyncio.to_thread(server.stop)

    with pytest.raises(Unavailable):
        await limits.charge(Bucket.PLAYS, ANN)
    await redis.aclose()


async def test_purses_whose_windows_have_ended_are_forgotten(counts, clock):
    limits = limiter(counts)
    for number in range(100):
        await limits.charge(Bucket.PLAYS, Caller(f"p-{number}", ANN.address))
    clock.now += 61
    for number in range(100):
        await limits.charge(Bucket.PLAYS, Caller(f"q-{number}", ANN.address))

    assert len(limits._purses) <= 102  # and the address's
