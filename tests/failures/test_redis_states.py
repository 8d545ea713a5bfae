"""The bad states of Redis, and what each operation of both transports answers in them.

Down, frozen, refusing writes (READONLY, NOREPLICAS, OOM): docs/durability.md states what is
answered, and that all is well again by itself.
"""

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

import pytest
import uvicorn

from api.app import create_app
from api.cli.embedded import free_port
from api.graphql.schema import schema
from api.settings import Settings
from tests.client import Client, messages, subscribe
from tests.redises import Node, in_step, replicated, until

# Who gives up while a connection to Redis is being opened leaves it to the collector, now and then.
pytestmark = pytest.mark.filterwarnings(
    r"ignore:Exception ignored in. <function StreamWriter:pytest.PytestUnraisableExceptionWarning"
)
PATIENCE_SECONDS = 2.0  # in place of api.patience.ANSWER_SECONDS, to have done sooner
BOUND = PATIENCE_SECONDS + 15  # a busy machine computes as well
SEATS = [{"kind": "PLAYER"}, {"kind": "OPEN"}]


@asynccontextmanager
async def serving(url: str, **more: Any) -> AsyncIterator[str]:
    """The API in this process, on a socket of its own."""
    port = free_port()
    app = create_app(Settings(redis_url=url, **more))
    config = uvicorn.Config(app, port=port, log_config=None, timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    await holds(lambda: server.started)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    await running


async def holds(condition: Callable[[], bool]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)


@dataclass
class Bed:
    """A server with a replica, the API on it, a player, and what the player has."""

    primary: Node
    replica: Node
    api: str
    ann: Client
    match_id: str
    series_id: str
    token_id: str

    async def ready(self) -> tuple[int, dict[str, str]]:
        answer = await self.ann.http.get("/readyz")
        return answer.status_code, answer.json()

    async def ready_says(self, status: int, told: str) -> dict[str, str]:
        """What /readyz says, once it says that."""
        async with asyncio.timeout(20):
            while True:
                found = await self.ready()
                if (found[0], found[1]["status"]) == (status, told):
                    return found[1]
                await asyncio.sleep(0.1)

    def set(self, **config: object) -> None:
        with self.primary.client() as client:
            for name, value in config.items():
                client.config_set(name.replace("_", "-"), value)


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    monkeypatch.setattr("api.patience.ANSWER_SECONDS", PATIENCE_SECONDS)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory) -> Iterator[list[Node]]:
    with replicated(tmp_path_factory.mktemp("states")) as pair:
        yield pair


@pytest.fixture
async def bed(nodes) -> AsyncIterator[Bed]:
    async with serving(nodes[0].url) as url, Client(url) as ann:
        await ann.sign_in("Ann")
        match = await ann.create(*SEATS, visibility="PUBLIC")
        made = await ann.data(
            """mutation { createSeries(input: {seats: ["casual", "casual"], matches: 1})
            { series { id } }
            createToken(input: {name: "t", scopes: [SPECTATE]}) { accessToken { id } } }"""
        )
        bed = Bed(
            nodes[0],
            nodes[1],
            url,
            ann,
            match["id"],
            made["createSeries"]["series"]["id"],
            made["createToken"]["accessToken"]["id"],
        )
        await bed.ready_says(200, "ready")
        yield bed


