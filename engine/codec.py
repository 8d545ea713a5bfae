"""Events and actions as plain data (what JSON can hold) and back.

An event is ``{"type": class name, field: value, ...}``; fields at their default are left out.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from engine.actions import Action, ChooseHand, Scout, ScoutAndShow, Show
from engine.cards import Card
from engine.errors import Reason, RuleError
from engine.events import Event

SCHEMA: Final = 1

Plain = Any  # None, bool, int, str, lists of these, dicts with str keys
_EVENTS: Final = {cls.__name__: cls for cls in get_args(Event)}
_ACTIONS: Final[Mapping[str, type]] = {
    "CHOOSE_HAND": ChooseHand,
    "SHOW": Show,
    "SCOUT": Scout,
    "SCOUT_AND_SHOW": ScoutAndShow,
}
_ACTION_TYPES: Final = {cls: name for name, cls in _ACTIONS.items()}


class CodecError(ValueError):
    """Plain data that is no event or action of this schema."""


def encode_event(event: Event) -> dict[str, Plain]:
    """An event as plain data."""
    return {"type": type(event).__name__, **_encode_fields(event)}


def decode_event(data: Mapping[str, Plain]) -> Event:
    """The event that was encoded.

    Raises:
        CodecError: the data is no event of this schema.
    """
    name = data.get("type")
    cls = _EVENTS.get(name) if isinstance(name, str) else None
    if cls is None:
        raise CodecError("no event is called that")
    event: Event = _decode_fields(cls, data)
    return event


def encode_action(action: Action) -> dict[str, Plain]:
    """An action as in replays: ``{"seat": 3, "type": "SCOUT", "end": "LEFT", ...}``."""
    plain = {_camel(key): value for key, value in _encode_fields(action).items()}
    return {"seat": plain.pop("seat"), "type": _ACTION_TYPES[type(action)], **plain}


def decode_action(data: Mapping[str, Plain]) -> Action:
    """The action that plain data describe, every field stated and of its type.

    Raises:
        RuleError: INVALID_INPUT.
    """
    kind = data.get("type")
    cls = _ACTIONS.get(kind) if isinstance(kind, str) else None
    if cls is None:
        raise RuleError(Reason.INVALID_INPUT, "type")
    names = {told: name for name, told in told_names(cls)}
    extra = set(data) - set(names) - {"type"}
    if extra:
        raise RuleError(Reason.INVALID_INPUT, min(extra))
    for name in names:
        if name not in data:
            raise RuleError(Reason.INVALID_INPUT, name)
    try:
        action: Action = _decode_fields(cls, {names[k]: v for k, v in data.items() if k != "type"})
    except CodecError as error:
        raise RuleError(Reason.INVALID_INPUT) from error
    return action


@cache
def told_names(cls: Any) -> tuple[tuple[str, str], ...]:
    """The fields of a dataclass, each with its name as JSON has it: ``insert_at``, ``insertAt``."""
    return tuple((f.name, _camel(f.name)) for f in fields(cls))


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(word.title() for word in tail)


def _encode_fields(value: Any) -> dict[str, Plain]:
    return {
        name: encode_value(item, _encode_fields)
        for name, default in _defaults(value.__class__)
        if (item := getattr(value, name)) != default
    }


_PLAIN: Final = frozenset({int, str, bool, NoneType})


@cache
def _defaults(cls: Any) -> tuple[tuple[str, Any], ...]:
    return tuple((f.name, f.default) for f in fields(cls))


def encode_value(value: Any, encode_fields: Callable[[Any], Plain]) -> Plain:
    """A field's value as plain data, cards as ``[top, bottom]``; dataclasses by their fields."""
    if type(value) in _PLAIN:
        return value
    if type(value) is Card:
        return list(value)
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple):
        return [encode_value(item, encode_fields) for item in value]
    return encode_fields(value)


def _decode_fields(cls: type, data: Mapping[str, Plain]) -> Any:
    try:
        return cls(**{name: read(data[name]) for name, read in _readers(cls) if name in data})
    except TypeError as error:
        raise CodecError(f"{cls.__name__} lacks a field") from error


@cache
def _readers(cls: type) -> tuple[tuple[str, Callable[[Plain], Any]], ...]:
    hints = get_type_hints(cls)
    return tuple((f.name, _reader(hints[f.name])) for f in fields(cls))


def _reader(hint: Any) -> Callable[[Plain], Any]:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        (inner,) = [arg for arg in get_args(hint) if arg is not NoneType]
        return _optional(_reader(inner))
    if origin is tuple:
        return _tuple_of(_reader(get_args(hint)[0]))
    if hint is Card:
        return _card
    if hint in (int, bool, str):
        return _exactly(hint)
    if issubclass(hint, StrEnum):
        return _member(hint)
    return lambda data: _decode_fields(hint, _mapping(data))


def _optional(read: Callable[[Plain], Any]) -> Callable[[Plain], Any]:
    return lambda data: None if data is None else read(data)


def _tuple_of(read: Callable[[Plain], Any]) -> Callable[[Plain], Any]:
    def read_all(data: Plain) -> Any:
        if not isinstance(data, list):
            raise CodecError("a list is expected")
        return tuple(read(item) for item in data)

    return read_all


def _exactly(kind: type) -> Callable[[Plain], Any]:
    def read(data: Plain) -> Any:
        if type(data) is not kind:
            raise CodecError(f"a value of type {kind.__name__} is expected")
        return data

    return read


def _member(enum: type[StrEnum]) -> Callable[[Plain], Any]:
    members = {member.value: member for member in enum}

    def read(data: Plain) -> Any:
        # An enum would print what it does not know, however deep or long that is.
        if not isinstance(data, str) or data not in members:
            raise CodecError(f"no {enum.__name__} is called that")
        return members[data]

    return read


def _card(data: Plain) -> Card:
    if not isinstance(data, list) or len(data) != 2 or any(type(n) is not int for n in data):
        raise CodecError("a card is a list of two numbers")
    return Card(data[0], data[1])


def _mapping(data: Plain) -> Mapping[str, Plain]:
    if not isinstance(data, dict):
        raise CodecError("an object is expected")
    return data
