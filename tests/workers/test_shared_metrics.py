"""What the processes of a worker count together, though some of them end; folders left behind."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.bench.machine import children, part
from tests.conftest import until_finished
from tests.observed import counted, of

COUNT = """
import os, sys
from api.observe.metrics import count_commit, request_time
if sys.argv[1] == "killed":
    count_commit("HandChosen", "CHOOSE_HAND", "bot")
    request_time("x").observe(0.2)
    os.kill(os.getpid(), 9)
count_commit("HandChosen", "CHOOSE_HAND", "bot")
from pathlib import Path
from prometheus_client import CollectorRegistry, generate_latest
from api.observe.serving import SharedCollector
registry = CollectorRegistry()
registry.register(SharedCollector(Path(os.environ["PROMETHEUS_MULTIPROC_DIR"])))
generate_latest(registry)
print(generate_latest(registry).decode())
"""
SHARE = """
import os, sys
from api.observe.sharing import FOLDER, share
share()
print(os.environ[FOLDER], flush=True)
sys.stdin.read()
"""


def run(program: str, *args: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *args],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert "Error" not in done.stderr, done.stderr
    return done.stdout


def test_what_ended_processes_have_counted_stays_and_their_files_do_not(tmp_path):
    env = {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    for _ in range(4):
        run(COUNT, "killed", **env)

    told = run(COUNT, "lives", **env)

    assert 'ringmaster_moves_total{action="CHOOSE_HAND",by="bot"} 5.0' in told
    assert 'ringmaster_request_seconds_count{route="x"} 4.0' in told
    assert 'ringmaster_request_seconds_bucket{le="0.25",route="x"} 4.0' in told
    kinds = sorted(path.stem.rpartition("_")[0] for path in tmp_path.glob("counter_*.db"))
    assert kinds == ["counter", "counter"]  # of the one that lives, and of all others


def begin(tmp_path: Path) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", SHARE],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_the_folder_of_a_killed_worker_is_deleted_by_the_next(tmp_path):
    killed, left = begin(tmp_path)
    lives, kept = begin(tmp_path)
    killed.kill()
    killed.communicate()
    assert left.exists()

    third, own = begin(tmp_path)

    assert not left.exists()
    assert kept.exists()
    assert own.exists()
    for process in (lives, third):
        process.communicate()


async def test_a_process_of_a_worker_that_is_killed_takes_no_count_along(client, stack):
    match = await client.create(*[{"kind": "BOT"}] * 3, visibility="PUBLIC")
    await until_finished(client, match["id"])
    name = "ringmaster_moves_total"
    before = of(await asyncio.to_thread(counted, stack, name), name, "by")["bot"]
    assert before > 10

    parts = {part(pid): pid for pid in children(stack.process.pid)}
    for pid in children(parts["worker"]):
        os.kill(pid, signal.SIGKILL)
    match = await client.create(*[{"kind": "BOT"}] * 3, visibility="PUBLIC")
    finished = await until_finished(client, match["id"])

    after = of(await asyncio.to_thread(counted, stack, name), name, "by")["bot"]
    moves = finished["version"] - 4  # not its opening, nor the three scorings
    assert after - before == moves
