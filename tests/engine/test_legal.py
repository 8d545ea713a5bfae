"""The parts of what a seat may do, as front ends ask for them step by step."""

# mypy: disable-error-code="union-attr"

from random import Random
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import legal
from engine.actions import ChooseHand, End, ScoutAndShow
from engine.cards import PLAYER_COUNTS
from engine.legal import ScoutThenShows
from engine.sets import SetAt, SetKind
from engine.state import Status
from engine.views import view
from tests.builders import actors, any_legal, play_out, position

NOTHING = [
    view(position("1/2 | 3/4 | 5/6", table="9/1", owner=2), None),
    view(position("1/2 | 3/4 | 5/6", table="9/1", owner=2, turn=1), 0),
    view(position("1/2 | 3/4 | 5/6", status=Status.SCORING), 0),
]


every_count = pytest.mark.parametrize("players", PLAYER_COUNTS)


def some_of(match, seat, seed):
    """A few of the actions that are legal here, so not everywhere."""
    found = legal.legal_actions(view(match, seat))
    return Random(seed).sample(found, min(len(found), 4))


@pytest.mark.parametrize("seen", NOTHING)
def test_nothing_for_spectators_or_out_of_turn(seen):
    assert not legal.may_choose(seen)
    assert legal.shows(seen) == ()
    assert legal.scout_ends(seen) == ()
    assert legal.scout_and_shows(seen) == ()
    assert legal.shows_after_scout(seen, End.LEFT, 0, flip=False) == ()
    assert not legal.scout_and_show_is_legal(seen)
    assert legal.legal_actions(seen) == []


def test_a_choice_is_made_once():
    match = position("1/2 | 3/4 | 5/6", status=Status.CHOOSING, turn=None)

    assert legal.legal_actions(view(match, 1)) == [
        ChooseHand(1, flip=False),
        ChooseHand(1, flip=True),
    ]


def test_shows_are_found_from_the_left():
    seen = view(position("4/1 5/2 5/3 | 3/4 | 5/6", table="3/2 4/2", owner=1), 0)

    assert [(show.first, show.size) for show in legal.shows(seen)] == [(0, 2), (1, 2)]
    assert legal.shows(seen)[1].kind is SetKind.MATCHING


def test_scouting_needs_a_set_of_somebody_else():
    hands = "1/2 | 3/4 | 5/6"

    assert legal.scout_ends(view(position(hands), 0)) == ()
    assert legal.scout_ends(view(position(hands, table="9/1", owner=0), 0)) == ()
    assert legal.scout_ends(view(position(hands, table="9/1", owner=2), 0)) == tuple(End)


def test_two_players_scout_with_chips_only():
    def ends(chips):
        match = position("1/2 | 3/4", table="9/1", owner=1, chips=(chips, 0))
        return legal.scout_ends(view(match, 0))

    assert (ends(1), ends(0)) == (tuple(End), ())


def test_shows_after_a_scout_count_the_inserted_card():
    seen = view(position("4/1 6/2 | 3/4 | 5/6", table="5/9 8/2", owner=1), 0)

    assert legal.shows_after_scout(seen, End.LEFT, 1, flip=False) == (
        SetAt(0, 3, SetKind.CONSECUTIVE, 3 << 5 | 4),
        SetAt(0, 2, SetKind.CONSECUTIVE, 2 << 5 | 4),
        SetAt(1, 2, SetKind.CONSECUTIVE, 2 << 5 | 5),
    )
    assert [s.size for s in legal.shows_after_scout(seen, End.LEFT, 1, flip=True)] == [1]


@pytest.mark.parametrize("gap", [-1, 3])
def test_there_are_no_shows_from_a_gap_that_is_not_there(gap):
    seen = view(position("4/1 6/2 | 3/4 | 5/6", table="5/9", owner=1), 0)

    assert legal.shows_after_scout(seen, End.LEFT, gap, flip=False) == ()


def test_no_scout_and_show_once_it_is_spent_and_none_for_two():
    spent = position("4/1 | 3/4 | 5/6", table="5/9", owner=1, spent=(True, False, False))
    two = position("4/1 | 3/4", table="5/9", owner=1, chips=(3, 3))

    for match in (spent, two):
        assert legal.scout_and_shows(view(match, 0)) == ()
        assert not legal.scout_and_show_is_legal(view(match, 0))


def test_a_chip_without_a_show_that_beats_the_rest_is_no_scout_and_show():
    match = position("1/2 | 3/4 | 5/6", table="9/1 9/2 9/3 9/4", owner=1)

    assert legal.scout_and_shows(view(match, 0)) == ()
    assert not legal.scout_and_show_is_legal(view(match, 0))


def test_a_scout_and_show_made_quickly_is_one_like_any_other():
    found = legal.legal_actions(view(position("1/2 | 3/4 | 5/6", table="9/1", owner=1), 0))

    quick = [action for action in found if isinstance(action, ScoutAndShow)]
    copies = [ScoutAndShow(a.seat, a.end, a.insert_at, a.flip, a.first, a.count) for a in quick]
    assert quick == copies
    assert [hash(a) for a in quick] == [hash(a) for a in copies]
    assert repr(quick) == repr(copies)


@settings(max_examples=max(2, settings().max_examples // 4))
@given(seed=st.integers(0, 10**6), players=st.sampled_from([3, 4, 5]))
def test_the_steps_agree_with_the_whole(seed, players):
    for _, match in play_out(players, seed, any_legal, rounds=1)[::9]:
        seen = view(match, match.round.turn)
        if match.status is not Status.PLAYING:
            continue
        whole = {(o.end, o.insert_at, o.flip): o.shows for o in legal.scout_and_shows(seen)}
        assert legal.scout_and_show_is_legal(seen) == bool(whole)
        for end in End:
            for flip in (False, True):
                for gap in range(len(seen.you.hand) + 1):
                    shows = legal.shows_after_scout(seen, end, gap, flip)
                    assert sorted(shows) == sorted(whole.get((end, gap, flip), ()))


@every_count
@settings(max_examples=max(2, settings().max_examples // 8))
@given(seed=st.integers(0, 10**6))
def test_one_action_is_legal_if_it_is_among_the_legal_ones(players, seed):
    commits = play_out(players, seed, any_legal, rounds=1)
    written = [a for _, match in commits for s in actors(match) for a in some_of(match, s, seed)]
    for _, match in commits[::9]:
        for seat in (None, *range(players)):
            seen = view(match, seat)
            found = set(legal.legal_actions(seen))
            for action in written:
                assert legal.is_legal(seen, action) == (action in found)


def test_what_is_no_action_is_a_bug():
    with pytest.raises(AssertionError):
        legal.is_legal(view(position("1/2 | 3/4"), 0), SimpleNamespace(seat=0))  # type: ignore[arg-type]


def test_an_option_is_what_it_says():
    match = position("1/2 | 3/4 | 5/6", table="9/1", owner=1)

    assert legal.scout_and_shows(view(match, 0))[0] == ScoutThenShows(
        End.LEFT,
        0,
        False,
        (SetAt(0, 1, SetKind.SINGLE, 32 + 9), SetAt(1, 1, SetKind.SINGLE, 32 + 1)),
    )
