"""A client of the public API: GraphQL over HTTP, and a stream of updates that resumes by itself."""

import asyncio
import os
import random
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing
from typing import Any, Final, Self, TypeVar
from urllib.parse import urlsplit

import httpx

from api.cli.terminal import data, stream
from api.cli.terminal.answers import data_of, raise_refusal
from api.cli.terminal.data import OVER, Match, ShowOption, Update
from api.cli.terminal.errors import Refused, Unreachable, Unusable
from api.cli.terminal.moves import Move, Scout

HTTP_SECONDS: Final = 10
FIRST_WAIT: Final = 0.25  # seconds; doubled up to LONGEST_WAIT
LONGEST_WAIT: Final = 5.0
_LOCAL: Final = frozenset({"127.0.0.1", "localhost", "::1"})

T = TypeVar("T")


def default_url() -> str:
    """Where ``ringmaster up`` serves on this machine."""
    return f"http://127.0.0.1:{os.environ.get('RINGMASTER_PORT') or 8000}"


class Client:
    """One player, or a spectator if there is no token.

    ``on_line`` is told False when the server no longer answers and True when it is back.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        on_line: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self.url = url.rstrip("/")
        self.token = token
        self._on_line = on_line
        self._down = False
        self._proxy = _checked_host(self.url) not in _LOCAL
        self._http = httpx.AsyncClient(timeout=HTTP_SECONDS, trust_env=self._proxy)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def sign_in(self, name: str) -> None:
        """Become a new guest; the token is kept.

        Raises:
            TerminalError: no token was given.
        """
        payload = (await self._post(data.SIGN_IN, name=name))["signInAsGuest"]
        raise_refusal(payload)
        self.token = payload["token"]

    async def create(self, seats: list[dict[str, str]], visibility: str) -> Match:
        """A new match.

        Raises:
            TerminalError: none was made, or its answer was lost.
        """
        input_ = {"seats": seats, "visibility": visibility}
        return await self._input("createMatch", "CreateMatchInput", input_)

    async def join(self, code: str, name: str) -> Match:
        """Take a seat of the match that a join code leads to.

        Raises:
            TerminalError: there is no seat.
        """
        return await self._input("joinMatch", "JoinMatchInput", {"joinCode": code, "name": name})

    async def start(self, match_id: str) -> Match:
        """Let bots take the seats still open.

        Raises:
            TerminalError: the match did not start.
        """
        return await self._by_id("startMatch", match_id)

    async def come_back(self, match_id: str) -> Match:
        """Play the seat again that a bot plays while its player is away.

        Raises:
            Refused: the match is over, or has no seat of this player.
            Unusable: the token is not known any more.
        """
        return await self._until_answered(lambda: self._by_id("returnToMatch", match_id))

    async def leave(self, match_id: str) -> None:
        """Give up the seat.

        Raises:
            TerminalError: the seat was not given up.
        """
        await self._by_id("leaveMatch", match_id)

    async def match(self, match_id: str) -> Match:
        """The match as it stands.

        Raises:
            Refused: NOT_FOUND: there is none that this caller may see.
            TerminalError: there is no answer.
        """
        found: Match | None = (await self._post(data.FIND_MATCH, match=match_id))["match"]
        if found is None:
            raise Refused("NOT_FOUND", "There is no such match.")
        return found

    async def shows_after(self, match_id: str, scout: Scout) -> list[ShowOption]:
        """The shows that a Scout & Show with this scout allows.

        Raises:
            TerminalError: there is no answer.
        """
        found = await self._post(data.SHOWS_AFTER_SCOUT, match=match_id, **scout.input())
        shows: list[ShowOption] = found["match"]["you"]["legal"]["showsAfterScout"]
        return shows

    async def play(self, match_id: str, move: Move) -> Match:
        """Play a move exactly once, however often its answer is lost; the match after it.

        Raises:
            Refused: the move is not legal now.
            Unusable: the token is not known any more.
        """
        meta = {"idempotencyKey": secrets.token_urlsafe(12)}
        input_ = {"matchId": match_id, "meta": meta, **move.input()}
        return await self._until_answered(
            lambda: self._input(move.mutation, move.input_type, input_)
        )

    async def updates(
        self, match_id: str, after: int | None = None
    ) -> AsyncGenerator[Update, None]:
        """Every update in order, none twice, none missing, until the match is over.

        Without ``after`` the first is the match as it stands. A lost connection is made again. Only
        a server that has lost the end of its log begins anew, with the match as it stands.

        Raises:
            Refused: the match cannot be followed.
            Unusable: the token is not known, or this is no server of matches.
        """
        waits, over = _waits(), False
        while not over:
            try:
                async with aclosing(self._stream(match_id, after)) as found:
                    async for update in found:
                        waits, after = _waits(), update["version"]
                        over = update["match"]["status"] in OVER
                        yield update
            except Refused as refused:
                if refused.code != "CURSOR_EXPIRED" or after is None:
                    raise
                after = None
            except Unreachable as trouble:
                await self._wait(next(waits), trouble)
            else:
                await asyncio.sleep(0 if over else next(waits))

    def _stream(self, match_id: str, after: int | None) -> AsyncGenerator[Update, None]:
        async def opened() -> None:
            if self._down:  # an open connection alone does not say that there are matches again
                await self.match(match_id)
                self._tell(True)

        return stream.updates(
            self.url, self.token, match_id, after, proxy=self._proxy, opened=opened
        )

    async def _until_answered(self, ask: Callable[[], Awaitable[T]]) -> T:
        waits = _waits()
        while True:
            try:
                answer = await ask()
            except Unreachable as trouble:
                await self._wait(next(waits), trouble)
            else:
                self._tell(True)
                return answer

    async def _wait(self, seconds: float, trouble: Unreachable) -> None:
        if seconds or trouble.wait:  # the first repetition is silent: most cuts last no longer
            self._tell(False)
        await asyncio.sleep(max(seconds, trouble.wait))

    def _tell(self, up: bool) -> None:
        if up == self._down:
            self._down = not up
            self._on_line(up)

    async def _input(self, name: str, input_type: str, input_: dict[str, Any]) -> Match:
        answer = await self._post(data.mutation(name, input_type), input=input_)
        return _match_of(answer[name])

    async def _by_id(self, name: str, match_id: str) -> Match:
        return _match_of((await self._post(data.mutation_by_id(name), match=match_id))[name])

    async def _post(self, query: str, **variables: Any) -> dict[str, Any]:
        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        body = {"query": query, "variables": variables}
        try:
            response = await self._http.post(f"{self.url}/graphql", json=body, headers=headers)
        except httpx.ConnectError:
            raise Unreachable("nothing answers there") from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise Unreachable(f"the answer was lost ({type(error).__name__})") from None
        return data_of(response, self.url)


def _match_of(payload: dict[str, Any]) -> Match:
    raise_refusal(payload)
    match: Match = payload["match"]
    return match


def _waits() -> Iterator[float]:
    """Seconds to wait before each repetition: none at first, then longer and longer."""
    yield 0.0
    longest = FIRST_WAIT
    while True:
        yield longest * random.uniform(0.5, 1)  # noqa: S311 - spreads clients out
        longest = min(LONGEST_WAIT, 2 * longest)


def _checked_host(url: str) -> str:
    try:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts.hostname
    except ValueError:
        pass
    raise Unusable(f"{url} is no address; give one such as http://127.0.0.1:8000.")
