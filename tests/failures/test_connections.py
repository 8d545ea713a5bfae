"""Connections (kinds 16, 18 and 19): two devices, opponents who drop, peers that are dead.

Streams on one connection (17): tests/api/test_subscriptions.py; abrupt closes too.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from random import Random
from typing import Any

import httpx
import pytest

from api.cli.embedded import free_port
from api.service import MatchService
from api.store.connections import connect as connected
from api.store.redis import RedisDirectory, RedisStore
from api.values import Joining, NewMatch
from engine.state import Seat, SeatKind, Visibility
from tests.api.test_service import Hints
from tests.client import UPDATES
from tests.failures.people import Person, people, sit_down, some_move

CHANCE = Random(4)
Told = list[tuple[int, str, Any]]


async def by_socket(person: Person, match_id: str) -> Told:
    return [
        (u["version"], u["match"]["hash"], u["match"]["you"] and u["match"]["you"]["hand"])
        async for u in person.graphql.updates(match_id, 0)
    ]


async def by_rest(person: Person, match_id: str) -> Told:
    found = []
    async for event in person.rest.events(f"/matches/{match_id}/updates", after=0):
        if event["event"] == "update":
            update = json.loads(event["data"])
            you = update["match"]["you"]
            found.append((update["version"], update["match"]["hash"], you and you["hand"]))
    return found


async def by_events(person: Person, match_id: str) -> Told:
    body = {"query": UPDATES, "variables": {"m": match_id, "after": 0}}
    headers = {"accept": "text/event-stream"}
    found = []
    async with person.http.stream(
        "POST", "/graphql", json=body, headers=headers, timeout=60
    ) as answer:
        async for line in answer.aiter_lines():
            if line.startswith("data:") and line[5:].strip():
                update = json.loads(line[5:])["data"]["matchUpdates"]
                you = update["match"]["you"]
                found.append((update["version"], update["match"]["hash"], you and you["hand"]))
    return found


async def play_out(players: list[Person], match_id: str) -> dict[str, Any]:
    """Let these people play, by looking and moving, until the match is over; its end."""
    while True:
        match = await players[0].match(match_id)
        if match["status"] == "FINISHED":
            return match
        for person in players:
            seen = await person.match(match_id)
            legal = seen["you"]["legal"]
            if legal["flip"] or legal["shows"] or legal["scout"]:
                await person.by_rest(match_id, *some_move(seen, CHANCE, scouts=0.1))


async def test_devices_of_one_token_see_the_same_and_none_is_put_out(stack):
    async with people(stack, 2) as (ann, bob):
        match_id = await sit_down([ann, bob])
        ways = (by_socket, by_socket, by_rest, by_rest, by_events)
        devices = [asyncio.create_task(way(ann, match_id)) for way in ways]
        end = await asyncio.wait_for(play_out([ann, bob], match_id), 60)
        first, *others = await asyncio.wait_for(asyncio.gather(*devices), 10)

    assert [version for version, _, _ in first] == list(range(1, end["version"] + 1))
    assert all(hand is not None for _, _, hand in first)
    for other in others:
        assert other == first


@pytest.mark.parametrize("leaves", [False, True])
async def test_ones_own_updates_go_on_through_the_rounds_after_an_opponent_drops(stack, leaves):
    async with people(stack, 3) as players:
        ann, bob, cid = players
        match_id = await sit_down(players)
        own = [asyncio.create_task(way(ann, match_id)) for way in (by_socket, by_rest)]
        async with bob.graphql.socket() as ws:
            payload = {"query": UPDATES, "variables": {"m": match_id, "after": 0}}
            await ws.send(json.dumps({"id": "1", "type": "subscribe", "payload": payload}))
            events = bob.rest.events(f"/matches/{match_id}/updates")
            await anext(events)
            await ws.recv()
            ws.transport.abort()
        if leaves:
            assert (await bob.by_rest(match_id, "leave"))[0] == "OK"
        staying = [ann, cid] if leaves else players
        end = await asyncio.wait_for(play_out(staying, match_id), 60)
        by_ws, by_sse = await asyncio.wait_for(asyncio.gather(*own), 10)

    assert by_ws == by_sse
    assert [version for version, _, _ in by_ws] == list(range(1, end["version"] + 1))
    # Three rounds were dealt to Ann, each of them told to her.
    dealt = [hand for _, _, hand in by_ws if len(hand) == 12]
    assert len({json.dumps(sorted(sorted(c.values()) for c in hand)) for hand in dealt}) >= 3


@dataclass
class Impatient:
    """An API process that notices dead peers within seconds, and a match with a long past."""

    port: int
    match_id: str

    def connections(self) -> int:
        """Those that it has open, as the kernel counts them."""
        with open("/proc/net/tcp") as table:  # noqa: PTH123
            rows = [line.split() for line in table][1:]
        return sum(row[1].endswith(f":{self.port:04X}") and row[3] == "01" for row in rows)


LAUNCH = """
import api.server as s, api.rest.updates as u
s.PING_SECONDS = u.PING_SECONDS = 1
s.PEER_SECONDS = 3
from api.settings import read_settings
s.serve(read_settings())
"""


@pytest.fixture(scope="module")
def impatient(redis_url: str) -> Iterator[Impatient]:
    port, match_id = free_port(), asyncio.run(long_past(redis_url))
    env = {**os.environ, "RINGMASTER_REDIS_URL": redis_url, "RINGMASTER_PORT": str(port)}
    with subprocess.Popen([sys.executable, "-c", LAUNCH], env=env) as process:
        until_ready(f"http://127.0.0.1:{port}")
        yield Impatient(port, match_id)
        process.terminate()


async def long_past(redis_url: str) -> str:
    """A match of 501 commits in which nothing happens any more."""
    redis = connected(redis_url)
    service = MatchService(RedisStore(redis), RedisDirectory(redis), Hints())
    seats = (Seat(SeatKind.PLAYER, "Ann", None, "ann"), *[Seat(SeatKind.OPEN)] * 4)
    opened = await service.create("ann", NewMatch(seats, Visibility.PUBLIC, None))
    match_id = opened.view.match_id
    for _ in range(250):
        await service.join(match_id, "bob", Joining("B" * 40))
        await service.leave(match_id, "bob")
    await redis.aclose()
    return match_id


def until_ready(url: str) -> None:
    for _ in range(300):
        try:
            assert httpx.get(f"{url}/readyz").status_code == 200
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the process did not start")


async def test_an_idle_connection_is_kept_for_longer_than_clients_keep_theirs(stack):
    host, port = stack.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    for pause in (6, 0):  # more than the five seconds of many
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 200")
        await reader.readuntil(b'{"status":"ok"}')
        await asyncio.sleep(pause)
    writer.close()
    await writer.wait_closed()


def sent_by(way: str, match_id: str, after: int = 0) -> bytes:
    """What a peer sends to follow a match, before it does nothing any more."""
    host = "Host: 127.0.0.1\r\n"
    if way == "REST":
        path = f"/v1/matches/{match_id}/updates?after={after}"
        return f"GET {path} HTTP/1.1\r\n{host}Accept: text/event-stream\r\n\r\n".encode()
    payload = {"query": UPDATES, "variables": {"m": match_id, "after": after}}
    if way == "GraphQL":
        body = json.dumps(payload)
        return (
            f"POST /graphql HTTP/1.1\r\n{host}Accept: text/event-stream\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        ).encode()
    handshake = (
        f"GET /graphql HTTP/1.1\r\n{host}Connection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n"
    )
    frames: list[dict[str, Any]] = [{"type": "connection_init"}]
    frames += [{"id": str(n), "type": "subscribe", "payload": payload} for n in range(20)]
    return handshake.encode() + b"".join(frame(json.dumps(f).encode()) for f in frames)


def frame(text: bytes) -> bytes:
    """A masked text frame (RFC 6455) with a mask of zeros."""
    return b"\x81" + bytes([0x80 | 126]) + len(text).to_bytes(2, "big") + bytes(4) + text


def connect(port: int, opened: ExitStack) -> socket.socket:
    """A connection with room for little, so that it is soon known whether it is read."""
    peer = opened.enter_context(socket.socket())
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    peer.connect(("127.0.0.1", port))
    return peer


async def until(condition: Any, seconds: float) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - another process's state
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("way", ["WebSocket", "GraphQL", "REST"])
async def test_a_peer_that_stops_reading_is_noticed_and_freed(impatient, way):
    with ExitStack() as opened:
        for _ in range(5):
            connect(impatient.port, opened).sendall(sent_by(way, impatient.match_id))
        await until(lambda: impatient.connections() >= 5, 10)
        await until(lambda: impatient.connections() == 0, 20)


async def test_a_peer_that_answers_no_ping_is_let_go(impatient):
    with ExitStack() as opened:
        peer = connect(impatient.port, opened)
        peer.sendall(sent_by("WebSocket", "m0-aaaaaaaaaaaaaaaa"))
        peer.settimeout(10)
        got = await asyncio.to_thread(lambda: b"".join(iter(lambda: peer.recv(65536), b"")))

    assert b"\x89\x04" in got  # a ping
    assert b"\x03\xf3" in got  # 1011 in a close frame


@pytest.mark.parametrize("way", ["GraphQL", "REST"])
async def test_a_stream_on_which_nothing_happens_is_pinged(impatient, way):
    with ExitStack() as opened:
        peer = connect(impatient.port, opened)
        peer.sendall(sent_by(way, impatient.match_id, after=501))
        peer.settimeout(1)
        got = b""
        async with asyncio.timeout(20):
            while b"\n: ping" not in got:
                try:
                    got += await asyncio.to_thread(peer.recv, 65536)
                except TimeoutError:
                    continue
