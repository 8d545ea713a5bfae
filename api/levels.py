"""Levels of play from outside: modules that the operator of this server has chosen."""

import os
import re
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Final

from engine.bots import LEVELS, Level

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}\Z")


def adopt_levels(modules: str) -> None:
    """Add the ``LEVELS`` of modules, named with commas between, to those that bots can play at.

    They are looked for in the current folder too. Doing it twice changes nothing more.

    Raises:
        SystemExit: a module cannot be imported or has no levels, or a name is taken; one line.
    """
    for module in filter(None, modules.split(",")):
        for name, level in _levels_of(module).items():
            if not isinstance(level, Level) or level.name != name or not _NAME.match(name):
                raise _refused(f"{module}.LEVELS[{name!r}] is not a Level of this name")
            if LEVELS.setdefault(name, level) is not level:
                raise _refused(f"{module} has a level {name!r}, but there is one already")


def _levels_of(module: str) -> Mapping[str, object]:
    if os.getcwd() not in sys.path:  # noqa: PTH109 - a string
        sys.path.append(os.getcwd())  # noqa: PTH109
    try:
        levels = import_module(module).LEVELS
    except Exception as error:  # noqa: BLE001 - whatever it does, the operator is to read of it
        told = str(error).partition("\n")[0]
        raise _refused(f"{module} cannot be used ({type(error).__name__}: {told})") from None
    if not isinstance(levels, Mapping):
        raise _refused(f"{module}.LEVELS is not a dictionary of levels")
    return levels


def _refused(why: str) -> SystemExit:
    return SystemExit(f"ringmaster: RINGMASTER_LEVELS: {why}")


if __name__ == "__main__":
    adopt_levels(sys.argv[1])
