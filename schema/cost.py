"""Prices, published in the schema by the directives of the GraphQL Cost Directives specification.

A field costs its weight, and what is selected below it once per object; a field without ``@cost``
weighs 1. One point is some 6 µs of a core. docs/limits.md tells how an operation is priced.
"""

from collections.abc import Sequence
from typing import Final

from strawberry import UNSET, directive_field
from strawberry.schema_directive import Location, schema_directive

from schema.pages import PAGE_LIMIT

SEATS: Final = 5
HAND: Final = 16  # the most cards that a hand begins with
ACTIVE_SET: Final = 10
SHOWS: Final = 28  # the most that a hand was seen to hold
SCOUTS: Final = 68  # two ends, two ways up, a gap before, between and after the cards of a hand
EVENTS: Final = 4
ERRORS: Final = 1

LOADED: Final = 25  # a match or a series, from this process's memory or from Redis
WRITTEN: Final = 100  # a commit and what the rules say to it


@schema_directive(
    locations=[Location.FIELD_DEFINITION],
    name="cost",
    description="What one resolution of this field costs, where it is not 1.",
)
class Cost:
    weight: str


@schema_directive(
    locations=[Location.FIELD_DEFINITION],
    name="listSize",
    description=(
        "How long a list may be: as its slicing argument says, no longer than `assumedSize`. With "
        "`sizedFields`, it is said of these fields of what is returned."
    ),
)
class ListSize:
    assumed_size: int | None = directive_field(name="assumedSize", default=UNSET)
    slicing_arguments: list[str] | None = directive_field(name="slicingArguments", default=UNSET)
    sized_fields: list[str] | None = directive_field(name="sizedFields", default=UNSET)
    require_one_slicing_argument: bool | None = directive_field(
        name="requireOneSlicingArgument", default=UNSET
    )


def weighs(points: int) -> list[object]:
    """The directives of a field that costs more than 1."""
    return [Cost(weight=str(points))]


def sized(most: int, points: int | None = None) -> list[object]:
    """The directives of a list of so many objects at most."""
    size = ListSize(assumed_size=most)
    return [size, *([] if points is None else weighs(points))]


def paged(fields: Sequence[str], points: int, most: int = PAGE_LIMIT) -> list[object]:
    """The directives of a field whose argument ``first`` says how long lists below it are."""
    size = ListSize(
        assumed_size=most,
        slicing_arguments=["first"],
        sized_fields=list(fields),
        require_one_slicing_argument=False,
    )
    return [size, *weighs(points)]
