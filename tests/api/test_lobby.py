"""The lobby as a stream: the open matches first, then what changes among them."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import pytest

from api.lobby import Lobby, News
from api.ports import Ring
from api.service import MatchService
from api.store.memory import MemoryDirectory, MemoryStore
from api.values import Joining, NewMatch
from engine.state import Seat, SeatKind, Visibility
from tests.client import Client, messages
from tests.conftest import Stack
from tests.rest_client import RestClient

PLAYER, OPEN = {"kind": "PLAYER"}, {"kind": "OPEN"}
LOBBY = """subscription { lobbyUpdates {
  matches { id version joinCode you { seat } seats { kind name } } gone } }"""


async def by_graphql(client: Client) -> AsyncIterator[dict[str, Any]]:
    async with client.socket() as ws:
        await ws.send(json.dumps({"id": "1", "type": "subscribe", "payload": {"query": LOBBY}}))
        async for message in messages(ws):
            assert message["type"] == "next", message
            yield message["payload"]["data"]["lobbyUpdates"]


async def by_rest(client: Client) -> AsyncIterator[dict[str, Any]]:
    async with RestClient(client.url) as rest:
        rest.http.headers["authorization"] = f"Bearer {client.token}"
        async with aclosing(rest.events("/lobby")) as events:
            async for event in events:
                assert event["event"] == "update", event
                yield json.loads(event["data"])


async def until(updates: AsyncIterator[dict[str, Any]], enough: Callable[[dict], bool]) -> dict:
    """The first update of the stream that says so."""
    async with asyncio.timeout(5):
        async for update in updates:
            if enough(update):
                return update
    raise AssertionError("the stream ended")


def tells(match_id: str, version: int) -> Callable[[dict], bool]:
    return lambda u: any((m["id"], m["version"]) == (match_id, version) for m in u["matches"])


@pytest.mark.parametrize("follow", [by_graphql, by_rest])
async def test_it_tells_what_is_open_and_what_changes(client: Client, stack: Stack, follow):
    seats = [PLAYER, OPEN, OPEN]
    before = await client.create(*seats, visibility="PUBLIC")
    async with Client(stack.url) as bob, aclosing(follow(client)) as updates:
        await bob.sign_in("Bob")
        first = await until(updates, lambda _: True)
        assert tells(before["id"], 1)(first)
        assert first["gone"] == []

        await client.create(*seats)  # private: nobody is told
        made = await client.create(*seats, visibility="PUBLIC")
        await until(updates, tells(made["id"], 1))
        await bob.join(matchId=made["id"], name="Bob")
        joined = await until(updates, tells(made["id"], 2))
        await client.by_id("startMatch", made["id"])
        started = await until(updates, lambda update: bool(update["gone"]))

    (told,) = joined["matches"]
    assert [seat["kind"] for seat in told["seats"]] == ["PLAYER", "PLAYER", "OPEN"]
    assert (told["joinCode"], told["you"]) == (None, None)  # as everybody sees it
    assert started == {"matches": [], "gone": [made["id"]]}


async def test_a_page_tells_the_same_as_the_stream_begins_with(client, stack):
    match = await client.create(PLAYER, OPEN, visibility="PUBLIC")
    async with RestClient(stack.url) as nobody:
        page = (await nobody.get("/lobby")).json()

    assert tells(match["id"], 1)(page)


# In process, with a store in memory.


async def opened(service: MatchService, seats: int = 3) -> str:
    player = Seat(SeatKind.PLAYER, "Ann", None, "ann")
    new = NewMatch((player, *[Seat(SeatKind.OPEN)] * (seats - 1)), Visibility.PUBLIC, None)
    return (await service.create("ann", new)).view.match_id


class _NoJobs:
    def hint(self, *_: object) -> None:
        pass


@pytest.fixture
def service() -> MatchService:
    return MatchService(MemoryStore(), MemoryDirectory(), _NoJobs())


async def told(news: AsyncIterator[News]) -> tuple[list[str], list[str]]:
    async with asyncio.timeout(2):
        one = await anext(news)
    return [answer.view.match_id for answer in one.open], list(one.gone)


async def test_after_a_gap_only_what_is_new_is_told(service):
    lobby = Lobby(service)
    kept, left = await opened(service), await opened(service)
    news = lobby.follow()
    stands, gone = await told(news)
    assert (set(stands), gone) == ({left, kept}, [])

    await service.leave(left, "ann")
    made = await opened(service)
    lobby.wake(None)

    assert await told(news) == ([made], [left])
    await news.aclose()


async def test_a_change_is_looked_up_once_for_all_and_told_as_it_stands(service):
    looks: list[str] = []

    class Counting:
        page = staticmethod(service.page)

        @staticmethod
        async def look(match_id, caller):
            looks.append(match_id)
            return await service.look(match_id, caller)

    lobby = Lobby(Counting())
    match_id = await opened(service)
    streams = [lobby.follow() for _ in range(3)]
    for news in streams:
        await told(news)

    await service.join(match_id, "bob", Joining("Bob"))
    lobby.wake(Ring(lobby=frozenset({match_id})))
    await service.leave(match_id, "bob")
    lobby.wake(Ring(lobby=frozenset({match_id})))

    found = [await told(news) for news in streams]
    assert found == [([match_id], [])] * 3
    assert len(looks) <= 2
    for news in streams:
        await news.aclose()


async def test_nothing_is_looked_up_for_nobody(service):
    lobby = Lobby(service)
    match_id = await opened(service)

    lobby.wake(Ring(lobby=frozenset({match_id})))

    assert lobby._looking is None
