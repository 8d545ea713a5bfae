"""Documents made to cost much: refused, or charged in full, while others notice nothing."""

import asyncio
import json
import statistics
import time

import httpx
import pytest
from graphql import get_introspection_query

from tests.client import Client, raw_socket

FIELD = "scoutAndShow { shows { first count kind } }"
BOMB = " ".join(f"fragment F{n} on Match {{ ...F{n + 1} ...F{n + 1} }}" for n in range(30))
DOCUMENTS = {
    "a thousand aliases": "{"
    + " ".join(f'a{n}: match(id: "m") {{ id }}' for n in range(1000))
    + "}",
    "aliases of what is dear": '{ match(id: "m") { you { legal {'
    + " ".join(f"a{n}: {FIELD}" for n in range(20))
    + "} } } }",
    "replays": "{" + " ".join(f'a{n}: replay(matchId: "m")' for n in range(30)) + "}",
    "the largest pages": "{ matches(first: 100) { edges { node { you { legal { "
    + FIELD
    + " } } } } } }",
    "a bomb of fragments": '{ match(id: "m") { ...F0 } } fragment F30 on Match { id } ' + BOMB,
    "a cycle of fragments": "{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }",
    "a fragment in itself": "{ ...A } fragment A on Query { __typename ...A }",
    "a storm of directives": "{ __typename " + "@skip(if: false) " * 40 + "}",
    "a storm of unknown directives": "{ __typename " + "@a " * 190 + "}",
    "one field over and over": "{" + " __typename" * 390 + "}",
    "schemas": "{" + " ".join(f"a{n}: __schema {{ types {{ name }} }}" for n in range(30)) + "}"
    + get_introspection_query().replace("query IntrospectionQuery", "query I"),
    "a deep schema": "{ __schema { types { "
    + "fields { type { " * 8
    + "name"
    + "} } " * 8
    + "} } }",
    "nesting": "{ a" * 100 + "}" * 100,
    "inline fragments": "{" + "... {" * 120 + "__typename" + "}" * 120 + "}",
}  # fmt: skip
REFUSED = {"GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "COST_LIMIT"}


@pytest.mark.parametrize("kind", DOCUMENTS)
async def test_it_is_refused_before_it_runs(client, kind):
    if kind == "inline fragments":  # cheap, and so it may pass
        return
    answer = await client.post(DOCUMENTS[kind])

    assert "data" not in answer
    assert len(answer["errors"]) < 20
    assert answer["errors"][0]["extensions"]["code"] in REFUSED, answer


async def latencies(client: Client, times: int) -> list[float]:
    found = []
    for _ in range(times):
        began = time.perf_counter()
        await client.data("{ __typename }")
        found.append(time.perf_counter() - began)
        await asyncio.sleep(0.01)
    return found


async def test_others_notice_nothing(client, stack):
    calm = statistics.median(await latencies(client, 40))
    over = asyncio.Event()

    async def attack() -> int:
        sent = 0
        async with httpx.AsyncClient(base_url=stack.url, timeout=30) as eve:
            while not over.is_set():
                for query in DOCUMENTS.values():
                    await eve.post("/graphql", json=[{"query": query}] * 3)
                    await eve.post("/graphql", json={"query": query})
                    sent += 2
                    await asyncio.sleep(0.005)
        return sent

    attacking = asyncio.create_task(attack())
    await asyncio.sleep(0.5)  # the first of each is validated, and remembered
    attacked = statistics.median(await latencies(client, 80))
    over.set()

    assert await attacking > len(DOCUMENTS)
    assert attacked < max(5 * calm, 0.05), (calm, attacked)


async def test_a_socket_refuses_them_too_and_stays_open(stack):
    async with raw_socket(stack.url) as ws:
        await ws.send('{"type": "connection_init"}')
        await ws.recv()
        for kind, query in DOCUMENTS.items():
            message = {"type": "subscribe", "id": kind, "payload": {"query": query}}
            await ws.send(json.dumps(message))
        ended: set[str] = set()
        async with asyncio.timeout(20):
            while len(ended) < len(DOCUMENTS):
                message = json.loads(await ws.recv())
                if message["type"] in ("error", "complete"):
                    ended.add(message["id"])

    assert ended == set(DOCUMENTS)
