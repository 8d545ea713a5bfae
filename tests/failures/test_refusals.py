"""Why something was refused (kinds 4, 5 and 6), by GraphQL and by REST alike.

A code of the rules each: both transports tell it, the same, and the match stays as it was to the
byte. OWN_SET cannot arise in play (tests/engine/test_play.py has it). Writes to what does not exist
make nothing in Redis. Inputs of a wrong form: tests/api/test_graphql.py and test_rest.py.
"""

import json
import re
import secrets
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

import pytest

from api.store.connections import connect
from schema.codes import ErrorCode
from tests.client import MATCH
from tests.conftest import Stack
from tests.failures.people import (
    OPEN,
    PLAYER,
    Match,
    Person,
    begin,
    people,
    reach,
    sit_down,
    some_move,
)

Try = tuple[str, Person, str, Match | None]
SCOUT = {"end": "LEFT", "insertAt": 0, "flip": False}
BOTH = {"scout": SCOUT, "show": {"first": 0, "count": 1}}
STATUS = {"INVALID_INPUT": 422, "NOT_SEATED": 403, "FORBIDDEN": 403, "NOT_FOUND": 404}


async def invalid_input(players: list[Person]) -> Try:
    match = await players[0].rest.create(PLAYER, OPEN, visibility="PUBLIC")
    return match["id"], players[1], "join", {"name": "x" * 41}


async def wrong_phase(players: list[Person]) -> Try:
    return await sit_down(players), players[0], "show", {"first": 0, "count": 1}


async def wrong_phase_to_choose(players: list[Person]) -> Try:
    match_id, mover = await begin(players)
    return match_id, mover, "hand", {"flip": True}


async def hand_already_chosen(players: list[Person]) -> Try:
    match_id = await sit_down(players)
    await players[0].by_rest(match_id, "hand", {"flip": True})
    return match_id, players[0], "hand", {"flip": True}


async def not_your_turn(players: list[Person]) -> Try:
    match_id, mover = await begin(players)
    other = next(person for person in players if person is not mover)
    return match_id, other, "show", {"first": 0, "count": 1}


async def scout_and_show_unavailable(players: list[Person]) -> Try:
    match_id, mover = await begin(players[:2])
    return match_id, mover, "scout-and-show", BOTH


async def scout_and_show_spent(players: list[Person]) -> Try:
    chance = Random(1)

    async def move(match: Match) -> tuple[str, Match]:
        if not match["you"]["legal"]["scoutAndShowAvailable"]:
            return some_move(match, chance, scouts=0.3)
        mover = players[match["you"]["seat"]]
        every = await mover.rest.get(f"/matches/{match['id']}/scout-and-show")
        scout = every.json()["scoutAndShow"][0]
        return "scout-and-show", {
            "scout": {name: scout[name] for name in SCOUT},
            "show": {name: scout["shows"][0][name] for name in ("first", "count")},
        }

    def spent(match: Match) -> bool:
        own = match["seats"][match["you"]["seat"]]
        return not own["scoutAndShowAvailable"] and match["round"]["activeSet"] is not None

    match_id, mover, _ = await reach(players, spent, move)
    return match_id, mover, "scout-and-show", BOTH


async def no_active_set(players: list[Person]) -> Try:
    match_id, mover = await begin(players)
    return match_id, mover, "scout", SCOUT


async def no_chips(players: list[Person]) -> Try:
    chance = Random(2)

    async def move(match: Match) -> tuple[str, Match]:
        return some_move(match, chance, scouts=0.9)

    def without(match: Match) -> bool:
        own = match["seats"][match["you"]["seat"]]
        return own["scoutChips"] == 0 and match["round"]["activeSet"] is not None

    match_id, mover, _ = await reach(players[:2], without, move)
    return match_id, mover, "scout", SCOUT


async def second_turn(players: list[Person]) -> tuple[str, Person, Match]:
    """A turn with a single on the table."""
    match_id, first = await begin(players)
    assert (await first.by_rest(match_id, "show", {"first": 0, "count": 1}))[0] == "OK"
    turn = (await first.match(match_id))["round"]["turn"]
    return match_id, players[turn], await players[turn].match(match_id)


async def bad_insertion(players: list[Person]) -> Try:
    match_id, mover, match = await second_turn(players)
    return match_id, mover, "scout", {**SCOUT, "insertAt": len(match["you"]["hand"]) + 1}


