"""A weighted sum of a position's features: what a careful player counts up."""

from typing import Any, Final

import numpy as np

from engine.bots import features as f
from engine.cards import PLAYER_COUNTS

CARD = -0.6  # each card in hand
TURN = -0.7  # each show that it takes to empty the hand
STRUCTURE = 1 / 30  # all sets within the hand, by their squared sizes
NEIGHBOURS = 0.2  # a pair of cards next to each other, equal or one apart
NUMBER = 0.04  # each card, for every number that it is above the middle
MINE = 1.0  # each card of the active set, if it is one's own
CHIP = 1.2  # Scout & Show still to be had
BEATEN = -0.8  # somebody is known to hold a card that beats one's single
LINKED = -0.15  # an end of the active set goes with a card that somebody is known to hold
NEXT = 2  # the next player counts that much more than the others


def _line(players: int) -> Any:
    line = np.zeros(f.width(players))
    for number in range(1, 11):
        line[f.OWN_TOPS + number - 1] = 4 * (CARD + NUMBER * (number - 5.5))
    line[f.OWN_TURNS] = 6 * TURN
    line[f.OWN_STRUCTURE] = 30 * STRUCTURE
    line[f.OWN_STEPS : f.OWN_STEPS + 2] = 5 * NEIGHBOURS
    if players > 2:  # with two, a set is beaten or scouted away too easily
        line[f.SET_MINE] = 5 * MINE
        line[f.MY_CHIP] = CHIP
    for seat in range(players - 1):
        their = f.OPPONENTS + f.OPPONENT * seat
        near = 1 if seat == 0 else 1 / NEXT
        line[their + f.THEY_BEAT] = BEATEN * near
        line[their + f.THEY_LINK] = 2 * LINKED * near
    return line


LINE: Final = {players: _line(players) for players in PLAYER_COUNTS}


def worth(rows: Any) -> tuple[Any, Any]:
    """Points still to come, by the weights above; no opinion of who wins the match."""
    by_width = {f.width(players): line for players, line in LINE.items()}
    return rows @ by_width[rows.shape[1]], np.zeros(len(rows))
