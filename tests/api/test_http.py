"""GraphQL over HTTP to the letter, and the rules for browsers, against the real stack."""

import asyncio
import json
from hashlib import sha256

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from api.graphql.schema import schema
from api.graphql.trusted import Trusted, Untrusted, read_trusted
from tests.client import Client, messages, subscribe
from tests.conftest import start_stack

JSON, GRAPHQL_JSON = "application/json", "application/graphql-response+json"
QUERY = {"query": "{ __typename }"}
PAGE = "https://game.example"
OPERATION = "TOO_MANY_OPERATIONS"
NAME = "{ own: __typename }"


async def ask(stack, body: object, *, method: str = "POST", **headers: str):
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    async with Client(stack.url) as nobody:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await nobody.http.request(
            method, "/graphql", content=content, headers={"content-type": JSON, **names}
        )


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (GRAPHQL_JSON, GRAPHQL_JSON),
        (JSON, JSON),
        ("*/*", JSON),
        ("application/*", JSON),
        (f"{GRAPHQL_JSON}, {JSON};q=0.9", GRAPHQL_JSON),
        (f"{GRAPHQL_JSON};q=0.5, {JSON}", JSON),
        (f"{JSON}; charset=utf-8, {GRAPHQL_JSON}; charset=utf-8", GRAPHQL_JSON),
        ("text/html, */*;q=0.1", JSON),
    ],
)
async def test_the_answer_is_of_the_type_asked_for(stack, accept, media_type):
    answer = await ask(stack, QUERY, accept=accept)

    assert answer.status_code == 200
    assert answer.headers["content-type"] == f"{media_type}; charset=utf-8"
    assert answer.json()["data"] == {"__typename": "Query"}


@pytest.mark.parametrize("accept", ["text/html", "image/png", f"{JSON};q=0", "application/xml"])
async def test_who_takes_no_answer_of_ours_is_told(stack, accept):
    answer = await ask(stack, QUERY, accept=accept)

    assert answer.status_code == 406
    assert answer.json()["errors"][0]["extensions"]["code"] == "BAD_REQUEST"


@pytest.mark.parametrize(
    "query",
    [
        "{",
        "{ nothing }",
        "query A { __typename } query B { __typename }",
        "{" + " a: __typename" * 65 + "}",
        "query ($f: Int!) { matches(first: $f) { edges { cursor } } }",
    ],
)
async def test_what_is_not_carried_out_has_no_data_and_a_status(stack, query):
    new = await ask(stack, {"query": query}, accept=GRAPHQL_JSON)
    old = await ask(stack, {"query": query}, accept=JSON)

    assert (new.status_code, old.status_code) == (400, 200)
    for answer in (new, old):
        assert "data" not in answer.json()
        assert answer.json()["errors"][0]["extensions"]["code"] != "INTERNAL"


async def test_what_fails_while_it_is_carried_out_has_data(stack):
    query = "{ __typename matches(first: 101) { edges { cursor } } }"

    answer = await ask(stack, {"query": query}, accept=GRAPHQL_JSON)

    assert answer.status_code == 200
    assert answer.json()["data"] is None


@pytest.mark.parametrize(
    "content_type",
    [
        *("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"),
        *("", "application/json; charset=utf-16", "application/graphql"),
    ],
)
async def test_a_body_of_another_type_is_not_read(stack, content_type):
    answer = await ask(stack, b'{"query": "{ __typename }"}', content_type=content_type)

    assert answer.status_code == 415
    assert answer.json()["errors"][0]["extensions"]["code"] == "BAD_REQUEST"


@pytest.mark.parametrize("member", ["variables", "extensions", "operationName", "query"])
@pytest.mark.parametrize("value", [1, "x", True, [], [1]])
async def test_members_of_a_wrong_type_are_refused(stack, member, value):
    if isinstance(value, str) and member in ("operationName", "query"):
        return
    answer = await ask(stack, {**QUERY, member: value}, accept=GRAPHQL_JSON)

    assert answer.status_code == 400
    assert "errors" in answer.json()


