"""Positions as lines: ``view=all rules=1 phase=PLAYING round=2 ...``; reading: ``reading.py``."""

from collections.abc import Iterable, Mapping
from typing import Final

from engine.cards import Cards
from engine.notation.cards import format_card
from engine.notation.words import NotationError
from engine.state import Ending, Match, Status
from engine.views import View, view

FIELDS: Final = (
    "view",
    "rules",
    "phase",
    "round",
    "starter",
    "turn",
    "table",
    "shower",
    "scouts",
    "actions",
    "end",
    "hands",
    "captured",
    "chips",
    "scores",
    "chosen",
    "spent",  # last, since its length is known: a line that was cut short is no line
)
PHASES: Final = (Status.CHOOSING, Status.PLAYING, Status.SCORING, Status.FINISHED)
_LINE: Final = " ".join(f"{name}=%({name})s" for name in FIELDS)
ALL: Final = "all"
SPECTATOR: Final = "none"
NONE: Final = "-"
UNKNOWN: Final = "?"


def format_position(match: Match) -> str:
    """The line of a full position, all hands included.

    Raises:
        NotationError: no round was dealt yet, or the match was abandoned.
    """
    r = match.round
    if r is None:
        raise _no_position()
    told = {
        "view": ALL,
        "shower": _seat(r.last_shower),
        "actions": str(r.actions),
        "end": _end(r.ending),
        "hands": "|".join(_cards(hand) for hand in r.hands),
    }
    return _line(view(match, None), told)


def format_view(seen: View, common: str | None = None) -> str:
    """The line of what a seat or a spectator sees: of the hands of others, the sizes.

    ``common``: what ``format_common`` made of this position, as any viewer sees it.

    Raises:
        NotationError: no round was dealt yet, or the match was abandoned.
    """
    you = seen.you
    hands = [str(seat.hand_size) for seat in seen.seats]
    if you is not None:
        hands[you.seat] = _cards(you.hand)
    told = SPECTATOR if you is None else str(you.seat), "|".join(hands)
    return (common or format_common(seen)) % told


def format_common(seen: View) -> str:
    """The line that all viewers have in common, with ``%s`` for who looks and for the hands.

    Raises:
        NotationError: no round was dealt yet, or the match was abandoned.
    """
    result = None if seen.round is None else seen.round.result
    end = _end(None if result is None else Ending(result.reason, result.ender))
    told = {
        "rules": seen.rules_version.replace("%", "%%"),
        "view": "%s",
        "shower": UNKNOWN,
        "actions": UNKNOWN,
        "end": UNKNOWN if seen.status is Status.SCORING else end,
        "hands": "%s",
    }
    return _line(seen, told)


def _no_position() -> NotationError:
    return NotationError("a match has a position from its first deal on, unless it was abandoned")


def _line(seen: View, told: Mapping[str, str]) -> str:
    r, seats = seen.round, seen.seats
    if r is None or seen.status not in PHASES:
        raise _no_position()
    words = {
        "rules": seen.rules_version,
        "phase": seen.status.value,
        "round": str(r.number),
        "starter": str(r.starter),
        "turn": _seat(r.turn),
        "table": _cards(r.table) if r.owner is None else f"{_cards(r.table)}@{r.owner}",
        "scouts": str(r.scouts_in_a_row),
        "captured": ",".join([str(seat.captured) for seat in seats]),
        "chips": ",".join([str(seat.scout_chips) for seat in seats]),
        "scores": ",".join([str(seat.score) for seat in seats]),
        "chosen": _flags([seat.has_chosen for seat in seats]),
        "spent": _flags([len(seats) > 2 and not s.scout_and_show_available for s in seats]),
        **told,
    }
    return _LINE % words


def _seat(number: int | None) -> str:
    return NONE if number is None else str(number)


def _cards(cards: Cards) -> str:
    return ",".join(map(format_card, cards)) or NONE


def _end(ending: Ending | None) -> str:
    if ending is None:
        return NONE
    return ending.reason.value if ending.ender is None else f"{ending.reason}@{ending.ender}"


def _flags(values: Iterable[bool]) -> str:
    return "".join(["y" if value else "n" for value in values])
