"""Signed tokens of an outside issuer, which serves its keys on a real socket."""

import asyncio
import base64
import hmac
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime

import jwt
import pytest

from api.errors import Unauthenticated, Unavailable
from api.identity import issuer as issuers
from api.identity.caller import Caller
from api.identity.issuer import FRESH_SECONDS, LEEWAY_SECONDS, PAUSE_SECONDS, STALE_SECONDS, Keys
from api.identity.marks import Marks
from api.identity.service import Identity, NewToken
from api.store.tokens_memory import MemoryTokens
from api.streams import Streams
from api.values import Meta
from schema.scopes import Scope
from tests.client import Client, messages, subscribe
from tests.conftest import start_stack
from tests.issuer import AUDIENCE, NAME, Issuer, Key

KEY, NEXT, RSA = Key("one"), Key("two", "EdDSA"), Key("rsa", "RS256")


class World:
    """An issuer, and a process that takes its tokens; ``clock`` in seconds, for its keys."""

    def __init__(self, issuer: Issuer) -> None:
        self.issuer = issuer
        self.clock = 1000.0
        self.keys = Keys(issuer.url, lambda: self.clock)
        outside = issuers.Issuer(self.keys, NAME, AUDIENCE, Marks("key"))
        self.identity = Identity(MemoryTokens(), Streams(60), ttl=60, secret="key", outside=outside)

    async def known(self, token: str) -> Caller:
        caller = await self.identity.recognise(f"Bearer {token}")
        assert caller is not None
        return caller

    async def refused(self, token: str) -> None:
        with pytest.raises(Unauthenticated) as refused:
            await self.identity.recognise(f"Bearer {token}")
        # Nothing of what was wrong, and no cause with its text.
        assert str(refused.value) == "This token is not known; sign in again."
        assert refused.value.__cause__ is None


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with Issuer(KEY, RSA) as issuer:
        yield issuer


@pytest.fixture
async def world(issuer: Issuer) -> AsyncIterator[World]:
    world = World(issuer)
    yield world
    world.keys.close()


async def test_a_token_of_the_issuer_is_a_player_of_its_own(world):
    caller = await world.known(KEY.sign(name="Ann"))

    assert caller.player_id.startswith("j-")
    assert "ann" not in caller.player_id
    assert (caller.name, caller.token_id) == ("Ann", None)
    assert caller.scopes == {Scope.PLAY}
    assert abs(caller.expires_at / 1000 - time.time() - 60 - LEEWAY_SECONDS) < 5
    assert (await world.known(KEY.sign(exp=int(time.time()) + 9))).player_id == caller.player_id
    assert (await world.known(RSA.sign())).player_id == caller.player_id
    assert (await world.known(KEY.sign(sub="bob"))).player_id != caller.player_id


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"name": "Zoë", "preferred_username": "z"}, "Zoë"),
        ({"name": "  ", "preferred_username": "zoe"}, "zoe"),
        ({"name": "a\u202eb"}, "Player"),
        ({"name": 7, "preferred_username": ["x"]}, "Player"),
        ({"name": "x" * 41}, "Player"),
        ({}, "Player"),
    ],
)
async def test_a_name_is_taken_if_it_can_be_shown(world, claims, name):
    assert (await world.known(KEY.sign(**claims))).name == name


@pytest.mark.parametrize(
    ("scope", "scopes"),
    [
        (None, {Scope.PLAY}),
        ("openid profile", {Scope.PLAY}),
        ("openid spectate", {Scope.SPECTATE}),
        ("bot operate", {Scope.BOT, Scope.OPERATE}),
        (["openid", "spectate"], {Scope.SPECTATE}),
        ([], {Scope.PLAY}),
    ],
)
async def test_scopes_are_those_that_the_claim_names(world, scope, scopes):
    assert (await world.known(KEY.sign(scope=scope))).scopes == scopes


@pytest.mark.parametrize("scope", ["OPERATE", "Spectate", 5, {"spectate": True}, [["spectate"]]])
async def test_a_scope_that_cannot_be_read_opens_nothing(world, scope):
    with pytest.raises(Unauthenticated):
        await world.known(KEY.sign(scope=scope))


async def test_who_never_expires_can_still_make_tokens(world):
    caller = await world.known(KEY.sign(exp=10**30))

    assert datetime.fromtimestamp(caller.expires_at / 1000, tz=UTC).year == 9999


def _raw(header: dict, claims: dict, signature: bytes = b"") -> str:
    parts = [json.dumps(header).encode(), json.dumps(claims).encode()]
    text = b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in parts)
    return (text + b"." + base64.urlsafe_b64encode(signature).rstrip(b"=")).decode()


