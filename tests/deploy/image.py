"""The Dockerfile's steps in a clean folder, and each kind of process as its image would run it.

There is no Docker here: paths are moved below the folder, the base image is the Python that runs
this, and pip may use its cache. A program of `make deploy-check`.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Final

from api.cli.embedded import free_port
from tests.deploy.rendering import ROOT
from tests.redises import server

SECONDS: Final = 300
STOP_SECONDS: Final = 15
NO_STEPS: Final = {"FROM", "LABEL", "EXPOSE", "STOPSIGNAL"}
PLACES: Final = re.compile(r"(?<![\w.-])/(?=opt/|src\b|tmp\b)")


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """The instructions of a Dockerfile, each with its arguments."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for line in re.sub(r"\\\n", " ", "\n".join(lines)).splitlines():
        if line.strip():
            name, _, rest = line.strip().partition(" ")
            yield name, rest.strip()


@dataclass
class Image:
    """What an image has, below a folder."""

    root: Path
    env: dict[str, str] = field(default_factory=dict)
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    probe: list[str] = field(default_factory=list)
    user: str = "0"
    _place: Path = Path()

    def build(self, text: str) -> None:
        """Do what a Dockerfile says.

        Raises:
            subprocess.CalledProcessError: a step fails.
        """
        does: dict[str, Callable[[str], object]] = {
            "WORKDIR": self._workdir,
            "COPY": self._copy,
            "RUN": self._run,
            "ENV": self._env,
            "USER": partial(setattr, self, "user"),
            "HEALTHCHECK": lambda rest: setattr(self, "probe", json.loads(rest[rest.index("[") :])),
            "ENTRYPOINT": lambda rest: setattr(self, "entrypoint", json.loads(rest)),
            "CMD": lambda rest: setattr(self, "command", json.loads(rest)),
        }
        for name, rest in instructions(text):
            if name not in NO_STEPS:
                does[name](rest)

    def _workdir(self, rest: str) -> None:
        self._place = self.root / rest.lstrip("/")
        self._place.mkdir(parents=True, exist_ok=True)

    def _env(self, rest: str) -> None:
        pairs = (pair.split("=", 1) for pair in shlex.split(rest))
        self.env |= {key: PLACES.sub(f"{self.root}/", value) for key, value in pairs}

    def _copy(self, rest: str) -> None:
        words = shlex.split(rest)
        if words[0].startswith("--from="):
            assert words[1] == words[2], "it is there already"
            return
        *sources, target = words
        for source in sources:
            assert allowed(source), f".dockerignore keeps {source} away"
            to = self._place / target
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, to, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / source, to)

    def _run(self, rest: str) -> None:
        command = PLACES.sub(f"{self.root}/", rest).replace("--no-cache-dir ", "")
        env = {**os.environ, "PIP_QUIET": "1", "PIP_NO_COMPILE": "1"}  # as quick as can be
        step = ["bash", "-ec", command]
        subprocess.run(step, cwd=self._place, env=env, timeout=SECONDS, check=True)

    def environment(self, **more: str) -> dict[str, str]:
        path = self.env["PATH"].replace("$PATH", os.environ["PATH"])
        return {**self.env, "PATH": path, **more}

    def healthy(self, env: dict[str, str]) -> bool:
        """What HEALTHCHECK finds."""
        checked = subprocess.run(
            self.probe, env=env, cwd=self.root, capture_output=True, timeout=60, check=False
        )
        return checked.returncode == 0

    def lives(self, arguments: list[str], **more: str) -> None:
        """Run a kind of process until it is healthy, and stop it as Docker does."""
        env = self.environment(**more)
        assert not self.healthy(env)
        with subprocess.Popen(
            [*self.entrypoint, *arguments], env=env, cwd=self.root / "tmp", start_new_session=True
        ) as process:
            try:
                until(lambda: self.healthy(env) or process.poll() is not None, 60)
                assert process.poll() is None, f"{arguments} ended by itself"
                process.send_signal(signal.SIGTERM)
                code = process.wait(STOP_SECONDS)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        assert code in {0, -signal.SIGTERM}, (arguments, code)


def until(holds: Callable[[], object], seconds: float) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"it does not hold after {seconds} s"
        time.sleep(0.5)


def allowed(source: str) -> bool:
    """Whether .dockerignore lets a source of COPY through."""
    kept = False
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.removeprefix("!").rstrip("/")
        if line and not line.startswith("#") and fnmatch(source.rstrip("/"), pattern):
            kept = line.startswith("!")
    return kept


def main() -> int:
    """Build, then run every kind of process; 1 if a step or a process fails."""
    with tempfile.TemporaryDirectory() as folder:
        image = Image(Path(folder))
        image.build((ROOT / "Dockerfile").read_text())
        assert re.fullmatch(r"[1-9][0-9]*:[1-9][0-9]*", image.user), image.user
        redis = server(Path(folder) / "redis").start()
        try:
            mark = {"RINGMASTER_READY_FILE": str(Path(folder) / "ready")}
            told = {"RINGMASTER_REDIS_URL": redis.url, "RINGMASTER_HOST": "127.0.0.1"}
            # It ends at once if what traces is not there; nothing is sent, as nothing is sampled.
            traced = {"RINGMASTER_TRACING": "true", "OTEL_TRACES_SAMPLER": "always_off"}
            image.lives(image.command, **told, **traced, RINGMASTER_PORT=str(free_port()))
            image.lives(["worker", "--queues", "bots", "--processes", "1"], **told, **mark)
            (Path(folder) / "ready").unlink(missing_ok=True)
            image.lives(["sweeper"], **told, **mark)
        finally:
            redis.kill()
    print("the image's steps and processes work")  # noqa: T201 - what the command is for
    return 0


if __name__ == "__main__":
    sys.exit(main())
