"""What the house owes a match: a bot's action, a round's score, the end of a clock or of all."""

from dataclasses import dataclass

from engine.state import Match, SeatKind, Status


@dataclass(frozen=True, slots=True)
class BotToAct:
    """A bot's seat has to choose or to play."""

    seat: int
    level: str


@dataclass(frozen=True, slots=True)
class RoundToScore:
    """The round's last action was played."""


@dataclass(frozen=True, slots=True)
class ClockToExpire:
    """A person's seat has until ``deadline``, in milliseconds since the epoch."""

    seat: int
    deadline: int


@dataclass(frozen=True, slots=True)
class MatchToAbandon:
    """Everybody has gone ``since`` then, in milliseconds since the epoch; some may return."""

    since: int


Due = BotToAct | RoundToScore | ClockToExpire | MatchToAbandon


def due(match: Match) -> Due | None:
    """What the house must do next in this state, None if it waits for a person or is over."""
    if match.status is Status.SCORING:
        return RoundToScore()
    waiting = to_act(match)
    if waiting and match.paused and match.deserted_since is not None:
        return MatchToAbandon(match.deserted_since)
    for number in waiting:
        seat = match.seats[number]
        level = seat.bot_level if seat.kind is SeatKind.BOT else seat.substitute
        if level is not None:
            return BotToAct(number, level)
    if waiting and match.deadline is not None:
        return ClockToExpire(waiting[0], match.deadline)
    return None


def to_act(match: Match) -> list[int]:
    """The seats that the match waits for: all that have yet to choose, or the one to play."""
    round_ = match.round
    if round_ is None:
        return []
    if match.status is Status.CHOOSING:
        return [seat for seat, chosen in enumerate(round_.chosen) if not chosen]
    if match.status is Status.PLAYING and round_.turn is not None:
        return [round_.turn]
    return []
