"""Redis as it is run in earnest, for tests: a primary with replicas, Sentinels, a Cluster."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from api.cli.embedded import embedded_redis, free_port

SLOTS = 16384
WAIT_SECONDS = 30.0


def binary(kind: str = "embedded") -> str:
    """The server that is run: the one in our wheel, or Debian's."""
    if kind == "debian":
        found = shutil.which("redis-server")
        assert found, "redis-server is not installed"
        return found
    return embedded_redis(Path("/tmp/ringmaster-unused")).command[0]  # noqa: S108


@dataclass
class Node:
    """One server process of the tests' own."""

    folder: Path
    options: list[str]
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def client(self) -> Redis:
        return Redis(port=self.port, socket_timeout=5, decode_responses=True)

    def start(self) -> "Node":
        self.folder.mkdir(parents=True, exist_ok=True)
        self.process = subprocess.Popen(
            [binary(), *self.options, "--port", str(self.port), "--bind", "127.0.0.1"],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until(self.answers)
        return self

    def answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, f"the server of port {self.port} did not start"
        with suppress(RedisError, OSError), self.client() as client:
            return bool(client.ping())
        return False

    def signal(self, number: int) -> None:
        assert self.process is not None
        os.kill(self.process.pid, number)

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait(10)


def until(holds: Callable[[], object], seconds: float = WAIT_SECONDS) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"it does not hold after {seconds} s"
        time.sleep(0.05)


def server(folder: Path, *options: str) -> Node:
    """One server, with options of its own."""
    plain = ["--appendonly", "no", "--save", "", "--repl-diskless-sync-delay", "0"]
    return Node(folder, [*plain, *options])


@contextmanager
def replicated(folder: Path, replicas: int = 1) -> Iterator[list[Node]]:
    """A primary and its replicas, in step."""
    primary = server(folder / "primary")
    nodes = [primary]
    for number in range(replicas):
        name = folder / f"replica{number}"
        nodes.append(server(name, "--replicaof", "127.0.0.1", str(primary.port)))
    try:
        for node in nodes:
            node.start()
        until(partial(in_step, primary, replicas))
        yield nodes
    finally:
        for node in nodes:
            node.kill()


def in_step(primary: Node, replicas: int = 1) -> bool:
    """Whether so many replicas have all that was written until now."""
    with suppress(RedisError, OSError), primary.client() as client:
        client.set("in step", 1)
        return int(client.execute_command("WAIT", replicas, 100)) >= replicas
    return False


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, list[Node]]]:
    """A Cluster of three nodes: its URL, and the nodes."""
    options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"]
    nodes = [
        server(folder / str(number), *options, "--cluster-port", str(free_port()))
        for number in range(3)
    ]
    try:
        for number, node in enumerate(nodes):
            node.start()
            first, last = SLOTS * number // 3, SLOTS * (number + 1) // 3 - 1
            with node.client() as client:
                client.execute_command("CLUSTER ADDSLOTSRANGE", first, last)
                client.execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
        with nodes[0].client() as client:
            for node in nodes[1:]:
                bus = node.options[node.options.index("--cluster-port") + 1]
                client.execute_command("CLUSTER MEET", "127.0.0.1", node.port, bus)
        for node in nodes:
            until(partial(_whole, node))
        yield f"redis+cluster://127.0.0.1:{nodes[0].port},127.0.0.1:{nodes[1].port}", nodes
    finally:
        for node in nodes:
            node.kill()


def _whole(node: Node) -> bool:
    with node.client() as client:
        info = client.execute_command("CLUSTER INFO")
    told = info if isinstance(info, dict) else dict(line.split(":", 1) for line in info.split())
    return told["cluster_state"] == "ok" and int(told["cluster_known_nodes"]) == 3


SERVICE = "matches"


@contextmanager
def sentinels(folder: Path, primary: Node, count: int = 3) -> Iterator[str]:
    """Sentinels that watch over a primary: the URL behind them."""
    nodes = []
    try:
        for number in range(count):
            port = free_port()
            place = folder / f"sentinel{number}"
            place.mkdir(parents=True)
            (place / "sentinel.conf").write_text(
                f"port {port}\nbind 127.0.0.1\n"
                f"sentinel monitor {SERVICE} 127.0.0.1 {primary.port} {count // 2 + 1}\n"
                f"sentinel down-after-milliseconds {SERVICE} 1000\n"
                f"sentinel failover-timeout {SERVICE} 6000\n"
            )
            nodes.append(Node(place, ["sentinel.conf", "--sentinel"], port))
        for node in nodes:
            node.start()
        with primary.client() as client:
            replicas = int(client.info("replication")["connected_slaves"])
        for node in nodes:
            until(partial(_watches, node, count, replicas))
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in nodes)
        yield f"redis+sentinel://{hosts}/{SERVICE}/0"
    finally:
        for node in nodes:
            node.kill()


def _watches(node: Node, count: int, replicas: int) -> bool:
    with node.client() as client:
        known = client.execute_command("SENTINEL MASTER", SERVICE)
    told = known if isinstance(known, dict) else dict(zip(known[::2], known[1::2], strict=True))
    return int(told["num-slaves"]) == replicas and int(told["num-other-sentinels"]) == count - 1
