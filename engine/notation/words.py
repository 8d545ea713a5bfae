"""What all notations share: their one error, and numbers that can be written in one way only."""

import re
from typing import Final

LARGEST: Final = 999_999_999
_NUMBER: Final = re.compile("0|[1-9][0-9]{0,8}")


class NotationError(ValueError):
    """A text that is no notation, or a value that has none; the message names what is wrong."""


def format_number(number: int) -> str:
    """A number from 0 to LARGEST in decimal digits.

    Raises:
        NotationError: the number is negative or too large.
    """
    if not 0 <= number <= LARGEST:
        raise NotationError(f"only numbers from 0 to {LARGEST} can be written")
    return str(number)


def parse_number(text: str, highest: int = LARGEST) -> int:
    """The number that decimal digits without a leading zero name.

    Raises:
        NotationError: the text is no such number, or it is above ``highest``.
    """
    if _NUMBER.fullmatch(text) is None or int(text) > highest:
        raise NotationError(f"a number from 0 to {highest}, without leading zeros, is expected")
    return int(text)