async def bad_insertion_of_both(players: list[Person]) -> Try:
    match_id, mover, _ = await second_turn(players)
    return match_id, mover, "scout-and-show", {**BOTH, "scout": {**SCOUT, "insertAt": -1}}


async def bad_range(players: list[Person]) -> Try:
    match_id, mover = await begin(players)
    return match_id, mover, "show", {"first": 0, "count": 40}


async def bad_range_of_both(players: list[Person]) -> Try:
    match_id, mover, match = await second_turn(players)
    show = {"first": len(match["you"]["hand"]) + 1, "count": 1}
    return match_id, mover, "scout-and-show", {**BOTH, "show": show}


async def not_a_set(players: list[Person]) -> Try:
    match_id, mover = await begin(players)
    hand = (await mover.match(match_id))["you"]["hand"]  # no deal is a set from end to end
    return match_id, mover, "show", {"first": 0, "count": len(hand)}


async def set_too_low(players: list[Person]) -> Try:
    chance = Random(3)

    async def move(match: Match) -> tuple[str, Match]:
        return some_move(match, chance, scouts=0.3)

    def beaten(match: Match) -> bool:
        active = match["round"]["activeSet"]
        return active is not None and len(active["cards"]) > 1

    match_id, mover, _ = await reach(players, beaten, move)
    return match_id, mover, "show", {"first": 0, "count": 1}


async def not_seated(players: list[Person]) -> Try:
    match_id, _ = await begin(players[:2])
    return match_id, players[2], "show", {"first": 0, "count": 1}


async def not_seated_to_leave(players: list[Person]) -> Try:
    match_id, _ = await begin(players[:2])
    return match_id, players[2], "leave", None


async def forbidden_to_start(players: list[Person]) -> Try:
    match = await players[0].rest.create(PLAYER, OPEN, visibility="PUBLIC")
    return match["id"], players[1], "start", None


async def match_full(players: list[Person]) -> Try:
    match_id, _ = await begin(players[:2])
    return match_id, players[2], "join", {"name": "P2"}


async def abandoned(players: list[Person]) -> str:
    match = await players[0].rest.create(PLAYER, OPEN, visibility="PUBLIC")
    assert (await players[0].by_rest(match["id"], "leave"))[0] == "OK"
    return str(match["id"])


async def match_over(players: list[Person]) -> Try:
    return await abandoned(players), players[0], "show", {"first": 0, "count": 1}


async def match_over_to_join(players: list[Person]) -> Try:
    return await abandoned(players), players[1], "join", {"name": "P1"}


CASES: dict[str, list[Callable[[list[Person]], Awaitable[Try]]]] = {
    "INVALID_INPUT": [invalid_input],
    "WRONG_PHASE": [wrong_phase, wrong_phase_to_choose],
    "HAND_ALREADY_CHOSEN": [hand_already_chosen],
    "NOT_YOUR_TURN": [not_your_turn],
    "SCOUT_AND_SHOW_UNAVAILABLE": [scout_and_show_unavailable],
    "SCOUT_AND_SHOW_SPENT": [scout_and_show_spent],
    "NO_ACTIVE_SET": [no_active_set],
    "NO_CHIPS": [no_chips],
    "BAD_INSERTION": [bad_insertion, bad_insertion_of_both],
    "BAD_RANGE": [bad_range, bad_range_of_both],
    "NOT_A_SET": [not_a_set],
    "SET_TOO_LOW": [set_too_low],
    "NOT_SEATED": [not_seated, not_seated_to_leave],
    "FORBIDDEN": [forbidden_to_start],
    "MATCH_FULL": [match_full],
    "MATCH_OVER": [match_over, match_over_to_join],
}
ELSEWHERE = {
    *("OWN_SET", "NOT_FOUND", "STALE_VERSION", "KEY_REUSED", "CURSOR_EXPIRED"),
    *("TOO_MANY_SERIES", "TOO_MANY_TOKENS"),
}


