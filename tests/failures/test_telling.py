"""What processes tell operators: one trace from a move to a bot's update; no card, no secret.

The log is at its most talkative here, metrics are on, spans go to a collector of the test's own.
"""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.client import Client
from tests.conftest import Stack, metrics_port, start_stack
from tests.failures.oracle import Look, Received, Scan, Truth
from tests.failures.test_hidden_cards import Viewer, play, viewer
from tests.observed import addresses, families, lines, logs, scrape

TRACE = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = f"00-{TRACE}-b7ad6b7169203331-01"
PLAYER, OPEN, BOT = {"kind": "PLAYER"}, {"kind": "OPEN"}, {"kind": "BOT"}
ATTRIBUTES = {"match", "version", "action", "code"}


@dataclass
class Collector:
    """Takes spans by OTLP over HTTP, as a collector does."""

    spans: list[dict[str, Any]] = field(default_factory=list)

    def take(self, body: bytes) -> None:
        request = ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            service = {a.key: a.value.string_value for a in resource.resource.attributes}
            for scope in resource.scope_spans:
                for span in scope.spans:
                    told = {
                        a.key: a.value.string_value or a.value.int_value for a in span.attributes
                    }
                    self.spans.append(
                        {
                            "service": service["service.name"],
                            "name": span.name,
                            "trace": span.trace_id.hex(),
                            "id": span.span_id.hex(),
                            "parent": span.parent_span_id.hex(),
                            "told": told,
                            "events": len(span.events),
                        }
                    )


