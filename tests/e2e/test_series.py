"""Series on the real stack: workers killed, cancelled, resumed, and people who play meanwhile."""

import asyncio
import os
import re
import statistics
import subprocess
import time
from pathlib import Path

import pytest

from engine.standings import table
from tests import series
from tests.client import Client
from tests.conftest import start_stack

DOCS = Path(__file__).parents[2] / "docs" / "series.md"
REGULARS = ("regular",) * 4


@pytest.fixture
async def grim(tmp_path):
    """A stack of the test's own, whose batch worker it may kill, and a guest."""
    env = {"RINGMASTER_TEST_FOLDER": str(tmp_path), "RINGMASTER_BOT_GRACE_MS": "400"}
    stack = await asyncio.to_thread(start_stack, tmp_path, None, **env)
    async with Client(stack.url) as client:
        await client.sign_in("Ann")
        yield client, stack
    await asyncio.to_thread(stack.stop)


async def follow_with_cuts(client: Client, series_id: str, updates: list[dict]) -> None:
    """Follow to the end over many connections, each resumed where the one before ended."""
    while not updates or updates[-1]["series"]["status"] == "RUNNING":
        after = updates[-1]["version"] if updates else 0
        taken = 0
        async for update in series.updates(client, series_id, after):
            updates.append(update)
            taken += 1
            if taken == 3:
                break


async def test_a_worker_killed_twice_loses_no_match_and_counts_none_twice(grim):
    client, stack = grim
    begun = await series.create(client, *REGULARS, matches=40)
    series_id, updates = begun["id"], list[dict]()

    async with asyncio.timeout(80):
        following = asyncio.create_task(follow_with_cuts(client, series_id, updates))
        for played, child in ((5, True), (20, False)):
            await series.until_played(client, series_id, played)
            pids = series.batch_workers(stack.folder)
            assert {os.getpriority(os.PRIO_PROCESS, pid) for pid in pids} == {10}
            assert series.kill_batch_worker(stack.folder, child=child)
        await following

    told = [result for update in updates for result in update["results"]]
    assert sorted(result["number"] for result in told) == list(range(1, 41))
    assert updates[-1]["version"] == 41
    versions = [update["version"] for update in updates]
    assert versions == sorted(set(versions))
    assert told == await series.all_results(client, series_id)

    here = [series.played_here(order) for order in await series.orders(stack.redis_url, series_id)]
    assert sorted(told, key=lambda result: result["number"]) == here

    finished = await series.look(client, series_id)
    assert finished == updates[-1]["series"]
    assert finished["status"] == "FINISHED"
    lines = table(series.summed(here, 4), 4)
    assert [line["wins"] for line in finished["results"]] == [line.wins for line in lines]
    assert [line["differenceInterval"]["low"] for line in finished["results"]] == [
        line.difference_interval and line.difference_interval.low for line in lines
    ]


async def test_a_cancelled_series_ends_for_its_followers_and_is_counted_no_further(client):
    begun = await series.create(client, *REGULARS, matches=5000)
    series_id, last = begun["id"], begun
    async with asyncio.timeout(30):
        async for update in series.updates(client, series_id):
            last = update["series"]
            if last["status"] == "RUNNING" and last["played"] >= 3:
                payload = await series.cancel(client, series_id)
                assert payload["userErrors"] == []
                assert payload["series"]["status"] == "CANCELLED"

    assert last["status"] == "CANCELLED"
    assert last["version"] == last["played"] + 2
    await asyncio.sleep(0.5)  # a match that was under way has ended by now
    assert await series.look(client, series_id) == last


def test_the_requests_of_the_docs_run_as_they_are_written(stack, tmp_path):
    scripts = re.findall(r"```sh\n(.*?)```", DOCS.read_text(), re.DOTALL)
    script = "set -eu\n" + "\necho ---\n".join(scripts)

    ran = subprocess.run(
        ["bash", "-c", script.replace("http://127.0.0.1:8000", stack.url)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert '"errors"' not in ran.stdout, ran.stdout
    _, followed, table_, single, cancelled = ran.stdout.split("---\n")
    assert "event: complete" in followed
    before = int(re.findall(r'"played":\s*(\d+)', followed)[0])  # of the state it begins with
    assert before + followed.count('"number"') == 12
    assert '"status":"FINISHED","played":12' in table_.replace(" ", "")
    assert "ringmaster-replay/1" in single
    assert '"userErrors":[]' in cancelled.replace(" ", "")


async def turns(client: Client, count: int) -> list[float]:
    """Seconds from an action of this player until three bots have answered, so many times."""
    found: list[float] = []
    while len(found) < count:
        match = await client.create_with_bots(4)
        acted = None
        async for update in client.updates(match["id"]):
            match, heard = update["match"], time.monotonic()
            legal = match["you"]["legal"]
            if not (legal["flip"] or legal["shows"] or legal["scout"]):
                continue
            if await client.match(match["id"]) != match:
                continue  # bots are still choosing
            if acted is not None and not legal["flip"]:
                found.append(heard - acted)
            if len(found) == count:
                break
            acted = None if legal["flip"] else time.monotonic()
            await client.act(match)
    return found


async def test_a_persons_match_keeps_its_pace_beside_a_series(client):
    alone = statistics.median(await turns(client, 12))
    begun = await series.create(client, *REGULARS, matches=5000)
    await series.until_played(client, begun["id"], 1)

    beside = statistics.median(await turns(client, 12))

    after = await series.look(client, begun["id"])
    await series.cancel(client, begun["id"])
    assert after["played"] > 1, "the series stood still, so nothing was measured"
    # Room for a machine that is busy with other things; behind twelve matches it would be seconds.
    assert beside < 2 * alone + 0.3, (alone, beside)
