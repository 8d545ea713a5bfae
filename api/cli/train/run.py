"""``ringmaster train``: every net of the learned levels, on all cores, with a bar for each."""

import json
import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
from rich.console import Console
from rich.progress import TextColumn

from api.cli.pool import pool, progress
from api.cli.train import learn
from api.cli.train.compiled import compiled
from api.cli.train.learn import SHAPES, Learner
from engine.bots.nets import ABOUT, DATA
from engine.cards import PLAYER_COUNTS

SAVED_EVERY: Final = 10  # updates
LOOK_SECONDS: Final = 0.2
LEVELS: Final = ("strong", "expert")


@dataclass(frozen=True, slots=True)
class Plan:
    """What to train: rounds of both stages by level, a seed, a folder to go on in."""

    rounds: dict[str, tuple[int, int]]
    seed: int
    folder: Path
    jobs: int

    @property
    def command(self) -> str:
        """The command that makes the same nets."""
        rounds = " ".join(
            f"--{level} {early} {late}" for level, (early, late) in self.rounds.items()
        )
        return f"ringmaster train --seed {self.seed} {rounds}"

    def nets(self) -> list[tuple[str, int]]:
        """All nets, those that take longest first."""
        return [(level, players) for level in reversed(LEVELS) for players in (4, 3, 5, 2)]

    def file(self, level: str, players: int) -> Path:
        """Where the training of a net is kept."""
        return self.folder / f"{level}-{players}.npz"


def train(plan: Plan, output: Path) -> int:
    """Train what is not trained yet, then write the data of ``engine.bots.nets``; the exit code.

    Stopped with Ctrl-C or killed, it goes on from the last saved state when called again.
    """
    console = Console(stderr=True)
    plan.folder.mkdir(parents=True, exist_ok=True)
    news: Any = multiprocessing.get_context("spawn").SimpleQueue()
    with (
        pool(plan.jobs, _tell_to, news) as processes,
        progress(TextColumn("{task.fields[margin]}")) as bars,
    ):
        tasks = {
            (level, players): bars.add_task(
                f"{level}, {players} players", total=sum(plan.rounds[level]), margin=""
            )
            for level, players in plan.nets()
        }
        working = [processes.submit(_train_one, plan, *key) for key in tasks]
        for key, done, margin in _until_done(working, news):
            note = f"{margin:+.2f} a round over its opponents"
            bars.update(tasks[key], completed=done, margin=note)
    write(plan, output)
    console.print(f"wrote {output / DATA} and {output / ABOUT}")
    return 0


def _until_done(working: list[Future[None]], news: Any) -> Iterator[tuple[Any, int, float]]:
    while True:
        finished = all(work.done() for work in working)
        while not news.empty():
            yield news.get()
        for work in working:
            if work.done():
                work.result()  # raises what it raised
        if finished:
            return
        time.sleep(LOOK_SECONDS)


_news: list[Any] = []  # where this process tells how far it is


def _tell_to(news: Any) -> None:
    _news.append(news)


def _train_one(plan: Plan, level: str, players: int) -> None:
    file, (early, late) = plan.file(level, players), plan.rounds[level]
    learner = _load(file) if file.exists() else None
    if learner is None or (learner.seed, learner.goal, learner.late) != (plan.seed, early, late):
        learner = Learner(players, plan.seed, early, late, SHAPES[level])
    rounds = compiled()
    margins: list[float] = []
    while learner.done < early + late:
        margins = [*margins, learner.learn(rounds)][-SAVED_EVERY:]
        if learner.done % (learn.ROUNDS * SAVED_EVERY) == 0 or learner.done >= early + late:
            learner.save(file)
        for news in _news:
            news.put(((level, players), learner.done, float(np.mean(margins))))


def _load(file: Path) -> Learner:
    try:
        return Learner.load(file)
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        why = f"ringmaster: {file} cannot be read ({type(error).__name__}); remove it"
        raise SystemExit(why) from None


def write(plan: Plan, output: Path) -> None:
    """Write the nets of a finished training as ``engine.bots.nets`` reads them."""
    nets, parts = [], []
    for level in LEVELS:
        for players in PLAYER_COUNTS:
            learner = Learner.load(plan.file(level, players))
            parts += [part.astype("<f2").tobytes() for part in learner.mean]
            nets.append(
                {
                    "level": level,
                    "players": players,
                    "hidden": list(learner.shape),
                    "rounds": learner.done,
                }
            )
    data = b"".join(parts)
    about = {
        "command": plan.command,
        "seed": plan.seed,
        "date": datetime.now(UTC).date().isoformat(),
        "sha256": sha256(data).hexdigest(),
        "nets": nets,
    }
    (output / DATA).write_bytes(data)
    (output / ABOUT).write_text(json.dumps(about, indent=2) + "\n", "utf-8")
