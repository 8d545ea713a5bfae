"""Metrics and lines of the log are what happened; what is written of them is so."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import promql_parser
import pytest
import yaml

from tests.client import Client, messages
from tests.conftest import Stack, metrics_port, start_stack, until_finished
from tests.observed import action_of, addresses, at_rest, families, lines, logs, of, scrape
from tests.rest_client import RestClient

ROOT = Path(__file__).parents[2]
MONITORING = ROOT / "k8s" / "monitoring"
BOT, PLAYER = {"kind": "BOT"}, {"kind": "PLAYER"}
COUNTERS = ("ringmaster_moves_total", "ringmaster_commits_total", "ringmaster_refusals_total")
# Made of a histogram's name for its samples.
PARTS = ("_bucket", "_count", "_sum")
SHOW = """mutation Move($i: ShowInput!) { show(input: $i) { match { version }
  userErrors { code } } }"""


@pytest.fixture(scope="module")
def stack(tmp_path_factory) -> Iterator[Stack]:
    """One of their own: in that of all tests, bots may play on at what other tests have left."""
    folder = tmp_path_factory.mktemp("observed")
    running = start_stack(folder, None, RINGMASTER_METRICS_PORT=str(metrics_port()))
    yield running
    running.abandon()


async def script(client: Client, rest: RestClient, url: str) -> Counter[str]:
    """Play a little of everything; the refusals that were told, by code."""
    told: Counter[str] = Counter()
    bots = await client.create(BOT, BOT, {"kind": "BOT", "botLevel": "casual"}, visibility="PUBLIC")
    await until_finished(client, bots["id"])

    match = await client.create_with_bots(3)
    refused = await client.show(match["id"], 0, 1)
    told[refused["userErrors"][0]["code"]] += 1
    for _ in range(2):  # the second time nothing is appended
        chosen = await client.choose(match["id"], idempotencyKey=f"key-{match['id']}")
        assert chosen["userErrors"] == []
    reused = await client.choose(match["id"], flip=True, idempotencyKey=f"key-{match['id']}")
    told[reused["userErrors"][0]["code"]] += 1
    match = await turn(client, match["id"])
    stale = await client.show(match["id"], 0, 1, expectedVersion=1)
    told[stale["userErrors"][0]["code"]] += 1
    async with client.socket() as ws:
        input_ = {"matchId": match["id"], "first": 40, "count": 9}
        payload = {"query": SHOW, "variables": {"i": input_}}
        await ws.send(json.dumps({"id": "1", "type": "subscribe", "payload": payload}))
        message = await anext(messages(ws))
        told[message["payload"]["data"]["show"]["userErrors"][0]["code"]] += 1
        assert (await anext(messages(ws)))["type"] == "complete"
    await client.act(match)
    await turn(client, match["id"])

    alone = await rest.create(PLAYER, BOT)
    assert (await rest.act(alone)).status_code == 200
    for path in (f"/matches/{match['id']}", "/matches/nonsense", "/nowhere"):  # hers; none; none
        told[(await rest.get(path)).json()["code"]] += 1
    told[(await rest.post(f"/matches/{alone['id']}/show", {"first": "x"})).json()["code"]] += 1
    async with httpx.AsyncClient() as nobody:
        answer = await nobody.post(f"{url}/graphql", json={"query": "{ nothing }"})
        told[answer.json()["errors"][0]["extensions"]["code"]] += 1
        answer = await nobody.post(f"{url}/v1/matches", json={})
        told[answer.json()["code"]] += 1
        answer = await nobody.put(f"{url}/graphql")
        told[answer.json()["errors"][0]["extensions"]["code"]] += 1
    return told


async def turn(client: Client, match_id: str) -> dict[str, Any]:
    """The match once it is the client's turn."""
    async with asyncio.timeout(20):
        while True:
            match = await client.match(match_id)
            assert match is not None
            if match["you"]["legal"]["shows"] or match["you"]["legal"]["scout"]:
                return match
            await asyncio.sleep(0.05)


async def test_counters_are_a_recount_of_the_logs_and_of_the_lines(stack, client):
    before, began, known = await asyncio.to_thread(at_rest, stack, *COUNTERS)

    async with RestClient(stack.url) as rest:
        await rest.sign_in("Bob")
        told = await script(client, rest, stack.url)
    after, ended, _ = await asyncio.to_thread(at_rest, stack, *COUNTERS)

    grown = after - before
    new = [
        events
        for match_id, log in logs(stack.redis_url).items()
        for events in log[known.get(match_id, 0) :]
    ]
    actions = Counter(map(action_of, new))
    moves = Counter({name: n for name, n in actions.items() if name.isupper()})
    assert moves.total() > 30
    assert of(grown, COUNTERS[0], "action") == moves
    assert of(grown, COUNTERS[1], "event") == Counter(events[0]["type"] for events in new)
    assert of(grown, COUNTERS[0], "by")["player"] == 3
    assert of(grown, COUNTERS[2], "code") == told

    happened = [line for line in lines(stack, began) if line["logger"] == "ringmaster.work"]
    assert ended > began
    assert Counter(name for line in happened for name in line.get("commits", ())) == actions
    served = [line for line in happened if line["event"] in ("request", "operation")]
    codes = [code for line in served for code in line.get("codes", [line["code"]])]
    assert Counter(code for code in codes if code != "OK") == told
    assert {line["name"] for line in served if "name" in line} == {"Move"}
    for line in happened:
        assert len(line.get("commits", ())) == 0 or {"match", "version", "request"} <= set(line)


