"""The whole product on a Redis Cluster of three nodes: API, workers and sweeper, as processes."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from api.settings import read_settings
from tests.client import Client
from tests.conftest import Stack, start_stack, until_finished
from tests.redises import cluster, server

BOT, PLAYER, OPEN = {"kind": "BOT"}, {"kind": "PLAYER"}, {"kind": "OPEN"}
LISTED = "{ matches(first: 1) { edges { node { id } } } }"


@pytest.fixture(scope="module")
def on_cluster(tmp_path_factory) -> Iterator[Stack]:
    broker = server(tmp_path_factory.mktemp("broker")).start()
    with cluster(tmp_path_factory.mktemp("cluster")) as (url, _):
        stack = start_stack(
            tmp_path_factory.mktemp("stack"),
            RINGMASTER_REDIS_URL=url,
            RINGMASTER_BROKER_URL=broker.url,
            RINGMASTER_SEAT_HOLD_SECONDS="1",
            RINGMASTER_LIMIT_CREATES="20/minute",
        )
        yield stack
        stack.stop()
    broker.kill()


@pytest.fixture
async def ann(on_cluster: Stack) -> AsyncIterator[Client]:
    async with Client(on_cluster.url) as ann:
        await ann.sign_in("Ann")
        yield ann


async def test_a_match_is_played_to_its_end(ann):
    match = await ann.create(PLAYER, BOT, BOT, visibility="PUBLIC")
    versions = []
    async with asyncio.timeout(120):
        async for update in ann.updates(match["id"], after=0):
            versions.append(update["version"])
            match = update["match"]
            legal = match["you"]["legal"]
            if (await ann.match(match["id"]))["version"] != match["version"]:
                continue  # told of the past
            if legal["flip"] or legal["shows"] or (legal["scout"] or {}).get("ends"):
                await ann.act(match)

    assert match["status"] == "FINISHED"
    assert versions == list(range(1, versions[-1] + 1))


async def test_matches_of_bots_on_every_shard_end_and_are_listed(ann):
    matches = [await ann.create(BOT, BOT, BOT, visibility="PUBLIC") for _ in range(6)]
    for match in matches:
        assert (await until_finished(ann, match["id"]))["winners"]

    listed = await ann.data("{ matches(status: FINISHED, first: 50) { edges { node { id } } } }")
    found = {edge["node"]["id"] for edge in listed["matches"]["edges"]}
    assert found >= {match["id"] for match in matches}


async def test_a_series_is_counted(ann):
    made = await ann.data(
        """mutation { createSeries(input: {seats: ["casual", "casual"], matches: 4})
        { series { id } } }"""
    )
    series_id = made["createSeries"]["series"]["id"]
    async with asyncio.timeout(90):
        while True:
            found = await ann.data("query ($i: ID!) { series(id: $i) { status } }", i=series_id)
            if found["series"]["status"] == "FINISHED":
                break
            await asyncio.sleep(0.2)


async def test_a_seat_that_nobody_uses_is_freed_and_a_code_leads_to_it(on_cluster, ann):
    match = await ann.create(PLAYER, OPEN, OPEN)
    async with Client(on_cluster.url) as bob:
        await bob.sign_in("Bob")
        joined = await bob.join(joinCode=match["joinCode"], name="Bob")
        assert joined["userErrors"] == []
    kinds: list[str] = []
    async with asyncio.timeout(20):
        while kinds != ["PLAYER", "OPEN", "OPEN"]:
            await asyncio.sleep(0.1)
            found = await ann.match(match["id"])
            kinds = [seat["kind"] for seat in found["seats"]]


async def test_tokens_are_revoked_and_limits_are_kept(on_cluster, ann):
    made = await ann.data(
        """mutation { createToken(input: {name: "t", scopes: [BOT]})
        { token accessToken { id } } }"""
    )
    async with Client(on_cluster.url) as bot:
        bot.token = made["createToken"]["token"]
        assert "errors" not in await bot.post(LISTED)
        revoke = "mutation ($t: ID!) { revokeToken(tokenId: $t) { userErrors { code } } }"
        await ann.data(revoke, t=made["createToken"]["accessToken"]["id"])
        async with asyncio.timeout(10):
            while "errors" not in await bot.post(LISTED):  # noqa: ASYNC110 - nothing tells
                await asyncio.sleep(0.05)
    seats = "{seats: [{kind: PLAYER}, {kind: OPEN}]}"
    query = f"mutation {{ createMatch(input: {seats}) {{ match {{ id }} }} }}"
    headers = {"authorization": f"Bearer {ann.token}"}
    codes = []
    for _ in range(25):
        answer = await ann.http.post("/graphql", json={"query": query}, headers=headers)
        codes.append(answer.status_code)
    assert set(codes) == {200, 429}


@pytest.mark.parametrize(
    ("redis", "broker", "told"),
    [
        ("redis+cluster://a:1,b:2", None, "set RINGMASTER_BROKER_URL to a single Redis"),
        ("redis://a", "redis+cluster://a:1", "a Cluster cannot carry Celery's queues"),
        ("redis+sentinel://a:1,b:2", None, "the name of the service is missing"),
        ("redis+sentinel://a:1,b:2/s/x", None, "the database is a number"),
        ("redis+cluster://a:1/3", "redis://a", "a Cluster has one database"),
        ("redis+cluster://,b:2", "redis://a", "a host is missing"),
        ("redis+cluster://a:x", "redis://a", "RINGMASTER_REDIS_URL"),
        ("http://a", None, "not the URL of a Redis"),
    ],
)
def test_a_wrong_address_is_told_in_one_line_at_the_start(monkeypatch, redis, broker, told):
    monkeypatch.setenv("RINGMASTER_REDIS_URL", redis)
    if broker:
        monkeypatch.setenv("RINGMASTER_BROKER_URL", broker)

    with pytest.raises(SystemExit) as caught:
        read_settings()

    lines = str(caught.value).splitlines()
    assert len(lines) == 2
    assert told in lines[1]
