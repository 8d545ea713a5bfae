"""Replays that are true, and every way of making one untrue."""

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.actions import ChooseHand
from engine.audit import audit
from engine.cards import PLAYER_COUNTS
from engine.chain import beginning, link
from engine.codec import decode_action
from engine.commands import ScoreRound
from engine.deal import commitment
from engine.decide import decide
from engine.evolve import fold
from engine.legal import is_legal
from engine.replay import document
from engine.views import view
from tests.builders import any_legal, create, logged, mostly_shows, play_out

EXAMPLES = [json.loads(p.read_text()) for p in sorted(Path(__file__).parent.glob("replays/*.json"))]
TWO, THREE, FOUR = EXAMPLES
every_count = pytest.mark.parametrize("players", PLAYER_COUNTS)
some = settings(max_examples=max(2, settings().max_examples // 4))
seeds = st.integers(0, 2**32 - 1)

# What the audit cannot check: nothing follows from these.
FREE = {("matchId",), ("seats", "name"), ("seats", "botLevel")}
# What may be exchanged for another legal choice if that leads to the same result.
CHOICES = {("rounds", "flipped")} | {
    ("rounds", "actions", name) for name in ("end", "insertAt", "flip", "first", "count")
}


def places(data, path=()):
    """Every value inside a document, with the way to it."""
    yield path, data
    if isinstance(data, dict | list):
        for key, item in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(item, (*path, key))


def leaves(data):
    return [(path, leaf) for path, leaf in places(data) if not isinstance(leaf, dict | list)]


def changed(data, path, change):
    """A copy in which ``change(container, key)`` was applied at the end of the way."""
    copy = inner = json.loads(json.dumps(data))
    for key in path[:-1]:
        inner = inner[key]
    change(inner, path[-1])
    return copy


def sampled(paths, each=4, step=5):
    """Of every kind the first few, and of what is left one in ``step``."""
    seen: Counter[tuple[str, ...]] = Counter()
    for number, (path, value) in enumerate(paths):
        seen[kind_of(path)] += 1
        if seen[kind_of(path)] <= each or number % step == 0:
            yield path, value


def put(value):
    def change(container, key):
        container[key] = value

    return change


def kind_of(path):
    return tuple(key for key in path if isinstance(key, str))


def other_values(leaf):
    """Values of the same type."""
    if isinstance(leaf, bool):
        return [not leaf]
    if isinstance(leaf, int):
        return [leaf - 1, leaf + 1]
    if leaf is None:
        return []
    exchanged = {"LEFT": "RIGHT", "RIGHT": "LEFT", "PLAYER": "BOT", "BOT": "PLAYER"}
    return [exchanged.get(leaf, leaf + "x"), leaf[:-1] + "\u00e9"]


def plays_legally(replay):
    """The same by the other way round: each action is among those a player would be offered."""
    entropy = {int(seat): text for seat, text in replay["entropy"].items()}
    creation = replace(create(replay["players"], entropy=entropy), secret=replay["secret"])
    match = fold(None, decide(None, creation, 0))
    for played in replay["rounds"]:
        choices = [ChooseHand(seat, flip) for seat, flip in enumerate(played["flipped"])]
        for action in choices + [decode_action(data) for data in played["actions"]]:
            if not is_legal(view(match, action.seat), action):
                return False
            match = fold(match, decide(match, action, 0))
        match = fold(match, decide(match, ScoreRound(), 0))
    return list(match.scores) == replay["totals"]


@cache
def played(players, seed=7):
    return document(logged(play_out(players, seed, entropy={0: "salt", 1: "!~"})))


@pytest.mark.parametrize("replay", EXAMPLES, ids=lambda replay: f"{replay['players']} players")
def test_replays_of_another_program_are_true(replay):
    assert audit(replay) == []


def test_the_leaves_of_the_log_matter():
    replay = played(2)
    for path, leaf in sampled(leaves({"log": replay["log"]})):
        for value in other_values(leaf):
            if value != leaf:
                assert audit(changed(replay, path, put(value))), path
    for path, value in sampled(places({"log": replay["log"]})):
        if path:
            assert audit(changed(replay, path, put(None))) or value is None, path
        if len(path) > 1:
            assert audit(changed(replay, path, leave_out)), path


def rehashed(replay):
    """A copy whose hashes fit whatever its log says, as a forger would make it."""
    copy = json.loads(json.dumps(replay))
    before = beginning(copy["matchId"], copy["deckCommitment"])
    for entry in copy["log"]:
        entry["hash"] = before = link(before, entry["events"])
    return copy


def test_a_forged_log_with_hashes_that_fit_differs_from_the_rounds():
    replay = played(2)
    assert audit(rehashed(replay)) == []
    for path, leaf in sampled(leaves({"log": replay["log"]})):
        if path[-1] in ("hash", "version") or kind_of(path)[-1] in ("name", "players"):
            continue
        for value in other_values(leaf):
            if value != leaf:
                assert audit(rehashed(changed(replay, path, put(value)))), path


@pytest.mark.parametrize("at", [0, 1, 7, -1])
def test_no_version_of_the_log_can_be_left_out_or_doubled(at):
    replay = played(2)
    less, more = json.loads(json.dumps([replay, replay]))
    del less["log"][at]
    more["log"].insert(at, more["log"][at])

    for wrong in (less, more):
        assert audit(wrong)
        for version, entry in enumerate(wrong["log"], 1):
            entry["version"] = version
        assert audit(wrong)
        assert audit(rehashed(wrong)) or not replay["log"][at]["events"]


def test_a_log_cut_short_is_named():
    replay = played(2)
    copy = {**replay, "log": replay["log"][:-1]}

    (fault,) = audit(copy)
    assert fault == "document.log ends before RoundEnded, MatchFinished"


def test_events_that_no_text_can_hold_are_no_events():
    replay = changed(played(2), ("log", 0, "events", 0, "type"), put("\ud800"))

    assert audit(replay) == ["log, version 1.events are not events"]


@every_count
@some
@given(
    seed=seeds,
    choose=st.sampled_from([any_legal, mostly_shows]),
    entropy=st.dictionaries(st.integers(0, 1), st.text(st.characters(codec="ascii"), max_size=9)),
)
def test_what_was_played_here_is_true(players, seed, choose, entropy):
    visible = {seat: text for seat, text in entropy.items() if text.isalnum()}

    replay = document(logged(play_out(players, seed, choose, entropy=visible)))
    assert audit(json.loads(json.dumps(replay))) == []


@pytest.mark.parametrize("replay", [TWO, THREE], ids=["2 players", "3 players"])
def test_leaves_matter_or_are_known_not_to(replay):
    unnoticed = set()
    for path, leaf in leaves(replay) if replay is TWO else sampled(leaves(replay)):
        for value in other_values(leaf):
            if value == leaf:
                continue
            copy = changed(replay, path, put(value))
            if audit(copy) == []:
                unnoticed.add(kind_of(path))
                assert kind_of(path) in FREE or plays_legally(copy), path

    assert unnoticed <= FREE | CHOICES


@some
@given(data=st.data(), players=st.sampled_from([4, 5]))
def test_so_it_does_in_longer_matches(data, players):
    replay = played(players)
    path, leaf = data.draw(st.sampled_from(leaves(replay)))
    for value in other_values(leaf):
        if value != leaf and audit(changed(replay, path, put(value))) == []:
            assert kind_of(path) in FREE | CHOICES


def disguises(value):
    """Values of another type that are much alike, some even equal."""
    if isinstance(value, bool):
        return [int(value), str(value)]
    if isinstance(value, int):
        return [float(value), bool(value), str(value)]
    if isinstance(value, dict):
        return [list(value.items())]
    if isinstance(value, list):
        return [dict(enumerate(value))]
    return [0, [value]]


def test_every_value_is_of_one_type():
    for path, value in places(TWO):
        for wrong in disguises(value) if path else ():
            assert audit(changed(TWO, path, put(wrong))), (path, wrong)
        if path and value is not None and kind_of(path) != ("seats", "name"):
            assert audit(changed(TWO, path, put(None))), path


def test_a_bot_has_a_level_and_a_person_none():
    assert audit(changed(TWO, ("seats", 0, "botLevel"), put(None)))
    assert audit(changed(THREE, ("seats", 0, "botLevel"), put("casual")))


def test_a_name_may_be_missing():
    assert audit(changed(TWO, ("seats", 0, "name"), put(None))) == []


def leave_out(container, key):
    del container[key]


def test_nothing_can_be_left_out():
    for path, _ in places(TWO):
        if path:
            assert audit(changed(TWO, path, leave_out)), path


def test_no_seats_entropy_can_be_left_out():
    for seat in THREE["entropy"]:
        assert audit(changed(THREE, ("entropy", seat), leave_out))


def test_nothing_can_be_said_twice():
    def twice(container, key):
        container.insert(key, container[key])

    for path, _ in places(TWO):
        if path and isinstance(path[-1], int):
            assert audit(changed(TWO, path, twice)), path


def test_neighbouring_actions_cannot_be_exchanged():
    for number, round_ in enumerate(THREE["rounds"]):
        for at, (left, right) in enumerate(pairwise(round_["actions"])):
            copy = json.loads(json.dumps(THREE))
            copy["rounds"][number]["actions"][at : at + 2] = [right, left]
            (fault,) = audit(copy)
            assert fault.startswith(f"round {number + 1}, action {at + 1}: NOT_YOUR_TURN")


def test_rounds_cannot_be_exchanged_or_added():
    rounds = THREE["rounds"]

    assert audit({**THREE, "rounds": [rounds[1], rounds[0], rounds[2]]}) == [
        "round 1.number is not 1"
    ]
    for wrong in ([], rounds[:2], [*rounds, rounds[2]]):
        assert audit({**THREE, "rounds": wrong}) == ["document.rounds has not 3 entries"]


def test_an_action_too_many_is_named():
    actions = TWO["rounds"][1]["actions"]
    copy = changed(TWO, ("rounds", 1, "actions"), put([*actions, actions[-1]]))

    assert audit(copy) == [f"round 2, action {len(actions) + 1}: the round had ended before"]


def test_an_action_too_few_is_named():
    copy = changed(TWO, ("rounds", 1, "actions"), put(TWO["rounds"][1]["actions"][:-1]))

    assert audit(copy) == ["round 2 does not end with its last action"]


def test_a_choice_of_hand_is_no_action_of_a_replay():
    choice = {"seat": 1, "type": "CHOOSE_HAND", "flip": False}
    (fault,) = audit(changed(TWO, ("rounds", 0, "actions", 0), put(choice)))

    assert fault.startswith("round 1, action 1: WRONG_PHASE")


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        (("format",), "ringmaster-replay/2", "document.format is not ringmaster-replay/1"),
        (("rulesVersion",), "2", "document.rulesVersion is none of 1"),
        (("players",), 6, "document.players is not from 2 to 5"),
        (("players",), True, "document.players is not a whole number"),
        (("players",), 3, "document.seats has not 3 entries"),
        (
            ("secret",),
            TWO["secret"].upper(),
            "document.secret is not 64 lower-case hexadecimal digits",
        ),
        (
            ("secret",),
            TWO["secret"] + "00",
            "document.secret is not 64 lower-case hexadecimal digits",
        ),
        (
            ("secret",),
            "00" * 32,
            f"document.deckCommitment is not {commitment('00' * 32)}",
        ),
        (("seats", 1, "seat"), 0, "document.seats[1].seat is not 1"),
        (("seats", 1, "kind"), "OPEN", "document.seats[1].kind is neither PLAYER nor BOT"),
        (("seats", 1, "kind"), "PLAYER", "document.seats[1].botLevel is not null"),
        (("seats", 1, "name"), 5, "document.seats[1].name is not a string or null"),
        (("seats", 1), [], "document.seats[1] is not an object"),
        (("entropy",), {"2": "x"}, "document.entropy names a seat that is not there"),
        (("entropy",), {"00": "x"}, "document.entropy names a seat that is not there"),
        (("entropy",), {"0": ""}, "document.entropy.0 is not of the form of entropy"),
        (("entropy",), {"0": 5}, "document.entropy.0 is not of the form of entropy"),
        (("entropy",), {"0": "x"}, "round 1.starter is not 0"),
        (("rounds", 0, "hands", 0, 0), [8, 5], "round 1.hands[0][0][0] is not 5"),
        (("rounds", 0, "hands", 1), [], "round 1.hands[1] has not 11 entries"),
        (("rounds", 1, "flipped"), [], "round 2.flipped has not 2 entries"),
        (("rounds", 1, "flipped", 1), 0, "round 2.flipped[1] is not true or false"),
        (("rounds", 0, "actions", 2), None, "round 1, action 3 is not an object"),
        (
            ("rounds", 0, "actions", 2, "first"),
            99,
            "round 1, action 3: BAD_RANGE: There are no such cards in your hand. ('first')",
        ),
        (
            ("rounds", 0, "actions", 2, "caf\u00e9"),
            99,
            "round 1, action 3: INVALID_INPUT: That is not a valid input. ('caf\\xe9')",
        ),
        (("rounds", 1, "result", "reason"), "HAND_EMPTIED", "round 2.result.reason is not STUCK"),
        (("rounds", 1, "result", "ender"), None, "round 2.result.ender is not a whole number"),
        (("rounds", 1, "result", "lines", 1, "total"), 6, "round 2.result.lines[1].total is not 5"),
        (("totals", 0), 17, "document.totals[0] is not 16"),
        (("winners",), [0, 1], "document.winners has not 1 entries"),
    ],
)
def test_a_fault_is_named(path, value, fault):
    assert audit(changed(TWO, path, put(value))) == [fault]


