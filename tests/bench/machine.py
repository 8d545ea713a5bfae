"""The machine that is measured on: its mood, its processes, and what they have used."""

import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console

TICK: Final = os.sysconf("SC_CLK_TCK")
CORES: Final = tuple(sorted(os.sched_getaffinity(0)))
SERVER_CORES: Final = frozenset(CORES[:1])  # what is measured has a core of its own
OTHER_CORES: Final = frozenset(CORES[1:]) or SERVER_CORES

# Above these, nothing that was measured is to be trusted.
STOLEN: Final = 0.02  # share of all CPU time that the host took
DRIFT: Final = 1.15  # the slowest calibration loop by the fastest
CROWDED: Final = 1.15  # time on the clock of a calibration loop by its CPU time


@dataclass(frozen=True)
class Loop:
    """One run of the calibration loop, in seconds."""

    cpu: float
    wall: float


def calibrate() -> Loop:
    """Run a fixed loop; the same machine in the same mood takes the same time."""
    cpu, wall = time.process_time(), time.perf_counter()
    total = 0
    for number in range(3_000_000):
        total += number & 7
    return Loop(time.process_time() - cpu, time.perf_counter() - wall)


def stolen() -> tuple[int, int]:
    """Ticks stolen by the host, and all ticks, since boot."""
    ticks = [int(t) for t in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return ticks[7], sum(ticks)


class Mood:
    """How steady the machine was: the calibration loop again and again, and what was stolen."""

    def __init__(self) -> None:
        self._stolen, self._ticks = stolen()
        self.loops: list[Loop] = []

    def look(self) -> None:
        """Run the loop once more."""
        self.loops.append(calibrate())

    @property
    def stolen(self) -> float:
        """The share of all CPU time that the host has taken since the beginning."""
        taken, ticks = stolen()
        return (taken - self._stolen) / max(1, ticks - self._ticks)

    def doubts(self) -> list[str]:
        """Why the figures are not to be trusted, a sentence each; none: they may be."""
        cpu = [loop.cpu for loop in self.loops]
        drift, crowded = max(cpu) / min(cpu), max(loop.wall / loop.cpu for loop in self.loops)
        found = []
        if self.stolen > STOLEN:
            found.append(f"{self.stolen:.1%} of the CPU time was stolen, over {STOLEN:.0%}")
        if drift > DRIFT:
            found.append(f"one calibration loop took {drift:.2f} x another's CPU, over {DRIFT}")
        if crowded > CROWDED:
            found.append(f"others ran: a loop took {crowded:.2f} x its CPU time, over {CROWDED}")
        return found


def wide() -> Console:
    """A console with room for the table, also where it is a file."""
    console = Console()
    return console if console.is_terminal else Console(width=150)


def tell(console: Console, mood: Mood) -> None:
    """Say how far the figures are to be trusted."""
    loops = " ".join(f"{loop.cpu:.3f}" for loop in mood.loops)
    console.print(f"calibration loop, CPU s, at the start and after each part: {loops}")
    console.print(f"stolen {mood.stolen:.1%}, {len(CORES)} cores, {platform.python_version()}")
    limits = f"stolen over {STOLEN:.0%}, loops over {DRIFT} x apart or {CROWDED} x their CPU time"
    for doubt in mood.doubts():
        console.print(f"[bold red]not to be trusted:[/] {doubt}")
    if not mood.doubts():
        console.print(f"to be trusted: none of {limits}")


def cpu_seconds(*pids: int) -> float:
    """CPU seconds that processes have used, all threads, in steps of a tick (10 ms)."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / TICK


def resident(pid: int) -> int:
    """Resident memory in KiB."""
    return _kibibytes(Path(f"/proc/{pid}/status"), "VmRSS:")


def proportional(pid: int) -> int:
    """Resident memory in KiB, each shared page divided among those who share it."""
    return _kibibytes(Path(f"/proc/{pid}/smaps_rollup"), "Pss:")


def _kibibytes(path: Path, name: str) -> int:
    return next(int(line.split()[1]) for line in path.read_text().splitlines() if name in line)


def children(pid: int) -> list[int]:
    """The processes that a process has started and that still run."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = (folder / "stat").read_text().rsplit(")", 1)[1].split()[1]
        except OSError:
            continue  # it has ended
        if int(parent) == pid:
            found.append(int(folder.name))
    return sorted(found)


def family(pid: int) -> list[int]:
    """A process and all that came of it."""
    return [pid, *(member for child in children(pid) for member in family(child))]


def command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()


def part(pid: int) -> str:
    """Which part of a stack a process is that `ringmaster up` has started."""
    words = command(pid)
    for name, mark in (
        ("api", "main api"),
        ("sweeper", "main sweeper"),
        ("batch worker", "--queues batch"),
        ("worker", "main worker"),
    ):
        if mark in words:
            return name
    return "redis"


def pin(cores: frozenset[int], *pids: int) -> None:
    """Keep processes, with all their threads, on some cores."""
    for pid in pids:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            os.sched_setaffinity(int(thread.name), cores)
