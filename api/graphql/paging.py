"""Pages: how many nodes one may have, and where it stands among the others."""

from api.errors import Refused
from schema.codes import ErrorCode
from schema.cost import PAGE_LIMIT, USUAL_PAGE
from schema.types import PageInfo


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
