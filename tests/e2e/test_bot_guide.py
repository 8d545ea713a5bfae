"""docs/bot-guide.md does what it says: its commands run, its programs play."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from graphql import build_schema, parse, validate

from api.graphql.schema import schema
from api.settings import Settings
from schema.codes import ErrorCode
from workers import thinking

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "bot-guide.md").read_text()
EXAMPLE = (ROOT / "examples" / "bot.py").read_text()
COMMAND = ".venv/bin/python examples/bot.py"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


def run(command: list[str], folder: Path, **env: str) -> str:
    ran = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=folder,
        env={**os.environ, **env},
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("script", [b for b in blocks("sh") if COMMAND in b])
def test_its_commands_run(stack, tmp_path, script):
    command = f"{sys.executable} {ROOT}/examples/bot.py --url {stack.url}"

    out = run(["bash", "-euc", script.replace(COMMAND, command)], tmp_path)

    assert ", won" in out
    assert "seat 0 Example" in out or ("Ann" in out and "Bob" in out)


def test_its_decision_in_the_place_of_the_examples_plays(stack, tmp_path):
    program = EXAMPLE.replace("async def play(", blocks("python")[0] + "\n\nasync def play(")
    (tmp_path / "bot.py").write_text(program)

    assert ", won" in run([sys.executable, "bot.py", "--url", stack.url], tmp_path)


def test_its_level_plays_without_a_fault(tmp_path):
    (tmp_path / "my_levels.py").write_text(blocks("python")[1])
    program = (
        "from api.levels import adopt_levels\n"
        "adopt_levels('my_levels'); adopt_levels('my_levels')\n"
        "from engine.bots import LEVELS\n"
        "from engine.views import view\n"
        "from tests.builders import play_out\n"
        "level = LEVELS['mine']\n"
        "choose = lambda match, seat, chance: level.action(view(match, seat), (), 7)\n"
        "print(play_out(3, 1, choose)[-1][1].status)"
    )

    assert run([sys.executable, "-c", program], tmp_path).strip() == "FINISHED"


def test_what_it_says_of_the_schema_and_the_settings_is_so():
    (query,) = blocks("graphql")
    assert validate(build_schema(schema.as_str()), parse(query)) == []
    for name in re.findall(r"`RINGMASTER_([A-Z_]+)`", GUIDE):
        assert name.lower() in Settings.model_fields
    codes = re.findall(r"`([A-Z]+_[A-Z_]+)`", GUIDE)
    assert set(codes) - {"RINGMASTER_BOT_LIMIT_MS", "RATE_LIMITED"} <= set(ErrorCode)
    assert f"{thinking.CPU_BUDGETS} times its `budget_ms`" in GUIDE
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", GUIDE):
        assert (ROOT / "docs" / link).exists(), link
