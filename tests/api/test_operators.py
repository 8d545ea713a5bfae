"""What operators do: what is stuck is found and sent again, no hidden card, all on record."""

import asyncio
import json
import os

import pytest
from redis.asyncio import Redis
from typer.testing import CliRunner

from api.bootstrap import Parts, build
from api.cli.admin import _by, app
from api.cli.embedded import free_port
from api.errors import Refused, Unavailable
from api.operators.ports import Process
from api.operators.service import Operator
from api.presence import Presence, this_process
from api.settings import Settings
from api.store import keys
from api.store.operators import KEPT_SECONDS, SILENT_MS, RedisProcesses
from api.values import NewMatch
from engine.state import Seat, SeatKind, Visibility
from schema.acts import Act, ProcessKind, WaitsFor
from schema.codes import ErrorCode
from tests.api.test_tokens import operator, with_token
from tests.client import Client
from tests.conftest import Stack
from tests.rest_client import RestClient

OLGA = Operator("olga")
PERSON = Seat(SeatKind.PLAYER, "Ann", player_id="ann")
OPEN = Seat(SeatKind.OPEN)
BOT = Seat(SeatKind.BOT, "Bot", bot_level="regular")
QUERIES = {
    "stuckMatches": "{ stuckMatches { matchId } }",
    "processes": "{ processes { id } }",
    "operatorActs": "{ operatorActs { edges { cursor } } }",
}
PAYLOADS = {
    "inspectMatch": 'query { inspectMatch(matchId: "m0-aaaaaaaaaaaaaaaa") %s }',
    "sendDue": "mutation { sendDue %s }",
    "drainProcess": 'mutation { drainProcess(processId: "x", reason: "y") %s }',
    "revokeTokens": 'mutation { revokeTokens(playerId: "x", reason: "y") %s }',
}
ROUTES = [
    ("GET", "/stuck-matches", None),
    ("GET", "/matches/m0-aaaaaaaaaaaaaaaa", None),
    ("POST", "/matches/m0-aaaaaaaaaaaaaaaa/send-due", {}),
    ("POST", "/send-due", {}),
    ("GET", "/processes", None),
    ("POST", "/processes/x/drain", {"reason": "y"}),
    ("POST", "/players/x/revoke-tokens", {"reason": "y"}),
    ("GET", "/acts", None),
]


async def open_match(parts: Parts, *seats: Seat) -> str:
    new = NewMatch(seats, Visibility.PRIVATE, None)
    return (await parts.service.create("ann", new)).view.match_id


async def sent(redis: Redis, queue: str = "bots") -> int:
    await asyncio.sleep(0.2)  # hints go out from a thread
    return await redis.llen(queue)


async def test_what_nobody_does_is_stuck_and_can_be_sent_again(parts, redis):
    match_id = await open_match(parts, BOT, BOT)
    waiting = await open_match(parts, PERSON, OPEN)
    before = await sent(redis)

    (stuck,) = await parts.operators.stuck(seconds=0)
    assert (stuck.match_id, stuck.waits_for) == (match_id, WaitsFor.BOT)
    assert await parts.operators.stuck(seconds=60) == []

    assert await parts.operators.send_due(OLGA, match_id) == 1
    assert await parts.operators.send_due(OLGA, waiting) == 0
    assert await parts.operators.send_due(OLGA, None) == 0  # none is stuck for ten seconds yet
    assert await sent(redis) == before + 1


async def test_a_log_that_cannot_be_read_is_stuck_and_hides_no_other(parts, redis):
    damaged, other = await open_match(parts, BOT, BOT), await open_match(parts, BOT, BOT)
    version = await redis.xlen(keys.log(damaged))
    await redis.xadd(keys.log(damaged), {"c": "nonsense"}, id=f"{version + 1}-0")

    found = await parts.operators.stuck(seconds=-60)

    assert {s.match_id: s.waits_for for s in found} == {
        damaged: WaitsFor.READABLE_LOG,
        other: WaitsFor.BOT,
    }


async def test_an_inspection_tells_who_plays_and_no_card(parts):
    match_id = await open_match(parts, PERSON, BOT, BOT)

    seen = await parts.operators.inspect(OLGA, match_id)

    assert (seen.host, seen.players) == ("ann", ("ann", None, None))
    assert (seen.answer.view.you, seen.waits_for) == (None, WaitsFor.BOT)
    assert seen.commits[0].events[0] == "MatchCreated"
    assert "ann" not in repr(seen)


