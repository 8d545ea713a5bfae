"""The test of the test: nothing is found where nothing is, and all that is planted is found."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from engine import replay
from engine.chain import NAMES, public
from engine.views import view
from schema.rest.match import match_of
from tests.builders import any_legal, logged, mostly_shows, play_out
from tests.failures.oracle import TOLD, Received, Scan, Truth

COMMITS = {2: play_out(2, 3), 4: play_out(4, 11, mostly_shows), 3: play_out(3, 5, any_legal)}
REPLAYS = {n: replay.document(logged(commits)) for n, commits in COMMITS.items()}
TRUTHS = {n: Truth(document) for n, document in REPLAYS.items()}


def update(players: int, version: int, seat: int | None) -> dict[str, Any]:
    """What a seat is sent of a version."""
    events, match = COMMITS[players][version - 1]
    told = [_as_clients_see(event) for event in public(events)]
    seen = json.loads(match_of(view(match, seat), version, "ab").model_dump_json())
    return {"version": version, "events": told, "match": seen}


def _as_clients_see(value: Any) -> Any:
    if isinstance(value, list) and len(value) == 2 and all(type(n) is int for n in value):
        return {"top": value[0], "bottom": value[1]}
    if isinstance(value, list):
        return [_as_clients_see(item) for item in value]
    if isinstance(value, dict):
        keep = ("winners", "totals", "lines")
        return {n: v if n in keep else _as_clients_see(v) for n, v in value.items()}
    return value


def scanned(players: int, payload: Any, seat: int | None, version: int | None = None) -> Scan:
    scan = Scan(TRUTHS[players], {"v": {"hers-alone"}})
    scan.take(Received("v", seat, "test", json.dumps(payload), version))
    return scan


@pytest.mark.parametrize("players", COMMITS)
def test_what_is_rightly_sent_is_not_found(players):
    for seat in (None, *range(players)):
        looked = 0
        for version in range(1, len(COMMITS[players]) + 1):
            scan = scanned(players, update(players, version, seat), seat)
            assert scan.findings == [], (seat, version)
            looked += scan.cards.total()
        assert looked > 50
    final = len(COMMITS[players])
    assert scanned(players, {"replay": json.dumps(REPLAYS[players])}, None, final).findings == []


def version_of(kind: str, players: int = 4, seat: int | None = None, after: int = 0) -> int:
    """The first version with such an event."""
    return next(
        entry["version"]
        for entry in REPLAYS[players]["log"]
        for event in entry["events"]
        if event["type"] == kind and seat in (None, event["seat"]) and entry["version"] > after
    )


def planted(kind: str, plant: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """An update of a spectator's with something that should not be there."""
    found = update(4, version_of(kind), None)
    plant(found)
    return found


def a_hand(found: dict[str, Any]) -> None:
    found["match"]["you"] = update(4, found["version"], 2)["match"]["you"]


def a_hand_at_a_seat(found: dict[str, Any]) -> None:
    found["match"]["seats"][2]["hand"] = update(4, found["version"], 2)["match"]["you"]["hand"]


def a_hand_as_pairs(found: dict[str, Any]) -> None:
    found["match"]["debug"] = [[3, 9], [4, 10]]


def a_line_of_another(found: dict[str, Any]) -> None:
    found["match"]["notation"] = update(4, found["version"], 1)["match"]["notation"]


def a_card_in_an_error(found: dict[str, Any]) -> None:
    found["errors"] = [{"message": "the card 3/9 is not there"}]


def who_flipped(found: dict[str, Any]) -> None:
    found["events"][0]["flip"] = True


def the_gap(found: dict[str, Any]) -> None:
    found["events"][0]["insertAt"] = 4


def the_card_as_it_is_held(found: dict[str, Any]) -> None:
    card = found["events"][0]["card"]
    found["events"][0]["card"] = {"top": card["bottom"], "bottom": card["top"]}


def a_card_in_an_event(found: dict[str, Any]) -> None:
    found["events"][0]["card"] = {"top": 3, "bottom": 9}


def what_comes_next(found: dict[str, Any]) -> None:
    found["match"]["round"]["activeSet"] = update(4, version_of("SetShown"), None)["match"][
        "round"
    ]["activeSet"]


def the_secret(found: dict[str, Any]) -> None:
    found["match"]["deckCommitment"] = REPLAYS[4]["secret"]


def a_replay(found: dict[str, Any]) -> None:
    found["match"]["replay"] = json.dumps(REPLAYS[4])


def somebody_elses(found: dict[str, Any]) -> None:
    found["match"]["seats"][0]["name"] = "x hers-alone"


def a_code(found: dict[str, Any]) -> None:
    found["match"]["joinCode"] = "CODE"


def an_owner(found: dict[str, Any]) -> None:
    found["match"]["host"] = "p-1"


def moves(found: dict[str, Any]) -> None:
    found["match"]["legal"] = {"shows": [{"first": 1, "count": 2}]}


@pytest.mark.parametrize(
    ("kind", "plant"),
    [
        ("SetShown", a_hand),
        ("SetShown", a_hand_at_a_seat),
        ("HandChosen", a_hand_as_pairs),
        ("HandChosen", a_line_of_another),
        ("HandChosen", a_card_in_an_error),
        ("HandChosen", who_flipped),
        ("HandChosen", a_card_in_an_event),
        ("HandChosen", what_comes_next),
        ("CardScouted", the_gap),
        ("CardScouted", the_card_as_it_is_held),
        ("SetShown", the_secret),
        ("SetShown", a_replay),
        ("SetShown", somebody_elses),
        ("SetShown", a_code),
        ("SetShown", an_owner),
        ("SetShown", moves),
    ],
)
def test_what_is_planted_is_found(kind, plant):
    assert scanned(4, planted(kind, plant), None).findings


def test_a_seat_is_found_to_be_shown_another_hand_an_older_one_or_an_unflipped_one():
    version = version_of("SetShown", seat=1)
    for of_seat, of_version in ((0, version), (1, version - 1)):
        found = update(4, version, 1)
        found["match"]["you"]["hand"] = update(4, of_version, of_seat)["match"]["you"]["hand"]
        assert scanned(4, found, 1).findings
    flipped = update(4, version, 1)
    flipped["match"]["you"]["hand"] = [
        {"top": c["bottom"], "bottom": c["top"]} for c in flipped["match"]["you"]["hand"]
    ]
    assert scanned(4, flipped, 1).findings


def test_a_private_match_is_found_with_who_has_no_seat():
    scan = Scan(Truth(REPLAYS[4]), outsiders_see=False)
    scan.take(Received("v", None, "test", json.dumps({"node": {"id": REPLAYS[4]["matchId"]}})))
    assert scan.findings


def test_every_event_there_is_has_its_fields_named():
    assert set(TOLD) == set(NAMES.values())
