"""Everything killed at once and started anew (kinds 12, 21, 22, 23): what was so, is so.

In the middle of what people do, with a match dealt and not begun, and with a clock that runs out
before the processes are back.
"""

import asyncio
import json
import signal
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.store import keys
from api.store.connections import connect
from engine.audit import audit
from engine.state import Status
from tests.api.test_tokens import LIST, create, refused, revoke
from tests.conftest import Stack, start_stack, until_finished
from tests.failures.people import BOT, OPEN, PLAYER, Person, people, sit_down
from tests.rest_client import RestClient

TURN, HOLD = 8, 3  # seconds
SERIES = {"seats": ["casual", "casual"], "matches": 5000}


@dataclass
class Before:
    """What there was when everything was killed."""

    people: list[Person]
    dealt: str
    hands: list[str]
    clocked: str
    deadline: datetime
    series: list[str]
    kept: str
    gone: str


def hand_of(match: dict[str, Any]) -> str:
    return json.dumps(match["you"]["hand"])


async def prepare(players: list[Person], dealt: str) -> Before:
    ann = players[0]
    hands = [hand_of(await person.match(dealt)) for person in players]
    series = [(await ann.rest.post("/series", SERIES)).json()["id"] for _ in range(2)]
    tokens = [await create(ann.graphql, "BOT") for _ in range(2)]
    await revoke(ann.graphql, tokens[1]["accessToken"]["id"])
    clocked = await ann.rest.create(PLAYER, BOT, visibility="PUBLIC", turnSeconds=TURN)
    deadline = datetime.fromisoformat(clocked["round"]["deadline"])
    return Before(
        people=players,
        dealt=dealt,
        hands=hands,
        clocked=clocked["id"],
        deadline=deadline,
        series=series,
        kept=tokens[0]["token"],
        gone=tokens[1]["token"],
    )


async def come_and_go(url: str, number: int) -> None:
    """Open matches, join others, leave, and never come back."""
    async with RestClient(url) as guest:
        with suppress(httpx.TransportError):
            await guest.sign_in(f"G{number}")
            while True:
                await guest.post(
                    "/matches", {"seats": [PLAYER, OPEN, OPEN], "visibility": "PUBLIC"}
                )
                listed = await guest.get("/matches", status="LOBBY", first=5)
                for edge in listed.json().get("edges", ()):  # none where Redis died first
                    path = f"/matches/{edge['node']['id']}"
                    await guest.post(f"{path}/join", {"name": f"G{number}"})
                    if number % 2:
                        await guest.post(f"{path}/leave")


@dataclass
class After:
    """The stack as it was started anew, and its people with the tokens of before."""

    stack: Stack
    before: Before
    people: list[Person]


async def killed(stack: Stack) -> None:
    """All processes killed, Redis too; returns once it answers no more."""
    url = stack.redis_url
    await asyncio.to_thread(stack.stop, signal.SIGKILL)
    async with asyncio.timeout(10):
        host, port = url.removeprefix("redis://").split("/")[0].split(":")
        while True:
            try:
                _, writer = await asyncio.open_connection(host, int(port))
            except OSError:
                break
            writer.close()
            await asyncio.sleep(0.05)


async def ended(stack: Stack) -> Before:
    """What there was when, with much going on, everything was killed."""
    async with people(stack, 3) as players:
        dealt = await sit_down(players)  # before others look for seats
        crowd = [asyncio.create_task(come_and_go(stack.url, number)) for number in range(8)]
        before = await prepare(players, dealt)
        assert before.deadline > datetime.now(before.deadline.tzinfo), "too slow to be of use"
        await killed(stack)
        await asyncio.gather(*crowd)
    return before


@pytest.fixture(scope="module")
async def after(tmp_path_factory) -> AsyncIterator[After]:
    folder: Path = tmp_path_factory.mktemp("killed")
    env = {"RINGMASTER_SEAT_HOLD_SECONDS": str(HOLD)}
    stack = await asyncio.to_thread(start_stack, folder, None, **env)
    try:
        before = await ended(stack)
    except BaseException:
        stack.abandon()
        raise
    left = before.deadline - datetime.now(before.deadline.tzinfo)
    await asyncio.sleep(max(0, left.total_seconds()) + 0.5)
    stack = await asyncio.to_thread(start_stack, folder, None, **env)
    again = [Person(stack.url, person.name) for person in before.people]
    for person, old in zip(again, before.people, strict=True):
        person.graphql.token = old.graphql.token
        person.http.headers["authorization"] = f"Bearer {old.graphql.token}"
    yield After(stack, before, again)
    for person in again:
        await person.graphql.__aexit__()
        await person.rest.__aexit__()
    await asyncio.to_thread(stack.stop)


async def test_a_clock_that_ran_out_meanwhile_begins_anew_and_runs_out_once(after: After):
    ann, before = after.people[0], after.before
    path = f"/matches/{before.clocked}/updates"
    async with asyncio.timeout(TURN + 30):
        told: list[dict[str, Any]] = []
        async for event in ann.rest.events(path, after=0):
            told.append(json.loads(event["data"]))
            if any(e["type"] == "TurnExpired" for e in told[-1]["events"]):
                break
    kinds = [e["type"] for update in told for e in update["events"]]
    # A turn of eight seconds is over before all clients are sure to be back: it begins once more.
    assert kinds.count("ClockRestarted") in {1, 2}
    assert kinds.count("TurnExpired") == 1
    restart = [u for u in told if "ClockRestarted" in [e["type"] for e in u["events"]]][-1]
    deadline = datetime.fromisoformat(restart["match"]["round"]["deadline"])
    given = deadline - datetime.fromisoformat(restart["at"])
    assert abs(given - timedelta(seconds=TURN)) < timedelta(seconds=0.5)
    assert deadline > before.deadline + timedelta(seconds=TURN)
    assert datetime.fromisoformat(told[-1]["at"]) == deadline


