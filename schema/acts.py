"""What operators do and see: the closed lists."""

from enum import StrEnum


class Act(StrEnum):
    """What an operator can do that is on record."""

    INSPECT_MATCH = "INSPECT_MATCH"
    CANCEL_MATCH = "CANCEL_MATCH"
    SEND_DUE = "SEND_DUE"
    DRAIN_PROCESS = "DRAIN_PROCESS"
    REVOKE_TOKENS = "REVOKE_TOKENS"


class ProcessKind(StrEnum):
    """The kinds of processes that run for long."""

    API = "API"
    WORKER = "WORKER"
    SWEEPER = "SWEEPER"


class WaitsFor(StrEnum):
    """What a match waits for that is the house's to do."""

    BOT = "BOT"
    SCORING = "SCORING"
    CLOCK = "CLOCK"
    ABANDONING = "ABANDONING"
    READABLE_LOG = "READABLE_LOG"
