"""Why a command can be refused: one closed list and one exception."""

from enum import StrEnum


class Reason(StrEnum):
    """Why the rules refuse, in the order in which they are checked (rules: Order of checks)."""

    INVALID_INPUT = "INVALID_INPUT"
    WRONG_PHASE = "WRONG_PHASE"
    HAND_ALREADY_CHOSEN = "HAND_ALREADY_CHOSEN"
    NOT_YOUR_TURN = "NOT_YOUR_TURN"
    SCOUT_AND_SHOW_UNAVAILABLE = "SCOUT_AND_SHOW_UNAVAILABLE"
    SCOUT_AND_SHOW_SPENT = "SCOUT_AND_SHOW_SPENT"
    NO_ACTIVE_SET = "NO_ACTIVE_SET"
    OWN_SET = "OWN_SET"
    NO_CHIPS = "NO_CHIPS"
    BAD_INSERTION = "BAD_INSERTION"
    BAD_RANGE = "BAD_RANGE"
    NOT_A_SET = "NOT_A_SET"
    SET_TOO_LOW = "SET_TOO_LOW"
    # The lobby's own.
    FORBIDDEN = "FORBIDDEN"
    NOT_SEATED = "NOT_SEATED"
    MATCH_FULL = "MATCH_FULL"
    MATCH_OVER = "MATCH_OVER"


SENTENCES: dict[Reason, str] = {
    Reason.INVALID_INPUT: "That is not a valid input.",
    Reason.WRONG_PHASE: "The match is not in a phase that allows this.",
    Reason.HAND_ALREADY_CHOSEN: "You have already chosen which way up to hold your hand.",
    Reason.NOT_YOUR_TURN: "It is not your turn.",
    Reason.SCOUT_AND_SHOW_UNAVAILABLE: "There is no Scout & Show with two players.",
    Reason.SCOUT_AND_SHOW_SPENT: "You have already used your Scout & Show in this round.",
    Reason.NO_ACTIVE_SET: "The table is empty: there is nothing to scout, so show a set.",
    Reason.OWN_SET: "You cannot scout from your own set.",
    Reason.NO_CHIPS: "You have no scout chip left, so show a set.",
    Reason.BAD_INSERTION: "There is no such gap in your hand.",
    Reason.BAD_RANGE: "There are no such cards in your hand.",
    Reason.NOT_A_SET: "No set: show equal numbers, or a run that rises or falls by one.",
    Reason.SET_TOO_LOW: "Your set is not stronger than the active set.",
    Reason.FORBIDDEN: "You may not do this in this match.",
    Reason.NOT_SEATED: "You have no seat in this match.",
    Reason.MATCH_FULL: "The match has no open seat.",
    Reason.MATCH_OVER: "The match is over.",
}


class RuleError(Exception):
    """A command refused by the rules; the state it was decided on is as it was.

    Attributes:
        reason: which rule refused.
        field: the input field at fault in camel case, None where no single one is.
    """

    def __init__(
        self, reason: Reason, field: str | None = None, sentence: str | None = None
    ) -> None:
        super().__init__(sentence or SENTENCES[reason])
        self.reason = reason
        self.field = field
