"""What must hold in every match, for every number of players (rules: What must always hold)."""

# mypy: disable-error-code="union-attr"

import json
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import fields, is_dataclass, replace
from itertools import product
from random import Random
from types import NoneType, UnionType
from typing import Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from engine.actions import ChooseHand, End, Scout, ScoutAndShow, Show
from engine.cards import HAND_SIZE, PLAYER_COUNTS, Card, deck
from engine.codec import decode_action, decode_event, encode_action, encode_event
from engine.decide import decide
from engine.errors import Reason, RuleError
from engine.events import CardScouted, Event, HandsDealt, PlayEnded
from engine.evolve import fold
from engine.legal import legal_actions
from engine.notation import format_position
from engine.rules import CURRENT, rules_of
from engine.state import CHIPS_OF_TWO, RoundEnd, RoundResult, ScoreLine, Status
from engine.views import OwnSeat, PublicEvent, RoundView, SeatView, View, redact, view
from tests.builders import all_events, any_legal, exchanged, identity, mostly_shows, play_out

BOTH_WAYS = (False, True)
seeds = st.integers(0, 2**32 - 1)
choosers = st.sampled_from([any_legal, mostly_shows])
costly = settings(max_examples=max(2, settings().max_examples // 4))
every_count = pytest.mark.parametrize("players", PLAYER_COUNTS)


@st.composite
def plays(draw, players):
    """The first two rounds of a match, commit by commit."""
    return play_out(players, draw(seeds), draw(choosers), rounds=2)


@st.composite
def states(draw, players):
    """A state that play can reach."""
    commits = draw(plays(players))
    match = commits[draw(st.integers(0, len(commits) - 1))][1]
    note(format_position(match))
    return match


@every_count
@costly
@given(data=st.data())
def test_hands_table_and_captured_are_the_cards_dealt_none_twice(players, data):
    dealt: Counter[frozenset[int]] = Counter()
    for events, match in data.draw(plays(players)):
        for event in events:
            if isinstance(event, HandsDealt):
                dealt = Counter(identity(card) for hand in event.hands for card in hand)
        r = match.round
        lying = Counter(identity(card) for cards in (*r.hands, r.table) for card in cards)
        assert max(lying.values()) == 1
        assert lying <= dealt <= Counter(map(identity, deck(players)))
        assert lying.total() + sum(r.captured) == dealt.total() == players * HAND_SIZE[players]


@every_count
@costly
@given(data=st.data())
def test_chips_count_the_scouts(players, data):
    scouts = 0
    for events, match in data.draw(plays(players)):
        for event in events:
            scouts = 0 if isinstance(event, HandsDealt) else scouts + isinstance(event, CardScouted)
        chips = sum(match.round.chips)
        assert chips == (players * CHIPS_OF_TWO - scouts if players == 2 else scouts)


@pytest.mark.parametrize("players", [3, 4, 5])
@costly
@given(data=st.data())
def test_with_three_and_more_the_one_to_act_always_has_a_legal_action(players, data):
    for _, match in data.draw(plays(players)):
        if match.status is Status.PLAYING:
            assert legal_actions(view(match, match.round.turn))


@every_count
@pytest.mark.parametrize("choose", [any_legal, mostly_shows])
@costly
@given(seed=seeds)
def test_every_match_ends(players, choose, seed):
    commits = play_out(players, seed, choose)

    assert commits[-1][1].status is Status.FINISHED
    assert all(match.round.actions <= rules_of(CURRENT).action_limit for _, match in commits)
    reasons = {event.ending.reason for event in all_events(commits) if type(event) is PlayEnded}
    other = {RoundEnd.STUCK} if players > 2 else {RoundEnd.ALL_SCOUTED, RoundEnd.ACTION_LIMIT}
    assert not reasons & other


@every_count
@costly
@given(data=st.data())
def test_the_log_folds_to_the_state_reached_step_by_step(players, data):
    commits = data.draw(plays(players))
    log = json.dumps([encode_event(event) for event in all_events(commits)])

    assert fold(None, map(decode_event, json.loads(log))) == commits[-1][1]


@pytest.mark.parametrize("kind", get_args(Event), ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_an_event_survives_json(kind, data):
    event = data.draw(st.from_type(kind))

    assert decode_event(json.loads(json.dumps(encode_event(event)))) == event


@every_count
@costly
@given(data=st.data())
def test_a_legal_action_survives_json(players, data):
    match = data.draw(states(players))
    for seat in range(players):
        for action in legal_actions(view(match, seat)):
            assert decode_action(json.loads(json.dumps(encode_action(action)))) == action


def every_action(match, seat):
    """All that can be written down for a seat, past what is legal on both sides."""
    hands = match.round.hands
    size = len(hands[seat]) if seat in range(len(hands)) else 2
    places = range(-1, size + 2)
    after = range(-1, size + 3)
    yield from (ChooseHand(seat, flip) for flip in BOTH_WAYS)
    yield from (Show(seat, *show) for show in product(places, places))
    scouts = list(product(End, places, BOTH_WAYS))
    yield from (Scout(seat, *scout) for scout in scouts)
    yield from (
        ScoutAndShow(seat, *both, *show) for both in scouts for show in product(after, after)
    )


def accepted(match, action):
    try:
        return bool(decide(match, action, 0))
    except RuleError:
        return False


@every_count
@settings(max_examples=max(2, settings().max_examples // 3))
@given(data=st.data())
def test_legal_actions_are_exactly_those_accepted(players, data):
    match = data.draw(states(players))
    before = deepcopy(match)
    for seat in range(players):
        found = legal_actions(view(match, seat))
        assert len(found) == len(set(found))
        assert set(found) == {a for a in every_action(match, seat) if accepted(match, a)}
    assert match == before


@every_count
@costly
@given(data=st.data())
def test_nobody_plays_on_a_seat_that_is_not_there(players, data):
    match = data.draw(states(players))
    for seat in (-1, players):
        for action in every_action(match, seat):
            with pytest.raises(RuleError) as refused:
                decide(match, action, 0)
            assert (refused.value.reason, refused.value.field) == (Reason.INVALID_INPUT, "seat")


@every_count
@costly
@given(data=st.data())
def test_whose_turn_it_is_not_has_no_action_and_neither_has_a_spectator(players, data):
    match = data.draw(states(players))
    for seat in (None, *range(players)):
        may = seat is not None and (
            match.round.turn == seat
            if match.status is Status.PLAYING
            else match.status is Status.CHOOSING and not match.round.chosen[seat]
        )
        assert bool(legal_actions(view(match, seat))) == may


def told(match, action):
    """What everybody learns of an action."""
    return [public for event in decide(match, action, 0) if (public := redact(event))]


@every_count
@costly
@given(data=st.data())
def test_nobody_sees_what_is_hidden(players, data):
    match = data.draw(states(players))
    chance = Random(data.draw(seeds))
    for viewer in (None, *range(players)):
        other = exchanged(match, viewer, chance)
        assert view(other, viewer) == view(match, viewer)
        actions = legal_actions(view(match, viewer))
        for action in chance.sample(actions, min(len(actions), 40)):
            assert told(other, action) == told(match, action)


@pytest.mark.parametrize("kind", get_args(Event), ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_a_redacted_event_tells_nothing_hidden(kind, data):
    event, other = data.draw(st.from_type(kind)), data.draw(st.from_type(kind))
    hidden = {f.name: getattr(other, f.name) for f in fields(kind) if not f.repr}

    assert redact(replace(event, **hidden)) == redact(event)


def test_hidden_are_exactly_these_fields_of_events():
    hidden = {
        f"{kind.__name__}.{f.name}" for kind in get_args(Event) for f in fields(kind) if not f.repr
    }

    assert hidden == {
        "MatchCreated.host",
        "MatchCreated.secret",
        "MatchCreated.join_code",
        "PlayerJoined.player_id",
        "PlayerJoined.entropy",
        "PlayerLeft.host",
        "HandsDealt.hands",
        "HandChosen.flip",
        "SetShown.first",
        "CardScouted.insert_at",
        "CardScouted.flip",
    }


def places(hint, path) -> Iterator[tuple[str, type]]:
    """Every place inside a type, with the type that can stand there."""
    if get_origin(hint) in (Union, UnionType):
        for option in get_args(hint):
            yield from places(option, path)
    elif get_origin(hint) is tuple:
        inner, rest = get_args(hint)
        assert rest is Ellipsis
        yield from places(inner, path)
    else:
        assert isinstance(hint, type), "a type that could hold anything"
        yield path, hint
        if has_fields(hint):
            for name, inner in get_type_hints(hint).items():
                yield from places(inner, f"{path}.{name}")


def has_fields(kind: type) -> bool:
    """Whether it is a dataclass or a tuple of names, a card excepted."""
    return is_dataclass(kind) or (issubclass(kind, tuple) and kind is not Card)


def test_a_view_has_one_place_for_a_hand_the_viewers_own():
    found = list(places(View, "View"))

    assert {path for path, kind in found if kind is Card} == {"View.you.hand", "View.round.table"}
    assert {kind for _, kind in found if has_fields(kind)} == {
        View,
        SeatView,
        RoundView,
        OwnSeat,
        RoundResult,
        ScoreLine,
    }
    assert {path for path, kind in found if kind is str} == {
        "View.match_id",
        "View.deck_commitment",
        "View.rules_version",
        "View.seats.name",
        "View.seats.bot_level",
        "View.join_code",
    }


def test_a_public_event_has_no_place_for_a_hand():
    found = [place for kind in get_args(PublicEvent) for place in places(kind, kind.__name__)]

    assert {path for path, kind in found if kind is Card} == {"ShownSet.cards", "ScoutedCard.card"}
    assert {kind for _, kind in found if is_dataclass(kind)} == {
        *get_args(PublicEvent),
        RoundResult,
        ScoreLine,
    }
    assert {path for path, kind in found if kind is str} == {
        "SeatTaken.name",
        "MatchAbandoned.reason",
    }
    assert all(kind is not bool for _, kind in found)
    assert NoneType in {kind for _, kind in found}  # the ender of a round
