"""How many nodes a page may have."""

from typing import Final

from api.errors import Refused
from schema.codes import ErrorCode

PAGE_LIMIT: Final = 100
USUAL: Final = 20


def page_size(first: int | None) -> int:
    """The size asked for, the usual one if none was.

    Raises:
        Refused: INVALID_INPUT.
    """
    limit = USUAL if first is None else first
    if not 0 <= limit <= PAGE_LIMIT:
        sentence = f"`first` is from 0 to {PAGE_LIMIT}."
        raise Refused(ErrorCode.INVALID_INPUT, sentence, field="first")
    return limit
