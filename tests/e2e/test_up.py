"""`make up` as its user meets it: ready, stopped, taken ports, restarts, processes that die."""

import asyncio
import os
import pty
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from tests.client import Client, messages, subscribe
from tests.conftest import Stack, start_stack, until_finished
from tests.observed import lines

ROOT = Path(__file__).parents[2]
BOT, PLAYER = {"kind": "BOT"}, {"kind": "PLAYER"}
# A `make` that runs the tests is not to speak through the one that a test runs.
OWN_MAKE = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}


def processes_of(mark: str) -> dict[int, str]:
    """Processes that carry a mark in their environment, or work in its folder: pid, command.

    Redis writes its title over its environment, so it is found by its folder.
    """
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            if not entry.name.isdigit():
                continue
            marked = mark.encode() in (entry / "environ").read_bytes()
            if marked or str((entry / "cwd").readlink()).startswith(mark.split("=")[1]):
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if command:
                    found[int(entry.name)] = command
        except OSError:
            continue
    return found


def pid_of(mark: str, word: str) -> int:
    """The oldest process with a mark whose command line has a word."""
    return min(pid for pid, command in processes_of(mark).items() if word in command)


def gone(mark: str) -> bool:
    until = time.monotonic() + 10
    while processes_of(mark):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture
def mark(tmp_path) -> Iterator[str]:
    """What marks the processes that a test starts; whatever is left of them is killed."""
    mark = f"RINGMASTER_TEST_MARK={tmp_path}"
    yield mark
    for pid in processes_of(mark):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def start(tmp_path: Path, mark: str, **env: str) -> Stack:
    return start_stack(tmp_path, None, RINGMASTER_TEST_MARK=mark.split("=")[1], **env)