async def test_acts_are_on_record_refused_ones_too(parts, redis):
    match_id = await open_match(parts, PERSON, BOT)
    await parts.operators.cancel(OLGA, match_id, "Stuck.")
    with pytest.raises(Refused):
        await parts.operators.inspect(OLGA, "m0-aaaaaaaaaaaaaaaa")
    with pytest.raises(Refused):
        await parts.operators.drain(OLGA, "nobody", "Slow.")

    entries, more = await parts.operators.acts(limit=2)
    last, _ = await parts.operators.acts((entries[-1].at, entries[-1].entry_id))

    assert more
    assert [(e.act, e.target, e.reason, e.outcome) for e in (*entries, *last)] == [
        (Act.DRAIN_PROCESS, "nobody", "Slow.", "NOT_FOUND"),
        (Act.INSPECT_MATCH, "m0-aaaaaaaaaaaaaaaa", None, "NOT_FOUND"),
        (Act.CANCEL_MATCH, match_id, "Stuck.", "DONE"),
    ]
    assert 0 < await redis.ttl(keys.act(last[0].entry_id)) <= KEPT_SECONDS


async def test_a_process_is_known_while_it_says_so_and_ends_when_asked(redis):
    processes, ended = RedisProcesses(redis), asyncio.Event()
    presence = Presence(processes, this_process(ProcessKind.API), lambda: 3, ended.set)
    running = asyncio.create_task(presence.run())
    try:
        async with asyncio.timeout(5):
            while not (found := await processes.all()):  # noqa: ASYNC110 - it is in Redis
                await asyncio.sleep(0.01)
            (process,) = found
            assert (process.kind, process.streams, process.draining) == ("API", 3, False)
            assert await processes.ask_to_end(process.process_id)
            await ended.wait()
        (process,) = await processes.all()
        assert process.draining
    finally:
        running.cancel()
        await asyncio.wait({running})
    assert await processes.all() == []
    assert not await processes.ask_to_end(process.process_id)


async def test_a_process_that_is_silent_is_forgotten(redis):
    processes, now = RedisProcesses(redis), this_process(ProcessKind.WORKER, ("bots",))
    silent = Process("w", ProcessKind.WORKER, "1", 0, now.seen_at - SILENT_MS - 1)
    assert not await processes.announce(silent)
    assert not await processes.announce(now)

    assert await processes.all() == [now]
    assert await redis.hlen(keys.PROCESSES) == 1


# Against the real stack.


@pytest.fixture(scope="module")
def token(stack: Stack) -> str:
    return operator(stack)


async def test_nobody_else_may(client):
    for name, query in QUERIES.items():
        (error,) = (await client.post(query))["errors"]
        assert (name, error["extensions"]["code"]) == (name, "FORBIDDEN")
    for name, query in PAYLOADS.items():
        payload = (await client.data(query % "{ userErrors { code } }"))[name]
        assert (name, payload) == (name, {"userErrors": [{"code": "FORBIDDEN"}]})


async def test_nobody_else_may_by_rest(stack):
    async with RestClient(stack.url) as rest:
        for status in (401, 403):
            for method, path, body in ROUTES:
                answer = await rest.http.request(method, f"/v1/operator{path}", json=body)
                assert (path, answer.status_code) == (path, status)
            await rest.sign_in("Ann")


async def test_every_kind_of_process_is_there_and_a_drained_one_is_started_anew(stack, token):
    async with with_token(stack, token) as olga:
        query = "{ processes { id kind queues } }"
        before = (await olga.data(query))["processes"]
        assert {process["kind"] for process in before} == set(ProcessKind)
        (old,) = [p["id"] for p in before if p["kind"] == "SWEEPER"]
        drain = "mutation ($p: ID!) { drainProcess(processId: $p, reason: %s) { processId } }"
        await olga.data(drain % '"A test."', p=old)
        async with asyncio.timeout(30):
            while True:
                now = {p["id"] for p in (await olga.data(query))["processes"]}
                if old not in now and any(id_.startswith("sweeper-") for id_ in now):
                    return
                await asyncio.sleep(0.2)


