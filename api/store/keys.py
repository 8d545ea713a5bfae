"""Every Redis key there is.

All keys of a match and of its shard share the hash tag ``{sN}``, so that the commit script touches
one slot. A match id carries its shard: ``m<shard>-<random>``, shard one hex digit.

    rm:{sN}:log:<match>              stream   the commits, entry id <version>-0
    rm:{sN}:idem:<match>:<digest>    string   what an idempotency key of a caller has done
    rm:{sN}:due                      zset     match -> when the house owes it something, ms
    rm:{sN}:bell                     stream   ids of matches appended to, wakes every reader
    rm:{sN}:public:<status or ALL>   zset     public match -> created at, ms
    rm:key:<digest>                  string   the request that a caller has used a key for
    rm:guest:<hash of the token>     string   the guest
    rm:code:<join code>              string   the match
    rm:faults:<level>                hash     kind of fault -> how often a level failed so
    rm:sweeper                       string   the lease of the one active sweeper
"""

import re
import secrets
from hashlib import sha256
from typing import Final

from engine.state import Status

SHARDS: Final = tuple(f"{number:x}" for number in range(16))
SWEEPER_LEASE: Final = "rm:sweeper"
_MATCH_ID: Final = re.compile(r"m([0-9a-f])-[A-Za-z0-9_-]{16}\Z")


def new_match_id() -> str:
    """An id that nobody can guess (96 random bits), on a random shard."""
    return f"m{secrets.choice(SHARDS)}-{secrets.token_urlsafe(12)}"


def is_match_id(text: str) -> bool:
    """Whether a match could have this id."""
    return _MATCH_ID.match(text) is not None


def shard(match_id: str) -> str:
    """The shard that an id carries.

    Raises:
        ValueError: no match can have this id.
    """
    found = _MATCH_ID.match(match_id)
    if found is None:
        raise ValueError("not a match id")
    return found.group(1)


def _key(shard_: str, rest: str) -> str:
    return f"rm:{{s{shard_}}}:{rest}"


def log(match_id: str) -> str:
    return _key(shard(match_id), f"log:{match_id}")


def idempotency(match_id: str, caller: str, key: str) -> str:
    return _key(shard(match_id), f"idem:{match_id}:{_digest(caller, key)}")


def claim(caller: str, key: str) -> str:
    return f"rm:key:{_digest(caller, key)}"


def _digest(caller: str, key: str) -> str:
    return sha256(f"{caller}\n{key}".encode()).hexdigest()[:32]


def due(shard_: str) -> str:
    return _key(shard_, "due")


def bell(shard_: str) -> str:
    return _key(shard_, "bell")


def public(shard_: str, status: Status | None) -> str:
    return _key(shard_, f"public:{status.value if status else 'ALL'}")


def guest(token_hash: str) -> str:
    return f"rm:guest:{token_hash}"


def code(join_code: str) -> str:
    return f"rm:code:{join_code}"


def faults(level: str) -> str:
    return f"rm:faults:{level}"