# Every operation of GraphQL, with {m}, {s} and {t} for the match, the series and the token.
READS = {
    "node": 'node(id: "{m}") {{ id }}',
    "match": 'match(id: "{m}") {{ id }}',
    "matches": "matches(first: 2) {{ edges {{ node {{ id }} }} }}",
    "replay": 'replay(matchId: "{m}")',
    "series": 'series(id: "{s}") {{ id }}',
    "seriesReplay": 'seriesReplay(seriesId: "{s}", number: 1)',
    "advice": 'advice(matchId: "{m}", level: "strong") {{ userErrors {{ code }} }}',
    "tokens": "tokens {{ id }}",
    "botLevels": "botLevels {{ name faults }}",
}
PAYLOAD = "{{ userErrors {{ code }} }}"
MOVE = 'matchId: "{m}", meta: {{idempotencyKey: "a-key"}}'
WRITES = {
    "signInAsGuest": 'signInAsGuest(name: "Bob") ' + PAYLOAD,
    "createToken": 'createToken(input: {{name: "u", scopes: [SPECTATE]}}) ' + PAYLOAD,
    "revokeToken": 'revokeToken(tokenId: "{t}") ' + PAYLOAD,
    "createMatch": "createMatch(input: {{seats: [{{kind: PLAYER}}, {{kind: OPEN}}]}}) " + PAYLOAD,
    "joinMatch": f'joinMatch(input: {{{{{MOVE}, name: "Ann"}}}}) ' + PAYLOAD,
    "leaveMatch": 'leaveMatch(matchId: "{m}", meta: {{idempotencyKey: "l"}}) ' + PAYLOAD,
    "returnToMatch": 'returnToMatch(matchId: "{m}", meta: {{idempotencyKey: "r"}}) ' + PAYLOAD,
    "startMatch": 'startMatch(matchId: "{m}", meta: {{idempotencyKey: "s"}}) ' + PAYLOAD,
    "chooseHand": f"chooseHand(input: {{{{{MOVE}, flip: true}}}}) " + PAYLOAD,
    "show": f"show(input: {{{{{MOVE}, first: 0, count: 1}}}}) " + PAYLOAD,
    "scout": f"scout(input: {{{{{MOVE}, end: LEFT, insertAt: 0, flip: false}}}}) " + PAYLOAD,
    "scoutAndShow": (
        f"scoutAndShow(input: {{{{{MOVE}, scout: {{{{end: LEFT, insertAt: 0, flip: false}}}},"
        " show: {{first: 0, count: 1}}}}) "
    )
    + PAYLOAD,
    "createSeries": 'createSeries(input: {{seats: ["casual", "casual"], matches: 1}}) ' + PAYLOAD,
    "cancelSeries": 'cancelSeries(seriesId: "{s}") ' + PAYLOAD,
}
OF_OPERATORS = {  # refused by the scope of the token before Redis is asked
    *("cancelMatch", "sendDue", "drainProcess", "revokeTokens"),
    *("stuckMatches", "inspectMatch", "processes", "operatorActs"),
}
REST_READS = [
    "/tokens",
    "/bot-levels",
    "/matches?first=2",
    "/matches/{m}",
    "/matches/{m}/updates",
    "/series/{s}",
    "/series/{s}/matches",
    "/series/{s}/updates",
]
REST_WRITES: dict[str, Any] = {
    "/guests": {"name": "Bob"},
    "/tokens": {"name": "u", "scopes": ["SPECTATE"]},
    "/matches": {"seats": SEATS},
    "/matches/{m}/join": {"name": "Ann"},
    "/matches/{m}/leave": None,
    "/matches/{m}/start": None,
    "/matches/{m}/return": None,
    "/matches/{m}/hand": {"flip": True},
    "/matches/{m}/show": {"first": 0, "count": 1},
    "/matches/{m}/scout": {"end": "LEFT", "insertAt": 0, "flip": False},
    "/matches/{m}/scout-and-show": {
        "scout": {"end": "LEFT", "insertAt": 0, "flip": False},
        "show": {"first": 0, "count": 1},
    },
    "/series": {"seats": ["casual", "casual"], "matches": 1},
    "/series/{s}/cancel": None,
}


def test_every_operation_is_asked_for():
    asked = {"Query": READS, "Mutation": WRITES}
    for type_, operations in asked.items():
        found: Any = schema._schema.type_map[type_]
        assert set(operations) | OF_OPERATORS == set(found.fields) | OF_OPERATORS


def filled(text: str, bed: Bed) -> str:
    return text.format(m=bed.match_id, s=bed.series_id, t=bed.token_id)


async def by_graphql(bed: Bed, kind: str, text: str) -> tuple[str | None, bool]:
    """The code with which an operation is refused as a whole, and whether a retry is named."""
    query = f"{kind} {{ {filled(text, bed)} }}"
    headers = {"authorization": f"Bearer {bed.ann.token}"}
    answer = await bed.ann.http.post("/graphql", json={"query": query}, headers=headers)
    errors = answer.json().get("errors")
    if not errors:
        return None, False
    extensions = errors[0]["extensions"]
    return extensions["code"], extensions.get("retryAfter", 0) > 0


