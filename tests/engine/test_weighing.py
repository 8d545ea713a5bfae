"""Bots' own picture of the game, held against the engine's rules."""

# mypy: disable-error-code="union-attr, arg-type"

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.cli.train import rounds
from engine.actions import ChooseHand, Scout, ScoutAndShow, Show
from engine.bots import features as f
from engine.bots.after import GOES_ON, ROOM, margin, share, strongest
from engine.bots.moves import MOST, SCOUT, SCOUT_AND_SHOW, SHOW, WIDTH, moves, strength
from engine.bots.sight import sight
from engine.bots.weighing import _afters, weigh
from engine.cards import HAND_SIZE, PLAYER_COUNTS, ROUNDS, deck
from engine.decide import decide
from engine.events import Event
from engine.evolve import fold
from engine.legal import legal_actions
from engine.scoring import score_round, winners
from engine.sets import sets_in
from engine.sets import strength as strength_of_set
from engine.state import Status
from engine.views import history, view
from tests.builders import any_legal, play_out, position

every_count = pytest.mark.parametrize("players", PLAYER_COUNTS)
costly = settings(max_examples=max(2, settings().max_examples // 25))
seeds = st.integers(0, 2**32 - 1)


def sensible(match, seat, chance):
    """One of the moves that bots weigh."""
    return chance.choice(weigh(sight(view(match, seat), ()), MOST, nothing, by_win=False)).action


def nothing(rows):
    return np.zeros(len(rows)), np.zeros(len(rows))


def positions(players, seed, choose=any_legal, *, rounds=1):
    """Some positions in play, each with the log that led to it."""
    chance = Random(seed)
    log: list[Event] = []
    for events, match in play_out(players, seed, choose, rounds=rounds):
        log += events
        if match.status is Status.PLAYING and chance.random() < 0.4:
            yield match, match.round.turn, log


@every_count
@costly
@given(seed=seeds, choose=st.sampled_from([sensible, any_legal]))
def test_moves_are_legal_some_and_miss_no_way_out(players, seed, choose):
    for match, seat, _ in positions(players, seed, choose):
        seen = view(match, seat)
        legal = legal_actions(seen)
        weighed = [after[0] for after in _afters(sight(seen, ()), MOST)]

        assert weighed
        assert set(weighed) <= set(legal)
        assert len(set(weighed)) == len(weighed)
        ways_out = {_without_gap(a) for a in legal if _empties(a, len(seen.you.hand))}
        assert ways_out == {_without_gap(a) for a in weighed if _empties(a, len(seen.you.hand))}


def _empties(action, hand):
    return getattr(action, "count", 0) == hand + isinstance(action, ScoutAndShow)


def _without_gap(action):
    # Anywhere in a group of its equals the card makes the same set.
    return (type(action), getattr(action, "end", None), getattr(action, "flip", None))


@every_count
@costly
@given(seed=seeds)
def test_moves_hold_every_set_that_may_be_shown_up_to_equals(players, seed):
    for match, seat, _ in positions(players, seed):
        seen = view(match, seat)
        tops = [card.top for card in seen.you.hand]
        shown = {
            tuple(tops[a.first : a.first + a.count])
            for a, *_ in _afters(sight(seen, ()), MOST)
            if isinstance(a, Show)
        }
        beating = strength_of_set([card.top for card in seen.round.table])

        assert shown == {tuple(tops[s.first : s.first + s.size]) for s in sets_in(tops, beating)}


@every_count
@costly
@given(seed=seeds)
def test_what_a_move_leads_to_is_what_the_rules_make_of_it(players, seed):
    for match, seat, log in positions(players, seed, rounds=ROUNDS[players]):
        every = _afters(sight(view(match, seat), history(log)), MOST)
        for found in Random(seed).sample(every, min(len(every), 12)):
            action, tops, table, undersides, size, facts, ender = found
            after = fold(match, decide(match, action, 0))
            r = after.round
            hand = r.hands[seat]

            assert tops[: facts[f.SEATS + f.HAND]] == [card.top for card in hand]
            assert list(zip(table[:size], undersides[:size], strict=True)) == list(r.table)
            for offset in range(players):
                other, block = (seat + offset) % players, f.SEATS + offset * f.BLOCK
                assert facts[block : block + f.SCORE] == [
                    *(len(r.hands[other]), r.captured[other], r.chips[other]),
                    int(players > 2 and not r.scout_and_show_spent[other]),
                ]
            assert facts[f.ROW] == r.scouts_in_a_row
            assert facts[f.OWNER] == (-1 if r.owner is None else (r.owner - seat) % players)
            if ender != GOES_ON:
                assert after.status is Status.SCORING
                assert (seat + ender) % players == r.ending.ender
                _expect_points(match, r, facts, ender, seat)
            elif after.status is Status.SCORING:  # what the shower could not know
                assert r.ending.reason in {"STUCK", "ACTION_LIMIT"}
            else:
                assert facts[f.NEXT] == (r.turn - seat) % players


def _expect_points(match, r, facts, ender, seat):
    lines = [line.total for line in score_round(r, r.ending).lines]
    others = [total for n, total in enumerate(lines) if n != seat]
    totals = [s + t for s, t in zip(match.scores, lines, strict=True)]
    won = winners(totals)

    assert margin(facts, ender) == pytest.approx(lines[seat] - sum(others) / len(others))
    assert share(facts, ender) == pytest.approx((seat in won) / len(won))


@every_count
@costly
@given(seed=seeds)
def test_training_plays_by_the_rules_and_sees_what_a_seat_sees(players, seed):
    chance = Random(seed)
    log: list[Event] = []
    for events, match in play_out(players, seed, sensible, rounds=1):
        log += events
        if match.status is Status.PLAYING:
            break
    on, mind = _laid_out(match)
    while match.status is Status.PLAYING:
        seat = match.round.turn
        seen = sight(view(match, seat), history(log))
        rounds.facts_of(on, seat, mind.facts)
        assert list(mind.facts) == seen.facts

        found = _afters(seen, MOST)
        n = chance.randrange(len(found))
        action = found[n][0]
        mind.out[:] = 0
        moves(
            *(mind.out, on.tops[seat], len(view(match, seat).you.hand), on.table, on.undersides),
            *(seen.table_size, int(seen.may_scout), int(seen.may_scout_and_show), mind.scratch),
        )
        ender = rounds._carry_out(on, mind, seat, n, seen.table_size)
        events = decide(match, action, 0)
        match, log = fold(match, events), [*log, *events]

        assert (ender != GOES_ON) == (match.status is Status.SCORING)
        if ender != GOES_ON:
            assert (seat + ender) % players == match.round.ending.ender
            lines = [line.total for line in score_round(match.round, match.round.ending).lines]
            for who in range(players):
                rounds.facts_of(on, who, mind.facts)
                others = [total for other, total in enumerate(lines) if other != who]
                over = (match.round.ending.ender - who) % players
                expected = lines[who] - sum(others) / len(others)
                assert margin(mind.facts, over) == pytest.approx(expected)


def _laid_out(match):
    nets = [[None, None, np.zeros((4, 2))]]
    on, mind = rounds._round(), rounds._mind(f.width(match.players), nets)
    rounds._begin(np.array([1]), on, match.players, HAND_SIZE[match.players], 0)
    on.world[f.CHOOSING] = 0
    on.world[f.NEXT] = match.round.starter
    for seat, hand in enumerate(match.round.hands):
        on.tops[seat, : len(hand)] = [card.top for card in hand]
        on.bottoms[seat, : len(hand)] = [card.bottom for card in hand]
    return on, mind


@every_count
def test_training_deals_every_card_of_the_deck_once_either_way_up(players):
    chance, on, flips = np.array([99]), rounds._round(), 0
    for _ in range(20):
        rounds._begin(chance, on, players, HAND_SIZE[players], 1)
        size = HAND_SIZE[players]
        cards = [
            (on.tops[seat, i], on.bottoms[seat, i]) for seat in range(players) for i in range(size)
        ]
        flips += sum(top > bottom for top, bottom in cards)
        found = {(min(card), max(card)) for card in cards}
        assert len(found) == len(cards)
        assert found <= {tuple(card) for card in deck(players)}
        assert [on.world[f.UNSEEN + v] for v in range(1, 11)] == [
            sum(v in card for card in deck(players)) for v in range(1, 11)
        ]
    assert 0.4 < flips / (20 * len(cards)) < 0.6


@given(tops=st.lists(st.integers(1, 10), min_size=1, max_size=12))
def test_the_strongest_set_is_the_engines(tops):
    best = max(found.strength for found in sets_in(tops))

    assert strongest(tops, len(tops)) == best


@given(low=st.integers(1, 7), count=st.integers(1, 3), step=st.sampled_from([-1, 0, 1]))
def test_a_sets_strength_is_the_engines(low, count, step):
    tops = [low + 3 + step * i for i in range(count)]

    assert strength(tops, 0, count) == strength_of_set(tops)


def features_of(tops, **facts):
    out = [0.0] * f.width(3)
    given = [0] * f.FACTS
    given[f.PLAYERS], given[f.OWNER] = 3, -1
    for name, value in facts.items():
        given[getattr(f, name)] = value
    f.features(out, 0, tops, len(tops), [], [], 0, given, [0] * ROOM)
    return out


def test_features_of_a_hand_written_out():
    out = features_of([3, 4, 5, 9, 9, 1, 9])

    assert out[f.OWN_SIZE + 7] == 1
    assert [round(x / 0.25) for x in out[f.OWN_TOPS : f.OWN_TOPS + 10]] == [
        *(1, 0, 1, 1, 1, 0, 0, 0, 3, 0)
    ]
    # A pair of nines and a run of three; the nines' neighbour left over is a single.
    assert out[f.OWN_SETS : f.OWN_SETS + 8] == [0.5, 0, 0, 0, 0, 0.5, 0, 0]
    assert out[f.OWN_STRUCTURE] == (4 + 4 + 4 + 9) / 30
    assert out[f.OWN_PEELS : f.OWN_PEELS + 6] == [3 / 5, 0, 0.3, 2 / 5, 1, 0.9]
    assert out[f.OWN_TURNS : f.OWN_TURNS + 2] == [4 / 6, 2 / 6]
    assert (out[f.OWN_LOWEST], out[f.OWN_HIGHEST]) == (0.1, 0.9)
    assert [x * 5 for x in out[f.OWN_STEPS : f.OWN_STEPS + 5]] == [1, 2, 0, 1, 0]


def test_taking_a_set_out_joins_what_was_beside_it():
    out = features_of([7, 2, 3, 4, 7])

    assert out[f.OWN_PEELS : f.OWN_PEELS + 6] == [3 / 5, 0, 0.2, 2 / 5, 1, 0.7]
    assert out[f.OWN_TURNS] == 2 / 6


@pytest.mark.parametrize("way", ["choosing", "playing"])
def test_a_budget_bounds_what_is_weighed(way):
    status = Status.CHOOSING if way == "choosing" else Status.PLAYING
    match = position("4/1 5/2 6/3 | 3/4 | 5/6", status=status, turn=0 if way == "playing" else None)
    seen = sight(view(match, 0), ())

    assert len(weigh(seen, 1, nothing, by_win=True)) == (2 if way == "choosing" else 1)
    if way == "playing":
        assert len(weigh(seen, 3, nothing, by_win=True)) == 3
    else:
        assert isinstance(weigh(seen, 1, nothing, by_win=True)[0].action, ChooseHand)


def test_every_kind_of_move_is_weighed():
    match = position("4/1 6/2 | 3/4 | 5/6", table="3/1", owner=2)
    kinds = {type(found[0]): 0 for found in _afters(sight(view(match, 0), ()), MOST)}

    assert set(kinds) == {Show, Scout, ScoutAndShow}
    assert (SHOW, SCOUT, SCOUT_AND_SHOW, WIDTH) == (0, 1, 2, 6)
