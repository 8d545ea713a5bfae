"""Seats of the lobby, held for those who joined until they come for them."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from api.errors import Unwritable
from api.ports import Directory
from api.timelines import Timeline
from engine.events import PlayerJoined
from engine.state import Match, SeatKind, Status

KEPT: Final = 10_000  # seats known to be in use


class Holds:
    """Which seats were taken and not used yet; ``seconds``: how long they are held, 0: for ever."""

    def __init__(self, directory: Directory, seconds: int, now: Callable[[], int]) -> None:
        self._directory = directory
        self._ms = 1000 * seconds
        self._now = now
        self._used: OrderedDict[tuple[str, str, int], None] = OrderedDict()

    async def hold(self, match: Match, player: str) -> bool:
        """Hold the seat that a player is about to take; False if there is none to hold.

        Raises:
            Unavailable: the store cannot be reached.
        """
        is_open = any(seat.kind is SeatKind.OPEN for seat in match.seats)
        if not self._ms or not is_open or player == match.host or match.seat_of(player) is not None:
            return False
        await self._directory.hold(match.match_id, player, self._now() + self._ms)
        return True

    async def use(self, timeline: Timeline, player: str | None) -> None:
        """The player has come: a seat of the lobby is the player's for good.

        Raises:
            Unavailable: the store cannot be reached.
        """
        match = timeline.match
        if player is None or match is None or match.status is not Status.LOBBY:
            return
        joined = None if match.seat_of(player) is None else _joined(timeline, player)
        if joined is None:  # no seat, or the one that the match was opened with
            return
        place = (timeline.match_id, player, joined)
        if place not in self._used:
            try:
                await self._directory.use(timeline.match_id, player)
            except Unwritable:  # who looks is shown the match all the same
                return
        self._used[place] = None
        self._used.move_to_end(place)
        if len(self._used) > KEPT:
            self._used.popitem(last=False)

    async def end(self, match_id: str, player: str) -> None:
        """There is nothing to hold any more.

        Raises:
            Unavailable: the store cannot be reached.
        """
        await self._directory.use(match_id, player)

    async def overdue(self, limit: int) -> list[tuple[str, str]]:
        """Matches and players who did not come in time.

        Raises:
            Unavailable: the store cannot be reached.
        """
        return await self._directory.overdue(self._now(), limit) if self._ms else []


def _joined(timeline: Timeline, player: str) -> int | None:
    """The version in which a player sat down: who comes back takes the seat anew."""
    for commit in reversed(timeline.commits):
        for event in commit.events:
            if isinstance(event, PlayerJoined) and event.player_id == player:
                return commit.version
    return None
