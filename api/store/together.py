"""What is asked of Redis in one turn of the event loop, sent together.

Redis wakes up once for all of it, carries it out and writes its append-only file once: a database's
group commit. It waits for nothing, so what comes alone is sent as soon as ever.
"""

import asyncio
from contextvars import Context
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

    A pipeline of redis-py does the same at half as much again.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._asked: list[tuple[Command, asyncio.Future[Any]]] = []
        self._sending: set[asyncio.Task[None]] = set()

    async def run(self, *command: Any) -> Any:
        """What Redis answers to a command, which it may be told again if its answer is lost.

        Raises:
            RedisError, OSError: it refuses the command, or cannot be reached.
            Unavailable: it does not answer in time.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        self._asked.append((command, answer))
        if len(self._asked) == 1:
            # Nobody's own task: who goes away takes nothing from those who wait with them.
            task = loop.create_task(self._send(), context=Context())
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)
        return await answer

    async def _send(self) -> None:
        asked, self._asked = self._asked, []
        try:
            async with _sending():
                answers = await self._ask([command for command, _ in asked])
        except asyncio.CancelledError:
            for _, answer in asked:
                answer.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            answers = [error] * len(asked)
        for (_, answer), told in zip(asked, answers, strict=True):
            if answer.done():  # whoever waited has gone
                continue
            if isinstance(told, Exception):
                answer.set_exception(told)
            else:
                answer.set_result(told)

    async def _ask(self, commands: list[Command]) -> list[Any]:
        """What Redis answers to each, its refusals among them."""
        pool: Any = self._redis.connection_pool
        connection: AbstractConnection = await pool.get_connection()
        try:
            answers: list[Any] = await connection.retry.call_with_retry(
                lambda: _exchange(connection, commands), lambda _: connection.disconnect()
            )
        finally:
            await pool.release(connection)
        return answers


async def _exchange(connection: AbstractConnection, commands: list[Command]) -> list[Any]:
    await connection.send_packed_command(connection.pack_commands(commands))
    answers = []
    for _ in commands:
        try:
            answers.append(await connection.read_response())
        except ResponseError as refusal:
            answers.append(refusal)
    return answers