def test_fields_that_are_not_of_the_format_are_passed_over():
    assert audit({**TWO, "playedOn": "a Monday"}) == []


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["type", "SHOW", "0", "\ud800"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=settings().max_examples * 3)
@given(value=json_values)
def test_no_json_value_makes_it_fail(value):
    assert len(audit(value)) == 1


@settings(max_examples=settings().max_examples * 3)
@given(value=json_values, place=st.sampled_from([p for p, _ in places(THREE) if p]))
def test_no_json_value_in_any_place_makes_it_fail(value, place):
    assert len(audit(changed(THREE, place, put(value)))) <= 1


@pytest.mark.parametrize(
    "place", sorted({p for p, _ in places(TWO) if 0 < len(p) < 6}, key=str)[::5]
)
def test_neither_do_depth_and_length(place):
    deep: list[object] = []
    for _ in range(10_000):
        deep = [deep]
    for value in (deep, {"type": deep}, 10**5000, -(10**5000), "\ud800" * 9):
        assert len(audit(changed(TWO, place, put(value)))) <= 1


def turn_a_card(replay):
    replay["rounds"][1]["hands"][0][3].reverse()


def miscount(replay):
    replay["rounds"][1]["result"]["lines"][2]["total"] += 1


def exchange_two_actions(replay):
    actions = replay["rounds"][1]["actions"]
    actions[2], actions[3] = actions[3], actions[2]


