"""Points of a round and winners of a match (rules: Scoring)."""

from collections.abc import Sequence

from engine.state import Ending, Round, RoundResult, ScoreLine


def score_round(round_: Round, ending: Ending) -> RoundResult:
    """The result of an ended round: captured + scout chips - cards in hand, the ender spared."""
    lines = []
    for seat, hand in enumerate(round_.hands):
        penalty = 0 if seat == ending.ender else len(hand)
        captured, chips = round_.captured[seat], round_.chips[seat]
        lines.append(ScoreLine(seat, captured, chips, penalty, captured + chips - penalty))
    return RoundResult(ending.reason, ending.ender, tuple(lines))


def winners(totals: Sequence[int]) -> tuple[int, ...]:
    """All seats that share the highest total.

    >>> winners([5, 5, -4])
    (0, 1)
    """
    best = max(totals)
    return tuple(seat for seat, total in enumerate(totals) if total == best)
