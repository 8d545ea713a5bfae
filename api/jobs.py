"""Work for the workers, sent from a thread so that no event loop waits for the broker."""

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from celery import Celery

from api import broker, tracing
from api.observe.metrics import hints_of
from engine.due import BotToAct, ClockToExpire, Due, RoundToScore

_TASKS: Final[dict[type, str]] = {
    BotToAct: broker.BOT,
    RoundToScore: broker.SCORE,
    ClockToExpire: broker.CLOCK,
}
_BACKLOG: Final = 1000  # hints that may wait for a slow broker; more are left to the sweeper

log = logging.getLogger("ringmaster.jobs")


class CeleryJobs:
    """Hints and matches of series as Celery messages (``Jobs``, ``MatchQueue``)."""

    def __init__(self, app: Celery) -> None:
        self._app = app
        self._threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="hints")
        self._waiting = 0

    def hint(self, match_id: str, version: int, due: Due, *, quick: bool = False) -> None:
        """``quick``: a bot's level is not to be asked, as it has not answered."""
        # An argument only where it is needed: workers of the release before do not know it.
        asked = (True,) if quick and isinstance(due, BotToAct) else ()
        self._submit(_TASKS[type(due)], match_id, version, *asked)

    def play(self, series_id: str, number: int) -> None:
        self._submit(broker.SERIES, series_id, number)

    def _submit(self, task: str, *args: str | int) -> None:
        if self._waiting >= _BACKLOG:
            hints_of(task, "dropped").inc()
            return
        self._waiting += 1
        # Asked here: the thread is under no span.
        self._threads.submit(self._send, task, tracing.traceparent(), *args)

    def _send(self, task: str, traceparent: str, *args: str | int) -> None:
        headers: dict[str, str | float] = {broker.SENT_AT: time.time()}
        if traceparent:
            headers[broker.TRACEPARENT] = traceparent
        try:
            self._app.send_task(
                task, args=args, queue=broker.ROUTES[task], retry=False, headers=headers
            )
            hints_of(task, "sent").inc()
        except Exception as error:  # noqa: BLE001 - a lost hint is found again by the sweeper
            hints_of(task, "lost").inc()
            fields = {"task": task, "match": args[0]}
            log.warning("hint lost: %s", type(error).__name__, extra={"fields": fields})
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Let waiting hints go out, then let go of the broker."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._app.close()
