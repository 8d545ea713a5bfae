"""GraphQL over HTTP against the real stack: what can be done, and how all else is refused."""

import json
import re

import pytest

from tests.client import Client

PLAYER, OPEN, BOT = {"kind": "PLAYER"}, {"kind": "OPEN"}, {"kind": "BOT"}


async def until(client: Client, match_id: str, status: str) -> dict:
    """The match once it has a status."""
    async for update in client.updates(match_id):
        if update["match"]["status"] == status:
            return update["match"]
    raise AssertionError("the stream ended")


async def on_turn(client: Client, **more) -> dict:
    """A match with two bots in which it is this player's turn."""
    match = await client.create_with_bots(3, **more)
    await client.choose(match["id"])
    async for update in client.updates(match["id"]):
        match = update["match"]
        if match["round"]["turn"] == 0:
            return match
        assert match["status"] in ("CHOOSING", "PLAYING"), "the round was over too soon"
    raise AssertionError("the stream ended")


def code(payload: dict) -> str:
    (error,) = payload["userErrors"]
    assert payload["match"] is None
    assert error["message"]
    return error["code"]


async def test_a_person_plays_a_whole_match_against_bots(client):
    match = await client.create_with_bots(3)
    match_id, versions = match["id"], []
    async for update in client.updates(match_id, 0):
        versions.append(update["version"])
        match = update["match"]
        legal = match["you"]["legal"]
        current = await client.match(match_id)
        if current["version"] == match["version"] and (
            legal["flip"] or legal["shows"] or legal["scout"]
        ):
            await client.act(match)

    assert match["status"] == "FINISHED"
    assert versions == list(range(1, match["version"] + 1))
    scores = [seat["score"] for seat in match["seats"]]
    assert match["winners"] == [n for n, s in enumerate(scores) if s == max(scores)]


async def test_a_new_match_tells_what_its_creator_may_know(client):
    match = await client.create(PLAYER, OPEN, {"kind": "BOT", "botLevel": "casual", "name": "Zoe"})

    assert match["status"] == "LOBBY"
    assert re.fullmatch(r"[0-9a-f]{64}", match["deckCommitment"])
    assert re.fullmatch(r"[2-9A-HJ-NP-Z]{8}", match["joinCode"])
    assert [s["kind"] for s in match["seats"]] == ["PLAYER", "OPEN", "BOT"]
    assert [s["name"] for s in match["seats"]] == ["Ann", None, "Zoe"]
    assert match["you"]["seat"] == 0
    assert match["you"]["hand"] == []


async def test_friends_join_a_private_match_by_code_and_play_starts(client, stack):
    match = await client.create(PLAYER, OPEN, OPEN)
    async with Client(stack.url) as bob:
        await bob.sign_in("Bob")
        assert await bob.match(match["id"]) is None

        refused = await bob.join(matchId=match["id"], name="Bob")
        joined = await bob.join(joinCode=match["joinCode"], name="Bob", clientMutationId="c")
        started = await client.by_id("startMatch", match["id"])

        assert code(refused) == "FORBIDDEN"
        assert joined["match"]["you"]["seat"] == 1
        assert started["match"]["status"] in ("CHOOSING", "PLAYING")
        assert started["match"]["seats"][2]["kind"] == "BOT"
        assert len(joined["match"]["seats"]) == 3


async def test_only_the_host_starts_early(client, stack):
    match = await client.create(PLAYER, OPEN, OPEN, visibility="PUBLIC")
    async with Client(stack.url) as bob:
        await bob.sign_in("Bob")
        await bob.join(matchId=match["id"], name="Bob")

        assert code(await bob.by_id("startMatch", match["id"])) == "FORBIDDEN"


async def test_leaving_the_lobby_frees_the_seat_and_the_last_to_leave_ends_the_match(client, stack):
    match = await client.create(PLAYER, OPEN, OPEN, visibility="PUBLIC")
    async with Client(stack.url) as bob:
        await bob.sign_in("Bob")
        await bob.join(matchId=match["id"], name="Bob")

        left = await client.by_id("leaveMatch", match["id"])
        ended = await bob.by_id("leaveMatch", match["id"])

        assert left["match"]["seats"][0]["kind"] == "OPEN"
        assert left["match"]["you"] is None
        assert ended["match"]["status"] == "ABANDONED"
        assert code(await bob.join(matchId=match["id"], name="Bob")) == "MATCH_OVER"


