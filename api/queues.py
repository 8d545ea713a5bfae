"""The names of the queues, for those who need no Celery."""

from typing import Final

BATCH: Final = "batch"
# Beside them at the broker: how often a watchdog has ended its worker.
WATCHDOG_ENDS: Final = "ringmaster:watchdog-ends"
# A scoring never waits behind bots, nor people behind a series; each queue is scaled alone.
QUEUES: Final = ("scoring", "bots", BATCH, "housekeeping")
