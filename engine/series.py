"""A series: many matches of the same levels. Which match is which, and how one is played whole."""

import hmac
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final

from engine import replay
from engine.actions import Action
from engine.cards import PLAYER_COUNTS
from engine.commands import Command, CreateMatch, ScoreRound
from engine.decide import Events, decide
from engine.due import BotToAct, due
from engine.errors import Reason, RuleError
from engine.events import HandsDealt, RoundEnded
from engine.evolve import fold
from engine.state import Match, Seat, SeatKind, Visibility
from engine.views import History, View, history, view

MOST_MATCHES: Final = 10_000


class SeriesStatus(StrEnum):
    """Where a series stands."""

    RUNNING = "RUNNING"
    FINISHED = "FINISHED"
    CANCELLED = "CANCELLED"

    @property
    def over(self) -> bool:
        """Whether no further match is counted."""
        return self is not SeriesStatus.RUNNING


# What a level does for the view's own seat: level, view, history of the round, seed.
Choose = Callable[[str, View, History, int], Action]


@dataclass(frozen=True, slots=True)
class Spec:
    """What is to be played: ``entries`` are levels, one per seat.

    ``rotate``: each match shifts the entries by one seat. ``duplicate``: each deal is played once
    in every rotation, so that every entry sits in every seat of it. ``replays``: they are kept.
    """

    entries: tuple[str, ...]
    matches: int
    rotate: bool = True
    duplicate: bool = True
    replays: bool = False

    @property
    def players(self) -> int:
        """Number of seats, 2 to 5."""
        return len(self.entries)

    @property
    def per_deal(self) -> int:
        """Matches that share a deal; the last deal of a series may have fewer."""
        # Without rotation a second match of the deal would have the same seats once more.
        return self.players if self.rotate and self.duplicate else 1


@dataclass(frozen=True, slots=True)
class Place:
    """Which deal a match is played on, and by seat which entry sits there."""

    deal: int
    seating: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """How a match of a series ended; ``rounds`` are the points by round, then by seat."""

    number: int
    deal: int
    seating: tuple[int, ...]
    rounds: tuple[tuple[int, ...], ...]
    totals: tuple[int, ...]
    winners: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """Match ``number`` (from 1) of a series begun at ``created_at``, ms, is to be played."""

    series_id: str
    spec: Spec
    number: int
    created_at: int
    secret: str = field(repr=False)


def check(spec: Spec) -> None:
    """Whether a series can be played; the levels are the caller's to know.

    Raises:
        RuleError: INVALID_INPUT.
    """
    if spec.players not in PLAYER_COUNTS:
        raise RuleError(Reason.INVALID_INPUT, "seats", "A series has 2 to 5 seats.")
    if not 1 <= spec.matches <= MOST_MATCHES:
        sentence = f"A series has 1 to {MOST_MATCHES} matches."
        raise RuleError(Reason.INVALID_INPUT, "matches", sentence)


def place(spec: Spec, number: int) -> Place:
    """Where match ``number`` (from 1) of a series is played; deals count from 1."""
    players, index = spec.players, number - 1
    shift = index % players if spec.rotate else 0
    seating = tuple((seat - shift) % players for seat in range(players))
    return Place(index // spec.per_deal + 1, seating)


def match_id(series_id: str, number: int) -> str:
    """The id of match ``number`` of a series."""
    return f"{series_id}-{number}"


def secret_of_deal(secret: str, deal: int) -> str:
    """The secret of a deal, in hex, from the one of the series: it tells of no other deal."""
    message = f"ringmaster/1/series/deal/{deal}".encode("ascii")
    return hmac.digest(bytes.fromhex(secret), message, "sha256").hex()


def seed(of_match: str, version: int) -> int:
    """The seed of a bot's decision. Anyone can compute it, and it says nothing of the deals."""
    return int.from_bytes(sha256(f"{of_match}:{version}".encode()).digest()[:8], "big")


def play(order: Order, choose: Choose) -> tuple[Result, list[Events]]:
    """Play a match from its deals to its end; its result and its log. The same every time.

    ``choose`` is given what its seat may know, and nothing else.

    Raises:
        RuleError: ``choose`` answered with an illegal action.
    """
    events = decide(None, _creation(order), order.created_at)
    match, log, since_deal = fold(None, events), [events], [*events]
    while (owed := due(match)) is not None:
        command: Command = ScoreRound()
        if isinstance(owed, BotToAct):
            seen, version = view(match, owed.seat), len(log)
            chance = seed(match.match_id, version)
            command = choose(owed.level, seen, history(since_deal), chance)
        events = decide(match, command, order.created_at)
        match = fold(match, events)
        log.append(events)
        dealt = any(isinstance(event, HandsDealt) for event in events)
        since_deal = [*events] if dealt else [*since_deal, *events]
    return _result(order, match, log), log


def replay_of(log: list[Events]) -> dict[str, Any]:
    """The replay of a match (docs/replay.md), without the log that nobody was told of."""
    document = replay.document((events, "") for events in log)
    del document["log"]
    return document


def _creation(order: Order) -> CreateMatch:
    spec, where = order.spec, place(order.spec, order.number)
    levels = [spec.entries[entry] for entry in where.seating]
    seats = (Seat(SeatKind.BOT, f"Bot {n}", level) for n, level in enumerate(levels, 1))
    return CreateMatch(
        match_id=match_id(order.series_id, order.number),
        seats=tuple(seats),
        visibility=Visibility.PRIVATE,
        host="",
        secret=secret_of_deal(order.secret, where.deal),
        join_code="",
    )


def _result(order: Order, match: Match, log: list[Events]) -> Result:
    where = place(order.spec, order.number)
    rounds = [event.result for events in log for event in events if isinstance(event, RoundEnded)]
    return Result(
        number=order.number,
        deal=where.deal,
        seating=where.seating,
        rounds=tuple(tuple(line.total for line in result.lines) for result in rounds),
        totals=match.scores,
        winners=match.winners or (),
    )