async def test_batches_are_refused(stack):
    answer = await ask(stack, [QUERY] * 10)

    assert answer.status_code == 400
    assert "errors" in answer.json()


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "HEAD"])
async def test_no_other_method_runs_an_operation(stack, method):
    async with Client(stack.url) as nobody:
        answer = await nobody.http.request(
            method, "/graphql", params={"query": 'mutation { signInAsGuest(name: "x") { token } }'}
        )

    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST, OPTIONS"


async def test_every_answer_has_the_headers_that_browsers_heed(stack):
    async with Client(stack.url) as nobody:
        answers = [
            await nobody.http.post("/graphql", json=QUERY),
            await nobody.http.post("/graphql", content=b"x" * 100_000),
            await nobody.http.get("/healthz"),
            await nobody.http.get("/nowhere"),
        ]

    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        policy = answer.headers["content-security-policy"]
        assert policy == "default-src 'none'; frame-ancestors 'none'"
        assert answer.headers["cache-control"] == "no-store"
        assert "set-cookie" not in answer.headers


async def test_graphiql_has_a_policy_of_its_own_and_no_frame(stack):
    async with Client(stack.url) as nobody:
        page = await nobody.http.get("/graphql", headers={"accept": "text/html"})

    policy = page.headers["content-security-policy"]
    assert "script-src" in policy
    assert "frame-ancestors 'none'" in policy


async def test_a_page_on_another_port_may_call_out_of_the_box(stack):
    preflight = await ask(
        stack,
        b"",
        method="OPTIONS",
        origin="http://localhost:5173",
        access_control_request_method="POST",
        access_control_request_headers="authorization,content-type,idempotency-key",
    )
    answer = await ask(stack, QUERY, origin="http://localhost:5173")

    assert preflight.status_code == 200
    allowed = preflight.headers["access-control-allow-headers"].lower()
    assert {"authorization", "content-type", "if-match"} <= set(allowed.split(", "))
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "ratelimit" in answer.headers["access-control-expose-headers"].lower()
    assert "access-control-allow-credentials" not in answer.headers


@pytest.fixture(scope="module")
def closed(tmp_path_factory):
    """A stack as it is run for one front end."""
    folder = tmp_path_factory.mktemp("closed")
    (folder / "documents.json").write_text(json.dumps(TRUSTED))
    running = start_stack(
        folder,
        RINGMASTER_DOCUMENTS=str(folder / "documents.json"),
        RINGMASTER_ORIGINS=PAGE,
        RINGMASTER_DEVELOPMENT="false",
        RINGMASTER_INTROSPECTION="false",
        RINGMASTER_TRUSTED_PROXIES="127.0.0.1",
        RINGMASTER_LIMIT_CREATES="1/minute",
        RINGMASTER_LIMIT_ADDRESS_FACTOR="2",
    )
    yield running
    running.abandon()


async def test_only_the_pages_named_may_call(closed):
    ours = await ask(closed, QUERY, origin=PAGE)
    theirs = await ask(closed, QUERY, origin="https://evil.example")
    preflight = await ask(
        closed,
        b"",
        method="OPTIONS",
        origin="https://evil.example",
        access_control_request_method="POST",
    )

    assert ours.headers["access-control-allow-origin"] == PAGE
    assert "access-control-allow-origin" not in theirs.headers
    assert "access-control-allow-origin" not in preflight.headers


@pytest.mark.parametrize(
    ("origin", "admitted"),
    [(PAGE, True), (None, True), ("https://evil.example", False), ("null", False)],
)
async def test_a_socket_from_another_page_is_refused_before_it_opens(closed, origin, admitted):
    url = closed.url.replace("http", "ws", 1) + "/graphql"
    connecting = connect(url, origin=origin, subprotocols=[Subprotocol("graphql-transport-ws")])
    if not admitted:
        with pytest.raises(InvalidStatus) as refusal:
            await connecting
        assert refusal.value.response.status_code == 403
        return
    async with connecting as ws:
        await ws.send('{"type": "connection_init"}')
        assert json.loads(await ws.recv())["type"] == "connection_ack"


