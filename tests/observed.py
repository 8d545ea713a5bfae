"""What running processes tell of themselves, and the same counted anew from what they have done."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from redis import Redis

from tests.conftest import Stack

Key = tuple[str, frozenset[tuple[str, str]]]
OF_MOVES = {"HandChosen", "SetShown", "CardScouted"}


def addresses(stack: Stack) -> list[str]:
    """Where API, worker, sweeper and the worker of series tell their metrics."""
    assert stack.metrics_port is not None
    ports = [f"http://127.0.0.1:{stack.metrics_port + n}" for n in range(3)]
    return [f"{address}/metrics" for address in (stack.url, *ports)]


def scrape(address: str, **headers: str) -> httpx.Response:
    """What a process tells; the worker of series begins when the others are ready."""
    until = time.monotonic() + 30
    while True:
        try:
            return httpx.get(address, timeout=10, headers=headers)
        except httpx.ConnectError:
            assert time.monotonic() < until
            time.sleep(0.1)


def families(stack: Stack) -> Iterator[tuple[str, Metric]]:
    """The metrics of every process, and which one tells them."""
    for address in addresses(stack):
        for family in text_string_to_metric_families(scrape(address).text):
            yield address, family


def counted(stack: Stack, *names: str) -> Counter[Key]:
    """Counters, by name and labels, summed over all processes."""
    found: Counter[Key] = Counter()
    for _, family in families(stack):
        for sample in family.samples:
            if sample.name in names and sample.value:
                found[sample.name, frozenset(sample.labels.items())] += int(sample.value)
    return found


def of(counts: Counter[Key], name: str, label: str) -> Counter[str]:
    """One counter by one of its labels."""
    found: Counter[str] = Counter()
    for (counter, labels), value in counts.items():
        if counter == name:
            found[dict(labels)[label]] += value
    return found


def logs(redis_url: str) -> dict[str, list[list[dict[str, Any]]]]:
    """The events of all commits of all matches that Redis has, by match."""
    found = {}
    with Redis.from_url(redis_url) as redis:
        for key in redis.scan_iter("rm:*:log:m*", count=1000):
            entries: Any = redis.xrange(key)
            match_id = key.decode().rsplit(":", 1)[1]
            found[match_id] = [json.loads(fields[b"c"])["e"] for _, fields in entries]
    return found


def action_of(events: list[dict[str, Any]]) -> str:
    """The move that a stored commit is, or the type of its first event."""
    kinds = {event["type"] for event in events}
    if {"CardScouted", "SetShown"} <= kinds:
        return "SCOUT_AND_SHOW"
    names = {"HandChosen": "CHOOSE_HAND", "SetShown": "SHOW", "CardScouted": "SCOUT"}
    return next((names[kind] for kind in names if kind in kinds), events[0]["type"])


def lines(stack: Stack, since: int = 0) -> list[dict[str, Any]]:
    """The log of all processes from a byte on."""
    text = (stack.folder / "stderr.log").read_bytes()[since:].decode()
    return [json.loads(line) for line in text.splitlines()]


def size(stack: Stack) -> int:
    """Where the log ends now."""
    return (stack.folder / "stderr.log").stat().st_size


def at_rest(stack: Stack, *names: str) -> tuple[Counter[Key], int, dict[str, int]]:
    """Counters, the end of the log and the matches' versions, at a moment when nothing happens."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        before = counted(stack, *names), size(stack)
        versions = {match_id: len(log) for match_id, log in logs(stack.redis_url).items()}
        time.sleep(0.3)
        if (counted(stack, *names), size(stack)) == before:
            return *before, versions
    raise AssertionError("something happens all the time")
