"""Lines of standard input as they come, without a thread that could not be stopped."""

import asyncio
import contextlib
import os
import signal
import sys
import termios
import tty
from collections.abc import Callable, Iterator

from api.cli.terminal.editor import LineEditor

CHUNK = 4096


class Lines:
    """Lines of a file descriptor; with an editor, those that its keys complete."""

    def __init__(
        self,
        fd: int,
        editor: LineEditor | None = None,
        on_edit: Callable[[], None] = lambda: None,
    ) -> None:
        self._fd = fd
        self._editor = editor
        self._on_edit = on_edit
        self._rest = b""
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()

    async def read(self) -> str | None:
        """The next line, None at the end of the input."""
        return await self._queue.get()

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Take lines in until the block ends; a terminal is then as it was before."""
        loop = asyncio.get_running_loop()
        with _keys_at_once(self._fd, self._on_edit) if self._editor else contextlib.nullcontext():
            try:
                loop.add_reader(self._fd, self._take)
            except PermissionError:  # a file, which epoll will not have
                while self._take():
                    pass
            try:
                yield
            finally:
                loop.remove_reader(self._fd)

    def _take(self) -> bool:
        try:
            data = os.read(self._fd, CHUNK)
        except OSError:  # closed, or a terminal that has gone
            data = b""
        for line in self._lines(data):
            self._queue.put_nowait(line)
        if not data:
            self._queue.put_nowait(None)
            asyncio.get_running_loop().remove_reader(self._fd)
        return bool(data)

    def _lines(self, data: bytes) -> list[str]:
        if self._editor:
            lines = self._editor.feed(data)
            self._on_edit()
            return lines
        *whole, self._rest = (self._rest + data).split(b"\n")
        if not data and self._rest:
            whole.append(self._rest)
        return [line.decode(errors="replace") for line in whole]


def standard_input() -> int:
    """The file descriptor to read commands from; an empty one if there is none."""
    return sys.stdin.fileno() if sys.stdin is not None else os.open(os.devnull, os.O_RDONLY)


@contextlib.contextmanager
def _keys_at_once(fd: int, redraw: Callable[[], None]) -> Iterator[None]:
    """The terminal gives each key as it is pressed and shows none by itself."""
    before = termios.tcgetattr(fd)

    def again() -> None:
        tty.setcbreak(fd)
        redraw()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGCONT, again)  # back from Ctrl-Z, the shell has changed it
    try:
        again()
        yield
    finally:
        loop.remove_signal_handler(signal.SIGCONT)
        with contextlib.suppress(termios.error):  # the terminal has gone
            termios.tcsetattr(fd, termios.TCSADRAIN, before)
