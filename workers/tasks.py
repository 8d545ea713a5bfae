"""The tasks. Each may be late, lost or run twice: a version that has passed does nothing."""

from typing import Any

from api import broker
from workers import batch, house
from workers.app import app
from workers.runtime import runtime

BATCH_SECONDS = 600  # for a level that never comes back; the process is ended then


@app.task(name=broker.BOT)
def bot(match_id: str, version: int) -> None:
    """Play the turn of a bot's seat."""
    _settle(house.play_bot, match_id, version)


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
    batch.play_match(runtime, series_id, number)


def _settle(work: Any, match_id: str, version: int) -> None:
    runtime.run(work(runtime.parts.service, match_id, version))
