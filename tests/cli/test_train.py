"""`ringmaster train`: the same again from the same seed, also when it was interrupted."""

import json
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

from api.cli.train import learn, run
from api.cli.train.compiled import compiled
from api.cli.train.learn import Learner
from api.cli.train.run import Plan, write
from engine.bots.features import width
from engine.bots.nets import ABOUT, DATA, net, read_nets
from engine.cards import PLAYER_COUNTS

ROUNDS = 3
SHAPES = {"strong": (4, 3), "expert": (5, 4)}


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch):
    monkeypatch.setattr(learn, "ROUNDS", ROUNDS)
    monkeypatch.setattr(learn, "ROOM", ROUNDS * 160)
    monkeypatch.setattr(learn, "BATCH", 16)
    monkeypatch.setattr(run, "SAVED_EVERY", 1)
    monkeypatch.setattr(run, "SHAPES", SHAPES)


def plan(folder):
    return Plan({"strong": (2 * ROUNDS, 0), "expert": (2 * ROUNDS, ROUNDS)}, 7, folder, 1)


def test_training_is_repeatable_and_goes_on_where_it_was_interrupted(tmp_path, monkeypatch):
    whole, parted, news = plan(tmp_path / "a"), plan(tmp_path / "b"), SimpleQueue[Any]()
    for folder in (whole.folder, parted.folder):
        folder.mkdir()
    monkeypatch.setattr(run, "_news", [news])
    run._train_one(whole, "expert", 2)

    learner = Learner(2, 7, 2 * ROUNDS, ROUNDS, (5, 4))
    learner.learn(compiled())
    learner.save(parted.file("expert", 2))
    run._train_one(parted, "expert", 2)

    first, second = (Learner.load(p.file("expert", 2)) for p in (whole, parted))
    assert first.done == second.done == 3 * ROUNDS
    for ours, theirs in zip(first.mean, second.mean, strict=True):
        assert np.allclose(ours, theirs)
    assert [news.get()[1] for _ in range(5)] == [3, 6, 9, 6, 9]


def test_learning_changes_the_net_towards_what_happened():
    learner = Learner(2, 1, 40 * ROUNDS, ROUNDS, (5, 4))
    before = [part.copy() for part in learner.net]
    rows = np.eye(width(2), dtype=np.float32)[:16]
    notes = np.tile(np.array([[3.0, 1.0, 1.0]], np.float32), (16, 1))

    def worth():
        w1, b1, w2, b2, w3, b3 = learner.net
        result = np.maximum(np.maximum(rows @ w1 + b1, 0) @ w2 + b2, 0) @ w3 + b3
        return result[:, 0].mean(), (1 / (1 + np.exp(-result[:, 1]))).mean()

    points, win = worth()
    for _ in range(60):
        learner._step(rows, notes, 0.01)

    assert abs(3 - worth()[0]) < abs(3 - points)
    assert worth()[1] > win
    assert any((ours != theirs).any() for ours, theirs in zip(learner.net, before, strict=True))


def test_the_nets_are_written_as_they_are_read(tmp_path):
    made = plan(tmp_path)
    for level, players in made.nets():
        Learner(players, 7, 6, 0, SHAPES[level]).save(made.file(level, players))

    write(made, tmp_path)

    data, about = (tmp_path / DATA).read_bytes(), json.loads((tmp_path / ABOUT).read_text())
    found = read_nets(data, about)
    assert set(found) == {(level, n) for level in ("strong", "expert") for n in PLAYER_COUNTS}
    assert about["command"] == "ringmaster train --seed 7 --strong 6 0 --expert 6 3"
    learner = Learner.load(made.file("expert", 4))
    for ours, theirs in zip(learner.mean, found["expert", 4].parts, strict=True):
        assert np.allclose(ours, theirs, atol=1e-3)
    with pytest.raises(ValueError, match="is not the file"):
        read_nets(data + b"\0\0", about)


def test_the_nets_of_the_repository_are_those_described():
    for level in ("strong", "expert"):
        for players in PLAYER_COUNTS:
            points, wins = net(level, players).worth(np.zeros((2, width(players))))
            assert points.shape == wins.shape == (2,)
            assert ((wins > 0) & (wins < 1)).all()
    with pytest.raises(KeyError):
        net("nobody", 4)
