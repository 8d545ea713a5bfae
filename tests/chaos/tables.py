"""What goes on while faults are made: tables of people and of bots, one match after the other."""

import asyncio
from typing import Any, Final

from tests.chaos.people import Guest, Town

TURN_SECONDS: Final = 20  # of the clocks that there are; people take a fraction of a second
REST_SECONDS: Final = 1.0  # between the matches of bots at one table
PLAYER: Final = {"kind": "PLAYER"}
OPEN: Final = {"kind": "OPEN"}


def bots(count: int, level: str) -> list[dict[str, str]]:
    return [{"kind": "BOT", "botLevel": level}] * count


async def people(town: Town) -> None:
    """Four people, each transport with keys and without; somebody looks on."""
    while not town.closing.is_set():
        guests = [
            town.guest(rest=rest, keyed=keyed) for rest in (False, True) for keyed in (True, False)
        ]
        town.chance.shuffle(guests)
        await _play(town, guests, [PLAYER, OPEN, OPEN, OPEN], town.guest(rest=True, keyed=False))


async def clocked(town: Town) -> None:
    """Two people and two slow bots, with a clock."""
    while not town.closing.is_set():
        guests = [town.guest(rest=False, keyed=True), town.guest(rest=True, keyed=False)]
        seats = [PLAYER, *bots(2, "ponders"), OPEN]
        await _play(town, guests, seats, turnSeconds=TURN_SECONDS)


async def house(town: Town, level: str) -> None:
    """Three bots; somebody looks on by each transport."""
    while not town.closing.is_set():
        watchers = [town.guest(rest=rest, keyed=False) for rest in (False, True)]
        await _play(town, [], bots(3, level), *watchers)
        await asyncio.sleep(REST_SECONDS)


async def sit_down(
    town: Town, number: int, others: list[dict[str, str]]
) -> tuple[str, list[Guest]]:
    """A match of two people, one by GraphQL and one by REST, and others."""
    guests = [town.guest(rest=rest, keyed=True) for rest in (False, True)]
    for guest in guests:
        await guest.sign_in()
    opening = {"seats": [PLAYER, OPEN, *others], "visibility": "PUBLIC"}
    match_id = (await guests[0].surely("createMatch", opening, f"open-{number}"))["id"]
    joining = {"matchId": match_id, "name": "P"}
    await guests[1].surely("joinMatch", joining, f"join-{number}")
    town.record.matches.append(match_id)
    town.record.keyed |= {(match_id, 0), (match_id, 1)}
    return match_id, guests


async def _play(
    town: Town, guests: list[Guest], seats: list[Any], *watchers: Guest, **more: Any
) -> None:
    """One match, from its opening to its replay."""
    host = (guests or watchers)[0]
    for guest in guests or [host]:
        await guest.sign_in()
    opening = {"seats": seats, "visibility": "PUBLIC", **more}
    key = f"{town.chance.getrandbits(96):x}"
    match_id = (await host.surely("createMatch", opening, key))["id"]
    town.record.matches.append(match_id)
    for guest in guests[1:]:
        joining = {"matchId": match_id, "name": "P"}
        await guest.surely("joinMatch", joining, f"{key}-{guest.name}")
    for guest in guests:
        if guest.keyed:
            seat = (await guest.look(match_id))["you"]["seat"]
            town.record.keyed.add((match_id, seat))
    async with asyncio.TaskGroup() as all_:
        for guest in guests:
            all_.create_task(guest.follow(match_id, plays=True))
        for watcher in watchers:
            all_.create_task(watcher.follow(match_id, plays=False))
    town.record.replays[match_id] = await host.replay(match_id)
