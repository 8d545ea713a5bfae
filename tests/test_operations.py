"""docs/operations.md: what it names is there, and what leads to it finds it."""

import re
from pathlib import Path

import pytest
import typer.main
import yaml

from api.cli.admin import app as admin
from api.settings import Settings

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "operations.md").read_text()
ALERTS = yaml.safe_load((ROOT / "k8s" / "monitoring" / "alerts.yaml").read_text())
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
PARTS = ("- Means: ", "- Look", "- Do: ", "- Rehearse: ")


def test_each_alert_has_a_drill_and_no_other_has():
    headings = re.findall(r"^### (Ringmaster\w+)$", PAGE, re.MULTILINE)

    assert headings == [rule["alert"] for rule in RULES]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_a_drill_is_whole_and_is_led_to(rule):
    drill = PAGE.split(f"### {rule['alert']}\n")[1].split("\n#")[0]

    assert rule["annotations"]["drill"] == f"docs/operations.md#{rule['alert'].lower()}"
    assert [part for part in PARTS if part not in drill and "Look and do" not in drill] == []


def test_commands_of_operators_are_there():
    named = set(re.findall(r"ringmaster admin ([a-z-]+)", PAGE))

    assert named <= set(typer.main.get_command(admin).commands)  # type: ignore[attr-defined]
    assert named >= {"stuck", "inspect", "send-due", "cancel", "processes", "drain", "revoke"}


def test_settings_and_metrics_are_there():
    settings = {f"RINGMASTER_{name.upper()}" for name in Settings.model_fields}
    told = (ROOT / "docs" / "observability.md").read_text()

    for name in re.findall(r"`(RINGMASTER_[A-Z_]+\*?)", PAGE):
        assert any(re.fullmatch(name.replace("*", ".*"), setting) for setting in settings), name
    for name in re.findall(r"`(ringmaster_[a-z_]+)", PAGE):
        assert f"| `{name}` |" in told, name


def test_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)#:]+)[^)]*\)", PAGE):
        assert (ROOT / "docs" / link).exists(), link
    anchors = {re.sub(r"[^a-z0-9 -]", "", h.lower()).replace(" ", "-") for h in headings()}
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= anchors


def headings() -> list[str]:
    return re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
