"""A bot's decision, and a quick action in its place where the level fails."""

import logging
from dataclasses import dataclass
from functools import cache
from operator import index
from typing import Final

from prometheus_client import Counter, Histogram

from api.observe.metrics import bot_decision_seconds, bot_faults
from api.values import Fault
from engine.actions import Action, ChooseHand, End, Scout, ScoutAndShow, Show
from engine.bots import LEVELS, Level, quick_action
from engine.legal import is_legal
from engine.views import History, View
from workers.bench import Bench
from workers.interrupts import TookTooLong, within

LIMIT_SECONDS: Final = 2.0
# CPU time, so that a busy machine makes no bot play worse; the other limit is for those that sleep.
CPU_BUDGETS: Final = 20
CPU_LEAST_SECONDS: Final = 0.5
UNKNOWN: Final = "unknown"  # in metrics, for a level that this worker does not have

log = logging.getLogger("ringmaster.bots")
bench = Bench()


@dataclass(frozen=True, slots=True)
class Thought:
    """What a bot does; ``fault``: why it is a quick action, None if it is the level's own."""

    action: Action
    fault: Fault | None = None


class _Illegal(Exception):  # noqa: N818 - named as the fault
    """The level's answer is no legal action; its text is the answer's type."""


def think(
    level: str,
    view: View,
    history: History,
    seed: int,
    *,
    quick: bool = False,
    limit: float = LIMIT_SECONDS,
) -> Thought:
    """What a level does for the view's own seat; if it fails, a quick action, and a log line.

    It may take ``CPU_BUDGETS`` times its budget of CPU time, and ``limit`` seconds of any. With
    ``quick`` it is not asked, nor is one that has not answered lately.

    Raises:
        ValueError: the seat has nothing to do.
    """
    spare = quick_action(view)  # before the level sees the view: it might spoil it
    took, faults = _metrics(level if level in LEVELS else UNKNOWN)
    with took.time():
        thought = _think(level, view, history, seed, spare, quick=quick, limit=limit)
    if thought.fault is not None:
        faults[thought.fault].inc()
    return thought


def prepare_metrics() -> None:
    """Let the faults of every level be there at zero, so that the first one is an increase."""
    for level in LEVELS:
        _metrics(level)


@cache
def _metrics(level: str) -> tuple[Histogram, dict[Fault, Counter]]:
    faults = {fault: bot_faults.labels(level, fault) for fault in Fault}
    return bot_decision_seconds.labels(level), faults


def _think(
    level: str,
    view: View,
    history: History,
    seed: int,
    spare: Action,
    *,
    quick: bool,
    limit: float,
) -> Thought:
    try:
        known, number = LEVELS[level], list(LEVELS).index(level)
        if quick or bench.sits(number, limit):
            fault, detail = Fault.TIMEOUT, "not asked"
        else:
            with bench.asking(number):
                return Thought(_answer(known, view, history, seed, limit))
    except TookTooLong as late:
        fault, detail = Fault.TIMEOUT, late.clock
    except _Illegal as illegal:
        fault, detail = Fault.ILLEGAL, str(illegal)
    except BaseException as error:  # noqa: BLE001 - not even `sys.exit` in a level stops the match
        fault, detail = Fault.RAISED, type(error).__name__  # its text could carry the hand
    log.error("bot fault: level=%s kind=%s detail=%s match=%s", level, fault, detail, view.match_id)
    return Thought(spare, fault)


def _answer(level: Level, view: View, history: History, seed: int, limit: float) -> Action:
    def ask() -> Action:
        answer: object = level.action(view, history, seed)
        try:
            action = _plain(answer)
            if is_legal(view, action):
                return action
        except Exception:  # noqa: BLE001, S110 - an answer may be anything
            pass
        raise _Illegal(type(answer).__name__)

    cpu = max(CPU_BUDGETS * level.budget_ms / 1000, CPU_LEAST_SECONDS)
    return within(cpu, limit, ask)


def _plain(answer: object) -> Action:
    """An action in the values that are stored, whatever kinds of numbers the level uses.

    Raises:
        TypeError, ValueError: it is none.
    """
    match answer:
        case ChooseHand(seat, flip):
            return ChooseHand(index(seat), _flag(flip))
        case Show(seat, first, count):
            return Show(index(seat), index(first), index(count))
        case Scout(seat, end, gap, flip):
            return Scout(index(seat), End(end), index(gap), _flag(flip))
        case ScoutAndShow(seat, end, gap, flip, first, count):
            scout = Scout(index(seat), End(end), index(gap), _flag(flip))
            return ScoutAndShow(
                scout.seat, scout.end, scout.insert_at, scout.flip, index(first), index(count)
            )
        case _:
            raise TypeError("not an action")


def _flag(value: object) -> bool:
    if value in (True, False):
        return bool(value)
    raise ValueError("neither true nor false")
