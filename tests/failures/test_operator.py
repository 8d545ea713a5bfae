"""A stuck match can be ended (kind 13): all who follow it are told, moves refused, bots stopped."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.api.test_tokens import operator, with_token
from tests.client import Client
from tests.conftest import Stack
from tests.failures.people import BOT, OPEN, PLAYER, Person, people
from tests.rest_client import RestClient

CANCEL = """mutation ($m: ID!, $why: String!, $meta: MoveMeta) {
  cancelMatch(matchId: $m, reason: $why, meta: $meta) {
    match { status version joinCode you { seat } } userErrors { code path } } }"""
WHY = "It is stuck: sorry, Ann & co."


@pytest.fixture(scope="module")
def token(stack: Stack) -> str:
    return operator(stack)


@pytest.fixture
async def by_graphql(stack: Stack, token: str) -> AsyncIterator[Client]:
    async with with_token(stack, token) as client:
        yield client


@pytest.fixture
async def by_rest(stack: Stack, token: str) -> AsyncIterator[RestClient]:
    async with RestClient(stack.url) as client:
        client.http.headers["authorization"] = f"Bearer {token}"
        yield client


async def last_of_socket(person: Person, match_id: str) -> tuple[str, list[Any]]:
    """The last update before the server completes the stream."""
    update: dict[str, Any] = {}
    async for told in person.graphql.updates(match_id, 0):
        update = told
    return update["match"]["status"], update["events"]


async def last_of_events(person: Person, match_id: str) -> list[tuple[str, str]]:
    """The last two events of a stream."""
    stream = person.rest.events(f"/matches/{match_id}/updates", after=0)
    found = [(event["event"], event["data"]) async for event in stream]
    return found[-2:]


async def test_everybody_who_follows_is_told_and_nothing_happens_any_more(
    stack, by_graphql, by_rest
):
    async with people(stack, 3) as (ann, bob, eve):
        started = await ann.rest.create(PLAYER, BOT, BOT, visibility="PUBLIC", turnSeconds=5)
        private = await ann.rest.create(PLAYER, OPEN, visibility="PRIVATE")
        assert (await bob.by_rest(None, "join", {"name": "B", "joinCode": private["joinCode"]}))[
            0
        ] == "OK"
        followed = [
            asyncio.create_task(last_of_socket(person, match["id"]))
            for person, match in ((ann, started), (eve, started), (bob, private))
        ]
        followed_too = asyncio.create_task(last_of_events(eve, started["id"]))
        await ann.match(started["id"])

        meta = {"idempotencyKey": "cancel-1"}
        for _ in range(2):
            done = await by_graphql.data(CANCEL, m=started["id"], why=WHY, meta=meta)
            assert done["cancelMatch"]["userErrors"] == []
        match = done["cancelMatch"]["match"]
        assert (match["status"], match["joinCode"], match["you"]) == ("ABANDONED", None, None)
        for _ in range(2):
            answer = await by_rest.post(
                f"/matches/{private['id']}/cancel", {"reason": WHY}, idempotency_key="cancel-2"
            )
            assert (answer.status_code, answer.json()["status"]) == (200, "ABANDONED")
            assert answer.json()["you"] is answer.json()["joinCode"] is None

        async with asyncio.timeout(10):
            for status, events in await asyncio.gather(*followed):
                assert status == "ABANDONED"
                assert events == [{"__typename": "MatchAbandoned", "reason": WHY}]
            (_, update), (end, reason) = await followed_too
        assert json.loads(update)["events"] == [{"type": "MatchAbandoned", "reason": WHY}]
        assert (end, "OVER" in reason) == ("complete", True)
        for one in (started, private):
            for by in (ann.by_graphql, ann.by_rest):
                for what, body in (("hand", {"flip": False}), ("show", {"first": 0, "count": 1})):
                    assert (await by(one["id"], what, body))[0] == "MATCH_OVER"
        assert (await by_rest.post(f"/matches/{started['id']}/cancel", {"reason": WHY})).json()[
            "code"
        ] == "MATCH_OVER"
        lists = await eve.rest.get("/matches", status="PLAYING", first=50)
        assert started["id"] not in lists.text
        assert (await ann.match(started["id"]))["version"] == match["version"]


async def test_bots_stop(stack, by_rest):
    async with people(stack, 1) as (ann,):
        match = await ann.rest.create(*[{**BOT, "botLevel": "expert"}] * 5, visibility="PUBLIC")
        ended = await by_rest.post(f"/matches/{match['id']}/cancel", {"reason": WHY})
        assert ended.json()["status"] == "ABANDONED"
        other = await ann.rest.create(BOT, BOT, visibility="PUBLIC")
        async with asyncio.timeout(30):  # those after it in the queues are done
            await last_of_socket(ann, other["id"])
        assert (await ann.match(match["id"]))["version"] == ended.json()["version"]


async def test_only_operators_end_matches_and_say_why(stack, by_graphql, by_rest):
    async with people(stack, 1) as (ann,):
        match = await ann.rest.create(PLAYER, OPEN, visibility="PUBLIC")
        path = f"/matches/{match['id']}/cancel"
        refused = await ann.graphql.data(CANCEL, m=match["id"], why=WHY)
        assert refused["cancelMatch"]["userErrors"][0]["code"] == "FORBIDDEN"
        assert (await ann.rest.post(path, {"reason": WHY})).status_code == 403
        async with RestClient(stack.url) as nobody:
            assert (await nobody.post(path, {"reason": WHY})).status_code == 401
        for why in ("", " ", "x" * 201, "two\nlines", "\u202eturned"):
            bad = await by_graphql.data(CANCEL, m=match["id"], why=why)
            assert bad["cancelMatch"]["userErrors"] == [
                {"code": "INVALID_INPUT", "path": ["reason"]}
            ]
            assert (await by_rest.post(path, {"reason": why})).json()["code"] == "INVALID_INPUT"
        missing = "m0-aaaaaaaaaaaaaaaa"
        gone = await by_graphql.data(CANCEL, m=missing, why=WHY)
        assert gone["cancelMatch"]["userErrors"][0]["code"] == "NOT_FOUND"
        assert (
            await by_rest.post(f"/matches/{missing}/cancel", {"reason": WHY})
        ).status_code == 404
        stale = await by_rest.post(path, {"reason": WHY}, if_match='"9"')
        assert stale.status_code == 412
        assert (await ann.match(match["id"]))["status"] == "LOBBY"
