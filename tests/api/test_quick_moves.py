"""The two ways of a move by GraphQL: one answer, and the short one is taken."""

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx
import pytest
from graphql import GraphQLError
from starlette.requests import Request
from starlette.responses import Response
from strawberry.types.arguments import convert_argument
from strawberry.types.base import get_object_definition

from api.bootstrap import Parts, build
from api.errors import Unavailable
from api.graphql import schema as under_test
from api.graphql.context import Context
from api.graphql.gate import Gate
from api.graphql.quick import moved
from api.graphql.view import GraphQLView
from api.observe.work import Work, working
from api.settings import Settings
from schema.inputs import (
    ChooseHandInput,
    MoveMeta,
    ScoutAndShowInput,
    ScoutInput,
    ShowInput,
)

WHOLE = """mutation Move($input: %sInput!, $yes: Boolean = true) { moved: %s(input: $input) {
  userErrors { __typename code message path currentVersion } clientMutationId
  match @include(if: $yes) { ...Told } } }
fragment Told on Match { id version hash seats { number name } you { hand { top bottom } } }"""
HAND = WHOLE % ("ChooseHand", "chooseHand")
LITERAL = 'mutation { chooseHand(input: {matchId: "m0-x", flip: true}) { userErrors { code } } }'
ADDRESSES = count(1)
HAND_OF = {"input": {"matchId": "m0-x", "flip": False}}


@dataclass
class Ways:
    """One schema, asked by the short way and by the library's alone; ``taken``: the short one."""

    parts: Parts
    authorization: str
    patch: pytest.MonkeyPatch
    taken: list[bool] = field(default_factory=list)
    address: str = field(default_factory=lambda: f"10.0.0.{next(ADDRESSES)}")  # each has its limits

    def context(self, **changed: Any) -> Context:
        parts = self.parts
        given: dict[str, Any] = {
            "service": parts.service,
            "series": parts.series,
            "lobby": parts.lobby,
            "identity": parts.identity,
            "operators": parts.operators,
            "authorization": self.authorization,
            "streams": parts.streams,
            "gate": Gate(parts.limiter, parts.settings.cost_limit, introspection=False),
            "address": self.address,
            "answer": Response(),
            **changed,
        }
        return Context(**given)

    async def ask(
        self, query: str, variables: Any = None, name: str | None = None, **changed: Any
    ) -> tuple[Any, ...]:
        """The answer by HTTP and by WebSocket, with headers; how much is left is left out.

        With what observers are told of the operation.
        """
        work = Work("graphql")
        with working(work):
            headers, answers = await self._asked(query, variables, name, **changed)
        return headers, answers, (work.kind, work.name, work.code())

    async def _asked(
        self, query: str, variables: Any, name: str | None, **changed: Any
    ) -> tuple[dict[str, str], list[Any]]:
        context = self.context(**changed)
        answer = await under_test.schema.execute(query, variables, context, None, name)
        answers: list[Any] = [answer]
        socket = self.context(**{**changed, "answer": None})
        source = await under_test.schema.stream(query, variables, socket, None, name)
        answers += [result async for result in source]
        assert context.answer is not None
        headers = {n: v for n, v in context.answer.headers.items() if n != "ratelimit"}
        return headers, [told(answer) for answer in answers]

    async def both(self, *asked: Any, **changed: Any) -> tuple[Any, ...]:
        """The same answer by both ways."""
        await self.ask(*asked, **changed)  # known from now on
        self.taken.clear()
        quick = await self.ask(*asked, **changed)
        with self.patch.context() as patch:
            patch.setattr(under_test, "moved", nothing)
            usual = await self.ask(*asked, **changed)
        assert quick == usual
        return quick


def told(result: Any) -> tuple[Any, ...]:
    extensions = dict(result.extensions or {})
    left = {n: v for n, v in extensions.pop("rateLimit", {}).items() if n in ("bucket", "limit")}
    errors = [error.formatted for error in result.errors or []]
    for error in errors:
        error.get("extensions", {}).pop("retryAfter", None)
    return type(result).__name__, result.data, errors, extensions, left


async def nothing(*_: Any) -> None:
    return None


@pytest.fixture
async def ways(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Ways]:
    parts = build(Settings(redis_url=redis_url, limit_creates="", limit_plays="60/minute"))
    try:
        made = await parts.identity.sign_in("Ann", None)
        found = Ways(parts, f"Bearer {made.token}", monkeypatch)

        async def noted(*asked: Any) -> Any:
            result = await moved(*asked)
            found.taken.append(result is not None)
            return result

        monkeypatch.setattr(under_test, "moved", noted)
        yield found
    finally:
        await parts.close()


