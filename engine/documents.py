"""Reading documents of others: a field of the right type, a value that agrees, or a fault."""

from types import NoneType
from typing import Any, Final

Plain = dict[str, Any]

TYPES: Final = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "a whole number",
    bool: "true or false",
    NoneType: "null",
}


class FaultError(Exception):
    """The first difference found, in a line."""


def field(data: Plain, name: str, kinds: type | tuple[type, ...], where: str) -> Any:
    """The named field of an object.

    Raises:
        FaultError: it is not there, or not exactly of one of the kinds.
    """
    if name not in data:
        raise FaultError(f"{where} lacks {name}")
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    if type(data[name]) not in kinds:
        expected = " or ".join(TYPES[kind] for kind in kinds)
        raise FaultError(f"{where}.{name} is not {expected}")
    return data[name]


def agree(given: Any, expected: Any, where: str) -> None:
    """All that is expected is there, at the same place and of the same type.

    Raises:
        FaultError: it is not.
    """
    if type(given) is not type(expected):
        raise FaultError(f"{where} is not {TYPES[type(expected)]}")
    if isinstance(expected, dict):
        for name, value in expected.items():
            agree(field(given, name, type(value), where), value, f"{where}.{name}")
    elif isinstance(expected, list):
        # By far the most; 1, 1.0 and true are equal, but do not read alike.
        if given == expected and repr(given) == repr(expected):
            return
        if len(given) != len(expected):
            raise FaultError(f"{where} has not {len(expected)} entries")
        for index, (item, value) in enumerate(zip(given, expected, strict=True)):
            agree(item, value, f"{where}[{index}]")
    elif given != expected:
        raise FaultError(f"{where} is not {expected}")
