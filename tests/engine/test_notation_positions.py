"""Positions and views as lines, and lines that are neither."""

# mypy: disable-error-code="union-attr"

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.cards import PLAYER_COUNTS
from engine.codec import encode_action
from engine.commands import ScoreRound
from engine.decide import decide
from engine.evolve import fold
from engine.legal import legal_actions
from engine.notation import (
    NotationError,
    format_action,
    format_position,
    format_view,
    parse_action,
    parse_position,
    parse_view,
)
from engine.notation.positions import FIELDS
from engine.play import play
from engine.rules import VERSIONS, Rules
from engine.state import Status
from engine.views import view
from tests.builders import any_legal, create, mostly_shows, play_out, with_round

DOCUMENT = (Path(__file__).parents[2] / "docs" / "notation.md").read_text()
EXAMPLES = re.findall(r"^view=.*$", DOCUMENT, re.MULTILINE)
THREE, SEAT_0, SPECTATOR, CHOOSING, SCORING, SEAT_1, FINISHED = EXAMPLES
every_count = pytest.mark.parametrize("players", PLAYER_COUNTS)
costly = settings(max_examples=max(2, settings().max_examples // 4))
seeds = st.integers(0, 2**32 - 1)


@st.composite
def reached(draw, players):
    """A few positions that play can reach, those around a round's end among them."""
    commits = play_out(players, draw(seeds), draw(st.sampled_from([any_legal, mostly_shows])))
    matches = [match for _, match in commits]
    ends = [
        match
        for pair in pairwise(matches)
        if Status.SCORING in (pair[0].status, pair[1].status)
        for match in pair
    ]
    return [matches[0], *Random(draw(seeds)).sample(matches, 6), *ends, matches[-1]]


def position_of(match):
    """All of a match that a line holds, and what follows from it."""
    return match.status, match.rules_version, match.scores, match.winners, match.round


def changed(line, **words):
    """The line with other words in some fields."""
    fields = dict(part.split("=", 1) for part in line.split(" "))
    assert words.keys() <= fields.keys()
    return " ".join(f"{name}={word}" for name, word in (fields | words).items())


def read(line):
    """What a line of either kind is read as, and the line that this is written as."""
    if line.startswith("view=all "):
        match = parse_position(line)
        return match, format_position(match)
    seen = parse_view(line)
    return seen, format_view(seen)


@every_count
@costly
@given(data=st.data())
def test_every_position_survives_its_line(players, data):
    for match in data.draw(reached(players)):
        line = format_position(match)
        again = parse_position(line)
        assert position_of(again) == position_of(match), line
        assert format_position(again) == line


@every_count
@costly
@given(data=st.data())
def test_every_view_survives_its_line(players, data):
    for match in data.draw(reached(players)):
        again = parse_position(format_position(match))
        for viewer in (None, *range(players)):
            line = format_view(view(match, viewer))
            assert parse_view(line) == view(again, viewer), line
            assert format_view(parse_view(line)) == line


@every_count
@costly
@given(data=st.data())
def test_a_match_that_was_read_is_played_on(players, data):
    for match in data.draw(reached(players)):
        again = parse_position(format_position(match))
        for seat in range(players):
            options = legal_actions(view(match, seat))
            assert legal_actions(parse_view(format_view(view(match, seat)))) == options
            for action in Random(0).sample(options, min(len(options), 5)):
                assert decide(again, action, 0) == play(match, action)
        assert decide(again, ScoreRound(), 0)[:1] == decide(match, ScoreRound(), 0)[:1]


@every_count
def test_what_a_line_does_not_hold_is_fixed(players):
    match = parse_position(format_position(play_out(players, 1)[0][1]))

    assert [(seat.player_id, seat.name) for seat in match.seats] == [
        (f"p{seat}", f"P{seat}") for seat in range(players)
    ]
    assert (match.match_id, match.secret, match.host, match.created_at) == ("position", "", None, 0)


@pytest.mark.parametrize("line", EXAMPLES)
def test_examples_of_the_document(line):
    assert read(line)[1] == line


def test_examples_of_views_are_of_the_positions_above_them():
    three, scoring = parse_position(THREE), parse_position(SCORING)

    assert [format_view(view(three, seat)) for seat in (0, None)] == [SEAT_0, SPECTATOR]
    assert format_view(view(scoring, 1)) == SEAT_1
    finished = fold(scoring, decide(scoring, ScoreRound(), 0))
    assert format_position(finished) == FINISHED
    assert parse_position(FINISHED) == finished


def test_actions_of_the_document():
    in_replays = re.findall(r"^\| `(\S+)` \| `(\{.*\})` \|$", DOCUMENT, re.MULTILINE)
    explained = re.findall(r"^\| `(\S+)` \| [^|`]* \|$", DOCUMENT, re.MULTILINE)

    assert (len(in_replays), len(explained)) == (7, 6)
    for token, data in in_replays:
        assert encode_action(parse_action(token, 1)) == json.loads(data)
    for token in explained:
        assert format_action(parse_action(token, 1)) == token


def test_the_document_names_every_field_in_order():
    assert re.findall(r"^\| `([a-z]+)` \| [^|]* \| [^|]* \|$", DOCUMENT, re.MULTILINE) == [*FIELDS]
    grammar = DOCUMENT[DOCUMENT.index("position = ") :]
    assert re.findall(r'"([a-z]+)="', grammar) == [*FIELDS]


@pytest.mark.parametrize("line", EXAMPLES)
def test_a_line_cut_short_is_no_line(line):
    for end in range(len(line)):
        with pytest.raises(NotationError):
            read(line[:end])
    for begin in range(1, len(line)):
        with pytest.raises(NotationError):
            parse_position(line[begin:])
        with pytest.raises(NotationError):
            parse_view(line[begin:])


@pytest.mark.parametrize("line", EXAMPLES)
def test_every_field_is_there_once_and_in_its_place(line):
    parts = line.split(" ")
    for at in range(len(parts)):
        for wrong in (
            [*parts[:at], *parts[at + 1 :]],
            [*parts[: at + 1], *parts[at:]],
            [*parts[:at], *parts[at : at + 2][::-1], *parts[at + 2 :], ""],
            [*parts[:at], "", *parts[at:]],
            [*parts[:at], parts[at].upper(), *parts[at + 1 :]],
        ):
            with pytest.raises(NotationError):
                read(" ".join(wrong))


@settings(max_examples=settings().max_examples * 20)
@given(
    line=st.sampled_from(EXAMPLES),
    at=st.floats(0, 1),
    length=st.integers(0, 3),
    put=st.text("0123456789-,/@|=? yn", max_size=3),
)
def test_what_is_read_is_written_the_same(line, at, length, put):
    begin = int(at * len(line))
    other = line[:begin] + put + line[begin + length :]
    try:
        _, again = read(other)
    except NotationError:
        return
    assert again == other


@given(text=st.text() | st.text("view=al rs1").map("view=all rules=".__add__))
def test_any_other_text_is_refused(text):
    for parse in (parse_position, parse_view):
        with pytest.raises(NotationError):
            parse(text)


def test_a_position_is_no_view_and_a_view_no_position():
    with pytest.raises(NotationError, match="view: a full position has all"):
        parse_position(SEAT_0)
    with pytest.raises(NotationError, match="view: a view has a seat or none"):
        parse_view(THREE)


FORM = [
    ({"view": "3"}, "view: a number from 0 to 2"),
    ({"view": "-"}, "view: a number from 0 to 2"),
    ({"rules": "0"}, "rules: this version"),
    ({"rules": ""}, "rules: this version"),
    ({"phase": "LOBBY"}, "phase: it is one of CHOOSING, PLAYING"),
    ({"phase": "ABANDONED"}, "phase: it is one of"),
    ({"phase": "playing"}, "phase: it is one of"),
    ({"round": "-1"}, "round: a number"),
    ({"round": "02"}, "round: a number"),
    ({"starter": "3"}, "starter: a number from 0 to 2"),
    ({"starter": "-"}, "starter: a number"),
    ({"turn": "3"}, "turn: a number from 0 to 2"),
    ({"turn": ""}, "turn: a number"),
    ({"table": "3/9,4/9"}, "table: a number"),
    ({"table": "-@1"}, "table: a card is written"),
    ({"table": "3/9,@1"}, "table: a card is written"),
    ({"table": "3/9,4/9@3"}, "table: a number from 0 to 2"),
    ({"shower": "?"}, "shower: a number"),
    ({"scouts": "?"}, "scouts: a number"),
    ({"actions": "?"}, "actions: a number"),
    ({"actions": "1234567890"}, "actions: a number"),
    ({"end": "?"}, "end: it is - or one of HAND_EMPTIED"),
    ({"end": "HAND_EMPTIED@"}, "end: a number"),
    ({"hands": "7/2,7/4,1/3"}, "hands: there are 2 to 5"),
    ({"hands": "1/2|1/3|1/4|1/5|1/6|1/7"}, "hands: there are 2 to 5"),
    ({"hands": "7/2,7/4,1/3|1|8/9,2/6,5/9"}, "hands: a card is written"),
    ({"hands": "7/2,7/4,1/3||8/9,2/6,5/9"}, "hands: a card is written"),
    ({"hands": "7/2,7/4,1/11|5/6|8/9,2/6,5/9"}, "hands: a card is written"),
    ({"hands": "7/2,7/4,3/3|5/6|8/9,2/6,5/9"}, "hands: a card has two different"),
    ({"captured": "12,7,8,0"}, "captured: there are 3 seats"),
    ({"captured": "12,15"}, "captured: there are 3 seats"),
    ({"captured": "12,8,-1"}, "captured: a number"),
    ({"chips": "0,2,3,0"}, "chips: there are 3 seats"),
    ({"scores": "4,-2"}, "scores: there are 3 seats"),
    ({"scores": "4,-2,-0"}, "scores: there is no -0"),
    ({"scores": "4,-2,+1"}, "scores: a number"),
    ({"chosen": "yyyy"}, "chosen: there are 3 seats"),
    ({"chosen": "yyx"}, "chosen: each seat has y or n"),
    ({"spent": "ny"}, "spent: there are 3 seats"),
]
CARDS = [
    ({"hands": "7/2,7/4,3/9|5/6|8/9,2/6,5/9"}, "3/9 is there 2 times"),
    ({"hands": "7/2,7/4,4/7|5/6|8/9,2/6,5/9"}, "4/7 is there 2 times"),
    ({"hands": "7/2,7/4,10/3|5/6|8/9,2/6,5/9"}, "3/10 is not in the deck of 3 players"),
    ({"table": "3/9,5/8@1"}, "table: these cards are no set"),
    ({"captured": "12,7,9"}, "together they are not 36 cards"),
    ({"hands": "7/2,7/4|5/6|8/9,2/6,5/9"}, "together they are not 36 cards"),
]
PLAY = [
    ({"round": "4"}, "round: PLAYING cannot be in round 4 of 3"),
    ({"round": "0"}, "round: PLAYING cannot be in round 0 of 3"),
    ({"round": "1"}, "scores: there are none in round 1"),
    ({"chosen": "yyn"}, "chosen: as long as"),
    ({"phase": "CHOOSING", "turn": "-"}, "chosen: as long as"),
    ({"phase": "CHOOSING", "turn": "-", "chosen": "nyn"}, "table, scouts: nothing is shown"),
    ({"turn": "-"}, "turn: there is one in the phase PLAYING"),
    ({"turn": "1"}, "turn: after the last show"),
    ({"turn": "2"}, "turn: after the last show"),
    ({"scouts": "0"}, "turn: after the last show"),
    ({"scouts": "2", "turn": "1"}, "turn: nobody is faced by a set of the own"),
    ({"scouts": "3", "turn": "2"}, "scouts: the round has ended"),
    ({"hands": "7/2,7/4,1/3|-|8/9,2/6,5/9", "captured": "12,8,8"}, "hands: the round has ended"),
    ({"chips": "0,1,0"}, "scouts, spent: by the chips there were fewer"),
    ({"spent": "yyy", "chips": "0,3,0"}, "scouts, spent: by the chips there were fewer"),
    ({"shower": "0"}, "turn: after the last show"),
    ({"shower": "0", "turn": "2"}, "shower: it is who showed"),
    ({"shower": "-"}, "shower: it is who showed"),
    ({"table": "-", "shower": "-", "captured": "12,7,10"}, "shower: it is who showed"),
    ({"actions": "5"}, "actions: they do not fit"),
    ({"actions": "1000"}, "actions: at 1000 of them"),
    ({"end": "ALL_SCOUTED@1"}, "end: the round goes on"),
]
START = changed(format_position(play_out(3, 1)[3][1]), starter="1", turn="1")
STARTED = [
    ({"turn": "2"}, "turn: the starter acts first"),
    ({"turn": "-", "phase": "SCORING"}, "table, scouts: the round has ended before"),
    ({"chips": "0,1,0"}, "nothing changes before the first show"),
    ({"spent": "nny"}, "nothing changes before the first show"),
    ({"shower": "0"}, "shower: it is who showed"),
    ({"shower": "1"}, "turn: after the last show"),
    ({"actions": "1"}, "actions: they do not fit"),
]
SCORED = [
    ({"end": "-"}, "end: it is missing"),
    ({"end": "STUCK"}, "end: ACTION_LIMIT, and it alone"),
    ({"end": "ACTION_LIMIT@0"}, "end: ACTION_LIMIT, and it alone"),
    ({"end": "ACTION_LIMIT"}, "actions: at 1000 of them"),
    ({"end": "STUCK@1"}, "end: the ender has shown"),
    ({"end": "HAND_EMPTIED@0"}, "end: HAND_EMPTIED, and it alone"),
    ({"hands": "-|6/4,3/2,6/1,4/9", "captured": "9,6"}, "end: HAND_EMPTIED, and it alone"),
    ({"end": "ALL_SCOUTED@0"}, "end: 2 players have no ALL_SCOUTED"),
    ({"table": "-", "captured": "10,6", "scouts": "3"}, "end: there is a set on the table"),
    (
        {"table": "-", "captured": "12,6", "scouts": "3", "hands": "-|6/4,3/2,6/1,4/9"}
        | {"end": "HAND_EMPTIED@0"},
        "end: there is a set on the table",
    ),
    ({"chips": "4,0"}, "chips, spent: two players"),
    ({"spent": "yn"}, "chips, spent: two players"),
    ({"turn": "0"}, "turn: there is one in the phase PLAYING"),
    ({"round": "1"}, "scores: there are none in round 1"),
]
ALL_SCOUTED = changed(
    THREE, phase="SCORING", turn="-", scouts="2", spent="nnn", end="ALL_SCOUTED@1"
)

LINES = [
    (THREE, FORM + CARDS + PLAY),
    (START, STARTED),
    (SCORING, SCORED),
    (FINISHED, [({"round": "1"}, "round: FINISHED cannot be in round 1 of 2"), *SCORED[:1]]),
    (
        ALL_SCOUTED,
        [
            ({"scouts": "1"}, "end: not all others have scouted"),
            ({"end": "STUCK@1"}, "end: 3 players have no STUCK"),
            ({"table": "-", "captured": "12,9,8", "end": "ALL_SCOUTED@2"}, "last shower"),
        ],
    ),
    (
        SEAT_0,
        [
            ({"shower": "1"}, r"shower: a view has \? here"),
            ({"actions": "24"}, r"actions: a view has \? here"),
            ({"end": "?"}, "end: it is - or one of"),
            ({"hands": "3|1|3"}, "hands: a card is written"),
            ({"hands": "7/2,7/4,1/3|5/6|3"}, "hands: a number from 0 to 45"),
            ({"hands": "7/2,7/4,1/3|-|3"}, "hands: a number from 0 to 45"),
            ({"hands": "7/2,7/4,1/3|46|3"}, "hands: a number from 0 to 45"),
            ({"hands": "7/2,7/4,1/3|2|3"}, "together they are not 36 cards"),
            ({"turn": "2"}, "turn: after the last show"),
        ],
    ),
    (SEAT_1, [({"end": "STUCK@0"}, r"end: a view has \? here")]),
]
FAULTS = [(line, *fault) for line, faults in LINES for fault in faults]


@pytest.mark.parametrize(("line", "words", "message"), FAULTS)
def test_what_cannot_be_is_refused_with_the_field_named(line, words, message):
    read(line)
    with pytest.raises(NotationError, match=message):
        read(changed(line, **words))


def test_a_view_of_an_empty_table_leaves_the_turn_open():
    line = changed(SEAT_0, table="-", captured="14,7,8")

    assert read(changed(line, turn="2"))[1] == changed(line, turn="2")


def test_at_the_limit_of_actions_a_round_ends():
    line = changed(SCORING, actions="1000", end="ACTION_LIMIT")

    assert parse_position(line).round.ending.ender is None


def test_a_version_of_the_rules_goes_with_the_position(monkeypatch):
    monkeypatch.setitem(VERSIONS, "short", Rules("short", 30, dry_table_ends_round=True))

    assert parse_position(changed(THREE, rules="short")).rules_version == "short"
    with pytest.raises(NotationError, match="actions: at 30"):
        parse_position(changed(THREE, rules="short", actions="30"))


def test_without_a_deal_there_is_no_position():
    lobby = fold(None, decide(None, create(3), 0)[:1])
    abandoned = replace(play_out(3, 1)[0][1], status=Status.ABANDONED)

    for match in (lobby, abandoned):
        with pytest.raises(NotationError, match="from its first deal on"):
            format_position(match)
        with pytest.raises(NotationError, match="from its first deal on"):
            format_view(view(match, None))


def test_a_view_tells_no_hand_of_others():
    match = play_out(4, 1)[4][1]
    exchanged = with_round(match, hands=(match.round.hands[0], *reversed(match.round.hands[1:])))

    assert format_view(view(match, 0)) == format_view(view(exchanged, 0))
    assert format_position(match) != format_position(exchanged)
