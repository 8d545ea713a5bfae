"""REST: the same service, codes and limits as GraphQL, as resources and problem documents."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from tests.client import Client
from tests.conftest import Stack
from tests.rest_client import RestClient

PLAYER, OPEN, BOT = {"kind": "PLAYER"}, {"kind": "OPEN"}, {"kind": "BOT"}
PROBLEM = "application/problem+json"


@pytest.fixture
async def rest(stack: Stack) -> AsyncIterator[RestClient]:
    async with RestClient(stack.url) as client:
        await client.sign_in("Ann")
        yield client


async def play(client: RestClient, match_id: str) -> list[dict]:
    """Follow a match by server-sent events and play its player's turns; every update."""
    updates = []
    async for event in client.events(f"/matches/{match_id}/updates"):
        if event["event"] == "complete":
            assert json.loads(event["data"]) == {"reason": "OVER"}
            break
        assert event["event"] == "update", event
        updates.append(json.loads(event["data"]))
        assert event["id"] == str(updates[-1]["version"])
        match = updates[-1]["match"]
        legal = match["you"]["legal"]
        if legal["flip"] or legal["shows"] or legal["scout"]:
            answer = await client.act(match)
            # The stream may tell of a state that has been acted on already.
            assert answer.status_code in (200, 409), answer.text
    return updates


async def test_a_whole_match_by_rest_alone(rest):
    match = await rest.create(PLAYER, BOT, BOT)

    updates = await play(rest, match["id"])

    versions = [update["version"] for update in updates]
    assert versions == list(range(versions[0], versions[-1] + 1))
    assert updates[-1]["match"]["status"] == "FINISHED"
    replay = await rest.get(f"/matches/{match['id']}/replay")
    assert replay.json()["format"] == "ringmaster-replay/1"
    assert replay.json()["winners"] == updates[-1]["match"]["winners"]


async def test_rest_and_graphql_tell_the_same(rest, stack):
    async with Client(stack.url) as client:
        client.token = rest.http.headers["authorization"].removeprefix("Bearer ")
        match = await client.create_with_bots(4)

        by_graphql, by_rest = None, None
        while not by_rest or not by_graphql or by_graphql["version"] != by_rest["version"]:
            by_graphql = await client.match(match["id"])
            by_rest = (await rest.get(f"/matches/{match['id']}")).json()

    def common(graphql, rest):
        if isinstance(graphql, dict):
            return {name: common(value, rest[name]) for name, value in graphql.items()}
        if isinstance(graphql, list):
            assert len(graphql) == len(rest)
            return [common(*pair) for pair in zip(graphql, rest, strict=True)]
        return rest

    assert common(by_graphql, by_rest) == by_graphql


async def test_a_new_match_has_an_address_and_a_tag(rest):
    answer = await rest.post("/matches", {"seats": [PLAYER, OPEN]})

    assert answer.status_code == 201
    found = await rest.http.get(answer.headers["location"])
    assert found.json() == answer.json()
    assert found.headers["etag"] == '"1"'
    known = await rest.http.get(answer.headers["location"], headers={"if-none-match": '"1"'})
    assert (known.status_code, known.content) == (304, b"")


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/matches/nonsense/show", {"first": 0, "count": 1}, 404, "NOT_FOUND"),
        ("/matches/{m}/show", {"first": 0, "count": 99}, 409, "BAD_RANGE"),
        ("/matches/{m}/show", {"first": 0, "count": 0}, 409, "BAD_RANGE"),
        ("/matches/{m}/show", {"first": "0", "count": 1}, 422, "INVALID_INPUT"),
        ("/matches/{m}/show", {"first": 0}, 422, "INVALID_INPUT"),
        ("/matches/{m}/show", {"first": 0, "count": 1, "more": 1}, 422, "INVALID_INPUT"),
        ("/matches/{m}/show", {"first": 2**31, "count": 1}, 422, "INVALID_INPUT"),
        ("/matches/{m}/show", [], 422, "INVALID_INPUT"),
        ("/matches/{m}/hand", {"flip": True}, 409, "WRONG_PHASE"),
        ("/matches/{m}/hand", {"flip": "true"}, 422, "INVALID_INPUT"),
        (
            "/matches/{m}/scout",
            {"end": "UP", "insertAt": 0, "flip": False},
            422,
            "INVALID_INPUT",
        ),
        ("/join", {"joinCode": "NOWHERE", "name": "Ann"}, 404, "NOT_FOUND"),
        ("/matches", {"seats": [PLAYER]}, 422, "INVALID_INPUT"),
        ("/matches", {"seats": [PLAYER, {"kind": "BOT", "botLevel": "x"}]}, 422, "INVALID_INPUT"),
        ("/matches", {"seats": [PLAYER, BOT], "turnSeconds": 1}, 422, "INVALID_INPUT"),
        ("/guests", {"name": ""}, 422, "INVALID_INPUT"),
        ("/nowhere", {}, 404, "NOT_FOUND"),
    ],
)
async def test_a_refusal_is_a_problem_document(rest, path, body, status, code):
    match = await turn(rest)

    answer = await rest.post(path.format(m=match["id"]), body)

    assert (answer.status_code, answer.headers["content-type"]) == (status, PROBLEM)
    problem = answer.json()
    assert (problem["status"], problem["code"]) == (status, code)
    assert problem["title"]
    assert problem["detail"]
    after = (await rest.get(f"/matches/{match['id']}")).json()
    assert after["version"] == match["version"]


