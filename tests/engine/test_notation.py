"""Cards and actions as text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.actions import Action, ChooseHand, End, Scout, ScoutAndShow, Show
from engine.cards import Card, deck
from engine.notation import (
    NotationError,
    format_action,
    format_card,
    format_cards,
    parse_action,
    parse_card,
    parse_cards,
)

cards = st.sampled_from([c for card in deck(5) for c in (card, card.turned())])
numbers = st.integers(0, 999_999_999) | st.integers(0, 12)
ends, flips = st.sampled_from(End), st.booleans()
actions = st.one_of(
    st.builds(ChooseHand, st.just(1), flips),
    st.builds(Show, st.just(1), numbers, numbers),
    st.builds(Scout, st.just(1), ends, numbers, flips),
    st.builds(ScoutAndShow, st.just(1), ends, numbers, flips, numbers, numbers),
)
TOKENS = [
    ("keep", ChooseHand(1, flip=False)),
    ("flip", ChooseHand(1, flip=True)),
    ("S3x2", Show(1, 3, 2)),
    ("S0x10", Show(1, 0, 10)),
    ("L4k", Scout(1, End.LEFT, 4, flip=False)),
    ("R0f", Scout(1, End.RIGHT, 0, flip=True)),
    ("R11f+S3x2", ScoutAndShow(1, End.RIGHT, 11, flip=True, first=3, count=2)),
]

NO_CARDS = "3 3/ /3 3/3 0/4 03/4 3/11 -1/4 3/4/5 \u0663/4 a/b"
NO_ACTIONS = (
    "KEEP Keep pass keep+S0x1 S S3 S3x Sx2 s3x2 S03x2 S3x02 S-1x2 S3X2 S3x2x1 S3.0x1 S\u0663x1 "
    "S1234567890x1 L L4 L4kf l4k M4k 4Lk L04k L-1k L4k+ +S3x2 + L4k+L4k S3x2+L4k L4k+S3x2+S1x1"
)


@settings(max_examples=30)
@given(cards=st.lists(cards).map(tuple))
def test_what_is_written_can_be_read(cards):
    assert parse_cards(format_cards(cards)) == cards


def test_the_top_number_stands_first():
    assert format_card(Card(10, 3)) == "10/3"
    assert parse_card("10/3") == Card(10, 3)


def test_no_cards():
    assert parse_cards("") == ()
    assert format_cards(()) == ""


@pytest.mark.parametrize("text", [*NO_CARDS.split(), "", "3 /4", "3/4\n"])
def test_what_names_no_card(text):
    with pytest.raises(NotationError, match="a card"):
        parse_card(text)


def test_nor_does_a_number_of_many_digits():
    with pytest.raises(NotationError, match="a card"):
        parse_card("3/" + "4" * 5000)


def test_one_bad_word_spoils_the_line():
    with pytest.raises(NotationError, match="a card"):
        parse_cards("3/4 5/5")


@pytest.mark.parametrize(("token", "action"), TOKENS)
def test_tokens(token, action):
    assert format_action(action) == token
    assert parse_action(token, 1) == action


@given(action=actions)
def test_every_action_has_a_token(action: Action):
    token = format_action(action)

    assert parse_action(token, 1) == action
    assert token.isascii()
    assert token.isprintable()
    assert " " not in token


@pytest.mark.parametrize(
    "text",
    [*NO_ACTIONS.split(), "", "keep ", " flip", "S3x2 ", "S3x2\n", "L k", "L4k S3x2"],
)
def test_what_names_no_action(text):
    with pytest.raises(NotationError):
        parse_action(text, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pass", "an action is keep, flip"),
        ("S3", "a show is S"),
        ("L4", "a scout is L or R"),
        ("L4k+S3", "a show is S"),
        ("L4+S3x2", "a scout is L or R"),
        ("S3x02", "without leading zeros"),
        ("S" + "1" * 5000 + "x1", "a number from 0 to 999999999"),
    ],
)
def test_it_is_said_what_is_wrong(text, message):
    with pytest.raises(NotationError, match=message):
        parse_action(text, 0)


@given(text=st.text("keflipSxLR0123456789+", max_size=12))
def test_nothing_else_is_read(text):
    try:
        action = parse_action(text, 2)
    except NotationError:
        return
    assert format_action(action) == text


@pytest.mark.parametrize(
    "action",
    [Show(0, -1, 1), Show(0, 0, -1), Scout(0, End.LEFT, -1, flip=True), Show(0, 10**9, 1)],
)
def test_what_cannot_be_written(action):
    with pytest.raises(NotationError, match="only numbers from 0"):
        format_action(action)


def test_what_is_no_action_is_a_bug():
    with pytest.raises(AssertionError):
        format_action("S3x2")  # type: ignore[arg-type]
