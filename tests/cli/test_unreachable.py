"""Commands that need a Redis that is not there say which, and nothing secret."""

import pytest
from typer.testing import CliRunner

from api.cli.main import app
from api.cli.unreachable import told
from api.errors import Unavailable, Unconfirmed, Unwritable


@pytest.mark.parametrize("words", ["token Op --scope operate", "admin processes"])
def test_a_command_without_its_redis_names_address_and_setting(words):
    env = {"RINGMASTER_REDIS_URL": "redis://olga:sesame@127.0.0.1:9/0"}

    ran = CliRunner().invoke(app, words.split(), env=env)

    where = "Redis at 127.0.0.1:9 (RINGMASTER_REDIS_URL) cannot be reached"
    assert (ran.exit_code, ran.stderr) == (1, f"ringmaster: {where}: ConnectionError\n")


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("rediss://:sesame@redis.example", "redis.example:6379"),
        ("redis://", "localhost:6379"),
        ("unix://olga:sesame@/run/redis.sock?db=1", "/run/redis.sock"),
        ("redis+sentinel://olga:sesame@a,b:7/scout/0?sentinel_password=sesame", "a:26379, b:7"),
        ("redis+cluster://:sesame@a:1,b", "a:1, b:6379"),
    ],
)
def test_the_address_of_every_kind_of_redis_is_told_without_its_password(url, place):
    line = told(Unavailable("TimeoutError"), url)

    assert line == f"Redis at {place} (RINGMASTER_REDIS_URL) cannot be reached: TimeoutError"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (Unwritable("OOM"), "Redis at a:6379 (RINGMASTER_REDIS_URL) takes no writes: OOM"),
        (Unconfirmed("too few replicas have answered"), "too few replicas have answered"),
        (ValueError("The match is over."), "The match is over."),
    ],
)
def test_another_reason_is_told_as_what_it_is(error, line):
    assert told(error, "redis://a") == line
