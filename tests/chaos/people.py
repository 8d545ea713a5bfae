"""Guests who play on by both transports whatever fails, as docs/api.md tells clients to."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any, Final

import aiohttp

from tests.bench.people import choice
from tests.chaos.records import Ack, Record, Seen, Stream

Json = dict[str, Any]
PATHS: Final = {"chooseHand": "hand", "show": "show", "scout": "scout"}
BEGIN_SECONDS: Final = (
    6.0  # until an answer or a stream has begun; the server waits for 4 s at most
)
ANSWER: Final = aiohttp.ClientTimeout(total=BEGIN_SECONDS)
STREAM: Final = aiohttp.ClientTimeout(total=None, sock_connect=3, sock_read=30)
CUT_OFF: Final = (
    aiohttp.ClientError,
    aiohttp.WSMessageTypeError,  # closed, where a message is waited for
    OSError,
    TimeoutError,
    ValueError,
)
TWICE: Final = 0.1  # of the moves with a key, sent twice at once; and as many sent again later
CUT_SHORT: Final = "a stream of events ended without telling so"
PASSING: Final = {"UNAVAILABLE", "RATE_LIMITED"}
LATE: Final = {"STALE_VERSION", "NOT_YOUR_TURN", "WRONG_PHASE", "HAND_ALREADY_CHOSEN", "MATCH_OVER"}
MATCH: Final = """{ id version hash status round { turn } seats { number }
  you { seat legal { flip shows { first count } scout { ends } } } }"""
UPDATES: Final = f"""subscription ($m: ID!, $after: Int) {{
  matchUpdates(matchId: $m, after: $after) {{ version match {MATCH} }} }}"""


class Lost(Exception):  # noqa: N818 - it happens, and passes
    """No answer, or one that says to come again."""


@dataclass
class Town:
    """What all guests share: ways to the API, what they saw, whether it is time to go."""

    http: aiohttp.ClientSession
    addresses: list[str]
    chance: Random
    thought: float = 0.2  # seconds that a move takes its player at most
    record: Record = field(default_factory=Record)
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    scoring: asyncio.Event = field(default_factory=asyncio.Event)
    _numbers: Any = field(default_factory=lambda: count(1))

    def guest(self, *, rest: bool, keyed: bool) -> "Guest":
        return Guest(self, f"guest-{next(self._numbers)}", rest, keyed)


@dataclass
class Guest:
    """A person at one table, by one transport, with idempotency keys or without."""

    town: Town
    name: str
    rest: bool
    keyed: bool
    token: str = ""
    _failures: int = 0
    _last: str = ""

    async def pause(self, why: Exception | None) -> None:
        """Wait as docs/api.md says, longer after each failure in a row."""
        self._failures += 1
        self.town.record.failures.append(f"{time.time():.2f} {self.name}: {why!r}")
        longest = min(5.0, 0.2 * 2 ** (self._failures - 1))
        await asyncio.sleep(longest * self.town.chance.uniform(0.5, 1))

    def _address(self) -> str:
        """Any, and after a failure another one."""
        others = [one for one in self.town.addresses if not self._failures or one != self._last]
        self._last = self.town.chance.choice(others)
        return self._last

    def _headers(self, **more: str) -> dict[str, str]:
        return {**({"authorization": f"Bearer {self.token}"} if self.token else {}), **more}

    async def _fetch(self, method: str, path: str, body: Any, **headers: str) -> tuple[int, Any]:
        """One attempt at one process.

        Raises:
            Lost: there is no answer, or one that says to come again.
        """
        self.town.record.asked += 1
        try:
            async with self.town.http.request(
                method,
                self._address() + path,
                json=body,
                headers=self._headers(**headers),
                timeout=ANSWER,
            ) as answer:
                return answer.status, await answer.json(content_type=None)
        except CUT_OFF as error:
            raise Lost(repr(error)) from error

    async def _graphql(self, query: str, variables: Json) -> Json:
        _, answer = await self._fetch("POST", "/graphql", {"query": query, "variables": variables})
        self._passes([e.get("extensions", {}).get("code") for e in answer.get("errors") or ()])
        (payload,) = answer["data"].values()
        found: Json = payload
        return found

    def _passes(self, codes: list[Any]) -> None:
        """What says to come again is no answer; what nobody should be told is noted."""
        for code in codes:
            if code not in PASSING:
                self.town.record.odd.append(f"{self.name} was answered {code}")
            raise Lost(code)

    async def change(self, name: str, input_: Json, key: str | None) -> tuple[str, Json]:
        """One attempt at a mutation; its code, OK if it was taken, and the match.

        Raises:
            Lost: it is not known whether it was made.
        """
        if self.rest and name in PATHS:
            return await self._change_by_rest(name, input_, key)
        version = input_.pop("expectedVersion", None)
        meta = {"idempotencyKey": key, "expectedVersion": version}
        meta = {what: told for what, told in meta.items() if told is not None}
        query = f"""mutation ($i: {name[0].upper()}{name[1:]}Input!) {{ {name}(input: $i) {{
            match {MATCH} userErrors {{ code }} }} }}"""
        payload = await self._graphql(query, {"i": {**input_, **({"meta": meta} if meta else {})}})
        (code, *_) = [error["code"] for error in payload["userErrors"]] or ["OK"]
        return code, payload["match"] or {}

    async def _change_by_rest(self, name: str, input_: Json, key: str | None) -> tuple[str, Json]:
        body = {k: v for k, v in input_.items() if k not in {"matchId", "expectedVersion"}}
        headers = {"idempotency-key": key} if key else {}
        if "expectedVersion" in input_:
            headers["if-match"] = f'"{input_["expectedVersion"]}"'
        path = f"/v1/matches/{input_['matchId']}/{PATHS[name]}"
        status, answer = await self._fetch("POST", path, body, **headers)
        if status < 300:
            return "OK", answer
        if status >= 500 or status == 429:
            self._passes([answer["code"]])
        return answer["code"], {}

    async def surely(self, name: str, input_: Json, key: str) -> Json:
        """The match after a change that is sent until it is answered."""
        while True:
            try:
                code, match = await self.change(name, dict(input_), key)
            except Lost as error:
                await self.pause(error)
            else:
                assert code == "OK", (name, code)
                return match

    async def sign_in(self) -> None:
        query = """mutation ($n: String!, $k: String!) {
            signInAsGuest(name: $n, idempotencyKey: $k) { token userErrors { code } } }"""
        key = f"{self.town.chance.getrandbits(128):032x}"
        while True:
            try:
                self.token = (await self._graphql(query, {"n": "P", "k": key}))["token"]
            except Lost as error:
                await self.pause(error)
            else:
                return

    async def look(self, match_id: str) -> Json:
        while True:
            try:
                query = f"query ($m: ID!) {{ match(id: $m) {MATCH} }}"
                return await self._graphql(query, {"m": match_id})
            except Lost as error:
                await self.pause(error)

    async def replay(self, match_id: str) -> Any:
        """The replay of a match that is over; None, and noted, if there is none."""
        while True:
            try:
                status, answer = await self._fetch("GET", f"/v1/matches/{match_id}/replay", None)
                if status >= 500 or status == 429:
                    self._passes([answer["code"]])
            except Lost as error:
                await self.pause(error)
            else:
                break
        if status != 200:
            self.town.record.odd.append(f"{match_id}: instead of a replay {status}")
        return answer if status == 200 else None

    async def follow(self, match_id: str, *, plays: bool) -> None:
        """Follow a match from its first version to its end, over however many connections."""
        stream = Stream(self.name, match_id)
        self.town.record.streams.append(stream)
        while not stream.over:
            why: Exception | None = None
            way = self._by_events if self.rest else self._by_socket
            try:
                async with aclosing(way(match_id, len(stream.seen))) as updates:
                    async for update in updates:
                        match = update["match"]
                        stream.seen.append(Seen(update["version"], match["hash"]))
                        stream.over = match["status"] in {"FINISHED", "ABANDONED"}
                        self._failures = 0
                        if match["status"] == "SCORING":
                            self.town.scoring.set()
                        if plays and match["you"] and not stream.over:
                            await self._play(match)
            except (*CUT_OFF, Lost) as error:
                why = error
            if not stream.over:
                await self.pause(why)

    async def _play(self, match: Json) -> None:
        """Make the move that is there to be made, and learn whether it was."""
        move = choice(match["you"]["legal"])
        if move is None:
            return
        await asyncio.sleep(self.town.chance.uniform(0, self.town.thought))
        version, seat = match["version"], match["you"]["seat"]
        key = f"{match['id']}-{seat}-{version}" if self.keyed else None
        input_ = {"matchId": match["id"], **move[1]}
        if move[0] != "chooseHand":  # others choose at the same time
            input_["expectedVersion"] = version
        while True:
            try:
                answers = await self._tried(move[0], input_, key)
            except Lost as error:
                await self.pause(error)
                if key is None and await self._has_moved(match):
                    return
            else:
                break
        self._failures, made = 0, False
        for code, after in answers:
            if code == "OK":
                made = True
                ack = Ack(match["id"], after["version"], after["hash"], seat, key)
                self.town.record.acks.append(ack)
            elif made or code not in LATE:  # what was refused may be made later, not the reverse
                self.town.record.odd.append(f"{match['id']}: {move[0]} {key} was answered {code}")

    async def _tried(self, name: str, input_: Json, key: str | None) -> list[tuple[str, Json]]:
        """Answers to one attempt; with a key sometimes to two at once, or to one more later.

        Raises:
            Lost: there is none.
        """
        often = self.town.chance.random() if key is not None else 1.0
        attempts = [self.change(name, dict(input_), key) for _ in range(1 + (often < TWICE))]
        answers = []
        for answer in await asyncio.gather(*attempts, return_exceptions=True):
            if not isinstance(answer, BaseException):
                answers.append(answer)
            elif not isinstance(answer, Lost):
                raise answer
        if not answers:
            raise Lost("no answer")
        if TWICE <= often < 2 * TWICE:
            await asyncio.sleep(self.town.chance.uniform(0, 1))  # others move on meanwhile
            with suppress(Lost):
                answers.append(await self.change(name, dict(input_), key))
        return answers

    async def _has_moved(self, match: Json) -> bool:
        """Whether a move without a key need not be sent again: the match's version tells."""
        now = await self.look(match["id"])
        legal = now["you"]["legal"]
        return now["version"] != match["version"] and not legal["flip"]

    async def _by_socket(self, match_id: str, after: int) -> AsyncGenerator[Json, None]:
        payload = {"query": UPDATES, "variables": {"m": match_id, "after": after}}
        async with asyncio.timeout(BEGIN_SECONDS):
            ws = await self.town.http.ws_connect(
                f"{self._address()}/graphql", protocols=["graphql-transport-ws"], heartbeat=8
            )
        async with ws:
            await ws.send_json({"type": "connection_init", "payload": self._headers()})
            async with asyncio.timeout(BEGIN_SECONDS):
                message = await ws.receive_json()
            if message["type"] != "connection_ack":
                raise Lost(message["type"])
            await ws.send_json({"id": "1", "type": "subscribe", "payload": payload})
            async for frame in ws:
                message = json.loads(frame.data)
                match message["type"]:
                    case "next" if "errors" not in message["payload"]:
                        yield message["payload"]["data"]["matchUpdates"]
                    case "ping":
                        await ws.send_json({"type": "pong"})
                    case "next" | "error":
                        told = message["payload"]
                        errors = told["errors"] if isinstance(told, dict) else told
                        self._passes([error["extensions"]["code"] for error in errors])
                    case "complete":
                        return

    async def _by_events(self, match_id: str, after: int) -> AsyncGenerator[Json, None]:
        headers = self._headers(accept="text/event-stream", **{"last-event-id": str(after)})
        address = f"{self._address()}/v1/matches/{match_id}/updates"
        async with asyncio.timeout(BEGIN_SECONDS):
            answer = await self.town.http.get(address, headers=headers, timeout=STREAM)
        async with answer:
            if answer.status != 200:
                self._passes([(await answer.json(content_type=None))["code"]])
            async for event, data in _events(answer):
                if event == "update":
                    yield json.loads(data)
                elif event == "problem":
                    self._passes([json.loads(data)["code"]])
                elif event == "complete":
                    return
        raise Lost(CUT_SHORT)


async def _events(answer: aiohttp.ClientResponse) -> AsyncIterator[tuple[str, str]]:
    """The events until the connection ends, however it does."""
    event, data = "", ""
    with suppress(aiohttp.ClientError, OSError):
        async for line in answer.content:
            word, _, rest = line.decode().rstrip("\r\n").partition(": ")
            if word == "event":
                event = rest
            elif word == "data":
                data = rest
            elif not word and data:
                yield event, data
                event, data = "", ""
