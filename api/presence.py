"""A process tells that it is at work, and ends when an operator asks it to."""

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from typing import Final

from api.errors import Unavailable
from api.ledger import now_ms
from api.operators.ports import Process, Processes
from schema.acts import ProcessKind

SECONDS: Final = 2.0  # between two times that it says so

log = logging.getLogger("ringmaster.presence")


def this_process(kind: ProcessKind, queues: tuple[str, ...] = ()) -> Process:
    """The calling process, as one that begins now."""
    now = now_ms()
    return Process(
        process_id=f"{kind.value.lower()}-{socket.gethostname()}-{os.getpid()}",
        kind=kind,
        release=version("scout-ringmaster"),
        started_at=now,
        seen_at=now,
        queues=queues,
    )


class Presence:
    """Says once in a while that a process is at work.

    ``streams``: how many subscriptions it serves now. ``end``: what ends it as it ends on SIGTERM.
    ``draining``: whether it was told to end in another way.
    """

    def __init__(
        self,
        processes: Processes,
        process: Process,
        streams: Callable[[], int] = lambda: 0,
        end: Callable[[], None] = lambda: os.kill(os.getpid(), signal.SIGTERM),
        draining: Callable[[], bool] = lambda: False,
    ) -> None:
        self._processes = processes
        self._process = process
        self._streams = streams
        self._end = end
        self._draining = draining

    async def run(self) -> None:
        """Say so until cancelled, and then that it has ended."""
        try:
            while True:
                with suppress(Unavailable):
                    await self._say()
                await asyncio.sleep(SECONDS)
        finally:
            with suppress(Unavailable):
                await self._processes.leave(self._process.process_id)

    async def _say(self) -> None:
        self._process = replace(
            self._process,
            seen_at=now_ms(),
            streams=self._streams(),
            draining=self._process.draining or self._draining(),
        )
        asked = await self._processes.announce(self._process)
        if asked and not self._process.draining:
            log.warning("asked by an operator to end")
            self._process = replace(self._process, draining=True)
            await self._processes.announce(self._process)
            self._end()