async def by_rest(bed: Bed, method: str, path: str, body: Any = None) -> tuple[str | None, bool]:
    headers = {"authorization": f"Bearer {bed.ann.token}", "idempotency-key": "k" * 40}
    answer = await bed.ann.http.request(
        method, f"/v1{filled(path, bed)}", json=body, headers=headers
    )
    if answer.status_code != 503:
        return None, False
    assert answer.headers["content-type"].startswith("application/problem+json")
    return answer.json()["code"], int(answer.headers["retry-after"]) > 0


Asked = Mapping[str, Awaitable[tuple[str | None, bool]]]


def reading(bed: Bed) -> Asked:
    asked = {name: by_graphql(bed, "query", text) for name, text in READS.items()}
    return {**asked, **{f"GET {path}": by_rest(bed, "GET", path) for path in REST_READS}}


def writing(bed: Bed) -> Asked:
    asked = {name: by_graphql(bed, "mutation", text) for name, text in WRITES.items()}
    rest = {f"POST {path}": by_rest(bed, "POST", path, b) for path, b in REST_WRITES.items()}
    return {**asked, **rest, "DELETE": by_rest(bed, "DELETE", "/tokens/{t}")}


async def one_by_one(expected: tuple[str | None, bool], asked: Asked) -> dict[str, Any]:
    """What is answered otherwise, each asked when the one before was answered."""
    found = {name: await answer for name, answer in asked.items()}
    return {name: answer for name, answer in found.items() if answer != expected}


async def other_than(expected: tuple[str | None, bool], asked: Asked) -> dict[str, Any]:
    """What is answered otherwise, all asked at once and answered in time."""
    began = time.monotonic()
    found = await asyncio.gather(*asked.values())
    assert time.monotonic() - began < BOUND
    answers = zip(asked, found, strict=True)
    return {name: answer for name, answer in answers if answer != expected}


UNAVAILABLE = ("UNAVAILABLE", True)
FINE = (None, False)


def refuse_as_replica(bed: Bed) -> None:
    until(lambda: in_step(bed.primary))
    with bed.replica.client() as other, bed.primary.client() as client:
        other.replicaof("NO", "ONE")
        client.replicaof("127.0.0.1", bed.replica.port)
        until(lambda: client.info("replication")["master_link_status"] == "up")


def refuse_no_longer(bed: Bed) -> None:
    with bed.replica.client() as other, bed.primary.client() as client:
        client.replicaof("NO", "ONE")
        other.replicaof("127.0.0.1", bed.primary.port)


REFUSALS: dict[str, tuple[Callable[[Bed], None], Callable[[Bed], None]]] = {
    "READONLY": (refuse_as_replica, refuse_no_longer),
    "NOREPLICAS": (
        lambda bed: bed.set(min_replicas_to_write=5),
        lambda bed: bed.set(min_replicas_to_write=0),
    ),
    "OOM": (lambda bed: bed.set(maxmemory=1), lambda bed: bed.set(maxmemory=0)),
}


@pytest.mark.parametrize("code", REFUSALS)
async def test_a_redis_that_refuses_writes_is_read(bed, code):
    refuse, allow = REFUSALS[code]
    await asyncio.to_thread(refuse, bed)
    try:
        assert await bed.ready_says(200, "read-only") == {"status": "read-only", "reason": code}
        read = await one_by_one(FINE, reading(bed))
        written = await one_by_one(UNAVAILABLE, writing(bed))
        async with Client(bed.api) as new:  # nothing of whom is known to this process
            new.token = bed.ann.token
            streamed = await first_update(new, bed.match_id)
    finally:
        await asyncio.to_thread(allow, bed)

    assert (read, written) == ({}, {})
    assert streamed["match"]["id"] == bed.match_id
    await bed.ready_says(200, "ready")
    assert await by_graphql(bed, "mutation", WRITES["startMatch"]) == FINE


async def first_update(client: Client, match_id: str) -> dict[str, Any]:
    async with asyncio.timeout(10), aclosing(client.updates(match_id)) as updates:
        return await anext(updates)


