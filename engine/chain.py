"""The chained hash: what was public of each version, bound to all versions before it.

Specified in docs/replay.md, so that it can be recomputed elsewhere: the names and bytes here are a
contract with other programs.
"""

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any, Final

from engine import events as e
from engine import views
from engine.codec import encode_value, told_names
from engine.events import Event
from engine.views import PublicEvent, redact

Plain = dict[str, Any]

NAMES: Final[dict[type, str]] = {
    views.SeatTaken: "PlayerJoined",
    views.SeatLeft: "PlayerLeft",
    e.MatchStarted: "MatchStarted",
    views.RoundDealt: "HandsDealt",
    views.ChoiceMade: "HandChosen",
    views.ShownSet: "SetShown",
    views.ScoutedCard: "CardScouted",
    views.TurnRanOut: "TurnExpired",
    e.ClockRestarted: "ClockRestarted",
    views.SeatGoneAway: "SeatHandedToBot",
    e.PlayerReturned: "PlayerReturned",
    views.RoundScored: "RoundEnded",
    e.MatchFinished: "MatchFinished",
    e.MatchAbandoned: "MatchAbandoned",
}


_canonical: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False
).encode


def beginning(match_id: str, deck_commitment: str) -> str:
    """The hash before the first version, in lower-case hex."""
    text = f"ringmaster/1/chain/{match_id}/{deck_commitment}"
    return sha256(text.encode()).hexdigest()


def link(before: str, happened: Sequence[Any]) -> str:
    """The hash of a version, from the hash before it and its events as ``public`` has them."""
    return sha256(bytes.fromhex(before) + _canonical(happened).encode()).hexdigest()


def hashes(match_id: str, deck_commitment: str, log: Iterable[Iterable[Event]]) -> list[str]:
    """The hash of every version of a log, one entry of events per version."""
    found = [beginning(match_id, deck_commitment)]
    for events in log:
        found.append(link(found[-1], public(events)))
    return found[1:]


def public(events: Iterable[Event]) -> list[Plain]:
    """What is public of events, with the names and fields that clients see."""
    return [plain(seen) for event in events if (seen := redact(event)) is not None]


def plain(event: PublicEvent) -> Plain:
    """A redacted event as JSON holds it; cards are ``[top, bottom]``."""
    return {"type": NAMES[type(event)], **_fields(event)}


def _fields(value: Any) -> Plain:
    kind: Any = type(value)
    return {told: encode_value(getattr(value, name), _fields) for name, told in told_names(kind)}
