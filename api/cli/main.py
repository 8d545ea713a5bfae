"""``ringmaster``: every process and every tool as a command."""

import os
import sys
from typing import Annotated, Any

import typer

from api.broker import QUEUES
from api.settings import read_settings

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,  # locals may hold hands
    help="Hosts matches of the card game SCOUT.",
)


def _settings(port: int | None = None) -> Any:
    if port is not None:
        os.environ["RINGMASTER_PORT"] = str(port)
    return read_settings()


@app.command()
def up(port: Annotated[int | None, typer.Option(help="Port of the API.")] = None) -> None:
    """Run everything on this machine: API, worker, sweeper, and a Redis if none is configured."""
    from api.cli.up import up as run

    configured = bool(os.environ.get("RINGMASTER_REDIS_URL"))
    raise typer.Exit(run(_settings(port), redis_configured=configured))


@app.command()
def api(port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None) -> None:
    """Run one API process."""
    from api.server import serve

    serve(_settings(port))


@app.command()
def worker() -> None:
    """Run one Celery worker for all queues."""
    settings = read_settings()
    os.execv(  # noqa: S606 - our own interpreter
        sys.executable,
        [
            *(sys.executable, "-m", "celery", "--app", "workers.app", "--quiet", "worker"),
            *("--queues", ",".join(QUEUES), "--concurrency", str(settings.worker_concurrency)),
            *("--loglevel", "warning", "-O", "fair"),
            *("--without-gossip", "--without-mingle", "--without-heartbeat"),
        ],
    )


@app.command()
def sweeper() -> None:
    """Run the sweeper; of several, one is active."""
    os.execv(sys.executable, [sys.executable, "-m", "workers.sweeper"])  # noqa: S606


if __name__ == "__main__":
    app()
