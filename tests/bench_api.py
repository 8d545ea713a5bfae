"""`make bench-api`: what a move and a subscriber cost the API process, by GraphQL and by REST.

All four seats are people who follow the match, so that views and fan-out are in the figures. CPU is
the API process's own; the clients run beside it and are not in it.
"""

import asyncio
import json
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.bench import calibrate, cpu_seconds, stolen
from tests.client import Client, messages
from tests.conftest import Stack, start_stack
from tests.rest_client import RestClient

MATCHES, SEATS, RUNS = 4, 4, 5
SUBSCRIBERS = 1000
SEATS_ASKED = [{"kind": "PLAYER"}, *[{"kind": "OPEN"}] * (SEATS - 1)]
UPDATES = """subscription ($m: ID!) { matchUpdates(matchId: $m) { version events { __typename }
  match { id version status round { number turn activeSet { owner kind cards { top bottom } } }
  seats { number score handSize captured scoutChips }
  you { seat hand { top bottom } legal { flip shows { first count } scout { ends } } } } } }"""
MOVES = {
    name: f"""mutation ($i: {type_}!) {{ {name}(input: $i) {{
      match {{ version }} userErrors {{ code message }} }} }}"""
    for name, type_ in (
        ("chooseHand", "ChooseHandInput"),
        ("show", "ShowInput"),
        ("scout", "ScoutInput"),
    )
}
SPECTATED = "subscription ($m: ID!) { matchUpdates(matchId: $m) { version events { __typename } } }"

PATHS = {"chooseHand": "hand", "show": "show", "scout": "scout"}

Updates = asyncio.Queue[dict[str, Any]]
Mover = Callable[[dict[str, Any], str, dict[str, Any]], Awaitable[int]]


def choice(legal: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The first thing to do: the GraphQL name of the move and its arguments."""
    if legal["flip"]:
        return "chooseHand", {"flip": False}
    if legal["shows"]:
        best = max(legal["shows"], key=lambda show: show["count"])
        return "show", {"first": best["first"], "count": best["count"]}
    if legal["scout"]:
        return "scout", {"end": legal["scout"]["ends"][0], "insertAt": 0, "flip": False}
    return None


async def play(updates: Updates, move: Mover) -> int:
    """Play one seat from its updates until the match is over; the moves made."""
    moves = acted = 0
    while True:
        match = (await updates.get())["match"]
        if match["version"] < acted:
            continue  # from before our own move
        if match["status"] == "FINISHED":
            return moves
        found = choice(match["you"]["legal"])
        if found is not None:
            moves += 1
            acted = await move(match, *found)


class GraphQLSeat:
    """A person whose moves go over HTTP keep-alive, and updates over a WebSocket."""

    def __init__(self, url: str) -> None:
        self.client = Client(url)

    async def sign_in(self) -> None:
        await self.client.sign_in("P")

    async def open(self) -> str:
        match = await self.client.create(*SEATS_ASKED, visibility="PUBLIC")
        return str(match["id"])

    async def join(self, match_id: str) -> None:
        await self.client.join(matchId=match_id, name="P")

    async def play(self, match_id: str) -> int:
        updates: Updates = asyncio.Queue()
        async with self.client.socket() as ws:
            payload = {"query": UPDATES, "variables": {"m": match_id}}
            await ws.send(json.dumps({"id": "1", "type": "subscribe", "payload": payload}))

            async def read() -> None:
                async for message in messages(ws):
                    if message["type"] == "next":
                        updates.put_nowait(message["payload"]["data"]["matchUpdates"])

            reading = asyncio.create_task(read())
            moves = await play(updates, self.move)
            reading.cancel()
        return moves

    async def move(self, match: dict[str, Any], name: str, arguments: dict[str, Any]) -> int:
        payload = await self.client.data(MOVES[name], i={"matchId": match["id"], **arguments})
        assert payload[name]["userErrors"] == [], payload
        return int(payload[name]["match"]["version"])

    async def close(self) -> None:
        await self.client.http.aclose()


class RestSeat:
    """The same by REST and server-sent events."""

    def __init__(self, url: str) -> None:
        self.client = RestClient(url)

    async def sign_in(self) -> None:
        await self.client.sign_in("P")

    async def open(self) -> str:
        match = await self.client.create(*SEATS_ASKED, visibility="PUBLIC")
        return str(match["id"])

    async def join(self, match_id: str) -> None:
        await self.client.post(f"/matches/{match_id}/join", {"name": "P"})

    async def play(self, match_id: str) -> int:
        updates: Updates = asyncio.Queue()

        async def read() -> None:
            async for event in self.client.events(f"/matches/{match_id}/updates"):
                if event["event"] == "update":
                    updates.put_nowait(json.loads(event["data"]))

        reading = asyncio.create_task(read())
        moves = await play(updates, self.move)
        await reading
        return moves

    async def move(self, match: dict[str, Any], name: str, arguments: dict[str, Any]) -> int:
        path = f"/matches/{match['id']}/{PATHS[name]}"
        answer = await self.client.post(path, arguments)
        assert answer.status_code == 200, answer.text
        return int(answer.json()["version"])

    async def close(self) -> None:
        await self.client.http.aclose()


async def cost_of_a_move(kind: type[GraphQLSeat | RestSeat], url: str, pid: int) -> float:
    """API CPU milliseconds per accepted move, four seats a match following it."""
    people = [[kind(url) for _ in range(SEATS)] for _ in range(MATCHES)]
    matches = []
    for seats in people:
        for seat in seats:
            await seat.sign_in()
        matches.append(await seats[0].open())
        for seat in seats[1:]:
            await seat.join(matches[-1])
    began = cpu_seconds(pid)
    played = await asyncio.gather(
        *(s.play(match_id) for match_id, seats in zip(matches, people, strict=True) for s in seats)
    )
    cost = (cpu_seconds(pid) - began) / sum(played) * 1000
    for seats in people:
        for seat in seats:
            await seat.close()
    return cost


def memory(pid: int) -> int:
    """Resident kibibytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))


