"""A small client of the public API for tests: GraphQL over HTTP, subscriptions over WebSocket."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

import httpx
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as ws_connect

MATCH = """
fragment M on Match {
  id status version hash joinCode playerCount roundCount winners deckCommitment
  seats { number kind name botLevel away score handSize captured scoutChips
          scoutAndShowAvailable }
  round { number starter turn activeSet { owner kind cards { top bottom } }
          result { reason ender lines { seat captured scoutChips handPenalty total } } }
  you { seat hand { top bottom }
        legal { flip shows { first count kind } scout { ends maxInsertAt } } }
}
"""
EVENTS = """
fragment E on MatchEvent {
  __typename
  ... on PlayerJoined { seat name } ... on PlayerLeft { seat } ... on MatchStarted { players }
  ... on HandsDealt { round starter } ... on HandChosen { seat }
  ... on SetShown { seat cards { top bottom } kind captured }
  ... on CardScouted { seat end card { top bottom } owner } ... on TurnExpired { seat }
  ... on ClockRestarted { seconds } ... on SeatHandedToBot { seat }
  ... on PlayerReturned { seat }
  ... on RoundEnded { result { reason ender
      lines { seat captured scoutChips handPenalty total } } }
  ... on MatchFinished { winners totals } ... on MatchAbandoned { reason }
}
"""
UPDATES = (
    """subscription ($m: ID!, $after: Int) {
  matchUpdates(matchId: $m, after: $after) { version at events { ...E } match { ...M } }
}"""
    + MATCH
    + EVENTS
)
PAYLOAD = "{ match { ...M } userErrors { code message path currentVersion } }"


class Client:
    """One guest; every method is one operation."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.http = httpx.AsyncClient(base_url=url, timeout=30)
        self.token: str | None = None
        self.player_id: str | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    async def post(self, query: str, **variables: Any) -> dict[str, Any]:
        """The whole answer, errors included."""
        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        answer = await self.http.post(
            "/graphql", json={"query": query, "variables": variables}, headers=headers
        )
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def data(self, query: str, **variables: Any) -> Any:
        """The data of an answer without errors."""
        answer = await self.post(query, **variables)
        assert "errors" not in answer, answer
        return answer["data"]

    async def sign_in(self, name: str) -> None:
        data = await self.data(
            "mutation ($n: String!) { signInAsGuest(name: $n) { token playerId } }", n=name
        )
        self.token = data["signInAsGuest"]["token"]
        self.player_id = data["signInAsGuest"]["playerId"]

    async def payload(self, operation: str, input_type: str, input_: dict[str, Any]) -> Any:
        query = f"mutation ($i: {input_type}!) {{ {operation}(input: $i) {PAYLOAD} }}" + MATCH
        return (await self.data(query, i=input_))[operation]

    async def create(self, *seats: dict[str, Any], **more: Any) -> dict[str, Any]:
        payload = await self.payload(
            "createMatch", "CreateMatchInput", {"seats": list(seats), **more}
        )
        assert payload["userErrors"] == [], payload
        return payload["match"]

    async def create_with_bots(self, players: int, level: str = "regular", **more: Any) -> dict:
        """A match of this player and bots."""
        bots = [{"kind": "BOT", "botLevel": level}] * (players - 1)
        return await self.create({"kind": "PLAYER"}, *bots, **more)

    async def match(self, match_id: str) -> dict[str, Any] | None:
        data = await self.data("query ($m: ID!) { match(id: $m) { ...M } }" + MATCH, m=match_id)
        return data["match"]

    async def choose(self, match_id: str, flip: bool = False, **meta: Any) -> Any:
        return await self.payload(
            "chooseHand", "ChooseHandInput", {"matchId": match_id, "flip": flip, **_meta(meta)}
        )

    async def show(self, match_id: str, first: int, count: int, **meta: Any) -> Any:
        input_ = {"matchId": match_id, "first": first, "count": count, **_meta(meta)}
        return await self.payload("show", "ShowInput", input_)

    async def scout(self, match_id: str, end: str, insert_at: int, flip: bool, **meta: Any) -> Any:
        input_ = {"matchId": match_id, "end": end, "insertAt": insert_at, "flip": flip}
        return await self.payload("scout", "ScoutInput", {**input_, **_meta(meta)})

    async def scout_and_show(
        self, match_id: str, scout: dict[str, Any], show: dict[str, Any], **meta: Any
    ) -> Any:
        input_ = {"matchId": match_id, "scout": scout, "show": show, **_meta(meta)}
        return await self.payload("scoutAndShow", "ScoutAndShowInput", input_)

    async def join(self, **input_: Any) -> Any:
        return await self.payload("joinMatch", "JoinMatchInput", input_)

    async def by_id(self, operation: str, match_id: str) -> Any:
        """`leaveMatch` or `startMatch`."""
        query = f"mutation ($m: ID!) {{ {operation}(matchId: $m) {PAYLOAD} }}" + MATCH
        return (await self.data(query, m=match_id))[operation]

    async def act(self, match: dict[str, Any]) -> dict[str, Any]:
        """Play something legal for this player, who is to act; the match after it."""
        legal = match["you"]["legal"]
        if legal["flip"]:
            payload = await self.choose(match["id"])
        elif legal["shows"]:
            best = max(legal["shows"], key=lambda show: show["count"])
            payload = await self.show(match["id"], best["first"], best["count"])
        else:
            payload = await self.scout(match["id"], legal["scout"]["ends"][0], 0, flip=False)
        assert payload["userErrors"] == [], payload
        return payload["match"]

    async def updates(
        self, match_id: str, after: int | None = None
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The updates of a match until the server completes the stream."""
        async with self.socket() as ws:
            await subscribe(ws, "1", match_id, after)
            async for message in messages(ws):
                if message["type"] == "next":
                    assert "errors" not in message["payload"], message
                    yield message["payload"]["data"]["matchUpdates"]
                elif message["type"] == "complete":
                    return
                else:
                    raise AssertionError(message)

    @asynccontextmanager
    async def socket(self) -> AsyncIterator[ClientConnection]:
        """An acknowledged connection."""
        async with raw_socket(self.url) as ws:
            payload = {"authorization": f"Bearer {self.token}"} if self.token else {}
            await ws.send(json.dumps({"type": "connection_init", "payload": payload}))
            assert json.loads(await ws.recv())["type"] == "connection_ack"
            yield ws


def _meta(meta: dict[str, Any]) -> dict[str, Any]:
    return {"meta": meta} if meta else {}


def raw_socket(url: str) -> ws_connect:
    """A connection on which nothing was said yet."""
    return ws_connect(
        url.replace("http", "ws", 1) + "/graphql",
        subprotocols=["graphql-transport-ws"],  # type: ignore[list-item]
    )


async def subscribe(
    ws: ClientConnection, id_: str, match_id: str, after: int | None = None
) -> None:
    """Ask for a match's updates under an operation id."""
    variables = {"m": match_id, "after": after}
    payload = {"query": UPDATES, "variables": variables}
    await ws.send(json.dumps({"id": id_, "type": "subscribe", "payload": payload}))


async def messages(ws: ClientConnection) -> AsyncIterator[dict[str, Any]]:
    """The protocol's messages, pings answered."""
    async for text in ws:
        message = json.loads(text)
        if message["type"] == "ping":
            await ws.send(json.dumps({"type": "pong"}))
        else:
            yield message
