"""What is broken, and mended again; each returns once all is whole."""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random
from typing import Any, Final

from api.broker import BOT, SCORE, celery_app
from tests.chaos.ground import Ground, Process, until
from tests.chaos.people import Town
from tests.chaos.records import read_log
from tests.cli.proxy import Proxy

DOWN_SECONDS: Final = 1.0  # before a dead process is started anew
FROZEN_SECONDS: Final = 10.0
OUTAGE_SECONDS: Final = 7.0  # longer than the silence that counts as an outage
CUT_SECONDS: Final = 25.0  # that connections are cut at most
AWAY_SECONDS: Final = 3.0
HIT_SECONDS: Final = 30.0  # to find a process at what it is to be killed at


class World:
    """What faults are made in. ``cuts``: connections cut in one go."""

    def __init__(self, ground: Ground, town: Town, *, short: bool = False) -> None:
        self.ground, self.town = ground, town
        self.frozen, self.cuts = (2.0, 60) if short else (FROZEN_SECONDS, 300)


Fault = Callable[[World, Random], Awaitable[str]]  # what to tell of it


async def _killed(process: Process, down: float = DOWN_SECONDS) -> None:
    process.send(signal.SIGKILL)
    await asyncio.sleep(down)
    await process.again()


async def _stopped(process: Process) -> str:
    await process.end(signal.SIGTERM)
    await process.again()
    return process.name


async def api_killed(world: World, chance: Random) -> str:
    victim = chance.choice(world.ground.apis)
    await _killed(victim)
    return victim.name


async def api_stopped(world: World, chance: Random) -> str:
    """Politely, as for a new release."""
    return await _stopped(chance.choice(world.ground.apis))


async def api_killed_twice(world: World, chance: Random) -> str:
    """The second time as it starts."""
    victim = chance.choice(world.ground.apis)
    await victim.end()
    victim.start()
    await asyncio.sleep(chance.uniform(0.2, 1.5))
    await victim.again()
    return victim.name


async def all_apis_killed(world: World, _: Random) -> str:
    for victim in world.ground.apis:
        victim.send(signal.SIGKILL)
    await asyncio.sleep(OUTAGE_SECONDS)
    await asyncio.gather(*(victim.again() for victim in world.ground.apis))
    return f"for {OUTAGE_SECONDS:.0f} s"


async def _frozen(process: Process, seconds: float) -> str:
    process.send(signal.SIGSTOP)
    try:
        await asyncio.sleep(seconds)
    finally:
        process.send(signal.SIGCONT)
    await process.is_ready()
    return f"{process.name} for {seconds:.0f} s"


async def api_frozen(world: World, chance: Random) -> str:
    return await _frozen(chance.choice(world.ground.apis), world.frozen)


async def worker_frozen(world: World, chance: Random) -> str:
    return await _frozen(chance.choice(world.ground.workers), world.frozen)


async def sweeper_frozen(world: World, chance: Random) -> str:
    return await _frozen(chance.choice(world.ground.sweepers), 4.0)  # its lease is 3 s


async def redis_frozen(world: World, _: Random) -> str:
    return await _frozen(world.ground.redis, 2.0)


def _thinking(world: World) -> list[int]:
    return sorted(int(mark.name) for mark in world.ground.thinking.iterdir())


async def thinker_killed(world: World, chance: Random) -> str:
    """The process of a worker that is at a bot's turn; the worker starts another."""
    await until(lambda: _thinking(world), HIT_SECONDS)
    victim = chance.choice(_thinking(world))
    with suppress(ProcessLookupError):
        os.kill(victim, signal.SIGKILL)
    (world.ground.thinking / str(victim)).unlink(missing_ok=True)
    return "while it thought"


async def worker_killed(world: World, chance: Random) -> str:
    """A whole worker, while one is at a bot's turn."""
    await until(lambda: _thinking(world), HIT_SECONDS)
    victim = chance.choice(world.ground.workers)
    await _killed(victim)
    for mark in world.ground.thinking.iterdir():
        mark.unlink(missing_ok=True)
    return victim.name


