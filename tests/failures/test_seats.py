"""A seat whose taker vanishes before its first use is free again (kind 10), as everybody sees it.

By a clock, way by way: tests/api/test_holds.py.
"""

import asyncio
import time
from collections.abc import Iterator

import pytest

from tests.conftest import Stack, start_stack
from tests.failures.people import OPEN, PLAYER, people

SECONDS = 2


@pytest.fixture(scope="module")
def hasty(tmp_path_factory) -> Iterator[Stack]:
    """A stack that holds seats for a short time."""
    folder = tmp_path_factory.mktemp("hasty")
    running = start_stack(folder, RINGMASTER_SEAT_HOLD_SECONDS=str(SECONDS))
    yield running
    running.stop()


@pytest.mark.parametrize("by", ["GraphQL", "REST"])
async def test_who_joins_and_vanishes_loses_the_seat_and_others_sit_down(hasty, by):
    async with people(hasty, 4) as (host, ghost, bob, cid):
        match = await host.rest.create(PLAYER, OPEN, OPEN, visibility="PUBLIC")
        match_id = match["id"]
        follow = host.rest.events(f"/matches/{match_id}/updates", after=1)
        await ghost.match(match_id)  # a look before there is a seat is no use of it
        if by == "GraphQL":
            code, _ = await ghost.by_graphql(match_id, "join", {"name": "Ghost"})
        else:
            code, _ = await ghost.by_rest(match_id, "join", {"name": "Ghost"})
        assert code == "OK"
        begun = time.monotonic()
        async with asyncio.timeout(SECONDS + 5):
            async for event in follow:
                if "PlayerLeft" in event["data"]:
                    break
        assert SECONDS - 0.5 < time.monotonic() - begun < SECONDS + 3
        listed = (await cid.rest.get("/matches", status="LOBBY")).json()["edges"]
        seats = {e["node"]["id"]: e["node"]["seats"] for e in listed}[match_id]
        assert [seat["kind"] for seat in seats] == ["PLAYER", "OPEN", "OPEN"]
        assert (await ghost.match(match_id))["you"] is None
        assert (await bob.by_rest(match_id, "join", {"name": "Bob"}))[0] == "OK"
        await bob.match(match_id)
        await asyncio.sleep(SECONDS + 1)
        assert (await cid.by_graphql(match_id, "join", {"name": "Cid"}))[0] == "OK"
        assert (await bob.match(match_id))["you"]["seat"] == 1
        assert (await cid.match(match_id))["status"] == "CHOOSING"
