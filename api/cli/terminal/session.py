"""What every command of the terminal front end ends with: an exit code, and never a traceback."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from api.cli.terminal.drawing import clean
from api.cli.terminal.errors import TerminalError, Unreachable
from api.cli.terminal.screen import Screen

FAILED: Final = 1
INTERRUPTED: Final = 130  # by Ctrl-C
TERMINATED: Final = 143  # by SIGTERM


def run(session: Callable[[], Coroutine[Any, Any, int]], url: str) -> int:
    """Run a session to its end; the exit code."""
    try:
        return asyncio.run(_terminable(session))
    except KeyboardInterrupt:
        return INTERRUPTED
    except asyncio.CancelledError:
        return TERMINATED
    except Unreachable as trouble:
        _complain(
            f"No server at {url} ({trouble}). `ringmaster up` starts one; --url names another."
        )
    except TerminalError as error:
        _complain(str(error))
    return FAILED


async def _terminable(session: Callable[[], Awaitable[int]]) -> int:
    task = asyncio.current_task()
    if task is not None:  # so that a terminal is put right on SIGTERM as well
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await session()


def say_line(screen: Screen, up: bool) -> None:
    """Tell that the server was lost, or is back."""
    if up:
        screen.print(Text("Connected again.", "green"))
    else:
        screen.print(Text("The server does not answer; reconnecting ...", "yellow"))


def _complain(sentence: str) -> None:
    Console(file=sys.stderr, soft_wrap=True, highlight=False, markup=False).print(
        Text(f"ringmaster: {clean(sentence)}")
    )
