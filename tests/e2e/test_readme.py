"""The README does what it says: its requests run, its tables are those of the code."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from graphql import build_schema, parse, validate

from api.graphql.schema import schema
from api.settings import Settings
from schema.codes import ErrorCode

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
ADDRESS = "127.0.0.1:8000"


def blocks(language: str, section: str) -> list[str]:
    """The fenced blocks of a language in a section."""
    text = README.split(f"## {section}\n")[1].split("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def settings_table() -> str:
    """The table of all settings, as the README has it."""
    rows = ["| variable | default | what it is |", "| --- | --- | --- |"]
    for name, field in Settings.model_fields.items():
        default = f"`{field.default}`" if str(field.default or "") else "unset"
        rows.append(f"| `RINGMASTER_{name.upper()}` | {default} | {field.description} |")
    return "\n".join(rows)


def test_every_setting_is_in_the_table():
    assert settings_table() in README


def test_the_first_match_runs_as_it_is_written(stack, tmp_path):
    script = "set -eu\n" + "\necho ---\n".join(blocks("sh", "A first match in five minutes"))
    script += '\necho "token=$TOKEN match=$MATCH"\n'
    script = script.replace(ADDRESS, stack.url.removeprefix("http://"))

    ran = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    answers = ran.stdout.split("---\n")
    assert "errors" not in ran.stdout.replace("userErrors", ""), ran.stdout
    assert '"status":"CHOOSING"' in answers[3]
    assert '"top"' in answers[3]
    assert '"userErrors":[]' in answers[4]
    assert '"shows"' in answers[5]
    assert '"code":"' in answers[6]
    assert "HandsDealt" in answers[7]
    assert '"shows":' in answers[8]
    assert re.match(r"HTTP/1.1 4\d\d .*application/problem\+json.*\"code\":", answers[9], re.DOTALL)
    assert "id: 1\nevent: update" in answers[10]
    assert '"reason":"As dealt' in answers[11]
    assert '"status":"FINISHED"' in answers[12]

    token, match = re.findall(r"token=(\S+) match=(\S+)", ran.stdout)[0]
    follow_in_python(token, match, stack.url)


def test_the_proof_runs_as_it_is_written(stack, tmp_path):
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    first = blocks("sh", "A first match in five minutes")
    (proof,) = blocks("sh", "Proof that the deal was fair")
    script = "set -eu\n" + "\n".join([first[0], first[1], first[-1], proof])
    address = stack.url.removeprefix("http://")
    script = script.replace(ADDRESS, address).replace("export --", f"export --url {stack.url} --")

    ran = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "all agree with the rules" in ran.stderr


def follow_in_python(token: str, match: str, url: str) -> None:
    (program,) = blocks("python", "A first match in five minutes")
    ran = subprocess.run(
        [sys.executable, "-c", program.replace(ADDRESS, url.removeprefix("http://")), token, match],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert [line[:13] for line in ran.stdout.splitlines()] == [
        "{'version': 1",
        "{'version': 2",
        "{'version': 3",
    ]


@pytest.mark.parametrize("document", blocks("graphql", "Moves that survive a bad connection"))
def test_documents_are_valid(document):
    assert validate(build_schema(schema.as_str()), parse(document)) == []


def test_the_commands_named_are_there():
    ringmaster = [sys.executable, "-m", "api.cli.main"]
    for command in set(
        re.findall(r"ringmaster (up|play|watch|schema|audit|export|vectors)\b", README)
    ):
        helped = subprocess.run(
            [*ringmaster, command, "--help"], capture_output=True, timeout=30, check=False
        )
        assert helped.returncode == 0
    targets = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"^make (\w+)", README, re.MULTILINE)):
        assert f"\n{target}:" in targets


def test_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", README):
        assert (ROOT / link).exists(), link


def test_codes_named_are_codes():
    named = set(re.findall(r"`([A-Z]+_[A-Z_]+)`", README))
    assert {n for n in named if not n.startswith("RINGMASTER_")} <= set(ErrorCode)