async def test_a_full_match_takes_nobody(client, stack):
    match = await client.create_with_bots(3, visibility="PUBLIC")
    async with Client(stack.url) as bob:
        await bob.sign_in("Bob")

        assert code(await bob.join(matchId=match["id"], name="Bob")) == "MATCH_FULL"


async def test_public_matches_are_listed_in_pages(client):
    ids = [(await client.create(PLAYER, OPEN, visibility="PUBLIC"))["id"] for _ in range(3)]
    query = """query ($after: String) { matches(status: LOBBY, first: 2, after: $after) {
        edges { cursor node { id status joinCode you { seat } } }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""

    first = (await client.data(query))["matches"]
    second = (await client.data(query, after=first["pageInfo"]["endCursor"]))["matches"]

    listed = [edge["node"]["id"] for edge in first["edges"] + second["edges"]]
    assert listed[:3] == ids[::-1]
    assert first["pageInfo"]["hasNextPage"]
    assert first["pageInfo"]["endCursor"] == first["edges"][-1]["cursor"]
    assert second["pageInfo"]["hasPreviousPage"]


async def test_a_node_is_found_by_its_id(client):
    match = await client.create(PLAYER, OPEN)
    query = "query ($id: ID!) { node(id: $id) { __typename id ... on Match { status } } }"

    data = await client.data(query, id=match["id"])

    assert data["node"] == {"__typename": "Match", "id": match["id"], "status": "LOBBY"}
    assert (await client.data(query, id="m0-aaaaaaaaaaaaaaaa"))["node"] is None


async def test_bot_levels_are_published(client):
    data = await client.data("{ botLevels { name description budgetMs } }")

    names = [level["name"] for level in data["botLevels"]]
    assert names == ["casual", "regular", "skilled", "strong", "expert"]


async def test_every_refusal_of_a_lobby_input_names_the_field(client):
    cases = [
        ({"seats": [PLAYER]}, "seats"),
        ({"seats": [PLAYER] + [BOT] * 5}, "seats"),
        ({"seats": []}, "seats"),
        ({"seats": [PLAYER, PLAYER]}, "seats"),
        ({"seats": [PLAYER, {"kind": "BOT", "botLevel": "godlike"}]}, "botLevel"),
        ({"seats": [PLAYER, {"kind": "OPEN", "botLevel": "regular"}]}, "botLevel"),
        ({"seats": [PLAYER, {"kind": "OPEN", "name": "X"}]}, "name"),
        ({"seats": [PLAYER, {"kind": "BOT", "name": "x" * 41}]}, "name"),
        ({"seats": [PLAYER, BOT], "turnSeconds": 4}, "turnSeconds"),
        ({"seats": [PLAYER, BOT], "turnSeconds": -1}, "turnSeconds"),
        ({"seats": [PLAYER, BOT], "entropy": ""}, "entropy"),
        ({"seats": [PLAYER, BOT], "entropy": "a b"}, "entropy"),
        ({"seats": [PLAYER, BOT], "entropy": "x" * 65}, "entropy"),
        ({"seats": [BOT, BOT], "entropy": "x"}, "entropy"),
    ]
    for input_, field in cases:
        payload = await client.payload("createMatch", "CreateMatchInput", input_)
        assert code(payload) == "INVALID_INPUT", input_
        assert payload["userErrors"][0]["path"] == [field]


@pytest.mark.parametrize("name", ["", "   ", "x" * 41, "a\u0000b", "a\u202eb", "a\nb", "\u200b"])
async def test_a_name_that_cannot_be_shown_is_refused(client, name):
    query = "mutation ($n: String!) { signInAsGuest(name: $n) { token userErrors { code path } } }"

    payload = (await client.data(query, n=name))["signInAsGuest"]

    assert payload["token"] is None
    assert payload["userErrors"] == [{"code": "INVALID_INPUT", "path": ["name"]}]


async def test_an_unknown_match_is_not_found_by_every_mutation(client):
    match_id = "m0-aaaaaaaaaaaaaaaa"
    scout = {"end": "LEFT", "insertAt": 0, "flip": False}

    for payload in (
        await client.choose(match_id),
        await client.show(match_id, 0, 1),
        await client.scout(match_id, "LEFT", 0, flip=True),
        await client.scout_and_show(match_id, scout, {"first": 0, "count": 1}),
        await client.join(matchId=match_id, name="Ann"),
        await client.join(joinCode="AAAAAAAA", name="Ann"),
        await client.by_id("leaveMatch", match_id),
        await client.by_id("startMatch", match_id),
        await client.show("", 0, 1),
        await client.show("x" * 1000, 0, 1),
    ):
        assert code(payload) == "NOT_FOUND"
    assert await client.match(match_id) is None


async def test_every_illegal_move_has_its_code_and_changes_nothing(client, stack):
    match = await on_turn(client, visibility="PUBLIC")
    match_id = match["id"]
    hand = len(match["you"]["hand"])
    too_many = {"end": "LEFT", "insertAt": hand + 1, "flip": False}
    fine = {"end": "LEFT", "insertAt": 0, "flip": False}
    async with Client(stack.url) as eve:
        await eve.sign_in("Eve")
        got = {
            "NOT_SEATED": await eve.show(match_id, 0, 1),
            "WRONG_PHASE": await client.choose(match_id),
            "BAD_RANGE": await client.show(match_id, hand, 1),
            "STALE_VERSION": await client.show(match_id, 0, 1, expectedVersion=1),
            "INVALID_INPUT": await client.show(match_id, 0, 1, idempotencyKey=""),
        }
    for first, count in ((-1, 1), (0, 0), (0, -1), (0, hand + 1), (2**31 - 1, 2**31 - 1)):
        assert code(await client.show(match_id, first, count)) == "BAD_RANGE"
    if match["round"]["activeSet"]:
        got["BAD_INSERTION"] = await client.scout(match_id, "LEFT", hand + 1, flip=False)
        assert code(await client.scout(match_id, "LEFT", -1, flip=False)) == "BAD_INSERTION"
        both = await client.scout_and_show(match_id, too_many, {"first": 0, "count": 1})
        assert code(both) == "BAD_INSERTION"
        half = await client.scout_and_show(match_id, fine, {"first": 0, "count": 99})
        assert code(half) == "BAD_RANGE"
    else:
        got["NO_ACTIVE_SET"] = await client.scout(match_id, "LEFT", 0, flip=False)

    for expected, payload in got.items():
        assert code(payload) == expected
    after = await client.match(match_id)
    assert after == match


async def test_out_of_turn_is_refused(client, stack):
    match = await client.create(PLAYER, OPEN, visibility="PUBLIC")
    async with Client(stack.url) as bob:
        await bob.sign_in("Bob")
        await bob.join(matchId=match["id"], name="Bob")
        players = [client, bob]
        assert code(await client.show(match["id"], 0, 1)) == "WRONG_PHASE"
        await client.choose(match["id"])
        assert code(await client.choose(match["id"])) == "HAND_ALREADY_CHOSEN"
        chosen = (await bob.choose(match["id"]))["match"]
        turn = chosen["round"]["turn"]

        assert code(await players[1 - turn].show(match["id"], 0, 1)) == "NOT_YOUR_TURN"
        unavailable = await players[turn].scout_and_show(
            match["id"],
            {"end": "LEFT", "insertAt": 0, "flip": False},
            {"first": 0, "count": 1},
        )
        assert code(unavailable) == "SCOUT_AND_SHOW_UNAVAILABLE"
        shown = (await players[turn].show(match["id"], 0, 1))["match"]
        assert code(await players[turn].show(match["id"], 0, 1)) == "NOT_YOUR_TURN"
        assert shown["round"]["turn"] == 1 - turn


async def test_a_move_with_a_key_happens_once(client):
    match = await on_turn(client)
    key = {"idempotencyKey": "try-1", "expectedVersion": match["version"]}
    option = (match["you"]["legal"]["shows"] or [None])[0]
    move = (
        (lambda: client.show(match["id"], option["first"], option["count"], **key))
        if option
        else (lambda: client.scout(match["id"], "LEFT", 0, flip=False, **key))
    )

    first, again = await move(), await move()
    other = await client.show(match["id"], 7, 7, idempotencyKey="try-1")

    assert first["match"]["version"] == match["version"] + 1
    assert again == first
    assert code(other) == "KEY_REUSED"


async def test_a_stale_version_tells_the_current_one(client):
    match = await on_turn(client)

    payload = await client.show(match["id"], 0, 1, expectedVersion=1)

    assert payload["userErrors"][0]["currentVersion"] == match["version"]


async def test_the_second_step_of_a_scout_and_show_is_handed_out(client):
    query = """query ($m: ID!) { match(id: $m) { you { legal {
        scoutAndShowAvailable
        scoutAndShow { end flip insertAt shows { first count kind } }
        showsAfterScout(end: LEFT, insertAt: 0, flip: false) { first count kind } } } } }"""
    match = await on_turn(client)

    legal = (await client.data(query, m=match["id"]))["match"]["you"]["legal"]

    at_left = [
        option["shows"]
        for option in legal["scoutAndShow"]
        if (option["end"], option["insertAt"], option["flip"]) == ("LEFT", 0, False)
    ]
    shows = sorted(at_left[0] if at_left else [], key=str)
    assert sorted(legal["showsAfterScout"], key=str) == shows
    assert legal["scoutAndShowAvailable"] == bool(legal["scoutAndShow"])


@pytest.mark.parametrize(
    "authorization", ["Bearer wrong", "Basic eDp5", "Bearer", "", "Bearer é", "wrong"]
)
async def test_a_token_that_is_not_known_is_an_error_of_the_request(stack, authorization):
    async with Client(stack.url) as nobody:
        answer = await nobody.http.post(
            "/graphql",
            json={"query": "{ matches { edges { cursor } } }"},
            headers={"authorization": authorization.encode()},
        )

    assert answer.status_code == 200
    assert answer.json()["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"


async def test_writing_needs_a_sign_in(stack):
    async with Client(stack.url) as nobody:
        answer = await nobody.post(
            'mutation { leaveMatch(matchId: "m0-aaaaaaaaaaaaaaaa") { userErrors { code } } }'
        )

    assert answer["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"


async def test_no_public_id_serves_as_a_token(client, stack):
    match = await client.create_with_bots(3, visibility="PUBLIC")
    for public in (match["id"], client.player_id, match["deckCommitment"], match["joinCode"]):
        async with Client(stack.url) as eve:
            eve.token = public
            answer = await eve.post(
                "mutation ($m: ID!) { leaveMatch(matchId: $m) { userErrors { code } } }",
                m=match["id"],
            )
        assert answer["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"


BODIES = {
    "no JSON": (b"hello", 400),
    "truncated": (b'{"query": "{ botLevels', 400),
    "empty": (b"", 400),
    "a list": (b"[]", 400),
    "a string": (b'"x"', 400),
    "a number": (b"1", 400),
    "null": (b"null", 400),
    "no query": (b"{}", 400),
    "query of a wrong type": (b'{"query": 1}', 400),
    "variables of a wrong type": (b'{"query": "{ botLevels { name } }", "variables": 1}', 400),
    "operation name of a wrong type": (b'{"query": "{ __typename }", "operationName": 1}', 400),
    "bytes that are no UTF-8": (b'{"query": "\xff"}', 400),
    "a lone surrogate": (b'{"query": "{ __typename }", "variables": {"a": "\\ud800"}}', 400),
    "NUL": (b'{"query": "\\u0000"}', 200),
    "nesting": (b'{"query":' + b"[" * 20000 + b"]" * 20000 + b"}", 400),
    "a number of 10,000 digits": (b'{"query": ' + b"9" * 10000 + b"}", 400),
    "1 MB": (b'{"query": "' + b"a" * 1_000_000 + b'"}', 413),
    "two operations and no name": (
        b'{"query": "query A { __typename } query B { __typename }"}',
        200,
    ),
    "two unnamed operations": (b'{"query": "{ __typename } { __typename }"}', 200),
    "a subscription": (b'{"query": "subscription { matchUpdates(matchId: 1) { at } }"}', 400),
}


@pytest.mark.parametrize("kind", BODIES)
async def test_what_is_no_request_gets_a_typed_error(stack, kind):
    body, status = BODIES[kind]
    async with Client(stack.url) as nobody:
        answer = await nobody.http.post(
            "/graphql", content=body, headers={"content-type": "application/json"}
        )

    assert answer.status_code == status, answer.text
    errors = answer.json()["errors"]
    assert errors
    assert all(error["extensions"]["code"] != "INTERNAL" for error in errors)
    assert "Traceback" not in answer.text


DOCUMENTS: dict[str, tuple[str, dict, str | None]] = {
    "syntax": ("{ botLevels {", {}, "GRAPHQL_PARSE_FAILED"),
    "no such field": ("{ cards }", {}, "GRAPHQL_VALIDATION_FAILED"),
    "a wrong literal": ('{ matches(first: "x") { edges { cursor } } }', {}, None),
    "a wrong variable": (
        "query ($f: Int) { matches(first: $f) { edges { cursor } } }",
        {"f": "x"},
        None,
    ),
    "an int over 32 bits": (
        "query ($f: Int) { matches(first: $f) { edges { cursor } } }",
        {"f": 2**40},
        None,
    ),
    "no such enum value": (
        "query ($s: MatchStatus) { matches(status: $s) { edges { cursor } } }",
        {"s": "PAUSED"},
        None,
    ),
    "too many tokens": ("{" + " __typename" * 2000 + "}", {}, "GRAPHQL_PARSE_FAILED"),
    "a fragment cycle": (
        "{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }",
        {},
        "GRAPHQL_VALIDATION_FAILED",
    ),
    "a selection nested 400 deep": ("{ a" * 400 + "}" * 400, {}, None),
    "a list nested 900 deep": (
        "{ matches(first: " + "[" * 900 + "]" * 900 + ") { edges { cursor } } }",
        {},
        "GRAPHQL_PARSE_FAILED",
    ),
    "a page too large": ("{ matches(first: 101) { edges { cursor } } }", {}, "INVALID_INPUT"),
    "a page of less than nothing": ("{ matches(first: -1) { edges { cursor } } }", {}, None),
    "a cursor of ours it is not": (
        '{ matches(after: "????") { edges { cursor } } }',
        {},
        "INVALID_INPUT",
    ),
    "a cursor of another place": (
        '{ matches(after: "YTpi") { edges { cursor } } }',
        {},
        "INVALID_INPUT",
    ),
}


@pytest.mark.parametrize("kind", DOCUMENTS)
async def test_a_malformed_document_gets_a_typed_error(client, kind):
    query, variables, expected = DOCUMENTS[kind]

    answer = await client.post(query, **variables)

    found = answer["errors"][0]["extensions"]["code"]
    assert found == expected or (expected is None and found != "INTERNAL")
    assert found in (
        "GRAPHQL_PARSE_FAILED",
        "GRAPHQL_VALIDATION_FAILED",
        "BAD_USER_INPUT",
        "INVALID_INPUT",
    )


async def test_wrong_methods_and_types_are_refused(stack):
    async with Client(stack.url) as nobody:
        form = await nobody.http.post("/graphql", data={"query": "{ __typename }"})
        got = await nobody.http.get("/graphql", params={"query": "{ __typename }"})
        mutation = 'mutation { signInAsGuest(name: "x") { token } }'
        written = await nobody.http.get("/graphql", params={"query": mutation})
        deleted = await nobody.http.delete("/graphql")

    assert [form.status_code, got.status_code, written.status_code] == [415, 405, 405]
    assert deleted.status_code == 405
    assert got.headers["allow"] == "POST, OPTIONS"
    assert "token" not in written.text


async def test_what_no_route_answers_is_a_problem_document(stack):
    async with Client(stack.url) as nobody:
        for method, path, status, code in (
            ("GET", "/nowhere", 404, "NOT_FOUND"),
            ("POST", "/healthz", 405, "METHOD_NOT_ALLOWED"),
        ):
            answer = await nobody.http.request(method, path)
            assert answer.status_code == status
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["code"] == code


async def test_a_browser_gets_graphiql_and_others_do_not(stack):
    async with Client(stack.url) as nobody:
        page = await nobody.http.get("/graphql", headers={"accept": "text/html"})
        plain = await nobody.http.get("/graphql", headers={"accept": "application/json"})

    assert "text/html" in page.headers["content-type"]
    assert plain.status_code == 405


async def test_health_and_readiness(stack):
    async with Client(stack.url) as nobody:
        assert (await nobody.http.get("/healthz")).json() == {"status": "ok"}
        assert (await nobody.http.get("/readyz")).json() == {"status": "ready"}


async def test_updates_come_as_server_sent_events_too(client):
    match = await client.create(BOT, BOT, BOT, visibility="PUBLIC")
    query = """subscription ($m: ID!) { matchUpdates(matchId: $m, after: 0) {
        version match { status } } }"""
    versions = []
    async with client.http.stream(
        "POST",
        "/graphql",
        json={"query": query, "variables": {"m": match["id"]}},
        headers={"accept": "text/event-stream"},
    ) as answer:
        async for line in answer.aiter_lines():
            if line.startswith("data:") and line[5:].strip():
                data = json.loads(line[5:])["data"]
                versions.append(data["matchUpdates"]["version"])

    assert versions == list(range(1, len(versions) + 1))
    assert data["matchUpdates"]["match"]["status"] == "FINISHED"
