"""``ringmaster audit`` and ``ringmaster vectors``: files checked against the rules, offline."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import typer

from engine.audit import audit
from engine.vectors import check

AGREES, DIFFERS, UNREADABLE = 0, 1, 2
MAX_BYTES: Final = 16 * 1024 * 1024  # a replay has a few dozen kilobytes


def audit_files(paths: Iterable[Path]) -> int:
    """Re-check replays; one line per fault, and the exit code: the worst of all files'."""
    return max(_check_file(path, audit) for path in paths)


def check_vectors(path: Path) -> int:
    """Run a file of rule vectors through the engine; one line per fault, and the exit code."""
    return _check_file(path, _vectors)


def _vectors(document: Any) -> list[str]:
    try:
        return check(document)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        return [f"not rule vectors: {type(error).__name__} {error}"]


def _check_file(path: Path, check_document: Callable[[Any], list[str]]) -> int:
    try:
        document = _read(path)
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error) or "nested too deeply"
        typer.echo(f"{path}: cannot be read: {reason}")
        return UNREADABLE
    faults = check_document(document)
    for fault in faults:
        typer.echo(f"{path}: {fault}")
    if not faults:
        typer.echo(f"{path}: agrees with the rules", err=True)
    return DIFFERS if faults else AGREES


def _read(path: Path) -> Any:
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"it has more than {MAX_BYTES // 1024 // 1024} MB")
    return json.loads(path.read_bytes())
