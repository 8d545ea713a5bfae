"""Cards as text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.cards import Card, deck
from engine.notation import format_card, format_cards, parse_card, parse_cards

cards = st.sampled_from([c for card in deck(5) for c in (card, card.turned())])


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


@pytest.mark.parametrize(
    "text",
    ["", "3", "3/", "/3", "3/3", "0/4", "03/4", "3/11", "-1/4", "3/4/5", "3 /4", "\u0663/4", "a/b"],
)
def test_what_names_no_card(text):
    with pytest.raises(ValueError, match="a card"):
        parse_card(text)


def test_one_bad_word_spoils_the_line():
    with pytest.raises(ValueError, match="a card"):
        parse_cards("3/4 5/5")
