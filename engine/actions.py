"""What seats do: the actions of the rules, as values."""

from dataclasses import dataclass
from enum import StrEnum


class End(StrEnum):
    """An end of the active set as it lies on the table."""

    LEFT = "LEFT"
    RIGHT = "RIGHT"


@dataclass(frozen=True, slots=True)
class ChooseHand:
    """Keep the hand as dealt, or flip all of it (rules: Start of a round)."""

    seat: int
    flip: bool


@dataclass(frozen=True, slots=True)
class Show:
    """Show ``count`` cards from position ``first`` of the hand on (rules: Show)."""

    seat: int
    first: int
    count: int


@dataclass(frozen=True, slots=True)
class Scout:
    """Take the card at ``end`` into gap ``insert_at`` (0 to hand size), turned if ``flip``."""

    seat: int
    end: End
    insert_at: int
    flip: bool


@dataclass(frozen=True, slots=True)
class ScoutAndShow:
    """One scout and at once one show; ``first`` counts after the insertion."""

    seat: int
    end: End
    insert_at: int
    flip: bool
    first: int
    count: int

    def halves(self) -> tuple[Scout, Show]:
        """The two plain actions that this one consists of."""
        return (
            Scout(self.seat, self.end, self.insert_at, self.flip),
            Show(self.seat, self.first, self.count),
        )


Action = ChooseHand | Show | Scout | ScoutAndShow
