"""Limits that can be read, from outside, on a stack whose limits are small."""

import asyncio
import json
import time

import httpx
import pytest

from api.cli.export import export
from tests.client import Client, messages, subscribe
from tests.conftest import start_stack

READ = "query ($m: ID!) { match(id: $m) { id version } }"
COSTS = 25 + 2
WINDOW = 4
LIMIT = 11 * (25 + 1 + 100) + 14


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    running = start_stack(
        tmp_path_factory.mktemp("small"),
        RINGMASTER_LIMIT_READS=f"{10 * COSTS}/{WINDOW} seconds",
        RINGMASTER_LIMIT_PLAYS=f"5/{WINDOW} seconds",
        RINGMASTER_LIMIT_STREAMS="3/minute",
        RINGMASTER_LIMIT_CREATES="6/minute",
        RINGMASTER_COST_LIMIT=str(LIMIT),
    )
    yield running
    running.abandon()


@pytest.fixture
async def ann(small):
    async with Client(small.url) as client:
        await client.sign_in("Ann")
        yield client


async def post(client: Client, query: str, accept: str = "*/*", **variables) -> httpx.Response:
    headers = {"authorization": f"Bearer {client.token}"} if client.token else {}
    body = {"query": query, "variables": variables}
    return await client.http.post("/graphql", json=body, headers={**headers, "accept": accept})


async def leave(client: Client, match_id: str) -> httpx.Response:
    query = "mutation ($m: ID!) { leaveMatch(matchId: $m) { userErrors { code } } }"
    return await post(client, query, m=match_id)


async def test_what_is_left_is_told_and_over_the_limit_it_works_again_when_it_was_said(ann):
    match_id = "m0-aaaaaaaaaaaaaaaa"
    for number in range(1, 11):
        answer = await post(ann, READ, m=match_id)
        told = answer.json()["extensions"]
        left = 10 * COSTS - number * COSTS
        assert told["cost"] == {"operation": COSTS, "limit": LIMIT}
        assert told["rateLimit"]["bucket"] == "reads"
        assert told["rateLimit"]["limit"] == 10 * COSTS
        assert told["rateLimit"]["remaining"] == left
        assert 0 < told["rateLimit"]["resetAfter"] <= WINDOW
        assert answer.headers["ratelimit-policy"] == f'"reads";q={10 * COSTS};w={WINDOW}'
        assert answer.headers["ratelimit"].startswith(f'"reads";r={left};t=')

    for accept in ("application/json", "application/graphql-response+json"):
        refused = await post(ann, READ, accept, m=match_id)
        (error,) = refused.json()["errors"]
        wait = int(refused.headers["retry-after"])
        assert refused.status_code == 429
        assert "data" not in refused.json()
        assert error["extensions"] == {
            "code": "RATE_LIMITED",
            "bucket": "reads",
            "limit": 10 * COSTS,
            "retryAfter": wait,
        }
        assert refused.headers["ratelimit"] == f'"reads";r=0;t={wait}'
    # A play passes all the while.
    assert (await leave(ann, match_id)).json()["data"]["leaveMatch"]["userErrors"]

    await asyncio.sleep(wait)
    assert (await post(ann, READ, m=match_id)).status_code == 200


async def test_plays_are_counted_each_also_as_aliases_and_before_they_happen(ann):
    match = await ann.create({"kind": "PLAYER"}, {"kind": "OPEN"})
    began = time.monotonic()
    six = " ".join(
        f'a{n}: leaveMatch(matchId: "{match["id"]}") {{ clientMutationId }}' for n in range(6)
    )

    refused = await post(ann, f"mutation {{ {six} }}")

    assert refused.status_code == 429
    assert refused.json()["errors"][0]["extensions"]["bucket"] == "plays"
    for left in (4, 3, 2, 1, 0):
        answer = await leave(ann, "m0-aaaaaaaaaaaaaaaa")
        assert answer.headers["ratelimit"].startswith(f'"plays";r={left};t=')
    if time.monotonic() - began < WINDOW:
        assert (await leave(ann, match["id"])).status_code == 429
    seen = await ann.match(match["id"])
    assert seen is not None
    assert seen["status"] == "LOBBY"


