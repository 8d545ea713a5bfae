"""Series over GraphQL on the real stack: what is answered, and how all else is refused."""

import json
import re

import pytest

from engine.audit import audit
from tests import series
from tests.client import Client


async def finished(client: Client, *seats: str, **more) -> dict:
    """A series at its end."""
    begun = await series.create(client, *seats, **more)
    last = begun
    async for update in series.updates(client, begun["id"]):
        last = update["series"]
    assert last["status"] == "FINISHED"
    return last


async def refusal(client: Client, *seats: str, **more) -> dict:
    payload = await series.try_to_create(client, *seats, **{"matches": 3, **more})
    (error,) = payload["userErrors"]
    assert payload["series"] is None
    assert error["message"]
    return error


async def test_a_new_series_tells_what_was_asked_for(client):
    payload = await series.try_to_create(
        client, "regular", "casual", matches=2, clientMutationId="c"
    )
    begun = payload["series"]

    assert payload["clientMutationId"] == "c"
    assert re.fullmatch(r"s[0-9a-f]-[A-Za-z0-9_-]{16}", begun["id"])
    assert (begun["status"], begun["version"], begun["played"]) == ("RUNNING", 1, 0)
    assert (begun["seats"], begun["matches"]) == (["regular", "casual"], 2)
    assert (begun["rotate"], begun["duplicateDeals"], begun["replays"]) == (True, True, False)
    assert [line["level"] for line in begun["results"]] == ["regular", "casual"]
    assert {line["winShare"] for line in begun["results"]} == {None}


async def test_a_series_is_played_and_told(client):
    last = await finished(client, "regular", "casual", matches=5, replays=True)

    results = await series.all_results(client, last["id"])
    assert sorted(r["number"] for r in results) == [1, 2, 3, 4, 5]
    assert {r["number"]: r["deal"] for r in results} == {1: 1, 2: 1, 3: 2, 4: 2, 5: 3}
    assert {r["number"]: r["seating"] for r in results}[2] == [1, 0]
    assert sum(line["wins"] for line in last["results"]) == pytest.approx(5)
    assert last["results"][0]["winShareInterval"] is not None

    query = "query ($s: ID!, $n: Int!) { seriesReplay(seriesId: $s, number: $n) }"
    document = json.loads((await client.data(query, s=last["id"], n=4))["seriesReplay"])
    assert audit(document) == []
    told = next(r for r in results if r["number"] == 4)
    assert (document["totals"], document["winners"]) == (told["totals"], told["winners"])
    assert [seat["botLevel"] for seat in document["seats"]] == ["casual", "regular"]
    for number in (0, 6, -1):
        assert (await client.data(query, s=last["id"], n=number))["seriesReplay"] is None

    pages = await series.page(client, last["id"], 2)
    assert pages["pageInfo"]["hasNextPage"]
    assert [edge["node"] for edge in pages["edges"]] == results[:2]
    rest = await series.page(client, last["id"], 100, pages["pageInfo"]["endCursor"])
    assert [edge["node"] for edge in rest["edges"]] == results[2:]
    assert not rest["pageInfo"]["hasNextPage"]
    assert rest["pageInfo"]["hasPreviousPage"]


async def test_a_series_is_a_node_and_its_creators_alone(client, stack):
    begun = await series.create(client, "regular", "regular", matches=1, replays=True)
    node = "query ($s: ID!) { node(id: $s) { __typename id } }"

    found = (await client.data(node, s=begun["id"]))["node"]
    assert found == {"__typename": "Series", "id": begun["id"]}
    async with Client(stack.url) as other:
        for name in (None, "Bob"):
            if name is not None:
                await other.sign_in(name)
                payload = await series.cancel(other, begun["id"])
                assert payload["userErrors"][0]["code"] == "NOT_FOUND"
            assert await series.look(other, begun["id"]) is None
            assert (await other.data(node, s=begun["id"]))["node"] is None
            with pytest.raises(AssertionError, match="NOT_FOUND"):
                await anext(series.updates(other, begun["id"]))


@pytest.mark.parametrize(
    ("seats", "more", "field"),
    [
        (["regular"], {}, "seats"),
        (["regular"] * 6, {}, "seats"),
        ([], {}, "seats"),
        (["regular", "nonsense"], {}, "seats"),
        (["regular"] * 2, {"matches": 0}, "matches"),
        (["regular"] * 2, {"matches": -5}, "matches"),
        (["regular"] * 2, {"matches": 10_001}, "matches"),
        (["regular"] * 2, {"meta": {"expectedVersion": 1}}, "expectedVersion"),
        (["regular"] * 2, {"meta": {"idempotencyKey": ""}}, "idempotencyKey"),
    ],
)
async def test_what_cannot_be_played_is_refused(client, seats, more, field):
    error = await refusal(client, *seats, **more)

    assert (error["code"], error["path"]) == ("INVALID_INPUT", [field])


async def test_without_a_sign_in_there_is_no_series(stack):
    async with Client(stack.url) as nobody:
        query = """mutation { createSeries(input: {seats: ["regular", "regular"], matches: 1})
                   { userErrors { code } } }"""
        answer = await nobody.post(query)
    assert answer["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"


async def test_a_key_makes_one_series_and_is_for_one_request(client):
    async def again(**more) -> dict:
        seats = ("regular", "regular")
        fields = {"matches": 2, "meta": {"idempotencyKey": "k-1"}, **more}
        return await series.try_to_create(client, *seats, **fields)

    first = await again()

    assert await again() == first
    assert (await again(matches=3))["userErrors"][0]["code"] == "KEY_REUSED"
    match = await client.create_with_bots(3)
    move = await client.choose(match["id"], idempotencyKey="k-1")
    assert move["userErrors"][0]["code"] == "KEY_REUSED"


async def test_four_series_may_run_at_once(client):
    begun = [await series.create(client, *["regular"] * 5, matches=9000) for _ in range(4)]

    assert (await refusal(client, "regular", "regular"))["code"] == "TOO_MANY_SERIES"
    for one in begun:
        await series.cancel(client, one["id"])
    last = await series.create(client, "regular", "regular", matches=1)
    assert last["status"] == "RUNNING"


@pytest.mark.parametrize(
    ("first", "after"), [(-1, None), (101, None), (1, "x"), (1, "!"), (1, "Y291bnRlZDotMQ==")]
)
async def test_a_page_that_is_none_is_refused(client, first, after):
    begun = await series.create(client, "regular", "regular", matches=1)

    answer = await client.post(series.PAGE, s=begun["id"], n=first, after=after)

    assert answer["errors"][0]["extensions"]["code"] == "INVALID_INPUT"


async def test_a_version_that_is_not_there_is_said_with_the_one_that_is(client):
    last = await finished(client, "regular", "regular", matches=1)

    with pytest.raises(AssertionError, match=r"CURSOR_EXPIRED.*'currentVersion': 2"):
        await anext(series.updates(client, last["id"], 7))
