"""How a player comes to a seat: a new match, a join code, or a seat of before."""

from dataclasses import dataclass

from api.cli.terminal.client import Client, default_url
from api.cli.terminal.data import OVER, Match
from api.cli.terminal.errors import Refused, Unusable


@dataclass(frozen=True, slots=True)
class Wish:
    """What the command line asks for."""

    url: str
    players: int = 4
    level: str = "regular"
    name: str = "Guest"
    join: str | None = None
    open_seats: int = 0
    token: str | None = None
    match: str | None = None
    public: bool = False
    auto: bool = False


def check(wish: Wish) -> None:
    """Whether the options go together.

    Raises:
        Unusable: they do not; the message says why.
    """
    if wish.match is not None and wish.token is None:
        raise Unusable("--match resumes a match with the token of its player: add --token.")
    if wish.match is not None and wish.join is not None:
        raise Unusable("Give either --match, to come back, or --join, to take a new seat.")
    if wish.open_seats >= wish.players:
        raise Unusable(
            f"One seat is yours: of {wish.players}, at most {wish.players - 1} can be --open."
        )


async def take_seat(client: Client, wish: Wish) -> Match:
    """The match in which the client has a seat from now on.

    Raises:
        TerminalError: there is no seat to be had.
    """
    if wish.match is not None:
        return await _own_match(client, wish.match)
    if client.token is None:
        await client.sign_in(wish.name)
    if wish.join is not None:
        return await client.join(wish.join, wish.name)
    bots = wish.players - 1 - wish.open_seats
    seats = [
        {"kind": "PLAYER", "name": wish.name},
        *[{"kind": "OPEN"}] * wish.open_seats,
        *[{"kind": "BOT", "botLevel": wish.level}] * bots,
    ]
    return await client.create(seats, "PUBLIC" if wish.public else "PRIVATE")


async def _own_match(client: Client, match_id: str) -> Match:
    try:
        match = await client.match(match_id)
    except Refused as refused:
        if refused.code != "NOT_FOUND":
            raise
        raise Unusable(f"There is no match {match_id} in which this token has a seat.") from None
    if match["you"] is None:
        raise Unusable(f"This token has no seat in match {match_id}; `ringmaster watch` shows it.")
    away = match["seats"][match["you"]["seat"]]["away"] and match["status"] not in OVER
    return await client.come_back(match_id) if away else match


def way_back(client: Client, match: Match) -> str:
    """The command that comes back to a seat."""
    url = "" if client.url == default_url() else f" --url {client.url}"
    return f"ringmaster play{url} --token {client.token} --match {match['id']}"
