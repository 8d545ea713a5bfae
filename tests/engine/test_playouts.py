"""Quick rounds of ``regular``, held against the rules and the bot themselves."""

# mypy: disable-error-code="union-attr"

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.actions import Action
from engine.bots import LEVELS
from engine.bots.greedy import structure
from engine.bots.parts import Once, mend, parts_of, put_between, take_out
from engine.bots.playouts import play_out as quickly
from engine.cards import PLAYER_COUNTS, Card
from engine.commands import ScoreRound
from engine.decide import decide
from engine.due import RoundToScore, due, to_act
from engine.evolve import fold
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


@given(hand=tops)
def test_parts_are_the_longest_stretches_that_hang_together(hand):
    parts = parts_of(hand)

    assert b"".join(parts) == hand
    assert all(abs(a - b) <= 1 for part in parts for a, b in pairwise(part))
    assert all(abs(left[-1] - right[0]) > 1 for left, right in pairwise(parts))
    assert sum(map(structure, parts)) == structure(hand)


@given(hand=tops, at=st.integers(0, 14), top=st.integers(1, 10))
def test_parts_are_mended_where_a_card_comes_or_a_part_goes(hand, at, top):
    parts, card = parts_of(hand), bytes([top])
    at %= len(parts)
    before, after = b"".join(parts[:at]), b"".join(parts[at + 1 :])
    put, out, within = [*parts], [*parts], [*parts]
    put_between(put, at, card)
    take_out(out, at)
    mend(within, at, (parts[at][:1], card, parts[at][1:]))

    assert put == parts_of(before + card + parts[at] + after)
    assert out == (parts_of(before + after) if before + after else [])
    assert within == parts_of(before + parts[at][:1] + card + parts[at][1:] + after)


def test_what_is_kept_stays_bounded():
    asked: list[int] = []

    def less(number: int) -> int:
        asked.append(number)
        return -number

    kept = Once(less, most=2)

    assert [kept[number] for number in (1, 1, 2, 3, 1)] == [-1, -1, -2, -3, -1]
    assert asked == [1, 2, 3, 1]
    assert len(kept) == 2
