"""What the house does when it is owed; bots get their seat's view and nothing more."""

import time
from typing import Final

from api.errors import Refused, Unreadable
from api.service import MatchService
from api.values import Owed
from engine.bots import quick_action
from engine.commands import ExpireTurn, PlayForAway, ScoreRound
from engine.due import BotToAct, ClockToExpire, RoundToScore
from engine.series import seed
from schema.codes import ErrorCode
from workers.thinking import LIMIT_SECONDS, think

GO_ON_SECONDS: Final = 0.05


async def play_bot(
    service: MatchService,
    match_id: str,
    version: int,
    *,
    quick: bool = False,
    limit: float = LIMIT_SECONDS,
) -> None:
    """Play a bot's turn, if the match is still at ``version`` and waits for one.

    Turns of bots that follow are played at once, for ``GO_ON_SECONDS``: to hand each to a worker
    takes longer than to play it. Later ones are handed on, so that other matches have their turn.

    In place of a level that fails, that has not answered within ``limit`` seconds or that is not to
    be asked (``quick``) a quick action is played; the fault is logged and counted.
    """
    until = time.monotonic() + GO_ON_SECONDS
    owed = await _owed(service, match_id, version)
    while owed is not None and isinstance(owed.due, BotToAct) and owed.view is not None:
        level = owed.due.level
        chance = seed(owed.match_id, owed.version)
        thought = think(level, owed.view, owed.history, chance, quick=quick, limit=limit)
        away = owed.view.seats[owed.due.seat].away
        action = PlayForAway(thought.action) if away else thought.action
        owed = await service.settle(owed, action, go_on=time.monotonic() < until)
        if thought.fault is not None:
            await service.count_fault(level, thought.fault)
        quick = False


async def score_round(service: MatchService, match_id: str, version: int) -> None:
    """Score the round, if the match is still at ``version`` and its round has ended."""
    owed = await _owed(service, match_id, version)
    if owed is not None and isinstance(owed.due, RoundToScore):
        await service.settle(owed, ScoreRound())


async def expire_turn(service: MatchService, match_id: str, version: int) -> None:
    """Play a quick action for the seat whose clock has run out, if it still has."""
    owed = await _owed(service, match_id, version)
    if owed is None or not isinstance(owed.due, ClockToExpire) or owed.view is None:
        return
    await service.settle(owed, ExpireTurn(quick_action(owed.view)))


async def _owed(service: MatchService, match_id: str, version: int) -> Owed | None:
    try:
        return await service.owed(match_id, version)
    except Refused as refused:
        if refused.code is ErrorCode.NOT_FOUND:
            return None  # the match has expired
        raise
    except Unreadable:
        return None  # told by the ledger
