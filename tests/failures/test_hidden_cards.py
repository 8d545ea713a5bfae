"""Hidden information (kinds 1, 2 and 3): every byte that anybody is sent over whole matches.

People play matches while all seats, a spectator, somebody without a token, and tokens of two
players that allow less, follow by every way there is and ask whatever can be asked. After the match
the replay tells who might know what; test_leak_scan.py shows that what is planted is found.
Ids as tokens: tests/api/test_tokens.py, and here by REST.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx
import pytest

from tests.client import EVENTS, MATCH, PAYLOAD, Client
from tests.conftest import Stack
from tests.failures.oracle import Received, Scan, Truth
from tests.rest_client import RestClient

PLAYER, OPEN = {"kind": "PLAYER"}, {"kind": "OPEN"}
MORE = """... on Match { visibility notation advice: adviceAllowed turnSeconds }"""
UPDATES = (
    f"""subscription ($m: ID!) {{ matchUpdates(matchId: $m, after: 0) {{
  version at events {{ ...E }} match {{ ...M {MORE} }} }} }}"""
    + MATCH
    + EVENTS
)
LEGAL = """you { legal { scoutAndShowAvailable
  scoutAndShow { end flip insertAt shows { first count } }
  showsAfterScout(end: LEFT, insertAt: 0, flip: true) { first count kind } } }"""
ASK = {
    "match": f"query ($m: ID!) {{ match(id: $m) {{ ...M {MORE} {LEGAL} }} }}" + MATCH,
    "node": f"query ($m: ID!) {{ node(id: $m) {{ id ...M {MORE} }} }}" + MATCH,
    "list": f"{{ matches(first: 5) {{ edges {{ node {{ ...M {MORE} }} }} }} }}" + MATCH,
    "replay": "query ($m: ID!) { replay(matchId: $m) }",
    "advice": """query ($m: ID!) { advice(matchId: $m, level: "strong") {
        advice { action { type flip } points reason } userErrors { code message } } }""",
    "an illegal move": f"""mutation ($m: ID!) {{ show(input: {{matchId: $m, first: 0, count: 99}})
        {PAYLOAD} }}"""
    + MATCH,
    "a stale move": f"""mutation ($m: ID!) {{ scout(input: {{matchId: $m, end: LEFT, insertAt: 0,
        flip: true, meta: {{expectedVersion: 1}}}}) {PAYLOAD} }}"""
    + MATCH,
    "what is not there": "query ($m: ID!) { match(id: $m) { seats { hand { top } } } }",
}
PATHS = [
    *("?first=5", "/{}", "/{}/updates?first=3", "/{}/updates?after=1", "/{}/replay"),
    *("/{}/scout-and-show", "/{}/shows-after-scout?end=RIGHT&insertAt=0&flip=true"),
    "/{}/advice?level=strong",
]
MOVES = {  # that are refused whoever tries
    "/show": {"first": 0, "count": 99},
    "/scout": {"end": "LEFT", "insertAt": 99, "flip": True},
}
WAYS = [*ASK, *PATHS, *MOVES]
WAYS_A_TURN = 5
CREATE_TOKEN = """mutation ($i: CreateTokenInput!) { createToken(input: $i) { token } }"""


@dataclass
class Viewer:
    """Somebody who looks, by both transports, and all that was sent to them."""

    name: str
    seat: int | None
    graphql: Client
    rest: RestClient
    received: list[Received] = field(default_factory=list)

    def take(self, channel: str, text: str, version: int | None = None) -> None:
        self.received.append(Received(self.name, self.seat, channel, text, version))

    async def ask(self, match_id: str, version: int, ways: Iterable[str] = WAYS) -> None:
        """Ask in each of these ways; ``version``: of the match, which stands still."""
        for way in ways:
            if way in ASK:
                body = {"query": ASK[way], "variables": {"m": match_id}}
                answer = await self.rest.http.post("/graphql", json=body)
            elif way in MOVES:
                answer = await self.rest.post(f"/matches/{match_id}{way}", MOVES[way])
            else:
                answer = await self.rest.http.get(f"/v1/matches{way.format(match_id)}")
            self.take(way, answer.text, version)

    async def follow(self, match_id: str) -> None:
        """Follow in every way until the match is over."""
        await asyncio.gather(
            self.by_socket(match_id), self.by_events(match_id), self.by_rest(match_id)
        )

    async def by_socket(self, match_id: str) -> None:
        async with self.graphql.socket() as ws:
            payload = {"query": UPDATES, "variables": {"m": match_id}}
            await ws.send(json.dumps({"id": "1", "type": "subscribe", "payload": payload}))
            async for message in ws:
                assert isinstance(message, str)
                self.take("WebSocket", message)
                if json.loads(message)["type"] in ("complete", "error"):
                    return

    async def by_events(self, match_id: str) -> None:
        body = {"query": UPDATES, "variables": {"m": match_id}}
        headers = {"accept": "text/event-stream"}
        await self.stream(self.rest.http.stream("POST", "/graphql", json=body, headers=headers))

    async def by_rest(self, match_id: str) -> None:
        path = f"/v1/matches/{match_id}/updates?after=0"
        headers = {"accept": "text/event-stream"}
        await self.stream(self.rest.http.stream("GET", path, headers=headers))

    async def stream(self, opened: Any) -> None:
        async with opened as answer:
            if not answer.headers["content-type"].startswith("text/event-stream"):
                self.take("no stream", (await answer.aread()).decode())
                return
            async for line in answer.aiter_lines():
                if line.startswith("data:"):
                    self.take(f"SSE {answer.url.path}", line[5:])


async def viewer(
    opened: AsyncExitStack, stack: Stack, name: str, seat: int | None, token: str | None = ""
) -> Viewer:
    """A new player, or with a token whoever's it is; None: nobody."""
    graphql = await opened.enter_async_context(Client(stack.url))
    rest = await opened.enter_async_context(RestClient(stack.url))
    if token == "":
        await graphql.sign_in(name)
    else:
        graphql.token = token
    if graphql.token:
        rest.http.headers["authorization"] = f"Bearer {graphql.token}"
    rest.http.timeout = httpx.Timeout(60)
    return Viewer(name, seat, graphql, rest)


