"""The tasks. Each may be late, lost or run twice: a version that has passed does nothing."""

import logging
import math
from collections.abc import Callable, Coroutine
from typing import Any

from api import broker
from api.errors import Unavailable
from api.service import MatchService
from api.settings import read_settings
from workers import batch, house
from workers.app import app
from workers.bench import ENDED_AFTER
from workers.doing import DONE, PASSED, UNAVAILABLE, doing
from workers.runtime import runtime

log = logging.getLogger("ringmaster.tasks")

LIMIT_SECONDS = read_settings().bot_limit_ms / 1000
# For a level that swallows the interruption, or that never comes back to Python to meet it.
HARD_LIMIT_SECONDS = math.ceil(ENDED_AFTER * LIMIT_SECONDS)
BATCH_SECONDS = 600  # for a level that never comes back; the process is ended then


@app.task(name=broker.BOT, time_limit=HARD_LIMIT_SECONDS)
def bot(match_id: str, version: int, quick: bool = False) -> None:
    """Play the turn of a bot's seat; ``quick``: without asking its level."""

    async def work(service: MatchService, match_id: str, version: int) -> None:
        await house.play_bot(service, match_id, version, quick=quick, limit=LIMIT_SECONDS)

    _settle(work, match_id, version)


@app.task(name=broker.SCORE)
def score(match_id: str, version: int) -> None:
    """Score a round that has ended and deal the next one, or finish the match."""
    _settle(house.score_round, match_id, version)


@app.task(name=broker.CLOCK)
def clock(match_id: str, version: int) -> None:
    """Play the turn of a person whose clock has run out."""
    _settle(house.expire_turn, match_id, version)


@app.task(name=broker.SERIES, time_limit=BATCH_SECONDS)
def series(series_id: str, number: int) -> None:
    """Play a match of a series from its deals to its end, and count it."""
    with doing(app, series=series_id, number=number) as task:
        if not batch.play_match(runtime, series_id, number):
            task.outcome = PASSED


def _settle(
    work: Callable[[MatchService, str, int], Coroutine[Any, Any, None]], match_id: str, version: int
) -> None:
    with doing(app, match=match_id) as task:
        service = runtime.parts.service
        try:
            if service.in_doubt():
                runtime.run(service.settle_doubts())
            runtime.run(work(service, match_id, version))
        except Unavailable as error:
            log.warning("match %s: %s", match_id, error)  # what is due is sent again
            task.outcome = UNAVAILABLE
        else:
            task.outcome = DONE if task.commits else PASSED
