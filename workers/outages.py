"""When nobody could have moved: no clock runs out on that account (ADR 17)."""

from typing import Final

from api.store.redis import RedisStore

# Longer than it takes another sweeper to take over, and a process to be started again by itself.
SILENCE_MS: Final = 5000
# Until clients are back after an outage: they pause for up to five seconds between attempts
# (docs/api.md), and one more may fail.
RECONNECT_MS: Final = 10_000
# Outages that are no further apart are one: who came back in between may have had no time to move.
APART_MS: Final = 60_000


class Outages:
    """The outage that there is, or that there was last; all times are those of Redis, in ms."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store
        self._since = 0
        self.until = 0
        self.lasts = False

    async def look(self) -> None:
        """Say that the sweeper is at work, and see who was not. To be called at every sweep.

        The API is at work as long as one of its processes reaches Redis once in a while; who has
        never been at work is not missed.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        pulses = await self._store.pulse("sweeper")
        self._since, self.until = pulses.since or 0, pulses.until or 0
        self.lasts = _silent(pulses.api, pulses.now)
        silent = [at for at in (pulses.api, pulses.sweeper) if _silent(at, pulses.now)]
        if silent:
            begun = min(at for at in silent if at is not None)
            self._since = self._since if begun <= self.until + APART_MS else begun
            self.until = pulses.now
            # Kept, for a sweeper that takes over before all clocks have been looked at.
            await self._store.keep_outage(self._since, self.until)

    def took(self, at: int) -> bool:
        """Whether what ran out then, ran out in the outage, or before clients were back."""
        return self._since <= at <= self.until + RECONNECT_MS


def _silent(at: int | None, now: int) -> bool:
    return at is not None and now - at > SILENCE_MS