async def narrower(of: Viewer, scope: str) -> str:
    input_ = {"name": scope, "scopes": [scope]}
    token = (await of.graphql.data(CREATE_TOKEN, i=input_))["createToken"]["token"]
    assert isinstance(token, str)
    return token


async def sit_down(opened: AsyncExitStack, stack: Stack, players: int, visibility: str) -> Any:
    """A match of people, and all who will look at it."""
    seated = [await viewer(opened, stack, f"seat {n}", n) for n in range(players)]
    match = await seated[0].graphql.create(
        *[PLAYER, *[OPEN] * (players - 1)],
        visibility=visibility,
        advice=True,
        entropy="entropy-of-0",
    )
    others = [
        await viewer(opened, stack, "bot", 1, await narrower(seated[1], "BOT")),
        await viewer(opened, stack, "screen", None, await narrower(seated[0], "SPECTATE")),
        await viewer(opened, stack, "spectator", None),
        await viewer(opened, stack, "nobody", None, None),
    ]
    following = [
        asyncio.create_task(v.follow(match["id"]))
        for v in [*seated, *others]
        if visibility == "PUBLIC" or v in (seated[0], *others[1:])
    ]
    for number, player in enumerate(seated[1:], 1):
        await player.graphql.join(
            joinCode=match["joinCode"], name=player.name, entropy=f"entropy-of-{number}"
        )
    if visibility == "PRIVATE":
        following += [asyncio.create_task(v.follow(match["id"])) for v in [*seated[1:], others[0]]]
    return match, seated, others, following


def choose(match: dict[str, Any], chance: Random) -> tuple[str, dict[str, Any]]:
    """One of the moves that the server hands out, as path and body for REST."""
    legal = match["you"]["legal"]
    if legal["flip"]:
        return "hand", {"flip": chance.random() < 0.5}
    kinds = ["show"] * (4 * bool(legal["shows"])) + ["scout"] * bool(legal["scout"])
    kind = chance.choice([*kinds, *["both"] * bool(legal["scoutAndShowAvailable"])])
    if kind == "show":
        show = chance.choice(legal["shows"])
        return "show", {"first": show["first"], "count": show["count"]}
    if kind == "scout":
        insert_at = chance.randint(0, legal["scout"]["maxInsertAt"])
        end = chance.choice(legal["scout"]["ends"])
        return "scout", {"end": end, "insertAt": insert_at, "flip": chance.random() < 0.5}
    return "scout-and-show", {}


