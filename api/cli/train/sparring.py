"""A weighted sum of features that the nets are trained against; not that of ``skilled``."""

from typing import Any, Final

import numpy as np

from engine.bots import features as f
from engine.cards import PLAYER_COUNTS


def _line(players: int) -> Any:
    line = np.zeros(f.width(players))
    line[f.OWN_SIZE : f.OWN_SIZE + 13] = [-1.0 * size for size in range(13)]
    line[f.OWN_TURNS] = -6 * 0.5
    line[f.OWN_STRUCTURE] = 1.5
    line[f.SET_OWNER] = 1.0
    line[f.SET_MINE] = 2.0
    line[f.MY_CHIP] = 1.0
    for seat in range(players - 1):
        their = f.OPPONENTS + f.OPPONENT * seat
        near = 1.0 if seat == 0 else 0.5
        line[their + f.THEY_BEAT] = -0.8 * near
        line[their + f.THEY_LINK] = -0.3 * near
    return line


LINE: Final = {players: _line(players) for players in PLAYER_COUNTS}
