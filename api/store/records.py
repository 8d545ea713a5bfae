"""The bytes of what is stored: compact JSON, a commit's with the number of its schema."""

import json
from typing import Any

from api.identity.caller import names_of
from api.identity.ports import Grant, Token
from api.ports import Commit, Remembered
from engine.codec import SCHEMA, CodecError, decode_event, encode_event
from engine.series import Result, Spec
from engine.standings import Sums
from schema.scopes import Scope


def _dump(data: Any) -> bytes:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode()


def encode_commit(commit: Commit) -> bytes:
    """A commit without its version, which is the id of its entry."""
    events = [encode_event(event) for event in commit.events]
    return _dump({"s": SCHEMA, "at": commit.at, "n": commit.nonce, "h": commit.hash, "e": events})


def decode_commit(version: int, record: bytes) -> Commit:
    """The commit that was encoded.

    Raises:
        CodecError: the record is of another schema.
    """
    data = json.loads(record)
    if data["s"] != SCHEMA:
        raise CodecError(f"this code reads schema {SCHEMA} of events, the log has {data['s']}")
    events = tuple(decode_event(event) for event in data["e"])
    return Commit(version, data["at"], events, data["n"], data["h"])


def encode_remembered(remembered: Remembered) -> bytes:
    """What an idempotency key has done."""
    return _dump([remembered.fingerprint, remembered.version, remembered.nonce])


def decode_remembered(record: bytes) -> Remembered:
    """What was encoded."""
    return Remembered(*json.loads(record))  # without a nonce in records of the release before


def encode_grant(grant: Grant) -> bytes:
    """What a token allows."""
    return _dump(
        {
            "id": grant.player_id,
            "name": grant.name,
            "s": names_of(grant.scopes),
            "x": grant.expires_at,
        }
    )


def decode_grant(record: bytes, expires_at: int | None = None) -> Grant | None:
    """What was encoded.

    A record of a release without scopes allowed everything, and does not say when it expires: None
    unless that is given, in milliseconds since the epoch.
    """
    data = json.loads(record)
    if "x" in data:
        return Grant(data["id"], data["name"], _scopes(data["s"]), data["x"])
    if expires_at is None:
        return None
    return Grant(data["id"], data["name"], frozenset({Scope.PLAY}), expires_at, listed=False)


def encode_token(token: Token) -> bytes:
    """A listed token without its id; first when it expires, as the script reads it."""
    rest = [token.name, names_of(token.scopes), token.created_at, token.hash]
    return b"%d %s" % (token.expires_at, _dump(rest))


def decode_token(token_id: str, record: bytes) -> Token:
    """What was encoded."""
    expires_at, rest = record.split(b" ", 1)
    name, scopes, created_at, hash_ = json.loads(rest)
    return Token(token_id, name, _scopes(scopes), created_at, int(expires_at), hash_)


def _scopes(names: list[str]) -> frozenset[Scope]:
    return frozenset(Scope(name) for name in names)


def encode_spec(spec: Spec) -> bytes:
    """What a series plays."""
    return _dump(
        {
            "entries": spec.entries,
            "matches": spec.matches,
            "rotate": spec.rotate,
            "duplicate": spec.duplicate,
            "replays": spec.replays,
        }
    )


def decode_spec(record: bytes) -> Spec:
    """What was encoded."""
    data = json.loads(record)
    return Spec(**{**data, "entries": tuple(data["entries"])})


def encode_result(result: Result) -> bytes:
    """A counted match of a series."""
    r = result
    return _dump([r.number, r.deal, r.seating, r.rounds, r.totals, r.winners])


def decode_result(record: bytes) -> Result:
    """What was encoded."""
    number, deal, seating, rounds, totals, winners = json.loads(record)
    points = tuple(tuple(round_) for round_ in rounds)
    return Result(number, deal, tuple(seating), points, tuple(totals), tuple(winners))


def encode_sums(sums: Sums) -> bytes:
    """Sums as the scripts read them: numbers with spaces between."""
    return " ".join(map(str, (sums.matches, sums.deals, sums.squares, *sums.of))).encode()


def decode_sums(record: bytes) -> Sums:
    """What was encoded."""
    matches, deals, squares, *of = map(int, record.split())
    return Sums(matches, deals, squares, tuple(of))
