"""Levels that raise, hang or cheat, in real workers: every match ends, every fault is counted."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator

import pytest

from api.bootstrap import Parts, build
from api.cli.embedded import free_port
from api.settings import Settings
from api.values import NewMatch
from engine.bots import LEVELS
from engine.state import Seat, SeatKind, Visibility
from tests import bad_levels
from tests.client import Client
from tests.conftest import Stack, start_stack, until_finished
from workers.sweeper import QUICK, Sweeper

BAD = ("raises", "spins", "sleeps", "illegal", "garbage")
WORSE = ("swallows", "stuck", "exits", "regular")


@pytest.fixture(scope="module")
async def bad_stack(tmp_path_factory) -> AsyncIterator[Stack]:
    stack = await asyncio.to_thread(
        start_stack,
        tmp_path_factory.mktemp("bad"),
        RINGMASTER_LEVELS="tests.bad_levels",
        RINGMASTER_BOT_LIMIT_MS="200",
        RINGMASTER_BOT_GRACE_MS="500",
    )
    yield stack
    await asyncio.to_thread(stack.stop)


async def test_matches_of_levels_that_fail_end_and_hold_up_no_other(bad_stack):
    async with Client(bad_stack.url) as ann:
        await ann.sign_in("Ann")
        failing = [
            await ann.create(*({"kind": "BOT", "botLevel": level} for level in levels))
            for levels in (BAD, WORSE)
        ]
        for _ in range(2):  # good ones, one after the other, while those go on
            good = await ann.create(*[{"kind": "BOT"}] * 3)
            assert (await until_finished(ann, good["id"], 20))["winners"]
        for match in failing:
            assert (await until_finished(ann, match["id"], 40))["winners"]

        counted = {
            level["name"]: level["faults"]
            for level in (await ann.data("{ botLevels { name faults } }"))["botLevels"]
        }

    assert set(counted) == {*LEVELS, *bad_levels.LEVELS}
    assert all((counted[level] >= 5) == (level in bad_levels.LEVELS) for level in counted)
    check_log((bad_stack.folder / "stderr.log").read_text())


def check_log(log: str) -> None:
    """Every fault is told, and no card."""
    for level in bad_levels.LEVELS:
        assert f"bot fault: level={level} kind=" in log
    assert "Hard time limit" in log
    for secret in ("top=", "bottom=", "Card(", "in its text", "hand="):
        assert secret not in log


@pytest.fixture
async def parts(redis, redis_url) -> AsyncIterator[Parts]:
    """A service of this process on an emptied Redis."""
    assert await redis.dbsize() == 0
    parts = build(Settings(redis_url=redis_url, bot_grace_ms=200))
    yield parts
    await parts.close()


@pytest.fixture
def patient_worker(redis_url, tmp_path) -> Iterator[None]:
    """A worker that waits for its levels for minutes, with a process for each sending."""
    worker = subprocess.Popen(
        [sys.executable, "-m", "api.cli.main", "worker"],
        cwd=tmp_path,
        env={
            **os.environ,
            "RINGMASTER_REDIS_URL": redis_url,
            "RINGMASTER_LEVELS": "tests.bad_levels",
            "RINGMASTER_BOT_LIMIT_MS": "600000",
            "RINGMASTER_WORKER_CONCURRENCY": str(QUICK + 1),
        },
        start_new_session=True,
    )
    yield
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait(10)


@pytest.mark.usefixtures("patient_worker")
async def test_a_level_that_holds_up_every_worker_is_overtaken_by_the_sweeper(parts, monkeypatch):
    monkeypatch.setitem(LEVELS, "stuck", bad_levels.LEVELS["stuck"])
    seats = (Seat(SeatKind.PLAYER, "Ann", None, "p-ann"), Seat(SeatKind.BOT, "Bot", "stuck"))
    created = await parts.service.create("p-ann", NewMatch(seats, Visibility.PRIVATE, None))
    match_id, sweeper, sent = created.view.match_id, Sweeper(parts), 0

    async with asyncio.timeout(30):
        while not (await parts.service.look(match_id, "p-ann")).view.seats[1].has_chosen:
            await asyncio.sleep(0.05)
            sent += await sweeper.sweep()

        while not await parts.service.faults("stuck"):  # noqa: ASYNC110 - in another process
            await asyncio.sleep(0.05)
    assert sent >= QUICK


@pytest.mark.parametrize("command", ["up", "worker"])
def test_levels_that_cannot_be_had_are_said_in_one_line(tmp_path, command):
    ended = subprocess.run(
        [sys.executable, "-m", "api.cli.main", command],
        cwd=tmp_path,
        env={
            **os.environ,
            "RINGMASTER_LEVELS": "tests.bad_levels,no.such",
            "RINGMASTER_PORT": str(free_port()),
            "RINGMASTER_DATA_DIR": str(tmp_path / "data"),
        },
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    (line,) = ended.stderr.splitlines()
    assert line.startswith("ringmaster: RINGMASTER_LEVELS: no.such cannot be used (ModuleNotFound")
    assert ended.returncode == 1
