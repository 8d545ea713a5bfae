"""What is asked of Redis in one turn of the event loop, sent together.

Redis wakes up once for all of it, carries it out and writes its append-only file once: a database's
group commit. It waits for nothing, so what comes alone is sent as soon as ever.
"""

import asyncio
from contextvars import Context
from itertools import islice
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ResponseError

from api.patience import in_time

Command = tuple[Any, ...]


class _sending(in_time):  # noqa: N801 - as what it extends
    """Bounds what several wait for, each of whom counts its failure as their own."""

    __slots__ = ()
    counted = False


class Together:
    """Sends commands by one connection a turn of the loop; not for a Cluster, which has many.

    A pipeline of redis-py does the same at 1.4 times the CPU.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._asked: list[tuple[list[Command], asyncio.Future[list[Any]]]] = []
        self._sending: set[asyncio.Task[None]] = set()

    async def run(self, *command: Any) -> Any:
        """What Redis answers to one command, which is otherwise as ``ask``."""
        (told,) = await self.ask([command])
        return told

    async def ask(self, commands: list[Command]) -> list[Any]:
        """What Redis answers, as it comes, to commands that it carries out in this order.

        They may be told to it again if their answers are lost.

        Raises:
            ResponseError: it refuses one of them; the others are carried out all the same.
            RedisError, OSError: it cannot be reached.
            Unavailable: it does not answer in time.
        """
        loop = asyncio.get_running_loop()
        answers: asyncio.Future[list[Any]] = loop.create_future()
        self._asked.append((commands, answers))
        if len(self._asked) == 1:
            # Nobody's own task: who goes away takes nothing from those who wait with them.
            task = loop.create_task(self._send(), context=Context())
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)
        told = await answers
        for answer in told:
            if isinstance(answer, ResponseError):
                raise answer
        return told

    async def _send(self) -> None:
        asked, self._asked = self._asked, []
        try:
            async with _sending():
                told = iter(await self._exchange([c for commands, _ in asked for c in commands]))
        except asyncio.CancelledError:
            for _, answers in asked:
                answers.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            for _, answers in asked:
                if not answers.done():
                    answers.set_exception(error)
            return
        for commands, answers in asked:
            theirs = list(islice(told, len(commands)))
            if not answers.done():  # or whoever waited has gone
                answers.set_result(theirs)

    async def _exchange(self, commands: list[Command]) -> list[Any]:
        pool: Any = self._redis.connection_pool
        connection: AbstractConnection = await pool.get_connection()
        try:
            told: list[Any] = await connection.retry.call_with_retry(
                lambda: _sent(connection, commands), lambda _: connection.disconnect()
            )
        finally:
            await pool.release(connection)
        return told


async def _sent(connection: AbstractConnection, commands: list[Command]) -> list[Any]:
    await connection.send_packed_command(connection.pack_commands(commands))
    told: list[Any] = []
    for _ in commands:
        try:
            told.append(await connection.read_response())
        except ResponseError as refusal:
            told.append(refusal)
    return told
