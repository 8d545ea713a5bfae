"""The front end's client on networks that fail: nothing is missing, repeated or played twice."""

import asyncio
from contextlib import aclosing

import httpx
import pytest

from api.cli.terminal.answers import data_of
from api.cli.terminal.client import Client
from api.cli.terminal.data import Update
from api.cli.terminal.errors import Refused, Unreachable, Unusable
from api.cli.terminal.moves import ChooseHand, Show, sensible_move
from tests.cli.conftest import SECONDS, Story, play_out, take_part
from tests.cli.proxy import Proxy


async def whole_log(client: Client, match_id: str) -> list[Update]:
    """Every update of a match that is over, in one piece."""
    async with aclosing(client.updates(match_id, 0)) as updates:
        return [update async for update in updates]


async def test_a_stream_cut_again_and_again_misses_and_repeats_nothing(stack, client):
    match = await take_part(client)
    async with (
        Proxy(stack.url, cut_after=6) as proxy,
        Client(proxy.url, client.token) as follower,
        asyncio.timeout(SECONDS),
    ):
        story = await play_out(client, match, follower)
    assert proxy.cuts >= 3
    log = await whole_log(client, match["id"])
    assert [u["version"] for u in log] == list(range(1, log[-1]["version"] + 1))
    assert story.updates == log[match["version"] :]


async def test_a_stream_without_a_cursor_begins_with_the_match_as_it_stands(client):
    match = await take_part(client)
    async with aclosing(client.updates(match["id"])) as updates:
        first = await anext(updates)
    assert (first["events"], first["version"]) == ([], first["match"]["version"])
    assert first["match"]["you"]


async def test_a_move_whose_answers_are_lost_is_played_once(stack, client):
    match = await take_part(client)
    async with Proxy(stack.url) as proxy, Client(proxy.url, client.token) as player:
        proxy.answers_to_lose = 2
        await player.play(match["id"], ChooseHand(flip=True))
        assert proxy.answers_to_lose == 0
    story = await play_out(client, await client.match(match["id"]))
    assert story.end["status"] == "FINISHED"
    chosen = [
        event["seat"]
        for update in await whole_log(client, match["id"])
        for event in update["events"]
        if event["type"] == "HandChosen"
    ]
    assert chosen.count(0) == match["roundCount"]


async def test_an_outage_is_told_once_and_ended(stack, client):
    match = await take_part(client)
    told: asyncio.Queue[bool] = asyncio.Queue()
    async with (
        Proxy(stack.url) as proxy,
        Client(proxy.url, client.token, on_line=told.put_nowait) as follower,
        aclosing(follower.updates(match["id"])) as updates,
        asyncio.timeout(SECONDS),
    ):
        seen = (await anext(updates))["version"]
        await proxy.down()
        following = asyncio.create_task(anext(updates))
        assert await told.get() is False
        await client.play(match["id"], ChooseHand(flip=False))
        await asyncio.sleep(1)
        await proxy.up()
        assert (await following)["version"] == seen + 1
    assert [told.get_nowait(), told.qsize()] == [True, 0]


async def test_nobody_listens():
    async with Client("http://127.0.0.1:9") as nobody:
        with pytest.raises(Unreachable):
            await nobody.sign_in("Ann")


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "127.0.0.1:8000", "http://", "http://[::1", ""])
def test_an_address_that_is_none(url):
    with pytest.raises(Unusable, match="no address"):
        Client(url)


async def test_what_the_server_refuses_is_raised_with_its_code(client):
    match = await take_part(client)
    with pytest.raises(Refused) as refused:
        await client.play(match["id"], Show(0, 1))
    assert refused.value.code == "WRONG_PHASE"
    with pytest.raises(Refused, match=r"no such match|There is no such match"):
        await client.match("nonsense")
    with pytest.raises(Refused) as refused:
        await client.join("nonsense", "Ben")
    assert refused.value.code == "NOT_FOUND"
    with pytest.raises(Refused) as refused:
        await client.sign_in("")
    assert refused.value.code == "INVALID_INPUT"


async def test_a_token_that_nobody_has(stack):
    async with Client(stack.url, "no-such-token") as stranger:
        with pytest.raises(Unusable, match="sign in"):
            await stranger.match("mf-aaaaaaaaaaaaaaaa")
        with pytest.raises(Unusable, match="sign in"):
            await anext(stranger.updates("mf-aaaaaaaaaaaaaaaa"))


async def test_a_match_that_cannot_be_followed(client):
    with pytest.raises(Refused) as refused:
        await anext(client.updates("mf-aaaaaaaaaaaaaaaa"))
    assert refused.value.code == "NOT_FOUND"


async def test_a_cursor_that_the_log_does_not_reach_begins_anew(client):
    match = await take_part(client)
    async with aclosing(client.updates(match["id"], 999)) as updates:
        first = await anext(updates)
    assert (first["events"], first["match"]["id"]) == ([], match["id"])


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (httpx.Response(503, headers={"retry-after": "7"}), Unreachable),
        (httpx.Response(429, headers={"retry-after": "soon"}), Unreachable),
        (httpx.Response(500, text="Internal Server Error"), Unreachable),
        (httpx.Response(404, text="not here"), Unusable),
        (httpx.Response(200, text="<html>"), Unusable),
        (httpx.Response(200, json=[1]), Unusable),
        (httpx.Response(200, json={"errors": [{"message": "No.", "extensions": None}]}), Refused),
        (
            httpx.Response(
                200,
                json={"errors": [{"message": "-", "extensions": {"retryAfter": 2}}]},
            ),
            Unreachable,
        ),
    ],
)
def test_answers_without_data(response, error):
    with pytest.raises(error) as raised:
        data_of(response, "http://there")
    if response.status_code == 503:
        assert raised.value.wait == 7


def test_a_sensible_move_is_legal_and_shows_what_it_can(story: Story):
    for match, move in story.moves:
        assert match["you"]
        legal = match["you"]["legal"]
        if legal["shows"]:
            assert isinstance(move, Show)
            assert move.count == max(option["count"] for option in legal["shows"])
    assert sensible_move(story.end) is None
