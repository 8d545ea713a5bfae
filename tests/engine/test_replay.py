"""The replay document of a finished match (format ringmaster-replay/1)."""

# mypy: disable-error-code="union-attr"

import json

import pytest

from engine.actions import ChooseHand, Scout, ScoutAndShow, Show
from engine.audit import audit
from engine.chain import hashes
from engine.codec import decode_action
from engine.commands import CreateMatch, JoinMatch, LeaveMatch, ScoreRound
from engine.deal import commitment, hands, key_of_deals
from engine.decide import decide
from engine.evolve import fold
from engine.legal import legal_actions
from engine.replay import document
from engine.state import Seat, SeatKind, Visibility
from engine.views import view
from tests.builders import SECRET, actors, any_legal, create, logged, play_out

COMMITS = play_out(3, 4, any_legal, entropy={0: "salt", 2: "pepper"})
MATCH = COMMITS[-1][1]
REPLAY = document(logged(COMMITS))


def test_the_fields_in_their_order():
    assert list(REPLAY) == [
        "format",
        "matchId",
        "players",
        "rulesVersion",
        "secret",
        "deckCommitment",
        "entropy",
        "seats",
        "rounds",
        "totals",
        "winners",
        "log",
    ]
    for number, played in enumerate(REPLAY["rounds"], 1):
        assert list(played) == ["number", "starter", "hands", "flipped", "actions", "result"]
        assert played["number"] == number
        assert list(played["result"]) == ["reason", "ender", "lines"]


def test_the_head():
    assert REPLAY["format"] == "ringmaster-replay/1"
    assert (REPLAY["matchId"], REPLAY["players"], REPLAY["rulesVersion"]) == ("m4", 3, "1")
    assert REPLAY["secret"] == create(3, seed=4).secret
    assert REPLAY["deckCommitment"] == commitment(REPLAY["secret"])
    assert REPLAY["entropy"] == {"0": "salt", "2": "pepper"}
    assert REPLAY["seats"][1] == {"seat": 1, "kind": "BOT", "name": "B1", "botLevel": "regular"}


def test_hands_are_as_dealt():
    key = key_of_deals(REPLAY["secret"], {0: "salt", 2: "pepper"})

    for played in REPLAY["rounds"]:
        dealt = hands(key, 3, played["number"])
        assert played["hands"] == [[[c.top, c.bottom] for c in hand] for hand in dealt]


def test_totals_and_winners():
    assert REPLAY["totals"] == list(MATCH.scores)
    assert tuple(REPLAY["winners"]) == MATCH.winners
    lines = [played["result"]["lines"] for played in REPLAY["rounds"]]
    assert REPLAY["totals"] == [sum(line[seat]["total"] for line in lines) for seat in range(3)]


def test_choices_and_actions_are_those_taken():
    taken = []

    def remembering(match, seat, chance):
        taken.append(any_legal(match, seat, chance))
        return taken[-1]

    replay = document(logged(play_out(4, 8, remembering)))

    flips = [{a.seat: a.flip for a in taken[at : at + 4]} for at in _choices(taken)]
    assert [dict(enumerate(played["flipped"])) for played in replay["rounds"]] == flips
    played = [decode_action(action) for r in replay["rounds"] for action in r["actions"]]
    assert played == [action for action in taken if not isinstance(action, ChooseHand)]
    assert {type(action) for action in played} == {Show, Scout, ScoutAndShow}


def _choices(taken):
    """Where each round's four choices begin."""
    chosen = [at for at, action in enumerate(taken) if isinstance(action, ChooseHand)]
    return chosen[::4]


def test_it_is_what_json_can_hold():
    assert json.loads(json.dumps(REPLAY)) == REPLAY


@pytest.mark.parametrize("commits", [COMMITS[:-1], COMMITS[:1]], ids=["last", "all but one"])
def test_only_a_finished_match_has_a_replay(commits):
    with pytest.raises(ValueError, match="finished"):
        document(logged(commits))


def test_no_events_make_no_replay():
    with pytest.raises(ValueError, match="nothing"):
        document([])


def test_people_bots_and_those_who_left():
    seats = (
        Seat(SeatKind.PLAYER, "Ann", player_id="ann", entropy="salt"),
        Seat(SeatKind.OPEN),
    )
    opened = CreateMatch("m", seats, Visibility.PRIVATE, "ann", SECRET, "CODE", turn_seconds=5)
    commits = [decide(None, opened, 0)]
    match = fold(None, commits[0])
    for command in (JoinMatch("bob", "Bob", may_enter=True), LeaveMatch("ann")):
        commits.append(decide(match, command, 0))
        match = fold(match, commits[-1])
    while not match.status.over:
        seat = next(iter(actors(match)), None)
        step = decide(
            match, ScoreRound() if seat is None else legal_actions(view(match, seat))[0], 0
        )
        commits.append(step)
        match = fold(match, step)

    digests = hashes("m", match.deck_commitment, commits)
    replay = document(zip(commits, digests, strict=True))
    assert [event["type"] for entry in replay["log"][:3] for event in entry["events"]] == [
        "PlayerJoined",
        "MatchStarted",
        "HandsDealt",
        "PlayerLeft",
    ]
    assert audit(replay) == []
    assert replay["seats"] == [
        {"seat": 0, "kind": "BOT", "name": "Ann", "botLevel": "regular"},
        {"seat": 1, "kind": "PLAYER", "name": "Bob", "botLevel": None},
    ]
    assert replay["entropy"] == {"0": "salt"}
    text = json.dumps(replay)
    assert not [word for word in ("CODE", "ann", "bob", "PRIVATE") if word in text]
