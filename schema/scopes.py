"""What a token can be made to allow."""

from enum import StrEnum


class Scope(StrEnum):
    """Each allows what those say below it, but OPERATE, which is apart."""

    PLAY = "PLAY"
    BOT = "BOT"
    SPECTATE = "SPECTATE"
    OPERATE = "OPERATE"