async def test_without_introspection_and_development_neither_is_served(closed):
    asked = await ask(closed, {"query": "{ __schema { types { name } } }"})
    by_type = await ask(closed, {"query": '{ __type(name: "Match") { name } }'})
    name = await ask(closed, QUERY)
    guess = await ask(closed, {"query": "{ matchs { id } }"})
    async with Client(closed.url) as nobody:
        page = await nobody.http.get("/graphql", headers={"accept": "text/html"})

    for answer in (asked, by_type):
        assert answer.json()["errors"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"
    assert name.json()["data"] == {"__typename": "Query"}
    assert "Did you mean" not in guess.text
    assert page.status_code == 405


ID = sha256(NAME.encode()).hexdigest()
TRUSTED = {ID: NAME}
NAMED = [
    {"documentId": f"sha256:{ID}"},
    {"documentId": ID, "query": ""},
    {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": ID}}},
]
UNKNOWN = [{"documentId": "00" * 32}, {"extensions": {"persistedQuery": {"sha256Hash": "x"}}}]


@pytest.mark.parametrize("asked", NAMED)
async def test_a_trusted_document_is_known_by_its_hash(closed, asked):
    answer = await ask(closed, asked)
    async with Client(closed.url) as nobody, nobody.socket() as ws:
        await ws.send(json.dumps({"id": "1", "type": "subscribe", "payload": asked}))
        told = json.loads(await ws.recv())

    assert answer.json()["data"] == {"own": "Query"}
    assert told["type"] == "next"
    assert told["payload"]["data"] == {"own": "Query"}


@pytest.mark.parametrize("asked", UNKNOWN)
async def test_another_hash_is_not_found(closed, asked):
    answer = await ask(closed, asked)
    async with Client(closed.url) as nobody, nobody.socket() as ws:
        await ws.send(json.dumps({"id": "1", "type": "subscribe", "payload": asked}))
        told = json.loads(await ws.recv())

    assert answer.status_code == 400
    (error,) = answer.json()["errors"]
    assert error["extensions"] == {"code": "PERSISTED_QUERY_NOT_FOUND"}
    assert told["type"] == "error"
    assert told["payload"][0]["extensions"] == error["extensions"]


def test_where_only_trusted_documents_are_carried_out_no_other_is():
    trusted = Trusted(TRUSTED, only=True)
    for asked in ({"documentId": ID}, {"query": NAME}):
        trusted.fill(asked)
        assert asked["query"] == NAME

    with pytest.raises(Untrusted) as refused:
        trusted.fill({"query": NAME + " "})

    assert refused.value.code == "DOCUMENT_NOT_TRUSTED"


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ({"00": NAME}, "00 is not the SHA-256 of its document"),
        ({sha256(b"{ nothing }").hexdigest(): "{ nothing }"}, "Cannot query field 'nothing'"),
        ([NAME], "RINGMASTER_DOCUMENTS"),
    ],
)
def test_a_manifest_that_does_not_fit_is_said_at_the_start(tmp_path, manifest, said):
    (tmp_path / "documents.json").write_text(json.dumps(manifest))

    with pytest.raises(SystemExit, match=said):
        read_trusted(str(tmp_path / "documents.json"), schema._schema, only=False)


async def test_behind_a_proxy_that_is_trusted_clients_are_told_apart(closed):
    sign_in = {"query": 'mutation { signInAsGuest(name: "Ann") { token } }'}
    codes = []
    for address in ("192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"):
        answer = await ask(closed, sign_in, x_forwarded_for=address)
        codes.append(answer.status_code)

    assert codes == [200, 200, 429, 200]


async def test_operations_on_one_socket_are_bounded(client):
    match = await client.create({"kind": "PLAYER"}, {"kind": "OPEN"})
    async with client.socket() as ws:
        for number in range(101):
            await subscribe(ws, str(number), match["id"])
        async with asyncio.timeout(20):
            async for message in messages(ws):
                if message["id"] == "100":
                    break

    assert message["type"] == "error"
    assert message["payload"][0]["extensions"]["code"] == OPERATION
