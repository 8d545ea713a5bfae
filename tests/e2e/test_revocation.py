"""Revocations across processes: heard by all. Across restarts: tests/failures/test_restarts.py."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from api.cli.embedded import free_port
from tests.api.test_tokens import OPEN, PLAYER, create, refused, revoke
from tests.client import Client, messages, subscribe
from tests.conftest import Stack

LOBBY = "{ matches(first: 1) { edges { cursor } } }"
UNTIL_ENDED = 2.0  # seconds, as promised


class Process:
    """One API process, and its address."""

    def __init__(self, redis_url: str, log: Path, port: int | None = None) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = log
        with log.open("a") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "api.cli.main", "api", "--port", str(self.port)],
                env={**os.environ, "RINGMASTER_REDIS_URL": redis_url},
                stderr=stderr,
            )

    async def ready(self) -> None:
        async with asyncio.timeout(100), httpx.AsyncClient() as http:
            while True:
                with contextlib.suppress(httpx.TransportError):
                    if (await http.get(f"{self.url}/readyz")).status_code == 200:
                        return
                await asyncio.sleep(0.05)

    def send(self, number: int) -> None:
        self._process.send_signal(number)

    def stop(self, number: int = signal.SIGTERM) -> None:
        self.send(number)
        self._process.wait(20)


@pytest.fixture(scope="module")
def two(redis_url: str, tmp_path_factory) -> Iterator[tuple[Process, Process]]:
    """Two API processes on one Redis."""
    folder = tmp_path_factory.mktemp("two")
    here, there = (Process(redis_url, folder / f"{n}.log") for n in range(2))
    try:
        asyncio.run(here.ready())
        asyncio.run(there.ready())
        yield here, there
        there.send(signal.SIGCONT)
    finally:
        here.stop()
        there.stop()


async def ended(ws, seconds: float) -> list[str]:
    """The codes of the error with which a stream ends."""
    async with asyncio.timeout(seconds):
        async for message in messages(ws):
            if errors := message.get("payload", {}).get("errors"):
                return [error["extensions"]["code"] for error in errors]
    raise AssertionError("the connection was closed")


async def test_a_stream_of_another_process_ends_within_two_seconds(two):
    here, there = two
    async with Client(here.url) as ann:
        await ann.sign_in("Ann")
        match = await ann.create(PLAYER, OPEN, visibility="PUBLIC")
        delays = []
        for _ in range(10):
            made = await create(ann, "BOT")
            async with with_url(there, made["token"]) as bot, bot.socket() as ws:
                await subscribe(ws, "1", match["id"])
                assert (await anext(messages(ws)))["type"] == "next"
                began = time.monotonic()
                await revoke(ann, made["accessToken"]["id"])
                assert await ended(ws, UNTIL_ENDED) == ["UNAUTHENTICATED"]
                delays.append(time.monotonic() - began)
                assert await refused(bot, LOBBY) == "UNAUTHENTICATED"
    assert max(delays) < UNTIL_ENDED
    for process in two:
        assert made["token"] not in process.log.read_text()
        assert ann.token not in process.log.read_text()


async def test_a_hundred_streams_of_another_process_end_and_others_go_on(two):
    here, there = two
    async with Client(here.url) as ann, Client(there.url) as eve:
        await ann.sign_in("Ann")
        await eve.sign_in("Eve")
        match = await ann.create(PLAYER, OPEN, visibility="PUBLIC")
        made = await create(ann, "SPECTATE")
        async with (
            with_url(there, made["token"]) as looking,
            looking.socket() as ws,
            eve.socket() as other,
        ):
            await subscribe(other, "1", match["id"])
            await anext(messages(other))
            for number in range(100):
                await subscribe(ws, f"{number}", match["id"])
                await anext(messages(ws))
            began = time.monotonic()
            await revoke(ann, made["accessToken"]["id"])
            for _ in range(100):
                assert await ended(ws, UNTIL_ENDED) == ["UNAUTHENTICATED"]
            assert time.monotonic() - began < UNTIL_ENDED
            await ann.by_id("startMatch", match["id"])
            assert (await anext(messages(other)))["type"] == "next"


async def test_a_process_that_heard_nothing_for_a_while_catches_up(two):
    here, there = two
    async with Client(here.url) as ann:
        await ann.sign_in("Ann")
        match = await ann.create(PLAYER, OPEN, visibility="PUBLIC")
        made = await create(ann, "BOT")
        async with with_url(there, made["token"]) as bot, bot.socket() as ws:
            await subscribe(ws, "1", match["id"])
            await anext(messages(ws))
            there.send(signal.SIGSTOP)
            await revoke(ann, made["accessToken"]["id"])
            await asyncio.sleep(6)  # longer than its connection to Redis waits
            there.send(signal.SIGCONT)
            assert await ended(ws, UNTIL_ENDED) == ["UNAUTHENTICATED"]


def with_url(process: Process | Stack, token: str | None) -> Client:
    """A client of a process, with a token."""
    client = Client(process.url)
    client.token = token
    return client
