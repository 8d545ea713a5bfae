"""What the house does when it is owed; bots get their seat's view and nothing more."""

import logging
from hashlib import sha256

from api.errors import Refused, Unreadable
from api.service import MatchService
from api.values import Owed
from engine.actions import Action
from engine.bots import LEVELS, quick_action
from engine.commands import ExpireTurn, ScoreRound
from engine.due import BotToAct, ClockToExpire, RoundToScore
from engine.legal import is_legal
from engine.views import View
from schema.codes import ErrorCode

log = logging.getLogger("ringmaster.house")


async def play_bot(service: MatchService, match_id: str, version: int) -> None:
    """Play a bot's turn, if the match is still at ``version`` and waits for one.

    A level that fails or answers with an illegal action is logged, and a quick action is played.
    """
    owed = await _owed(service, match_id, version)
    if owed is None or not isinstance(owed.due, BotToAct) or owed.view is None:
        return
    await service.settle(owed, _decide(owed, owed.due.level, owed.view))


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


def _decide(owed: Owed, level: str, view: View) -> Action:
    fault = "IllegalAction"
    try:
        action = LEVELS[level].choose(view, _seed(owed))
        if is_legal(view, action):
            return action
    except Exception as error:  # noqa: BLE001 - a broken level must not stop the match
        fault = type(error).__name__  # its text could carry the hand
    log.error("level %s failed in match %s: %s", level, owed.match_id, fault)
    return quick_action(view)


def _seed(owed: Owed) -> int:
    # Anyone can compute it, and it says nothing of the deal's secret.
    return int.from_bytes(sha256(f"{owed.match_id}:{owed.version}".encode()).digest()[:8], "big")