@pytest.mark.parametrize(
    ("code", "case"), [(code, case) for code, cases in CASES.items() for case in cases]
)
async def test_a_refusal_has_its_code_by_both_transports_and_changes_nothing(stack, code, case):
    async with people(stack, 3) as players:
        match_id, mover, what, body = await case(players)
        before = [await person.match(match_id) for person in players]

        by_graphql, payload = await mover.by_graphql(match_id, what, body)
        by_rest, answer = await mover.by_rest(match_id, what, body)

        assert (by_graphql, by_rest) == (code, code)
        assert answer.status_code == STATUS.get(code, 409)
        assert payload["match"] is None
        (error,) = payload["userErrors"]
        problem = answer.json()
        assert problem.get("path") == error["path"]
        assert problem["detail"] == error["message"] or code == "INVALID_INPUT"
        assert [await person.match(match_id) for person in players] == before


def test_no_code_is_left_out():
    assert {*CASES, *ELSEWHERE} >= {code.value for code in ErrorCode} - {"RATE_LIMITED"}


@pytest.mark.parametrize("expected", [1, 3, 5, 999])
async def test_a_stale_version_is_a_conflict_that_tells_the_current_one(stack, expected):
    async with people(stack, 2) as players:
        match_id, mover = await begin(players)
        before = await mover.match(match_id)
        assert before["version"] == 4
        move = {"first": 0, "count": 1}

        code, payload = await mover.by_graphql(match_id, "show", move, expectedVersion=expected)
        by_rest, answer = await mover.by_rest(match_id, "show", move, if_match=f'"{expected}"')

        assert (code, by_rest, answer.status_code) == ("STALE_VERSION", "STALE_VERSION", 412)
        assert payload["userErrors"][0]["currentVersion"] == 4
        assert answer.json()["currentVersion"] == 4
        assert answer.headers["etag"] == '"4"'
        assert await mover.match(match_id) == before


@pytest.mark.parametrize(
    ("graphql", "rest"),
    [(0, '"0"'), (-1, '"-1"'), ("x", "x"), (1.5, '"1.5"'), (2**31, '"9999999999"')],
)
async def test_a_malformed_version_is_an_input_error_and_no_conflict(stack, graphql, rest):
    async with people(stack, 2) as players:
        match_id, mover = await begin(players)
        move = {"first": 0, "count": 1}

        code, error = await mover.by_graphql(match_id, "show", move, expectedVersion=graphql)
        by_rest, answer = await mover.by_rest(match_id, "show", move, if_match=rest)

        assert code in ("INVALID_INPUT", "BAD_USER_INPUT", "GRAPHQL_VALIDATION_FAILED")
        assert "currentVersion" not in json.dumps(error).replace('"currentVersion": null', "")
        assert (by_rest, answer.status_code) == ("INVALID_INPUT", 422)
        assert (await mover.match(match_id))["version"] == 4


WRITES: list[tuple[str, Any]] = [
    ("hand", {"flip": True}),
    ("show", {"first": 0, "count": 1}),
    ("scout", SCOUT),
    ("scout-and-show", BOTH),
    ("join", {"name": "P0"}),
    ("join", {"name": "P0", "joinCode": "ABCDEFGH"}),
    ("leave", None),
    ("start", None),
]
READS = ["", "/updates", "/replay", "/scout-and-show", "/advice"]
READ = (
    """query ($m: ID!) { match(id: $m) { ...M } node(id: $m) { id } replay(matchId: $m)
      advice(matchId: $m) { userErrors { code } } }"""
    + MATCH
)


async def test_what_does_not_exist_is_not_found_and_not_made(stack: Stack):
    redis = connect(stack.redis_url)
    async with people(stack, 1) as (person,):
        before = set(await redis.keys("*"))
        for number in range(12):
            match_id = f"m{number:x}-{secrets.token_urlsafe(12)}"
            for what, body in WRITES:
                assert (await person.by_graphql(match_id, what, body))[0] == "NOT_FOUND"
                assert (await person.by_rest(match_id, what, body))[0] == "NOT_FOUND"
            read = await person.graphql.data(READ, m=match_id)
            assert [read[n] for n in ("match", "node", "replay")] == [None] * 3
            assert read["advice"]["userErrors"] == [{"code": "NOT_FOUND"}]
            for path in READS:
                answer = await person.rest.get(f"/matches/{match_id}{path}")
                assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")
        made = {str(key) for key in set(await redis.keys("*")) - before}
    await redis.aclose()

    # Matches of other tests may still move from list to list, hints come and go, and the caller was
    # charged.
    grown = {key for key in made if "rm:" in key and not re.search(r":public:|rm:limit:", key)}
    assert {key for key in grown if not re.search(r"(:due|:bell|rm:sweeper)'?$", key)} == set()
