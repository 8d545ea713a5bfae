"""Points of a round and winners of a match (rules: Scoring)."""

from collections.abc import Sequence
from functools import lru_cache

from engine.state import Ending, Round, RoundResult, ScoreLine


def score_round(round_: Round, ending: Ending) -> RoundResult:
    """The result of an ended round: captured + scout chips - cards in hand, the ender spared."""
    return result_of(ending, [len(hand) for hand in round_.hands], round_.captured, round_.chips)


def result_of(
    ending: Ending, cards: Sequence[int], captured: Sequence[int], chips: Sequence[int]
) -> RoundResult:
    """The same by seat: how many cards are left, were captured, and the scout chips."""
    lines = []
    for seat, left in enumerate(cards):
        penalty = 0 if seat == ending.ender else left
        lines.append(_line(seat, captured[seat], chips[seat], penalty))
    return RoundResult(ending.reason, ending.ender, tuple(lines))


@lru_cache(1 << 12)  # making a frozen dataclass takes six times as long
def _line(seat: int, captured: int, chips: int, penalty: int) -> ScoreLine:
    return ScoreLine(seat, captured, chips, penalty, captured + chips - penalty)


def winners(totals: Sequence[int]) -> tuple[int, ...]:
    """All seats that share the highest total.

    >>> winners([5, 5, -4])
    (0, 1)
    """
    best = max(totals)
    return tuple(seat for seat, total in enumerate(totals) if total == best)
