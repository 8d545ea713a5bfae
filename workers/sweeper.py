"""The sweeper: sends again what was due and not done, frees or ends what nobody came for.

Takes expired matches out of the lists. Time that an outage took is given again. One is active at a
time, by a lease.
"""

import asyncio
import logging
import secrets
import signal
from collections import OrderedDict
from contextlib import suppress
from typing import Final

from api import signs, tracing
from api.bootstrap import Parts, build
from api.cancelling import stop
from api.errors import Refused, Unavailable, Unreadable
from api.ledger import now_ms
from api.logs import set_up_logging
from api.observe.metrics import catches, repeats, sweeps
from api.observe.serving import prepare, serve
from api.presence import Presence, this_process
from api.settings import read_settings
from api.store.keys import SWEEPER_LEASE
from api.values import Owed
from engine.commands import AbandonMatch, RestartClock
from engine.due import BotToAct, ClockToExpire, MatchToAbandon, RoundToScore
from schema.acts import ProcessKind
from schema.codes import ErrorCode
from workers.gauges import Gauges
from workers.outages import Outages

LEASE_MS: Final = 3000
PAUSE_SECONDS: Final = 0.25
BATCH: Final = 200
TIDIED: Final = 50  # matches of the public lists, looked at each time whether they have expired
# What was sent again is looked at again after this long, as a multiple of the grace.
PATIENCE: Final = 3
OUTAGE_MS: Final = 1000  # after which a clock is looked at again that an outage holds
FAILURES: Final = 3  # matches that cannot be reached, after which a sweep is given up
QUICK: Final = 2  # from this sending of the same version on, a bot's level is no longer asked
# What is counted of what was due; a clock is sent once it has run out, since nobody else does.
KINDS: Final = {
    BotToAct: "bot",
    RoundToScore: "score",
    ClockToExpire: "clock",
    RestartClock: "clock_restarted",
    AbandonMatch: "abandoned",
}
KEPT: Final = 10_000  # matches whose sendings are remembered

log = logging.getLogger("ringmaster.sweeper")


class Sweeper:
    """Looks for what is overdue: work to send to the workers, seats to free, lists to tidy."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._name = secrets.token_hex(8)
        self._active = False
        self._outages = Outages(parts.store)
        self._sendings: OrderedDict[str, tuple[int, int]] = OrderedDict()

    async def run(self) -> None:
        """Sweep until cancelled; a Redis that cannot be reached is waited for."""
        while True:
            try:
                if await self._holds_lease():
                    await self._outages.look()
                    await self.sweep()
                    freed = await self._parts.service.free_seats(BATCH)
                    revived = await self._parts.series.revive(BATCH)
                    await self._parts.store.tidy(TIDIED)
                    await self._parts.store.forget_expired(now_ms())
                    catches.labels("seat").inc(freed)
                    catches.labels("series").inc(revived)
                    await self._parts.service.settle_doubts()
                    sweeps.inc()
            except Unavailable as error:
                log.warning("%s", error)
            signs.give(self._parts.settings.ready_file)  # active or not, it is at work
            await asyncio.sleep(PAUSE_SECONDS)

    async def sweep(self) -> int:
        """Send everything overdue once, or do what is quickly done; the number of matches."""
        overdue, sent, failed = await self._parts.store.due(now_ms(), BATCH), 0, 0
        for match_id, seen in overdue:
            try:
                sent += await self._send(match_id, seen)
            except Unavailable as error:  # of this match perhaps, and the others have their turn
                failed += 1
                if failed == FAILURES:
                    raise
                log.warning("match %s: %s", match_id, error)
        return sent

    async def _send(self, match_id: str, seen: int) -> bool:
        store, owed = self._parts.store, None
        try:
            owed = await self._parts.service.owed(match_id)
        except Refused as refused:
            if refused.code is not ErrorCode.NOT_FOUND:
                raise
            await store.unlist(match_id)
            return False
        except Unreadable:
            pass  # looked at again later: another release may be able to read it
        waits = owed is not None and isinstance(owed.due, ClockToExpire | MatchToAbandon)
        held = waits and self._outages.lasts
        patience = OUTAGE_MS if held else PATIENCE * self._parts.settings.bot_grace_ms
        if not await store.postpone(match_id, seen, now_ms() + patience) or owed is None or held:
            return False
        match owed.due:
            case ClockToExpire(deadline=deadline) if self._outages.took(deadline):
                return await self._settle(owed, RestartClock())
            case MatchToAbandon(since=since):
                return self._is_given_up(since) and await self._settle(owed, AbandonMatch())
        times = self._sent(match_id, owed.version)
        quick = times >= QUICK
        catches.labels(KINDS[type(owed.due)]).inc()
        if times > QUICK:
            repeats.inc()
        self._parts.jobs.hint(match_id, owed.version, owed.due, quick=quick)
        return True

    def _is_given_up(self, since: int) -> bool:
        """Whether somebody could have come back for long enough."""
        ms, now, outages = 1000 * self._parts.settings.abandon_seconds, now_ms(), self._outages
        if not ms or now < since + ms:
            return False
        return not outages.took(since + ms) or now >= outages.until + ms

    async def _settle(self, owed: Owed, command: RestartClock | AbandonMatch) -> bool:
        with suppress(Refused, Unreadable):  # it has expired meanwhile, or another release wrote
            await self._parts.service.settle(owed, command)
            catches.labels(KINDS[type(command)]).inc()
        return True

    def _sent(self, match_id: str, version: int) -> int:
        """How often this version of the match has now been sent."""
        before, times = self._sendings.pop(match_id, (version, 0))
        times = times + 1 if before == version else 1
        self._sendings[match_id] = version, times
        if len(self._sendings) > KEPT:
            self._sendings.popitem(last=False)
        return times

    def is_active(self) -> bool:
        """Whether it is this one that sweeps."""
        return self._active

    async def _holds_lease(self) -> bool:
        self._active = False  # as long as it is not known
        self._active = await self._parts.store.lease(SWEEPER_LEASE, self._name, LEASE_MS)
        return self._active


async def _main() -> None:
    settings = read_settings()
    set_up_logging(settings.log_level, settings.log_format)
    tracing.set_up(settings.tracing, "sweeper")
    prepare("sweeper")
    for kind in (*KINDS.values(), "seat", "series"):
        catches.labels(kind)
    signs.take_back(settings.ready_file)
    parts = build(settings)
    sweeper = Sweeper(parts)
    presence = Presence(parts.processes, this_process(ProcessKind.SWEEPER))
    telling = asyncio.create_task(presence.run())
    sweeping, stopped = asyncio.create_task(sweeper.run()), asyncio.Event()
    sweeping.add_done_callback(lambda _: stopped.set())
    loop = asyncio.get_running_loop()
    if settings.metrics_port is not None:
        serve(settings.metrics_host, settings.metrics_port, Gauges(parts, loop, sweeper.is_active))
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    try:
        await stopped.wait()
        if sweeping.done():
            await sweeping  # it never ends by itself but with an error
        await stop(sweeping)
        await stop(telling)
        log.info("stopped")
    finally:
        await parts.close()
        tracing.shut_down()


if __name__ == "__main__":
    asyncio.run(_main())
