"""Pages: how many nodes one may have, and where it stands among the others."""

import base64
import binascii
from typing import Final

from api.errors import Refused
from api.operators.ports import Entry
from api.values import Answer
from schema.codes import ErrorCode
from schema.pages import PAGE_LIMIT, USUAL_PAGE
from schema.types import PageInfo

_COUNTED: Final = "counted:"
_ACT: Final = "act:"


def page_size(first: int | None) -> int:
    """The size asked for, the usual one if none was.

    Raises:
        Refused: INVALID_INPUT.
    """
    limit = USUAL_PAGE if first is None else first
    if not 0 <= limit <= PAGE_LIMIT:
        sentence = f"`first` is from 0 to {PAGE_LIMIT}."
        raise Refused(ErrorCode.INVALID_INPUT, sentence, field="first")
    return limit


def page_info(cursors: list[str], after: str | None, *, more: bool) -> PageInfo:
    """Of a page with these cursors that was asked for ``after`` one; ``more``: others follow."""
    return PageInfo(
        has_next_page=more,
        has_previous_page=after is not None,
        start_cursor=cursors[0] if cursors else None,
        end_cursor=cursors[-1] if cursors else None,
    )


def match_cursor(answer: Answer) -> str:
    """Where a match stands in the list of public ones."""
    return _text(f"{answer.view.created_at}:{answer.view.match_id}")


def match_place(cursor: str) -> tuple[int, str]:
    """What such a cursor says: milliseconds since the epoch, and the match's id.

    Raises:
        Refused: INVALID_INPUT.
    """
    created_at, _, match_id = _told(cursor).partition(":")
    if not _is_number(created_at) or not match_id:
        raise _no_cursor()
    return int(created_at), match_id


def counted_cursor(version: int) -> str:
    """Where a match of a series stands among those counted."""
    return _text(f"{_COUNTED}{version}")


def counted_place(cursor: str) -> int:
    """What such a cursor says: the version in which the match was counted.

    Raises:
        Refused: INVALID_INPUT.
    """
    version = _told(cursor).removeprefix(_COUNTED)
    if not _is_number(version) or counted_cursor(int(version)) != cursor:
        raise _no_cursor()
    return int(version)


def act_cursor(entry: Entry) -> str:
    """Where an act stands among those on record."""
    return _text(f"{_ACT}{entry.at}:{entry.entry_id}")


def act_place(cursor: str) -> tuple[int, str]:
    """What such a cursor says: milliseconds since the epoch, and the act's id.

    Raises:
        Refused: INVALID_INPUT.
    """
    at, _, entry_id = _told(cursor).removeprefix(_ACT).partition(":")
    if not _is_number(at) or not entry_id:
        raise _no_cursor()
    return int(at), entry_id


def _text(place: str) -> str:
    return base64.urlsafe_b64encode(place.encode()).decode()


def _told(cursor: str) -> str:
    try:
        return base64.urlsafe_b64decode(cursor).decode()
    except (binascii.Error, ValueError):
        raise _no_cursor() from None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 16


def _no_cursor() -> Refused:
    sentence = "`after` is not a cursor of this list."
    return Refused(ErrorCode.INVALID_INPUT, sentence, field="after")
