"""A seat being played: updates and typed lines in, moves and text out."""

import asyncio
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from api.cli.terminal.client import Client
from api.cli.terminal.data import OVER, Match, Update
from api.cli.terminal.drawing import clean, final_text, hand_text, position_line
from api.cli.terminal.editor import END_OF_INPUT
from api.cli.terminal.errors import Refused, Unreachable
from api.cli.terminal.hints import hint
from api.cli.terminal.keyboard import Lines
from api.cli.terminal.listing import moves_list, scout_and_shows_list
from api.cli.terminal.moves import Move, Scout, sensible_move, shows
from api.cli.terminal.prompt import Command, MovesAfter, NoCommand, Pick, Word, parse
from api.cli.terminal.screen import Screen
from api.cli.terminal.seating import way_back
from api.cli.terminal.situation import board, help_text, situation
from api.cli.terminal.telling import tell

PLAYED_OUT: Final = 0
INPUT_ENDED: Final = 1
_QUIT_QUESTION: Final = "leave, disconnect or stay"


@dataclass(frozen=True, slots=True)
class Typed:
    """A line of input, None at its end."""

    line: str | None


class Game:
    """One seat of one match, until the match is over or its player goes.

    ``lines`` is None if the seat plays by itself. A person is heard at any time; a pipe is read a
    line at a time, whenever the seat has something to decide.
    """

    def __init__(
        self, client: Client, screen: Screen, match: Match, lines: Lines | None, *, person: bool
    ) -> None:
        self._client = client
        self._screen = screen
        self._match = match
        self._lines = lines
        self._person = person
        self._inbox: asyncio.Queue[Update | Typed] = asyncio.Queue()
        self._wanted = asyncio.Event()
        self._acted = 0  # the version after the own last move: before it, nothing is decided anew
        self._asked: object = None  # what was last drawn for the player to decide on
        self._listed: list[Move] = []
        self._leaving = False

    async def run(self) -> int:
        """Play; the exit code.

        Raises:
            TerminalError: the seat cannot be played any more.
        """
        try:
            async with asyncio.TaskGroup() as group:
                helpers = [group.create_task(self._follow())]
                if self._lines is not None:
                    helpers.append(group.create_task(self._listen(self._lines)))
                code = await self._attend()
                for helper in helpers:
                    helper.cancel()
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return code

    async def _follow(self) -> None:
        match = self._match
        async with aclosing(self._client.updates(match["id"], match["version"])) as updates:
            async for update in updates:
                await self._inbox.put(update)

    async def _listen(self, lines: Lines) -> None:
        line: str | None = ""
        while line is not None:
            if not self._person:
                await self._wanted.wait()
            line = await lines.read()
            self._wanted.clear()
            await self._inbox.put(Typed(line))

    async def _attend(self) -> int:
        code = self._begin()
        while code is None:
            if self._inbox.empty():
                await self._consider()
            item = await self._inbox.get()
            if isinstance(item, Typed):
                code = await self._hear(item.line)
            else:
                code = self._see(item)
        self._screen.prompt("")
        return code

    def _begin(self) -> int | None:
        if self._match["status"] in OVER:
            self._screen.print(final_text(self._match))
            return PLAYED_OUT
        if not self._to_decide():
            self._screen.print(situation(self._match, self._screen.paper))
        return None

    def _see(self, update: Update) -> int | None:
        before, self._match = self._match, update["match"]
        if update["events"]:
            self._screen.print(*tell(update, before))
        elif not self._to_decide():
            self._screen.print(situation(self._match, self._screen.paper))
        return PLAYED_OUT if self._match["status"] in OVER else None

    def _to_decide(self) -> bool:
        you, round_ = self._match["you"], self._match["round"]
        if you is None or round_ is None or self._match["version"] < self._acted:
            return False
        return you["legal"]["flip"] or round_["turn"] == you["seat"]

    async def _consider(self) -> None:
        """See what the seat has to do, and do it or ask for it."""
        if self._leaving:
            self._screen.prompt(_QUIT_QUESTION)
        elif self._lines is None:
            await self._decide()
            return
        elif not self._to_decide():
            self._screen.idle()
            return
        else:
            self._ask()
        self._wanted.set()

    async def _decide(self) -> None:
        you, move = self._match["you"], sensible_move(self._match)
        if you and self._match["seats"][you["seat"]]["away"]:
            with suppress(Refused):  # the match is over meanwhile
                await self._client.come_back(self._match["id"])
        elif move is not None and self._to_decide():
            await self._play(move)
        else:
            self._screen.idle()

    def _ask(self) -> None:
        you, round_ = self._match["you"], self._match["round"]
        choosing = you is not None and you["legal"]["flip"]
        question = (choosing, round_ and round_["activeSet"], you and you["hand"])
        if question != self._asked:  # others who choose, or leave, change nothing for the player
            self._asked = question
            self._listed = []
            self._screen.print(situation(self._match, self._screen.paper))
        self._screen.prompt("keep or flip" if choosing else "your turn")

    async def _hear(self, line: str | None) -> int | None:
        if line is None:
            self._say("The input ended before the match did.")
            return INPUT_ENDED
        self._screen.entered("" if line == END_OF_INPUT else line)
        try:
            return await (self._answer(line) if self._leaving else self._command(line))
        except (NoCommand, Refused) as told:
            self._say(str(told))
        except Unreachable as trouble:
            self._say(f"That did not get through: {trouble}. Try again.")
        return None

    async def _command(self, line: str) -> int | None:
        command = Word.QUIT if line == END_OF_INPUT else parse(line)
        return None if command is None else await self._obey(command)

    async def _obey(self, command: Command) -> int | None:
        match command:
            case Word():
                return await self._word(command)
            case Pick():
                await self._pick(command.number)
            case MovesAfter():
                await self._list_after(command.scout)
            case _:
                await self._play(command)
        return None

    async def _word(self, word: Word) -> int | None:
        match word:
            case Word.HELP:
                self._screen.print(help_text())
            case Word.HAND:
                self._draw_hand()
            case Word.TABLE:
                self._screen.print(board(self._match, self._screen.paper))
            case Word.POSITION:
                self._screen.print_line(position_line(self._match))
            case Word.MOVES:
                listing, self._listed = moves_list(self._match, self._screen.paper)
                self._screen.print(listing)
            case Word.START:
                await self._client.start(self._match["id"])
            case Word.BACK:
                await self._client.come_back(self._match["id"])
            case Word.LEAVE:
                return await self._leave()
            case Word.QUIT:
                self._leaving = True
                self._say("Leave the match (a bot takes your seat), or only disconnect for now?")
        return None

    def _draw_hand(self) -> None:
        you = self._match["you"]
        if you:
            self._screen.print(hand_text(you["hand"], self._screen.paper))

    async def _pick(self, number: int) -> None:
        if 1 <= number <= len(self._listed):
            await self._play(self._listed[number - 1])
        elif self._listed:
            self._say(f"The list has the numbers 1 to {len(self._listed)}.")
        else:
            self._say("A number plays a move of a list; `moves` gives the list.")

    async def _list_after(self, scout: Scout) -> None:
        options = shows(await self._client.shows_after(self._match["id"], scout))
        listing, self._listed = scout_and_shows_list(self._match, scout, options)
        self._screen.print(listing)

    async def _play(self, move: Move) -> None:
        try:
            after = await self._client.play(self._match["id"], move)
        except Refused as refused:
            self._say(f"{refused} {hint(refused.code, move, self._match)}".rstrip(), "yellow")
        else:
            self._acted = after["version"]

    async def _answer(self, line: str) -> int | None:
        words = line.lower().split()
        answer = words[0] if words else ""
        if answer in ("l", "leave"):
            return await self._leave()
        if answer in ("d", "disconnect", "q", "quit", END_OF_INPUT):
            self._screen.prompt("")
            self._screen.print_line(f"Come back with: {way_back(self._client, self._match)}")
            return PLAYED_OUT
        self._leaving = False
        if answer not in ("s", "stay", ""):
            self._say("That was neither `leave` nor `disconnect`, so you stay.")
        return None

    async def _leave(self) -> int | None:
        self._leaving = False
        await self._client.leave(self._match["id"])
        self._say("You have left the match.")
        return PLAYED_OUT

    def _say(self, sentence: str, style: str = "") -> None:
        self._screen.print(Text(clean(sentence), style))
