"""Tokens over GraphQL against the real stack: what each scope may do, what ends with a token."""

import asyncio
import json
import subprocess
import sys
import time
from contextlib import aclosing

import httpx
import pytest

from tests import series
from tests.client import MATCH, Client, messages, subscribe
from tests.conftest import Stack

PLAYER, OPEN, BOT = {"kind": "PLAYER"}, {"kind": "OPEN"}, {"kind": "BOT"}
TOKEN = "id name scopes createdAt expiresAt current"
CREATE = f"""mutation ($i: CreateTokenInput!) {{ createToken(input: $i) {{
  token accessToken {{ {TOKEN} }} clientMutationId userErrors {{ code path message }} }} }}"""
REVOKE = """mutation ($t: ID!, $m: MoveMeta) { revokeToken(tokenId: $t, meta: $m) {
  tokenId userErrors { code path } } }"""
LIST = f"query ($p: ID) {{ tokens(playerId: $p) {{ {TOKEN} }} }}"
SIGN_IN = """mutation ($n: String!, $k: String) { signInAsGuest(name: $n, idempotencyKey: $k) {
  token playerId userErrors { code path } } }"""


async def create(client: Client, *scopes: str, **more) -> dict:
    input_ = {"name": "mine", "scopes": list(scopes), **more}
    return (await client.data(CREATE, i=input_))["createToken"]


async def revoke(client: Client, token_id: str, **meta) -> dict:
    return (await client.data(REVOKE, t=token_id, m=meta or None))["revokeToken"]


async def listed(client: Client) -> list[dict]:
    return (await client.data(LIST))["tokens"]


def codes(payload: dict) -> list[str]:
    return [error["code"] for error in payload["userErrors"]]


async def refused(client: Client, query: str, **variables) -> str:
    (error,) = (await client.post(query, **variables))["errors"]
    return error["extensions"]["code"]


def with_token(stack: Stack, token: str) -> Client:
    client = Client(stack.url)
    client.token = token
    return client


