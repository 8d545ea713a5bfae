"""Events and actions as plain data, and data that are neither."""

import json
from dataclasses import fields
from typing import get_args

import pytest

from engine.actions import Action, ChooseHand, End, Scout, ScoutAndShow, Show
from engine.codec import CodecError, decode_action, decode_event, encode_action, encode_event
from engine.errors import Reason, RuleError
from engine.events import HandsDealt, PlayerJoined, RoundEnded
from engine.state import RoundEnd, RoundResult, ScoreLine
from tests.builders import all_events, play_out

ACTIONS = [
    (ChooseHand(1, flip=True), {"seat": 1, "type": "CHOOSE_HAND", "flip": True}),
    (Show(2, 3, 2), {"seat": 2, "type": "SHOW", "first": 3, "count": 2}),
    (
        Scout(3, End.LEFT, 0, flip=True),
        {"seat": 3, "type": "SCOUT", "end": "LEFT", "insertAt": 0, "flip": True},
    ),
    (
        ScoutAndShow(0, End.RIGHT, 4, flip=False, first=4, count=3),
        {
            "seat": 0,
            "type": "SCOUT_AND_SHOW",
            "end": "RIGHT",
            "insertAt": 4,
            "flip": False,
            "first": 4,
            "count": 3,
        },
    ),
]
PLAIN = [plain for _, plain in ACTIONS]
LEAVES = [(plain, name) for plain in PLAIN for name in plain]
WRONG = [None, "1", 1.0, [1], {}, {"LEFT": 1}]


def refused(data):
    with pytest.raises(RuleError) as error:
        decode_action(data)
    assert error.value.reason is Reason.INVALID_INPUT
    return error.value.field


@pytest.mark.parametrize(("action", "plain"), ACTIONS)
def test_actions_as_in_replays(action, plain):
    assert encode_action(action) == plain
    assert list(encode_action(action)) == list(plain)
    assert decode_action(plain) == action


def test_every_action_has_a_form():
    assert {type(action) for action, _ in ACTIONS} == set(get_args(Action))


@pytest.mark.parametrize(("plain", "name"), LEAVES)
def test_a_field_that_is_missing(plain, name):
    assert refused({key: value for key, value in plain.items() if key != name}) == name


@pytest.mark.parametrize(("plain", "name"), LEAVES)
@pytest.mark.parametrize("wrong", WRONG)
def test_a_field_of_another_type(plain, name, wrong):
    refused({**plain, name: wrong})


@pytest.mark.parametrize(("plain", "name"), [leaf for leaf in LEAVES if leaf[1] != "type"])
def test_true_is_no_number_and_one_is_not_true(plain, name):
    value = plain[name]
    if isinstance(value, bool):
        refused({**plain, name: int(value)})
    elif isinstance(value, int):
        refused({**plain, name: True})


@pytest.mark.parametrize("plain", PLAIN)
def test_a_field_too_many_is_named(plain):
    assert refused({**plain, "zeal": 1}) == "zeal"
    assert refused({**plain, "insert_at": 1}) == "insert_at"


@pytest.mark.parametrize("kind", ["PASS", "show", "", None, 7, [], ["SHOW"], {"SHOW": 1}])
def test_an_unknown_type_of_action(kind):
    assert refused({**PLAIN[1], "type": kind}) == "type"


@pytest.mark.parametrize("end", ["MIDDLE", "left", "", None, 0, ["LEFT"], {}])
def test_there_are_two_ends(end):
    refused({**PLAIN[2], "end": end})


def test_events_as_stored():
    joined = PlayerJoined(2, "Ann", "p-1")
    scored = RoundEnded(RoundResult(RoundEnd.STUCK, None, (ScoreLine(0, 1, 2, 3, 0),)), (4, -5))

    assert encode_event(joined) == {
        "type": "PlayerJoined",
        "seat": 2,
        "name": "Ann",
        "player_id": "p-1",
    }
    assert encode_event(scored) == {
        "type": "RoundEnded",
        "result": {
            "reason": "STUCK",
            "ender": None,
            "lines": [{"seat": 0, "captured": 1, "scout_chips": 2, "hand_penalty": 3, "total": 0}],
        },
        "totals": [4, -5],
    }


def places(data, path=()):
    """The way to every value inside plain data."""
    if path:
        yield path
    if isinstance(data, dict | list):
        pairs = data.items() if isinstance(data, dict) else enumerate(data)
        for key, item in pairs:
            yield from places(item, (*path, key))


def replaced(data, path, value):
    copy = json.loads(json.dumps(data))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return copy


STORED = list({type(e): encode_event(e) for e in all_events(play_out(3, 1))}.values())


@pytest.mark.parametrize("data", STORED, ids=lambda data: data["type"])
def test_an_event_with_a_value_of_another_type_is_no_event(data):
    for path in places(data):
        for wrong in (1.5, [None], {"a": 1}):
            with pytest.raises(CodecError):
                decode_event(replaced(data, path, wrong))


@pytest.mark.parametrize("data", STORED, ids=lambda data: data["type"])
def test_an_event_that_lacks_a_field_is_no_event(data):
    kind = type(decode_event(data))
    optional = {f.name for f in fields(kind) if f.default is None}
    for name in data:
        if name not in optional:
            with pytest.raises(CodecError):
                decode_event({key: value for key, value in data.items() if key != name})


@pytest.mark.parametrize("kind", ["Match", "handsdealt", None, 1, ["HandsDealt"], {}])
def test_an_unknown_type_of_event(kind):
    with pytest.raises(CodecError, match="called that"):
        decode_event({**STORED[0], "type": kind})


@pytest.mark.parametrize("card", [[1], [1, 2, 3], [1, "2"], [True, 2], "1/2", None, {"0": 1}])
def test_a_card_is_two_numbers(card):
    data = encode_event(HandsDealt(1, 0, (), (0, 0)))

    with pytest.raises(CodecError, match="card"):
        decode_event({**data, "hands": [[card]]})


def test_a_field_that_a_later_program_added_is_passed_over():
    assert decode_event({**STORED[0], "colour": "red"}) == decode_event(STORED[0])
