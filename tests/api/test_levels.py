"""Levels from outside: taken in once, and refused in one line."""

import sys

import pytest

from api.levels import adopt_levels
from engine.bots import LEVELS, Level

MINE = Level("mine", "A.", 5, LEVELS["casual"].choose)


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes the module `levels_of_test`, found in the current folder."""
    before = dict(LEVELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "levels_of_test", raising=False)
    monkeypatch.setattr("sys.path", [*sys.path])

    def write(text: str) -> str:
        (tmp_path / "levels_of_test.py").write_text(
            "from engine.bots import LEVELS as THEIRS, Level\n"
            "def level(name): return Level(name, 'A.', 5, THEIRS['casual'].choose)\n" + text
        )
        return "levels_of_test"

    yield write
    LEVELS.clear()
    LEVELS.update(before)


def test_levels_of_a_module_are_added_once(module):
    name = module("LEVELS = {'mine': level('mine'), 'x-2': level('x-2')}")

    adopt_levels(f"{name},{name}")
    adopt_levels(name)

    assert list(LEVELS)[-2:] == ["mine", "x-2"]
    assert LEVELS["mine"] == MINE


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("LEVELS = {'regular': level('regular')}", "'regular', but there is one already"),
        ("LEVELS = {'mine': level('other')}", r"LEVELS\['mine'\] is not a Level of this name"),
        ("LEVELS = {'My Level': level('My Level')}", "is not a Level of this name"),
        ("LEVELS = {'mine': 1}", "is not a Level of this name"),
        ("LEVELS = [level('mine')]", "LEVELS is not a dictionary"),
        ("", "AttributeError"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise ValueError('two\\nlines')", "ValueError: two"),
    ],
)
def test_what_cannot_be_taken_is_said_in_one_line(module, text, why):
    with pytest.raises(SystemExit, match=why) as refused:
        adopt_levels(module(text))

    assert str(refused.value).startswith("ringmaster: RINGMASTER_LEVELS: ")
    assert "\n" not in str(refused.value)


def test_no_levels_are_no_change():
    before = dict(LEVELS)

    adopt_levels("")

    assert before == LEVELS
