"""``ringmaster``: every process and every tool as a command."""

import os
import runpy
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from api import signs
from api.settings import read_settings
from api.threads import one_thread

one_thread()
# Processes that are started from somebody's folder are not to import what lies there as ours.
os.environ.setdefault("PYTHONSAFEPATH", "1")

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


def _become(module: str, *arguments: str) -> None:
    """Go on as ``python -m module``, in this process: another would import everything once more."""
    if not sys.flags.safe_path and sys.path[0] in {"", str(Path.cwd())}:
        del sys.path[0]  # not from somebody's folder, as above
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


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
def worker(
    queues: Annotated[
        str | None, typer.Option(help="Which queues, with commas between; else all.")
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, max=64, help="Else RINGMASTER_WORKER_CONCURRENCY.")
    ] = None,
    nice: Annotated[
        int, typer.Option(min=0, max=19, help="How far to stand back from other processes.")
    ] = 0,
) -> None:
    """Run one Celery worker."""
    from api.observe.sharing import share
    from api.queues import QUEUES

    settings = read_settings()
    chosen = QUEUES if queues is None else tuple(queues.split(","))
    if not set(chosen) <= set(QUEUES):
        raise typer.BadParameter(f"there are {', '.join(QUEUES)}", param_hint="--queues")
    signs.take_back(settings.ready_file)  # of the process that ran here before
    os.nice(nice)
    if settings.metrics_port is not None:
        share()
    warnings.filterwarnings("ignore", "You're running the worker with superuser")
    _become(
        *("celery", "--app", "workers.app", "--quiet", "worker"),
        *("--queues", ",".join(chosen)),
        *("--concurrency", str(processes or settings.worker_concurrency)),
        *("--loglevel", "warning", "-O", "fair"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    )


@app.command()
def sweeper() -> None:
    """Run the sweeper; of several, one is active."""
    _become("workers.sweeper")


@app.command()
def token(
    name: Annotated[str, typer.Argument(help="Of the new player that it is for.")],
    scope: Annotated[
        list[str], typer.Option(help="play, bot, spectate or operate; can be given again.")
    ],
    days: Annotated[
        int | None, typer.Option(min=1, max=3650, help="Else as long as a guest's.")
    ] = None,
) -> None:
    """Make a token, with rights that no guest can have, and print it this once."""
    from api.cli.token import token as run
    from schema.scopes import Scope

    try:
        scopes = frozenset(Scope(word.upper()) for word in scope)
    except ValueError:
        words = ", ".join(word.lower() for word in Scope)
        raise typer.BadParameter(f"there are {words}", param_hint="--scope") from None
    seconds = None if days is None else days * 24 * 3600
    raise typer.Exit(run(read_settings(), name, scopes, seconds))


@app.command(
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    add_help_option=False,
)
def admin(context: typer.Context) -> None:
    """Look after matches, processes and tokens; `admin --help` tells how."""
    from api.cli.admin import app as run

    run(context.args, prog_name="ringmaster admin")


@app.command()
def audit(
    files: Annotated[
        list[Path], typer.Argument(readable=False, help="Replay documents; .ndjson: one a line.")
    ],
) -> None:
    """Re-check replays: deals, actions, scores, hashes. Exit code 1: differs, 2: unreadable."""
    from api.cli.check import audit_files

    raise typer.Exit(audit_files(files))


@app.command()
def export(
    url: Annotated[str | None, typer.Option(help="Address of the API.")] = None,
    output: Annotated[
        Path | None, typer.Option(help="File to write; else standard output.")
    ] = None,
) -> None:
    """Write the replays of all finished public matches, one JSON document a line (NDJSON)."""
    from api.cli.export import export as run
    from api.cli.terminal.client import default_url

    raise typer.Exit(run(url or default_url(), output))


@app.command()
def vectors(file: Annotated[Path, typer.Argument(readable=False, help="Rule vectors.")]) -> None:
    """Run rule vectors through the engine. Exit code 1: a case differs, 2: unreadable."""
    from api.cli.check import check_vectors

    raise typer.Exit(check_vectors(file))


@app.command()
def schema(
    openapi: Annotated[bool, typer.Option(help="The OpenAPI document of REST instead.")] = False,
) -> None:
    """Print the GraphQL schema (SDL)."""
    if openapi:
        from api.rest.app import document

        typer.echo(document())
        return
    from api.graphql.schema import schema as graphql

    typer.echo(graphql.as_str())


@app.command()
def play(  # noqa: PLR0917 - typer passes by name
    url: Annotated[str | None, typer.Option(help="The server; else on this machine.")] = None,
    players: Annotated[int, typer.Option(min=2, max=5, help="Seats of a new match.")] = 4,
    level: Annotated[str, typer.Option(help="How its bots play.")] = "regular",
    name: Annotated[str, typer.Option(help="Your name, shown to all.")] = "Guest",
    join: Annotated[str | None, typer.Option(help="Join code of a match of others.")] = None,
    open_seats: Annotated[
        int, typer.Option("--open", min=0, max=4, help="Seats left for people, not bots.")
    ] = 0,
    public: Annotated[bool, typer.Option("--public", help="Anybody may watch.")] = False,
    token: Annotated[str | None, typer.Option(help="Play as the player of this token.")] = None,
    match: Annotated[str | None, typer.Option(help="Come back to this match.")] = None,
    auto: Annotated[bool, typer.Option("--auto", help="Play sensible moves by itself.")] = False,
) -> None:
    """Play a match in this terminal, against bots or people."""
    from api.cli.terminal.client import default_url
    from api.cli.terminal.play import play as run
    from api.cli.terminal.seating import Wish

    wish = Wish(
        *(url or default_url(), players, level, name, join),
        *(open_seats, token, match, public, auto),
    )
    raise typer.Exit(run(wish))


@app.command()
def arena(  # noqa: PLR0917 - typer passes by name
    level: Annotated[
        str | None, typer.Argument(help="A level; without any, the whole ladder is played.")
    ] = None,
    against: Annotated[str, typer.Argument(help="The level in all other seats.")] = "regular",
    players: Annotated[
        list[int] | None, typer.Option(min=2, max=5, help="Seats; can be given again.")
    ] = None,
    deals: Annotated[int, typer.Option(min=2, help="Each is played once in every seat.")] = 100,
    seed: Annotated[int, typer.Option(help="Chooses the deals.")] = 1,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = os.cpu_count() or 1,
    replays: Annotated[Path | None, typer.Option(help="File for the replays (NDJSON).")] = None,
) -> None:
    """Play levels against each other on duplicate deals; intervals are of 95 %, over deals."""
    from api.cli.arena.contests import Contest, ladder
    from api.cli.arena.run import arena as run
    from api.levels import adopt_levels
    from engine.bots import LEVELS
    from engine.cards import PLAYER_COUNTS

    levels = read_settings().levels
    adopt_levels(levels)
    for name in filter(None, (level, against)):
        if name not in LEVELS:
            raise typer.BadParameter(f"There is no such level; there are {', '.join(LEVELS)}.")
    counts = tuple(dict.fromkeys(players or PLAYER_COUNTS))
    contests = [Contest(level, against, n, deals, seed) for n in counts] if level else []
    contests = contests or [c for c in ladder(deals, seed) if c.players in counts]
    if replays is not None and not replays.parent.is_dir():
        raise typer.BadParameter(f"There is no folder {replays.parent}.")
    raise typer.Exit(run(contests, jobs, replays, levels))


@app.command()
def train(  # noqa: PLR0917 - typer passes by name
    seed: Annotated[int, typer.Option(min=0, help="Chooses weights and deals.")] = 1,
    strong: Annotated[
        tuple[int, int], typer.Option(help="Rounds of the strong nets: first and second stage.")
    ] = (60_000, 0),
    expert: Annotated[
        tuple[int, int], typer.Option(help="Rounds of the expert nets: first and second stage.")
    ] = (300_000, 150_000),
    folder: Annotated[
        Path, typer.Option(help="Where unfinished training is kept; it goes on from there.")
    ] = Path(".ringmaster/train"),
    output: Annotated[Path, typer.Option(help="Folder for the nets.")] = Path("engine/bots"),
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = os.cpu_count() or 1,
) -> None:
    """Train the nets of the learned levels; `make train` compiles what that needs."""
    from api.cli.train.run import Plan
    from api.cli.train.run import train as run

    for early, late in (strong, expert):
        if early < 1 or late < 0:
            raise typer.BadParameter("A net needs one round and more; a stage is not negative.")
    output.mkdir(parents=True, exist_ok=True)
    plan = Plan({"strong": strong, "expert": expert}, seed, folder, jobs)
    raise typer.Exit(run(plan, output))


@app.command()
def watch(
    match: Annotated[str, typer.Argument(help="Id of the match.")],
    url: Annotated[str | None, typer.Option(help="The server; else on this machine.")] = None,
    token: Annotated[str | None, typer.Option(help="Watch from the seat of this token.")] = None,
    notation: Annotated[bool, typer.Option("--notation", help="A line of text a version.")] = False,
) -> None:
    """Follow a match live until it is over."""
    from api.cli.terminal.client import default_url
    from api.cli.terminal.watch import watch as run

    raise typer.Exit(run(match, url or default_url(), token, notation=notation))


if __name__ == "__main__":
    app()
