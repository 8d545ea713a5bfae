"""Keeps what subscribers of this process follow up to date, whatever fails meanwhile."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing
from typing import Final

from api.cancelling import end_if_cancelled, stop
from api.errors import Unavailable
from api.ledger import Ledger
from api.ports import EventStore, Ring
from api.timelines import Timeline

AT_ONCE: Final = 16  # timelines brought up to date, well under the pool's connections
PATIENCE_SECONDS: Final = 0.5
SILENCE_SECONDS: Final = 10.0  # of the bells, which are answered every two at least

log = logging.getLogger("ringmaster.service")


class Following:
    """Reads the store's bells, and the tails of the logs that they tell of."""

    def __init__(self, store: EventStore, ledger: Ledger) -> None:
        self._store = store
        self._ledger = ledger
        self._well = False
        self._at_once = asyncio.Semaphore(AT_ONCE)
        self._looking: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()

    def is_well(self) -> bool:
        """Whether what happens reaches the subscribers of this process."""
        return self._well and self._store.silence() < SILENCE_SECONDS

    async def run(self, also: Callable[[Ring | None], None]) -> None:
        """Follow until cancelled, from anew after a failure; ``also`` is told of every ring."""
        try:
            while True:
                try:
                    await self._follow(also)
                except Exception as error:  # noqa: BLE001 - its text could carry a hidden card
                    log.error("following failed with %s; it is begun anew", type(error).__name__)  # noqa: TRY400
                self._well = False
                end_if_cancelled()
                await asyncio.sleep(PATIENCE_SECONDS)
        finally:
            self._well = False
            await asyncio.gather(*map(stop, self._looking.values()))

    async def _follow(self, also: Callable[[Ring | None], None]) -> None:
        async with aclosing(self._store.bells()) as bells:
            async for rung in bells:
                also(rung)
                among = None if rung is None else rung.matches
                for timeline in self._ledger.timelines.followed(among):
                    if rung is None or not timeline.has(rung.nonces.get(timeline.match_id)):
                        self._look(timeline)
                self._well = True

    def _look(self, timeline: Timeline) -> None:
        """Bring a timeline up to date, in a task of its own: a shard may fail alone."""
        match_id = timeline.match_id
        if match_id in self._looking:
            self._again.add(match_id)  # what is read just now may be older than the ring
        else:
            self._looking[match_id] = asyncio.create_task(self._refresh(timeline))

    async def _refresh(self, timeline: Timeline) -> None:
        match_id = timeline.match_id
        try:
            while timeline.followers:
                self._again.discard(match_id)
                try:
                    async with self._at_once:
                        await self._ledger.refresh(timeline)
                except Unavailable:
                    end_if_cancelled()
                    await asyncio.sleep(PATIENCE_SECONDS)
                    continue
                except Exception as error:  # noqa: BLE001 - one match must not stop the others
                    log.error("match %s: refresh failed: %s", match_id, type(error).__name__)  # noqa: TRY400
                    return
                if match_id not in self._again:
                    return
        finally:
            self._again.discard(match_id)
            del self._looking[match_id]
