"""What a person types: words to a command, or a sentence that says what was expected."""

import difflib
import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from api.cli.terminal.data import End
from api.cli.terminal.moves import ChooseHand, Move, Scout, ScoutAndShow, Show


class Word(Enum):
    """The commands that take nothing."""

    HELP = "help"
    HAND = "hand"
    TABLE = "table"
    MOVES = "moves"
    POSITION = "position"
    START = "start"
    BACK = "back"
    LEAVE = "leave"
    QUIT = "quit"


@dataclass(frozen=True, slots=True)
class Pick:
    """A number of the list that ``moves`` gave."""

    number: int


@dataclass(frozen=True, slots=True)
class MovesAfter:
    """The Scout & Shows that begin with this scout are asked for."""

    scout: Scout


Command = Move | Word | Pick | MovesAfter

HELP: Final = (
    ("keep, flip", "choose which way up to hold the hand, before each round"),
    ("show 3 2", "show 2 cards from position 3 on (also: s 3 2)"),
    ("scout left 4", "take the left card of the table into gap 4 (also: sc l 4)"),
    ("scout right 0 flip", "take the right card, turned over, into gap 0"),
    ("scout left 4 then show 2 3", "Scout & Show; positions count after the scout"),
    ("moves", "list what you may do, numbered; a number then plays it"),
    ("moves left 4 flip", "list the Scout & Shows that begin with this scout"),
    ("hand, table", "draw your hand, or the whole table, again"),
    ("position", "the match in one line, as for a bug report; `S3x2`, `L4k`, `R0f+S2x3` play too"),
    ("start", "in the lobby: let bots take the open seats"),
    ("back", "take your seat again from the bot that plays for you while you are away"),
    ("quit, leave", "go away and come back later; or give the seat to a bot"),
)
NUMBERING: Final = (
    "Positions count from 0, left to right, as drawn over the cards. Gap 0 is before the first "
    "card, gap 4 before the card at position 4; the last gap is after the last card. S&S in the "
    "list of seats: may still Scout & Show in this round."
)

_ALIASES: Final = {
    "?": "help",
    "h": "help",
    "s": "show",
    "sc": "scout",
    "k": "keep",
    "f": "flip",
    "m": "moves",
    "t": "table",
    "q": "quit",
    "exit": "quit",
    "l": "left",
    "r": "right",
}
_COMMANDS: Final = (*(word.value for word in Word), "show", "scout", "keep", "flip")
_ENDS: Final[dict[str, End]] = {"left": "LEFT", "right": "RIGHT"}
_TOKEN: Final = re.compile(
    r"(?:(?P<end>[LR])(?P<gap>[0-9]{1,3})(?P<way>[kf]))?(?P<both>\+)?"
    r"(?:S(?P<first>[0-9]{1,3})x(?P<count>[0-9]{1,3}))?\Z"
)
_NUMBER: Final = re.compile(r"[0-9]{1,3}\Z")
_SHOW_FORM: Final = "a first position and a number of cards, as in `show 3 2`"
_SCOUT_FORM: Final = "an end and a gap, as in `scout left 4` or `scout right 0 flip`"
_BOTH_FORM: Final = "a whole scout and a whole show, as in `scout left 4 then show 2 3`"


class NoCommand(Exception):  # noqa: N818 - a person's slip, told to the person
    """What was typed is no command; the message says what was expected."""


def parse(line: str) -> Command | None:
    """The command that a line gives, None for an empty line.

    >>> parse("s 3 2")
    Show(first=3, count=2)

    Raises:
        NoCommand: the line is no command.
    """
    token = _token(line.strip())
    if token is not None:
        return token
    words = [_ALIASES.get(word, word) for word in line.lower().replace(",", " ").split()]
    match words:
        case []:
            return None
        case [number] if _NUMBER.match(number):
            return Pick(int(number))
        case ["keep" | "flip" as choice]:
            return ChooseHand(choice == "flip")
        case ["show", *rest]:
            return _show(rest, _SHOW_FORM)
        case ["scout", *rest]:
            return _scout_or_both(rest)
        case ["moves", _, *_]:
            return MovesAfter(_scout(words[1:]))
        case [word] if word in [w.value for w in Word]:
            return Word(word)
        case _:
            raise NoCommand(_advice(words))


def _token(text: str) -> Move | None:
    """A move written as in docs/notation.md, None if the text is none."""
    found = _TOKEN.match(text)
    if found is None or bool(found["both"]) != bool(found["end"] and found["first"]):
        return None
    show = Show(int(found["first"]), int(found["count"])) if found["first"] else None
    if not found["end"]:
        return show
    end: End = "LEFT" if found["end"] == "L" else "RIGHT"
    scout = Scout(end, int(found["gap"]), found["way"] == "f")
    return scout if show is None else ScoutAndShow(scout, show)


def _show(words: list[str], form: str) -> Show:
    match words:
        case [first, count] if _NUMBER.match(first) and _NUMBER.match(count):
            return Show(int(first), int(count))
        case _:
            raise NoCommand(f"Give {form}.")


def _scout(words: list[str]) -> Scout:
    match words:
        case ["left" | "right" as end, gap, *flip] if _NUMBER.match(gap) and flip in ([], ["flip"]):
            return Scout(_ENDS[end], int(gap), bool(flip))
        case _:
            raise NoCommand(f"Give {_SCOUT_FORM}.")


def _scout_or_both(words: list[str]) -> Scout | ScoutAndShow:
    if "then" not in words:
        return _scout(words)
    middle = words.index("then")
    scout, show = words[:middle], words[middle + 1 :]
    return ScoutAndShow(
        _scout(scout), _show(show[1:] if show[:1] == ["show"] else show, _BOTH_FORM)
    )


def _advice(words: list[str]) -> str:
    command = words[0]
    if command in _COMMANDS:
        return f"`{command}` stands alone."
    near = difflib.get_close_matches(command, _COMMANDS, n=1)
    if near:
        return f"There is no such command. Did you mean `{near[0]}`? `help` lists them all."
    return "There is no such command; `help` lists them all."
