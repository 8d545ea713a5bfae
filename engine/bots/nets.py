"""The learned levels' nets: two hidden layers, read from the data beside this file.

``nets.f16`` holds half-precision weights one after the other, ``nets.json`` says whose, with the
command that made them, its seed and date, and the file's SHA-256. ``ringmaster train`` writes both.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

import numpy as np

from engine.bots.features import width

DATA: Final = "nets.f16"
ABOUT: Final = "nets.json"
OUTPUTS: Final = 2  # points still to come, log-odds of the win


@dataclass(frozen=True, slots=True)
class Net:
    """Weights and biases of three layers, float64."""

    parts: tuple[Any, ...]

    def worth(self, rows: Any) -> tuple[Any, Any]:
        """Points still to come and the share of the match's win, a number per row of features."""
        first, first_bias, second, second_bias, last, last_bias = self.parts
        hidden = np.maximum(rows @ first + first_bias, 0)
        hidden = np.maximum(hidden @ second + second_bias, 0)
        result = hidden @ last + last_bias
        return result[:, 0], 1 / (1 + np.exp(-result[:, 1]))


def shapes(players: int, hidden: int, middle: int) -> list[tuple[int, ...]]:
    """Of the six parts of a net, in the order in which they are stored."""
    inputs = width(players)
    return [
        *((inputs, hidden), (hidden,)),
        *((hidden, middle), (middle,)),
        *((middle, OUTPUTS), (OUTPUTS,)),
    ]


def net(level: str, players: int) -> Net:
    """The net of a learned level for a number of players.

    Raises:
        ValueError: the data are not those that ``nets.json`` speaks of.
        KeyError: there is no such net.
    """
    return _nets()[level, players]


def load_nets() -> None:
    """Read all nets now, so that no decision has to.

    Raises:
        ValueError: as ``net``.
    """
    _nets()


@cache
def _nets() -> dict[tuple[str, int], Net]:
    folder = files("engine.bots")
    about = json.loads(folder.joinpath(ABOUT).read_text("utf-8"))
    return read_nets(folder.joinpath(DATA).read_bytes(), about)


def read_nets(data: bytes, about: Mapping[str, Any]) -> dict[tuple[str, int], Net]:
    """The nets in ``data``, by level and number of players, as ``about`` describes them.

    Raises:
        ValueError: it describes other data.
    """
    if sha256(data).hexdigest() != about["sha256"]:
        raise ValueError(f"{DATA} is not the file that {ABOUT} describes")
    weights = np.frombuffer(data, dtype="<f2").astype(np.float64)
    found, at = {}, 0
    for entry in about["nets"]:
        parts = []
        for shape in shapes(entry["players"], *entry["hidden"]):
            size = int(np.prod(shape))
            parts.append(weights[at : at + size].reshape(shape))
            at += size
        found[entry["level"], entry["players"]] = Net(tuple(parts))
    return found
