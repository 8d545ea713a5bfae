"""What the distribution installs, and who may import whom."""

import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("api", "engine", "schema", "workers")


@pytest.mark.parametrize("package", OURS)
def test_no_dependency_installs_a_package_of_our_names(package):
    owners = set(packages_distributions().get(package, [])) - {"scout-ringmaster"}

    assert owners == set()


def test_the_import_rules_hold():
    checked = subprocess.run(
        [Path(sys.executable).parent / "lint-imports"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert checked.returncode == 0, checked.stdout


def test_the_engine_has_no_coroutines():
    for path in (ROOT / "engine").rglob("*.py"):
        assert "async def" not in path.read_text(), path


def test_the_changelog_begins_with_the_version():
    version = next(
        line.split('"')[1]
        for line in (ROOT / "pyproject.toml").read_text().splitlines()
        if line.startswith("version")
    )

    headings = [
        line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("## ")
    ]

    assert version in headings[0] or ("Unreleased" in headings[0] and version in headings[1])


def test_the_scripts_of_the_store_are_part_of_the_package():
    from importlib.resources import files  # noqa: PLC0415

    series = {"series_open.lua", "series_count.lua", "series_cancel.lua"}
    assert {"commit.lua", "lease.lua", "postpone.lua", "token_list.lua", *series} <= {
        path.name for path in files("api.store").iterdir()
    }