async def worker_stopped(world: World, chance: Random) -> str:
    """Politely: it ends what it is at."""
    return await _stopped(chance.choice(world.ground.workers))


async def scorers_killed(world: World, _: Random) -> str:
    """Both workers, while Redis is not answering a scoring that one of them is at."""
    async with asyncio.timeout(HIT_SECONDS):
        while True:
            world.town.scoring.clear()
            await world.town.scoring.wait()
            world.ground.store.stall()
            if any(_is_scoring(world, match_id) for match_id in world.town.record.matches[-8:]):
                break
            world.ground.store.move()
    try:
        await asyncio.sleep(0.3)
        for victim in world.ground.workers:
            victim.send(signal.SIGKILL)
    finally:
        world.ground.store.move()
    await asyncio.gather(*(victim.again() for victim in world.ground.workers))
    return "while a round was scored"


def _is_scoring(world: World, match_id: str) -> bool:
    return read_log(world.ground.direct, match_id).scoring


async def sweeper_killed(world: World, chance: Random) -> str:
    victim = chance.choice(world.ground.sweepers)
    await _killed(victim)
    return victim.name


async def all_sweepers_killed(world: World, _: Random) -> str:
    for victim in world.ground.sweepers:
        victim.send(signal.SIGKILL)
    await asyncio.sleep(OUTAGE_SECONDS)
    await asyncio.gather(*(victim.again() for victim in world.ground.sweepers))
    return f"for {OUTAGE_SECONDS:.0f} s"


async def redis_killed(world: World, chance: Random) -> str:
    """Started again on its file, which it may have been writing anew."""
    rewriting = chance.random() < 0.5
    if rewriting:
        world.ground.direct.execute_command("BGREWRITEAOF")
    await _killed(world.ground.redis)
    return "while it wrote its file anew" if rewriting else ""


async def redis_killed_twice(world: World, chance: Random) -> str:
    """The second time while all come back."""
    await world.ground.redis.again()
    await asyncio.sleep(chance.uniform(0, 0.5))
    await world.ground.redis.again()
    return ""


async def redis_turns_away(world: World, _: Random) -> str:
    """All connections are cut, and no new one is taken."""
    redis = world.ground.direct
    before: Any = redis.config_get("maxclients")["maxclients"]
    redis.config_set("maxclients", 1)
    try:
        redis.execute_command("CLIENT KILL TYPE normal")
        await asyncio.sleep(AWAY_SECONDS)
    finally:
        redis.config_set("maxclients", before)
    return f"for {AWAY_SECONDS:.0f} s"


async def scripts_forgotten(world: World, _: Random) -> str:
    """As by a Redis that took over from another."""
    for _time in range(10):
        world.ground.direct.script_flush()
        await asyncio.sleep(0.1)
    return "10 times"


async def broker_stalled(world: World, _: Random) -> str:
    return await _stalled(world.ground.broker, world.frozen * 0.8)


async def store_stalled(world: World, _: Random) -> str:
    return await _stalled(world.ground.store, 2.0)


async def _stalled(link: Proxy, seconds: float) -> str:
    link.stall()
    try:
        await asyncio.sleep(seconds)
    finally:
        link.move()
    return f"for {seconds:.0f} s"


async def broker_refuses(world: World, _: Random) -> str:
    return await _refuses(world.ground.broker, 3.0)


async def store_refuses(world: World, _: Random) -> str:
    return await _refuses(world.ground.store, 2.0)


async def _refuses(link: Proxy, seconds: float) -> str:
    await link.down()
    await asyncio.sleep(seconds)
    await link.up()
    return f"for {seconds:.0f} s"


