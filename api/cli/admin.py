"""``ringmaster admin``: what operators do, from a shell beside Redis.

Every command is on record under the name of the shell's user. Exit code 1: refused, or Redis cannot
be reached.
"""

import asyncio
import getpass
import os
import socket
from collections.abc import Awaitable, Callable
from typing import Annotated

import typer

from api.bootstrap import build
from api.cli.unreachable import told
from api.errors import ServiceError
from api.logs import set_up_logging
from api.operators.service import STUCK_SECONDS, Operator, Operators
from api.rest.operators import act_page, inspected, process_list, stuck_list
from api.settings import read_settings
from engine.errors import RuleError
from schema.inputs import check_reason
from schema.rest.base import Model
from schema.rest.match import match_of
from schema.rest.operators import Revoked, Sent

app = typer.Typer(no_args_is_help=True, help="Look after matches, processes and tokens.")

Match = Annotated[str, typer.Argument(help="Id of the match.")]
Reason = Annotated[str, typer.Option(help="Why; goes on record.")]


def _by() -> Operator:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # containers run as numbers without a name
        user = str(os.getuid())
    return Operator(f"cli:{user}@{socket.gethostname()}")


def _run(work: Callable[[Operators], Awaitable[Model | None]]) -> None:
    """Do it, and print what comes of it as REST answers it."""

    async def main() -> Model | None:
        settings = read_settings()
        set_up_logging(settings.log_level, settings.log_format)
        parts = build(settings)
        try:
            return await work(parts.operators)
        finally:
            await parts.close()

    try:
        found = asyncio.run(main())
    except (RuleError, ServiceError) as error:
        typer.echo(f"ringmaster: {told(error, read_settings().redis_url)}", err=True)
        raise typer.Exit(1) from None
    if found is not None:
        typer.echo(found.model_dump_json(indent=2))


@app.command()
def stuck(
    seconds: Annotated[int, typer.Option(min=0, help="Owed for so long.")] = STUCK_SECONDS,
) -> None:
    """Matches that the house owes something since too long ago, the longest first."""

    async def work(operators: Operators) -> Model | None:
        return stuck_list(await operators.stuck(seconds))

    _run(work)


@app.command()
def inspect(match: Match) -> None:
    """Any match, as everybody could see it: no card that is hidden."""

    async def work(operators: Operators) -> Model | None:
        return inspected(await operators.inspect(_by(), match))

    _run(work)


@app.command()
def cancel(match: Match, reason: Reason) -> None:
    """End a match without a result; everybody who follows it is told the reason."""

    async def work(operators: Operators) -> Model | None:
        found = await operators.cancel(_by(), match, check_reason(reason))
        return match_of(found.view, found.version, found.hash)

    _run(work)


@app.command("send-due")
def send_due(
    match: Annotated[str | None, typer.Argument(help="Of one match; else of all stuck.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A quick move for a bot's own.")] = False,
) -> None:
    """Send the workers again what is owed; what was done meanwhile is not done twice."""

    async def work(operators: Operators) -> Model | None:
        return Sent(sent=await operators.send_due(_by(), match, quick=quick))

    _run(work)


@app.command()
def processes() -> None:
    """The processes at work."""

    async def work(operators: Operators) -> Model | None:
        return process_list(await operators.processes())

    _run(work)


@app.command()
def drain(
    process: Annotated[str, typer.Argument(help="Id, as `processes` tells it.")], reason: Reason
) -> None:
    """Let a process finish what it does and end."""

    async def work(operators: Operators) -> Model | None:
        await operators.drain(_by(), process, check_reason(reason))
        return None

    _run(work)


@app.command()
def revoke(
    player: Annotated[str, typer.Argument(help="Id of the player, as `inspect` tells it.")],
    reason: Reason,
) -> None:
    """End every token of a player, and every stream of these."""

    async def work(operators: Operators) -> Model | None:
        return Revoked(revoked=await operators.revoke(_by(), player, check_reason(reason)))

    _run(work)


@app.command("log")
def log_(
    first: Annotated[int, typer.Option(min=1, max=1000, help="So many.")] = 20,
) -> None:
    """What operators did, the newest first."""

    async def work(operators: Operators) -> Model | None:
        entries, more = await operators.acts(limit=first)
        return act_page(entries, None, more=more)

    _run(work)
