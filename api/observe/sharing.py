"""Lets the processes of a worker count together; before the metrics' library is imported."""

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"  # by which the library knows that there are several
_PREFIX: Final = "ringmaster-metrics-"
_LOCK: Final = "lock"


def share() -> None:
    """Let the worker that this process becomes, and its children, count together.

    In a folder of their own, which all of them hold locked. What is not, was left by a worker that
    was killed, and is deleted.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError), (left / _LOCK).open("w") as lock:  # another's, or locked
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left, ignore_errors=True)
    folder = tempfile.mkdtemp(prefix=_PREFIX)
    lock_ = os.open(Path(folder) / _LOCK, os.O_WRONLY | os.O_CREAT, 0o600)
    fcntl.flock(lock_, fcntl.LOCK_EX)  # until the last of the processes that have it ends
    os.environ[FOLDER] = folder


def forget_shared() -> None:
    """Delete what was counted together; for the process that ends last."""
    folder = os.environ.get(FOLDER)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
