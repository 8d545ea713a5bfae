"""Real matches drawn: what stands where, at which width, with colour and without."""

import re
from copy import deepcopy

import pytest

from api.cli.terminal.data import Match, Update
from api.cli.terminal.drawing import (
    Paper,
    choice_text,
    clean,
    final_text,
    hand_text,
    name_of,
    result_table,
    seats_table,
    table_text,
    tops,
    who,
)
from api.cli.terminal.hints import hint
from api.cli.terminal.listing import moves_list, scout_and_shows_list
from api.cli.terminal.moves import Scout, ScoutAndShow, Show, legal_moves, shows
from api.cli.terminal.situation import help_text, situation
from api.cli.terminal.telling import tell
from tests.cli.conftest import Story, render

NARROW, WIDE = Paper(60), Paper(80)
ESCAPE = "\x1b"


def numbers(line: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", line)]


def active_set(match: Match):
    assert match["round"]
    assert match["round"]["activeSet"]
    return match["round"]["activeSet"]


def own(match: Match):
    assert match["you"]
    return match["you"]


def test_a_hand_has_positions_numbers_in_play_and_numbers_if_turned(story: Story):
    hand = own(story.choosing)["hand"]
    _, positions, _, top, bottom, _ = render(hand_text(hand, WIDE)).splitlines()
    assert numbers(positions) == list(range(len(hand)))
    assert numbers(top) == [card["top"] for card in hand]
    assert numbers(bottom) == [card["bottom"] for card in hand]


def test_each_position_stands_over_its_card(story: Story):
    _, positions, _, top, *_ = render(hand_text(own(story.choosing)["hand"], WIDE)).splitlines()
    ends = [[m.end() for m in re.finditer(r"\d+", line)] for line in (positions, top)]
    assert ends[0] == ends[1]


def test_a_long_hand_wraps_and_loses_no_position(story: Story):
    hand = own(story.choosing)["hand"] * 2
    lines = render(hand_text(hand, NARROW), 60).splitlines()
    assert max(map(len, lines)) <= 60
    rows = [lines[start : start + 5] for start in range(1, len(lines), 5)]
    assert len(rows) == 2
    assert [n for row in rows for n in numbers(row[0])] == list(range(len(hand)))
    assert [n for row in rows for n in numbers(row[2])] == [card["top"] for card in hand]


def test_top_numbers_are_bold_and_bottom_numbers_dim(story: Story):
    hand = own(story.choosing)["hand"]
    lines = render(hand_text(hand, WIDE), colour=True).splitlines()
    assert f"{ESCAPE}[1m{hand[0]['top']:>2}{ESCAPE}[0m" in lines[3]
    assert f"{ESCAPE}[2m{hand[0]['bottom']:>2}{ESCAPE}[0m" in lines[4]


def test_without_colour_there_is_no_escape_and_on_ascii_paper_only_ascii(story: Story):
    for match in (story.choosing, story.my_turn, story.end):
        text = render(situation(match, Paper(60, ascii=True)), 60)
        assert text.isascii()
        assert ESCAPE not in text


def test_the_choice_shows_both_ways_up(story: Story):
    hand = own(story.choosing)["hand"]
    lines = render(choice_text(hand, WIDE)).splitlines()
    assert numbers(lines[3]) == numbers(lines[9]) == [card["top"] for card in hand]
    assert numbers(lines[4]) == numbers(lines[8]) == [card["bottom"] for card in hand]


def test_the_table_tells_set_kind_and_owner(story: Story):
    match = story.my_turn
    active = active_set(match)
    heading, _, top, bottom, _ = render(table_text(match, WIDE)).splitlines()
    assert heading.endswith(f"shown by {who(match, active['owner'])}")
    kind = {"SINGLE": "a single", "MATCHING": "of a kind", "CONSECUTIVE": "a run of"}
    assert kind[active["kind"]] in heading
    assert numbers(top) == [card["top"] for card in active["cards"]]
    assert numbers(bottom) == [card["bottom"] for card in active["cards"]]


def test_an_empty_table_says_so(story: Story):
    empty = story.first(lambda m: m["status"] == "PLAYING" and not m["round"]["activeSet"])  # type: ignore[index]
    assert "empty, any set" in render(table_text(empty, WIDE))
    assert "empty, everybody chooses" in render(table_text(story.choosing, WIDE))


def test_seats_have_all_their_numbers_and_the_turn_is_marked(story: Story):
    match = story.my_turn
    _, *rows = render(seats_table(match)).splitlines()
    for seat, row in zip(match["seats"], rows, strict=True):
        chip = "yes" if seat["scoutAndShowAvailable"] else "no"
        shown = [seat["handSize"], seat["captured"], seat["scoutChips"], chip, seat["score"]]
        assert row.split()[-5:] == [str(value) for value in shown]
        assert row.startswith(">") == (seat["number"] == own(match)["seat"])
    assert "Ann (you)" in rows[0]


def test_everything_fits_the_window(story: Story):
    for update in story.updates:
        parts = [situation(update["match"], NARROW), moves_list(update["match"], NARROW)[0]]
        for part in [*parts, *tell(update, None)]:
            assert max(len(line.rstrip()) for line in render(part, 60).splitlines()) <= 60
    assert max(map(len, render(help_text(), 60).splitlines())) <= 60


def test_a_turn_fits_a_small_terminal(story: Story):
    longest = max(
        len(render(situation(match, WIDE)).splitlines())
        for match, _ in story.moves
        if len(own(match)["hand"]) <= 15
    )
    assert longest <= 22


def test_events_are_told_in_sentences(story: Story):
    told = {}
    for update in story.updates:
        texts = (render(part, 200) for part in tell(update, None))
        for event, text in zip(update["events"], texts, strict=True):
            told[event["type"]] = text
            match event["type"]:
                case "SetShown":
                    name = "You show" if event["seat"] == 0 else f"Bot {event['seat'] + 1} shows"
                    assert text.startswith(f"{name} {tops(event['cards'])}")
                    assert ("capture" in text) == (event["captured"] > 0)
                case "CardScouted":
                    card = event["card"]
                    assert f" {card['top']}/{card['bottom']} from the " in text
                case "RoundEnded":
                    ender = event["result"]["ender"]
                    assert re.search("you" if ender == 0 else f"Bot {ender + 1}", text)  # type: ignore[operator]
    assert {"HandsDealt", "HandChosen", "SetShown", "CardScouted", "RoundEnded"} <= set(told)
    assert "win" in told["MatchFinished"]


def test_who_is_away_is_marked_and_who_goes_and_returns_is_told(story: Story):
    match = deepcopy(story.my_turn)
    match["seats"][1]["away"] = True
    update: Update = {
        "version": 9,
        "events": [
            {"type": "SeatHandedToBot", "seat": 1},
            {"type": "PlayerReturned", "seat": 1},
            {"type": "SeatHandedToBot", "seat": 0},
            {"type": "PlayerReturned", "seat": 0},
            {"type": "ClockRestarted", "seconds": 30},
            {"type": "MatchAbandoned", "reason": "NOBODY_RETURNED"},
            {"type": "MatchAbandoned", "reason": "Sorry, it is Stuck."},
        ],
        "match": match,
    }

    assert render(seats_table(match)).count(" (away)") == 1
    assert [render(line).strip() for line in tell(update, None)] == [
        "Bot 2 is away; a bot plays until the return.",
        "Bot 2 is back.",
        "A bot plays for you now; `back` takes your seat again.",
        "You are back.",
        "The server was away; whose turn it is has the whole time again, 30 s.",
        "The match ended without a result: nobody returned.",
        "The match ended without a result: Sorry, it is Stuck.",
    ]


def test_a_round_ends_with_a_table_of_its_points(story: Story):
    rounds = [
        (update["match"], event["result"], render(tell(update, None)[i]))
        for update in story.updates
        for i, event in enumerate(update["events"])
        if event["type"] == "RoundEnded"
    ]
    assert len(rounds) == story.start["roundCount"]
    for number, (match, result, text) in enumerate(rounds, 1):
        assert f"Round {number} is over: " in text
        _, *rows = render(result_table(match, result)).splitlines()
        for line, row in zip(result["lines"], rows, strict=True):
            captured, chips, penalty, total, score = (int(cell) for cell in row.split()[-5:])
            assert captured + chips + penalty == total == line["total"]
            assert score == match["seats"][line["seat"]]["score"]


def test_the_end_names_all_winners_and_every_score(story: Story):
    first, *rows = render(final_text(story.end)).splitlines()
    winners = story.end["winners"] or []
    assert winners
    for seat in winners:
        assert who(story.end, seat).lower() in first.lower()
    scores = [numbers(row)[0] * (-1 if "-" in row else 1) for row in rows]
    assert scores == sorted((seat["score"] for seat in story.end["seats"]), reverse=True)


def test_legal_moves_are_listed_under_every_number_once(story: Story):
    match = story.my_turn
    listing, moves = moves_list(match, NARROW)
    assert moves == legal_moves(own(match)["legal"])
    text = render(listing, 60)
    for number, move in enumerate(moves, 1):
        assert re.search(rf"(?<!\d){number}(?!\d)", text), move
        if isinstance(move, Show):
            shown = tops(own(match)["hand"][move.first : move.first + move.count])
            assert re.search(rf"^ *{number}  {move}:  {shown}$", text, re.MULTILINE)


def test_nobody_moves_in_a_match_that_is_over(story: Story):
    listing, moves = moves_list(story.end, WIDE)
    assert moves == []
    assert "nothing" in render(listing)


def test_scout_and_shows_are_listed_with_what_they_show(story: Story):
    turn = story.my_turn
    scout = Scout("LEFT", 1, flip=False)
    options = [{"first": 0, "count": 2, "kind": "CONSECUTIVE"}]
    listing, moves = scout_and_shows_list(turn, scout, shows(options))  # type: ignore[arg-type]
    assert moves == [ScoutAndShow(scout, Show(0, 2))]
    own_card, scouted = own(turn)["hand"][0], active_set(turn)["cards"][0]
    assert f"{own_card['top']} {scouted['top']}" in render(listing)


@pytest.mark.parametrize(
    ("code", "move", "said"),
    [
        ("NOT_YOUR_TURN", Show(0, 1), "turn of Ann"),
        ("BAD_RANGE", Show(90, 2), "you tried 90 to 91"),
        ("BAD_RANGE", Show(0, 0), "at least one card"),
        ("BAD_INSERTION", Scout("LEFT", 99, flip=False), "Gaps are 0"),
        ("SET_TOO_LOW", Show(0, 1), "On the table is"),
        ("SET_TOO_LOW", ScoutAndShow(Scout("LEFT", 0, flip=False), Show(0, 1)), "The scout leaves"),
        ("NOT_A_SET", Show(0, 3), "You tried "),
        ("NO_CHIPS", Scout("LEFT", 0, flip=False), "`moves`"),
    ],
)
def test_a_refusal_comes_with_how_things_stand(story: Story, code, move, said):
    assert said in hint(code, move, story.my_turn)


def test_the_wrong_phase_is_told_by_what_the_right_thing_is(story: Story):
    assert "`keep` or `flip`" in hint("WRONG_PHASE", Show(0, 1), story.choosing)


def test_names_from_elsewhere_can_do_no_harm(story: Story):
    seats = [dict(seat) for seat in story.my_turn["seats"]]
    seats[0]["name"], seats[1]["name"] = "[bold]x[/]", "a\x1b[2Jb\rc"
    match: Match = {**story.my_turn, "seats": seats}  # type: ignore[typeddict-item]
    text = render(seats_table(match))
    assert "[bold]x[/]" in text
    assert ESCAPE not in text
    assert "a?[2Jb?c" in text
    assert clean("Zoë 李") == "Zoë 李"


def test_seats_of_one_name_are_told_apart(story: Story):
    seats = [{**seat, "name": "Twin"} for seat in story.my_turn["seats"]]
    match: Match = {**story.my_turn, "seats": seats}  # type: ignore[typeddict-item]
    assert name_of(match, 2) == "Twin (2)"