async def subscribers(url: str, pid: int) -> dict[str, float]:
    """1,000 spectators of one match: memory each, bytes each, time from a move to all of them."""
    async with AsyncExitStack() as open_, Client(url) as ann, Client(url) as bob:
        await ann.sign_in("Ann")
        await bob.sign_in("Bob")
        match = await ann.create({"kind": "PLAYER"}, {"kind": "OPEN"}, visibility="PUBLIC")
        await bob.join(matchId=match["id"], name="Bob")
        before, sockets = memory(pid), []
        nobody = Client(url)
        for _ in range(SUBSCRIBERS):
            ws = await open_.enter_async_context(nobody.socket())
            payload = {"query": SPECTATED, "variables": {"m": match["id"]}}
            await ws.send(json.dumps({"id": "1", "type": "subscribe", "payload": payload}))
            sockets.append(ws)
        for ws in sockets:
            await ws.recv()
        each, began = (memory(pid) - before) / SUBSCRIBERS, cpu_seconds(pid)

        async def arrival(ws: Any) -> tuple[float, int]:
            text = await ws.recv()
            return time.perf_counter(), len(text)

        waiting = asyncio.gather(*(arrival(ws) for ws in sockets))
        sent = time.perf_counter()
        await ann.choose(match["id"])
        arrivals = sorted(await waiting)
        cpu = cpu_seconds(pid) - began
        await nobody.http.aclose()
    times = [(at - sent) * 1000 for at, _ in arrivals]
    return {
        "KiB each": each,
        "bytes of an update": arrivals[0][1],
        "ms to half of them": times[SUBSCRIBERS // 2],
        "ms to 99 %": times[SUBSCRIBERS * 99 // 100],
        "us of CPU per update sent": cpu / SUBSCRIBERS * 1e6,
    }


def api_pid(stack: Stack) -> int:
    found = subprocess.check_output(["pgrep", "-P", str(stack.process.pid)], text=True)
    return next(
        int(pid)
        for pid in found.split()
        if b"api.cli.main\0api" in Path(f"/proc/{pid}/cmdline").read_bytes()
    )


async def moves(url: str, pid: int, table: Table) -> None:
    """Alternating runs, so that both meet the same moods of the machine."""
    costs: dict[str, list[float]] = {"GraphQL": [], "REST": []}
    for _ in range(RUNS):
        costs["GraphQL"].append(await cost_of_a_move(GraphQLSeat, url, pid))
        costs["REST"].append(await cost_of_a_move(RestSeat, url, pid))
    for kind, found in costs.items():
        middle = sorted(found)[RUNS // 2]
        table.add_row(f"a move by {kind}, {SEATS} seats following, CPU", f"{middle:.2f} ms")
        table.add_row(f"  its {RUNS} runs", " ".join(f"{cost:.2f}" for cost in found))


def main() -> None:
    console, table = Console(), Table("what", "figure")
    loop, (stolen_before, ticks_before) = calibrate(), stolen()
    with tempfile.TemporaryDirectory() as folder:
        stack = start_stack(Path(folder))
        try:
            pid = api_pid(stack)
            asyncio.run(moves(stack.url, pid, table))
            for what, figure in asyncio.run(subscribers(stack.url, pid)).items():
                table.add_row(f"{SUBSCRIBERS} spectators of a match: {what}", f"{figure:,.1f}")
        finally:
            stack.stop()
    stolen_after, ticks_after = stolen()
    share = (stolen_after - stolen_before) / max(1, ticks_after - ticks_before)
    console.print(table)
    console.print(
        f"calibration loop: {loop:.3f} CPU s, again {calibrate():.3f}; stolen {share:.1%}"
    )


if __name__ == "__main__":
    main()
