"""Whole matches as text, for people to read; ``python -m tests.engine.playthroughs`` writes them.

The suite compares them: what changes in the rules, the events, the views or the bots shows there.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Final

from engine.actions import ChooseHand, Scout, ScoutAndShow, Show
from engine.bots import LEVELS
from engine.chain import public
from engine.codec import encode_event
from engine.commands import (
    Command,
    ExpireTurn,
    JoinMatch,
    LeaveMatch,
    ScoreRound,
    StartMatch,
)
from engine.decide import decide
from engine.due import to_act
from engine.events import Event
from engine.evolve import fold
from engine.legal import legal_actions, shows
from engine.notation import format_action, format_position, format_view
from engine.state import Match, Seat, SeatKind, Status, Visibility
from engine.views import view
from tests.builders import Chooser, any_legal, create, mostly_shows

FOLDER: Final = Path(__file__).parent
EXPIRES: Final = 0.2  # how often a seat with a clock lets it run out
RESULTS: Final = ("RoundEnded", "MatchFinished")

HEADER: Final = """\
# A match of {players} players from seed {seed}, written by python -m tests.engine.playthroughs.
#
# Every version: its command, its events as stored and as everybody sees them, the position, what
# each seat and a spectator see of it, and what may be done. docs/notation.md explains the lines and
# the tokens of actions.\
"""


@dataclass(frozen=True)
class Playthrough:
    """A match to be written: how it begins, and how many of its rounds are written in full."""

    players: int
    seed: int
    opening: tuple[Command, ...]
    full_rounds: int

    @property
    def path(self) -> Path:
        """Where the text is kept."""
        return FOLDER / f"{self.players}-players.txt"


def _lobby(seed: int) -> tuple[Command, ...]:
    """Of two people in a private match the host goes; another comes, and a bot fills up."""
    ann = Seat(SeatKind.PLAYER, "Ann", player_id="ann", entropy="salt")
    seats = (ann, Seat(SeatKind.OPEN), Seat(SeatKind.OPEN))
    return (
        replace(create(3, seed=seed), seats=seats, host="ann", visibility=Visibility.PRIVATE),
        JoinMatch("bob", "Bob", may_enter=True),
        LeaveMatch("ann"),
        JoinMatch("cyd", "Cyd", may_enter=True, entropy="pepper"),
        StartMatch("bob"),
    )


# Between them these show every way a round can end but the limit of actions (a test sees to it).
PLAYTHROUGHS: Final = (
    Playthrough(2, 17, (create(2, seed=17, turn_seconds=30),), full_rounds=2),
    Playthrough(3, 23, _lobby(23), full_rounds=3),
    Playthrough(4, 8, (create(4, seed=8),), full_rounds=2),
    Playthrough(5, 7, (create(5, seed=7),), full_rounds=2),
)


def _of_level(name: str) -> Chooser:
    return lambda match, seat, chance: LEVELS[name].action(
        view(match, seat), (), chance.getrandbits(32)
    )


CHOOSERS: Final = (mostly_shows, _of_level("regular"), any_legal, _of_level("casual"), mostly_shows)


def written(playthrough: Playthrough) -> str:
    """The whole text of a playthrough, the same on every machine."""
    lines = [HEADER.format(players=playthrough.players, seed=playthrough.seed)]
    for version, (command, events, match) in enumerate(played(playthrough), 1):
        head = f"version {version}: {_command(command)}"
        if match.round is None or match.round.number <= playthrough.full_rounds:
            lines += ["", head, *_events(events), *_position(match), *_may(match)]
            continue
        brief = [head, *(line for line in _public(events) if any(r in line for r in RESULTS))]
        if match.status is Status.CHOOSING and not any(match.round.chosen):
            brief = ["", *brief, "", f"# Round {match.round.number}, only actions and results"]
        lines += brief
    return "\n".join(lines) + "\n"


def played(playthrough: Playthrough) -> Iterator[tuple[Command, tuple[Event, ...], Match]]:
    """The match command by command, with what it led to."""
    chance, now = Random(playthrough.seed), 0
    match: Match | None = None
    opening = list(playthrough.opening)
    while match is None or not match.status.over:
        command = opening.pop(0) if opening or match is None else _next(match, chance)
        now += 1000
        if isinstance(command, ExpireTurn) and match is not None:
            now = match.deadline or now
        events = decide(match, command, now)
        match = fold(match, events)
        yield command, events, match


def _next(match: Match, chance: Random) -> Command:
    if match.status is Status.SCORING:
        return ScoreRound()
    seat = chance.choice(to_act(match))
    action = CHOOSERS[seat](match, seat, chance)
    late = match.deadline is not None and chance.random() < EXPIRES
    return ExpireTurn(action) if late else action


def _command(command: Command) -> str:
    match command:
        case ChooseHand() | Show() | Scout() | ScoutAndShow():
            return f"seat {command.seat} {format_action(command)}"
        case ExpireTurn():
            return f"ExpireTurn {_command(command.action)}"
        case _:
            return type(command).__name__


def _events(events: tuple[Event, ...]) -> list[str]:
    stored = [f"stored {json.dumps(encode_event(event))}" for event in events]
    return stored + _public(events)


def _public(events: tuple[Event, ...]) -> list[str]:
    return [f"public {json.dumps(event)}" for event in public(events)]


def _position(match: Match) -> list[str]:
    if match.round is None:
        return [f"{match.status}, no position"]
    views = [format_view(view(match, seat)) for seat in (*range(match.players), None)]
    return [format_position(match), *views]


def _may(match: Match) -> Iterator[str]:
    for seat in to_act(match):
        seen = view(match, seat)
        sets = " ".join(format_action(Show(seat, found.first, found.size)) for found in shows(seen))
        yield f"seat {seat} has {len(legal_actions(seen))} actions; shows: {sets or 'none'}"
