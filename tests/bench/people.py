"""People at a table of four, each a client of the public API by one of three ways.

They play the first sensible thing: which moves those are matters less than that all ways and all
runs play alike.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable
from itertools import count
from typing import Any, Final, Protocol, Self

import aiohttp

SEATS: Final = 4
OPEN_SEATS: Final = [{"kind": "PLAYER"}, *[{"kind": "OPEN"}] * (SEATS - 1)]
SECONDS: Final = 60  # for an answer

Json = dict[str, Any]
Arrival = tuple[float, Json]  # when it came, by `time.perf_counter`, and the update
UPDATES: Final = """subscription ($m: ID!) { matchUpdates(matchId: $m) {
  version events { __typename }
  match { id version status round { number turn activeSet { owner kind cards { top bottom } } }
  seats { number score handSize captured scoutChips }
  you { seat hand { top bottom } legal { flip shows { first count } scout { ends } } } } } }"""
SPECTATED: Final = """subscription ($m: ID!) { matchUpdates(matchId: $m) {
  version events { __typename } } }"""
SIGN_IN: Final = 'mutation { signInAsGuest(name: "P") { token } }'
CREATE: Final = """mutation ($i: CreateMatchInput!) { createMatch(input: $i) {
  match { id } userErrors { code } } }"""
JOIN: Final = """mutation ($i: JoinMatchInput!) { joinMatch(input: $i) {
  match { id } userErrors { code } } }"""
MOVES: Final = {
    name: f"""mutation ($i: {type_}!) {{ {name}(input: $i) {{
      match {{ version }} userErrors {{ code message }} }} }}"""
    for name, type_ in (
        ("chooseHand", "ChooseHandInput"),
        ("show", "ShowInput"),
        ("scout", "ScoutInput"),
    )
}
PATHS: Final = {"chooseHand": "hand", "show": "show", "scout": "scout"}


def choice(legal: Json) -> tuple[str, Json] | None:
    """The first thing to do: the GraphQL name of the move and its arguments."""
    if legal["flip"]:
        return "chooseHand", {"flip": False}
    if legal["shows"]:
        best = max(legal["shows"], key=lambda show: show["count"])
        return "show", {"first": best["first"], "count": best["count"]}
    if legal["scout"]:
        return "scout", {"end": legal["scout"]["ends"][0], "insertAt": 0, "flip": False}
    return None


class Person(Protocol):
    """Somebody with a token, who may sit at several tables."""

    def __init__(self, url: str) -> None: ...
    async def sign_in(self) -> None: ...
    async def create(self) -> str: ...
    async def join(self, match_id: str) -> None: ...
    def sit(self, match_id: str) -> "Sitting": ...
    async def close(self) -> None: ...


class Sitting(Protocol):
    """A person at one table: its updates, and moves that answer with the version they made.

    ``last_words``: what ended the updates, as it came.
    """

    last_words: str

    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *_: object) -> None: ...
    def updates(self) -> AsyncIterator[Arrival]: ...
    def move(self, match_id: str, name: str, arguments: Json) -> Awaitable[int]: ...


class GraphQL:
    """A person whose moves go over HTTP keep-alive, and updates over a WebSocket."""

    def __init__(self, url: str) -> None:
        self.url, self.token = url, ""
        self.http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(SECONDS)
        )

    async def ask(self, query: str, **variables: Any) -> Json:
        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        body = {"query": query, "variables": variables}
        async with self.http.post(f"{self.url}/graphql", json=body, headers=headers) as answer:
            return _data(await answer.json())

    async def sign_in(self) -> None:
        self.token = (await self.ask(SIGN_IN))["token"]

    async def create(self) -> str:
        made = await self.ask(CREATE, i={"seats": OPEN_SEATS, "visibility": "PUBLIC"})
        return str(made["match"]["id"])

    async def join(self, match_id: str) -> None:
        await self.ask(JOIN, i={"matchId": match_id, "name": "P"})

    def sit(self, match_id: str) -> "SocketSitting":
        return HttpSitting(self, match_id)

    async def close(self) -> None:
        await self.http.close()


class Socket(GraphQL):
    """A person whose moves are operations on the WebSocket that the updates come by."""

    def sit(self, match_id: str) -> "SocketSitting":
        return SocketSitting(self, match_id)


def _data(answer: Json) -> Json:
    """The one field of an answer that is as it should be."""
    assert "errors" not in answer, answer
    (payload,) = answer["data"].values()
    assert not payload.get("userErrors"), payload
    return payload


class SocketSitting:
    """One connection of its own, on which the first operation is the subscription."""

    def __init__(self, person: GraphQL, match_id: str) -> None:
        self.person, self.match_id = person, match_id
        self._ids = count(1)
        self.last_words = ""
        self._answers: dict[str, asyncio.Future[int]] = {}
        self._updates: asyncio.Queue[Arrival | None] = asyncio.Queue()

    async def __aenter__(self) -> Self:
        self._ws = await socket(self.person.http, self.person.url, self.person.token)
        await subscribe(self._ws, UPDATES, m=self.match_id)
        self._reading = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._reading.cancel()
        await self._ws.close()

    async def _read(self) -> None:
        """Hand over what comes; whoever still waits at the end is told why it is in vain."""
        why: Exception = ConnectionError("the connection has ended")
        try:
            await self._hand_over()
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            why, self.last_words = error, repr(error)
        for answer in self._answers.values():
            answer.set_exception(why)
        self._updates.put_nowait(None)

    async def _hand_over(self) -> None:
        async for frame in self._ws:
            message = json.loads(frame.data)
            if message["type"] == "next" and message["id"] == "0":
                update = message["payload"]["data"]["matchUpdates"]
                self._updates.put_nowait((time.perf_counter(), update))
            elif message["type"] == "next":
                version = _data(message["payload"])["match"]["version"]
                self._answers.pop(message["id"]).set_result(version)
            elif message.get("id") == "0":
                self.last_words = frame.data  # complete, or an error
                return

    async def updates(self) -> AsyncIterator[Arrival]:
        while (arrival := await self._updates.get()) is not None:
            yield arrival

    async def move(self, match_id: str, name: str, arguments: Json) -> int:
        id_ = str(next(self._ids))
        answer = self._answers[id_] = asyncio.get_running_loop().create_future()
        variables = {"i": {"matchId": match_id, **arguments}}
        payload = {"query": MOVES[name], "variables": variables}
        await self._ws.send_json({"id": id_, "type": "subscribe", "payload": payload})
        async with asyncio.timeout(SECONDS):
            return await answer


class HttpSitting(SocketSitting):
    """Updates over the WebSocket, moves over HTTP."""

    async def move(self, match_id: str, name: str, arguments: Json) -> int:
        done = await self.person.ask(MOVES[name], i={"matchId": match_id, **arguments})
        return int(done["match"]["version"])


async def socket(http: aiohttp.ClientSession, url: str, token: str = "") -> Any:
    """An acknowledged connection of `graphql-transport-ws`."""
    ws = await http.ws_connect(f"{url}/graphql", protocols=["graphql-transport-ws"], max_msg_size=0)
    payload = {"authorization": f"Bearer {token}"} if token else {}
    await ws.send_json({"type": "connection_init", "payload": payload})
    assert (await ws.receive_json(timeout=SECONDS))["type"] == "connection_ack"
    return ws


async def subscribe(ws: Any, query: str, **variables: Any) -> None:
    """Begin the operation 0 of a connection."""
    payload = {"query": query, "variables": variables}
    await ws.send_json({"id": "0", "type": "subscribe", "payload": payload})


class Rest:
    """A person by REST, whose updates come as server-sent events."""

    def __init__(self, url: str) -> None:
        self.url, self.headers = f"{url}/v1", dict[str, str]()
        self.http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(SECONDS)
        )

    async def post(self, path: str, body: Json) -> Json:
        async with self.http.post(self.url + path, json=body, headers=self.headers) as answer:
            assert answer.status < 300, await answer.text()
            made: Json = await answer.json()
            return made

    async def sign_in(self) -> None:
        token = (await self.post("/guests", {"name": "P"}))["token"]
        self.headers = {"authorization": f"Bearer {token}"}

    async def create(self) -> str:
        made = await self.post("/matches", {"seats": OPEN_SEATS, "visibility": "PUBLIC"})
        return str(made["id"])

    async def join(self, match_id: str) -> None:
        await self.post(f"/matches/{match_id}/join", {"name": "P"})

    def sit(self, match_id: str) -> "RestSitting":
        return RestSitting(self, match_id)

    async def close(self) -> None:
        await self.http.close()


class RestSitting:
    """One stream of events; moves go over other connections, kept alive."""

    def __init__(self, person: Rest, match_id: str) -> None:
        self.person, self.match_id = person, match_id
        self.last_words = ""

    async def __aenter__(self) -> Self:
        self._stream = await self.person.http.get(
            f"{self.person.url}/matches/{self.match_id}/updates",
            headers={**self.person.headers, "accept": "text/event-stream"},
            timeout=aiohttp.ClientTimeout(None),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stream.close()

    async def updates(self) -> AsyncIterator[Arrival]:
        event = b""
        async for line in self._stream.content:
            if line.startswith(b"event: "):
                event = line[7:].strip()
            elif line.startswith(b"data: ") and event == b"update":
                yield time.perf_counter(), json.loads(line[6:])
            elif line.startswith(b"data: "):
                self.last_words = line.decode()

    async def move(self, match_id: str, name: str, arguments: Json) -> int:
        made = await self.person.post(f"/matches/{match_id}/{PATHS[name]}", arguments)
        return int(made["version"])


WAYS: Final[dict[str, type[Person]]] = {"http": GraphQL, "socket": Socket, "rest": Rest}
