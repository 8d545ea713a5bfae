"""Series over the public API, and the same series played in this process."""

import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from api.store import keys
from api.store.connections import connect
from api.store.series import RedisSeriesStore
from engine.bots import LEVELS
from engine.series import Order, Result, play
from engine.standings import Sums, add, none_yet, quantities
from tests.client import Client, messages

SERIES = """
fragment S on Series {
  id status version seats matches rotate duplicateDeals replays played createdAt
  results { entry level played wins winShare winShareInterval { low high }
            pointsPerRound differencePerRound differenceInterval { low high } }
}
"""
MATCH = "fragment R on SeriesMatch { number deal seating rounds totals winners }"
PAYLOAD = "{ series { ...S } userErrors { code message path } clientMutationId }"
UPDATES = (
    """subscription ($s: ID!, $after: Int) {
  seriesUpdates(seriesId: $s, after: $after) { version at results { ...R } series { ...S } }
}"""
    + SERIES
    + MATCH
)
PAGE = (
    """query ($s: ID!, $n: Int, $after: String) {
  series(id: $s) { matchResults(first: $n, after: $after) {
    edges { cursor node { ...R } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }"""
    + MATCH
)


async def try_to_create(client: Client, *seats: str, **more: Any) -> dict[str, Any]:
    """The payload of ``createSeries``."""
    query = "mutation ($i: CreateSeriesInput!) { createSeries(input: $i) " + PAYLOAD + " }" + SERIES
    return (await client.data(query, i={"seats": list(seats), **more}))["createSeries"]


async def create(client: Client, *seats: str, **more: Any) -> dict[str, Any]:
    """A new series."""
    payload = await try_to_create(client, *seats, **more)
    assert payload["userErrors"] == [], payload
    return payload["series"]


async def cancel(client: Client, series_id: str) -> dict[str, Any]:
    """The payload of ``cancelSeries``."""
    query = "mutation ($s: ID!) { cancelSeries(seriesId: $s) " + PAYLOAD + " }" + SERIES
    return (await client.data(query, s=series_id))["cancelSeries"]


async def look(client: Client, series_id: str) -> Any:
    """A series as it stands, None if there is none."""
    query = "query ($s: ID!) { series(id: $s) { ...S } }" + SERIES
    return (await client.data(query, s=series_id))["series"]


async def until_played(client: Client, series_id: str, played: int) -> dict[str, Any]:
    """The series once so many matches are counted."""
    async for update in updates(client, series_id):
        if update["series"]["played"] >= played:
            return update["series"]
    raise AssertionError("the series ended before")


async def page(
    client: Client, series_id: str, first: int = 100, after: str | None = None
) -> dict[str, Any]:
    """A page of single results."""
    return (await client.data(PAGE, s=series_id, n=first, after=after))["series"]["matchResults"]


async def all_results(client: Client, series_id: str) -> list[dict[str, Any]]:
    """All single results, in the order in which they were counted."""
    found, after, more = [], None, True
    while more:
        one = await page(client, series_id, 100, after)
        found += [edge["node"] for edge in one["edges"]]
        after, more = one["pageInfo"]["endCursor"], one["pageInfo"]["hasNextPage"]
    return found


async def updates(
    client: Client, series_id: str, after: int | None = None
) -> AsyncIterator[dict[str, Any]]:
    """The updates of a series until the server completes the stream."""
    async with client.socket() as ws:
        payload = {"query": UPDATES, "variables": {"s": series_id, "after": after}}
        await ws.send(json.dumps({"id": "1", "type": "subscribe", "payload": payload}))
        async for message in messages(ws):
            if message["type"] == "complete":
                return
            assert message["type"] == "next", message
            assert "errors" not in message["payload"], message
            yield message["payload"]["data"]["seriesUpdates"]


async def orders(redis_url: str, series_id: str) -> list[Order]:
    """Every match of a series as a worker is given it, counted or not."""
    redis = connect(redis_url)
    try:
        found = await RedisSeriesStore(redis).find(series_id)
        secret: Any = await redis.hget(keys.series(series_id), "secret")
    finally:
        await redis.aclose()
    assert found is not None
    series = found[0]
    return [
        Order(series_id, series.spec, number, series.created_at, secret.decode())
        for number in range(1, series.spec.matches + 1)
    ]


def played_here(order: Order) -> dict[str, Any]:
    """A match as it goes in this process, as the API would tell of it."""
    result, _ = play(order, lambda level, *seen: LEVELS[level].action(*seen))
    return json.loads(json.dumps({name: getattr(result, name) for name in Result.__slots__}))


def summed(found: list[dict[str, Any]], players: int) -> Sums:
    """The sums over single results, counted anew."""
    sums, deals = none_yet(players), dict[int, tuple[int, ...]]()
    for told in found:
        values = quantities(Result(**told))
        sums, deals[told["deal"]] = add(sums, deals.get(told["deal"], ()), values)
    return sums


def batch_workers(folder: Path) -> list[int]:
    """Pids of the batch worker of the stack in a folder: its main process, then its children."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            if not entry.name.isdigit():
                continue
            command = (entry / "cmdline").read_bytes().split(b"\0")
            ours = f"RINGMASTER_TEST_FOLDER={folder}".encode() in (entry / "environ").read_bytes()
            if ours and b"worker" in command and b"batch" in command:
                found[int(entry.name)] = int((entry / "stat").read_text().rsplit(")")[1].split()[1])
        except OSError:
            continue
    return sorted(found, key=lambda pid: (found[pid] in found, pid))


def kill_batch_worker(folder: Path, *, child: bool) -> bool:
    """SIGKILL for the batch worker's child or main process; False if there is none now."""
    pids = batch_workers(folder)
    chosen = pids[1:] if child else pids[:1]
    for pid in chosen:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
    return bool(chosen)
