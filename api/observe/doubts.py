"""Commits whose append may have been made, though nobody was answered; counted once it is known."""

import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from api.observe import work
from api.timelines import Timeline
from engine.events import (
    CardScouted,
    Event,
    HandChosen,
    PlayerReturned,
    SetShown,
    TurnExpired,
)
from engine.state import Match, SeatKind

KEPT: Final = 1000
FORGOTTEN_SECONDS: Final = 60.0  # after which what has not been written never will be


@dataclass(slots=True)
class About:
    """What a commit is about, for those who count: its first event, and the move if it is one."""

    event: str
    action: str | None = None
    by: str = "player"


def about(before: Match | None, events: tuple[Event, ...]) -> About:
    """What the events of a commit are about; ``before``: the match that they happened in."""
    kinds = {type(event) for event in events}
    first = type(events[0]).__name__
    for event in events:
        match event:
            case HandChosen():
                action = "CHOOSE_HAND"
            case CardScouted():
                action = "SCOUT_AND_SHOW" if SetShown in kinds else "SCOUT"
            case SetShown():
                action = "SHOW"
            case _:
                continue
        return About(first, action, _by(before, event.seat, kinds))
    return About(first)


def _by(before: Match | None, number: int, kinds: set[type]) -> str:
    if TurnExpired in kinds:
        return "clock"
    seat = None if before is None else before.seats[number]
    if seat is None or seat.kind is SeatKind.BOT:
        return "bot"
    return "bot" if seat.away and PlayerReturned not in kinds else "player"


@dataclass(slots=True)  # one a commit, and frozen ones take three times as long to make
class _Doubt:
    match_id: str
    version: int
    about: About
    work: work.Work | None
    since: float


class Doubts:
    """What is not known to be written, by nonce."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, _Doubt] = OrderedDict()

    def add(self, nonce: str, match_id: str, version: int, what: About) -> None:
        """This commit is sent; until it is dropped it may be written, or not."""
        self._open[nonce] = _Doubt(match_id, version, what, work.current.get(), time.monotonic())
        if len(self._open) > KEPT:
            self._open.popitem(last=False)

    def drop(self, nonce: str) -> bool:
        """It is known to be written; whether it is still to be counted."""
        return self._open.pop(nonce, None) is not None

    def matches(self) -> set[str]:
        """The matches in which something is not known."""
        return {doubt.match_id for doubt in self._open.values()}

    def settle(self, timeline: Timeline) -> None:
        """Count what a match's log turns out to have, and forget what it turns out not to."""
        if not self._open:
            return
        for nonce, doubt in list(self._open.items()):
            if doubt.match_id != timeline.match_id:
                continue
            if timeline.version >= doubt.version:
                del self._open[nonce]
                if timeline.nonce_of(doubt.version) == nonce:
                    _count(doubt)
            elif time.monotonic() - doubt.since > FORGOTTEN_SECONDS:
                del self._open[nonce]


def _count(doubt: _Doubt) -> None:
    what = doubt.about
    with work.working(doubt.work):
        work.committed(doubt.match_id, doubt.version, what.event, what.action, what.by)
