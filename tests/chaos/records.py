"""What was seen from outside while faults were made, and the logs as Redis has them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from redis import Redis

from api.store.keys import log
from api.store.records import decode_commit
from engine.chain import hashes
from engine.due import BotToAct, RoundToScore, due
from engine.events import CardScouted, Event, HandChosen, MatchCreated, SetShown, TurnExpired
from engine.evolve import fold
from engine.state import SeatKind, Status


class Ack(NamedTuple):
    """A move that was answered as made."""

    match_id: str
    version: int
    hash: str
    seat: int
    key: str | None


class Fault(NamedTuple):
    """What was broken, from when until it was whole again; seconds since the epoch."""

    name: str
    began: float
    ended: float


class Seen(NamedTuple):
    """An update of a stream."""

    version: int
    hash: str


@dataclass
class Stream:
    """What one follower of a match was told, over all its connections, from version 1 on."""

    who: str
    match_id: str
    seen: list[Seen] = field(default_factory=list)
    over: bool = False


@dataclass
class Record:
    """All that the people of a run saw. ``keyed``: match and seat, whose moves all had keys."""

    acks: list[Ack] = field(default_factory=list)
    streams: list[Stream] = field(default_factory=list)
    keyed: set[tuple[str, int]] = field(default_factory=set)
    matches: list[str] = field(default_factory=list)
    replays: dict[str, Any] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    asked: int = 0
    failures: list[str] = field(default_factory=list)


class Entry(NamedTuple):
    """A commit: its date in seconds, the seats that acted by themselves, what it led to.

    ``owed``: the house was to play or to score next. ``expired``: a clock ran out.
    """

    version: int
    at: float
    hash: str
    movers: frozenset[int] = frozenset()
    owed: bool = False
    expired: bool = False


@dataclass
class Log:
    """A match as Redis has it; ``chained``: the hashes made anew of its events.

    ``house``: only the house ever plays.
    """

    match_id: str
    entries: list[Entry]
    chained: list[str]
    over: bool = False
    scoring: bool = False
    house: bool = False


def read_log(redis: Redis, match_id: str) -> Log:
    """A log, read past all processes; empty if there is none."""
    found: Any = redis.xrange(log(match_id))
    commits = [decode_commit(int(id_.split(b"-")[0]), told[b"c"]) for id_, told in found]
    if not commits:
        return Log(match_id, [], [])
    match, entries = None, []
    for commit in commits:
        match = fold(match, commit.events)
        owed = isinstance(due(match), BotToAct | RoundToScore)
        acted, expired = movers(commit.events), ran_out(commit.events)
        entries.append(Entry(commit.version, commit.at / 1000, commit.hash, acted, owed, expired))
    assert match is not None
    (created,) = [event for event in commits[0].events if isinstance(event, MatchCreated)]
    return Log(
        match_id,
        entries,
        hashes(match_id, created.deck_commitment, [commit.events for commit in commits]),
        scoring=match.status is Status.SCORING,
        over=match.status in {Status.FINISHED, Status.ABANDONED},
        house=all(seat.kind is SeatKind.BOT for seat in match.seats),
    )


def ran_out(events: Sequence[Event]) -> bool:
    return any(isinstance(event, TurnExpired) for event in events)


def movers(events: Sequence[Event]) -> frozenset[int]:
    """The seats that acted, but for those that the house acted for."""
    if ran_out(events):
        return frozenset()
    acted = (e.seat for e in events if isinstance(e, HandChosen | SetShown | CardScouted))
    return frozenset(acted)
