"""``ringmaster up``: Redis, API, workers and sweeper under one roof, started again if one dies."""

import contextlib
import fcntl
import logging
import os
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from api.cli.embedded import embedded_redis
from api.cli.pool import die_with_parent
from api.logs import set_up_logging
from api.queues import BATCH, QUEUES
from api.settings import Settings

READY_SECONDS: Final = 60
STOP_SECONDS: Final = 10
CRASHES: Final = 5  # of one process within CRASH_SECONDS, and all is given up
CRASH_SECONDS: Final = 30
_RINGMASTER: Final = (sys.executable, "-m", "api.cli.main")
_HAS_TERMINAL: Final = os.isatty(0)

log = logging.getLogger("ringmaster.up")


@dataclass
class Child:
    """A process to be kept running; ``crashes`` are the times of its recent deaths."""

    name: str
    command: list[str]
    env: Mapping[str, str]
    folder: Path | None = None
    process: subprocess.Popen[bytes] | None = None
    crashes: list[float] = field(default_factory=list)

    def start(self) -> None:
        """Start in a session of its own, so that Ctrl-C reaches it through us alone."""
        self.process = subprocess.Popen(  # noqa: S603 - our own commands
            self.command,
            env={**os.environ, **self.env},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - this process has one thread
        )

    def died(self) -> bool:
        """Whether it is no longer running."""
        return self.process is not None and self.process.poll() is not None

    def ended(self) -> bool:
        """Whether it has ended as it should, as when an operator drains it."""
        return self.process is not None and self.process.poll() in {0, -signal.SIGTERM}

    def stop(self, number: int) -> None:
        """Signal its main process, which stops its own children; with SIGKILL all of them."""
        if self.process is None:
            return
        try:
            if number == signal.SIGKILL:
                os.killpg(self.process.pid, number)
            else:
                self.process.send_signal(number)
        except ProcessLookupError:
            pass


class Stop(Exception):  # noqa: N818 - not an error
    """Asked to stop."""


def up(settings: Settings, *, redis_configured: bool) -> int:
    """Run everything until Ctrl-C or SIGTERM; the exit code."""
    began = time.monotonic()
    _expect_free(settings)
    _expect_levels(settings)
    set_up_logging(settings.log_level, settings.log_format)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _raise_stop)
    children: list[Child] = []
    with tempfile.TemporaryDirectory(prefix="ringmaster-") as scratch:
        lock = None
        try:
            url = near = settings.redis_url
            if not redis_configured:
                lock = _lock(Path(settings.data_dir))
                data, near_it = Path(settings.data_dir), Path(scratch) / "redis"
                redis = embedded_redis(data, fsync=settings.fsync, socket=near_it)
                url, near = redis.url, redis.near
                children.append(Child("redis", redis.command, {}, redis.folder))
                children[0].start()
            ready_file = Path(scratch) / "worker"
            started = _processes(settings, near, ready_file)
            children += started
            for child in started:
                child.start()
            _await_ready(settings, children, ready_file)
            # Nobody waits for this one, so it does not delay the others.
            children.append(_batch(settings, near))
            children[-1].start()
            _announce(settings, url, time.monotonic() - began)
            return _keep_running(children)
        except Stop:
            return 0
        finally:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            _stop_all(children)
            if lock is not None:
                lock.close()


def _processes(settings: Settings, redis_url: str, ready_file: Path) -> list[Child]:
    env = {
        "RINGMASTER_DRAIN_SECONDS": "0",  # there is no other process for its clients to go to
        "RINGMASTER_REDIS_URL": redis_url,
        "RINGMASTER_PORT": str(settings.port),
        "RINGMASTER_HOST": settings.host,
        **_log_level(settings),
    }
    queues = ",".join(queue for queue in QUEUES if queue != BATCH)
    worker_env = {**env, "RINGMASTER_READY_FILE": str(ready_file), **_measured(settings, 0)}
    return [
        Child("api", [*_RINGMASTER, "api"], env),
        Child("worker", [*_RINGMASTER, "worker", "--queues", queues], worker_env),
        Child("sweeper", [*_RINGMASTER, "sweeper"], {**env, **_measured(settings, 1)}),
    ]


def _batch(settings: Settings, redis_url: str) -> Child:
    """The worker of series: a process of its own, behind all that people wait for."""
    command = [*_RINGMASTER, "worker", "--queues", BATCH, "--processes", "1", "--nice", "10"]
    env = {"RINGMASTER_REDIS_URL": redis_url, **_log_level(settings), **_measured(settings, 2)}
    return Child("batch worker", command, env)