def forged(kind: str) -> str:
    """A token that is not to be taken, one for every way to make one."""
    now = int(time.time())
    fine = {"iss": NAME, "aud": AUDIENCE, "sub": "ann@example", "exp": now + 60}
    signed = KEY.sign()
    head, body, signature = signed.split(".")
    other = KEY.sign(sub="bob").split(".")[1]
    public = RSA.public_pem()
    confused = _raw({"alg": "HS256", "typ": "JWT", "kid": "rsa"}, fine).rpartition(".")[0]
    mac = hmac.digest(public, confused.encode(), "sha256")
    nested = base64.urlsafe_b64encode(b'{"a":' + b"[" * 5000).rstrip(b"=").decode()
    return {
        "another issuer": KEY.sign(iss="https://other.example"),
        "no issuer": KEY.sign(iss=None),
        "another audience": KEY.sign(aud="elsewhere"),
        "no audience": KEY.sign(aud=None),
        "expired": KEY.sign(exp=now - LEEWAY_SECONDS - 2),
        "without an end": KEY.sign(exp=None),
        "an end that is no number": KEY.sign(exp="soon"),
        "an end in infinity": KEY.sign(exp=float("inf")),
        "not yet valid": KEY.sign(nbf=now + 60),
        "no subject": KEY.sign(sub=None),
        "an empty subject": KEY.sign(sub=""),
        "an endless subject": KEY.sign(sub="x" * 2000),
        "a subject that is no text": _raw({"alg": "ES256", "kid": "one"}, {**fine, "sub": 7}),
        "another's key": Key("one").sign(),
        "an unknown key": Key("three").sign(),
        "no key id": KEY.sign(header={"kid": ""}),
        "a key of another algorithm": KEY.sign(header={"kid": "rsa"}),
        "alg none": _raw({"alg": "none", "kid": "one"}, fine),
        "alg None": _raw({"alg": "None", "kid": "one"}, fine),
        "HS256 with the public key": confused
        + "."
        + base64.urlsafe_b64encode(mac).rstrip(b"=").decode(),
        "another's claims": f"{head}.{other}.{signature}",
        "no signature": f"{head}.{body}.",
        "deep nesting": f"{nested}.{body}.{signature}",
        "no JSON": f"AAAA.{body}.{signature}",
        "no base64": "!.!.!",
        "nothing": "..",
        "a key address in the header": Key("one").sign(header={"jku": "http://127.0.0.1:1/"}),
    }[kind]


KINDS = (
    *("another issuer", "no issuer", "another audience", "no audience", "expired"),
    *("without an end", "an end that is no number", "an end in infinity", "not yet valid"),
    *("no subject", "an empty subject", "an endless subject", "a subject that is no text"),
    *("another's key", "an unknown key", "no key id", "a key of another algorithm", "alg none"),
    *("alg None", "HS256 with the public key", "another's claims", "no signature"),
    *("deep nesting", "no JSON", "no base64", "nothing", "a key address in the header"),
)


@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_not_the_issuers_is_refused(world, kind):
    await world.refused(forged(kind))

    assert await world.known(KEY.sign())


async def test_a_shared_secret_is_not_taken_though_the_issuer_publishes_it(world):
    shared = b"x" * 32
    text = base64.urlsafe_b64encode(shared).rstrip(b"=").decode()
    oct_key = {"kty": "oct", "k": text, "kid": "shared", "alg": "HS256", "use": "sig"}
    world.issuer.body = json.dumps({"keys": [KEY.public_jwk(), oct_key]}).encode()
    claims = {"iss": NAME, "aud": AUDIENCE, "sub": "ann", "exp": int(time.time()) + 60}

    await world.refused(jwt.encode(claims, shared, "HS256", {"kid": "shared"}))
    assert await world.known(KEY.sign())


async def test_a_signature_is_not_checked_for_every_request_but_the_end_is(world):
    text = KEY.sign(exp=int(time.time()) - LEEWAY_SECONDS + 2)
    await world.known(text)
    world.issuer.publish(NEXT)
    world.clock += FRESH_SECONDS

    assert await world.known(text)
    assert world.issuer.fetches == 1
    await asyncio.sleep(2.1)
    await world.refused(text)


async def test_a_token_may_be_late_by_a_little(world):
    assert await world.known(KEY.sign(exp=int(time.time()) - 2))


async def test_tokens_of_our_own_are_taken_besides(world):
    made = await world.identity.sign_in("Ann")

    assert (await world.known(made.token)).player_id == made.player_id
    assert world.issuer.fetches == 0


async def test_keys_are_fetched_once_for_many(world):
    await asyncio.gather(*(world.known(KEY.sign(sub=f"{n}")) for n in range(20)))

    assert world.issuer.fetches == 1


async def test_a_flood_of_unknown_keys_is_no_flood_of_fetches(world):
    for _ in range(30):
        await world.refused(Key("x").sign(header={"kid": os.urandom(8).hex()}))
    assert world.issuer.fetches == 1

    world.clock += PAUSE_SECONDS
    for _ in range(30):
        await world.refused(Key("x").sign(header={"kid": os.urandom(8).hex()}))
    assert world.issuer.fetches == 2


async def test_a_new_key_is_taken_once_it_is_published_and_an_old_one_no_more(world):
    await world.known(KEY.sign())
    world.issuer.publish(NEXT)

    world.clock += PAUSE_SECONDS
    assert (await world.known(NEXT.sign())).player_id
    await world.refused(KEY.sign())


