"""Keys to lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.cli.terminal.editor import END_OF_INPUT, LineEditor

UP, DOWN, RIGHT, LEFT = (b"\x1b[" + letter for letter in (b"A", b"B", b"C", b"D"))


def typed(*keys: bytes) -> LineEditor:
    editor = LineEditor()
    for key in keys:
        editor.feed(key)
    return editor


def test_enter_completes_a_line():
    editor = LineEditor()
    assert editor.feed(b"show 3") == []
    assert editor.feed(b" 2\rke") == ["show 3 2"]
    assert (editor.text, editor.cursor) == ("ke", 2)
    assert editor.feed(b"ep\n\n") == ["keep", ""]


def test_the_text_can_be_mended():
    assert typed(b"shop", b"\x7f", b"w").text == "show"
    assert typed(b"how", b"\x01", b"s").text == "show"
    assert typed(b"shw", LEFT, b"o").text == "show"
    assert typed(b"sshow", b"\x01", b"\x1b[3~").text == "show"
    assert typed(b"show 1 2", b"\x17", b"\x17").text == "show"
    assert typed(b"nonsense", b"\x15", b"show").text == "show"
    assert typed(b"sho", LEFT, LEFT, LEFT, LEFT, b"\x05", b"w").text == "show"


def test_former_lines_come_back():
    editor = typed(b"keep\r", b"show 1 2\r", UP, UP)
    assert editor.text == "keep"
    editor.feed(UP + DOWN)
    assert editor.text == "show 1 2"
    editor.feed(DOWN)
    assert editor.text == ""


def test_a_key_may_come_in_pieces():
    editor = LineEditor()
    for byte in "ab\x1b[Dé".encode():
        editor.feed(bytes([byte]))
    assert (editor.text, editor.cursor) == ("aéb", 2)


def test_control_d_ends_the_input_only_on_an_empty_line():
    assert LineEditor().feed(b"\x04") == [END_OF_INPUT]
    assert typed(b"abc").feed(b"\x04\r") == ["abc"]


@given(st.binary(max_size=60))
def test_no_key_breaks_it(data):
    editor = LineEditor()
    lines = editor.feed(data)
    assert all(line == END_OF_INPUT or line.isprintable() for line in lines)
    assert 0 <= editor.cursor <= len(editor.text)


@pytest.mark.parametrize(
    "unknown",
    [b"\x1b[[A", b"\x1bOp", b"\x1b[?1;2c", b"\x1b[1;5R", b"\x1b[ q", b"\x1b[200~", b"\x1b[12\x01"],
)
def test_keys_it_does_not_know_are_passed_over(unknown):
    editor = LineEditor()

    assert editor.feed(b"ab" + unknown + b"c\r") in (["abc"], ["cab"])
    for byte in unknown:  # one by one, as a slow line sends them
        editor.feed(bytes([byte]))
    assert editor.feed(b"\r") == [""]


@given(st.lists(st.sampled_from("\x1b [O?;19Ap~\x01b"), max_size=12).map("".join))
def test_nothing_typed_locks_it(keys):
    editor = LineEditor()
    editor.feed(keys.encode())

    assert editor.feed(b"zz\r")
