"""``ringmaster audit`` and ``ringmaster vectors``: files checked against the rules, offline."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

from engine.audit import audit
from engine.vectors import check

AGREES, DIFFERS, UNREADABLE = 0, 1, 2
MAX_BYTES: Final = 16 * 1024 * 1024  # of one document; a replay has some dozen kilobytes
MANY: Final = (".ndjson", ".jsonl")  # endings of files with a document a line


def audit_files(paths: Iterable[Path]) -> int:
    """Re-check replays; one line per fault, and the exit code: the worst of all files'."""
    return max(_audit_many(path) if path.suffix in MANY else _audit_one(path) for path in paths)


def check_vectors(path: Path) -> int:
    """Run a file of rule vectors through the engine; one line per fault, and the exit code."""
    return _check(str(path), partial(_read, path), _vectors)


def _audit_one(path: Path) -> int:
    return _check(str(path), partial(_read, path), audit)


def _audit_many(path: Path) -> int:
    worst, count = AGREES, 0
    try:
        for number, line in enumerate(_lines(path), 1):
            found = _check(f"{path}:{number}", partial(_decode, line), audit, quiet=True)
            worst, count = max(worst, found), number
    except OSError as error:
        typer.echo(f"{path}: cannot be read: {error.strerror}")
        return UNREADABLE
    if worst == AGREES:
        typer.echo(f"{path}: {count} replays agree with the rules", err=True)
    return worst


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, with a bar of how far it has been read where somebody is watching."""
    columns = ("{task.description}", BarColumn(), DownloadColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with (
        path.open("rb") as file,
        Progress(*columns, console=console, disable=not sys.stderr.isatty()) as progress,
    ):
        task = progress.add_task(path.name, total=path.stat().st_size)
        while line := file.readline(MAX_BYTES + 1):
            progress.update(task, completed=file.tell())
            if line.strip():
                yield line
            while len(line) > MAX_BYTES and not line.endswith(b"\n"):
                line = file.readline(MAX_BYTES + 1)  # the rest of a line that is too long


def _check(
    name: str,
    read: Callable[[], Any],
    check_document: Callable[[Any], list[str]],
    *,
    quiet: bool = False,
) -> int:
    try:
        document = read()
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        typer.echo(f"{name}: cannot be read: {reason}")
        return UNREADABLE
    faults = check_document(document)
    for fault in faults:
        typer.echo(f"{name}: {fault}")
    if not faults and not quiet:
        typer.echo(f"{name}: agrees with the rules", err=True)
    return DIFFERS if faults else AGREES


def _read(path: Path) -> Any:
    with path.open("rb") as file:
        return _decode(file.read(MAX_BYTES + 1))


def _decode(text: bytes) -> Any:
    if len(text) > MAX_BYTES:
        raise ValueError(f"it has more than {MAX_BYTES // 1024 // 1024} MB")
    return json.loads(text)


def _vectors(document: Any) -> list[str]:
    try:
        return check(document)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        return [f"these are no rule vectors ({type(error).__name__}: {error})"]