async def test_all_tokens_of_a_player_end(stack, token):
    async with Client(stack.url) as ann, with_token(stack, token) as olga:
        await ann.sign_in("Ann")
        made = await ann.data(
            'mutation { createToken(input: {name: "b", scopes: [BOT]}) { token } }'
        )
        query = 'mutation ($p: ID!) { revokeTokens(playerId: $p, reason: "Stolen.") { revoked } }'

        assert (await olga.data(query, p=ann.player_id))["revokeTokens"] == {"revoked": 2}
        assert (await olga.data(query, p=ann.player_id))["revokeTokens"] == {"revoked": 0}
        for dead in (str(ann.token), made["createToken"]["token"]):
            async with with_token(stack, dead) as other:
                (error,) = (await other.post("{ tokens { id } }"))["errors"]
                assert error["extensions"]["code"] == "UNAUTHENTICATED"


@pytest.mark.parametrize(
    ("query", "variables"),
    [
        ("query ($x: Int) { stuckMatches(olderThanSeconds: $x) { matchId } }", {"x": -1}),
        ("query ($x: Int) { stuckMatches(first: $x) { matchId } }", {"x": 1000}),
        ("query ($x: String) { operatorActs(after: $x) { edges { cursor } } }", {"x": "YQ=="}),
    ],
)
async def test_what_cannot_be_asked_for_is_refused(stack, token, query, variables):
    async with with_token(stack, token) as olga:
        (error,) = (await olga.post(query, **variables))["errors"]

    assert error["extensions"]["code"] == "INVALID_INPUT"


async def test_the_command_line_does_the_same(stack, client):
    match = await client.create({"kind": "PLAYER"}, {"kind": "BOT"})

    def admin(*words: str) -> tuple[int, str]:
        ran = CliRunner().invoke(app, words, env={"RINGMASTER_REDIS_URL": stack.redis_url})
        return ran.exit_code, ran.stdout or ran.stderr.splitlines()[-1]

    code, told = await asyncio.to_thread(admin, "cancel", match["id"], "--reason", "A test.")
    assert (code, json.loads(told)["status"]) == (0, "ABANDONED")
    code, told = await asyncio.to_thread(admin, "cancel", match["id"], "--reason", "Again.")
    assert (code, told) == (1, "ringmaster: The match is over.")
    code, told = await asyncio.to_thread(admin, "log", "--first", "2")
    again, first = (edge["node"] for edge in json.loads(told)["edges"])
    assert [(a["target"], a["outcome"]) for a in (first, again)] == [
        (match["id"], "DONE"),
        (match["id"], "MATCH_OVER"),
    ]
    assert first["operator"].startswith("cli:")


async def test_who_has_no_name_is_told_by_number(monkeypatch):
    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 10001")

    monkeypatch.setattr("getpass.getuser", nobody)

    assert _by().name.startswith(f"cli:{os.getuid()}@")


async def test_what_is_no_id_is_of_nothing_and_not_kept(parts):
    for target in ("\x00", "x" * 201, "a b", "\U0001f600"):
        with pytest.raises(Refused) as refused:
            await parts.operators.drain(OLGA, target, "Slow.")
        assert refused.value.code is ErrorCode.NOT_FOUND

    assert await parts.operators.acts() == ([], False)


async def test_all_that_is_stuck_is_sent_before_the_process_ends(redis_url, redis):
    parts = build(Settings(redis_url=redis_url))
    for _ in range(24):
        await open_match(parts, BOT, BOT)
    await parts.close()
    assert await redis.llen("bots") == 24  # the hints of their opening

    parts = build(Settings(redis_url=redis_url))
    stuck = [one.match_id for one in await parts.operators.stuck(seconds=-60)]
    sent = [await parts.operators.send_due(OLGA, match_id) for match_id in stuck]
    await parts.close()

    assert (sum(sent), await redis.llen("bots")) == (24, 48)


async def test_what_the_broker_does_not_take_is_not_called_sent(redis_url, redis):
    dead = f"redis://127.0.0.1:{free_port()}/0"
    parts = build(Settings(redis_url=redis_url, broker_url=dead))
    match_id = await open_match(parts, BOT, BOT)

    with pytest.raises(Unavailable):
        await parts.operators.send_due(OLGA, match_id, quick=True)

    ((entry, *_), _) = await parts.operators.acts()
    assert (entry.act, entry.reason, entry.outcome) == (Act.SEND_DUE, "quick", "UNAVAILABLE")
    assert await redis.dbsize() > 0
    await parts.close()
