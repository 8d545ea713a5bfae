"""`ringmaster arena`: duplicate deals in every seat, the same each time, replays that audit."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.cli.arena.contests import Contest, ladder, play_deal, standing
from api.cli.check import audit_files
from api.cli.main import app
from engine.bots import LEVELS

CONTEST = Contest("skilled", "regular", 3, 2, seed=5)


def deal(number, contest=CONTEST, *, replays=False):
    return play_deal(contest, number, replays=replays, levels="")


def test_a_deal_is_played_with_the_level_in_every_seat_of_the_same_cards():
    played = deal(2, replays=True)
    replays = [json.loads(line) for line in played.replays]

    assert [result.number for result in played.results] == [4, 5, 6]
    assert [result.seating.index(0) for result in played.results] == [0, 1, 2]
    assert [[seat["botLevel"] for seat in r["seats"]].index("skilled") for r in replays] == [
        0,
        1,
        2,
    ]
    hands = [[round_["hands"] for round_ in replay["rounds"]] for replay in replays]
    assert hands[0] == hands[1] == hands[2]


def test_the_same_seed_gives_the_same_results_and_other_levels_the_same_deals():
    other = Contest("casual", "regular", 3, 2, seed=5)

    assert deal(1) == deal(1)
    first = json.loads(deal(1, replays=True).replays[0])
    assert json.loads(deal(1, other, replays=True).replays[0])["secret"] == first["secret"]
    changed = Contest("skilled", "regular", 3, 2, seed=6)
    assert json.loads(deal(1, changed, replays=True).replays[0])["secret"] != first["secret"]


def test_a_level_against_itself_is_even():
    even = Contest("regular", "regular", 2, 6, seed=1)
    results = [result for number in range(1, 7) for result in deal(number, even).results]

    line = standing(2, results)
    assert line.difference == 0
    assert line.win_share == 0.5


def test_the_ladder_is_every_level_against_the_one_before():
    contests = ladder(10, 1)
    pairs = [(contest.against, contest.level) for contest in contests if contest.players == 4]

    assert [lower for lower, _ in pairs] == list(LEVELS)[:-1]
    assert [level for _, level in pairs] == list(LEVELS)[1:]
    assert {contest.players for contest in contests} == {2, 3, 4, 5}


def test_the_command_prints_a_line_a_contest_and_writes_replays(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    file = tmp_path / "replays.ndjson"
    asked = ["arena", "casual", "regular", "--players", "2", "--deals", "3", "--jobs", "2"]

    told = CliRunner().invoke(app, [*asked, "--replays", str(file)])

    assert told.exit_code == 0, told.output
    line = next(line for line in told.output.splitlines() if "casual" in line)
    assert re.search(r"2 +│ 3 +│ 6 +│ [+-]\d\.\d\d \[[+-]\d+\.\d\d, [+-]\d+\.\d\d\]", line)
    assert len(file.read_text("utf-8").splitlines()) == 6
    assert audit_files([file]) == 0


@pytest.mark.parametrize("names", [["nobody"], ["regular", "nobody"]])
def test_an_unknown_level_is_told(names):
    told = CliRunner().invoke(app, ["arena", *names])

    assert told.exit_code == 2
    assert "no such level" in told.output


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("raise ValueError(view.you.hand)", "level mine failed: ValueError"),
        (
            "from engine.actions import Show; return Show(view.you.seat, 99, 1)",
            "level mine failed: what it answered is not legal",
        ),
        ("import os; os._exit(3)", "a process of the arena died"),
    ],
)
def test_a_level_that_fails_is_told_in_a_line(tmp_path, body, told):
    (tmp_path / "mine.py").write_text(
        "from engine.bots import Level\n"
        f"def choose(view, history, budget, seed):\n    {body}\n"
        "LEVELS = {'mine': Level('mine', 'Mine.', 1, choose)}\n"
    )
    ran = subprocess.run(
        [sys.executable, "-m", "api.cli.main", "arena", "mine", "--players", "2", "--deals", "2"],
        cwd=tmp_path,
        env={**os.environ, "RINGMASTER_LEVELS": "mine"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1] == f"ringmaster: {told}"
    assert "Card" not in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_its_processes_end_with_it(number):
    command = [sys.executable, "-m", "api.cli.main", "arena", "--deals", "1000", "--jobs", "2"]
    arena = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found: set[int] = set()
    for _ in range(200):
        found = children(arena.pid)
        if len(found) >= 3:  # two that play and the one that tracks resources
            break
        time.sleep(0.05)
    assert len(found) >= 3

    arena.send_signal(number)
    arena.wait(20)

    for _ in range(200):
        left = {pid for pid in found if runs(pid)}
        if not left:
            return
        time.sleep(0.05)
    raise AssertionError(left)


def runs(pid: int) -> bool:
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())  # empty for one that nobody reaped
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(parent: int) -> set[int]:
    found = Path(f"/proc/{parent}/task/{parent}/children").read_text()
    return {int(pid) for pid in found.split()}
