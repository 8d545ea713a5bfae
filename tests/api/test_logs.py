"""Lines of the log: JSON or text, exceptions by their type alone."""

import json
import logging
import sys

import pytest

from api.logs import JsonFormatter, TextFormatter
from api.observe.work import Work, operating, working


def record(text: str = "request", **fields: object) -> logging.LogRecord:
    made = logging.LogRecord("ringmaster.work", logging.INFO, "", 0, text, (), None)
    made.fields = fields
    return made


def test_a_line_is_an_object_with_its_fields():
    told = json.loads(JsonFormatter().format(record(status=200, commits=["SHOW"])))

    assert told.pop("time").endswith("+00:00")
    assert told == {
        "level": "info",
        "logger": "ringmaster.work",
        "event": "request",
        "status": 200,
        "commits": ["SHOW"],
    }


def test_a_line_to_be_read_has_the_fields_at_its_end():
    line = TextFormatter().format(record(status=200, route="/graphql"))

    assert line.endswith("INFO ringmaster.work request status=200 route=/graphql")


def test_an_exception_is_told_by_its_type():
    made = record()
    try:
        int("the card 3/9")
    except ValueError:
        made.exc_info = sys.exc_info()

    told, line = JsonFormatter().format(made), TextFormatter().format(made)

    assert json.loads(told)["exception"] == "ValueError"
    assert json.loads(told)["at"].startswith("test_logs.py:")
    assert "exception=ValueError at=test_logs.py:" in line
    assert "3/9" not in told + line


@pytest.mark.parametrize(
    ("name", "told"),
    [("Move", "Move"), ("x" * 41, None), ("a\nb", None), ("3/9", None), (None, None)],
)
def test_a_name_is_told_if_it_is_a_plain_one(name, told):
    work = Work("graphql")
    with working(work):
        operating("mutation", name)

    assert work.fields().get("name") == told
