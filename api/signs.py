"""Signs of life for probes: a file that a worker or the sweeper touches, `/healthz` of the API.

``python -m api.signs`` ends with 0 if the process of this container is alive. It imports little:
probes run often.
"""

import os
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Final

STALE_SECONDS: Final = 30.0  # since the file was touched; a worker does so every second
ANSWER_SECONDS: Final = 3.0
FILE: Final = "RINGMASTER_READY_FILE"
PORT: Final = "RINGMASTER_PORT"


def give(file: str | None) -> None:
    """At work, and alive now."""
    if file is not None:
        with suppress(OSError):  # the probe will tell
            Path(file).touch()


def take_back(file: str | None) -> None:
    """Not at work, not yet or no more."""
    if file is not None:
        Path(file).unlink(missing_ok=True)


def is_fresh(file: str) -> bool:
    """Whether a sign was given of late."""
    try:
        return time.time() - Path(file).stat().st_mtime < STALE_SECONDS
    except OSError:
        return False


def answers(port: str) -> bool:
    """Whether the API of this machine says that it runs."""
    url = f"http://127.0.0.1:{port}/healthz"
    try:
        with urllib.request.urlopen(url, timeout=ANSWER_SECONDS) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


if __name__ == "__main__":
    given = os.environ.get(FILE)
    sys.exit(not (is_fresh(given) if given else answers(os.environ.get(PORT, "8000"))))