async def test_hands_are_equal_to_the_byte_and_in_the_replay(after: After):
    before, match_id = after.before, after.before.dealt
    hands = [hand_of(await person.match(match_id)) for person in after.people]
    assert hands == before.hands
    for person in after.people:
        assert (await person.by_rest(match_id, "hand", {"flip": False}))[0] == "OK"
    for person in after.people:
        assert (await person.by_graphql(match_id, "leave"))[0] == "OK"
    assert (await until_finished(after.people[0].graphql, match_id, 60))["winners"]
    replay = (await after.people[0].rest.get(f"/matches/{match_id}/replay")).json()

    dealt = [[[card["top"], card["bottom"]] for card in json.loads(hand)] for hand in hands]
    assert replay["rounds"][0]["hands"] == dealt
    assert audit(replay) == []


async def test_valid_tokens_live_and_revoked_ones_stay_dead(after: After):
    ann, before = after.people[0], after.before
    for token, lives in ((ann.graphql.token, True), (before.kept, True), (before.gone, False)):
        person = Person(after.stack.url, "Ann")
        async with person.graphql, person.rest:
            person.graphql.token = token
            person.http.headers["authorization"] = f"Bearer {token}"
            if lives:
                assert (await person.match(before.clocked))["you"]["seat"] == 0
                seen = await person.graphql.match(before.clocked)
                assert seen
                assert seen["you"]["seat"] == 0
                stream = person.rest.events(f"/matches/{before.clocked}/updates", after=0)
                assert (await anext(stream))["event"] == "update"
                await stream.aclose()
            else:
                assert await refused(person.graphql, LIST) == "UNAUTHENTICATED"
                assert (await person.rest.get("/matches")).status_code == 401


async def pages(client: RestClient, status: str | None) -> set[str]:
    """The ids of all matches that a list has."""
    found: list[str] = []
    asked: dict[str, Any] = {"first": 50, **({"status": status} if status else {})}
    while True:
        page = (await client.get("/matches", **asked)).json()
        found += [edge["node"]["id"] for edge in page["edges"]]
        if not page["pageInfo"]["hasNextPage"]:
            assert len(found) == len(set(found))
            return set(found)
        asked["after"] = page["pageInfo"]["endCursor"]


async def test_lists_hold_what_there_is_and_open_ones_what_can_be_joined(after: After):
    redis: Any = connect(after.stack.redis_url)
    async with RestClient(after.stack.url) as guest:
        async with asyncio.timeout(HOLD + 20):  # who has gone does not come for the seat taken
            while [key async for key in redis.scan_iter("rm:*:holds")]:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        counted: dict[str, set[str]] = defaultdict(set)
        async for key in redis.scan_iter("rm:*:log:m*"):
            answer = await guest.get(f"/matches/{key.decode().rsplit(':', 1)[1]}")
            match = answer.json()
            counted[match["status"]].add(match["id"])
        listed = {status.value: await pages(guest, status.value) for status in Status}
        assert listed == {status.value: counted[status.value] for status in Status}
        assert await pages(guest, None) == set().union(*counted.values())
        assert len(counted["LOBBY"]) >= 3
        for shard in keys.SHARDS:
            for status in Status:
                ids = {
                    name.decode() for name in await redis.zrange(keys.public(shard, status), 0, -1)
                }
                assert ids <= counted[status.value]

        await guest.sign_in("Last")
        for match_id in counted["LOBBY"]:
            seats = (await guest.get(f"/matches/{match_id}")).json()["seats"]
            assert [seat["kind"] for seat in seats].count("OPEN") >= 1
            joined = await guest.post(f"/matches/{match_id}/join", {"name": "Last"})
            assert joined.status_code == 200, joined.text
    await redis.aclose()


async def test_no_count_is_off(after: After):
    redis: Any = connect(after.stack.redis_url)
    ann = after.people[0]
    async for key in redis.scan_iter("rm:limit:*"):
        assert int(await redis.get(key)) >= 0
    states = [(await ann.rest.get(f"/series/{one}")).json() for one in after.before.series]
    running = [state["id"] for state in states if state["status"] == "RUNNING"]
    listed = [key async for key in redis.scan_iter("rm:*:series-of:*")]
    assert sum([await redis.zcard(key) for key in listed]) == len(running) == 2
    codes = [await begun(ann) for _ in range(3)]
    assert codes == ["OK", "OK", "TOO_MANY_SERIES"]
    for one in running:
        assert (await ann.rest.post(f"/series/{one}/cancel")).status_code == 200
    assert [await begun(ann) for _ in range(3)] == ["OK", "OK", "TOO_MANY_SERIES"]
    for _ in range(20):  # streams of before are not counted against those of now
        stream = ann.rest.events(f"/matches/{after.before.clocked}/updates", after=0)
        assert (await anext(stream))["event"] == "update"
        await stream.aclose()
    await redis.aclose()


async def begun(person: Person) -> str:
    answer = await person.rest.post("/series", SERIES)
    return "OK" if answer.status_code == 201 else str(answer.json()["code"])
