"""Guests who come, open matches, look on, make tokens, and go, politely or not."""

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any, Final

import aiohttp

from tests.bench.people import SPECTATED, GraphQL, socket, subscribe

BOTS_SECONDS: Final = 0.8  # between matches of two bots
LOBBY_SECONDS: Final = 0.7  # between matches that nobody else joins
WATCH_SECONDS: Final = 0.5  # between people who look on
TOKEN_SECONDS: Final = 1.5  # between tokens
BROWSE_SECONDS: Final = 2.0  # between looks at the public matches
LOOK: Final = (0.5, 3.0)  # seconds that somebody looks on
KEPT: Final = 50  # matches of whose number somebody chooses one to look on

CREATE: Final = """mutation ($i: CreateMatchInput!) { createMatch(input: $i) {
  match { id } userErrors { code } } }"""
LEAVE: Final = "mutation ($m: ID!) { leaveMatch(matchId: $m) { userErrors { code } } }"
MATCHES: Final = """query ($s: MatchStatus) {
  matches(status: $s, first: 20) { edges { node { id status } } } }"""
TOKEN: Final = """mutation ($i: CreateTokenInput!) { createToken(input: $i) {
  token accessToken { id } userErrors { code } } }"""
REVOKE: Final = "mutation ($t: ID!) { revokeToken(tokenId: $t) { userErrors { code } } }"


class Life:
    """Everything that goes on at a steady pace, until it is cancelled."""

    def __init__(self, url: str, seed: int) -> None:
        self.url, self.chance = url, Random(seed)
        self.done: Counter[str] = Counter()
        self._public: deque[str] = deque(maxlen=KEPT)

    async def run(self) -> None:
        """Live on; what is not answered as it should ends it with an AssertionError."""
        async with asyncio.TaskGroup() as all_:
            for what, seconds in (
                (self.bots, BOTS_SECONDS),
                (self.lobby, LOBBY_SECONDS),
                (self.watch, WATCH_SECONDS),
                (self.tokens, TOKEN_SECONDS),
                (self.browse, BROWSE_SECONDS),
            ):
                all_.create_task(self._again(what, seconds, all_))

    async def _again(
        self, what: Callable[[], Awaitable[None]], seconds: float, all_: asyncio.TaskGroup
    ) -> None:
        while True:
            all_.create_task(self._once(what))
            await asyncio.sleep(seconds)

    async def _once(self, what: Callable[[], Awaitable[None]]) -> None:
        await what()
        self.done[what.__name__] += 1

    async def _guest(self) -> GraphQL:
        guest = GraphQL(self.url)
        await guest.sign_in()
        return guest

    async def bots(self) -> None:
        """A match of two bots, public or private, that plays itself."""
        guest = await self._guest()
        public = self.chance.random() < 0.7
        level = self.chance.choice(("casual", "regular"))
        made = await guest.ask(
            CREATE,
            i={
                "seats": [{"kind": "BOT", "botLevel": level}] * 2,
                "visibility": "PUBLIC" if public else "PRIVATE",
            },
        )
        if public:
            self._public.append(made["match"]["id"])
        await guest.close()

    async def lobby(self) -> None:
        """A match that nobody joins: its host leaves it, or is never seen again."""
        guest = await self._guest()
        visibility = self.chance.choice(("PUBLIC", "PRIVATE"))
        seats = [{"kind": "PLAYER"}, {"kind": "OPEN"}]
        made = await guest.ask(CREATE, i={"seats": seats, "visibility": visibility})
        if self.chance.random() < 0.5:
            await guest.ask(LEAVE, m=made["match"]["id"])
        await guest.close()

    async def watch(self) -> None:
        """Somebody looks on for a while, by WebSocket or SSE, and is gone."""
        if not self._public:
            return
        match_id, seconds = self.chance.choice(self._public), self.chance.uniform(*LOOK)
        look = self.chance.choice((self._by_socket, self._by_events))
        async with aiohttp.ClientSession() as http:
            await look(http, match_id, seconds)

    async def _by_socket(self, http: aiohttp.ClientSession, match_id: str, seconds: float) -> None:
        ws = await socket(http, self.url)
        await subscribe(ws, SPECTATED, m=match_id)
        await _read(ws.receive, seconds)
        if self.chance.random() < 0.5:
            _abort(ws)
        else:
            await ws.close()

    async def _by_events(self, http: aiohttp.ClientSession, match_id: str, seconds: float) -> None:
        address = f"{self.url}/v1/matches/{match_id}/updates"
        async with http.get(address, headers={"accept": "text/event-stream"}) as stream:
            await _read(stream.content.readline, seconds)
            stream.close()  # the connection with it: the server is not told

    async def tokens(self) -> None:
        """A token is made, used and revoked, or left to expire."""
        guest = await self._guest()
        wanted = {"name": "soak", "scopes": ["SPECTATE"], "expiresInSeconds": 60}
        made = await guest.ask(TOKEN, i=wanted)
        if self.chance.random() < 0.7:
            await guest.ask(REVOKE, t=made["accessToken"]["id"])
        await guest.close()

    async def browse(self) -> None:
        """Somebody looks at the newest public matches, of all kinds or of one."""
        status = self.chance.choice((None, "LOBBY", "PLAYING", "FINISHED"))
        nobody = GraphQL(self.url)
        await nobody.ask(MATCHES, s=status)
        await nobody.close()


async def _read(receive: Callable[[], Awaitable[Any]], seconds: float) -> None:
    """Take what comes for a while, or until nothing more will."""
    try:
        async with asyncio.timeout(seconds):
            while True:
                got = await receive()
                if got == b"" or getattr(got, "type", None) == aiohttp.WSMsgType.CLOSED:
                    return
    except TimeoutError:
        pass


def _abort(ws: Any) -> None:
    """Reset the connection: nothing is said, not even goodbye."""
    transport = ws._response.connection.transport
    transport.abort()
