"""Many at once (kinds 7 and 9): fifty writers of one match, two hundred who join and leave.

By GraphQL and REST in the same moment. With idempotency keys, and in one process alone:
tests/api/test_idempotency.py, test_service.py and test_rest.py.
"""

import asyncio
from collections import Counter
from random import Random
from typing import Any

import httpx

from tests.conftest import Stack
from tests.failures.people import OPEN, PLAYER, begin, people
from tests.rest_client import RestClient

JOIN = """mutation ($m: ID!, $n: String!) { joinMatch(input: {matchId: $m, name: $n}) {
  match { version you { seat } } userErrors { code } } }"""
LEAVE = (
    """mutation ($m: ID!) { leaveMatch(matchId: $m) { match { version } userErrors { code } } }"""
)


async def test_fifty_writers_by_both_transports_make_one_move_a_turn(stack):
    async with people(stack, 3) as players:
        match_id, _ = await begin(players)
        first = await players[0].match(match_id)
        moves: list[tuple[str, dict[str, Any]]] = [
            ("show", {"first": 0, "count": 1}),
            ("scout", {"end": "LEFT", "insertAt": 0, "flip": True}),
        ]

        async def write(number: int) -> str:
            person, (what, body) = players[number % 3], moves[number // 3 % 2]
            by = person.by_graphql if number // 6 % 2 else person.by_rest
            return (await by(match_id, what, body))[0]

        codes = Counter(await asyncio.gather(*(write(number) for number in range(50))))
        after = await players[0].match(match_id)
        since = first["version"]
        page = (await players[0].rest.get(f"/matches/{match_id}/updates", after=since)).json()

    refusals = {"NOT_YOUR_TURN", "NO_ACTIVE_SET", "SET_TOO_LOW", "STALE_VERSION", "WRONG_PHASE"}
    assert codes["OK"] >= 1
    assert set(codes) <= {"OK", *refusals}
    turn = first["round"]["turn"]
    moved = [e["seat"] for u in page["updates"] for e in u["events"] if "seat" in e]
    moved = moved[: codes["OK"]]  # what follows a round's end is the house's
    assert moved == [(turn + n) % 3 for n in range(codes["OK"])]
    assert after["version"] >= since + codes["OK"]


async def sign_in(http: httpx.AsyncClient, number: int) -> dict[str, str]:
    answer = await http.post("/v1/guests", json={"name": f"C{number}"})
    assert answer.status_code == 201
    return {"authorization": f"Bearer {answer.json()['token']}"}


async def come_and_go(
    http: httpx.AsyncClient, headers: dict[str, str], match_id: str, number: int
) -> tuple[list[str], int | None]:
    """Join and leave some times; the codes, and the seat that was kept in the end."""
    chance, codes, seat = Random(number), [], None

    async def graphql(query: str, **variables: str) -> Any:
        body = {"query": query, "variables": {"m": match_id, **variables}}
        answer = (await http.post("/graphql", json=body, headers=headers)).json()
        (payload,) = answer["data"].values()
        codes.append((payload["userErrors"] or [{"code": "OK"}])[0]["code"])
        return payload["match"]

    async def rest(what: str, body: Any = None) -> Any:
        path = f"/v1/matches/{match_id}/{what}"
        answer = await http.post(path, json=body, headers=headers)
        codes.append("OK" if answer.status_code == 200 else answer.json()["code"])
        return answer.json() if answer.status_code == 200 else None

    for _ in range(3):
        by_rest = chance.random() < 0.5
        name = f"C{number}"
        joined = await (rest("join", {"name": name}) if by_rest else graphql(JOIN, n=name))
        if joined:
            seat = joined["you"]["seat"]
        if seat is not None and chance.random() < 0.9:
            left = await (graphql(LEAVE) if by_rest else rest("leave"))
            seat = None if left else seat
    return codes, seat


async def test_two_hundred_who_come_and_go_never_sit_twice_nor_on_one_seat(stack: Stack):
    async with RestClient(stack.url) as host:
        host.http.timeout = httpx.Timeout(90)
        await host.sign_in("Host")
        match = await host.create(PLAYER, *[OPEN] * 4, visibility="PUBLIC")
        guests = [await sign_in(host.http, number) for number in range(200)]
        outcomes = await asyncio.gather(
            *(come_and_go(host.http, g, match["id"], n) for n, g in enumerate(guests))
        )
        after = (await host.get(f"/matches/{match['id']}")).json()
        updates, version = [], 0
        while version < after["version"]:
            page = await host.get(f"/matches/{match['id']}/updates", after=version)
            updates += page.json()["updates"]
            version = updates[-1]["version"]
        listed = [
            edge["node"]["id"]
            for edge in (await host.get("/matches", status="LOBBY", first=50)).json()["edges"]
        ]

    codes = Counter(code for tried, _ in outcomes for code in tried)
    assert set(codes) <= {"OK", "MATCH_FULL", "STALE_VERSION", "NOT_SEATED"}
    assert codes["OK"] >= 4
    seats: dict[int, str] = {0: "Host"}
    for update in updates:
        assert len(seats) <= 5
        for event in update["events"]:
            if event["type"] == "PlayerJoined":
                assert event["seat"] not in seats
                assert event["name"] not in seats.values()
                seats[event["seat"]] = event["name"]
            elif event["type"] == "PlayerLeft":
                del seats[event["seat"]]
    kept = {seat: f"C{number}" for number, (_, seat) in enumerate(outcomes) if seat is not None}
    people_now = {s["number"]: s["name"] for s in after["seats"] if s["kind"] == "PLAYER"}
    assert {0: "Host", **kept} == seats == people_now
    assert (match["id"] in listed) == (after["status"] == "LOBBY")
