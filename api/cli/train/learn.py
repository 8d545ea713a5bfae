"""One net for one number of players, learning from rounds against itself, its past and a heuristic.

Values of positions after one's own action are learnt by TD(lambda): the points still to come, and
in a match's last round the share of the win. A second stage at a lower rate meets more of others:
the greedy levels, and heuristics each unlike the one before.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from api.cli.train.rounds import GREEDY, HEURISTIC, LEARNER, PAST
from api.cli.train.sparring import LINE
from engine.bots.features import width
from engine.cards import HAND_SIZE

ROUNDS: Final = 500  # played between two updates
BATCH: Final = 1024
ROOM: Final = ROUNDS * 160  # positions kept of them at most
RATE: Final = (1e-3, 3e-5)  # the first and the last learning rate
EXPLORE: Final = (0.15, 0.03)  # decisions that noise is added to
LATE_RATE: Final = (3e-4, 2e-5)  # the same of the second stage
LATE_EXPLORE: Final = (0.05, 0.02)
OTHER_TABLES: Final = 0.4  # rounds of the second stage without another net
TRACE: Final = 0.85
SELVES: Final = 12  # former selves kept as opponents
POINTS: Final = 1 / 36  # what a squared error in points counts
SHAPES: Final = {"strong": (32, 16), "expert": (128, 32)}

Array = Any  # numpy arrays of float32
Net = tuple[Array, ...]


@dataclass
class Learner:
    """A net in training. ``done`` counts rounds, of which ``goal`` in the first stage."""

    players: int
    seed: int
    goal: int
    late: int
    shape: tuple[int, int]
    done: int = 0
    steps: int = 0
    net: list[Array] = field(default_factory=list)
    first: list[Array] = field(default_factory=list)
    second: list[Array] = field(default_factory=list)
    mean: list[Array] = field(default_factory=list)
    past: list[list[Array]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin with random weights, unless some are given."""
        if not self.net:
            rng = np.random.default_rng([self.seed, self.players])
            inputs, (hidden, middle) = width(self.players), self.shape
            sizes = [(inputs, hidden), (hidden,), (hidden, middle), (middle,), (middle, 2), (2,)]
            scales = [1 / np.sqrt(30), 0, np.sqrt(2 / hidden), 0, 0.02, 0]
            self.net = [
                (rng.standard_normal(size) * scale).astype(np.float32)
                for size, scale in zip(sizes, scales, strict=True)
            ]
        for name in ("first", "second"):
            if not getattr(self, name):
                setattr(self, name, [np.zeros_like(part) for part in self.net])
        if not self.mean:
            self.mean = [part.copy() for part in self.net]

    def learn(self, rounds: Any) -> float:
        """Play ``ROUNDS`` and learn from them; the mean margin against those that are not the net.

        ``rounds`` is ``api.cli.train.rounds``, compiled or not.
        """
        rng = np.random.default_rng([self.seed, self.players, self.done])
        is_late = self.done >= self.goal
        progress = (self.done - self.goal) / self.late if is_late else self.done / self.goal
        rate = _between(LATE_RATE if is_late else RATE, progress)
        explore = _between(LATE_EXPLORE if is_late else EXPLORE, progress)
        policies = self._policies(rng)
        before = self.past[rng.integers(len(self.past))] if self.past else self.net
        line = LINE[self.players]
        if is_late:
            policies = self._with_others(rng, policies)
            line = line * np.exp(0.4 * rng.standard_normal(len(line)))
        rows = np.zeros((ROOM, width(self.players)), np.float32)
        notes = np.zeros((ROOM, 3), np.float32)
        totals = np.zeros((ROUNDS, 5))
        written = rounds.play(
            np.array([rng.integers(1, 2**32)], np.int64),
            self.players,
            HAND_SIZE[self.players],
            (tuple(self.net), tuple(before)),
            line,
            policies,
            0.35,
            1 if is_late or progress > 0.15 else 0,
            explore,
            TRACE if is_late or progress >= 0.03 else 1.0,
            rows,
            notes,
            totals,
        )
        order = rng.permutation(written)
        for at in range(0, written, BATCH):
            chosen = order[at : at + BATCH]
            self._step(rows[chosen], notes[chosen], rate)
        self.done += ROUNDS
        if self.done % max(ROUNDS, self.goal // (2 * SELVES) // ROUNDS * ROUNDS) == 0:
            self.past = [*self.past, [part.copy() for part in self.net]][-SELVES:]
        mixed = (policies == LEARNER)[:, : self.players]
        return float(totals[:, : self.players][mixed].mean())

    def _policies(self, rng: np.random.Generator) -> Array:
        chance = rng.random((ROUNDS, 5))
        old = np.where(chance < 0.3 if self.past else False, PAST, LEARNER)
        policies = np.where(chance < 0.12, HEURISTIC, old)
        policies[np.arange(ROUNDS), rng.integers(self.players, size=ROUNDS)] = LEARNER
        return policies.astype(np.int64)

    def _with_others(self, rng: np.random.Generator, policies: Array) -> Array:
        """Some tables where one learner meets none of its like."""
        chance = rng.random(ROUNDS)
        policies[chance < OTHER_TABLES] = HEURISTIC
        policies[chance < OTHER_TABLES / 2] = GREEDY
        alone = np.flatnonzero(chance < OTHER_TABLES)
        policies[alone, rng.integers(self.players, size=len(alone))] = LEARNER
        return policies

    def _step(self, rows: Array, notes: Array, rate: float) -> None:
        """One step of Adam on the squared error in points and the log loss of the win."""
        w1, b1, w2, b2, w3, b3 = self.net
        hidden = rows @ w1 + b1
        middle_in = np.maximum(hidden, 0)
        middle = middle_in @ w2 + b2
        last_in = np.maximum(middle, 0)
        result = last_in @ w3 + b3
        win = 1 / (1 + np.exp(-result[:, 1]))
        error = np.stack(
            [(result[:, 0] - notes[:, 0]) * POINTS, (win - notes[:, 1]) * notes[:, 2]], axis=1
        ) / len(rows)
        to_middle = (error @ w3.T) * (middle > 0)
        to_hidden = (to_middle @ w2.T) * (hidden > 0)
        slopes = [
            *(rows.T @ to_hidden, to_hidden.sum(0)),
            *(middle_in.T @ to_middle, to_middle.sum(0)),
            *(last_in.T @ error, error.sum(0)),
        ]
        self.steps += 1
        warm = 1 - 0.9**self.steps, 1 - 0.999**self.steps
        for i, slope in enumerate(slopes):
            self.first[i] += 0.1 * (slope - self.first[i])
            self.second[i] += 0.001 * (slope * slope - self.second[i])
            slowly = np.sqrt(self.second[i] / warm[1]) + 1e-8
            self.net[i] -= (rate * (self.first[i] / warm[0]) / slowly).astype(np.float32)
            self.mean[i] += max(0.002, 1 / self.steps) * (self.net[i] - self.mean[i])

    def save(self, file: Path) -> None:
        """Write all that is needed to go on; a crash leaves the file before it."""
        parts = {
            f"{name}_{i}": part
            for name in ("net", "first", "second", "mean")
            for i, part in enumerate(getattr(self, name))
        }
        past = {f"past_{i}_{j}": p for i, net in enumerate(self.past) for j, p in enumerate(net)}
        counts = np.array(
            [self.players, self.seed, self.goal, self.late, *self.shape, self.done, self.steps]
        )
        fresh = file.with_suffix(".new.npz")
        np.savez(fresh, counts=counts, **parts, **past)
        fresh.replace(file)

    @classmethod
    def load(cls, file: Path) -> "Learner":
        """Go on where ``save`` was called."""
        with np.load(file, allow_pickle=False) as data:
            players, seed, goal, late, hidden, middle, done, steps = map(int, data["counts"])
            lists = {
                name: [data[f"{name}_{i}"] for i in range(6)]
                for name in ("net", "first", "second", "mean")
            }
            many = sum(name.startswith("past_") for name in data.files) // 6
            past = [[data[f"past_{i}_{j}"] for j in range(6)] for i in range(many)]
        return cls(players, seed, goal, late, (hidden, middle), done, steps, **lists, past=past)


def _between(ends: tuple[float, float], progress: float) -> float:
    return float(ends[0] * (ends[1] / ends[0]) ** progress)
