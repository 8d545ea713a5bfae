"""Work for the workers, sent from a thread so that no event loop waits for the broker."""

import asyncio
import logging
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from celery import Celery

from api import broker, tracing
from api.errors import Unavailable
from api.observe.metrics import hints_of
from api.patience import in_time
from engine.due import BotToAct, ClockToExpire, Due, RoundToScore

_TASKS: Final[dict[type, str]] = {
    BotToAct: broker.BOT,
    RoundToScore: broker.SCORE,
    ClockToExpire: broker.CLOCK,
}
_CLOSE_SECONDS: Final = 2.0  # that a process waits for them at its end
_BACKLOG: Final = 1000  # hints that may wait for a slow broker; more are left to the sweeper

log = logging.getLogger("ringmaster.jobs")


class CeleryJobs:
    """Hints and matches of series as Celery messages (``Jobs``, ``MatchQueue``)."""

    def __init__(self, app: Celery) -> None:
        self._app = app
        self._threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="hints")
        self._waiting = 0
        self._until: float | None = None  # when waiting hints are dropped; by the monotonic clock

    def hint(self, match_id: str, version: int, due: Due, *, quick: bool = False) -> None:
        """``quick``: a bot's level is not to be asked, as it has not answered."""
        self._hint(match_id, version, due, quick=quick)

    def play(self, series_id: str, number: int) -> None:
        self._submit(broker.SERIES, series_id, number)

    async def send(self, match_id: str, version: int, due: Due, *, quick: bool = False) -> None:
        """The same as ``hint``, but return once the broker has it.

        Raises:
            Unavailable: it does not take it, or not in time.
        """
        sending = self._hint(match_id, version, due, quick=quick)
        async with in_time():
            if sending is None or not await asyncio.wrap_future(sending):
                raise Unavailable("the broker does not take tasks")

    def _hint(self, match_id: str, version: int, due: Due, *, quick: bool) -> Future[bool] | None:
        # An argument only where it is needed: workers of the release before do not know it.
        asked = (True,) if quick and isinstance(due, BotToAct) else ()
        return self._submit(_TASKS[type(due)], match_id, version, *asked)

    def _submit(self, task: str, *args: str | int) -> Future[bool] | None:
        """Whether it is sent, once that is known; None if too much waits."""
        if self._waiting >= _BACKLOG:
            hints_of(task, "dropped").inc()
            return None
        self._waiting += 1
        # Asked here: the thread is under no span.
        return self._threads.submit(self._send, task, tracing.traceparent(), *args)

    def _send(self, task: str, traceparent: str, *args: str | int) -> bool:
        if self._until is not None and time.monotonic() > self._until:
            self._waiting -= 1
            hints_of(task, "dropped").inc()
            return False
        headers: dict[str, str | float] = {broker.SENT_AT: time.time()}
        if traceparent:
            headers[broker.TRACEPARENT] = traceparent
        try:
            self._app.send_task(
                task, args=args, queue=broker.ROUTES[task], retry=False, headers=headers
            )
        except Exception as error:  # noqa: BLE001 - a lost hint is found again by the sweeper
            hints_of(task, "lost").inc()
            fields = {"task": task, "match": args[0]}
            log.warning("hint lost: %s", type(error).__name__, extra={"fields": fields})
            return False
        else:
            hints_of(task, "sent").inc()
            return True
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Let waiting hints go out, for some seconds, then let go of the broker."""
        self._until = time.monotonic() + _CLOSE_SECONDS
        self._threads.shutdown(wait=True)
        self._app.close()
