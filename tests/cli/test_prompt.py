"""Every command that can be typed, and what is said of the rest."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.cli.terminal.moves import ChooseHand, Scout, ScoutAndShow, Show
from api.cli.terminal.prompt import HELP, MovesAfter, NoCommand, Pick, Word, parse


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("show 3 2", Show(3, 2)),
        ("s 3 2", Show(3, 2)),
        ("  SHOW 0,  11 ", Show(0, 11)),
        ("scout left 4", Scout("LEFT", 4, flip=False)),
        ("scout right 0 flip", Scout("RIGHT", 0, flip=True)),
        ("sc r 12 f", Scout("RIGHT", 12, flip=True)),
        (
            "scout left 4 then show 2 3",
            ScoutAndShow(Scout("LEFT", 4, flip=False), Show(2, 3)),
        ),
        ("sc l 4 flip then s 2 3", ScoutAndShow(Scout("LEFT", 4, flip=True), Show(2, 3))),
        ("scout left 4 then 2 3", ScoutAndShow(Scout("LEFT", 4, flip=False), Show(2, 3))),
        ("keep", ChooseHand(flip=False)),
        ("flip", ChooseHand(flip=True)),
        ("moves", Word.MOVES),
        ("m", Word.MOVES),
        ("moves right 0 flip", MovesAfter(Scout("RIGHT", 0, flip=True))),
        ("17", Pick(17)),
        ("hand", Word.HAND),
        ("table", Word.TABLE),
        ("help", Word.HELP),
        ("?", Word.HELP),
        ("start", Word.START),
        ("quit", Word.QUIT),
        ("exit", Word.QUIT),
        ("leave", Word.LEAVE),
        ("", None),
        ("   ", None),
    ],
)
def test_a_command_is_understood(line, command):
    assert parse(line) == command


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("shwo 3 2", "Did you mean `show`?"),
        ("mvoes", "Did you mean `moves`?"),
        ("xyzzy", "`help` lists them all"),
        ("show", "`show 3 2`"),
        ("show 3", "`show 3 2`"),
        ("show three two", "`show 3 2`"),
        ("show -1 2", "`show 3 2`"),
        ("show 3 2 1", "`show 3 2`"),
        ("show 1000000000000 1", "`show 3 2`"),
        ("show ٣ 2", "`show 3 2`"),
        ("scout", "`scout left 4`"),
        ("scout middle 4", "`scout left 4`"),
        ("scout left 4 over", "`scout left 4`"),
        ("scout left 4 then", "`scout left 4 then show 2 3`"),
        ("scout left 4 then show 2", "`scout left 4 then show 2 3`"),
        ("scout then show 2 3", "`scout left 4`"),
        ("moves up", "`scout left 4`"),
        ("keep it", "stands alone"),
        ("quit now", "stands alone"),
        ("-3", "`help` lists them all"),
        ("\x00\x1b[2J", "`help` lists them all"),
    ],
)
def test_what_is_no_command_gets_a_hint(line, said):
    with pytest.raises(NoCommand) as slip:
        parse(line)
    assert said in str(slip.value)


@given(st.text())
def test_any_line_is_a_command_or_gets_a_hint(line):
    with contextlib.suppress(NoCommand):
        parse(line)


def test_moves_are_written_as_they_are_read():
    scout = Scout("LEFT", 3, flip=True)
    moves = [ChooseHand(flip=True), ChooseHand(flip=False), Show(0, 4), scout]
    for move in (*moves, ScoutAndShow(scout, Show(3, 2))):
        assert parse(str(move)) == move


def test_help_shows_commands_that_work():
    for forms, _ in HELP:
        for form in forms.split(", "):
            assert parse(form) is not None


@pytest.mark.parametrize(
    ("token", "move"),
    [
        ("S3x2", Show(3, 2)),
        ("L4k", Scout("LEFT", 4, flip=False)),
        (" R0f ", Scout("RIGHT", 0, flip=True)),
        ("L4k+S3x2", ScoutAndShow(Scout("LEFT", 4, flip=False), Show(3, 2))),
    ],
)
def test_moves_may_be_written_in_notation(token, move):
    assert parse(token) == move


@pytest.mark.parametrize(
    "token", ["S3", "S3x", "L4", "X4k", "+S3x2", "L4k+", "L4kS3x2", "s3x2", "+"]
)
def test_what_is_no_token_is_no_command(token):
    with pytest.raises(NoCommand):
        parse(token)
