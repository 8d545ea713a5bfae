"""Playouts of ``regular``: by the rules themselves, quickly, and beside OpenSpiel's hearts.

OpenSpiel is installed from PyPI into a folder that is gone afterwards, pinned in ``peers``. What is
alike: a round of four from its deal to its points, driven from Python. What is not: its rules are
compiled and its moves random, ours are Python and the moves those of a bot.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from statistics import median
from typing import Final

from engine.actions import Action
from engine.bots import LEVELS
from engine.bots.playouts import play_out
from engine.cards import HAND_SIZE, Cards, deck
from engine.views import view
from tests.bench.driver import Driver
from tests.bench.figures import Figure, middle
from tests.bench.machine import CORES
from tests.builders import play_out as play_match

RUNS: Final = 5
PLAYERS: Final = 4
ROUNDS: Final = 300  # a run of quick ones
WARM: Final = 3000  # rounds before, so that most parts of hands have been met
GAMES: Final = 200  # of hearts, a run
PEERS: Final = Path(__file__).parent / "peers"
INSTALL_SECONDS: Final = 180
FACES: Final = [(card, card.turned()) for card in deck(PLAYERS)]


def playouts(*, peers: bool = False) -> Iterator[Figure]:
    """Greedy actions a second by the rules and quickly, in turn; with ``peers`` hearts too."""
    ordinary, quick, hearts = [], [], []
    with ExitStack() as open_:
        rival = open_.enter_context(_hearts()) if peers else None
        _play(range(WARM))
        for run in range(RUNS):
            ordinary.append(_by_the_rules(run))
            quick.append(_quickly(range(WARM + run * ROUNDS, WARM + (run + 1) * ROUNDS)))
            if rival is not None:
                actions, seconds = rival.ask(GAMES)
                hearts.append(actions / seconds)
    yield middle("greedy playouts by decide, evolve, view and bot", ordinary, "actions/s")
    yield middle(
        "the same by engine.bots.playouts",
        quick,
        "actions/s",
        ratio=_ratio(quick, ordinary),
        of="those",
        target=100_000,
        at_least=True,
    )
    if hearts:
        yield middle("random playouts of OpenSpiel's hearts", hearts, "actions/s")
        yield middle(
            "greedy playouts by engine.bots.playouts",
            quick,
            "actions/s",
            ratio=_ratio(quick, hearts),
            of="hearts",
            target=0.4,
            moonshot=0.8,
            judge_ratio=True,
            at_least=True,
        )


def match(seed: int) -> list:
    """The commits of a whole match of four by ``regular``."""
    level = LEVELS["regular"]
    choose = lambda m, s, c: level.action(view(m, s), (), c.getrandbits(32))  # noqa: E731
    return play_match(PLAYERS, seed, choose)


def _ratio(ours: list[float], theirs: list[float]) -> float:
    return median(a / b for a, b in zip(ours, theirs, strict=True))


def _by_the_rules(run: int) -> float:
    began = time.process_time()
    commits = [commit for seed in range(run * 4, run * 4 + 4) for commit in match(seed)]
    seconds = time.process_time() - began
    # All but those that create a match and score a round.
    actions = sum(1 for events, _ in commits if hasattr(events[0], "seat"))
    return actions / seconds


def _quickly(seeds: range) -> float:
    began = time.process_time()
    _play(seeds)
    seconds = time.process_time() - began
    actions: list[Action] = []
    _play(seeds, actions)
    return len(actions) / seconds


def _play(seeds: range, actions: list[Action] | None = None) -> None:
    chance = Random(seeds.start)
    for seed in seeds:
        play_out(_deal(chance), seed % PLAYERS, actions)


def _deal(chance: Random) -> list[Cards]:
    cards = [faces[chance.getrandbits(1)] for faces in FACES]
    chance.shuffle(cards)
    size = HAND_SIZE[PLAYERS]
    return [tuple(cards[seat * size : (seat + 1) * size]) for seat in range(PLAYERS)]


@contextmanager
def _hearts() -> Iterator[Driver]:
    with tempfile.TemporaryDirectory(prefix="ringmaster-peers-") as folder:
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
                *("--no-deps", "--require-hashes", "--target", folder),
                *("--requirement", str(PEERS / "requirements.txt")),
            ],
            check=True,
            timeout=INSTALL_SECONDS,
            stderr=subprocess.DEVNULL,
        )
        command = [sys.executable, str(PEERS / "hearts.py")]
        with Driver(command, cores=frozenset(CORES), env={"PYTHONPATH": folder}) as driver:
            yield driver
