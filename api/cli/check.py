"""``ringmaster audit`` and ``ringmaster vectors``: files checked against the rules, offline."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

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
        _say(f"{path}: cannot be read: {_reason(error)}")
        return UNREADABLE
    if not count:
        _say(f"{path}: cannot be read: there is no replay in it")
        return UNREADABLE
    if worst == AGREES:
        _say(f"{path}: all agree with the rules, {count} in number", err=True)
    return worst


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, with a bar of how far it has been read where somebody is watching."""
    columns = ("{task.description}", BarColumn(), DownloadColumn(), TimeRemainingColumn())
    # On a terminal faults are printed above the bar; in a pipe they are all there is.
    watched = sys.stdout.isatty()
    console = Console(stderr=not watched)
    shown = watched or sys.stderr.isatty()
    bar = Progress(*columns, console=console, disable=not shown, redirect_stdout=watched)
    with path.open("rb") as file, bar as progress:
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
        _say(f"{name}: cannot be read: {_reason(error)}")
        return UNREADABLE
    faults = check_document(document)
    for fault in faults:
        _say(f"{name}: {fault}")
    if not faults and not quiet:
        _say(f"{name}: agrees with the rules", err=True)
    return DIFFERS if faults else AGREES


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos + 1}"
    return str(error) if isinstance(error, TooLargeError) else "it is no JSON"


class TooLargeError(ValueError):
    """A document beyond all measure."""


def _read(path: Path) -> Any:
    with path.open("rb") as file:
        return _decode(file.read(MAX_BYTES + 1))


def _decode(text: bytes) -> Any:
    if len(text) > MAX_BYTES:
        raise TooLargeError(f"it has more than {MAX_BYTES // 1024 // 1024} MB")
    return json.loads(text)


def _vectors(document: Any) -> list[str]:
    try:
        return check(document)
    except ValueError as error:
        return [f"these are no rule vectors: {error}"]


def _say(line: str, *, err: bool = False) -> None:
    """Print exactly one line, whatever a file name or a document puts into it."""
    stream = sys.stderr if err else sys.stdout  # asked for now: a bar may have put itself between
    encoding = stream.encoding or "ascii"
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
