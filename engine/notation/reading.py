"""Positions read from lines; only what the rules allow to be is read (``checks.py``)."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

from engine.cards import PLAYER_COUNTS, Cards, deck
from engine.notation.cards import parse_card
from engine.notation.checks import HIDDEN, check
from engine.notation.positions import ALL, FIELDS, NONE, PHASES, SPECTATOR, UNKNOWN
from engine.notation.words import NotationError, parse_number
from engine.rules import CURRENT, VERSIONS
from engine.scoring import score_round, winners
from engine.state import Ending, Match, Round, RoundEnd, Seat, SeatKind, Status, Visibility
from engine.views import View, view

T = TypeVar("T")
_LARGEST_DECK: Final = max(len(deck(players)) for players in PLAYER_COUNTS)


def match_at(
    round_: Round,
    status: Status,
    scores: tuple[int, ...] | None = None,
    rules_version: str = CURRENT,
) -> Match:
    """A match of which nothing but the position is known; scores are 0 unless given.

    All else is fixed: people ``p0``, ``p1``, ... called ``P0``, ``P1``, ..., no secret, no times.
    """
    players = len(round_.hands)
    return Match(
        match_id="position",
        status=status,
        visibility=Visibility.PUBLIC,
        seats=tuple(Seat(SeatKind.PLAYER, f"P{n}", None, f"p{n}") for n in range(players)),
        scores=scores or (0,) * players,
        deck_commitment="",
        rules_version=rules_version,
        created_at=0,
        secret="",
        join_code=None,
        host=None,
        round=round_,
    )


def parse_position(text: str) -> Match:
    """The match that stands as a line of a full position says, all else as in ``match_at``.

    The deals of its next rounds follow from no secret.

    Raises:
        NotationError: the text is no such line, or says what cannot be.
    """
    words = _Words(text)
    if not words.full:
        raise NotationError(f"view: a full position has {ALL}")
    return _match(words)


def parse_view(text: str) -> View:
    """What a seat or a spectator sees of the match that a view's line tells of.

    Raises:
        NotationError: the text is no such line, or says what cannot be.
    """
    words = _Words(text)
    if words.full:
        raise NotationError(f"view: a view has a seat or {SPECTATOR}")
    viewer = words.read("view", lambda word: None if word == SPECTATOR else words.seat(word))
    return view(_match(words), viewer)


class _Words:
    """The fields of a line, each with its word."""

    def __init__(self, text: str) -> None:
        parts = text.split(" ")
        for name, part in zip(FIELDS, parts, strict=False):
            if not part.startswith(f"{name}="):
                raise NotationError(f"{name}= is expected where something else stands")
        if len(parts) != len(FIELDS):
            raise NotationError(f"a position has {len(FIELDS)} fields, not {len(parts)}")
        self._words = dict(part.split("=", 1) for part in parts)
        self.full = self._words["view"] == ALL
        self.players = self.read("hands", _count_hands)

    def read(self, name: str, reader: Callable[[str], T]) -> T:
        """What a reader makes of a field's word; its error is told with the field's name."""
        try:
            return reader(self._words[name])
        except NotationError as error:
            raise NotationError(f"{name}: {error}") from None

    def seat(self, word: str) -> int:
        """A reader of a seat."""
        return parse_number(word, self.players - 1)

    def seat_or_none(self, word: str) -> int | None:
        """A reader of a seat that may be missing."""
        return None if word == NONE else self.seat(word)

    def per_seat(self, name: str, reader: Callable[[str], T], between: str = ",") -> tuple[T, ...]:
        """What a reader makes of a field that holds something for each seat."""
        return self.read(name, lambda word: self._each(word, reader, between))

    def _each(self, word: str, reader: Callable[[str], T], between: str) -> tuple[T, ...]:
        parts = word.split(between) if between else list(word)
        if len(parts) != self.players:
            raise NotationError(f"there are {self.players} seats")
        return tuple(map(reader, parts))


def _match(words: _Words) -> Match:
    status = words.read("phase", _phase)
    round_ = _round(words, status)
    scores = words.per_seat("scores", _score)
    match = match_at(round_, status, scores, words.read("rules", _rules))
    check(match, full=words.full)
    if status is Status.FINISHED and round_.ending is not None:
        scored = replace(round_, result=score_round(round_, round_.ending))
        match = replace(match, round=scored, winners=winners(scores))
    return match


def _round(words: _Words, status: Status) -> Round:
    table, owner = words.read("table", partial(_table, words))
    tells_end = words.full or status is not Status.SCORING
    return Round(
        number=words.read("round", parse_number),
        starter=words.read("starter", words.seat),
        hands=words.read("hands", partial(_hands, words.read("view", str))),
        chosen=words.per_seat("chosen", _flag, ""),
        captured=words.per_seat("captured", parse_number),
        chips=words.per_seat("chips", parse_number),
        scout_and_show_spent=words.per_seat("spent", _flag, ""),
        table=table,
        owner=owner,
        last_shower=words.read("shower", words.seat_or_none if words.full else _unknown),
        scouts_in_a_row=words.read("scouts", parse_number),
        actions=words.read("actions", parse_number if words.full else _unknown) or 0,
        turn=words.read("turn", words.seat_or_none),
        ending=words.read("end", partial(_end, words) if tells_end else _unknown),
    )


def _count_hands(word: str) -> int:
    players = word.count("|") + 1
    if players not in PLAYER_COUNTS:
        raise NotationError("there are 2 to 5, with | between them")
    return players


def _unknown(word: str) -> None:
    if word != UNKNOWN:
        raise NotationError(f"a view has {UNKNOWN} here")


def _phase(word: str) -> Status:
    for phase in PHASES:
        if word == phase.value:
            return phase
    raise NotationError(f"it is one of {', '.join(PHASES)}")


def _rules(word: str) -> str:
    if word not in VERSIONS:
        raise NotationError("this version of the rules is not known here")
    return word


def _cards(word: str) -> Cards:
    return tuple(map(parse_card, word.split(",")))


def _hands(viewer: str, word: str) -> tuple[Cards, ...]:
    return tuple(
        _hand(part, seen=viewer in (ALL, str(seat))) for seat, part in enumerate(word.split("|"))
    )


def _hand(word: str, *, seen: bool) -> Cards:
    if not seen:
        return (HIDDEN,) * parse_number(word, _LARGEST_DECK)
    return () if word == NONE else _cards(word)


def _table(words: _Words, word: str) -> tuple[Cards, int | None]:
    if word == NONE:
        return (), None
    cards, _, owner = word.partition("@")
    return _cards(cards), words.seat(owner)


def _end(words: _Words, word: str) -> Ending | None:
    if word == NONE:
        return None
    reason, at, ender = word.partition("@")
    if reason not in list(RoundEnd):
        raise NotationError(f"it is {NONE} or one of {', '.join(RoundEnd)}")
    return Ending(RoundEnd(reason), words.seat(ender) if at else None)


def _flag(letter: str) -> bool:
    if letter not in ("y", "n"):
        raise NotationError("each seat has y or n")
    return letter == "y"


def _score(word: str) -> int:
    if not word.startswith("-"):
        return parse_number(word)
    if word == "-0":
        raise NotationError("there is no -0")
    return -parse_number(word[1:])
