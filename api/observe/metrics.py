"""Every metric there is (docs/observability.md). Each is counted where the thing happens, once.

Children of labels are looked up once and kept: to find one costs more than to count. All labels
have few values that are known beforehand, never an id.
"""

from collections.abc import Callable
from functools import cache
from typing import Final

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics

from schema.codes import ErrorCode

disable_created_metrics()  # type: ignore[no-untyped-call] # one more series for every counter

_QUICK: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_WAITS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

build_info = Gauge(
    "ringmaster_build_info",
    "1; the labels tell what runs.",
    ("process", "version", "python", "rules"),
    multiprocess_mode="max",
)

# Matches.
moves = Counter(
    "ringmaster_moves_total",
    "Moves appended to the log of a match, none twice.",
    ("action", "by"),
)
commits = Counter(
    "ringmaster_commits_total",
    "Commits appended to the log of a match, none twice, by the event that they are about.",
    ("event",),
)
refusals = Counter(
    "ringmaster_refusals_total", "Refusals and failures that clients were told of.", ("code",)
)

# Requests.
requests = Counter(
    "ringmaster_requests_total", "HTTP requests answered, by status.", ("route", "status")
)
request_seconds = Histogram(
    "ringmaster_request_seconds",
    "Until a request is answered, or an operation on a WebSocket; streams are left out.",
    ("route",),
    buckets=_QUICK,
)
websockets = Gauge(
    "ringmaster_websockets", "Open WebSocket connections.", multiprocess_mode="livesum"
)
subscribers = Gauge(
    "ringmaster_subscribers",
    "Open streams of updates.",
    ("transport",),
    multiprocess_mode="livesum",
)
updates = Counter("ringmaster_updates_total", "Updates handed to streams.", ("transport",))
subscriber_lag = Histogram(
    "ringmaster_subscriber_lag_seconds",
    "From a commit until its update was handed to a subscriber's connection.",
    buckets=_QUICK,
)

# Redis.
redis_seconds = Histogram(
    "ringmaster_redis_seconds",
    "What an operation of the store waited for Redis.",
    ("operation",),
    buckets=_QUICK,
)
redis_failures = Counter(
    "ringmaster_redis_failures_total", "Operations of the store that failed.", ("kind",)
)

# Queues and workers.
hints = Counter("ringmaster_hints_total", "Work announced to the queues.", ("task", "outcome"))
queue_wait_seconds = Histogram(
    "ringmaster_queue_wait_seconds",
    "From sending a task until a worker begins it.",
    ("queue",),
    buckets=_WAITS,
)
tasks = Counter("ringmaster_tasks_total", "Tasks carried out by a worker.", ("task", "outcome"))
task_seconds = Histogram(
    "ringmaster_task_seconds", "What a task took.", ("task",), buckets=(*_QUICK, 30.0)
)
bot_decision_seconds = Histogram(
    "ringmaster_bot_decision_seconds",
    "What a bot's decision took, whether it was its level's or a quick one in its place.",
    ("level",),
    buckets=(0.0001, 0.00025, *_QUICK),
)
bot_faults = Counter(
    "ringmaster_bot_faults_total",
    "Decisions for which a quick action was played in a level's place.",
    ("level", "kind"),
)
series_matches = Counter(
    "ringmaster_series_matches_total", "Matches of series that were played and counted."
)

# The sweeper.
sweeps = Counter("ringmaster_sweeps_total", "Sweeps made while holding the lease.")
catches = Counter(
    "ringmaster_sweeper_catches_total",
    "What was due and not done, and the sweeper sent again or did.",
    ("kind",),
)
repeats = Counter(
    "ringmaster_sweeper_repeats_total",
    "Sendings of a version of a match that had been sent again twice already.",
)

MOVE_ACTIONS: Final = ("CHOOSE_HAND", "SHOW", "SCOUT", "SCOUT_AND_SHOW")
MOVERS: Final = ("player", "bot", "clock")
TRANSPORTS: Final = ("websocket", "sse")
FAILURES: Final = ("unreachable", "timeout", "readonly", "oom", "noreplicas", "misconf")
# Beside those of the schema; a few more tell of requests that are none.
OTHER_CODES: Final = ("UNAVAILABLE", "INTERNAL", "RATE_LIMITED", "COST_LIMIT", "UNAUTHENTICATED")


@cache
def _commit(event: str, action: str | None, by: str) -> Callable[[], None]:
    commit = commits.labels(event)
    move = None if action is None else moves.labels(action, by)

    def count() -> None:
        commit.inc()
        if move is not None:
            move.inc()

    return count


def count_commit(event: str, action: str | None, by: str) -> None:
    """One commit about ``event``; with ``action`` it is a move, by one of ``MOVERS``."""
    _commit(event, action, by)()


@cache
def refusals_of(code: str) -> Counter:
    """The counter of a code."""
    return refusals.labels(code)


@cache
def redis_time(operation: str) -> Histogram:
    """The times of an operation of the store."""
    return redis_seconds.labels(operation)


@cache
def requests_of(route: str, status: int) -> Counter:
    """The counter of answers with a status."""
    return requests.labels(route, str(status))


@cache
def request_time(route: str) -> Histogram:
    """The times of a route or kind of operation."""
    return request_seconds.labels(route)


@cache
def hints_of(task: str, outcome: str) -> Counter:
    """The counter of hints: sent, lost at the broker, or dropped as too many waited."""
    return hints.labels(task, outcome)


@cache
def stream_gauges(transport: str) -> tuple[Gauge, Counter]:
    """The streams of a transport, and the updates that they were handed."""
    return subscribers.labels(transport), updates.labels(transport)


def prepare() -> None:
    """Let what may be counted be there at zero, so that the first time is an increase."""
    for code in (*ErrorCode, *OTHER_CODES):
        refusals_of(code)
    for kind in FAILURES:
        redis_failures.labels(kind)
    for action in MOVE_ACTIONS:
        for by in MOVERS:
            moves.labels(action, by)
    for transport in TRANSPORTS:
        stream_gauges(transport)