async def turn(rest: RestClient) -> dict:
    """A match in which it is this player's turn."""
    match = await rest.create(PLAYER, BOT, BOT)
    answer = await rest.act(match)
    assert answer.status_code == 200
    async for event in rest.events(f"/matches/{match['id']}/updates"):
        match = json.loads(event["data"])["match"]
        if match["round"]["turn"] == match["you"]["seat"]:
            return match
    raise AssertionError("the stream ended")


async def test_who_is_not_signed_in_is_told_how(rest, stack):
    match = await rest.create(PLAYER, BOT)
    async with RestClient(stack.url) as nobody:
        unsigned = await nobody.post("/matches", {"seats": [PLAYER, BOT]})
        hidden = await nobody.get(f"/matches/{match['id']}")
        nobody.http.headers["authorization"] = "Bearer wrong"
        wrong = await nobody.get("/matches")

    for answer in (unsigned, wrong):
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["code"] == "UNAUTHENTICATED"
    assert hidden.status_code == 404


async def test_only_the_seated_may_move(rest, stack):
    match = await rest.create(PLAYER, OPEN, visibility="PUBLIC")
    async with RestClient(stack.url) as bob:
        await bob.sign_in("Bob")
        answer = await bob.post(f"/matches/{match['id']}/show", {"first": 0, "count": 1})
        early = await bob.post(f"/matches/{match['id']}/start")

    assert (answer.status_code, answer.json()["code"]) == (403, "NOT_SEATED")
    assert (early.status_code, early.json()["code"]) == (403, "FORBIDDEN")


async def test_a_stale_version_is_a_failed_precondition(rest):
    match = await turn(rest)
    path = f"/matches/{match['id']}/show"

    stale = await rest.post(path, {"first": 0, "count": 1}, if_match='"1"')
    malformed = await rest.post(path, {"first": 0, "count": 1}, if_match="x")

    assert (stale.status_code, stale.json()["code"]) == (412, "STALE_VERSION")
    assert stale.json()["currentVersion"] == match["version"]
    assert (malformed.status_code, malformed.json()["path"]) == (422, ["If-Match"])


async def test_the_same_key_is_answered_alike_across_both_transports(rest, stack):
    match = await rest.create(PLAYER, BOT, BOT)
    path, body = f"/matches/{match['id']}/hand", {"flip": True}

    first = await rest.post(path, body, idempotency_key="rest-1")
    again = await rest.post(path, body, idempotency_key='"rest-1"')
    other = await rest.post(f"/matches/{match['id']}/leave", idempotency_key="rest-1")
    async with Client(stack.url) as client:
        client.token = rest.http.headers["authorization"].removeprefix("Bearer ")
        by_graphql = await client.choose(match["id"], flip=True, idempotencyKey="rest-1")

    assert first.status_code == 200
    assert (again.status_code, again.json()) == (200, first.json())
    assert (other.status_code, other.json()["code"]) == (409, "KEY_REUSED")
    assert by_graphql["match"]["version"] == first.json()["version"]


