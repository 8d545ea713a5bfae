"""A line being typed: keys in, whole lines out."""

import codecs
import re
from typing import Final

END_OF_INPUT: Final = "\x04"  # Ctrl-D, as a line of its own

# A function key of the Linux console; a control sequence (ECMA-48), or as much of one as there is
# before what cannot belong to it; a key of a keypad; Alt with a key; a key.
_KEY: Final = re.compile(
    r"\x1b(?:\[\[.|(?!\[\[)\[[0-?]*+[ -/]*+(?:[@-Z\\-~]|(?=[^@-Z\\-~]))|O.|[^\[O])|[^\x1b]",
    re.DOTALL,
)
_ARROW: Final = re.compile(r"\x1b(?:\[[0-9;]*|O)([ABCDHF])")
_ARROWS: Final = {"A": "up", "B": "down", "C": "right", "D": "left", "H": "home", "F": "end"}
_CONTROLS: Final = {
    "\r": "enter",
    "\n": "enter",
    "\x7f": "rub",
    "\x08": "rub",
    "\x04": "eof",
    "\x01": "home",
    "\x05": "end",
    "\x02": "left",
    "\x06": "right",
    "\x10": "up",
    "\x0e": "down",
    "\x15": "kill",
    "\x17": "word",
    "\x1b[3~": "delete",
}


class LineEditor:
    """The text typed so far and the place in it; remembers the lines before."""

    def __init__(self) -> None:
        self.text = ""
        self.cursor = 0
        self._pending = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._history: list[str] = []
        self._place = 0

    def feed(self, data: bytes) -> list[str]:
        """The lines that these bytes complete; END_OF_INPUT for Ctrl-D with nothing typed."""
        self._pending += self._decoder.decode(data)
        lines = []
        while found := _KEY.match(self._pending):
            self._pending = self._pending[found.end() :]
            line = self._press(found.group())
            if line is not None:
                lines.append(line)
        return lines

    def _press(self, key: str) -> str | None:
        arrow = _ARROW.fullmatch(key)
        name = _ARROWS[arrow[1]] if arrow else _CONTROLS.get(key)
        if name in ("enter", "eof"):
            return self._finish(name)
        if name is not None:
            self._edit(name)
        elif key.isprintable():
            self._replace(self.text[: self.cursor] + key, self.text[self.cursor :])
        return None

    def _finish(self, name: str) -> str | None:
        if name == "eof":
            return None if self.text else END_OF_INPUT
        line = self.text
        if line.strip() and self._history[-1:] != [line]:
            self._history.append(line)
        self._place = len(self._history)
        self._replace("", "")
        return line

    def _edit(self, name: str) -> None:
        before, after = self.text[: self.cursor], self.text[self.cursor :]
        match name:
            case "rub":
                self._replace(before[:-1], after)
            case "delete":
                self._replace(before, after[1:])
            case "kill":
                self._replace("", after)
            case "word":
                self._replace(before.rstrip().rpartition(" ")[0], after)
            case "up" | "down":
                self._recall(-1 if name == "up" else 1)
            case _:
                places = {"left": self.cursor - 1, "right": self.cursor + 1, "home": 0}
                place = places.get(name, len(self.text))
                self.cursor = max(0, min(place, len(self.text)))

    def _recall(self, step: int) -> None:
        self._place = max(0, min(self._place + step, len(self._history)))
        recalled = self._history[self._place : self._place + 1]
        self._replace("".join(recalled), "")

    def _replace(self, before: str, after: str) -> None:
        self.text, self.cursor = before + after, len(before)
