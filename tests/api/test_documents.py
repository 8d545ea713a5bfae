"""What is wrong with a document is told soon, however it is laid out."""

import time
from itertools import count

import pytest
from graphql import Source

from api.graphql.documents import MAX_ERRORS, MAX_LINES, faults
from api.graphql.schema import schema

SCHEMA = schema._schema
NEW = count()


@pytest.mark.parametrize(
    "text",
    ["{a\n b\r\n  c\r d\n\n  e}", "\n\n{a}\n", "\r\r\n\n{a b}", "{a}", "  {a\n}"],
)
def test_a_field_has_the_place_that_the_library_gives_it(text):
    told = faults(SCHEMA, text, introspection=True)
    assert len(told) >= 1
    source = Source(text)
    for error in told:
        assert error.positions
        assert error.locations == [source.get_location(at) for at in error.positions]


@pytest.mark.parametrize(
    "pad", [" " * 60_000, "\n" * (MAX_LINES - 1), "\r" * 30_000, "\n" * 30_000, "#" + "x" * 60_000]
)
def test_what_is_refused_takes_no_longer_by_what_is_around_it(pad):
    usual, _ = refused("\n")
    took, told = refused(pad + "\n")
    assert told in (1, MAX_ERRORS + 1)
    assert took < 20 * usual  # it was up to 400 times as much


def refused(before: str) -> tuple[float, int]:
    """The least CPU seconds that a document with unknown fields takes, and how many errors."""
    times = []
    for _ in range(5):
        new = next(NEW)  # what is known is not looked at again
        fields = "{" + " ".join(f"f{new}x{n}" for n in range(95)) + "}"
        began = time.process_time()
        told = faults(SCHEMA, before + fields, introspection=False)
        times.append(time.process_time() - began)
    return min(times), len(told)


def test_a_document_has_so_many_lines():
    told = faults(SCHEMA, "{__typename}" + "\n" * MAX_LINES, introspection=True)
    assert [str(error) for error in told] == [f"The document may have {MAX_LINES} lines."]
    assert faults(SCHEMA, "{__typename}" + "\n" * (MAX_LINES - 1), introspection=True) == ()
