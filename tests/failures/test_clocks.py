"""Players who are gone run out of time (kind 21), and what comes in that very moment (kind 8).

Of what comes at once the log's order decides; there is no undo.

Clocks that run out while everything is down: tests/failures/test_restarts.py; by a clock of the
test's own: tests/api/test_away.py.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from api.store import keys
from api.store.connections import connect
from engine.audit import audit
from tests.conftest import Stack, until_finished
from tests.failures.people import BOT, PLAYER, Person, people, sit_down

TURN = 5  # seconds, the shortest clock there is
RETURN = """mutation ($m: ID!, $meta: MoveMeta) { returnToMatch(matchId: $m, meta: $meta) {
  match { version seats { away } } userErrors { code } } }"""


async def version_in_store(stack: Stack, match_id: str, version: int, seconds: float) -> None:
    """Wait until the log has a version, without anybody's being connected to the API."""
    redis = connect(stack.redis_url)
    async with asyncio.timeout(seconds):
        while await redis.xlen(keys.log(match_id)) < version:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    await redis.aclose()


async def updates(person: Person, match_id: str, after: int = 0) -> list[dict[str, Any]]:
    page = await person.rest.get(f"/matches/{match_id}/updates", after=after, first=50)
    found: list[dict[str, Any]] = page.json()["updates"]
    return found


def events(told: list[dict[str, Any]], kind: str) -> list[tuple[str, dict[str, Any]]]:
    """The events of a kind, each with the date of its update."""
    return [(u["at"], e) for u in told for e in u["events"] if e["type"] == kind]


async def test_with_nobody_connected_a_turn_runs_out_at_its_deadline_and_once(stack):
    async with people(stack, 2) as players:
        match_id = await sit_down(players, turnSeconds=TURN)
        begun = await players[0].match(match_id)
    await version_in_store(stack, match_id, begun["version"] + 2, TURN + 20)

    async with people(stack, 1) as (eve,):
        told = await updates(eve, match_id)
        ran_out = events(told, "TurnExpired")
        deadline = datetime.fromisoformat(begun["round"]["deadline"])
        assert [datetime.fromisoformat(at) for at, _ in ran_out[:2]] == [deadline, deadline]
        assert sorted(event["seat"] for _, event in ran_out[:2]) == [0, 1]
        chosen = [event["seat"] for _, event in events(told, "HandChosen")]
        assert sorted(chosen) == [0, 1]
        assert datetime.now(UTC) > deadline


async def seen_away(person: Person, match_id: str) -> bool:
    """Whether seat 1 is away, the same by both transports."""
    seats = (await person.match(match_id))["seats"]
    match = await person.graphql.match(match_id)
    assert match
    assert match["seats"][1]["away"] is seats[1]["away"]
    assert (seats[1]["kind"], seats[1]["name"], seats[1]["botLevel"]) == ("PLAYER", "P1", None)
    away: bool = seats[1]["away"]
    return away


async def play_until(
    ann: Person, match_id: str, after: int, found: Callable[[dict[str, Any]], bool]
) -> int:
    """Ann plays whenever she is to, until something has happened; the version of that."""
    await play(ann, match_id)  # it may be her turn already
    async for event in ann.rest.events(f"/matches/{match_id}/updates", after=after):
        update = json.loads(event["data"])
        if any(map(found, update["events"])):
            return int(update["version"])
        await play(ann, match_id)
    raise AssertionError("the match ended before")


async def play(ann: Person, match_id: str) -> None:
    match = await ann.match(match_id)
    mine = match["round"]["turn"] == 0 or match["you"]["legal"]["flip"]
    if mine and match["status"] in ("CHOOSING", "PLAYING"):
        await ann.rest.act(match)


def handed_over(event: dict[str, Any]) -> bool:
    return bool(event["type"] == "SeatHandedToBot")


def of_bobs_seat(event: dict[str, Any]) -> bool:
    return event["type"] in ("HandChosen", "SetShown", "CardScouted") and event["seat"] == 1


async def test_a_bot_plays_for_who_is_gone_until_the_return(stack):
    async with people(stack, 2) as (ann, bob):
        match_id = await sit_down([ann, bob], turnSeconds=TURN)
        async with asyncio.timeout(4 * TURN + 60):
            handed = await play_until(ann, match_id, 0, handed_over)
        assert await seen_away(ann, match_id)
        async with asyncio.timeout(30):
            played = await play_until(ann, match_id, handed, of_bobs_seat)
        told = await updates(ann, match_id)
        bobs = [u["version"] for u in told if {"type": "TurnExpired", "seat": 1} in u["events"]]
        assert len(bobs) == 3
        assert bobs[-1] == handed < played  # no clock ran out for what the bot played

        meta = {"idempotencyKey": "back-1"}
        versions = set()
        for _ in range(2):
            back = (await bob.graphql.data(RETURN, m=match_id, meta=meta))["returnToMatch"]
            assert back["userErrors"] == []
            assert not back["match"]["seats"][1]["away"]
            versions.add(back["match"]["version"])
        again = await bob.rest.post(f"/matches/{match_id}/return", idempotency_key="back-2")
        assert again.status_code == 200
        assert not await seen_away(bob, match_id)
        returned = events(await updates(ann, match_id, handed), "PlayerReturned")
        assert [event for _, event in returned] == [{"type": "PlayerReturned", "seat": 1}]
        assert len(versions) == 1
        for by in (bob.by_graphql, bob.by_rest):
            assert (await by(match_id, "join", {"name": "Else"}))[0] == "OK"


async def test_a_move_a_resignation_and_the_deadline_in_one_moment_have_one_outcome(stack):
    async with people(stack, 1) as (ann,):
        matches = [
            await ann.rest.create(PLAYER, BOT, visibility="PUBLIC", turnSeconds=TURN)
            for _ in range(6)
        ]

        async def collide(number: int, match: dict[str, Any]) -> tuple[str, str, str]:
            deadline = datetime.fromisoformat(match["round"]["deadline"])
            # About when the house finds the clock run out: a little earlier or later each.
            moment = deadline.timestamp() + 0.08 * number
            await asyncio.sleep(max(0, moment - datetime.now(UTC).timestamp()))
            (moved, _), (again, _), (left, _) = await asyncio.gather(
                ann.by_graphql(match["id"], "hand", {"flip": False}),
                ann.by_rest(match["id"], "hand", {"flip": True}),
                ann.by_graphql(match["id"], "leave"),
            )
            return moved, again, left

        codes = await asyncio.gather(*(collide(n, match) for n, match in enumerate(matches)))
        for match, (moved, again, left) in zip(matches, codes, strict=True):
            assert left == "OK"
            assert {moved, again} <= {"OK", "HAND_ALREADY_CHOSEN", "NOT_SEATED", "WRONG_PHASE"}
            assert [moved, again].count("OK") <= 1
            assert (await until_finished(ann.graphql, match["id"]))["winners"]
            replay = (await ann.rest.get(f"/matches/{match['id']}/replay")).json()
            assert audit(replay) == []
            round_one = [e for v in replay["log"] for e in v["events"]]
            round_one = round_one[: [e["type"] for e in round_one].index("RoundEnded")]
            hers = Counter(e["type"] for e in round_one if e.get("seat") == 0)
            assert (hers["HandChosen"], hers["PlayerLeft"]) == (1, 1)
            if "OK" in (moved, again):
                assert hers["TurnExpired"] == 0
                assert replay["rounds"][0]["flipped"][0] is (again == "OK")