@pytest.fixture(scope="module")
def collector() -> Iterator[tuple[Collector, str]]:
    taken = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            taken.take(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield taken, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def talkative(tmp_path_factory, collector) -> Iterator[Stack]:
    """A stack that tells all it can."""
    running = start_stack(
        tmp_path_factory.mktemp("talkative"),
        None,
        RINGMASTER_METRICS_PORT=str(metrics_port()),
        RINGMASTER_LOG_LEVEL="debug",
        RINGMASTER_TRACING="true",
        OTEL_EXPORTER_OTLP_ENDPOINT=collector[1],
        OTEL_BSP_SCHEDULE_DELAY="200",
    )
    yield running
    running.abandon()


def seen(taken: Collector) -> set[str]:
    """The names of the spans of the trace that came in so far."""
    return {span["name"] for span in taken.spans if span["trace"] == TRACE}


async def spans(taken: Collector, *names: str) -> AsyncIterator[dict[str, Any]]:
    """Those of the trace, as soon as all names are among them; they are sent once in a while."""
    async with asyncio.timeout(20):
        while not set(names) <= seen(taken):  # noqa: ASYNC110 - filled by a thread
            await asyncio.sleep(0.1)
    for span in list(taken.spans):
        if span["trace"] == TRACE:
            yield span


def above(span: dict[str, Any], all_: list[dict[str, Any]]) -> list[str]:
    """Names from the root down to a span."""
    by_id = {each["id"]: each for each in all_}
    names = []
    found: dict[str, Any] | None = span
    while found is not None:
        names.append(found["name"])
        found = by_id.get(found["parent"])
    return names[::-1]


async def test_one_trace_leads_from_a_move_over_the_queue_to_the_update_of_a_bots_move(
    talkative, collector
):
    async with Client(talkative.url) as ann, Client(talkative.url) as bob:
        await ann.sign_in("Ann")
        await bob.sign_in("Bob")
        match = await ann.create(PLAYER, OPEN, BOT)
        updates = ann.updates(match["id"])
        await anext(updates)
        bob.http.headers["traceparent"] = TRACEPARENT
        await bob.join(joinCode=match["joinCode"], name="Bob")
        async for update in updates:
            if any(e["__typename"] == "HandChosen" for e in update["events"]):  # the bot's
                break
        await updates.aclose()
    await asyncio.sleep(0.5)  # they are sent by each process, every 0.2 s
    found = [s async for s in spans(collector[0], "update", "task ringmaster.bot")]

    chains = {tuple(above(s, found)): s for s in found}
    request, commit = "POST /graphql mutation", "commit"
    bots = (request, commit, "task ringmaster.bot", commit)
    assert {(request,), (request, commit), bots, (*bots, "update")} <= set(chains)
    assert chains[*bots]["service"] == "ringmaster-worker"
    assert chains[*bots, "update"]["service"] == "ringmaster-api"
    assert chains[*bots]["told"]["ringmaster.action"] == "CHOOSE_HAND"
    for span in found:
        assert {name.removeprefix("ringmaster.") for name in span["told"]} <= ATTRIBUTES
        assert span["told"].get("ringmaster.match", match["id"]) == match["id"]
        assert span["events"] == 0
    traced = [line for line in lines(talkative) if line.get("trace") == TRACE]
    assert {line["event"] for line in traced} == {"request", "task"}


async def seat(opened: AsyncExitStack, stack: Stack) -> tuple[dict[str, Any], list[Viewer]]:
    """A private match of two people and a spectator of everything that is logged."""
    seated = [await viewer(opened, stack, f"seat {n}", n) for n in range(2)]
    match = await seated[0].graphql.create(PLAYER, OPEN, entropy="entropy-of-0")
    await seated[1].graphql.join(joinCode=match["joinCode"], name="Bob", entropy="entropy-of-1")
    return match, seated


async def test_no_line_metric_or_span_tells_a_card_a_token_or_a_player(talkative, collector):
    async with AsyncExitStack() as opened:
        match, seated = await seat(opened, talkative)
        followers = [asyncio.create_task(v.follow(match["id"])) for v in seated]
        end = await asyncio.wait_for(play(seated, seated, match["id"], Random(7)), 90)
        await asyncio.wait_for(asyncio.gather(*followers), 30)
        seated[0].rest.http.headers["authorization"] = "Bearer guessed-token"
        await seated[0].rest.get(f"/matches/{match['id']}")
        seated[0].rest.http.headers["authorization"] = f"Bearer {seated[0].graphql.token}"
        replay = (await seated[0].rest.get(f"/matches/{match['id']}/replay")).json()
        secrets = {str(v.graphql.token) for v in seated} | {
            str(v.graphql.player_id) for v in seated
        }

    truth = Truth(replay)
    scan = Scan(truth, {"operator": {*secrets, *HIDDEN, match["joinCode"]}})
    told = [line for line in lines(talkative) if match["id"] in json.dumps(line)]
    assert {line["level"] for line in told} >= {"info", "debug"}
    for line in told:
        words = line["event"].split(" ", 4)
        if words[0] == "match" and words[2] == "version":  # as everybody may see it
            version, text = int(words[3]), words[4]
            if "=" in text:
                got = Received("operator", None, "log", json.dumps(text), version)
                Look(scan, got).line(text, truth.positions[version], None, "log")
        else:
            scan.take(Received("operator", None, "log", json.dumps(line)))
    assert scan.cards["operator", "log"] > 20
    texts = [scrape(address).text for address in addresses(talkative)]
    texts += [json.dumps(line) for line in lines(talkative)]
    texts += [json.dumps(span) for span in collector[0].spans]
    for text in texts:
        for hidden in (*secrets, *HIDDEN, match["joinCode"], replay["secret"]):
            assert hidden not in text
    for text in texts[:4]:
        assert match["id"] not in text
        assert "/10" not in text
    assert scan.findings == []
    streams = [line for line in lines(talkative) if "updates" in line]
    begun = [line for line in lines(talkative) if line["event"] == "stream"]
    assert {line["request"] for line in streams} == {line["request"] for line in begun}
    of_match = [line for line in streams if line.get("match") == match["id"]]
    ways = Counter(line["transport"] for line in of_match)
    assert ways == {"websocket": 2, "graphql": 2, "rest": 2}
    assert {line["updates"] for line in of_match} == {end["version"]}
    assert await asyncio.to_thread(gauge, talkative, "ringmaster_subscribers") == 0
    open_ = await asyncio.to_thread(gauge, talkative, "ringmaster_open_matches")
    assert open_ == open_matches(talkative)
    assert end["status"] == "FINISHED"


def gauge(stack: Stack, name: str) -> int:
    """A gauge, summed over labels and processes."""
    samples = [s for _, family in families(stack) for s in family.samples]
    return int(sum(sample.value for sample in samples if sample.name == name))


def open_matches(stack: Stack) -> int:
    """The same by the logs."""
    ends = {"MatchFinished", "MatchAbandoned"}
    last = [log[-1] for log in logs(stack.redis_url).values()]
    return sum(not ends & {event["type"] for event in events} for events in last)


HIDDEN = ("entropy-of-0", "entropy-of-1", "guessed-token", "Bearer ")