async def test_a_match_is_opened_once_under_a_key(rest):
    body = {"seats": [PLAYER, BOT]}
    answers = [await rest.post("/matches", body, idempotency_key="rest-2") for _ in range(2)]

    assert answers[0].json() == answers[1].json()
    assert [answer.status_code for answer in answers] == [201, 201]


async def test_updates_come_in_pages(rest):
    match = await rest.create(BOT, BOT, visibility="PUBLIC")
    async for _ in rest.events(f"/matches/{match['id']}/updates"):
        pass

    updates, after, more = [], 0, True
    while more:
        page = (await rest.get(f"/matches/{match['id']}/updates", after=after, first=25)).json()
        updates += page["updates"]
        after, more = updates[-1]["version"], page["hasNextPage"]

    assert [update["version"] for update in updates] == list(range(1, page["version"] + 1))
    assert updates[-1]["events"][-1]["type"] == "MatchFinished"
    beyond = await rest.get(f"/matches/{match['id']}/updates", after=9999)
    assert (beyond.status_code, beyond.json()["code"]) == (410, "CURSOR_EXPIRED")
    assert beyond.json()["currentVersion"] == page["version"]


async def test_a_stream_resumes_after_the_last_event(rest):
    match = await rest.create(BOT, BOT, BOT, visibility="PUBLIC")
    path = f"/matches/{match['id']}/updates"
    async for event in rest.events(path, after=0):
        if event.get("id") == "7":
            break

    rest_of_it = [event async for event in rest.events(path, last_event_id="7", after=0)]

    ids = [int(event["id"]) for event in rest_of_it if "id" in event]
    assert ids == list(range(8, ids[-1] + 1))
    assert rest_of_it[-1]["event"] == "complete"
    done = await rest.http.get(
        f"/v1{path}", headers={"accept": "text/event-stream", "last-event-id": str(ids[-1])}
    )
    assert (done.status_code, done.content) == (204, b"")


async def test_a_stream_that_cannot_begin_is_a_problem(rest):
    match = await rest.create(PLAYER, BOT)
    stream = {"accept": "text/event-stream"}

    absent = await rest.http.get("/v1/matches/nonsense/updates", headers=stream)
    beyond = await rest.http.get(f"/v1/matches/{match['id']}/updates?after=99", headers=stream)
    malformed = await rest.http.get(
        f"/v1/matches/{match['id']}/updates", headers={**stream, "last-event-id": "x"}
    )

    statuses = [(a.status_code, a.headers["content-type"]) for a in (absent, beyond, malformed)]
    assert statuses == [(404, PROBLEM), (410, PROBLEM), (422, PROBLEM)]


async def test_public_matches_come_in_pages_and_by_status(rest):
    made = [(await rest.create(PLAYER, OPEN, visibility="PUBLIC"))["id"] for _ in range(3)]

    first = (await rest.get("/matches", status="LOBBY", first=2)).json()
    cursor = first["pageInfo"]["endCursor"]
    second = (await rest.get("/matches", status="LOBBY", first=2, after=cursor)).json()

    ids = [edge["node"]["id"] for page in (first, second) for edge in page["edges"]]
    assert ids[:3] == made[::-1]
    assert first["pageInfo"]["hasNextPage"]
    for params in ({"after": "nonsense"}, {"first": 101}, {"status": "NEVER"}):
        assert (await rest.get("/matches", **params)).status_code == 422


async def test_a_private_match_is_joined_by_its_code(rest, stack):
    match = await rest.create(PLAYER, OPEN, OPEN)
    async with RestClient(stack.url) as bob:
        await bob.sign_in("Bob")
        path = f"/matches/{match['id']}/join"
        without = await bob.post(path, {"name": "Bob"})
        joined = await bob.post(path, {"name": "Bob", "joinCode": match["joinCode"]})
        by_code = await bob.post("/join", {"name": "Bob", "joinCode": match["joinCode"]})
        left = await bob.post(f"/matches/{match['id']}/leave")

    assert (without.status_code, without.json()["code"]) == (403, "FORBIDDEN")
    assert joined.json()["you"]["seat"] == 1
    assert by_code.json() == joined.json()
    assert left.json()["you"] is None