async def opened(ways: Ways) -> str:
    query = """mutation { createMatch(input: {seats: [{kind: PLAYER}, {kind: BOT}]}) {
      match { id } } }"""
    result = await under_test.schema.execute(query, None, ways.context())
    assert result.data is not None
    return str(result.data["createMatch"]["match"]["id"])


async def test_a_move_is_answered_alike(ways):
    match_id = await opened(ways)
    meta = {"idempotencyKey": "once"}
    asked = {"input": {"matchId": match_id, "flip": False, "meta": meta}}

    _, answers, _ = await ways.both(HAND, asked)

    assert ways.taken == [True, True]
    for kind, data, errors, extensions, left in answers:
        assert (kind, errors, left["bucket"]) == ("ExecutionResult", [], "plays")
        assert data["moved"]["match"]["id"] == match_id
        assert extensions["cost"]["operation"] > 0
    _, answers, observed = await ways.both(HAND, {**asked, "yes": False}, "Move")
    assert observed == ("mutation", "Move", "OK")
    assert ways.taken == [True, True]
    assert "match" not in answers[0][1]["moved"]


@pytest.mark.parametrize(
    ("name", "type_", "given"),
    [
        ("show", "Show", {"first": 0, "count": 1}),
        ("scout", "Scout", {"end": "LEFT", "insertAt": 0, "flip": True}),
        (
            "scoutAndShow",
            "ScoutAndShow",
            {
                "scout": {"end": "RIGHT", "insertAt": 1, "flip": False},
                "show": {"first": 0, "count": 1},
                "meta": {"expectedVersion": 9},
            },
        ),
    ],
)
async def test_refusals_are_alike(ways, name, type_, given):
    asked = {"input": {"matchId": await opened(ways), **given}}

    _, answers, _ = await ways.both(WHOLE % (type_, name), asked)

    assert ways.taken == [True, True]
    assert [answer[2] for answer in answers] == [[], []]
    assert [len(answer[1]["moved"]["userErrors"]) for answer in answers] == [1, 1]
    assert (await ways.both(LITERAL))[1][0][1]["chooseHand"]["userErrors"] == [
        {"code": "NOT_FOUND"}
    ]
    assert ways.taken == [True, True]


@pytest.mark.parametrize("authorization", [None, "Bearer nobody"])
async def test_who_is_not_signed_in_is_told_so(ways, authorization):
    _, answers, _ = await ways.both(HAND, HAND_OF, authorization=authorization)

    assert ways.taken == [True, True]
    for kind, data, errors, *_ in answers:
        assert (kind, data) == ("ExecutionResult", None)
        assert errors[0]["extensions"]["code"] == "UNAUTHENTICATED"
        assert errors[0]["path"] == ["moved"]


async def test_who_has_nothing_left_is_told_so(ways):
    for _ in range(61):
        await ways.ask(HAND, HAND_OF)

    headers, answers, _ = await ways.both(HAND, HAND_OF)

    assert ways.taken == [True, True]
    assert "retry-after" in headers
    assert [answer[0] for answer in answers] == ["PreExecutionError"] * 2
    assert answers[0][2][0]["extensions"]["code"] == "RATE_LIMITED"


@pytest.mark.parametrize("error", [Unavailable("down"), RuntimeError("3/10"), GraphQLError("3/10")])
async def test_failures_are_alike(ways, caplog, monkeypatch, error):
    async def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr("api.requests.move", fail)

    _, answers, _ = await ways.both(HAND, HAND_OF)

    assert ways.taken == [True, True]
    assert [answer[1] for answer in answers] == [None, None]
    assert "3/10" not in caplog.text


class Short(GraphQLView):
    """Notes whether it has answered by its short way."""

    taken = False

    async def _moved(self, request: Request) -> Response | None:
        answer = await super()._moved(request)
        self.taken = answer is not None
        return answer


class Usual(GraphQLView):
    """The view without its short way."""

    async def _moved(self, _: Request) -> None:
        return None