async def broker_cut(world: World, chance: Random) -> str:
    return await _cut([world.ground.broker], world.cuts // 3, chance)


async def store_cut(world: World, chance: Random) -> str:
    return await _cut([world.ground.store], world.cuts // 3, chance)


async def clients_cut(world: World, chance: Random) -> str:
    return await _cut(world.ground.links, world.cuts, chance)


async def _cut(links: list[Proxy], count: int, chance: Random) -> str:
    """Cut one connection after the other, as soon as there is one."""
    made, end = 0, time.monotonic() + CUT_SECONDS
    while made < count and time.monotonic() < end:
        made += sum(link.cut(1, chance) for link in links)
        await asyncio.sleep(chance.uniform(0, 0.1))
    return f"{made} times"


async def answers_lost(world: World, _: Random) -> str:
    """Of the API to its clients: what was asked is done, and nobody is told."""
    return await _lost(world.ground.links, 6)


async def appends_lost(world: World, _: Random) -> str:
    """Of Redis to the processes: what was written is written, and they are not told."""
    return await _lost([world.ground.store], 8)


async def _lost(links: list[Proxy], count: int) -> str:
    for link in links:
        link.answers_to_lose += count
    with suppress(TimeoutError):
        await until(lambda: not any(link.answers_to_lose for link in links), 10)
    left = sum(link.answers_to_lose for link in links)
    for link in links:
        link.answers_to_lose = 0
    return f"{count * len(links) - left} times"


async def broker_emptied(world: World, _: Random) -> str:
    """All that waits in the queues is gone, and what was not acknowledged yet."""
    gone = 0
    for _time in range(20):
        keys = ["bots", "scoring", "unacked", "unacked_index"]
        gone += int(world.ground.direct.delete(*keys))
        await asyncio.sleep(0.05)
    return f"{gone} keys"


async def tasks_repeated(world: World, _: Random) -> str:
    """Every task that is due, three times over, to both workers."""
    sent, app = 0, celery_app(f"redis://{_address(world)}/0")
    for match_id in world.town.record.matches[-8:]:
        log = read_log(world.ground.direct, match_id)
        if log.entries and not log.over:
            for name in (BOT, SCORE):
                for _time in range(3):
                    queue = "bots" if name == BOT else "scoring"
                    app.send_task(name, (match_id, len(log.entries)), queue=queue)
                    sent += 1
    app.close()
    return f"{sent} tasks"


def _address(world: World) -> str:
    options = world.ground.direct.connection_pool.connection_kwargs
    return f"{options['host']}:{options['port']}"


async def everything_killed(world: World, _: Random) -> str:
    for victim in world.ground.processes:
        victim.kill()
    await world.ground.redis.again()
    await asyncio.gather(*(victim.again() for victim in world.ground.processes[1:]))
    return ""


# By name: what it breaks, of which no other fault is made meanwhile, and how.
FAULTS: Final[dict[str, tuple[str, Fault]]] = {
    "an API process killed": ("api", api_killed),
    "an API process killed twice": ("api", api_killed_twice),
    "an API process stopped": ("api", api_stopped),
    "an API process frozen": ("api", api_frozen),
    "all API processes killed": ("api", all_apis_killed),
    "a worker's process killed": ("worker", thinker_killed),
    "a worker killed": ("worker", worker_killed),
    "a worker stopped": ("worker", worker_stopped),
    "a worker frozen": ("worker", worker_frozen),
    "all workers killed": ("worker store", scorers_killed),
    "a sweeper killed": ("sweeper", sweeper_killed),
    "a sweeper frozen": ("sweeper", sweeper_frozen),
    "all sweepers killed": ("sweeper", all_sweepers_killed),
    "Redis killed": ("redis store broker", redis_killed),
    "Redis killed twice": ("redis store broker", redis_killed_twice),
    "Redis turning all away": ("redis store broker", redis_turns_away),
    "Redis's scripts forgotten": ("redis store broker", scripts_forgotten),
    "Redis frozen": ("redis store broker", redis_frozen),
    "the broker cut off": ("broker", broker_cut),
    "the broker stalled": ("broker", broker_stalled),
    "the broker refusing": ("broker", broker_refuses),
    "the broker emptied": ("broker", broker_emptied),
    "the store cut off": ("store", store_cut),
    "the store stalled": ("store", store_stalled),
    "the store refusing": ("store", store_refuses),
    "answers of the store lost": ("store", appends_lost),
    "answers to clients lost": ("clients", answers_lost),
    "clients cut off": ("clients", clients_cut),
    "tasks repeated": ("tasks", tasks_repeated),
    "everything killed": (
        "api worker sweeper redis store broker clients tasks",
        everything_killed,
    ),
}
