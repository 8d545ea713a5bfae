"""People who play by both transports with one token, for tests of what goes wrong."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random
from typing import Any

import httpx

from tests.client import MATCH, PAYLOAD, Client
from tests.conftest import Stack
from tests.rest_client import RestClient

PLAYER, OPEN, BOT = {"kind": "PLAYER"}, {"kind": "OPEN"}, {"kind": "BOT"}
OPERATIONS = {
    "hand": ("chooseHand", "ChooseHandInput"),
    "show": ("show", "ShowInput"),
    "scout": ("scout", "ScoutInput"),
    "scout-and-show": ("scoutAndShow", "ScoutAndShowInput"),
    "join": ("joinMatch", "JoinMatchInput"),
}
Match = dict[str, Any]


class Person:
    """A guest; every request can be made by GraphQL and by REST."""

    def __init__(self, url: str, name: str) -> None:
        self.name = name
        self.graphql = Client(url)
        self.rest = RestClient(url)
        self.http = self.rest.http

    async def sign_in(self) -> None:
        await self.graphql.sign_in(self.name)
        self.http.headers["authorization"] = f"Bearer {self.graphql.token}"

    async def match(self, match_id: str) -> Match:
        """By REST, which tells the most."""
        answer = await self.rest.get(f"/matches/{match_id}")
        assert answer.status_code == 200, answer.text
        match: Match = answer.json()
        return match

    async def by_graphql(
        self, match_id: str | None, what: str, body: Match | None = None, **meta: Any
    ) -> tuple[str, Match]:
        """Make a request; its code, OK if it was taken, and the payload or error."""
        sent = {**(body or {}), **({"meta": meta} if meta else {})}
        if match_id is not None:
            sent["matchId"] = match_id
        if what in ("leave", "start"):
            query = f"""mutation ($m: ID!, $meta: MoveMeta) {{
                {what}Match(matchId: $m, meta: $meta) {PAYLOAD} }}"""
            variables = {"m": match_id, "meta": meta or None}
            name = f"{what}Match"
        else:
            name, type_ = OPERATIONS[what]
            query, variables = (
                f"mutation ($i: {type_}!) {{ {name}(input: $i) {PAYLOAD} }}",
                {"i": sent},
            )
        answer = await self.graphql.post(query + MATCH, **variables)
        if "errors" in answer:
            return answer["errors"][0]["extensions"]["code"], answer["errors"][0]
        payload = answer["data"][name]
        return (payload["userErrors"] or [{"code": "OK"}])[0]["code"], payload

    async def by_rest(
        self, match_id: str | None, what: str, body: Match | None = None, **headers: str
    ) -> tuple[str, httpx.Response]:
        """The same by REST."""
        path = f"/{what}" if match_id is None else f"/matches/{match_id}/{what}"
        answer = await self.rest.post(path, body, **headers)
        return "OK" if answer.status_code < 300 else answer.json()["code"], answer


@asynccontextmanager
async def people(stack: Stack, count: int) -> AsyncIterator[list[Person]]:
    """Guests, signed in."""
    async with AsyncExitStack() as opened:
        found = [Person(stack.url, f"P{n}") for n in range(count)]
        for person in found:
            await opened.enter_async_context(person.graphql)
            await opened.enter_async_context(person.rest)
            await person.sign_in()
        yield found


async def sit_down(players: list[Person], **more: Any) -> str:
    """A public match of these people, whose cards are dealt."""
    seats = [PLAYER, *[OPEN] * (len(players) - 1)]
    match = await players[0].rest.create(*seats, **{"visibility": "PUBLIC", **more})
    for person in players[1:]:
        code, _ = await person.by_rest(match["id"], "join", {"name": person.name})
        assert code == "OK"
    return str(match["id"])


async def begin(players: list[Person]) -> tuple[str, Person]:
    """A match in which all have chosen their hands, and who is to move."""
    match_id = await sit_down(players)
    for person in players:
        assert (await person.by_rest(match_id, "hand", {"flip": False}))[0] == "OK"
    match = await players[0].match(match_id)
    return match_id, players[match["round"]["turn"]]


def some_move(match: Match, chance: Random, *, scouts: float) -> tuple[str, Match]:
    """A legal move of the viewer's: a scout with some probability where there is one, or a show."""
    legal = match["you"]["legal"]
    if legal["flip"]:
        return "hand", {"flip": False}
    if legal["scout"] and (not legal["shows"] or chance.random() < scouts):
        return "scout", {"end": legal["scout"]["ends"][0], "insertAt": 0, "flip": False}
    show = max(legal["shows"], key=lambda option: option["count"])
    return "show", {"first": show["first"], "count": show["count"]}


async def reach(
    players: list[Person],
    found: Callable[[Match], bool],
    move: Callable[[Match], Awaitable[tuple[str, Match]]],
) -> tuple[str, Person, Match]:
    """Play until somebody whose turn it is is in such a position; new matches if need be."""
    for _ in range(20):
        match_id, _ = await begin(players)
        while True:
            match = await players[0].match(match_id)
            if match["status"] == "FINISHED":
                break
            if match["status"] == "SCORING":
                continue
            waiting = [n for n, seat in enumerate(match["seats"]) if not seat["hasChosen"]]
            mover = players[waiting[0] if waiting else match["round"]["turn"]]
            seen = await mover.match(match_id)
            if not waiting and found(seen):
                return match_id, mover, seen
            code, answer = await mover.by_rest(match_id, *await move(seen))
            assert code == "OK", answer.text
    raise AssertionError("no such position was reached")
