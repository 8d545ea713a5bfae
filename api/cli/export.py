"""``ringmaster export``: the replays of all finished public matches, one a line."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, Final

import httpx
import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

PAGE: Final = 50
MATCHES: Final = """query ($first: Int, $after: String) {
  matches(status: FINISHED, first: $first, after: $after) {
    edges { node { id } } pageInfo { hasNextPage endCursor }
  }
}"""
REPLAY: Final = "query ($match: ID!) { replay(matchId: $match) }"


def export(url: str, output: Path | None) -> int:
    """Write replays as NDJSON to a file, or to standard output; the exit code."""
    written = None if output is None else output.with_name(f"{output.name}.part")
    columns = (SpinnerColumn(), TextColumn("{task.completed} replays"), TimeElapsedColumn())
    console = Console(stderr=True)
    try:
        with (
            httpx.Client(base_url=url, timeout=30) as client,
            written.open("w", encoding="utf-8") if written else nullcontext(sys.stdout) as file,
            Progress(*columns, console=console, disable=not sys.stderr.isatty()) as progress,
        ):
            task = progress.add_task("export", total=None)
            for match_id in _finished(client):
                replay = _ask(client, REPLAY, match=match_id)["replay"]
                if replay is not None:  # it may have expired meanwhile
                    file.write(replay + "\n")
                    progress.advance(task)
        if output is not None and written is not None:
            written.replace(output)  # an export that failed leaves the one before as it was
    except (httpx.HTTPError, OSError, KeyError, TypeError, ValueError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        typer.echo(f"ringmaster: the export failed: {reason}", err=True)
        return 1
    finally:
        if written is not None:
            with suppress(OSError):
                written.unlink()
    return 0


def _finished(client: httpx.Client) -> Iterator[str]:
    after = None
    while True:
        page = _ask(client, MATCHES, first=PAGE, after=after)["matches"]
        yield from (edge["node"]["id"] for edge in page["edges"])
        if not page["pageInfo"]["hasNextPage"]:
            return
        after = page["pageInfo"]["endCursor"]


def _ask(client: httpx.Client, query: str, **variables: Any) -> Any:
    while True:
        answer = client.post("/graphql", json={"query": query, "variables": variables})
        if answer.status_code != httpx.codes.TOO_MANY_REQUESTS:
            break
        time.sleep(float(answer.headers["retry-after"]))
    body = json.loads(answer.raise_for_status().text)
    if body.get("errors"):
        raise ValueError(body["errors"][0]["message"])
    return body["data"]
