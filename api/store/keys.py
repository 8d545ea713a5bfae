"""Every Redis key there is.

All keys of a match and of its shard share the hash tag ``{sN}``, so that the commit script touches
one slot. A match id carries its shard: ``m<shard>-<random>``, shard one hex digit. So does the id
of a series, ``s<shard>-<random>``; a caller's series share a shard, so that they can be counted.

    rm:{sN}:log:<match>              stream   the commits, entry id <version>-0
    rm:{sN}:idem:<match>:<digest>    string   what an idempotency key of a caller has done
    rm:{sN}:due                      zset     match -> when the house owes it something, ms
    rm:{sN}:holds                    zset     "<match> <player>" -> until when a seat is held, ms
    rm:{sN}:open                     zset     match that is not over -> when it will expire, ms
    rm:{sN}:mark                     string   written to see whether writes are taken
    rm:{sN}:bell                     stream   ids of matches appended to, wakes every reader
    rm:{sN}:public:<status or ALL>   zset     public match -> created at, ms
    rm:{sN}:series:<series>          hash     what to play, for whom, the secret, what was sent
    rm:{sN}:series:<series>:log      stream   the matches counted, entry id <version>-0
    rm:{sN}:series:<series>:done     bitmap   numbers of the matches counted
    rm:{sN}:series:<series>:deals    hash     the sums of each deal that is not yet complete
    rm:{sN}:series:<series>:replays  hash     number -> replay, compressed
    rm:{sN}:series-due               zset     series -> when to look whether it still moves, ms
    rm:{sN}:series-of:<digest>       zset     a caller's running series -> when it will expire, ms
    rm:{sN}:series-key:<digest>      string   the series that a caller's idempotency key has made
    rm:key:<digest>                  string   the request that a caller has used a key for, and for
                                              createToken what its token is derived from
    rm:opened:<digest>               string   the match that a caller's key has opened
    rm:guest:<hash of the token>     string   whose token it is, and what it allows; or: revoked
    rm:tokens:<digest>               hash     token id -> a player's token, without its secret
    rm:revoked                       stream   ids of tokens revoked, wakes every reader
    rm:revoked:<token id>            string   that the token was revoked
    rm:signed-in:<digest>            string   the player that a sign-in's idempotency key has made
    rm:code:<join code>              string   the match
    rm:faults:<level>                hash     kind of fault -> how often a level failed so
    rm:pulses                        hash     when the API and the sweeper were last at work, and
                                              from when until when one was not, ms
    rm:sweeper                       string   the lease of the one active sweeper
    rm:{ops}:acts                    zset     act of an operator -> when, ms
    rm:{ops}:act:<act>               hash     who did what to what, why, and how it ended
    rm:{ops}:processes               hash     process -> what it last said of itself
    rm:{ops}:end:<process>           string   that it was asked to end
    rm:limit:<bucket>:<caller>       string   hits in this window, leased ones included
"""

import re
import secrets
from hashlib import sha256
from typing import Final

from engine.state import Status

SHARDS: Final = tuple(f"{number:x}" for number in range(16))
PULSES: Final = "rm:pulses"
SWEEPER_LEASE: Final = "rm:sweeper"
REVOKED: Final = "rm:revoked"
ACTS: Final = "rm:{ops}:acts"
PROCESSES: Final = "rm:{ops}:processes"
_MATCH_ID: Final = re.compile(r"m([0-9a-f])-[A-Za-z0-9_-]{16}\Z")
_SERIES_ID: Final = re.compile(r"s([0-9a-f])-[A-Za-z0-9_-]{16}\Z")


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


def new_series_id(caller: str) -> str:
    """An id that nobody can guess (96 random bits), on the shard of the caller's series."""
    return f"s{sha256(caller.encode()).hexdigest()[0]}-{secrets.token_urlsafe(12)}"


def is_series_id(text: str) -> bool:
    """Whether a series could have this id."""
    return _SERIES_ID.match(text) is not None


def series_shard(series_id: str) -> str:
    """The shard that an id carries.

    Raises:
        ValueError: no series can have this id.
    """
    found = _SERIES_ID.match(series_id)
    if found is None:
        raise ValueError("not a series id")
    return found.group(1)


def log(match_id: str) -> str:
    return _key(shard(match_id), f"log:{match_id}")


def idempotency(match_id: str, caller: str, key: str) -> str:
    return _key(shard(match_id), f"idem:{match_id}:{_digest(caller, key)}")


def claim(caller: str, key: str) -> str:
    return f"rm:key:{_digest(caller, key)}"


def opened(caller: str, key: str) -> str:
    return f"rm:opened:{_digest(caller, key)}"


def _digest(caller: str, key: str) -> str:
    return sha256(f"{caller}\n{key}".encode()).hexdigest()[:32]


def due(shard_: str) -> str:
    return _key(shard_, "due")


def holds(shard_: str) -> str:
    return _key(shard_, "holds")


def open_matches(shard_: str) -> str:
    return _key(shard_, "open")


def mark(shard_: str) -> str:
    return _key(shard_, "mark")


def bell(shard_: str) -> str:
    return _key(shard_, "bell")


def public(shard_: str, status: Status | None) -> str:
    return _key(shard_, f"public:{status.value if status else 'ALL'}")


def guest(token_hash: str) -> str:
    return f"rm:guest:{token_hash}"


def tokens(player_id: str) -> str:
    return f"rm:tokens:{_digest(player_id, '')}"


def revoked(token_id: str) -> str:
    return f"{REVOKED}:{token_id}"


def signed_in(digest: str) -> str:
    return f"rm:signed-in:{digest}"


def code(join_code: str) -> str:
    return f"rm:code:{join_code}"


def act(entry_id: str) -> str:
    return f"rm:{{ops}}:act:{entry_id}"


def end(process_id: str) -> str:
    return f"rm:{{ops}}:end:{process_id}"


def limit(key: str) -> str:
    return f"rm:limit:{key}"


def faults(level: str) -> str:
    return f"rm:faults:{level}"


def series(series_id: str, part: str = "") -> str:
    """The key of a series, or of a part of it: ``:log``, ``:done``, ``:deals``, ``:replays``."""
    return _key(series_shard(series_id), f"series:{series_id}{part}")


def series_due(shard_: str) -> str:
    return _key(shard_, "series-due")


def series_of(shard_: str, caller: str) -> str:
    return _key(shard_, f"series-of:{_digest(caller, '')}")


def series_key(shard_: str, caller: str, key: str) -> str:
    return _key(shard_, f"series-key:{_digest(caller, key)}")
