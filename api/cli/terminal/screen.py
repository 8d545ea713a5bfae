"""What is printed, and the line being typed below it."""

import os
import sys
from typing import Final, TextIO

from rich.console import Console, RenderableType
from rich.text import Text

from api.cli.terminal.drawing import Paper
from api.cli.terminal.editor import LineEditor

_CLEAR_LINE: Final = "\r\x1b[K"


def make_console() -> Console:
    """Standard output; what its encoding lacks is replaced rather than an error."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
    return Console(highlight=False, markup=False, emoji=False)


class Screen:
    """A console with a prompt below everything printed.

    On a terminal with an editor the line being typed is drawn again after each print. On one
    without, the terminal itself shows what is typed. Otherwise nobody types: no prompt is shown.
    """

    def __init__(self, console: Console, editor: LineEditor | None = None) -> None:
        self._console = console
        self._editor = editor
        self._typed_here = editor is not None or (is_terminal(sys.stdin) and console.is_terminal)
        self._prompt = ""
        self._visible = False

    @property
    def paper(self) -> Paper:
        """What can be drawn on now; a window may have changed its size."""
        return Paper(self._console.width, self._console.options.ascii_only)

    def print(self, *what: RenderableType) -> None:
        """Print above the line being typed."""
        self.hide()
        for renderable in what:
            self._console.print(renderable)
        self.redraw()

    def print_line(self, line: str) -> None:
        """Print a line to be copied, whole even if it is longer than the window."""
        self.hide()
        self._console.print(Text(line), soft_wrap=True)
        self.redraw()

    def entered(self, line: str) -> None:
        """Leave a line that was entered where it is, for the record."""
        if self._editor or not self._typed_here:
            self.hide()
            self._console.print(Text(f"{self._prompt}> {line}", "dim"))
        self._visible = False

    def prompt(self, text: str) -> None:
        """Ask for a line from now on."""
        if text != self._prompt:
            self.hide()
            self._prompt = text
        if not self._visible:
            self.redraw()

    def idle(self) -> None:
        """Ask for nothing; what is typed all the same is shown."""
        self.prompt("waiting" if self._editor else "")

    def hide(self) -> None:
        """Take the line being typed off the screen."""
        if self._visible:
            self._write(_CLEAR_LINE if self._editor else "\n")
            self._visible = False

    def redraw(self) -> None:
        """Draw the line being typed, the part around the cursor if it is too long."""
        if not self._prompt or not self._typed_here:
            return
        lead = f"{self._prompt}> "
        if self._editor:
            room = max(8, self._console.width - len(lead) - 1)
            start = max(0, self._editor.cursor - room)
            shown = self._editor.text[start : start + room]
            back = len(shown) - (self._editor.cursor - start)
            lead = f"{_CLEAR_LINE}{lead}{shown}" + (f"\x1b[{back}D" if back else "")
        self._write(lead)
        self._visible = True

    def _write(self, text: str) -> None:
        self._console.file.write(text)
        self._console.file.flush()


def can_edit(console: Console) -> bool:
    """Whether keys can be taken one by one and the line drawn again."""
    able = os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown")
    return able and is_terminal(sys.stdin) and console.is_terminal


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person is at the other end; a closed stream is None."""
    return stream is not None and stream.isatty()
