"""Moves: what a seat may do, how it is written as a command, how the API is asked for it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from api.cli.terminal.data import Card, End, Legal, Match, ShowOption


@dataclass(frozen=True, slots=True)
class ChooseHand:
    mutation: ClassVar = "chooseHand"
    input_type: ClassVar = "ChooseHandInput"
    flip: bool

    def input(self) -> dict[str, Any]:
        return {"flip": self.flip}

    def __str__(self) -> str:
        return "flip" if self.flip else "keep"


@dataclass(frozen=True, slots=True)
class Show:
    mutation: ClassVar = "show"
    input_type: ClassVar = "ShowInput"
    first: int
    count: int

    def input(self) -> dict[str, Any]:
        return {"first": self.first, "count": self.count}

    def __str__(self) -> str:
        return f"show {self.first} {self.count}"


@dataclass(frozen=True, slots=True)
class Scout:
    mutation: ClassVar = "scout"
    input_type: ClassVar = "ScoutInput"
    end: End
    insert_at: int
    flip: bool

    def input(self) -> dict[str, Any]:
        return {"end": self.end, "insertAt": self.insert_at, "flip": self.flip}

    def __str__(self) -> str:
        return f"scout {self.end.lower()} {self.insert_at}" + (" flip" if self.flip else "")


@dataclass(frozen=True, slots=True)
class ScoutAndShow:
    mutation: ClassVar = "scoutAndShow"
    input_type: ClassVar = "ScoutAndShowInput"
    scout: Scout
    show: Show

    def input(self) -> dict[str, Any]:
        return {"scout": self.scout.input(), "show": self.show.input()}

    def __str__(self) -> str:
        return f"{self.scout} then {self.show}"


Move = ChooseHand | Show | Scout | ScoutAndShow


def legal_moves(legal: Legal) -> list[Move]:
    """Every legal move in one fixed order, but for Scout & Shows: those are asked for by scout."""
    return [*_choices(legal), *shows(legal["shows"]), *_scouts(legal)]


def shows(options: list[ShowOption]) -> list[Show]:
    """Show options as moves."""
    return [Show(option["first"], option["count"]) for option in options]


def _choices(legal: Legal) -> list[ChooseHand]:
    return [ChooseHand(flip=False), ChooseHand(flip=True)] if legal["flip"] else []


def _scouts(legal: Legal) -> Iterator[Scout]:
    option = legal["scout"]
    if option is None:
        return
    for end in option["ends"]:
        for flip in (False, True):
            for gap in range(option["maxInsertAt"] + 1):
                yield Scout(end, gap, flip)


def turned(card: Card) -> Card:
    """The card the other way up."""
    return {"top": card["bottom"], "bottom": card["top"]}


def scouted_card(match: Match, scout: Scout) -> Card | None:
    """The card that a scout takes, as it comes into the hand; None if the table is empty."""
    active = match["round"] and match["round"]["activeSet"]
    if not active:
        return None
    card = active["cards"][0 if scout.end == "LEFT" else -1]
    return turned(card) if scout.flip else card


def sensible_move(match: Match) -> Move | None:
    """The longest set to show, else a scout that makes a pair, else any; None if none is legal."""
    you = match["you"]
    moves = legal_moves(you["legal"]) if you else []
    if you is None or not moves:
        return None
    longest = max(you["legal"]["shows"], key=lambda option: option["count"], default=None)
    if longest is not None:
        return Show(longest["first"], longest["count"])
    for move in moves:
        if isinstance(move, Scout) and _makes_a_pair(match, you["hand"], move):
            return move
    return moves[0]


def _makes_a_pair(match: Match, hand: list[Card], scout: Scout) -> bool:
    card = scouted_card(match, scout)
    neighbours = hand[max(0, scout.insert_at - 1) : scout.insert_at + 1]
    return card is not None and any(card["top"] == other["top"] for other in neighbours)
