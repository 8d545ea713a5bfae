"""The two ways of a move by REST: one answer, and the short one is taken."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from api.app import BodyLimit
from api.bootstrap import build
from api.rest.app import create_rest
from api.rest.quick import Quick
from api.settings import Settings
from tests.rest_client import RestClient

PLAIN = {"content-type": "application/json"}
FLIP = b'{"flip":false}'


REFUSED: list[tuple[str, bytes, dict[str, str], int]] = [
    ("show", b'{"first":0,"count":1}', {}, 409),
    ("show", b'{"first":0.0,"count":1}', {}, 409),
    ("scout", b'{"end":"LEFT","insertAt":0,"flip":true}', {}, 409),
    (
        "scout-and-show",
        b'{"scout":{"end":"LEFT","insertAt":0,"flip":true},"show":{"first":0,"count":1}}',
        {},
        409,
    ),
    ("hand", FLIP, {"if_match": '"77"'}, 412),
    ("hand", FLIP, {"if_match": 'W/"77"'}, 412),
    ("hand", FLIP, {"authorization": ""}, 401),
    ("hand", FLIP, {"authorization": "Bearer nobody"}, 401),
]
ODD: list[tuple[bytes, dict[str, str], int]] = [
    (b'{"flip":1}', {}, 422),
    (b'{"flip":false,"more":1}', {}, 422),
    (b'{"flip":NaN}', {}, 422),
    (b'{"flip":', {}, 422),
    (b"", {}, 422),
    (b"[" * 3000, {}, 422),
    (b"\xff", {}, 422),
    (FLIP, {"content_type": "text/plain"}, 415),
    (FLIP, {"idempotency_key": "k" * 131}, 422),
    (FLIP, {"idempotency_key": "a b"}, 422),
    (FLIP, {"idempotency_key": ""}, 422),
    (FLIP, {"if_match": '"01"'}, 422),
    (b"\xef\xbb\xbf" + FLIP, {}, 200),
    (FLIP, {"content_type": "application/json; charset=utf-8"}, 200),
    (FLIP.decode().encode("utf-16"), {}, 200),
]


@dataclass
class Ways:
    """One REST, asked by the short way and by FastAPI's alone; ``passed_on``: to FastAPI."""

    quick: RestClient
    usual: RestClient
    passed_on: list[str]
    routes: list[str]


@pytest.fixture
async def ways(redis_url: str) -> AsyncIterator[Ways]:
    parts = build(Settings(redis_url=redis_url, limit_creates=""))
    usual, passed_on, routes = create_rest(parts), list[str](), list[str]()

    async def noted(scope: Scope, receive: Receive, send: Send) -> None:
        passed_on.append(scope["path"])
        await usual(scope, receive, send)

    def client(inner: Any) -> RestClient:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await inner(scope, receive, send)
            routes.append(scope["route"].path)

        found = RestClient("http://rest")
        found.http = httpx.AsyncClient(
            transport=httpx.ASGITransport(BodyLimit(app)), base_url="http://rest"
        )
        return found

    try:
        async with client(Quick(noted, parts)) as quick, client(usual) as other:
            await quick.sign_in("Ann")
            other.http.headers.update(quick.http.headers)
            yield Ways(quick, other, passed_on, routes)
    finally:
        await parts.close()


def told(answer: httpx.Response) -> tuple[int, dict[str, str], bytes]:
    """All of an answer but how much is left, which the one before it has made less."""
    headers = {n: v for n, v in answer.headers.items() if n != "ratelimit"}
    headers["charged"] = str("ratelimit" in answer.headers)
    return answer.status_code, headers, answer.content


def left(answer: httpx.Response) -> int:
    """What is left of the bucket."""
    return int(answer.headers["ratelimit"].partition("r=")[2].partition(";")[0])


async def ask(client: RestClient, path: str, body: bytes, **headers: str) -> httpx.Response:
    sent = {**PLAIN, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return await client.http.post(f"/v1/matches/{path}", content=body, headers=sent)


async def opened(ways: Ways) -> str:
    match = await ways.quick.create({"kind": "PLAYER"}, {"kind": "BOT"}, {"kind": "BOT"})
    ways.passed_on.clear()
    return str(match["id"])


async def test_refusals_of_plain_moves_are_the_same(ways):
    match_id = await opened(ways)
    for verb, body, headers, status in REFUSED:
        quick = await ask(ways.quick, f"{match_id}/{verb}", body, **headers)
        assert ways.passed_on == [], (verb, body)
        usual = await ask(ways.usual, f"{match_id}/{verb}", body, **headers)

        assert quick.status_code == status, quick.text
        assert told(quick) == told(usual)
        assert ways.routes[-2:] == [f"/v1/matches/{{matchId}}/{verb}"] * 2


async def test_what_is_odd_is_left_to_fastapi_uncharged(ways):
    for body, headers, status in ODD:
        path = f"{await opened(ways)}/hand"

        answers = [await ask(ways.quick, path, body, **headers) for _ in range(2)]

        assert ways.passed_on == [f"/v1/matches/{path}"] * 2
        assert answers[0].status_code == status, answers[0].text
        if "ratelimit" in answers[0].headers:
            assert left(answers[0]) - left(answers[1]) == 1, body


async def test_a_plain_move_takes_the_short_way_and_is_answered_alike(ways):
    path, headers = f"{await opened(ways)}/hand", {"idempotency_key": '"once"', "if_match": "*"}

    quick = await ask(ways.quick, path, FLIP, **headers)
    assert ways.passed_on == []
    usual = await ask(ways.usual, path, FLIP, **{**headers, "idempotency_key": "once"})

    assert quick.status_code == 200
    assert told(quick) == told(usual)
    assert json.loads(quick.content)["version"] == int(quick.headers["etag"].strip('"'))


async def test_a_failure_is_told_without_its_text(ways, monkeypatch, caplog):
    match_id = await opened(ways)

    async def fail(*_: Any) -> None:
        raise RuntimeError("3/10")

    monkeypatch.setattr("api.requests.move", fail)
    answers = [await ask(each, f"{match_id}/hand", FLIP) for each in (ways.quick, ways.usual)]

    assert told(answers[0]) == told(answers[1])
    assert answers[0].status_code == 500
    assert "3/10" not in caplog.text + answers[0].text
    assert match_id not in caplog.text
