"""Advice over the public API: for one's own seat alone, where the match allows it."""

from typing import Any

import pytest

from tests.api.test_graphql import OPEN, PLAYER, on_turn
from tests.client import Client

ADVICE = """query ($m: ID!, $level: String! = "expert", $first: Int) {
  advice(matchId: $m, level: $level, first: $first) {
    advice { action { type flip end insertAt first count } points win reason }
    userErrors { code message path }
  }
}"""


async def ask(client: Client, match_id: str, **more: Any) -> dict[str, Any]:
    return (await client.data(ADVICE, m=match_id, **more))["advice"]


def code(payload: dict[str, Any]) -> str:
    (error,) = payload["userErrors"]
    assert payload["advice"] == []
    return error["code"]


async def follow(client: Client, match_id: str, action: dict[str, Any]) -> dict[str, Any]:
    """Do what was advised."""
    first, count, end, gap, flip = (
        action[name] for name in ("first", "count", "end", "insertAt", "flip")
    )
    match action["type"]:
        case "CHOOSE_HAND":
            return await client.choose(match_id, flip)
        case "SHOW":
            return await client.show(match_id, first, count)
        case "SCOUT":
            return await client.scout(match_id, end, gap, flip)
        case "SCOUT_AND_SHOW":
            scout = {"end": end, "insertAt": gap, "flip": flip}
            return await client.scout_and_show(match_id, scout, {"first": first, "count": count})
    raise AssertionError(action)


@pytest.mark.parametrize("level", ["regular", "skilled", "expert"])
async def test_a_player_who_follows_advice_plays_a_match_to_its_end(client, level):
    match = await client.create_with_bots(3, advice=True)
    async for update in client.updates(match["id"]):
        match = update["match"]
        now = await client.match(match["id"])
        is_due = match["you"]["legal"]["flip"] or match["round"]["turn"] == match["you"]["seat"]
        if not is_due or now is None or now["version"] != match["version"]:
            continue  # others are to act, or this update is of the past
        found = await ask(client, match["id"], level=level, first=3)
        assert found["userErrors"] == []
        assert len(found["advice"]) <= 3
        assert found["advice"]
        points = [one["points"] for one in found["advice"]]
        wins = [one["win"] for one in found["advice"]]
        is_last = match["round"]["number"] == 3
        assert (None in wins) != is_last
        if level == "expert" and not is_last:
            assert points == sorted(points, reverse=True)
        payload = await follow(client, match["id"], found["advice"][0]["action"])
        assert payload["userErrors"] == [], found

    assert match["status"] == "FINISHED"


async def test_without_it_in_the_match_there_is_no_advice(client):
    match = await on_turn(client)

    assert code(await ask(client, match["id"])) == "FORBIDDEN"
    told = await client.data("query ($m: ID!) { match(id: $m) { adviceAllowed } }", m=match["id"])
    assert told == {"match": {"adviceAllowed": False}}


@pytest.fixture
async def bob(stack):
    """A second guest."""
    async with Client(stack.url) as client:
        await client.sign_in("Bob")
        yield client


async def test_advice_is_for_those_seated(client, bob):
    public = await client.create(PLAYER, OPEN, visibility="PUBLIC", advice=True)
    private = await client.create(PLAYER, OPEN, advice=True)

    assert code(await ask(bob, public["id"])) == "NOT_SEATED"
    assert code(await ask(bob, private["id"])) == "NOT_FOUND"
    assert code(await ask(client, "m0-aaaaaaaaaaaaaaaa")) == "NOT_FOUND"
    # Nothing is due yet.
    assert await ask(client, private["id"]) == {"advice": [], "userErrors": []}


async def test_what_is_wrong_with_a_question_is_told(client):
    match = await on_turn(client, advice=True)

    assert code(await ask(client, match["id"], level="grandmaster")) == "INVALID_INPUT"
    assert code(await ask(client, match["id"], first=-1)) == "INVALID_INPUT"
    anybody = Client(client.url)
    answer = await anybody.post(ADVICE, m=match["id"])
    await anybody.http.aclose()
    assert answer["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"
