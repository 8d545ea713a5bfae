"""The same shape of game on other servers, by their own clients, in turn with ours.

Node's packages are installed into a folder that is gone afterwards; their versions are pinned in
``tests/bench/peers``. What is alike: matches of four, one move after another, hands hidden from the
others, all four told of every move. What is not: theirs are kept in memory (but for the one with a
write to Redis) and their clients find their legal moves themselves; ours are told them.
"""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from api.cli.embedded import free_port
from tests.bench.driver import Driver, crowd
from tests.bench.figures import Figure, middle
from tests.bench.machine import OTHER_CORES, SERVER_CORES, cpu_seconds, pin
from tests.bench.moves import MATCHES, NAMES, RUNS, SECONDS, figures, one_run
from tests.bench.serving import Window, serving
from tests.conftest import start_redis

SOURCES: Final = Path(__file__).parent / "peers"
INSTALL_SECONDS: Final = 180
WARM_SECONDS: Final = 3.0  # for the compiler of Node to have seen the code
PEERS: Final = {
    "boardgame.io": "boardgame",
    "boardgame.io with a Redis write a move": "boardgame",
    "Colyseus": "colyseus",
}
DURABLE: Final = "boardgame.io with a Redis write a move"
PLAIN: Final = "boardgame.io"
TARGETS: Final = {"http": (4.0, 1.0), "socket": (4.0, 1.0), "rest": (2.5, 1.0)}


@dataclass(frozen=True)
class Peer:
    """One of the other servers, and its clients, who pause."""

    server: Driver
    clients: Driver

    def run(self, seconds: float = SECONDS) -> Window:
        """Let them play at full load for a while."""
        self.clients.ask("play")
        self.clients.ask("count")
        pids = (self.server.process.pid,), (self.clients.process.pid,)
        before, began = [cpu_seconds(*each) for each in pids], time.perf_counter()
        time.sleep(seconds)
        moves, lasted = self.clients.ask("count")["moves"], time.perf_counter() - began
        server, clients = (
            cpu_seconds(*each) - early for each, early in zip(pids, before, strict=True)
        )
        self.clients.ask("pause")
        return Window(lasted, moves, server, 0, 0, clients, 0)


@contextmanager
def peers() -> Iterator[dict[str, Peer]]:
    """All of them, ready to play."""
    with ExitStack() as open_:
        folder = Path(open_.enter_context(tempfile.TemporaryDirectory(prefix="ringmaster-peers-")))
        shutil.copytree(SOURCES, folder, dirs_exist_ok=True)
        subprocess.run(
            ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"],
            cwd=folder,
            check=True,
            timeout=INSTALL_SECONDS,
            stdout=subprocess.DEVNULL,
        )
        redis = start_redis(folder)
        open_.callback(redis.stop)
        pin(OTHER_CORES, redis.process.pid)
        found = {}
        for name, kind in PEERS.items():
            port = free_port()
            command = ["node", f"{kind}_server.js", str(port)]
            command += [redis.url] if name == DURABLE else []
            server = open_.enter_context(Driver(command, cores=SERVER_CORES, cwd=folder))
            clients = ["node", f"{kind}_client.js", str(port), str(MATCHES)]
            found[name] = Peer(server, open_.enter_context(Driver(clients, cwd=folder)))
        yield found


def against_peers() -> Iterator[Figure]:
    """Moves of ours and theirs, one run of each in turn, and ours by theirs."""
    ours: dict[str, list[Window]] = {way: [] for way in NAMES}
    theirs: dict[str, list[Window]] = {name: [] for name in PEERS}
    with ExitStack() as open_:
        rivals = open_.enter_context(peers())
        served = open_.enter_context(serving())
        crowds = {way: open_.enter_context(crowd(way, served.url)) for way in NAMES}
        for people in crowds.values():
            one_run(served, people)
        for peer in rivals.values():
            peer.run(WARM_SECONDS)
        for _ in range(RUNS):
            for way, people in crowds.items():
                ours[way].append(one_run(served, people))
            for name, peer in rivals.items():
                theirs[name].append(peer.run())
    yield from figures(ours)
    yield from _theirs(theirs)
    yield from _ratios(ours, theirs)


def _theirs(theirs: dict[str, list[Window]]) -> Iterator[Figure]:
    for name, runs in theirs.items():
        yield middle(f"moves by {name}", [run.rate for run in runs], "moves/s")
        costs = [run.per_move(run.server) for run in runs]
        yield middle(f"server CPU of a move by {name}", costs, "ms")


def _ratios(ours: dict[str, list[Window]], theirs: dict[str, list[Window]]) -> Iterator[Figure]:
    for way, mine in ours.items():
        cost = median(run.per_move(run.server) for run in mine)
        for name, runs in theirs.items():
            target, moonshot = TARGETS[way] if name == PLAIN else (None, None)
            yield Figure(
                f"CPU of a move: {NAMES[way]}",
                cost,
                "ms",
                ratio=cost / median(run.per_move(run.server) for run in runs),
                of=name,
                target=target,
                moonshot=moonshot,
                judge_ratio=True,
            )
