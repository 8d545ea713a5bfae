"""Clients as processes of their own, told what to do by lines and answering by lines of JSON."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from tests.bench.machine import OTHER_CORES

START_SECONDS, STOP_SECONDS = 60, 10


class Driver:
    """One such process, kept off the core of what is measured."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cores: frozenset[int] = OTHER_CORES,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            preexec_fn=lambda: os.sched_setaffinity(0, cores),  # noqa: PLW1509 - one thread here
        )
        self._rest = b""

    def __enter__(self) -> Self:
        self.answer(START_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def ask(self, *words: object, seconds: float = 120) -> Any:
        """What it answers.

        Raises:
            TimeoutError: nothing came within ``seconds``.
            RuntimeError: it has ended.
        """
        assert self.process.stdin is not None
        self.process.stdin.write((" ".join(map(str, words)) + "\n").encode())
        self.process.stdin.flush()
        return self.answer(seconds)

    def answer(self, seconds: float) -> Any:
        """The next line that it says."""
        assert self.process.stdout is not None
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self.process.stdout], [], [], seconds)
            if not ready:
                raise TimeoutError(f"{self.process.args!r} says nothing")
            more = os.read(self.process.stdout.fileno(), 1 << 20)
            if not more:
                raise RuntimeError(f"{self.process.args!r} has ended")
            self._rest += more
        line, self._rest = self._rest.split(b"\n", 1)
        return json.loads(line)

    def stop(self) -> None:
        """Close its input, at which it ends by itself; else it is ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def crowd(way: str, *urls: str) -> Driver:
    """People who play by one way, spread over the API processes at these addresses."""
    return Driver([sys.executable, "-m", "tests.bench.crowd", way, *urls])
