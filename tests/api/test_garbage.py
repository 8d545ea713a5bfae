"""Play leaves nothing for the garbage collector, which stops the process while it looks.

What is left in cycles waits for a look; with thousands of connections one takes tenths of a second
(docs/performance.md). So there must be little cause for any.
"""

import asyncio
import gc
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, contextmanager

import pytest
import uvicorn
from websockets.server import ServerProtocol

from api.app import create_app
from api.cli.embedded import free_port
from api.server import Http, WebSocket
from api.service import MatchService
from tests.bench.people import WAYS, Person, choice
from workers import house

SERVER = {"api", "engine", "graphql", "schema", "starlette", "strawberry", "uvicorn", "fastapi"}
MOVES = 30
SOON = 0.3  # the server has noticed who has gone


@pytest.fixture
async def url(parts) -> AsyncIterator[str]:
    """The API in this process, served as ``api.server`` does it, beside which no worker runs."""
    port = free_port()
    config = uvicorn.Config(
        create_app(parts=parts), port=port, log_config=None, http=Http, ws=WebSocket
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    async with asyncio.timeout(20):
        while not server.started:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    await running


@contextmanager
def garbage() -> Iterator[Counter[str]]:
    """What of the server's was in cycles after the block, by type."""
    found: Counter[str] = Counter()
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield found
        gc.collect()
    finally:
        gc.set_debug(0)
        gc.enable()
    for kind in map(type, gc.garbage):
        if kind.__module__.partition(".")[0] in SERVER:
            found[f"{kind.__module__}.{kind.__qualname__}"] += 1
    gc.garbage.clear()


class Table:
    """Four people, how often they have moved, and when they may leave."""

    def __init__(self, people: list[Person], service: MatchService) -> None:
        self.people, self.service = people, service
        self.made: Counter[str] = Counter()
        self.leave = asyncio.Event()

    async def play(self) -> None:
        """Open a match, and play it until enough moves were made and all may leave."""
        match_id = await self.people[0].create()
        for person in self.people[1:]:
            await person.join(match_id)
        async with asyncio.timeout(30):
            await asyncio.gather(*(self._sit(person, match_id) for person in self.people))

    async def _sit(self, person: Person, match_id: str) -> None:
        acted = 0
        async with person.sit(match_id) as sitting:
            async for _, update in sitting.updates():
                match = update["match"]
                if self.made.total() >= MOVES:
                    break
                if match["round"] and match["round"]["turn"] is None:  # perhaps it has ended
                    await house.score_round(self.service, match_id, match["version"])
                found = choice(match["you"]["legal"]) if match["you"] else None
                if found is not None and match["version"] >= acted:
                    self.made[found[0]] += 1  # first: all are told of the last when it counts
                    acted = await sitting.move(match_id, *found)
            await self.leave.wait()

    async def moved(self, times: int) -> None:
        async with asyncio.timeout(30):
            while self.made.total() < times:  # noqa: ASYNC110 - nothing tells
                await asyncio.sleep(0.01)


@pytest.fixture(params=["http", "socket", "rest"])
async def table(request, url, parts) -> AsyncIterator[Table]:
    """Four who move in one way, and have done so before: what they ask is known."""
    async with AsyncExitStack() as open_:
        people = [WAYS[request.param](url) for _ in range(4)]
        for person in people:
            open_.push_async_callback(person.close)
            await person.sign_in()
        before = Table(people, parts.service)
        before.leave.set()
        await before.play()
        await asyncio.sleep(SOON)
        yield Table(people, parts.service)


async def test_moves_leave_no_cycles(table):
    playing = asyncio.create_task(table.play())
    await table.moved(8)
    with garbage() as found:
        await table.moved(MOVES)
    table.leave.set()
    await playing
    assert "show" in table.made
    assert found == {}


# Not REST: the library of server-sent events leaves what it made of a stream, when it ends.
@pytest.mark.parametrize("table", ["http", "socket"], indirect=True)
async def test_matches_that_are_opened_and_connections_that_close_leave_no_cycles(table):
    table.leave.set()
    with garbage() as found:
        await table.play()
        await asyncio.sleep(SOON)
        # These the collector would not tell of: it ends their generators, and they are gone.
        left = [each for each in gc.get_objects() if isinstance(each, ServerProtocol)]
    assert found == {}
    assert left == []