async def play(
    seated: list[Viewer], everybody: list[Viewer], match_id: str, chance: Random
) -> dict[str, Any]:
    """Play to the end; at every version somebody else asks everything. The match at its end."""
    turns = 0
    while True:
        seen = (await seated[0].rest.get(f"/matches/{match_id}")).json()
        if seen["status"] == "FINISHED":
            return seen
        if seen["status"] == "SCORING":
            await asyncio.sleep(0.02)
            continue
        waiting = [n for n, seat in enumerate(seen["seats"]) if not seat["hasChosen"]]
        seat = seen["round"]["turn"] if seen["status"] == "PLAYING" else chance.choice(waiting)
        mover = seated[seat]
        ways = [WAYS[(WAYS_A_TURN * turns + n) % len(WAYS)] for n in range(WAYS_A_TURN)]
        await everybody[turns % len(everybody)].ask(match_id, seen["version"], ways)
        mine = (await mover.rest.get(f"/matches/{match_id}")).json()
        path, body = choose(mine, chance)
        if path == "scout-and-show":
            every = (await mover.rest.get(f"/matches/{match_id}/scout-and-show")).json()
            scout = chance.choice(every["scoutAndShow"])
            show = chance.choice(scout["shows"])
            body = {
                "scout": {name: scout[name] for name in ("end", "insertAt", "flip")},
                "show": {"first": show["first"], "count": show["count"]},
            }
        answer = await mover.rest.post(f"/matches/{match_id}/{path}", body)
        assert answer.status_code == 200, answer.text
        mover.take(f"REST {path}", answer.text)
        turns += 1


async def pages(viewers: list[Viewer], match_id: str, last: int) -> AsyncIterator[None]:
    """The whole past again in pages, as each may see it."""
    for v in viewers:
        after = 0
        while after < last:
            params = f"after={after}&first=100"
            answer = await v.rest.http.get(f"/v1/matches/{match_id}/updates?{params}")
            v.take("REST pages", answer.text)
            if answer.status_code != 200:
                break
            after = answer.json()["updates"][-1]["version"]
        yield


@pytest.mark.parametrize(("players", "visibility"), [(3, "PUBLIC"), (2, "PRIVATE")])
async def test_nobody_is_sent_a_byte_that_tells_a_hidden_card(stack, players, visibility):
    async with AsyncExitStack() as opened:
        match, seated, others, following = await sit_down(opened, stack, players, visibility)
        match_id, everybody = match["id"], [*seated, *others]
        end = await asyncio.wait_for(play(seated, everybody, match_id, Random(players)), 90)
        await asyncio.wait_for(asyncio.gather(*following), 30)
        async for _ in pages(everybody, match_id, end["version"]):
            pass
        for v in everybody:
            await v.ask(match_id, end["version"])
        replay = (await seated[0].rest.get(f"/matches/{match_id}/replay")).json()

    scan = Scan(Truth(replay), unseen(match, everybody), visibility == "PUBLIC")
    for v in everybody:
        for received in v.received:
            scan.take(received)

    assert scan.findings == []
    assert scan.truth.last == end["version"]
    for v in everybody:
        table = scan.cards[v.name, "activeSet"]
        if v.seat is None:
            assert scan.cards[v.name, "hand"] == 0
            assert (table > 50) == (visibility == "PUBLIC")
        else:
            assert scan.cards[v.name, "hand"] > table > 50


def unseen(match: dict[str, Any], everybody: list[Viewer]) -> dict[str, set[str]]:
    """By viewer, the texts of others that they are never sent."""
    tokens = {v.name: {v.graphql.token} - {None} for v in everybody}
    found: dict[str, set[str]] = {}
    for v in everybody:
        hidden = {str(t) for name, ts in tokens.items() if name != v.name for t in ts}
        hidden |= {str(o.graphql.player_id) for o in everybody if o.graphql.player_id}
        hidden |= {f"entropy-of-{n}" for n in range(5)}
        found[v.name] = hidden | (set() if v.seat is not None else {match["joinCode"]})
    return found


async def test_no_public_id_is_a_token_by_rest_either(stack):
    async with RestClient(stack.url) as ann, RestClient(stack.url) as eve:
        guest = (await ann.post("/guests", {"name": "Ann"})).json()
        ann.http.headers["authorization"] = f"Bearer {guest['token']}"
        match = await ann.create(PLAYER, OPEN, visibility="PUBLIC")
        page = (await eve.get("/matches")).json()
        for public in (
            *(match["id"], match["joinCode"], match["deckCommitment"], match["hash"]),
            *(guest["playerId"], page["pageInfo"]["endCursor"], "0", "Ann"),
        ):
            eve.http.headers["authorization"] = f"Bearer {public}"
            for answer in (
                await eve.get(f"/matches/{match['id']}"),
                await eve.post(f"/matches/{match['id']}/leave"),
                await eve.post(f"/matches/{match['id']}/start"),
            ):
                assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHENTICATED")
