"""docs/operations.md, "Back up and restore": its commands as they stand, on a server under load."""

import asyncio
import os
import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from api.bootstrap import Parts, build
from api.errors import Refused, Unauthenticated
from api.settings import Settings
from api.values import ANYHOW, Joining, NewMatch
from engine.actions import ChooseHand
from engine.state import Seat, SeatKind, Status, Visibility
from schema.codes import ErrorCode
from tests.redises import Node, server

GUIDE = Path(__file__).parents[2] / "docs" / "operations.md"
AOF = ("--appendonly", "yes", "--appendfsync", "everysec")
BOT = Seat(SeatKind.BOT, "Bot", bot_level="regular")


def blocks() -> list[str]:
    section = GUIDE.read_text().split("## Back up and restore\n")[1].split("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", section, re.DOTALL)


async def sh(script: str, **env: Path | str) -> None:
    ran = await asyncio.to_thread(
        subprocess.run,
        ["bash", "-euc", script],
        env={**os.environ, **{name: str(value) for name, value in env.items()}},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")


@asynccontextmanager
async def services(redis: Node) -> AsyncIterator[Parts]:
    parts = build(Settings(redis_url=redis.url))
    try:
        yield parts
    finally:
        await parts.close()


@pytest.fixture
def redis_server(tmp_path):
    node = server(tmp_path / "old", *AOF).start()
    yield node
    node.kill()


async def opened(parts: Parts) -> str:
    """A match of Ann and Bob, of whom Ann has chosen."""
    seats = (Seat(SeatKind.PLAYER, "Ann", player_id="ann"), Seat(SeatKind.OPEN))
    new = NewMatch(seats, Visibility.PUBLIC, None)
    match_id = (await parts.service.create("ann", new)).view.match_id
    await parts.service.join(match_id, "bob", Joining("Bob"))
    await parts.service.act(match_id, "ann", lambda seat: ChooseHand(seat, flip=False), ANYHOW)
    return match_id


async def load(parts: Parts, stopped: asyncio.Event) -> None:
    """Matches that are opened one after the other."""
    while not stopped.is_set():
        await opened(parts)


async def test_what_was_backed_up_under_load_goes_on_as_it_was(redis_server, tmp_path):
    backup, restore = blocks()
    folders = {"BACKUP": tmp_path / "backup", "RESTORED": tmp_path / "new"}
    async with services(redis_server) as parts:
        ann = await parts.identity.sign_in("Ann")
        match_id = await opened(parts)
        await parts.service.create("ann", NewMatch((BOT, BOT), Visibility.PUBLIC, None))
        before = await parts.service.look(match_id, "ann")
        stopped = asyncio.Event()
        playing = asyncio.create_task(load(parts, stopped))
        await sh(
            backup,
            DATA=redis_server.folder,
            RINGMASTER_REDIS_URL=redis_server.url,
            **folders,
        )
        stopped.set()
        await playing
        later = await parts.identity.sign_in("Late")
        await parts.service.act(match_id, "bob", lambda seat: ChooseHand(seat, flip=True), ANYHOW)
    redis_server.kill()

    await sh(restore, **folders)
    restored = server(folders["RESTORED"], *AOF).start()
    try:
        async with services(restored) as parts:
            assert await parts.service.look(match_id, "ann") == before
            assert before is not None
            with pytest.raises(Refused) as refused:
                await parts.service.check_follow(match_id, "ann", before.version + 1)
            assert refused.value.code is ErrorCode.CURSOR_EXPIRED
            caller = await parts.identity.recognise(f"Bearer {ann.token}")
            assert caller is not None
            assert caller.player_id == ann.player_id
            with pytest.raises(Unauthenticated):
                await parts.identity.recognise(f"Bearer {later.token}")
            assert len(await parts.store.due(10**15, 10)) == 1  # the bots' match
            await parts.service.act(match_id, "bob", lambda s: ChooseHand(s, flip=True), ANYHOW)
            after = await parts.service.look(match_id, "bob")
            assert after is not None
            assert after.view.status is Status.PLAYING
            await all_readable(parts)
    finally:
        restored.kill()


async def all_readable(parts: Parts) -> None:
    """Every match of the copy can be read to its end, the one that was cut short too."""
    found, place = 0, None
    while True:
        answers, more = await parts.service.page(None, place, 100, None)
        found += len(answers)
        if not more:
            break
        place = answers[-1].view.created_at, answers[-1].view.match_id
    assert found > 2
    assert found == len(await parts.store.listed(None, None, 10_000))
