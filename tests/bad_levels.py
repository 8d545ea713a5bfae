"""Levels that fail, each in its way, for `RINGMASTER_LEVELS=tests.bad_levels`."""

import sys
import time
from collections import deque
from contextlib import suppress
from itertools import repeat

from engine.actions import Show
from engine.bots import Level


def raises(view, *_):
    raise RuntimeError(f"with {view.you.hand} in its text")


def exits(view, *_):
    sys.exit(f"with {view.you.hand} in its text")


def spins(*_):
    while True:
        pass


def sleeps(*_):
    time.sleep(60)


def illegal(view, *_):
    return Show(view.you.seat, 99, 1)


def garbage(view, *_):
    return str(view.you.hand)


def swallows(*_):
    while True:
        with suppress(BaseException):
            time.sleep(1)


def stuck(*_):
    """Never comes back from C, where no signal is looked at and no other thread runs."""
    deque(repeat(0), maxlen=0)


LEVELS = {
    choose.__name__: Level(choose.__name__, "Fails.", 5, choose)
    for choose in (raises, exits, spins, sleeps, illegal, garbage, swallows, stuck)
}
