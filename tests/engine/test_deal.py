"""Deals that anyone can check: three replays dealt by another program, and the contract's edges."""

import hmac
import json
from hashlib import sha256
from pathlib import Path

import pytest

from engine.cards import PLAYER_COUNTS, Card, deck
from engine.deal import (
    _Numbers,
    commitment,
    hands,
    is_entropy,
    key_of_deals,
    shuffled,
    starter,
)
from tests.builders import SECRET

REPLAYS = [json.loads(p.read_text()) for p in sorted(Path(__file__).parent.glob("replays/*.json"))]
KEY = bytes.fromhex(SECRET)


@pytest.fixture(params=REPLAYS, ids=lambda replay: f"{replay['players']} players")
def replay(request):
    return request.param


def key_of(replay):
    entropy = {int(seat): text for seat, text in replay["entropy"].items()}
    return key_of_deals(replay["secret"], entropy)


def test_the_replays_are_of_two_three_and_four():
    assert [replay["players"] for replay in REPLAYS] == [2, 3, 4]


def test_commitment(replay):
    assert commitment(replay["secret"]) == replay["deckCommitment"]


def test_starters(replay):
    for round_ in replay["rounds"]:
        assert starter(key_of(replay), replay["players"], round_["number"]) == round_["starter"]


def test_hands(replay):
    for round_ in replay["rounds"]:
        dealt = hands(key_of(replay), replay["players"], round_["number"])
        assert [[list(card) for card in hand] for hand in dealt] == round_["hands"]


def test_without_entropy_the_key_is_the_secret():
    assert key_of_deals(SECRET, {}) == KEY


def test_entropy_is_joined_by_seat_number():
    expected = hmac.new(KEY, b"0:one\n2:two\n10:x", sha256).digest()

    assert key_of_deals(SECRET, {10: "x", 2: "two", 0: "one"}) == expected


def test_entropy_changes_the_deal():
    assert hands(key_of_deals(SECRET, {1: "a"}), 4, 1) != hands(KEY, 4, 1)


def test_two_players_are_dealt_one_shuffle_in_two_halves():
    cards = shuffled(KEY, 2, 1)

    assert hands(KEY, 2, 1) == (cards[:11], cards[11:22])
    assert hands(KEY, 2, 2) == (cards[22:33], cards[33:])


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_a_shuffle_keeps_the_cards_and_turns_some(players):
    cards = shuffled(KEY, players, 1)

    assert sorted(tuple(sorted(card)) for card in cards) == list(deck(players))
    assert {card.top < card.bottom for card in cards} == {True, False}


@pytest.mark.parametrize("players", [3, 4, 5])
def test_each_round_is_shuffled_anew(players):
    assert len({shuffled(KEY, players, number) for number in range(1, players + 1)}) == players


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_the_next_round_starts_with_the_next_seat(players):
    first = starter(KEY, players, 1)

    assert [starter(KEY, players, 1 + n) for n in range(players)] == [
        (first + n) % players for n in range(players)
    ]


def test_a_word_that_would_make_some_number_likelier_is_read_again():
    numbers = _Numbers(KEY, "starter")
    numbers._words = iter([2**32 - 1, 2**32 - 2, 7])

    assert [numbers.below(3), numbers.below(5)] == [(2**32 - 2) % 3, 2]


def test_numbers_go_on_past_the_first_block():
    blocks = [hmac.digest(KEY, b"ringmaster/1/starter/%d" % k, "sha256") for k in (0, 1)]
    numbers = _Numbers(KEY, "starter")

    read = [numbers.below(2**32) for _ in range(16)]
    assert b"".join(n.to_bytes(4, "big") for n in read) == b"".join(blocks)


@pytest.mark.parametrize("text", ["x", "correct-horse", "!~", "7" * 64])
def test_entropy_that_may_be_given(text):
    assert is_entropy(text)


@pytest.mark.parametrize("text", ["", "a b", "7" * 65, "caf\u00e9", "line\n", "\x7f", "\ud800"])
def test_entropy_that_may_not(text):
    assert not is_entropy(text)


def test_cards_are_dealt_left_to_right():
    assert hands(KEY, 5, 1)[0][0] == shuffled(KEY, 5, 1)[0]
    assert isinstance(hands(KEY, 5, 1)[4][8], Card)
