"""The processes of a run, started one by one, and the links between them that can fail."""

import asyncio
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import aiohttp
from redis import Redis
from redis.exceptions import RedisError

from api.cli.embedded import embedded_redis
from api.cli.pool import die_with_parent
from tests.chaos.levels import THINKING
from tests.cli.proxy import Proxy

RINGMASTER: Final = (sys.executable, "-m", "api.cli.main")
STEADY: Final = range(20_000, 32_000)  # below those that systems give to outgoing connections
READY_SECONDS: Final = 60
STOP_SECONDS: Final = 10
QUEUES: Final = "scoring,bots,housekeeping"


async def until(holds: Callable[[], Awaitable[object] | object], seconds: float) -> None:
    """Wait until something holds.

    Raises:
        TimeoutError: it does not in time.
    """
    async with asyncio.timeout(seconds):
        while True:
            found = holds()
            if await found if isinstance(found, Awaitable) else found:
                return
            await asyncio.sleep(0.05)


def steady_port() -> int:
    """A free port that no connection is given while the process that listens on it is down."""
    while True:
        port = secrets.choice(STEADY)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@dataclass
class Process:
    """One process of the run, which is started as often as it dies.

    ``mark``: the file by which it says that it is at work.
    """

    name: str
    command: list[str]
    env: dict[str, str]
    folder: Path
    ready: Callable[[], Awaitable[object] | object]
    mark: Path | None = None
    pids: list[int] = field(default_factory=list)
    _running: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        return self.pids[-1]

    def start(self) -> None:
        if self.mark is not None:
            self.mark.unlink(missing_ok=True)
        with (self.folder / f"{self.name}.log").open("ab") as log:
            self._running = subprocess.Popen(
                self.command,
                cwd=self.folder,
                env={**os.environ, **self.env},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=die_with_parent,  # noqa: PLW1509 - this process has one thread
            )
        self.pids.append(self._running.pid)

    def running(self) -> bool:
        return self._running is not None and self._running.poll() is None

    def send(self, number: int) -> None:
        """Signal the process itself, not its children."""
        if self.running():
            os.kill(self.pid, number)

    async def is_ready(self) -> None:
        """Wait until it is at work.

        Raises:
            TimeoutError: it is not after a minute.
        """
        await until(self.ready, READY_SECONDS)

    async def again(self) -> None:
        """Start it anew once it has ended, without whatever it left behind."""
        await self.end()
        self.start()
        await self.is_ready()

    async def end(self, number: int = signal.SIGKILL) -> None:
        """End it, at first by a signal; then kill it and its children."""
        self.send(signal.SIGCONT)
        self.send(number)
        with suppress(TimeoutError):
            await until(lambda: not self.running(), STOP_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill it and its children, at once."""
        if self._running is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self._running.wait(STOP_SECONDS)


class Ground:
    """Redis, two API processes, ``house`` workers and sweepers each; between them proxies."""

    def __init__(
        self, folder: Path, http: aiohttp.ClientSession, house: int = 2, **env: str
    ) -> None:
        self._env = env
        self._http, self._closing = http, AsyncExitStack()
        embedded = embedded_redis(folder, steady_port())
        self.direct = Redis.from_url(embedded.url, socket_timeout=5)
        ports = [steady_port(), steady_port()]
        url = embedded.url.replace("redis://", "http://").removesuffix("/0")
        self.store, self.broker = Proxy(url), Proxy(url)
        self.links = [Proxy(f"http://127.0.0.1:{port}") for port in ports]
        self.thinking = folder / "thinking"
        self.thinking.mkdir()
        self.redis = Process("redis", embedded.command, {}, embedded.folder, self._redis_answers)
        self._folder = folder
        self.apis = [self._api(number, port) for number, port in enumerate(ports)]
        self.workers = [self._worker(number) for number in range(house)]
        self.sweepers = [
            Process(f"sweeper{n}", [*RINGMASTER, "sweeper"], {}, folder, self._swept)
            for n in range(house)
        ]

    @property
    def processes(self) -> list[Process]:
        """All of them, Redis first."""
        return [self.redis, *self.apis, *self.workers, *self.sweepers]

    @property
    def addresses(self) -> list[str]:
        """Where clients reach the API."""
        return [link.url for link in self.links]

    def _api(self, number: int, port: int) -> Process:
        async def ready() -> bool:
            with suppress(aiohttp.ClientError, OSError, TimeoutError):
                address = f"http://127.0.0.1:{port}/readyz"
                async with self._http.get(address, timeout=aiohttp.ClientTimeout(2)) as answer:
                    return answer.status == 200
            return False

        env = {"RINGMASTER_PORT": str(port)}
        return Process(f"api{number}", [*RINGMASTER, "api"], env, self._folder, ready)

    def _worker(self, number: int) -> Process:
        mark = self._folder / f"worker{number}.ready"
        command = [*RINGMASTER, "worker", "--queues", QUEUES]
        env = {"RINGMASTER_READY_FILE": str(mark)}
        return Process(f"worker{number}", command, env, self._folder, mark.exists, mark)

    def _redis_answers(self) -> bool:
        with suppress(RedisError, OSError):
            return bool(self.direct.ping())
        return False

    def _swept(self) -> bool:
        with suppress(RedisError, OSError):
            return bool(self.direct.exists("rm:sweeper"))
        return False

    async def __aenter__(self) -> Self:
        try:
            self.redis.start()
            await self.redis.is_ready()
            for link in (self.store, self.broker, *self.links):
                await self._closing.enter_async_context(link)
            env = {
                "RINGMASTER_REDIS_URL": self.store.url.replace("http", "redis") + "/0",
                "RINGMASTER_BROKER_URL": self.broker.url.replace("http", "redis") + "/0",
                "RINGMASTER_LEVELS": "tests.chaos.levels",
                "RINGMASTER_WORKER_CONCURRENCY": "2",
                THINKING: str(self.thinking),
                "PYTHONPATH": str(Path(__file__).parents[2]),
                "OPENBLAS_NUM_THREADS": "1",
                **self._env,
            }
            for process in self.processes[1:]:
                process.env.update(env)
                process.start()
            for process in self.processes[1:]:
                await process.is_ready()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Kill what is left; nobody waits for a process of a run that is over."""
        for process in reversed(self.processes):
            process.kill()
        self.direct.close()
        await self._closing.aclose()

    def left(self) -> dict[int, str]:
        """Processes that outlived the run: those of a session that was begun here."""
        sessions = {pid for process in self.processes for pid in process.pids}
        found = {}
        for entry in Path("/proc").iterdir():
            with suppress(OSError, ValueError, IndexError):
                words: list[Any] = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                if int(words[3]) in sessions and words[0] != "Z":
                    found[int(entry.name)] = (entry / "comm").read_text().strip()
        return found
