"""What a log line could carry: no hand, no secret, no code, no person, no hidden choice."""

# mypy: disable-error-code="union-attr"

import re

import pytest

from engine import commands as c
from engine.decide import decide
from engine.events import CardScouted, HandChosen, SetShown
from engine.evolve import fold
from engine.state import Seat, SeatKind, Visibility
from engine.views import redact, view
from tests.builders import actors, play_out

SECRET = "5ec2e7" + "0" * 58
PRIVATE = (SECRET, "host-id", "guest-id", "JOINCODE", "salt-of-host", "salt-of-guest")
CARD = re.compile(r"Card\(top=(\d+), bottom=(\d+)\)")


def cards_in(text):
    return [(int(top), int(bottom)) for top, bottom in CARD.findall(text)]


CREATE = c.CreateMatch(
    "m",
    (
        Seat(SeatKind.PLAYER, "Ann", player_id="host-id", entropy="salt-of-host"),
        Seat(SeatKind.OPEN),
        Seat(SeatKind.BOT, "Bo", "regular"),
    ),
    Visibility.PRIVATE,
    host="host-id",
    secret=SECRET,
    join_code="JOINCODE",
)
JOIN = c.JoinMatch("guest-id", "Bob", may_enter=True, entropy="salt-of-guest")


@pytest.fixture(scope="module")
def commits():
    played = []
    match = None
    for command in (CREATE, JOIN, c.LeaveMatch("host-id")):
        events = decide(match, command, 0)
        match = fold(match, events)
        played.append((events, match))
    return played + play_out(3, 1) + play_out(2, 1)


@pytest.mark.parametrize(
    "command", [CREATE, JOIN, c.LeaveMatch("host-id"), c.StartMatch("host-id")]
)
def test_commands(command):
    assert not [word for word in PRIVATE if word in repr(command)]


def test_nothing_private_in_states_or_events(commits):
    for events, match in commits:
        text = repr((events, match))
        assert not [word for word in (*PRIVATE, match.secret) if word in text]


def test_of_a_state_only_the_cards_on_the_table(commits):
    for _, match in commits:
        table = list(match.round.table) if match.round else []
        assert cards_in(repr(match)) == cards_in(repr(match.round)) == table


def test_of_an_event_only_the_cards_everybody_sees(commits):
    for events, _ in commits:
        for event in events:
            assert cards_in(repr(event)) == cards_in(repr(redact(event)))


def test_not_where_a_card_came_from_or_went_nor_who_flipped(commits):
    hidden = {SetShown: ["first"], CardScouted: ["insert_at", "flip"], HandChosen: ["flip"]}
    seen = set()
    for events, _ in commits:
        for event in events:
            names = hidden.get(type(event), [])
            assert not [name for name in names if f"{name}=" in repr(event)]
            seen.add(type(event))
    assert seen >= set(hidden)


def test_a_view_does_not_print_its_hand_or_code(commits):
    match = commits[1][1]

    for seat in actors(match):
        text = repr(view(match, seat))
        assert cards_in(text) == []
        assert "JOINCODE" not in text
