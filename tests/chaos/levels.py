"""A level that takes its time, and says which process it keeps busy meanwhile."""

import os
import time
from pathlib import Path
from typing import Any, Final

from engine.bots import LEVELS as OURS
from engine.bots import Level

THINKING: Final = "RINGMASTER_TEST_THINKING"  # names the folder with a file per busy process
SECONDS: Final = 0.4


def ponders(*seen: Any) -> Any:
    mark = Path(os.environ[THINKING]) / str(os.getpid())
    mark.touch()
    try:
        time.sleep(SECONDS)
        return OURS["casual"].choose(*seen)
    finally:
        mark.unlink(missing_ok=True)


LEVELS = {"ponders": Level("ponders", "Takes its time.", 5, ponders)}