def deal_from_another_secret(replay):
    replay["secret"] = "ab" * 32
    replay["deckCommitment"] = commitment(replay["secret"])


def lose_a_round(replay):
    del replay["rounds"][1]


def cut_a_hash(replay):
    replay["log"][5]["hash"] = replay["log"][5]["hash"][:-1]


@pytest.mark.parametrize(
    ("corrupt", "where"),
    [
        (turn_a_card, "round 2.hands[0]"),
        (miscount, "round 2.result.lines[2].total is not"),
        (exchange_two_actions, "round 2, action 3: NOT_YOUR_TURN"),
        (deal_from_another_secret, "round 1."),
        (lose_a_round, "document.rounds has not 4 entries"),
        (cut_a_hash, "log, version 6.hash is not"),
    ],
)
def test_the_first_difference_is_named(corrupt, where):
    replay = json.loads(json.dumps(played(4)))
    corrupt(replay)

    (fault,) = audit(replay)
    assert fault.startswith(where)


def with_version(replay, at, events):
    """A copy with one more version, numbered and hashed as if it had always been there."""
    copy = json.loads(json.dumps(replay))
    copy["log"].insert(at, {"events": events})
    for version, entry in enumerate(copy["log"], 1):
        entry["version"] = version
    return rehashed(copy)


