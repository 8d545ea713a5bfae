"""The bots' own functions, compiled where numba is there: what is learnt from is what plays."""

import importlib
import importlib.util
from types import FunctionType, ModuleType
from typing import Any, Final

SOURCES: Final = (
    "engine.sets",
    "engine.bots.moves",
    "engine.bots.features",
    "engine.bots.after",
    "api.cli.train.rounds",
)


def compiled() -> Any:
    """``api.cli.train.rounds`` compiled together with all that it calls; plain without numba."""
    try:
        njit = importlib.import_module("numba").njit
    except ImportError:
        return importlib.import_module(SOURCES[-1])
    made: dict[tuple[str, str], Any] = {}
    for name in SOURCES:
        module = _copy(name)
        for attribute, thing in list(vars(module).items()):
            if not isinstance(thing, FunctionType):
                continue
            key = (thing.__module__, thing.__name__)
            if (key[0] == name and name != "engine.sets") or key == ("engine.sets", "rank"):
                made.setdefault(key, njit(thing, fastmath=True))
            if key in made:
                setattr(module, attribute, made[key])
    return module


def _copy(name: str) -> ModuleType:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