BODIES: list[tuple[Any, bool]] = [
    ({"query": HAND, "variables": HAND_OF}, True),
    ({"query": HAND, "variables": HAND_OF, "operationName": "Move", "extensions": {}}, True),
    ({"query": HAND, "variables": HAND_OF, "operationName": 1}, False),
    ({"query": HAND, "variables": HAND_OF, "extensions": 1}, False),
    ({"query": HAND, "variables": [HAND_OF]}, False),
    ({"query": HAND, "variables": {"input": {"matchId": "m", "flip": 1}}}, False),
    ({"query": [HAND], "variables": HAND_OF}, False),
    ([{"query": HAND, "variables": HAND_OF}], False),
    ({"variables": HAND_OF}, False),
    ({"documentId": "sha256:unknown"}, False),
    (b"{", False),
    (b'{"query": "\\ud800"}', False),
]


@pytest.mark.parametrize(
    ("accept", "short"),
    [
        ("application/json", True),
        ("application/graphql-response+json", True),
        ("*/*", True),
        ("text/event-stream", False),
        ("application/json, text/event-stream", False),
        ("Text/Event-Stream", False),
    ],
)
@pytest.mark.parametrize(("body", "plain"), BODIES)
async def test_http_has_one_answer_by_both_ways(ways, body, plain, accept, short):
    headers = {"authorization": ways.authorization, "accept": accept}

    async def asked(view: GraphQLView) -> tuple[Any, ...]:
        transport = httpx.ASGITransport(view)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            content = body if isinstance(body, bytes) else json.dumps(body)
            answer = await client.post(
                "/graphql",
                content=content,
                headers={**headers, "content-type": "application/json"},
            )
        names = set(answer.headers) - {"content-length"}
        kinds = {name: answer.headers[name] for name in names if name != "ratelimit"}
        return answer.status_code, kinds, re.sub(r'"(remaining|resetAfter)":\d+', "", answer.text)

    usual = await asked(Usual(ways.parts))  # the document is known from now on
    view = Short(ways.parts)
    assert await asked(view) == usual
    assert view.taken == (plain and short)


ODD: list[tuple[str, Any, str | None]] = [
    (HAND, {"input": {"matchId": "m", "flip": 1}}, None),
    (HAND, {"input": {"matchId": "m"}}, None),
    (HAND, None, None),
    (HAND, HAND_OF, "Other"),
    (HAND, HAND_OF, ""),
    (HAND + " query Other { __typename }", HAND_OF, "Move"),
    (HAND + " query Other { __typename }", HAND_OF, None),
    (LITERAL.replace("mutation {", "mutation { __typename "), None, None),
    (LITERAL.replace("mutation {", "mutation { ... {").replace("} }", "} } }"), None, None),
    (LITERAL.replace("code", "kode"), None, None),
    ('mutation { leaveMatch(matchId: "m") { userErrors { code } } }', None, None),
    ("query { __typename }", None, None),
    ("{", None, None),
]


@pytest.mark.parametrize(("query", "variables", "name"), ODD)
async def test_anything_else_is_left_to_the_library(ways, query, variables, name):
    async def asked(way: Callable[..., Awaitable[Any]]) -> Any:
        try:
            return await way(query, variables, name)
        except Exception as error:  # noqa: BLE001 - as the view is told
            return type(error), str(error)

    assert await asked(ways.both) is not None
    assert not any(ways.taken)


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (ChooseHandInput, {"matchId": "m", "flip": True}),
        (ChooseHandInput, {"matchId": "m", "flip": True, "meta": None}),
        (ShowInput, {"matchId": "m", "first": 1, "count": 2, "meta": {}}),
        (ShowInput, {"matchId": "m", "first": 1, "count": 2, "meta": {"expectedVersion": 3}}),
        (ScoutInput, {"matchId": "m", "end": "LEFT", "insertAt": 0, "flip": False}),
        (
            ScoutAndShowInput,
            {
                "matchId": "m",
                "scout": {"end": "LEFT", "insertAt": 0, "flip": False},
                "show": {"first": 1, "count": 2},
                "meta": {"idempotencyKey": None, "expectedVersion": 3},
            },
        ),
    ],
)
def test_an_input_is_what_the_library_makes_of_it(monkeypatch, type_, value):
    converter = under_test.schema.schema_converter

    def made() -> Any:
        return convert_argument(value, type_, converter.scalar_registry, converter.config)

    quick = made()
    monkeypatch.setattr(get_object_definition(type_, strict=True), "from_input", None)
    assert made() == quick
    assert type(quick) is type_
    assert quick.meta is None or type(quick.meta) is MoveMeta