async def test_a_wrong_token_is_charged_to_its_address_and_never_as_plays(small):
    async with Client(small.url) as eve:
        eve.token = "wrong"
        answer = await leave(eve, "m0-aaaaaaaaaaaaaaaa")

    assert answer.json()["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"
    assert answer.headers["ratelimit"].startswith('"reads";')


async def test_creating_has_a_bucket_of_its_own(ann):
    codes = []
    for _ in range(7):
        answer = await post(
            ann,
            "mutation ($i: CreateMatchInput!) { createMatch(input: $i) { match { id } } }",
            i={"seats": [{"kind": "PLAYER"}, {"kind": "OPEN"}]},
        )
        codes.append(answer.status_code)

    assert codes == [200] * 6 + [429]


async def test_streams_are_refused_by_an_error_message_and_by_a_status(ann):
    match = await ann.create({"kind": "PLAYER"}, {"kind": "OPEN"})
    async with ann.socket() as ws:
        for number in range(4):
            await subscribe(ws, str(number), match["id"])
        async with asyncio.timeout(10):
            async for message in messages(ws):
                if message["type"] == "error":
                    break
        assert message["id"] == "3"
        assert message["payload"][0]["extensions"]["code"] == "RATE_LIMITED"
        assert message["payload"][0]["extensions"]["bucket"] == "streams"
        # A move over the same connection is told what is left.
        query = 'mutation { leaveMatch(matchId: "m0-aaaaaaaaaaaaaaaa") { clientMutationId } }'
        await ws.send(json.dumps({"type": "subscribe", "id": "m", "payload": {"query": query}}))
        async for message in messages(ws):
            if message["id"] == "m":
                break
        assert message["payload"]["extensions"]["rateLimit"]["bucket"] == "plays"

    query = "subscription ($m: ID!) { matchUpdates(matchId: $m) { version } }"
    refused = await post(ann, query, "text/event-stream", m=match["id"])
    assert refused.status_code == 429
    assert refused.headers["content-type"] == "application/json"
    assert refused.json()["errors"][0]["extensions"]["code"] == "RATE_LIMITED"


async def test_exactly_the_cost_limit_passes_and_one_more_is_refused_with_both_numbers(small):
    matches = " ".join(f"m{n}: matches(first: 100) {{ edges {{ cursor }} }}" for n in range(11))
    names = " ".join(f"t{n}: __typename" for n in range(14))
    answers = []
    for query, accept in (
        (f"{{ {matches} {names} }}", "application/json"),
        (f"{{ {matches} {names} __typename }}", "application/json"),
        (f"{{ {matches} {names} __typename }}", "application/graphql-response+json"),
    ):
        async with Client(small.url) as bob:  # the first takes all that one may read
            await bob.sign_in("Bob")
            answers.append(await post(bob, query, accept))
    exact, over, typed = answers

    assert exact.json()["extensions"]["cost"] == {"operation": LIMIT, "limit": LIMIT}
    assert "edges" in exact.json()["data"]["m0"]
    assert over.json()["errors"][0]["extensions"] == {
        "code": "COST_LIMIT",
        "cost": LIMIT + 1,
        "limit": LIMIT,
    }
    assert "data" not in over.json()
    assert (over.status_code, typed.status_code) == (200, 400)


def test_an_export_waits_and_goes_on(small, tmp_path):
    with httpx.Client(base_url=small.url) as spectator:
        body = {"query": "{ matches(first: 100) { edges { cursor } } }"}
        while spectator.post("/graphql", json=body).status_code != 429:
            pass

    assert export(small.url, tmp_path / "replays") == 0