def test_killing_the_supervisor_leaves_no_process_behind(tmp_path, mark):
    stack = start(tmp_path, mark)

    stack.stop(signal.SIGKILL)

    assert gone(mark)


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")
def test_make_up_stops_with_ctrl_c(tmp_path, mark):
    folder = tmp_path / "a path with spaces"
    folder.mkdir()
    env = {**OWN_MAKE, "RINGMASTER_TEST_MARK": mark.split("=")[1]}
    process = subprocess.Popen(
        ["make", "up", "PORT=18765"],
        cwd=ROOT,
        env={**env, "RINGMASTER_DATA_DIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    output = []
    for line in process.stdout:
        output.append(line)
        if line.startswith("Stop with"):
            break

    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, errors = process.communicate(timeout=30)

    assert "Ringmaster is ready" in output[0]
    assert "http://127.0.0.1:18765/graphql" in output[1]
    assert "Traceback" not in errors
    assert gone(mark)


def test_closing_the_terminal_of_make_leaves_no_process_behind(tmp_path, mark):
    env = {**OWN_MAKE, "RINGMASTER_TEST_MARK": mark.split("=")[1]}
    env["RINGMASTER_DATA_DIR"] = str(tmp_path)
    pid, terminal = pty.fork()  # make is the leader of its session, as under `ssh -t` or `xterm -e`
    if pid == 0:
        os.chdir(ROOT)
        os.execvpe("make", ["make", "up", "PORT=18767"], env)  # noqa: S606
    said = b""
    while b"Stop with" not in said:
        said += os.read(terminal, 4096)
    assert len(processes_of(mark)) >= 5

    os.close(terminal)

    os.waitpid(pid, 0)
    assert gone(mark)


def test_a_taken_port_is_said_with_the_way_out(tmp_path, stack):
    port = stack.url.rsplit(":", 1)[1]

    refused = subprocess.run(
        ["make", "up", f"PORT={port}"],
        cwd=ROOT,
        env={**OWN_MAKE, "RINGMASTER_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert refused.returncode != 0
    assert f"port {port}" in refused.stderr
    assert "make up PORT=" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_the_same_data_are_not_used_twice_at_once(stack):
    refused = subprocess.run(
        ["make", "up", "PORT=18766"],
        cwd=ROOT,
        env={**OWN_MAKE, "RINGMASTER_DATA_DIR": str(stack.folder / "data")},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert refused.returncode != 0
    assert "another" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RINGMASTER_PORT", "x"),
        ("RINGMASTER_PORT", "70000"),
        ("RINGMASTER_REDIS_URL", "http://x"),
        ("RINGMASTER_MATCH_TTL", "-1"),
    ],
)
def test_a_bad_setting_is_named(tmp_path, name, value):
    refused = subprocess.run(
        ["make", "up"],
        cwd=ROOT,
        env={**OWN_MAKE, "RINGMASTER_DATA_DIR": str(tmp_path), name: value},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert refused.returncode != 0
    assert name in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_configured_redis_is_used(tmp_path, mark, redis_url):
    stack = start(tmp_path, mark, RINGMASTER_REDIS_URL=redis_url)
    try:
        assert stack.redis_url == redis_url
        assert not any("valkey-server" in command for command in processes_of(mark).values())
    finally:
        stack.stop()


async def test_what_dies_is_replaced_and_hanging_up_leaves_the_matches_and_no_process(
    tmp_path, mark
):
    """What becomes of matches meanwhile: tests/chaos."""
    stack = await asyncio.to_thread(start, tmp_path, mark)
    async with Client(stack.url) as ann:
        await ann.sign_in("Ann")
        waiting = await ann.create(PLAYER, {"kind": "OPEN"}, visibility="PUBLIC")
        for victim in ("main sweeper", "main api", "main worker", "valkey-server"):
            before = set(processes_of(mark))
            assert len(before) >= 5
            os.kill(pid_of(mark, victim), signal.SIGKILL)
            await until(partial(replaced, mark, victim, before))
        await until(partial(is_ready, stack.url))
        bots = await ann.create(*[BOT] * 3, visibility="PUBLIC")
        assert (await until_finished(ann, bots["id"]))["winners"]
        token = ann.token
    assert await asyncio.to_thread(stack.stop, signal.SIGHUP) == 0
    assert await asyncio.to_thread(gone, mark)
    events = [line["event"] for line in lines(stack)]
    assert {f"{name} died" for name in ("sweeper", "api", "worker", "redis")} <= set(events)

    stack = await asyncio.to_thread(start, tmp_path, mark)
    async with Client(stack.url) as ann:
        ann.token = token
        assert await ann.match(waiting["id"]) == waiting
    await asyncio.to_thread(stack.stop)
    assert await asyncio.to_thread(gone, mark)


def replaced(mark: str, word: str, before: set[int]) -> bool:
    """Whether there is a process with this word in its command that was not there before."""
    return any(word in line for pid, line in processes_of(mark).items() if pid not in before)


def is_ready(url: str) -> bool:
    with suppress(httpx.TransportError):
        answer = httpx.get(f"{url}/readyz")
        return answer.status_code == 200 and answer.json()["status"] == "ready"
    return False


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not await asyncio.to_thread(holds):  # noqa: ASYNC110 - other processes
            await asyncio.sleep(0.05)


async def test_open_streams_complete_when_it_stops(tmp_path, mark):
    stack = await asyncio.to_thread(start, tmp_path, mark)
    query = 'subscription { matchUpdates(matchId: "%s") { version } }'
    async with Client(stack.url) as ann, ann.socket() as ws:
        await ann.sign_in("Ann")
        match = await ann.create({"kind": "PLAYER"}, {"kind": "OPEN"}, visibility="PUBLIC")
        await subscribe(ws, "1", match["id"])
        assert (await anext(messages(ws)))["type"] == "next"
        async with ann.http.stream(
            "POST",
            "/graphql",
            json={"query": query % match["id"]},
            headers={"accept": "text/event-stream"},
        ) as answer:
            lines = answer.aiter_lines()
            assert await anext(lines) == "event: next"

            began = time.monotonic()
            stack.process.send_signal(signal.SIGTERM)
            rest = [line async for line in lines]
            last = await anext(messages(ws))
            completed = time.monotonic() - began
            with pytest.raises(ConnectionClosed, match="1012"):  # service restart
                await ws.recv()
        stopped = await asyncio.to_thread(stack.stop, signal.SIGTERM)

    assert "event: complete" in rest
    assert last == {"id": "1", "type": "complete"}
    assert stopped == 0
    assert gone(mark)
    assert completed < 4
    assert "Traceback" not in (tmp_path / "stderr.log").read_text()
