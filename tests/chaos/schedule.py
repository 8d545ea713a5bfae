"""Which faults are made, in which order: a function of the seed alone."""

from collections.abc import Iterator
from random import Random
from typing import Final, NamedTuple

from tests.chaos.faults import FAULTS

PAUSE: Final = (0.5, 5.0)  # seconds with nothing broken
TWO: Final = 0.3  # of the steps that make two faults at once


class Step(NamedTuple):
    """Faults made at once after a pause in seconds, each with a seed of its own."""

    pause: float
    faults: tuple[tuple[str, int], ...]


def schedule(seed: int) -> Iterator[Step]:
    """Steps without end; every fault comes before any comes again."""
    chance = Random(seed)
    waiting: list[str] = []
    while True:
        names = [_next(chance, waiting, set())]
        if chance.random() < TWO:
            taken = set(FAULTS[names[0]][0].split())
            second = _next(chance, waiting, taken)
            names += [second] if second else []
        pause = chance.uniform(*PAUSE)
        yield Step(pause, tuple((name, chance.getrandbits(32)) for name in names))


def _next(chance: Random, waiting: list[str], taken: set[str]) -> str:
    """The next fault that breaks nothing that is taken; an empty name if there is none."""
    if not waiting:
        waiting += FAULTS
        chance.shuffle(waiting)
    for name in waiting:
        if not taken & set(FAULTS[name][0].split()):
            waiting.remove(name)
            return name
    return ""
