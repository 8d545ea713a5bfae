"""A person at a terminal: a real pseudo-terminal, keys in, screen out."""

import asyncio
import fcntl
import os
import pty
import re
import struct
import sys
import termios
from contextlib import asynccontextmanager

import pytest

from tests.cli.conftest import COMMAND, SECONDS

ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# So that Ctrl-C and the like come from the terminal to the command, as they would to a person's.
AT_TERMINAL = "import os, sys; os.login_tty(0); os.execv(sys.argv[1], sys.argv[1:])"


class Terminal:
    """A command at a pseudo-terminal of its own."""

    def __init__(self, fd: int, process: asyncio.subprocess.Process) -> None:
        self._fd = fd
        self.process = process
        self.raw = ""
        self._read = 0

    async def expect(self, text: str) -> str:
        """Wait until ``text`` has come since the last time; all that came till then."""
        async with asyncio.timeout(SECONDS):
            while True:
                seen = ESCAPES.sub("", self.raw[self._read :])
                if text in seen:
                    self._read = len(self.raw)
                    return seen
                await asyncio.sleep(0.02)

    def type(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    async def end(self) -> int:
        async with asyncio.timeout(SECONDS):
            return await self.process.wait()


@asynccontextmanager
async def terminal(*arguments: str, columns: int = 80, **env: str):
    near, far = pty.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", AT_TERMINAL, *COMMAND, *arguments),
        env={**environment, "TERM": "xterm-256color", **env},
        stdin=far,
        stdout=far,
        stderr=far,
    )
    session = Terminal(near, process)

    def read() -> None:
        session.raw += os.read(near, 65536).decode(errors="replace")

    asyncio.get_running_loop().add_reader(near, read)
    try:
        yield session
        assert "Traceback" not in session.raw
    finally:
        asyncio.get_running_loop().remove_reader(near)
        if process.returncode is None:
            process.kill()
            await process.wait()
        os.close(near)
        os.close(far)


async def test_a_person_chooses_slips_plays_and_leaves(stack):
    async with terminal("play", "--url", stack.url, "--name", "Ann") as person:
        await person.expect("keep or flip>")
        person.type("flip\r")
        await person.expect("your turn>")
        person.type("show 98 2\r")
        await person.expect("you tried 98 to 99")
        person.type("shwo\x7f\x7fow 1\r")
        await person.expect("`show 3 2`")
        person.type("help\r")
        await person.expect("Positions count from 0")
        person.type("hand\r")
        await person.expect("╭──╮")
        person.type("table\r")
        await person.expect("Ann (you)")
        person.type("999\r")
        await person.expect("`moves` gives the list")
        person.type("moves\r")
        await person.expect("Enter a number")
        person.type("1\r")
        await person.expect("You s")  # shows or scouts
        person.type("quit\r")
        await person.expect("leave, disconnect or stay>")
        person.type("leave\r")
        assert await person.end() == 0
        assert "You have left the match." in person.raw


async def test_what_is_typed_stays_below_what_happens(stack):
    async with terminal("play", "--url", stack.url, "--open", "1", "--players", "3") as person:
        seen = await person.expect("waiting>")
        code = re.search(r"Join code: (\w+)", seen)
        person.type("hel")
        await person.expect("waiting> hel")
        person.type("p\r")
        await person.expect("Positions count")
        person.type("start\r")
        await person.expect("keep or flip>")
        person.type("\x04")
        await person.expect("leave, disconnect or stay>")
        person.type("\x04")
        assert await person.end() == 0
        assert code
        assert "Come back with: ringmaster play" in person.raw


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
async def test_control_c_tells_the_way_back_and_leaves_the_terminal_as_it_was(stack, term):
    async with terminal("play", "--url", stack.url, TERM=term) as person:
        await person.expect("keep or flip>")
        person.type("ke\x03")
        assert await person.end() == 130
        assert "--token" in await person.expect("Come back with: ringmaster play")
        local_modes = termios.tcgetattr(person._fd)[3]
        assert local_modes & termios.ECHO
        assert local_modes & termios.ICANON


async def test_a_narrow_terminal_without_colour(stack):
    async with terminal("play", "--url", stack.url, columns=60, NO_COLOR="1") as person:
        await person.expect("keep or flip>")
        person.type("keep\r")
        await person.expect("your turn>")
        assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", person.raw)
        lines = ESCAPES.sub("", person.raw).replace("\r", "\n").split("\n")
        drawn = [line for line in lines if "Come back" not in line]
        assert max(map(len, drawn)) <= 60
        person.type("\x03")
        assert await person.end() == 130
