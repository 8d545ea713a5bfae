"""Cards, decks and sizes (rules: Cards)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cards import HAND_SIZE, PLAYER_COUNTS, ROUNDS, Card, deck, flipped


@pytest.mark.parametrize(("players", "size"), [(2, 44), (3, 36), (4, 44), (5, 45)])
def test_deck_sizes(players, size):
    cards = deck(players)

    assert len(set(cards)) == len(cards) == size
    assert cards == tuple(sorted(cards))
    assert all(card.top < card.bottom for card in cards)


def test_what_is_left_out():
    every = set(deck(5))

    assert every - set(deck(2)) == every - set(deck(4)) == {Card(9, 10)}
    assert every - set(deck(3)) == {Card(n, 10) for n in range(1, 10)}


def test_each_number_is_on_nine_cards():
    for number in range(1, 11):
        assert sum(number in card for card in deck(5)) == 9


def test_hands_take_up_the_deck():
    assert [HAND_SIZE[n] * n for n in PLAYER_COUNTS] == [22, 36, 44, 45]
    assert [ROUNDS[n] for n in PLAYER_COUNTS] == [2, 3, 4, 5]


def test_a_flip_exchanges_the_halves_and_keeps_the_order():
    assert flipped((Card(7, 2), Card(7, 4), Card(1, 3))) == (Card(2, 7), Card(4, 7), Card(3, 1))


@given(cards=st.lists(st.from_type(Card)).map(tuple))
def test_two_flips_are_none(cards):
    assert flipped(flipped(cards)) == cards