@pytest.mark.parametrize(
    "event",
    [
        {"type": "TurnExpired", "seat": "nobody"},
        {"type": "TurnExpired", "seat": 0},
        {"type": "PlayerLeft", "seat": 77},
        {"type": "PlayerLeft", "seat": -1},
        {"type": "PlayerLeft"},
        {"type": "PlayerLeft", "seat": 0, "name": "x"},
        {"type": "PlayerJoined", "seat": 0, "name": None},
        {"type": "MatchStarted", "players": 2},
        {"type": "MatchStarted", "players": 9},
        {"type": "Dance"},
        {"type": []},
        "PlayerLeft",
        None,
    ],
)
def test_no_other_event_can_be_put_into_the_log(event):
    replay = played(2)

    assert audit(with_version(replay, 5, [event]))
    assert audit(with_version(replay, len(replay["log"]), [event]))


def test_somebody_may_leave_in_play_but_not_after_the_end():
    replay, left = played(2), {"type": "PlayerLeft", "seat": 1}

    assert audit(with_version(replay, 5, [left])) == []
    assert audit(with_version(replay, len(replay["log"]), [left]))


def test_only_the_first_version_may_have_no_events():
    replay = played(2)

    assert audit(with_version(replay, 0, [])) == []
    for at in (1, 5, len(replay["log"])):
        assert audit(with_version(replay, at, []))


def test_versions_can_neither_be_split_nor_joined():
    replay = played(4)
    log = replay["log"]
    both = next(
        at
        for at, entry in enumerate(log)
        if entry["events"][0]["type"] == "CardScouted" and len(entry["events"]) == 2
    )
    split = json.loads(json.dumps(replay))
    second = split["log"][both]["events"].pop()
    joined = json.loads(json.dumps(replay))
    joined["log"][both]["events"] += joined["log"].pop(both + 1)["events"]
    for version, entry in enumerate(joined["log"], 1):
        entry["version"] = version

    assert audit(with_version(split, both + 1, [second]))
    assert audit(rehashed(joined))


def test_the_start_of_the_match_is_told_once():
    replay = played(2)
    for change in (lambda events: events.pop(0), lambda events: events.insert(0, events[0])):
        copy = json.loads(json.dumps(replay))
        change(copy["log"][0]["events"])
        assert audit(rehashed(copy))


def test_an_id_that_cannot_be_printed_is_a_fault():
    for wrong in ("\ud800", "a\nb", "\u0000"):
        assert audit({**played(2), "matchId": wrong}) == ["document.matchId is not printable"]
