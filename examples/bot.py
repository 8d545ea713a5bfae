"""A bot of your own, over the public API alone: replace `choose` (docs/bot-guide.md)."""

import argparse
import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from typing import Any

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

MATCH = """{ id version status joinCode winners seats { number name score handSize scoutChips }
  round { number turn activeSet { owner kind cards { top bottom } } }
  you { seat hand { top bottom }
        legal { flip shows { first count kind } scout { ends maxInsertAt } } } }"""
UPDATES = f"""subscription ($id: ID!, $after: Int) {{
  matchUpdates(matchId: $id, after: $after) {{ version match {MATCH} }} }}"""
LOOK_AGAIN = {"STALE_VERSION", "NOT_YOUR_TURN", "WRONG_PHASE", "HAND_ALREADY_CHOSEN", "MATCH_OVER"}
RUN = secrets.token_hex(8)  # keeps the idempotency keys of this run apart from those of others


def choose(match: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The move to make, as a mutation and its input; None if there is nothing to do."""
    legal = match["you"]["legal"]
    if legal["flip"]:
        return "chooseHand", {"flip": False}
    if legal["shows"]:
        longest = max(legal["shows"], key=lambda show: show["count"])
        return "show", {"first": longest["first"], "count": longest["count"]}
    if legal["scout"]:
        return "scout", {"end": legal["scout"]["ends"][0], "insertAt": 0, "flip": False}
    return None


async def play(http: httpx.AsyncClient, match_id: str) -> dict[str, Any]:
    """Play a match to its end, over however many connections that takes; its last state."""
    after, played, failures = None, 0, 0
    while True:
        try:
            async for update in updates(http, match_id, after):
                match: dict[str, Any] = update["match"]
                after, failures = update["version"], 0
                if match["status"] in {"FINISHED", "ABANDONED"}:
                    return match
                if after < played:
                    continue  # from before our last move
                move = choose(match) if match["you"] else None
                if move is not None:
                    meta = {"idempotencyKey": f"{RUN}-{after}", "expectedVersion": after}
                    input_ = {"matchId": match_id, **move[1], "meta": meta}
                    moved = await mutate(http, move[0], input_)
                    played = moved["version"] if moved else after
        except (OSError, WebSocketException, ValueError):
            failures += 1
        await pause(failures)


async def updates(
    http: httpx.AsyncClient, match_id: str, after: int | None
) -> AsyncIterator[dict[str, Any]]:
    """The updates after a version, until the server or the network ends the stream."""
    address = str(http.base_url.join("/graphql")).replace("http", "ws", 1)
    init = {"authorization": http.headers["authorization"]}
    start = {"query": UPDATES, "variables": {"id": match_id, "after": after}}
    async with connect(address, subprotocols=[Subprotocol("graphql-transport-ws")]) as socket:
        await socket.send(json.dumps({"type": "connection_init", "payload": init}))
        async for text in socket:
            message = json.loads(text)
            if message["type"] == "connection_ack":
                await socket.send(json.dumps({"id": "1", "type": "subscribe", "payload": start}))
            elif message["type"] == "ping":
                await socket.send('{"type": "pong"}')
            elif message["type"] == "next":
                yield data_of(message["payload"])["matchUpdates"]
            elif message["type"] == "error":
                data_of({"errors": message["payload"]})
            elif message["type"] == "complete":
                return


async def mutate(http: httpx.AsyncClient, name: str, input_: dict[str, Any]) -> Any:
    """The match after a mutation; None if it came too late."""
    query = f"""mutation ($input: {name[0].upper()}{name[1:]}Input!) {{
      {name}(input: $input) {{ match {MATCH} userErrors {{ code message }} }} }}"""
    payload = (await ask(http, query, input=input_))[name]
    for error in payload["userErrors"]:
        if error["code"] not in LOOK_AGAIN:
            raise SystemExit(f"bot: {name} {input_}: {error['code']}: {error['message']}")
    return payload["match"]


async def ask(http: httpx.AsyncClient, query: str, **variables: Any) -> Any:
    """The data of an answer, however many attempts it takes."""
    failures = 0
    while True:
        try:
            answer = await http.post("/graphql", json={"query": query, "variables": variables})
            return data_of(answer.json())
        except (httpx.TransportError, OSError, ValueError):
            failures += 1
            await pause(failures)


def data_of(answer: dict[str, Any]) -> Any:
    """The data of an answer; an error ends the program, unless it passes by itself."""
    for error in answer.get("errors") or ():
        if error.get("extensions", {}).get("code") in {"UNAVAILABLE", "INTERNAL", "RATE_LIMITED"}:
            raise ConnectionError(error["message"])
        raise SystemExit(f"bot: {error['message']}")
    return answer["data"]


async def pause(failures: int) -> None:
    """Wait longer from failure to failure, up to five seconds."""
    await asyncio.sleep(min(5, 0.1 * 2 ** min(failures, 6)))


async def take_seat(http: httpx.AsyncClient, args: argparse.Namespace) -> str:
    """Sign in and sit down, in a match of others or in a new one; its id."""
    query = "mutation ($name: String!) { signInAsGuest(name: $name) { token } }"
    token = args.token or (await ask(http, query, name=args.name))["signInAsGuest"]["token"]
    http.headers["authorization"] = f"Bearer {token}"
    if args.match or args.code:
        seat = {"name": args.name, "matchId": args.match, "joinCode": args.code}
        match = await mutate(http, "joinMatch", seat)
    else:
        bots = [{"kind": "BOT", "botLevel": args.level}] * args.bots
        seats = [{"kind": "PLAYER"}, *bots, *[{"kind": "OPEN"}] * args.open]
        meta = {"idempotencyKey": RUN}  # one match, however often it has to be asked for
        match = await mutate(http, "createMatch", {"seats": seats, "meta": meta})
    if match is None:
        raise SystemExit("bot: this match is over")
    print(f"match {match['id']} code {match['joinCode']} token {token}", flush=True)
    return str(match["id"])


async def main() -> None:
    """Play one match and tell its result."""
    parser = argparse.ArgumentParser(description="Plays one match of SCOUT.")
    parser.add_argument("--url", default="http://127.0.0.1:8000", help="address of the server")
    parser.add_argument("--token", help="play as the player of this token; else as a new guest")
    parser.add_argument("--name", default="Example", help="shown to all")
    parser.add_argument("--match", help="take a seat in this public match, or come back to one")
    parser.add_argument("--code", help="take a seat in the match with this join code")
    parser.add_argument("--bots", type=int, default=3, help="bots in a new match")
    parser.add_argument("--level", default="regular", help="how they play")
    parser.add_argument("--open", type=int, default=0, help="seats left open in a new match")
    args = parser.parse_args()
    async with httpx.AsyncClient(base_url=args.url, timeout=10) as http:
        match = await play(http, await take_seat(http, args))
    for seat in match["seats"]:
        won = ", won" if seat["number"] in (match["winners"] or ()) else ""
        print(f"seat {seat['number']} {seat['name']}: {seat['score']} points{won}")


if __name__ == "__main__":
    asyncio.run(main())
