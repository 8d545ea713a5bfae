"""Names of keys: one hash tag per match, ids that cannot be anything else."""

import re

import pytest

from api.store import keys
from engine.state import Status


def test_an_id_carries_its_shard():
    match_id = keys.new_match_id()

    assert keys.is_match_id(match_id)
    assert keys.shard(match_id) == match_id[1]


def test_all_keys_of_a_match_share_one_hash_tag():
    match_id = keys.new_match_id()
    shard = keys.shard(match_id)
    names = [
        keys.log(match_id),
        keys.idempotency(match_id, "p", "k"),
        keys.due(shard),
        keys.holds(shard),
        keys.bell(shard),
        keys.public(shard, None),
        keys.public(shard, Status.LOBBY),
    ]

    tags = {re.findall(r"\{(.*?)\}", name)[0] for name in names}

    assert tags == {f"s{shard}"}


def test_all_keys_of_the_series_of_a_caller_share_one_hash_tag():
    first, second = keys.new_series_id("p"), keys.new_series_id("p")
    shard = keys.series_shard(first)
    names = [keys.series(of, part) for of in (first, second) for part in ("", ":log", ":done")]
    names += [keys.series_due(shard), keys.bell(shard)]
    names += [keys.series_of(shard, "p"), keys.series_key(shard, "p", "k")]

    assert keys.is_series_id(first)
    assert first != second
    assert not keys.is_match_id(first)
    assert not keys.is_series_id(keys.new_match_id())
    assert {re.findall(r"\{(.*?)\}", name)[0] for name in names} == {f"s{shard}"}
    with pytest.raises(ValueError, match="not a series id"):
        keys.series_shard("s0")


@pytest.mark.parametrize(
    "text", ["", "m0", "m0-short", "mg-" + "a" * 16, "m0-" + "{" * 16, "x" * 99]
)
def test_what_is_no_id_is_refused(text):
    assert not keys.is_match_id(text)
    with pytest.raises(ValueError, match="not a match id"):
        keys.shard(text)


def test_the_tokens_of_players_are_apart():
    assert keys.tokens("p-1") != keys.tokens("p-2")
    assert keys.revoked("t-1") != keys.REVOKED


def test_no_caller_can_write_another_callers_key():
    match_id = keys.new_match_id()

    assert keys.idempotency(match_id, "p", "q:k") != keys.idempotency(match_id, "p:q", "k")
