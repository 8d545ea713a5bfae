"""The same limits by REST: told on every answer, refused with a problem document."""

import asyncio
import time

import pytest

from tests.conftest import start_stack
from tests.rest_client import RestClient

WINDOW = 3
PROBLEM = "application/problem+json"
ABSENT = "/matches/m0-aaaaaaaaaaaaaaaa"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    running = start_stack(
        tmp_path_factory.mktemp("small"),
        RINGMASTER_LIMIT_READS=f"1080/{WINDOW} seconds",
        RINGMASTER_LIMIT_PLAYS=f"4/{WINDOW} seconds",
        RINGMASTER_LIMIT_STREAMS="2/minute",
    )
    yield running
    running.abandon()


@pytest.fixture
async def ann(small):
    async with RestClient(small.url) as client:
        await client.sign_in("Ann")
        yield client


async def test_over_the_limit_it_works_again_when_it_was_said(ann):
    for left in (720, 360, 0):
        answer = await ann.get(ABSENT)
        assert answer.status_code == 404
        assert answer.headers["ratelimit-policy"] == f'"reads";q=1080;w={WINDOW}'
        assert answer.headers["ratelimit"].startswith(f'"reads";r={left};t=')

    refused = await ann.get(ABSENT)
    problem = refused.json()

    assert (refused.status_code, refused.headers["content-type"]) == (429, PROBLEM)
    assert (problem["code"], problem["bucket"], problem["limit"]) == ("RATE_LIMITED", "reads", 1080)
    assert refused.headers["retry-after"] == str(problem["retryAfter"])
    played = await ann.post(f"{ABSENT}/leave")  # reads never starve a play
    assert played.status_code == 404
    assert played.headers["ratelimit"].startswith('"plays";r=3;')
    await asyncio.sleep(int(refused.headers["retry-after"]))
    assert (await ann.get(ABSENT)).status_code == 404


async def test_plays_and_streams_have_limits_of_their_own(ann):
    plays = [(await ann.post(f"{ABSENT}/start")).status_code for _ in range(5)]
    stream = {"accept": "text/event-stream"}
    path = f"/v1{ABSENT}/updates"
    streams = [(await ann.http.get(path, headers=stream)).status_code for _ in range(3)]

    assert plays == [404] * 4 + [429]
    assert streams == [404, 404, 429]
    assert (await ann.get(ABSENT)).status_code == 404


async def test_a_page_costs_as_much_as_it_may_hold(ann):
    began = time.monotonic()
    small_page = await ann.get("/matches", first=1)
    large_page = await ann.get("/matches", first=100)
    after = await ann.get("/matches", first=1)

    assert [small_page.status_code, large_page.status_code, after.status_code] == [200, 429, 200]
    assert time.monotonic() - began < WINDOW
