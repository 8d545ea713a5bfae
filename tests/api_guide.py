"""docs/api.md as it runs: `make api-guide` writes its answers anew, a test compares them.

The page is its own source. Its `sh` blocks are one script, run from top to bottom against a real
stack; the block that follows one is what came, shortened:

- of a long list the first items, of a long text its beginning, then `...`;
- of header fields those that a client acts on;
- of a stream its first two messages and its last;
- of an object, after `<!-- shown: id seats.name -->`, these fields alone.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

ROOT: Final = Path(__file__).parents[1]
GUIDE: Final = ROOT / "docs" / "api.md"
ADDRESS: Final = "http://127.0.0.1:8000"
REST: Final = "..."  # what stands for the rest of a list, a text, an object, a stream
WIDTH: Final = 100
MARK: Final = "=== next block ==="
SECONDS: Final = 60
HEADERS: Final = ("content-type", "location", "etag", "retry-after", "allow", "www-authenticate")
_BLOCK: Final = re.compile(
    r"(?P<head>```sh\n(?P<request>.*?)```\n"
    r"(?:\n(?:<!-- shown: (?P<shown>[^\n]*) -->\n)?```(?P<kind>json|http|text)\n)?)"
    r"(?(kind)(?P<answer>.*?)```\n)",
    re.DOTALL,
)
_STARTS: Final = re.compile(r'^(?P<before>(?:data: |[<>] )?)(?=[{\["])', re.MULTILINE)


@dataclass(frozen=True)
class Line:
    """A part of an answer: a line of text, or a JSON value with what stands before it."""

    before: str
    value: Any = None


Message = list[Line]


@dataclass(frozen=True)
class Block:
    """A request of the page, and the answer that it shows, if any."""

    request: str
    shown: tuple[str, ...]
    answer: str | None

    @classmethod
    def of(cls, found: re.Match[str]) -> Self:
        return cls(found["request"], tuple((found["shown"] or "").split()), found["answer"])


def blocks() -> list[Block]:
    """Every request of the page, in order."""
    return [Block.of(found) for found in _BLOCK.finditer(GUIDE.read_text())]


def run(url: str, redis_url: str) -> list[str]:
    """What each block of the page printed, run against a stack."""
    script = f"\nprintf '\\n%s\\n' '{MARK}'\n".join(block.request for block in blocks())
    script = script.replace(ADDRESS, url).replace(".venv/bin/python", sys.executable)
    script = script.replace(".venv/bin/ringmaster", f"{sys.executable} -m api.cli.main")
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            ["bash", "-uc", script],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            cwd=folder,
            env={**os.environ, "RINGMASTER_REDIS_URL": redis_url},
            check=False,
        )
    if ran.stderr:
        raise AssertionError(ran.stderr)
    return ran.stdout.split(f"\n{MARK}\n")


# Answers as data.


def read(text: str) -> list[Message]:
    """An answer, of a run or of the page, as its messages."""
    found: list[Message] = [[]]
    for line in _lines(text):
        if line.before or line.value is not None:
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [message for message in found if message]


def _lines(text: str) -> Iterator[Line]:
    text, place, decoder = text.replace("\r", ""), 0, json.JSONDecoder()
    while place < len(text):
        if start := _STARTS.match(text, place):
            value, place = decoder.raw_decode(text, start.end())
            yield Line(start["before"], value)
            place += 1
            continue
        end = text.find("\n", place)
        end = len(text) if end < 0 else end
        line, place = text[place:end].rstrip(), end + 1
        if not line or line == REST or _is_told(line):
            yield Line(line)


def _is_told(line: str) -> bool:
    name, colon, _ = line.partition(": ")
    if line.startswith("HTTP/"):
        return True
    if name == "content-type" and line.endswith(": application/json"):
        return False
    return name in (*HEADERS, "event", "id", "data", "retry") and bool(colon)


def shortened(answer: list[Message], shown: tuple[str, ...]) -> list[Message]:
    """What of an answer the page shows."""
    if len(answer) > 4 and _is_stream(answer):
        answer = [*answer[:2], [Line(REST)], answer[-1]]
    paths = [path.split(".") for path in shown]
    return [
        [
            line if line.value is None else Line(line.before, _cut(_only(line.value, paths)))
            for line in message
        ]
        for message in answer
    ]


def _only(value: Any, paths: list[list[str]]) -> Any:
    if not all(paths) or not paths:  # of this, everything
        return value
    if isinstance(value, list):
        return [_only(item, paths) for item in value]
    if not isinstance(value, dict) or not any(path[0] in value for path in paths):
        return value  # a problem, or the end of a stream
    names = {path[0] for path in paths}
    found = {
        name: _only(of, [path[1:] for path in paths if path[0] == name])
        for name, of in value.items()
        if name in names
    }
    return found if len(found) == len(value) else {**found, REST: REST}


def _cut(value: Any) -> Any:
    match value:
        case dict():
            return {name: _cut(of) for name, of in value.items()}
        case list():
            most = 1 if len(json.dumps(value[:1])) > WIDTH // 2 else 3
            if len(value) > most + 1:
                return [*map(_cut, value[:most]), REST]
            return list(map(_cut, value))
        case str():
            text = re.sub(r"[\w-]{30,}", lambda long: f"{long[0][:12]}{REST}", value)
            return text if len(text) <= 120 else text[:80] + REST
        case _:
            return value


def written(answer: list[Message]) -> str:
    """An answer as the page has it."""
    return "\n".join("".join(map(_text, message)) for message in answer)


def _text(line: Line) -> str:
    if line.value is None:
        return f"{line.before}\n"
    if line.before:
        return f"{line.before}{json.dumps(line.value, ensure_ascii=False)}\n"
    return f"{_pretty(line.value, '')}\n"


def _pretty(value: Any, indent: str) -> str:
    flat = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(flat) <= WIDTH or not isinstance(value, dict | list):
        return flat
    more = indent + "  "
    if isinstance(value, list):
        items = [_pretty(item, more) for item in value]
        return "[\n" + ",\n".join(more + item for item in items) + f"\n{indent}]"
    items = [f"{json.dumps(name)}: {_pretty(of, more)}" for name, of in value.items()]
    return "{\n" + ",\n".join(more + item for item in items) + f"\n{indent}}}"


# Whether a run is what the page shows.


def differences(shown: list[Message], came: list[Message]) -> list[str]:
    """Where an answer has another shape than the page says: keys, types, statuses, codes."""
    shown = [message for message in shown if message != [Line(REST)]]
    if _is_stream(shown):  # how many messages it has is chance, of which kinds is not
        kinds = {_words(message): message for message in reversed(came)}
        lacking = {*map(_words, shown)} ^ kinds.keys()
        came = [kinds[words] for words in map(_words, shown) if words in kinds]
    else:
        lacking = {*map(_words, shown)} ^ {*map(_words, came)}
    if lacking or len(shown) != len(came) or not came:
        return [f"{len(came)} messages, not in both: {sorted(lacking)}"]
    return [
        told
        for message, other in zip(shown, came, strict=True)
        for one, two in zip(message, other, strict=True)
        for told in _of_values(one.value, two.value, "")
    ]


def _is_stream(answer: list[Message]) -> bool:
    return any(line.before.startswith("event: ") for message in answer for line in message)


def _words(message: Message) -> tuple[str, ...]:
    return tuple(map(_word, message))


def _word(line: Line) -> str:
    """What of a line has to be the same in every run."""
    name = line.before.partition(": ")[0]
    if name.startswith("HTTP/"):
        return " ".join(name.split()[:2])  # Python's releases have other words for some statuses
    return name if name in ("id", "etag", "location", "retry-after") else line.before.strip()


def _of_values(shown: Any, came: Any, place: str) -> Iterator[str]:
    if shown == REST or shown is None or came is None:
        return
    match shown, came:
        case dict(), dict():
            lacking = shown.keys() - came.keys() - {REST}
            added = set() if REST in shown else came.keys() - shown.keys()
            yield from (f"{place}.{name}" for name in sorted(lacking | added))
            for name in shown.keys() & came.keys():
                yield from _of_values(shown[name], came[name], f"{place}.{name}")
        case list(), list():
            for item in came:
                yield from _of_items(shown, item, f"{place}[]")
        case _ if _is_other(shown, came, place):
            yield f"{place} is {came}"


def _is_other(shown: Any, came: Any, place: str) -> bool:
    """Whether two plain values differ in type, or are different codes."""
    if isinstance(shown, str) and isinstance(came, str):
        is_code = place.endswith(".code") or place == ".reason"  # the latter of a stream's end
        return is_code and shown != came
    if isinstance(shown, bool) or isinstance(came, bool):
        return type(shown) is not type(came)
    if isinstance(shown, int | float) and isinstance(came, int | float):
        return place == ".status" and shown != came
    return True


def _of_items(shown: list[Any], item: Any, place: str) -> Iterator[str]:
    """An item of a list is like one that is shown, of those of its type."""
    told = [one for one in shown if one != REST and _type(one) == _type(item)]
    if told:
        yield from _of_values(told[0], item, place)


def _type(item: Any) -> Any:
    if not isinstance(item, dict):
        return type(item).__name__
    return item.get("__typename") or (item.get("type") if "action" not in item else None)


def main() -> None:
    """Write the page's answers anew, all of them, if one has another shape (or with `--all`)."""
    from tests.conftest import start_stack  # noqa: PLC0415 - the tests need no second stack

    with tempfile.TemporaryDirectory() as folder:
        stack = start_stack(Path(folder))
        try:
            came = run(stack.url, stack.redis_url)
        finally:
            stack.stop()
    changed = "--all" in sys.argv
    for block, text in zip(blocks(), came, strict=True):
        if block.answer is not None:
            changed |= bool(differences(read(block.answer), read(text)))
    if changed:
        texts = iter(came)
        GUIDE.write_text(_BLOCK.sub(lambda found: _answered(found, next(texts)), GUIDE.read_text()))
    print(f"{GUIDE.relative_to(ROOT)} {'written' if changed else 'is as it runs'}")  # noqa: T201


def _answered(found: re.Match[str], text: str) -> str:
    block = Block.of(found)
    if block.answer is None:
        return found[0]
    return f"{found['head']}{written(shortened(read(text), block.shown))}```\n"


if __name__ == "__main__":
    main()
