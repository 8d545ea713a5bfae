"""Seats and matches that nobody comes for, as everybody sees it (kind 10).

By a clock, way by way: tests/api/test_holds.py and test_away.py.
"""

import asyncio
import time
from collections.abc import Iterator
from datetime import datetime

import pytest

from tests.conftest import Stack, start_stack
from tests.failures.people import BOT, OPEN, PLAYER, people

SECONDS = 2


@pytest.fixture(scope="module")
def hasty(tmp_path_factory) -> Iterator[Stack]:
    """A stack that waits for people for a short time only."""
    running = start_stack(
        tmp_path_factory.mktemp("hasty"),
        RINGMASTER_SEAT_HOLD_SECONDS=str(SECONDS),
        RINGMASTER_ABANDON_SECONDS=str(SECONDS),
    )
    yield running
    running.abandon()


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


async def test_a_match_that_its_last_player_is_gone_from_is_given_up(hasty):
    async with people(hasty, 2) as (ann, eve):
        match = await ann.rest.create(PLAYER, BOT, BOT, visibility="PUBLIC", turnSeconds=5)
        match_id = match["id"]
        async with asyncio.timeout(3 * 5 + SECONDS + 20):
            told = [update async for update in eve.graphql.updates(match_id, 0)]
        ended = told[-1]
        kinds = [[e["__typename"] for e in update["events"]] for update in told]
        assert sum(kind.count("TurnExpired") for kind in kinds) == 3
        assert ended["events"] == [{"__typename": "MatchAbandoned", "reason": "NOBODY_RETURNED"}]
        went = next(n for n, kind in enumerate(kinds) if "SeatHandedToBot" in kind)
        handed = told[went]
        assert handed["match"]["seats"][0]["away"]
        # Nothing was played for nobody; at most the round that had ended was scored.
        assert all("RoundEnded" in kind for kind in kinds[went + 1 : -1])
        times = [datetime.fromisoformat(update["at"]) for update in (handed, ended)]
        assert SECONDS - 0.1 < (times[1] - times[0]).total_seconds() < SECONDS + 10
        for status, listed in (("CHOOSING", False), ("PLAYING", False), ("ABANDONED", True)):
            page = (await eve.rest.get("/matches", status=status, first=50)).json()
            assert (match_id in [e["node"]["id"] for e in page["edges"]]) == listed
        assert (await ann.by_rest(match_id, "return"))[0] == "MATCH_OVER"
        assert (await ann.by_graphql(match_id, "join", {"name": "Ann"}))[0] == "MATCH_OVER"
