"""The public matches that can be joined, followed by everybody who looks for one."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Final, Protocol

from api.cancelling import end_if_cancelled
from api.errors import ServiceError, Unavailable
from api.ports import Ring
from api.values import Answer
from engine.state import Status
from schema.pages import PAGE_LIMIT

PATIENCE_SECONDS: Final = 0.5
PAUSE_SECONDS: Final = 0.1  # between updates; what changes meanwhile is told together

log = logging.getLogger("ringmaster.lobby")


@dataclass(frozen=True, slots=True)
class News:
    """Matches that are open, as everybody sees them, and ids of those that no longer are."""

    open: tuple[Answer, ...]
    gone: tuple[str, ...]


class Matches(Protocol):
    """What the lobby asks of matches."""

    async def page(
        self, status: Status | None, before: tuple[int, str] | None, limit: int, caller: str | None
    ) -> tuple[list[Answer], bool]:
        """Public matches, newest first."""
        ...

    async def look(self, match_id: str, caller: str | None) -> Answer | None:
        """A match as the caller may see it, None if there is none for this caller."""
        ...


class _Watcher:
    """One follower: what it was told, and what it is yet to be told, by match."""

    def __init__(self) -> None:
        self.told: dict[str, tuple[int, str]] = {}  # version and hash
        self.waiting: dict[str, Answer | None] = {}
        self.everything = True
        self.changed = asyncio.Event()


class Lobby:
    """The lobby of one process: however many follow it, each change is looked up once."""

    def __init__(self, matches: Matches) -> None:
        self._matches = matches
        self._watchers: set[_Watcher] = set()
        self._rung: set[str] = set()
        self._looking: asyncio.Task[None] | None = None

    def wake(self, ring: Ring | None) -> None:
        """Take in that matches may have come, changed or gone; None: any of them."""
        if not self._watchers:
            return
        if ring is None:
            for watcher in self._watchers:
                watcher.everything = True
                watcher.changed.set()
        elif ring.lobby:
            self._rung |= ring.lobby
            if self._looking is None or self._looking.done():
                self._looking = asyncio.create_task(self._look())

    async def follow(self) -> AsyncGenerator[News, None]:
        """The newest hundred open matches, and then what changes; it never ends by itself.

        Each news tells of a match no more than once, as it stood last. It has no cursor: who comes
        again is told the state first, again.

        Raises:
            Unavailable: Redis cannot be reached, at the start.
        """
        watcher = _Watcher()
        self._watchers.add(watcher)
        try:
            yield await self._all(watcher)
            while True:
                end_if_cancelled()
                await watcher.changed.wait()
                watcher.changed.clear()
                news = await self._next(watcher)
                if news.open or news.gone:
                    yield news
                await asyncio.sleep(PAUSE_SECONDS)
        finally:
            self._watchers.discard(watcher)

    async def _next(self, watcher: _Watcher) -> News:
        while watcher.everything:
            try:
                return await self._all(watcher)
            except Unavailable:
                await asyncio.sleep(PATIENCE_SECONDS)
        waiting, watcher.waiting = watcher.waiting, {}
        return _tell(watcher, waiting)

    async def _all(self, watcher: _Watcher) -> News:
        """How the lobby stands, told as what is new since the watcher was told last."""
        watcher.everything = False
        try:
            found, more = await self._matches.page(Status.LOBBY, None, PAGE_LIMIT, None)
        except BaseException:
            watcher.everything = True
            raise
        stand: dict[str, Answer | None] = {answer.view.match_id: answer for answer in found}
        if not more:  # else one that is not on the page may be open still
            stand |= dict.fromkeys(watcher.told.keys() - stand.keys())
        return _tell(watcher, stand)

    async def _look(self) -> None:
        """Look up what has rung, once for all watchers."""
        while self._rung:
            match_id = self._rung.pop()
            try:
                answer = await self._matches.look(match_id, None)
            except Unavailable:
                self._rung.add(match_id)
                await asyncio.sleep(PATIENCE_SECONDS)
                continue
            except ServiceError:
                answer = None  # one that cannot be read cannot be joined
            for watcher in self._watchers:
                watcher.waiting[match_id] = answer
                watcher.changed.set()


def _tell(watcher: _Watcher, stand: dict[str, Answer | None]) -> News:
    opened, gone = [], []
    for match_id, answer in stand.items():
        if answer is not None and answer.view.status is Status.LOBBY:
            now, known = (answer.version, answer.hash), watcher.told.get(match_id, (0, ""))
            # After a failover the same version may be another.
            if now[0] > known[0] or (now[0] == known[0] and now != known):
                watcher.told[match_id] = now
                opened.append(answer)
        elif watcher.told.pop(match_id, None) is not None:
            gone.append(match_id)
    return News(tuple(opened), tuple(gone))
