"""Whole matches as text: nothing changes unseen."""

# mypy: disable-error-code="union-attr"

from itertools import zip_longest

import pytest

from engine.actions import ScoutAndShow
from engine.cards import PLAYER_COUNTS
from engine.commands import ExpireTurn
from engine.notation import format_position, format_view, parse_position, parse_view
from engine.state import RoundEnd, Status
from tests.engine.playthroughs import FOLDER, PLAYTHROUGHS, played, written

every_playthrough = pytest.mark.parametrize(
    "playthrough", PLAYTHROUGHS, ids=lambda playthrough: playthrough.path.stem
)


@every_playthrough
def test_it_is_played_as_written(playthrough):
    kept = playthrough.path.read_text(encoding="utf-8").splitlines()
    now = written(playthrough).splitlines()
    for number, (before, after) in enumerate(zip_longest(kept, now), 1):
        if before != after:
            pytest.fail(
                f"{playthrough.path.name} differs from line {number} on\n"
                f"  kept: {before}\n"
                f"  now:  {after}\n"
                "If that is meant, write the playthroughs anew and read what has changed:\n"
                "  .venv/bin/make playthroughs && git diff tests/engine",
                pytrace=False,
            )


@every_playthrough
def test_what_is_written_can_be_read(playthrough):
    lines = playthrough.path.read_text(encoding="utf-8").splitlines()
    for line in lines:
        if line.startswith("view=all"):
            assert format_position(parse_position(line)) == line
        elif line.startswith("view="):
            assert format_view(parse_view(line)) == line


@every_playthrough
def test_it_is_small_enough_to_be_read(playthrough):
    assert playthrough.path.stat().st_size < 150_000


def test_there_is_one_for_each_number_of_players():
    assert tuple(playthrough.players for playthrough in PLAYTHROUGHS) == PLAYER_COUNTS
    assert {*FOLDER.glob("*.txt")} == {playthrough.path for playthrough in PLAYTHROUGHS}


def test_between_them_they_show_what_is_special():
    """Looked for in the rounds that are written in full."""
    seen: set[object] = set()
    for playthrough in PLAYTHROUGHS:
        for command, _, match in played(playthrough):
            r = match.round
            if r is None or r.number > playthrough.full_rounds:
                continue
            dry = not r.table and r.scouts_in_a_row > 0
            seen |= {type(command), r.ending and r.ending.reason}
            seen |= {"dry, then a show"} if dry and match.status is Status.PLAYING else set()
            seen |= {"dry at the end"} if dry and match.status is Status.SCORING else set()

    assert seen >= {*RoundEnd} - {RoundEnd.ACTION_LIMIT}
    assert seen >= {ScoutAndShow, ExpireTurn, "dry, then a show", "dry at the end"}
