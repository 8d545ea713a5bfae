"""Streams of a process that stops: one after the other, and none for longer."""

import asyncio
import time
from collections.abc import AsyncGenerator
from itertools import pairwise

from api.drain import Drain
from api.streams import Streams

DRAIN_SECONDS = 0.6


async def forever() -> AsyncGenerator[int, None]:
    yield 1
    await asyncio.Event().wait()


async def lasted(streams: Streams, began: float) -> float:
    """Follow to the end: the seconds from ``began`` to then."""
    assert [item async for item in streams.lasting(forever())] == [1]
    return time.monotonic() - began


async def drained(drain: Drain) -> None:
    drain.begin()
    while not drain.go_on():  # noqa: ASYNC110 - as the server asks, at every tick
        await asyncio.sleep(0.01)


async def test_streams_last_for_half_of_the_drain_and_then_end_one_after_the_other():
    streams = Streams(60)
    drain, began = Drain(DRAIN_SECONDS, streams), time.monotonic()
    following = [asyncio.create_task(lasted(streams, began)) for _ in range(6)]
    await asyncio.sleep(0)

    await drained(drain)
    times = await asyncio.gather(*following)

    assert times == sorted(times)
    assert times[0] > DRAIN_SECONDS / 2 - 0.05
    assert times[-1] < DRAIN_SECONDS + 0.3
    assert all(b - a > 0.02 for a, b in pairwise(times)), times


async def test_a_stream_that_begins_while_others_end_lasts_until_all_have():
    streams = Streams(60)
    streams.end(0.3)

    assert 0.25 < await lasted(streams, time.monotonic()) < 0.6


async def test_without_time_to_drain_all_end_at_once_and_later_ones_before_they_begin():
    streams = Streams(60)
    following = [asyncio.create_task(lasted(streams, time.monotonic())) for _ in range(6)]
    await asyncio.sleep(0)

    await drained(Drain(0, streams))

    assert max(await asyncio.gather(*following)) < 0.3
    assert [item async for item in streams.lasting(forever())] == []


async def test_a_stream_whose_time_is_up_earlier_does_not_wait_for_the_drain():
    streams = Streams(0.1)
    following = asyncio.create_task(lasted(streams, time.monotonic()))
    await asyncio.sleep(0)
    streams.end(5)

    assert await following < 0.5
