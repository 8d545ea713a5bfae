"""Series: who sits where on which deal, what a deal's secret tells, matches played whole."""

from dataclasses import replace

import pytest

from engine.audit import audit
from engine.bots import LEVELS, quick_action
from engine.cards import PLAYER_COUNTS
from engine.errors import RuleError
from engine.events import HandsDealt
from engine.series import Order, Spec, check, match_id, place, play, replay_of, secret_of_deal, seed

SECRET = "5eed" * 16
every_count = pytest.mark.parametrize("players", PLAYER_COUNTS)


def spec(players: int = 4, matches: int = 40, **more) -> Spec:
    return Spec(("regular",) * players, matches, **more)


def order(number: int, of: Spec, secret: str = SECRET) -> Order:
    return Order("s0-aaaaaaaaaaaaaaaa", of, number, 1_700_000_000_000, secret)


def regular(level, view, history, chance):
    return LEVELS[level].action(view, history, chance)


def quick(_level, view, _history, _chance):
    return quick_action(view)


@every_count
def test_each_entry_sits_once_in_every_seat_of_a_deal(players):
    of = spec(players)
    for deal in (1, 2, 7):
        group = [place(of, (deal - 1) * players + i) for i in range(1, players + 1)]

        assert {p.deal for p in group} == {deal}
        for entry in range(players):
            assert {p.seating.index(entry) for p in group} == set(range(players))
        for p in group:
            assert sorted(p.seating) == list(range(players))


@every_count
def test_seats_move_on_by_one_each_match_on_deals_of_their_own(players):
    of = spec(players, duplicate=False)
    places = [place(of, number) for number in range(1, 12)]

    assert [p.deal for p in places] == list(range(1, 12))
    assert [p.seating.index(0) for p in places] == [i % players for i in range(11)]


@pytest.mark.parametrize("duplicate", [True, False])
def test_without_rotation_seats_stay_and_no_deal_comes_twice(duplicate):
    of = spec(3, rotate=False, duplicate=duplicate)
    places = [place(of, number) for number in range(1, 10)]

    assert {p.seating for p in places} == {(0, 1, 2)}
    assert [p.deal for p in places] == list(range(1, 10))


def test_matches_of_a_deal_have_the_same_hands_and_others_have_others():
    def dealt(number):
        _, log = play(order(number, spec(3)), quick)
        return [e.hands for events in log for e in events if isinstance(e, HandsDealt)]

    assert dealt(1) == dealt(2) == dealt(3)
    assert dealt(4) != dealt(1)


def test_the_secret_of_a_deal_tells_no_other():
    found = {secret_of_deal(SECRET, deal) for deal in range(1, 100)}

    assert len(found) == 99
    assert SECRET not in found
    assert all(len(bytes.fromhex(secret)) == 32 for secret in found)
    # Nor does it lead on: it is no key of the same derivation.
    first = secret_of_deal(SECRET, 1)
    assert not found & {secret_of_deal(first, deal) for deal in range(1, 100)}


def test_seeds_of_bots_are_not_of_the_secret():
    def seeds(secret):
        seen = []

        def choose(_level, view, _history, chance):
            seen.append(chance)
            return quick_action(view)

        play(order(1, spec(3), secret), choose)
        return seen

    known = {seed(match_id("s0-aaaaaaaaaaaaaaaa", 1), version) for version in range(1, 999)}
    assert {*seeds(SECRET), *seeds("ab" * 32)} <= known


@every_count
def test_a_match_is_the_same_every_time_and_passes_the_audit(players):
    result, log = play(order(2, spec(players)), regular)

    assert play(order(2, spec(players)), regular) == (result, log)
    document = replay_of(log)
    assert audit(document) == []
    assert document["totals"] == list(result.totals)
    assert document["winners"] == list(result.winners)
    assert document["secret"] == secret_of_deal(SECRET, 1)
    assert [sum(points) for points in zip(*result.rounds, strict=True)] == list(result.totals)


def test_a_bot_is_given_what_its_seat_may_know():
    def choose(level, view, history, _chance):
        assert view.you is not None
        assert level == view.seats[view.you.seat].bot_level
        assert history[0].round == view.round.number
        assert len([e for e in history if type(e).__name__ == "RoundDealt"]) == 1
        return quick_action(view)

    play(order(3, Spec(("regular", "casual", "regular"), 3)), choose)


def test_levels_sit_where_the_seating_says():
    of = Spec(("casual", "regular"), 2)

    levels = [
        [s["botLevel"] for s in replay_of(play(order(n, of), quick)[1])["seats"]] for n in (1, 2)
    ]

    assert levels == [["casual", "regular"], ["regular", "casual"]]


@pytest.mark.parametrize(
    ("of", "field"),
    [
        (spec(1), "seats"),
        (spec(6), "seats"),
        (spec(matches=0), "matches"),
        (spec(matches=-1), "matches"),
        (spec(matches=10_001), "matches"),
    ],
)
def test_what_cannot_be_played_is_refused(of, field):
    with pytest.raises(RuleError) as refused:
        check(of)

    assert refused.value.field == field


def test_the_limits_can_be_played():
    for of in (spec(2, 1), spec(5, 10_000)):
        check(of)


def test_no_secret_is_in_a_representation():
    assert SECRET not in repr(order(1, spec()))
    assert SECRET not in repr(replace(order(1, spec()), number=2))
