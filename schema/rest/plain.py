"""A match and its updates as JSON without their models: the same bytes, several times as fast.

The models say what is sent, `tests/schema/test_plain.py` that this sends it.
"""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Final

import orjson
from pydantic.alias_generators import to_camel

from engine import legal, views
from engine.cards import Card, Cards
from engine.sets import kind_of, tops_of
from schema import events, types
from schema.types import at

_FORM: Final = orjson.OPT_UTC_Z
_MATCH: Final = "rest match"
_UPDATE: Final = "rest update"


def match_json(view: views.View, version: int, digest: str, shared: dict[Any, Any]) -> bytes:
    """A match as its viewer may know it, as of a version and its hash.

    ``shared``: what was made before, for any viewer of this version; it is filled.
    """
    own = view.you
    if _MATCH not in shared:
        round_ = None if view.round is None else _round(view.round)
        shared[_MATCH] = _encoded([_seat(seat) for seat in view.seats]), _encoded(round_)
    seats, round_told = shared[_MATCH]
    told = {
        "id": view.match_id,
        "version": version,
        "hash": digest,
        "status": view.status,
        "visibility": view.visibility,
        "joinCode": view.join_code,
        "playerCount": len(view.seats),
        "roundCount": view.round_count,
        "seats": seats,
        "round": round_told,
        "you": None if own is None else _you(view, own),
        "winners": view.winners,
        "notation": types.notation(view, shared),
        "deckCommitment": view.deck_commitment,
        "rulesVersion": view.rules_version,
        "turnSeconds": view.turn_seconds,
        "adviceAllowed": view.advice,
        "createdAt": at(view.created_at),
    }
    return orjson.dumps(told, option=_FORM)


def update_json(
    version: int,
    at_ms: int,
    happened: Sequence[views.PublicEvent],
    match: bytes,
    shared: dict[Any, Any],
) -> bytes:
    """One commit around ``match``, the JSON of the match right after it; ``shared`` as there."""
    if _UPDATE not in shared:
        told = [events.match_event(event) for event in happened]
        plain = [{"type": type(event).__name__, **_plain(event)} for event in told]
        shared[_UPDATE] = orjson.dumps(at(at_ms), option=_FORM), orjson.dumps(plain)
    return b'{"version":%d,"at":%b,"events":%b,"match":%b}' % (version, *shared[_UPDATE], match)


def page_json(updates: Sequence[bytes], version: int, *, more: bool) -> bytes:
    """Updates in order, as of the match's current version; ``more``: others follow them."""
    told = (b",".join(updates), version, b"true" if more else b"false")
    return b'{"updates":[%b],"version":%d,"hasNextPage":%b}' % told


def _encoded(value: Any) -> orjson.Fragment:
    return orjson.Fragment(orjson.dumps(value, option=_FORM))


def _seat(seat: views.SeatView) -> dict[str, Any]:
    return {
        "number": seat.number,
        "kind": seat.kind,
        "name": seat.name,
        "botLevel": seat.bot_level,
        "away": seat.away,
        "score": seat.score,
        "handSize": seat.hand_size,
        "captured": seat.captured,
        "scoutChips": seat.scout_chips,
        "scoutAndShowAvailable": seat.scout_and_show_available,
        "hasChosen": seat.has_chosen,
    }


def _round(view: views.RoundView) -> dict[str, Any]:
    kind, active = kind_of(tops_of(view.table)), None
    if view.owner is not None and kind is not None:
        active = {"owner": view.owner, "kind": kind, "cards": _cards(view.table)}
    return {
        "number": view.number,
        "starter": view.starter,
        "turn": view.turn,
        "activeSet": active,
        "deadline": None if view.deadline is None else at(view.deadline),
        "result": None if view.result is None else _plain(types.round_result(view.result)),
    }


def _you(view: views.View, own: views.OwnSeat) -> dict[str, Any]:
    ends = legal.scout_ends(view)
    return {
        "seat": own.seat,
        "hand": _cards(own.hand),
        "legal": {
            "flip": legal.may_choose(view),
            "shows": [
                {"first": show.first, "count": show.size, "kind": show.kind}
                for show in legal.shows(view)
            ],
            "scout": {"ends": ends, "maxInsertAt": len(own.hand)} if ends else None,
            "scoutAndShowAvailable": legal.scout_and_show_is_legal(view),
        },
    }


def _cards(values: Cards) -> list[dict[str, int]]:
    return [_card(card) for card in values]


@cache
def _card(card: Card) -> dict[str, int]:
    return {"top": card.top, "bottom": card.bottom}


def _plain(value: Any) -> Any:
    """A dataclass of values, of others and of lists of them, by the names that clients see."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not is_dataclass(value):
        return value
    return {name: _plain(getattr(value, own)) for own, name in _names(value.__class__)}


@cache
def _names(type_: Any) -> tuple[tuple[str, str], ...]:
    return tuple((field.name, to_camel(field.name)) for field in fields(type_))