async def test_the_second_step_of_a_scout_and_show_is_handed_out(rest):
    match = await turn(rest)
    path = f"/matches/{match['id']}"

    every = (await rest.get(f"{path}/scout-and-show")).json()["scoutAndShow"]
    after = await rest.get(f"{path}/shows-after-scout", end="LEFT", insertAt=0, flip=False)

    at_left = [
        option["shows"]
        for option in every
        if (option["end"], option["insertAt"], option["flip"]) == ("LEFT", 0, False)
    ]
    shows = sorted(at_left[0] if at_left else [], key=str)
    assert sorted(after.json()["shows"], key=str) == shows
    assert bool(every) == match["you"]["legal"]["scoutAndShowAvailable"]


async def test_advice_is_given_where_it_is_allowed(rest):
    allowed = await rest.create(PLAYER, BOT, advice=True)
    plain = await rest.create(PLAYER, BOT)

    given = await rest.get(f"/matches/{allowed['id']}/advice", level="strong", first=1)
    refused = await rest.get(f"/matches/{plain['id']}/advice")

    assert given.json()["advice"][0]["action"]["type"] == "CHOOSE_HAND"
    assert (refused.status_code, refused.json()["code"]) == (403, "FORBIDDEN")


async def test_a_series_by_rest(rest):
    body = {"seats": ["casual", "regular"], "matches": 4, "replays": True}
    created = await rest.post("/series", body, idempotency_key="rest-3")
    path = f"/series/{created.json()['id']}"

    events = [event async for event in rest.events(f"{path}/updates", after=0)]
    matches = (await rest.get(f"{path}/matches")).json()["edges"]
    replay = await rest.get(f"{path}/matches/1/replay")

    assert created.headers["location"] == f"/v1{path}"
    assert events[-1] == {"event": "complete", "data": '{"reason":"OVER"}'}
    counted = [m["number"] for e in events[:-1] for m in json.loads(e["data"])["results"]]
    assert sorted(counted) == [1, 2, 3, 4]
    assert [edge["node"]["number"] for edge in matches] == counted
    assert replay.json()["format"] == "ringmaster-replay/1"
    assert (await rest.get(path)).json()["status"] == "FINISHED"
    assert (await rest.post(f"{path}/cancel")).json()["status"] == "FINISHED"
    assert (await rest.get("/series/s0-AAAAAAAAAAAAAAAA")).status_code == 404


async def test_the_levels_are_those_of_graphql(rest):
    levels = (await rest.get("/bot-levels")).json()["botLevels"]

    assert [level["name"] for level in levels][:2] == ["casual", "regular"]


async def test_every_method_that_a_path_has_is_named(rest):
    answer = await rest.http.put("/v1/matches", json={})

    assert (answer.status_code, answer.headers["content-type"]) == (405, PROBLEM)
    assert answer.headers["allow"] == "GET, POST"


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        (b'{"name": "Ann"', "application/json", 422),
        (b"name=Ann", "application/x-www-form-urlencoded", 415),
        (b'{"name": "\\ud800"}', "application/json", 422),
        (b'{"name": "\\u0000"}', "application/json", 422),
        (b"[" * 2000, "application/json", 422),
        (b"[" * 60_000, "application/json", 422),
        (b"\xff\xfe", "application/json", 422),
        (b'{"name": "' + b"x" * 70_000 + b'"}', "application/json", 413),
    ],
)
async def test_a_body_that_is_none_is_refused(rest, body, content_type, status):
    answer = await rest.http.post(
        "/v1/guests", content=body, headers={"content-type": content_type}
    )

    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == PROBLEM
    codes = {413: "CONTENT_TOO_LARGE", 415: "UNSUPPORTED_MEDIA_TYPE", 422: "INVALID_INPUT"}
    assert answer.json()["code"] == codes[status]


async def test_a_scope_that_forbids_is_a_documented_problem(rest):
    made = await rest.post("/tokens", {"name": "screen", "scopes": ["SPECTATE"]})
    rest.http.headers["authorization"] = f"Bearer {made.json()['token']}"
    document = (await rest.http.get("/openapi.json")).json()["paths"]

    for method, path, body in (
        ("post", "/v1/matches", {"seats": [BOT, BOT]}),
        ("post", "/v1/join", {"name": "Ann", "joinCode": "AAAAAAAA"}),
        ("post", "/v1/series", {"seats": ["casual", "casual"], "matches": 1}),
        ("get", "/v1/series/{seriesId}", None),
        ("post", "/v1/series/{seriesId}/cancel", None),
    ):
        answer = await rest.http.request(method, path.format(seriesId="s0-x"), json=body)
        assert answer.json()["code"] == "FORBIDDEN"
        assert str(answer.status_code) in document[path][method]["responses"]


