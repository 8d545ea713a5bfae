"""docs/api.md shows every operation as it works, and every code."""

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import suppress

import pytest
from graphql import (
    FieldNode,
    GraphQLObjectType,
    OperationDefinitionNode,
    build_schema,
    parse,
)
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from schema.codes import ErrorCode
from tests import api_guide
from tests.api_guide import GUIDE, ROOT, differences, read, shortened, written

PAGE = GUIDE.read_text()
REQUESTS = [re.sub(r"\\\n\s*", "", block.request) for block in api_guide.blocks()]
METHODS = ("get", "put", "post", "delete", "patch")


def graphql_shown() -> Iterator[tuple[str, str]]:
    for request in REQUESTS:
        for text in re.findall(r'"query": ("(?:[^"\\]|\\.)*")', request):
            for operation in parse(json.loads(text)).definitions:
                assert isinstance(operation, OperationDefinitionNode)
                for field in operation.selection_set.selections:
                    assert isinstance(field, FieldNode)
                    yield operation.operation.value, field.name.value


def rest_shown() -> Iterator[tuple[str, str]]:
    for command in re.findall(r"curl [^|\n]*(?:\n[^\n]+)*?(?=\n|$)", "\n".join(REQUESTS)):
        if path := re.search(r'\$API(/v1/[^\s"?]*)', command):
            method = re.search(r"-X (\w+)", command)
            sends = "POST" if " -d " in command else "GET"
            yield (method[1] if method else sends), re.sub(r"\$\w+|(?<=/)\d+", "{}", path[1])


def test_every_graphql_operation_is_shown():
    schema = build_schema((ROOT / "schema" / "schema.graphql").read_text())
    roots = {
        "query": schema.query_type,
        "mutation": schema.mutation_type,
        "subscription": schema.subscription_type,
    }
    there = {
        (kind, name)
        for kind, root in roots.items()
        if isinstance(root, GraphQLObjectType)
        for name in root.fields
    }

    assert there - set(graphql_shown()) == set()


def test_every_rest_operation_is_shown():
    document = json.loads((ROOT / "schema" / "openapi.json").read_text())
    there = {
        (method.upper(), re.sub(r"\{\w+\}", "{}", path)): operation["operationId"]
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    }

    assert [name for place, name in there.items() if place not in set(rest_shown())] == []


def test_every_request_is_answered_as_shown(stack):
    blocks = api_guide.blocks()

    told = [
        (block.request, differences(read(block.answer), read(text)))
        for block, text in zip(blocks, api_guide.run(stack.url, stack.redis_url), strict=True)
        if block.answer is not None
    ]

    assert [one for one in told if one[1]] == [], "mend it, or run `make api-guide`"


@pytest.mark.parametrize(
    ("came", "told"),
    [
        ('HTTP/1.1 200 OK\netag: "2"\n\n{"id": "b", "n": 1.5, "of": [{"k": "x"}]}', []),
        ('HTTP/1.1 409 Conflict\netag: "2"\n\n{"id": "b", "n": 1.5, "of": []}', None),
        ('HTTP/1.1 200 OK\n\n{"id": "b", "n": 1.5, "of": []}', None),
        ('HTTP/1.1 200 OK\netag: "2"\n\n{"id": 2, "n": 1.5, "of": []}', [".id is 2"]),
        ('HTTP/1.1 200 OK\netag: "2"\n\n{"id": "b", "of": []}', [".n"]),
        ('HTTP/1.1 200 OK\netag: "2"\n\n{"id": "b", "n": 1, "of": [{"j": 1}]}', None),
        ("", None),
    ],
)
def test_an_answer_of_another_shape_would_be_noticed(came, told):
    shown = 'HTTP/1.1 200 OK\netag: "1"\n\n{"id": "a", "n": 1, "of": [{"k": "y"}, "..."]}'

    found = differences(read(shown), read(came))

    assert (found == told) if told is not None else found


def test_another_code_or_another_end_of_a_stream_would_be_noticed():
    stale = '{"userErrors": [{"code": "STALE_VERSION"}]}'
    assert differences(read(stale), read(stale.replace("STALE_VERSION", "NOT_FOUND")))
    ends = 'event: update\ndata: {"v": 1}\n\nevent: complete\ndata: {"reason": "OVER"}\n'
    more = 'event: update\ndata: {"v": 2}\n\n' + ends
    assert differences(read(ends), read(more)) == []
    assert differences(read(ends), read(more.replace("OVER", "LIFETIME")))
    assert differences(read(ends), read(ends.replace("complete", "problem")))


def test_what_is_shortened_is_like_what_came():
    came = json.dumps({"ids": list(range(9)), "of": [{"k": "x" * 50, "j": None}] * 5, "z": {}})

    shown = written(shortened(read(came), ("ids", "of.k")))

    assert "..." in shown
    assert len(shown) < len(came)
    assert differences(read(shown), read(came)) == []


def test_every_code_is_in_the_table_and_no_other():
    table = PAGE.split("## All codes\n")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `([A-Z_]+)` \|", table, re.MULTILINE)

    assert sorted(listed) == sorted(set(ErrorCode) | codes_of_requests())


def codes_of_requests() -> set[str]:
    """Every code that the sources have beside those of the enum, and what REST's statuses make."""
    found = {"METHOD_NOT_ALLOWED"}  # the name of the status
    for source in (ROOT / "api").rglob("*.py"):
        text = source.read_text()
        found |= set(re.findall(r'"code": "([A-Z_]+)"', text))
        found |= set(re.findall(r'_problem\(\d+, "([A-Z_]+)"', text))
        found |= set(re.findall(r'\d{3}: "([A-Z_]+)"', text))
        found |= set(re.findall(r'^([A-Z_]+): Final = "\1"', text, re.MULTILINE))
        found |= set(re.findall(r'return "(GRAPHQL_[A-Z_]+)"', text))
        for one in re.findall(r'return "([A-Z_]+)" if .* else "([A-Z_]+)"', text):
            found |= set(one)
    return found


def test_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)#:]+)[^)]*\)", PAGE):
        assert (GUIDE.parent / link).exists(), link
    anchors = {
        re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= anchors


@pytest.mark.parametrize(
    ("protocols", "message", "code"),
    [
        (["graphql-ws"], "{}", 4406),
        (None, "{}", 4406),
        (["graphql-transport-ws"], "x" * 70_000, 1009),
    ],
)
async def test_it_closes_with_the_codes_of_the_table(stack, protocols, message, code):
    address = stack.url.replace("http", "ws", 1) + "/graphql"
    async with asyncio.timeout(10), connect(address, subprotocols=protocols) as ws:
        with suppress(ConnectionClosed):
            await ws.send(message)
        with pytest.raises(ConnectionClosed) as closed:
            await ws.recv()

    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == code
    assert f"| {code} |" in PAGE
