"""Quick rounds of ``regular``, held against the rules and the bot themselves."""

# mypy: disable-error-code="union-attr"

from itertools import pairwise, permutations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.actions import Action
from engine.bots import LEVELS
from engine.bots.gaps import SMALL, gains, worths
from engine.bots.greedy import broken, made, structure
from engine.bots.parts import (
    CARDS,
    NO_PART,
    STRONGEST,
    Once,
    facts,
    mend,
    parts_of,
    pieces_of,
)
from engine.bots.parts import structure as structures
from engine.bots.playouts import play_out as quickly
from engine.cards import HIGHEST, PLAYER_COUNTS, Card, deck
from engine.commands import ScoreRound
from engine.decide import decide
from engine.due import RoundToScore, due, to_act
from engine.evolve import fold
from engine.sets import sets_in, sets_with
from engine.state import RoundEnd
from engine.views import view
from tests.builders import create

every_count = pytest.mark.parametrize("players", PLAYER_COUNTS)
tops = st.lists(st.integers(1, 10), min_size=1, max_size=14).map(bytes)


def rounds(players, seed):
    """Every round of a match of ``regular``: as dealt, its actions, its result."""
    match = fold(None, decide(None, create(players, seed=seed), 0))
    while not match.status.over:
        dealt, actions = match.round, []
        while not isinstance(due(match), RoundToScore):
            seat = to_act(match)[0]
            actions.append(LEVELS["regular"].action(view(match, seat), (), 0))
            match = fold(match, decide(match, actions[-1], 0))
        events = decide(match, ScoreRound(), 0)
        yield dealt, actions, events[0].result
        match = fold(match, events)


@every_count
@settings(max_examples=max(4, settings().max_examples // 2))
@given(seed=st.integers(0, 2**32 - 1))
def test_a_quick_round_is_the_round_that_the_rules_and_the_bot_play(players, seed):
    for dealt, actions, result in rounds(players, seed):
        played: list[Action] = []

        assert quickly(dealt.hands, dealt.starter, played) == result
        assert played == actions
        assert quickly(dealt.hands, dealt.starter) == result


def test_the_rounds_compared_end_in_every_way_but_the_limit():
    found = {
        result.reason for n in PLAYER_COUNTS for seed in range(3) for *_, result in rounds(n, seed)
    }

    assert found == set(RoundEnd) - {RoundEnd.ACTION_LIMIT}


def cards(*hands):
    return [tuple(Card(*card) for card in hand) for hand in hands]


@pytest.mark.parametrize(
    ("hands", "starter"),
    [
        (cards([(1, 2)]), 0),
        (cards(*[[(1, 2)]] * 6), 0),
        (cards([(1, 2)], []), 0),
        (cards([(1, 2)], [(3, 4)]), 2),
        (cards([(1, 2)], [(3, 4)]), -1),
    ],
)
def test_what_is_no_deal_is_refused(hands, starter):
    with pytest.raises(ValueError, match="2 to 5 hands"):
        quickly(hands, starter)


def told(parts):
    return [facts[part].tops for part in parts]


@given(hand=tops)
def test_parts_are_the_longest_stretches_that_hang_together(hand):
    parts = parts_of(hand)
    stretches = told(parts)

    assert b"".join(stretches) == hand
    assert all(abs(a - b) <= 1 for part in stretches for a, b in pairwise(part))
    assert all(abs(left[-1] - right[0]) > 1 for left, right in pairwise(stretches))
    assert sum(structures[part] for part in parts) == structure(hand)
    assert max(parts) >> STRONGEST == max(found.strength for found in sets_in(hand))
    assert sum(parts) & CARDS == len(hand)


@given(hand=tops, at=st.integers(0, 14), top=st.integers(1, 10))
def test_parts_are_mended_where_a_card_comes_or_a_part_goes(hand, at, top):
    parts = parts_of(hand)
    at %= len(parts)
    stretches, card = told(parts), bytes([top])
    before, part, after = b"".join(stretches[:at]), stretches[at], b"".join(stretches[at + 1 :])
    put, out, within = [*parts], [*parts], [*parts]
    mend(put, at, at, pieces_of(card))
    mend(out, at, at + 1, ())
    mend(within, at, at + 1, pieces_of(part[:1] + card + part[1:]))

    assert put == parts_of(before + card + part + after)
    assert out == list(pieces_of(before + after))
    assert within == parts_of(before + part[:1] + card + part[1:] + after)


@settings(max_examples=max(10, settings().max_examples // 5))
@given(hand=st.one_of(tops, st.integers(1, 10).map(lambda top: bytes([top] * 8))), data=st.data())
def test_a_row_knows_what_any_card_does_in_its_gaps(hand, data):
    parts = parts_of(hand)
    around = [NO_PART, *parts, NO_PART]
    at = data.draw(st.integers(0, len(parts)))
    first = len(b"".join(told(parts[:at])))
    row = range(first, first + max(1, around[at + 1] & CARDS))
    lost = broken(hand)

    def best(top):
        worth = max(found.strength for gap in row for found in sets_with(hand, top, gap))
        return max(made(hand, top, gap) - lost[gap] for gap in row), max(0, worth - SMALL)

    for card in permutations(range(1, HIGHEST + 1), 2):
        for of, kept, turned in zip((gains, worths), *map(best, card), strict=True):
            values = of[around[at], around[at + 1]]
            assert values[card[0] * 10 + card[1]] == max(2 * kept + 1, 2 * turned)


def test_parts_are_forgotten_when_they_are_many(monkeypatch):
    def played():
        found: list[Action] = []
        for seed in range(150):
            deck_ = [*deck(4)]
            Random(seed).shuffle(deck_)
            quickly([tuple(deck_[seat * 11 :][:11]) for seat in range(4)], 0, found)
        return found

    expected = played()
    before = len(facts)
    monkeypatch.setattr("engine.bots.parts.MOST_PARTS", 0)

    # Numbers of parts come again for other parts, round by round.
    assert played() == expected
    assert len(facts) < before


def test_what_is_kept_stays_bounded():
    asked: list[int] = []

    def less(number: int) -> int:
        asked.append(number)
        return -number

    kept = Once(less, most=2)

    assert [kept[number] for number in (1, 1, 2, 3, 1)] == [-1, -1, -2, -3, -1]
    assert asked == [1, 2, 3, 1]
    assert len(kept) == 2
