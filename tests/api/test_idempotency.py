"""Every mutation takes a key: the same request again changes nothing and is answered alike."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.client import Client
from tests.rest_client import RestClient

PLAYER, OPEN, BOT = {"kind": "PLAYER"}, {"kind": "OPEN"}, {"kind": "BOT"}


def keyed(key: str, **more: Any) -> dict[str, Any]:
    return {"meta": {"idempotencyKey": key, **more}}


async def create(client: Client, key: str, *seats: dict, **more: Any) -> dict[str, Any]:
    input_ = {"seats": list(seats or (PLAYER, OPEN, OPEN)), **keyed(key), **more}
    return await client.payload("createMatch", "CreateMatchInput", input_)


async def by_id(client: Client, operation: str, match_id: str, key: str, **meta: Any) -> Any:
    query = f"""mutation ($m: ID!, $meta: MoveMeta) {{ {operation}(matchId: $m, meta: $meta) {{
        match {{ version seats {{ kind name }} you {{ seat }} status }}
        userErrors {{ code path }} }} }}"""
    data = await client.data(query, m=match_id, **keyed(key, **meta))
    return data[operation]


def codes(payload: dict[str, Any]) -> list[str]:
    return [error["code"] for error in payload["userErrors"]]


async def test_a_match_is_opened_once_under_a_key(client):
    first = await create(client, "open-1", PLAYER, BOT, BOT)
    again = await create(client, "open-1", PLAYER, BOT, BOT)

    assert first["userErrors"] == []
    assert again == first
    assert codes(await create(client, "open-1", PLAYER, BOT)) == ["KEY_REUSED"]


async def test_twenty_attempts_at_once_open_one_match(client):
    payloads = await asyncio.gather(*(create(client, "open-2") for _ in range(20)))

    assert all(payload == payloads[0] for payload in payloads)
    assert payloads[0]["match"]["version"] == 1


async def test_keys_of_others_are_others(client, stack):
    async with Client(stack.url) as bob:
        await bob.sign_in("Bob")

        mine, theirs = await create(client, "open-3"), await create(bob, "open-3")

    assert mine["match"]["id"] != theirs["match"]["id"]


async def test_joining_leaving_and_starting_happen_once_under_a_key(client, stack):
    match_id = (await create(client, "open-4", visibility="PUBLIC"))["match"]["id"]
    async with Client(stack.url) as bob:
        await bob.sign_in("Bob")

        async def join() -> Any:
            return await bob.join(matchId=match_id, name="Bob", **keyed("join-1"))

        async def leave() -> Any:
            return await by_id(bob, "leaveMatch", match_id, "leave-1")

        async def start() -> Any:
            return await by_id(client, "startMatch", match_id, "start-1")

        steps: tuple[Callable[[], Awaitable[Any]], ...] = (join, leave, start)
        for step in steps:
            first, again = await step(), await step()
            assert first["userErrors"] == []
            assert again == first
        assert codes(await bob.join(matchId=match_id, name="Rob", **keyed("join-1"))) == [
            "KEY_REUSED"
        ]
        # Long after: as it was answered then, though Bob has left since.
        assert (await join())["match"]["you"]["seat"] == 1
    assert codes(await by_id(client, "leaveMatch", match_id, "start-1")) == ["KEY_REUSED"]


async def test_what_changed_nothing_is_answered_alike_too(client, stack):
    match_id = (await create(client, "open-5", visibility="PUBLIC"))["match"]["id"]
    async with Client(stack.url) as bob, Client(stack.url) as cid:
        await bob.sign_in("Bob")
        await cid.sign_in("Cid")
        await bob.join(matchId=match_id, name="Bob")
        first = await bob.join(matchId=match_id, name="Bob", **keyed("join-2"))
        await cid.join(matchId=match_id, name="Cid")

        again = await bob.join(matchId=match_id, name="Bob", **keyed("join-2"))

    assert first["match"]["version"] == 2
    assert again == first


async def test_a_series_is_cancelled_once_under_a_key(client):
    created = await client.data(
        """mutation { createSeries(input: {seats: ["casual", "casual"], matches: 500,
             meta: {idempotencyKey: "series-1"}}) { series { id } } }"""
    )
    cancel = """mutation ($s: ID!) { cancelSeries(seriesId: $s, meta: {idempotencyKey: "end-1"}) {
        series { id status version } userErrors { code } } }"""
    series_id = created["createSeries"]["series"]["id"]

    first = await client.data(cancel, s=series_id)
    again = await client.data(cancel, s=series_id)
    other = await client.data(cancel, s="s0-AAAAAAAAAAAAAAAA")

    assert first["cancelSeries"]["series"]["status"] == "CANCELLED"
    assert again == first
    assert codes(other["cancelSeries"]) == ["KEY_REUSED"]


@pytest.mark.parametrize("version", [-1, 0])
async def test_a_version_that_cannot_be_is_an_input_error(client, version):
    match_id = (await client.create_with_bots(3))["id"]

    payload = await client.choose(match_id, expectedVersion=version)

    assert codes(payload) == ["INVALID_INPUT"]
    assert payload["userErrors"][0]["path"] == ["expectedVersion"]


async def test_what_does_not_exist_yet_has_no_version(client):
    payload = await client.payload(
        "createMatch",
        "CreateMatchInput",
        {"seats": [PLAYER, BOT], "meta": {"expectedVersion": 1}},
    )

    assert payload["userErrors"][0]["path"] == ["expectedVersion"]


async def test_what_was_left_out_is_what_it_stands_for_by_either_transport(client, stack):
    body = {"seats": [PLAYER, OPEN]}
    spelled = {**body, "visibility": "PRIVATE", "advice": False}
    async with RestClient(stack.url) as rest:
        rest.http.headers["authorization"] = f"Bearer {client.token}"
        by_graphql = await create(client, "both-1", PLAYER, OPEN)
        answers = [
            await rest.post("/matches", b, idempotency_key="both-1") for b in (body, spelled)
        ]

    assert [answer.status_code for answer in answers] == [201, 201]
    assert {answer.json()["id"] for answer in answers} == {by_graphql["match"]["id"]}
