"""Cancellation that is not lost on the way.

Before Python 3.12 ``asyncio.wait_for`` swallows a cancellation if what it waits for is done at that
moment, and Redis's client waits so for every write. ``Task.cancelling`` still tells of it.
"""

import asyncio
from typing import Final

AGAIN_SECONDS: Final = 0.2  # after which a task that is to end is cancelled once more


def end_if_cancelled() -> None:
    """End the current task if it was cancelled; to be asked before it waits for long.

    Raises:
        CancelledError: it was.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def stop(task: asyncio.Task[None]) -> None:
    """Cancel a task until it has ended, however often that is swallowed; no failure is told."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=AGAIN_SECONDS)
    if not task.cancelled():
        task.exception()  # looked at