def test_a_scrape_is_what_is_asked_for(stack):
    for address in addresses(stack):
        plain = scrape(address)
        assert plain.headers["content-type"].startswith("text/plain; version=")
        opened = scrape(address, accept="application/openmetrics-text")
        assert opened.headers["content-type"].startswith("application/openmetrics-text")
        assert opened.text.endswith("# EOF\n")


@pytest.fixture(scope="module")
def served(stack) -> dict[str, tuple[str, set[str]]]:
    """Type and labels of every metric that the processes serve, by the names of samples."""
    found: dict[str, tuple[str, set[str]]] = {}
    for _, family in families(stack):
        name = family.name + ("_total" if family.type == "counter" else "")
        _, labels = found.setdefault(name, (family.type, set()))
        for sample in family.samples:
            labels |= set(sample.labels) - {"le"}
    return found


def documented() -> dict[str, tuple[str, set[str]]]:
    rows = re.findall(
        r"^\| `(ringmaster_\w+)` \| (\w+) \|([^|]*)\|",
        (ROOT / "docs" / "observability.md").read_text(),
        re.MULTILINE,
    )
    return {name: (kind, set(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows}


def test_the_table_is_what_is_served(served):
    ours = {name: what for name, what in served.items() if name.startswith("ringmaster_")}
    table = documented()

    assert {name: kind for name, (kind, _) in table.items()} == {
        name: kind for name, (kind, _) in ours.items()
    }
    for name, (_, labels) in ours.items():
        assert not labels or labels == table[name][1], name  # nothing of some may have happened


def expressions() -> Iterator[tuple[str, str]]:
    for group in yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]
    for panel in json.loads((MONITORING / "grafana-dashboard.json").read_text())["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"].replace("$__rate_interval", "5m")


def selectors(node: Any) -> Iterator[Any]:
    """Every selector in a parsed expression."""
    if isinstance(node, promql_parser.VectorSelector):
        yield node
    for name in ("expr", "lhs", "rhs", "vector_selector", "args", "param"):
        below = getattr(node, name, None)
        for each in below if isinstance(below, list) else [below]:
            if each is not None and not isinstance(each, str):
                yield from selectors(each)


@pytest.mark.parametrize(("where", "text"), list(expressions()))
def test_every_expression_is_about_what_is_served(served, where, text):
    table, found = documented(), list(selectors(promql_parser.parse(text)))
    named = re.findall(r"\b(?:ringmaster|process|python)_\w+", text)

    assert sorted(named) == sorted(selector.name for selector in found), where
    for selector in found:
        name = selector.name
        base = next((name.removesuffix(p) for p in PARTS if name.endswith(p)), name)
        assert base in served, where
        labels = {matcher.name for matcher in selector.matchers.matchers}
        if base in table:
            assert labels <= table[base][1], where
    grouped = {label for by in re.findall(r"by \(([^)]*)\)", text) for label in by.split(", ")}
    known = {"le"}.union(*(table[n][1] for n in table if any(s.startswith(n) for s in named)))
    assert grouped <= known, where


def test_every_alert_says_what_it_is_about_and_where_to_read_on():
    rules = yaml.safe_load((MONITORING / "alerts.yaml").read_text())
    assert set(rules) == {"groups"}
    names = []
    for group in rules["groups"]:
        assert set(group) == {"name", "rules"}
        for rule in group["rules"]:
            assert set(rule) - {"for"} == {"alert", "expr", "labels", "annotations"}
            assert re.fullmatch(r"\d+[sm]", rule.get("for", "1m"))
            assert rule["labels"]["severity"] in ("page", "ticket")
            anchor = f"docs/operations.md#{rule['alert'].lower()}"
            assert set(rule["annotations"]) == {"summary", "description", "drill"}
            assert rule["annotations"]["drill"] == anchor
            names.append(rule["alert"])
    assert len(names) == len(set(names))


def test_a_dashboard_shows_every_metric():
    shown = " ".join(text for _, text in expressions())

    assert [name for name in documented() if name not in shown] == []