async def nothing_is_answered(bed: Bed) -> None:
    """All are told in time that Redis is not to be had, by whatever they ask."""
    told = await bed.ready()
    assert (told[0], told[1]["status"]) == (503, "redis unreachable")
    assert await other_than(UNAVAILABLE, {**reading(bed), **writing(bed)}) == {}
    async with bed.ann.socket() as ws:
        await subscribe(ws, "1", bed.match_id)
        async with asyncio.timeout(BOUND):
            message = await anext(messages(ws))
    assert message["payload"][0]["extensions"]["code"] == "UNAVAILABLE"


async def test_a_redis_that_is_down_is_told_and_found_again(bed):
    await asyncio.to_thread(bed.primary.kill)
    try:
        await nothing_is_answered(bed)
    finally:
        await asyncio.to_thread(bed.primary.start)
    # Nothing was on disk, so the match is gone; who follows the API's word finds out by a code.
    await bed.ready_says(200, "ready")
    await bed.ann.sign_in("Ann")
    assert (await bed.ann.create(*SEATS))["version"] == 1


async def test_a_redis_that_is_frozen_is_told_in_time_and_found_again(bed):
    bed.primary.signal(signal.SIGSTOP)
    try:
        await nothing_is_answered(bed)
    finally:
        bed.primary.signal(signal.SIGCONT)

    await bed.ready_says(200, "ready")
    assert await one_by_one(FINE, reading(bed)) == {}


async def test_writers_of_one_match_do_not_wait_for_each_other_too(bed):
    bed.primary.signal(signal.SIGSTOP)
    try:
        show = WRITES["show"]
        writers = {str(number): by_graphql(bed, "mutation", show) for number in range(8)}
        assert await other_than(UNAVAILABLE, writers) == {}  # not one after the other
    finally:
        bed.primary.signal(signal.SIGCONT)


async def test_a_redis_that_is_slow_is_given_up_once_for_all_that_a_request_needs(bed):
    """Each answer alone comes in time; all of them together would not."""
    async with Slowed(bed.primary) as slowed, serving(slowed.url) as api, Client(api) as bob:
        await bob.sign_in("Bob")  # so that there are connections
        slowed.seconds = 1.3
        began = time.monotonic()
        query = "mutation { " + filled(WRITES["startMatch"], bed) + " }"
        headers = {"authorization": f"Bearer {bed.ann.token}"}
        answer = await bob.http.post("/graphql", json={"query": query}, headers=headers)
        seconds = time.monotonic() - began
        slowed.seconds = 0

    assert answer.json()["errors"][0]["extensions"]["code"] == "UNAVAILABLE"
    assert seconds < BOUND


class Slowed:
    """An address at which every answer of a server comes ``seconds`` later."""

    def __init__(self, node: Node) -> None:
        self.seconds = 0.0
        self.url = ""
        self._port = node.port

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = "redis://127.0.0.1:{1}/0".format(*self._server.sockets[0].getsockname())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        above, below = await asyncio.open_connection("127.0.0.1", self._port)
        await asyncio.gather(self._pump(reader, below), self._pump(above, writer, late=True))

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, late: bool = False
    ) -> None:
        try:
            while data := await source.read(65536):
                await asyncio.sleep(self.seconds if late else 0)
                sink.write(data)
                await sink.drain()
        except OSError:
            pass
        finally:
            sink.close()


async def test_what_follows_the_bells_is_begun_anew_and_readyz_tells(bed, monkeypatch):
    raised = asyncio.Event()

    def fail(_: object) -> None:
        raised.set()
        raise LookupError("a bug in whoever is told")

    seen = bed.ann.updates(bed.match_id)
    async with asyncio.timeout(30):
        await anext(seen)
        with monkeypatch.context() as patched:
            patched.setattr("api.lobby.Lobby.wake", lambda _, ring: fail(ring))
            assert await by_graphql(bed, "mutation", WRITES["startMatch"]) == FINE
            await raised.wait()
            await bed.ready_says(503, "not following")
        update = await anext(seen)
        await bed.ready_says(200, "ready")
    await seen.aclose()

    assert "MatchStarted" in [event["__typename"] for event in update["events"]]