def _measured(settings: Settings, number: int) -> dict[str, str]:
    """A port of its own for each process that serves its metrics."""
    port = settings.metrics_port
    return {} if port is None else {"RINGMASTER_METRICS_PORT": str(port + number)}


def _log_level(settings: Settings) -> dict[str, str]:
    """On a terminal a line for every request would hide what is to be read."""
    quiet = "log_level" not in settings.model_fields_set and sys.stderr.isatty()
    return {"RINGMASTER_LOG_LEVEL": "warning"} if quiet else {}


def _raise_stop(*_: object) -> None:
    raise Stop


def _expect_free(settings: Settings) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            raise SystemExit(
                f"ringmaster: port {settings.port} on {settings.host} cannot be used "
                f"({error.strerror}); choose another: make up PORT=8123"
            ) from None


def _expect_levels(settings: Settings) -> None:
    """End with one line if levels from outside cannot be had, before every process says so."""
    # Not in this process: what they import may start threads, and this one forks.
    check = [sys.executable, "-m", "api.levels", settings.levels]
    if settings.levels and subprocess.run(check, check=False).returncode:  # noqa: S603 - our own
        raise SystemExit(1)


def _lock(data_dir: Path) -> IO[str]:
    data_dir.mkdir(parents=True, exist_ok=True)
    lock = (data_dir / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise SystemExit(
            f"ringmaster: another `ringmaster up` uses the data in {data_dir}; stop it, or choose "
            "another folder with RINGMASTER_DATA_DIR"
        ) from None
    return lock


def _await_ready(settings: Settings, children: list[Child], ready_file: Path) -> None:
    until = time.monotonic() + READY_SECONDS
    waiting: list[Callable[[], bool]] = [
        lambda: _answers(f"http://{_reachable(settings.host)}:{settings.port}/readyz"),
        ready_file.exists,
    ]
    while waiting:
        for child in children:
            if child.died():
                log.error("%s did not start; see above", child.name)
                raise SystemExit(1)
        if time.monotonic() > until:
            log.error("not ready after %d s", READY_SECONDS)
            raise SystemExit(1)
        waiting = [ready for ready in waiting if not ready()]
        time.sleep(0.05)


def _reachable(host: str) -> str:
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104 - compared only


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=1) as answer:  # noqa: S310 - our own address
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _announce(settings: Settings, redis_url: str, seconds: float) -> None:
    address = f"{_reachable(settings.host)}:{settings.port}"
    print(  # noqa: T201 - what the command is for
        f"Ringmaster is ready after {seconds:.1f} s\n"
        f"  GraphQL        http://{address}/graphql\n"
        f"  subscriptions  ws://{address}/graphql\n"
        f"  REST           http://{address}/v1\n"
        f"  Redis          {redis_url}\n"
        f"Play in another terminal: {_ringmaster()} play --url http://{address}\n"
        "Stop with Ctrl-C.",
        flush=True,
    )


def _ringmaster() -> str:
    """How to call the command from this folder."""
    command = Path(sys.executable).parent / "ringmaster"
    if command.is_relative_to(Path.cwd()):
        command = command.relative_to(Path.cwd())
    return shlex.quote(str(command)) if command.exists() else "ringmaster"


def _keep_running(children: list[Child]) -> int:
    while not _terminal_closed():
        time.sleep(0.2)
        for child in children:
            if not child.died():
                continue
            if child.ended():
                log.warning("%s ended; it is started anew", child.name)
                child.start()
                continue
            now = time.monotonic()
            child.crashes = [at for at in child.crashes if now - at < CRASH_SECONDS] + [now]
            log.error("%s died", child.name)
            if len(child.crashes) >= CRASHES:
                log.error("%s keeps dying; all is stopped", child.name)
                return 1
            child.stop(signal.SIGKILL)  # what it left behind
            child.start()
    return 0


def _terminal_closed() -> bool:
    """Whether the terminal that this was started on is gone.

    The kernel tells the session's leader alone; where that is `make`, it waits for us in silence.
    """
    if not _HAS_TERMINAL:
        return False
    poll = select.poll()
    poll.register(0, 0)
    return any(event & select.POLLHUP for _, event in poll.poll(0))


def _stop_all(children: list[Child]) -> None:
    # Redis last, so that the others can finish what they are doing.
    for group in ([c for c in children if c.name != "redis"], children[:1]):
        for child in group:
            child.stop(signal.SIGTERM)
        until = time.monotonic() + STOP_SECONDS
        for child in group:
            if child.process is None:
                continue
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.process.wait(max(0.1, until - time.monotonic()))
            child.stop(signal.SIGKILL)
            child.process.wait()
