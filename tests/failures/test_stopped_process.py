"""An API process that stands still for ten seconds hides no match (kind 11)."""

import asyncio
import contextlib
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.e2e.test_revocation import Process
from tests.failures.people import OPEN, PLAYER, Person

STOPPED = 10  # seconds


@pytest.fixture
def two(redis_url: str, tmp_path: Path) -> Iterator[tuple[Process, Process]]:
    """Two API processes on one Redis, ready."""
    processes = [Process(redis_url, tmp_path / f"{n}.log") for n in range(2)]
    for process in processes:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{process.url}/readyz").status_code == 200:
                    break
            time.sleep(0.05)
    yield processes[0], processes[1]
    for process in processes:
        process.send(signal.SIGCONT)
        process.stop()


async def test_its_matches_are_listed_and_open_through_the_other_all_along(two):
    here, there = two
    ann, bob = Person(here.url, "Ann"), Person(there.url, "Bob")
    async with ann.graphql, ann.rest, bob.graphql, bob.rest:
        await ann.sign_in()
        await bob.sign_in()
        match = await ann.rest.create(PLAYER, OPEN, OPEN, visibility="PUBLIC")
        match_id = match["id"]
        follow = ann.rest.events(f"/matches/{match_id}/updates", after=match["version"])
        told = asyncio.create_task(anext(follow))
        await bob.match(match_id)

        here.send(signal.SIGSTOP)
        stopped, looked = time.monotonic(), 0
        while time.monotonic() < stopped + STOPPED:
            listed = (await bob.rest.get("/matches", status="LOBBY", first=50)).json()["edges"]
            assert match_id in [edge["node"]["id"] for edge in listed]
            assert (await bob.match(match_id))["status"] == "LOBBY"
            looked += 1
            if looked == 5:
                assert (await bob.by_graphql(match_id, "join", {"name": "Bob"}))[0] == "OK"
            await asyncio.sleep(0.2)
        here.send(signal.SIGCONT)

        async with asyncio.timeout(10):
            assert "PlayerJoined" in (await told)["data"]
            assert await ann.match(match_id) == {
                **(seen := await bob.match(match_id)),
                "you": {**seen["you"], "seat": 0},
            }
            for person in (ann, bob):
                listed = (await person.rest.get("/matches", status="LOBBY")).json()["edges"]
                assert match_id in [edge["node"]["id"] for edge in listed]
            assert (await ann.by_rest(match_id, "start"))[0] == "OK"
            assert (await bob.match(match_id))["status"] == "CHOOSING"
        await follow.aclose()
    assert looked > 10