def operator(stack: Stack, *scopes: str) -> str:
    wanted = [word for scope in scopes or ("operate",) for word in ("--scope", scope)]
    ran = subprocess.run(
        [sys.executable, "-m", "api.cli.main", "token", "Op", *wanted],
        env={"RINGMASTER_REDIS_URL": stack.redis_url},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert ran.stderr == ""
    return ran.stdout.strip()


@pytest.fixture
async def spectator(client, stack):
    """The client's own player, with a token that may only look."""
    async with with_token(stack, (await create(client, "SPECTATE"))["token"]) as spectator:
        yield spectator


@pytest.fixture
async def bot(client, stack):
    """The client's own player, with a token for a bot."""
    async with with_token(stack, (await create(client, "BOT"))["token"]) as bot:
        yield bot


async def test_a_token_is_made_listed_and_revoked(client, stack):
    payload = await create(client, "BOT", "SPECTATE", expiresInSeconds=60, clientMutationId="c")
    made = payload["accessToken"]

    assert payload["userErrors"] == []
    assert payload["clientMutationId"] == "c"
    assert made["scopes"] == ["BOT", "SPECTATE"]
    assert not made["current"]
    own, first = await listed(client)
    assert own == made
    assert (first["name"], first["scopes"], first["current"]) == ("Ann", ["PLAY"], True)
    async with with_token(stack, payload["token"]) as other:
        assert await other.data("{ botLevels { name } matches(first: 1) { edges { cursor } } }")
        assert await revoke(client, made["id"]) == {"tokenId": made["id"], "userErrors": []}
        assert await refused(other, "{ matches { edges { cursor } } }") == "UNAUTHENTICATED"
    assert await listed(client) == [first]


async def test_a_token_that_looks_sees_what_everybody_may(client, spectator):
    private = await client.create(PLAYER, OPEN)
    public = await client.create_with_bots(3, visibility="PUBLIC")
    series_id = (await series.create(client, *["casual"] * 2, matches=1))["id"]

    assert await spectator.match(private["id"]) is None
    seen = await spectator.match(public["id"])
    assert (seen["you"], seen["joinCode"]) == (None, None)
    async with aclosing(spectator.updates(public["id"], 0)) as updates:
        assert (await anext(updates))["match"]["you"] is None
    query = "query ($s: ID!) { series(id: $s) { id } }"
    assert (await spectator.data(query, s=series_id))["series"] is None
    assert (await spectator.data("query ($s: ID!) { node(id: $s) { id } }", s=private["id"]))[
        "node"
    ] is None
    async with spectator.socket() as ws:
        await subscribe(ws, "1", private["id"])
        message = await anext(messages(ws))
    assert message["payload"][0]["extensions"]["code"] == "NOT_FOUND"


async def test_a_token_that_looks_changes_nothing(client, spectator):
    match = await client.create(PLAYER, OPEN, OPEN, visibility="PUBLIC")
    scout = {"end": "LEFT", "insertAt": 0, "flip": False}

    for payload in (
        await spectator.payload("createMatch", "CreateMatchInput", {"seats": [PLAYER, BOT]}),
        await spectator.join(matchId=match["id"], name="Ann"),
        await spectator.by_id("leaveMatch", match["id"]),
        await spectator.by_id("startMatch", match["id"]),
        await spectator.choose(match["id"]),
        await spectator.show(match["id"], 0, 1),
        await spectator.scout(match["id"], "LEFT", 0, flip=False),
        await spectator.scout_and_show(match["id"], scout, {"first": 0, "count": 1}),
        await create(spectator, "SPECTATE"),
        await revoke(spectator, (await listed(client))[-1]["id"]),
        await cannot_have_series(spectator),
    ):
        assert codes(payload) == ["FORBIDDEN"]
    assert await refused(spectator, LIST) == "FORBIDDEN"
    advice = "query ($m: ID!) { advice(matchId: $m) { userErrors { code } } }"
    assert codes((await spectator.data(advice, m=match["id"]))["advice"]) == ["FORBIDDEN"]
    assert await client.match(match["id"]) == match


async def cannot_have_series(client: Client) -> dict:
    query = """mutation { createSeries(input: {seats: ["casual", "casual"], matches: 1}) {
        userErrors { code } } }"""
    return (await client.data(query))["createSeries"]


async def test_a_bot_plays_its_owners_seat_and_opens_nothing(client, bot, stack):
    async with Client(stack.url) as host:
        await host.sign_in("Host")
        match = await host.create(PLAYER, OPEN, BOT, visibility="PUBLIC")
        joined = await bot.join(matchId=match["id"], name="Ann's bot")
        assert joined["match"]["you"]["seat"] == 1
        chosen = await bot.choose(match["id"])

    assert chosen["userErrors"] == []
    assert len(chosen["match"]["you"]["hand"]) == 12
    assert (await client.match(match["id"]))["you"]["hand"] == chosen["match"]["you"]["hand"]
    for payload in (
        await bot.payload("createMatch", "CreateMatchInput", {"seats": [PLAYER, BOT]}),
        await bot.by_id("startMatch", match["id"]),
        await create(bot, "SPECTATE"),
        await revoke(bot, (await listed(client))[-1]["id"]),
        await cannot_have_series(bot),
    ):
        assert codes(payload) == ["FORBIDDEN"]
    assert await refused(bot, LIST) == "FORBIDDEN"
    assert (await bot.by_id("leaveMatch", match["id"]))["userErrors"] == []


@pytest.mark.parametrize(
    ("input_", "code", "path"),
    [
        ({"scopes": []}, "INVALID_INPUT", ["scopes"]),
        ({"scopes": ["OPERATE"]}, "FORBIDDEN", ["scopes"]),
        ({"name": ""}, "INVALID_INPUT", ["name"]),
        ({"expiresInSeconds": 0}, "INVALID_INPUT", ["expiresInSeconds"]),
        ({"expiresInSeconds": 7776001}, "FORBIDDEN", ["expiresInSeconds"]),
        ({"meta": {"idempotencyKey": "a b"}}, "INVALID_INPUT", ["idempotencyKey"]),
        ({"meta": {"expectedVersion": 1}}, "INVALID_INPUT", ["expectedVersion"]),
    ],
)
async def test_a_token_that_cannot_be_is_refused_by_field(client, input_, code, path):
    asked = {"name": "mine", "scopes": ["BOT"], **input_, "clientMutationId": "c"}
    payload = (await client.data(CREATE, i=asked))["createToken"]

    (error,) = payload["userErrors"]
    assert (error["code"], error["path"]) == (code, path)
    assert (payload["token"], payload["accessToken"]) == (None, None)
    assert payload["clientMutationId"] == "c"


async def test_a_token_made_again_under_its_key_is_the_same(client):
    meta = {"idempotencyKey": "token-1"}
    first = await create(client, "BOT", meta=meta)

    assert await create(client, "BOT", meta=meta) == first
    assert codes(await create(client, "SPECTATE", meta=meta)) == ["KEY_REUSED"]
    assert codes(await revoke(client, first["accessToken"]["id"], **meta)) == ["KEY_REUSED"]
    match = await client.create_with_bots(3)
    assert codes(await client.choose(match["id"], **meta)) == ["KEY_REUSED"]
    moved = await client.choose(match["id"], idempotencyKey="move-1")
    assert moved["userErrors"] == []
    assert codes(await create(client, "BOT", meta={"idempotencyKey": "move-1"})) == ["KEY_REUSED"]
    for _ in range(2):
        payload = await revoke(client, first["accessToken"]["id"], idempotencyKey="revoke-1")
        assert payload["userErrors"] == []
    assert (await create(client, "BOT", meta=meta))["token"] == first["token"]
    assert len(await listed(client)) == 1


async def test_a_sign_in_sent_again_under_its_key_is_the_same_player(stack):
    key = f"{time.time_ns():x}".ljust(32, "k")
    async with Client(stack.url) as one, Client(stack.url) as two:
        first, again = await asyncio.gather(
            one.data(SIGN_IN, n="Ann", k=key), two.data(SIGN_IN, n="Ann", k=key)
        )
        assert first == again
        assert first["signInAsGuest"]["token"]
        other = (await one.data(SIGN_IN, n="Bob", k=key))["signInAsGuest"]
        assert (codes(other), other["token"]) == (["KEY_REUSED"], None)
        for weak in ("", "k" * 31, "k" * 129, "k" * 31 + " ", "k" * 31 + "ü"):
            payload = (await one.data(SIGN_IN, n="Ann", k=weak))["signInAsGuest"]
            assert payload["userErrors"] == [{"code": "INVALID_INPUT", "path": ["idempotencyKey"]}]


async def test_nothing_that_opponents_or_owners_see_opens_anything(client, stack):
    match = await client.create(PLAYER, OPEN, visibility="PUBLIC")
    made = (await create(client, "BOT"))["accessToken"]
    page = await client.data("{ matches { edges { cursor } } }")
    async with Client(stack.url) as eve:
        for text in (
            *(match["id"], match["joinCode"], match["deckCommitment"], match["hash"]),
            *(client.player_id, made["id"], made["id"].split(".")[0], "0", "1", "Ann"),
            page["matches"]["edges"][0]["cursor"],
            (await series.create(client, *["casual"] * 2, matches=1))["id"],
        ):
            eve.token = text
            assert await refused(eve, "{ matches { edges { cursor } } }") == "UNAUTHENTICATED", text
            async with eve.socket() as ws:
                await subscribe(ws, "1", match["id"])
                message = await anext(messages(ws))
            assert message["payload"][0]["extensions"]["code"] == "UNAUTHENTICATED"


async def test_an_operator_lists_and_revokes_anybodys_tokens(client, stack):
    made = (await create(client, "BOT"))["accessToken"]
    async with with_token(stack, operator(stack)) as op, Client(stack.url) as eve:
        await eve.sign_in("Eve")
        own = (await op.data(LIST, p=client.player_id))["tokens"]
        assert [t["name"] for t in own] == ["mine", "Ann"]
        assert not any(t["current"] for t in own)
        assert await refused(eve, LIST, p=client.player_id) == "FORBIDDEN"
        assert codes(await revoke(eve, made["id"])) == ["NOT_FOUND"]
        assert (await revoke(op, made["id"]))["userErrors"] == []
        (mine,) = (await op.data(LIST))["tokens"]
        assert (mine["name"], mine["scopes"], mine["current"]) == ("Op", ["OPERATE"], True)
        made_by_op = await op.payload("createMatch", "CreateMatchInput", {"seats": [PLAYER, BOT]})
        assert codes(made_by_op) == ["FORBIDDEN"]
    assert [t["name"] for t in await listed(client)] == ["Ann"]


async def test_streams_over_a_socket_end_with_their_token_and_others_go_on(client, stack):
    match = await client.create(PLAYER, OPEN, visibility="PUBLIC")
    series_id = (await series.create(client, *["casual"] * 2, matches=10_000))["id"]
    made = await create(client, "BOT")
    async with with_token(stack, made["token"]) as bot, bot.socket() as ws, client.socket() as own:
        await subscribe(own, "own", match["id"])
        await subscribe(ws, "match", match["id"])
        query = "subscription ($s: ID!) { seriesUpdates(seriesId: $s) { version } }"
        payload = {"query": query, "variables": {"s": series_id}}
        await ws.send(json.dumps({"type": "subscribe", "id": "series", "payload": payload}))
        first = {(await anext(messages(ws)))["id"] for _ in range(2)}
        assert {"match", "series"} >= first

        began = time.monotonic()
        await revoke(client, made["accessToken"]["id"])
        ended: dict[str, list[str]] = {}
        async with asyncio.timeout(2):
            async for message in messages(ws):
                if message["type"] == "complete":
                    if {"match", "series"} <= ended.keys():
                        break
                elif errors := message["payload"].get("errors"):
                    ended[message["id"]] = [e["extensions"]["code"] for e in errors]
        assert time.monotonic() - began < 2
        assert ended == {"match": ["UNAUTHENTICATED"], "series": ["UNAUTHENTICATED"]}
        await client.by_id("startMatch", match["id"])
        assert (await anext(messages(own)))["id"] == "own"
    await series.cancel(client, series_id)


async def test_a_server_sent_stream_ends_with_its_token(client, stack):
    match = await client.create(PLAYER, OPEN, visibility="PUBLIC")
    made = await create(client, "SPECTATE")
    query = "subscription ($m: ID!) { matchUpdates(matchId: $m) { version } }"
    headers = {"accept": "text/event-stream", "authorization": f"Bearer {made['token']}"}
    body = {"query": query, "variables": {"m": match["id"]}}
    text = ""
    async with (
        httpx.AsyncClient(base_url=stack.url, timeout=5) as http,
        http.stream("POST", "/graphql", json=body, headers=headers) as answer,
    ):
        async for chunk in answer.aiter_text():
            text += chunk
            if '"version"' in text and "UNAUTHENTICATED" not in text:
                await revoke(client, made["accessToken"]["id"])

    assert text.index('"version"') < text.index('"UNAUTHENTICATED"') < text.index("event: complete")


async def test_a_stream_ends_when_its_token_expires(client, stack):
    match = await client.create(PLAYER, OPEN, visibility="PUBLIC")
    made = await create(client, "SPECTATE", expiresInSeconds=1)
    async with with_token(stack, made["token"]) as brief, brief.socket() as ws:
        await subscribe(ws, "1", match["id"])
        async with asyncio.timeout(3):
            async for message in messages(ws):
                if errors := message.get("payload", {}).get("errors"):
                    break
        assert errors[0]["extensions"]["code"] == "UNAUTHENTICATED"
        assert await refused(brief, "query { matches { edges { cursor } } }") == "UNAUTHENTICATED"


async def test_a_socket_opened_before_a_revocation_may_no_longer_ask(client, stack):
    match = await client.create(PLAYER, OPEN)
    made = await create(client, "BOT")
    async with with_token(stack, made["token"]) as bot, bot.socket() as ws:
        await revoke(client, made["accessToken"]["id"])
        query = "query ($m: ID!) { match(id: $m) { ...M } }" + MATCH
        payload = {"query": query, "variables": {"m": match["id"]}}
        await ws.send(json.dumps({"type": "subscribe", "id": "1", "payload": payload}))
        message = await anext(messages(ws))

    assert message["payload"]["data"]["match"] is None
    assert message["payload"]["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["Op", "--scope", "king"], "there are play, bot, spectate, operate"),
        (["a\u2028b", "--scope", "operate"], "printable characters"),
    ],
)
def test_a_token_that_cannot_be_is_not_made_by_the_command_either(stack, arguments, told):
    ran = subprocess.run(
        [sys.executable, "-m", "api.cli.main", "token", *arguments],
        env={"RINGMASTER_REDIS_URL": stack.redis_url, "PYTHONUTF8": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert ran.returncode != 0
    assert ran.stdout == ""
    assert told in ran.stderr
    assert "Traceback" not in ran.stderr
