"""One level against another: every deal in every seat, and what follows from it."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby, pairwise

from api.levels import adopt_levels
from engine.actions import Action
from engine.bots import LEVELS
from engine.cards import PLAYER_COUNTS
from engine.legal import is_legal
from engine.series import Order, Result, Spec, play, replay_of
from engine.standings import Line, add, none_yet, quantities, table
from engine.views import History, View


@dataclass(frozen=True, slots=True)
class Contest:
    """One seat of ``level`` against ``players - 1`` of ``against``, in every seat of each deal."""

    level: str
    against: str
    players: int
    deals: int
    seed: int

    @property
    def spec(self) -> Spec:
        """The same as a series."""
        entries = (self.level, *[self.against] * (self.players - 1))
        return Spec(entries, self.deals * self.players)


@dataclass(frozen=True, slots=True)
class Played:
    """The matches of one deal, and their replays as JSON if they were asked for."""

    contest: Contest
    results: tuple[Result, ...]
    replays: tuple[str, ...]


class LevelFailed(Exception):  # noqa: N818 - not this program's error
    """A level raised something or answered with an illegal action."""


def ladder(deals: int, seed: int) -> list[Contest]:
    """Each level against the one before it, for every number of players."""
    return [
        Contest(level, lower, players, deals, seed)
        for players in PLAYER_COUNTS
        for lower, level in pairwise(LEVELS)
    ]


def play_deal(contest: Contest, deal: int, *, replays: bool, levels: str) -> Played:
    """Play a deal (from 1) once with the level in each seat; the same on every machine.

    ``levels`` names modules with levels from outside (``RINGMASTER_LEVELS``).

    Raises:
        LevelFailed: a level did, so that it cannot be measured.
    """
    adopt_levels(levels)
    results, kept = [], []
    for number in range((deal - 1) * contest.players + 1, deal * contest.players + 1):
        result, log = play(_order(contest, number), _choose)
        results.append(result)
        if replays:
            kept.append(json.dumps(replay_of(log)))
    return Played(contest, tuple(results), tuple(kept))


def standing(players: int, results: Iterable[Result]) -> Line:
    """The level's line over whole deals; its intervals count deals, not matches."""
    sums = none_yet(players)
    for _, matches in groupby(results, key=lambda result: result.deal):
        deal: tuple[int, ...] = ()
        for result in matches:
            sums, deal = add(sums, deal, quantities(result))
    return table(sums, players)[0]


def _order(contest: Contest, number: int) -> Order:
    name = f"arena-{contest.players}-{contest.seed}"  # other levels meet on the same deals
    return Order(name, contest.spec, number, 0, sha256(name.encode()).hexdigest())


def _choose(level: str, view: View, history: History, seed: int) -> Action:
    try:
        action = LEVELS[level].action(view, history, seed)
        legal = is_legal(view, action)
    except Exception as error:  # noqa: BLE001 - a level may raise anything
        # Its text could carry a hand.
        raise LevelFailed(f"level {level} failed: {type(error).__name__}") from None
    if not legal:
        raise LevelFailed(f"level {level} failed: what it answered is not legal")
    return action