async def test_fifty_writers_at_once_make_one_move(rest):
    match = await turn(rest)
    option = (match["you"]["legal"]["shows"] or [None])[0]
    path = f"/matches/{match['id']}/"
    call = (
        (f"{path}show", {"first": option["first"], "count": option["count"]})
        if option
        else (f"{path}scout", {"end": "RIGHT", "insertAt": 0, "flip": False})
    )

    answers = await asyncio.gather(
        *(rest.post(*call, if_match=f'"{match["version"]}"') for _ in range(50))
    )

    assert sorted(answer.status_code for answer in answers) == [200] + [412] * 49


async def test_tokens_are_made_listed_and_revoked(rest, stack):
    body = {"name": "screen", "scopes": ["SPECTATE"], "expiresInSeconds": 600}
    match = await rest.create(PLAYER, BOT)
    made = await rest.post("/tokens", body, idempotency_key="token-1")
    again = await rest.post("/tokens", body, idempotency_key="token-1")
    token_id = made.json()["accessToken"]["id"]
    async with RestClient(stack.url) as screen:
        screen.http.headers["authorization"] = f"Bearer {made.json()['token']}"
        hidden = await screen.get(f"/matches/{match['id']}")
        forbidden = await screen.post(f"/matches/{match['id']}/hand", {"flip": False})
        listed = (await rest.get("/tokens")).json()["tokens"]
        revoked = await rest.http.delete(f"/v1/tokens/{token_id}")
        dead = await screen.get("/matches")

    assert again.json() == made.json()
    assert hidden.status_code == 404
    assert (forbidden.status_code, forbidden.json()["code"]) == (403, "FORBIDDEN")
    assert [token["id"] == token_id for token in listed] == [True, False]
    assert [token["current"] for token in listed] == [False, True]
    assert (revoked.status_code, revoked.content) == (204, b"")
    assert (dead.status_code, dead.json()["code"]) == (401, "UNAUTHENTICATED")


async def test_a_revocation_ends_the_stream_with_a_problem(rest):
    match = await rest.create(PLAYER, BOT)
    token = (await rest.get("/tokens")).json()["tokens"][0]["id"]
    events = rest.events(f"/matches/{match['id']}/updates")
    assert (await anext(events))["event"] == "update"

    await rest.http.delete(f"/v1/tokens/{token}")

    async with asyncio.timeout(2):
        last = [event async for event in events][-1]
    assert last["event"] == "problem"
    told = json.loads(last["data"])
    assert told["code"] == "UNAUTHENTICATED"
    assert None not in told.values()


async def test_signing_in_again_under_a_secret_key_gives_the_same_player(rest):
    key = "b7" * 20
    answers = [await rest.post("/guests", {"name": "Ann"}, idempotency_key=key) for _ in range(2)]
    guessable = await rest.post("/guests", {"name": "Ann"}, idempotency_key="1")

    assert answers[0].json() == answers[1].json()
    assert (guessable.status_code, guessable.json()["path"]) == (422, ["Idempotency-Key"])


async def test_tags_that_a_proxy_made_weak_are_understood(rest):
    match = await rest.create(PLAYER, OPEN)
    path = f"/v1/matches/{match['id']}"

    for known in ('W/"1"', '"9", W/"1"', "*"):
        answer = await rest.http.get(path, headers={"if-none-match": known})
        assert answer.status_code == 304
    assert (await rest.http.get(path, headers={"if-none-match": 'W/"2"'})).status_code == 200
    left = await rest.post(f"/matches/{match['id']}/start", if_match='W/"1"')
    assert left.status_code == 200


@pytest.mark.parametrize(
    "accept",
    ["text/event-stream;q=0, application/json", "application/json, text/event-stream;q=0.1"],
)
async def test_who_prefers_json_is_sent_no_stream(rest, accept):
    match = await rest.create(PLAYER, BOT)

    answer = await rest.http.get(
        f"/v1/matches/{match['id']}/updates", headers={"accept": accept}, timeout=5
    )

    assert answer.headers["content-type"] == "application/json"