async def test_a_key_withdrawn_is_noticed_though_no_other_is_asked_for(world):
    await world.known(KEY.sign())
    world.issuer.publish(NEXT)

    world.clock += FRESH_SECONDS
    await world.refused(KEY.sign())


@pytest.mark.parametrize("failure", ["status", "no JSON", "a list", "no keys", "slow", "gone"])
async def test_an_issuer_that_cannot_be_asked_is_unavailable(world, failure, monkeypatch, caplog):
    token = KEY.sign()
    match failure:
        case "status":
            world.issuer.status = 500
        case "slow":
            monkeypatch.setattr(world.keys._client, "timeout", 0.2)
            world.issuer.delay = 0.6
        case "gone":
            world.keys._client.uri = "http://127.0.0.1:1/"
        case _:
            bodies = {"no JSON": b"<html>", "a list": b"[1]", "no keys": b'{"keys": []}'}
            world.issuer.body = bodies[failure]

    with caplog.at_level(logging.DEBUG), pytest.raises(Unavailable):
        await world.identity.recognise(f"Bearer {token}")
    for _ in range(20):
        with pytest.raises(Unavailable):
            await world.identity.recognise(f"Bearer {token}")

    assert world.issuer.fetches <= 1
    assert token.split(".")[2] not in caplog.text


async def test_known_keys_outlive_an_outage_of_the_issuer_but_not_for_ever(world):
    await world.known(KEY.sign())
    world.issuer.status = 503

    world.clock += FRESH_SECONDS
    assert await world.known(KEY.sign())
    with pytest.raises(Unavailable):
        await world.identity.recognise(f"Bearer {NEXT.sign()}")
    world.clock += STALE_SECONDS
    with pytest.raises(Unavailable):
        await world.identity.recognise(f"Bearer {KEY.sign()}")

    world.issuer.status = 200
    world.clock += PAUSE_SECONDS
    assert await world.known(KEY.sign())


async def test_a_player_of_the_issuer_may_make_tokens_that_end_no_later(world):
    text = KEY.sign(exp=int(time.time()) + 30)
    caller = await world.known(text)

    made = await world.identity.create(caller, NewToken("bot", frozenset({Scope.BOT})), Meta("k"))
    again = await world.identity.create(
        await world.known(text), NewToken("bot", frozenset({Scope.BOT})), Meta("k")
    )

    assert made == again
    assert made.listed.expires_at <= caller.expires_at
    assert (await world.known(made.token)).player_id == caller.player_id
    assert text not in repr(caller)


@pytest.mark.parametrize(
    "given",
    [
        {"RINGMASTER_JWKS_URL": "http://127.0.0.1/"},
        {"RINGMASTER_JWT_ISSUER": "x", "RINGMASTER_JWT_AUDIENCE": "y"},
        {"RINGMASTER_JWKS_URL": "file:///etc/passwd"},
    ],
)
def test_an_issuer_half_set_is_refused_at_the_start(given):
    ran = subprocess.run(
        [sys.executable, "-c", "from api.settings import read_settings as r; r()"],
        env={**os.environ, **given},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert ran.returncode == 1
    assert "RINGMASTER_JWKS_URL" in ran.stderr
    assert "Traceback" not in ran.stderr


async def test_the_whole_server_takes_them_and_ends_their_streams(issuer, tmp_path):
    env = {
        "RINGMASTER_JWKS_URL": issuer.url,
        "RINGMASTER_JWT_ISSUER": NAME,
        "RINGMASTER_JWT_AUDIENCE": AUDIENCE,
    }
    stack = await asyncio.to_thread(start_stack, tmp_path, None, **env)
    try:
        async with Client(stack.url) as client:
            client.token = NEXT.sign()
            issuer.status = 500
            (error,) = (await client.post("{ matches { edges { cursor } } }"))["errors"]
            assert error["extensions"] == {"code": "UNAVAILABLE", "retryAfter": 2}
            issuer.status = 200
            issuer.publish(KEY, NEXT)
            await asyncio.sleep(issuers.RETRY_SECONDS)
            client.token = NEXT.sign(name="Ann", exp=int(time.time()) - LEEWAY_SECONDS + 3)
            match = await client.create({"kind": "PLAYER"}, {"kind": "OPEN"})
            assert match["seats"][0]["name"] == "Ann"
            async with client.socket() as ws:
                await subscribe(ws, "1", match["id"])
                async with asyncio.timeout(6):
                    async for message in messages(ws):
                        if errors := message.get("payload", {}).get("errors"):
                            break
            assert errors[0]["extensions"]["code"] == "UNAUTHENTICATED"
            (error,) = (await client.post("{ matches { edges { cursor } } }"))["errors"]
            assert error["extensions"]["code"] == "UNAUTHENTICATED"
            client.token = NEXT.sign()
            seen = await client.match(match["id"])
            assert seen is not None
            assert seen["you"]["seat"] == 0
    finally:
        await asyncio.to_thread(stack.stop)
    log = (tmp_path / "stderr.log").read_text()
    assert "eyJ" not in log
