"""Connections to Redis, whatever kind it is, and what its failures become."""

from collections.abc import Iterable
from time import perf_counter
from typing import Any, Final, TypeVar, cast

from redis import Redis as BlockingRedis
from redis.asyncio import BlockingConnectionPool, Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel, SentinelConnectionPool
from redis.backoff import ExponentialWithJitterBackoff
from redis.commands.core import AsyncScript
from redis.exceptions import (
    AskError,
    MovedError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.sentinel import Sentinel as BlockingSentinel

from api.addresses import Kind, address_of
from api.errors import Unavailable, Unconfirmed, Unwritable
from api.observe import metrics
from api.patience import in_time
from api.store.together import Together

REPLICAS_MS: Final = 1000  # after which a replica that has not answered is not waited for
_SPARE: Final = 2  # free connections of which one may be had without waiting
_NODE_CONNECTIONS: Final = 512  # to one node of a Cluster, whose pool does not wait but fails
# What Redis answers to writes alone, beside READONLY and OOM, which redis-py has errors for.
_REFUSED: Final = ("NOREPLICAS", "MISCONF")


class _Pool(BlockingConnectionPool):
    """Hands out a free connection without locks and timeouts, which take longer than to send.

    One is left for whoever was woken to take it.
    """

    async def get_connection(self, *args: Any, **options: Any) -> AbstractConnection:
        if len(self._available_connections) < _SPARE or self._in_maintenance:
            waiting: Any = super().get_connection
            return cast("AbstractConnection", await waiting(*args, **options))
        connection: AbstractConnection = self.get_available_connection()  # type: ignore[no-untyped-call]
        try:
            await self.ensure_connection(connection)
        except BaseException:
            await self.release(connection)
            raise
        return connection


class _SentinelPool(SentinelConnectionPool, BlockingConnectionPool):
    """Waits for a free connection, as the pool of a single Redis does."""

    async def aclose(self) -> None:
        await super().aclose()
        await self.sentinel_manager.aclose()


C = TypeVar("C", bound=AbstractConnection)


class _Sturdy(AbstractConnection):
    """What was closed before it is written to is a failure of the connection, to be tried anew.

    redis-py's own meets a writer that is missing, to a node of a Cluster, with an AttributeError,
    and uvloop a connection that its peer has reset with a RuntimeError: nothing above expects them.
    """

    async def _send_packed_command(self, command: Iterable[bytes]) -> None:
        if self._writer is None:
            raise RedisConnectionError("closed meanwhile")
        await super()._send_packed_command(command)

    async def send_packed_command(
        self, command: bytes | str | Iterable[bytes], check_health: bool = True
    ) -> None:
        try:
            await super().send_packed_command(command, check_health)
        except RuntimeError as error:
            raise RedisConnectionError("closed meanwhile") from error


def _sturdy(kind: type[C]) -> type[C]:
    return type(kind.__name__, (_Sturdy, kind), {})


def connect(url: str, *, max_connections: int = 64) -> Redis:
    """A client with one pool for the process; commands wait for a free connection.

    That of a Cluster has the commands of any other, though it is of another class.

    Raises:
        ValueError: the URL is not that of a Redis.
    """
    address = address_of(url)
    timeouts = {"socket_timeout": 5, "socket_connect_timeout": 2}
    options: dict[str, Any] = {
        **timeouts,
        # Safe to repeat: an append is told from a rival's by its nonce, the rest are idempotent.
        "retry": Retry(ExponentialWithJitterBackoff(base=0.05, cap=0.5), 3),
        "health_check_interval": 15,
    }
    if address.kind is Kind.CLUSTER:
        nodes = [ClusterNode(host, port) for host, port in address.nodes]
        # More often than a single Redis: a node's connections may all have to be opened anew.
        options["retry"] = Retry(ExponentialWithJitterBackoff(base=0.05, cap=0.5), 6)
        options |= {"max_connections": _NODE_CONNECTIONS, **address.options}
        cluster = RedisCluster(startup_nodes=nodes, **options)
        kind = _sturdy(cluster.connection_kwargs["connection_class"])
        cluster.connection_kwargs["connection_class"] = kind
        for node in cluster.startup_nodes:
            node.connection_class = kind
        return cast("Redis", cluster)
    waiting = {"max_connections": max_connections, "timeout": 5}
    if address.kind is Kind.SENTINEL:
        asked = {**timeouts, **address.sentinel_options}
        sentinels = Sentinel(address.nodes, sentinel_kwargs=asked)  # type: ignore[no-untyped-call]
        options |= {**waiting, **address.options}
        pool: Any = _SentinelPool(address.service, sentinels, **options)  # type: ignore[no-untyped-call]
        pool.connection_class = _sturdy(pool.connection_class)
        return Redis.from_pool(pool)
    # All that is asked of it is bounded by who asks; to bound each send as well costs a task each.
    options["socket_timeout"] = None
    alone = _Pool.from_url(url, **waiting, **options)
    alone.connection_class = _sturdy(alone.connection_class)
    return Redis.from_pool(alone)


def connect_blocking(url: str, seconds: float) -> BlockingRedis:
    """A client for a thread; ``seconds``: how long it waits for an answer. Not of a Cluster.

    Raises:
        ValueError: the URL is not that of a Redis.
    """
    address = address_of(url)
    timeouts = {"socket_timeout": seconds, "socket_connect_timeout": seconds}
    if address.kind is Kind.SERVER:
        return BlockingRedis.from_url(url, **timeouts)
    asked = {**timeouts, **address.sentinel_options}
    sentinels: Any = BlockingSentinel(address.nodes, sentinel_kwargs=asked)  # type: ignore[no-untyped-call]
    client: BlockingRedis = sentinels.master_for(address.service, **timeouts, **address.options)
    return client


def cluster_of(redis: Redis) -> RedisCluster | None:
    """The client as that of a Cluster, if it is one."""
    client: object = redis
    return client if isinstance(client, RedisCluster) else None


class reaching(in_time):  # noqa: N801 - as what it extends
    """Turns every failure of Redis, slowness too, into ``Unavailable`` without its text.

    What the block takes is counted as the time of ``operation``, also if it fails.

    Raises:
        Unwritable: Redis answers, but takes no writes now.
        Unavailable: it does not answer, or not in time.
    """

    __slots__ = ("_began", "_operation")

    def __init__(self, operation: str) -> None:
        self._operation = operation
        self._began = perf_counter()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        metrics.redis_time(self._operation).observe(perf_counter() - self._began)
        await super().__aexit__(kind, error, trace)
        if not isinstance(error, RedisError | OSError):
            return
        refused = _refused(error)
        metrics.redis_failures.labels((refused or "unreachable").lower()).inc()
        if refused is not None:
            raise Unwritable(refused) from error
        raise Unavailable(type(error).__name__) from error


def _refused(error: Exception) -> str | None:
    """The code with which Redis refuses writes, None if it is something else."""
    if isinstance(error, ReadOnlyError):
        return "READONLY"
    if isinstance(error, OutOfMemoryError):
        return "OOM"
    return next((code for code in _REFUSED if code in str(error)), None)


class Replicas:
    """Writes that are on so many replicas before they are acknowledged; 0: on none.

    ``together``: sends what waits for no replica.
    """

    def __init__(self, redis: Redis, count: int, together: Together | None = None) -> None:
        self._redis = redis
        self._count = count
        self._together = None if count else together

    async def run(self, script: AsyncScript, keys: list[str], args: list[Any]) -> Any:
        """Run a script; what it answers, and whether enough replicas have what it wrote."""
        if self._together is None and not self._count:
            return await script(keys=keys, args=args), True
        command = ("EVALSHA", script.sha, len(keys), *keys, *args)
        try:
            return await self._run(keys[0], *command)
        except NoScriptError:
            await self._redis.script_load(script.script)
            return await self._run(keys[0], *command)
        except (MovedError, AskError, TryAgainError):  # the slot is at another node now
            answer = await script(keys=keys, args=args)
            return answer, False

    async def _run(self, key: str, *command: Any) -> tuple[Any, bool]:
        if self._together is not None:
            return await self._together.run(*command), True
        return await self._and_wait(key, *command)

    async def write(self, key: str, *command: Any) -> None:
        """Carry out a command that writes to ``key``.

        Raises:
            Unconfirmed: it is done, and all before it in this slot, but not yet on the replicas.
        """
        if not self._count:
            await self._redis.execute_command(*command)  # type: ignore[no-untyped-call]
            return
        _, enough = await self._and_wait(key, *command)
        if not enough:
            raise Unconfirmed("too few replicas have answered")

    async def _and_wait(self, key: str, *command: Any) -> tuple[Any, bool]:
        """Both in one round trip: WAIT is about what its own connection wrote."""
        where: dict[str, Any] = {}
        more: dict[str, Any] = {}
        cluster = cluster_of(self._redis)
        if cluster is not None:
            await cluster.initialize()
            where = {"target_nodes": cluster.get_node_from_key(key)}
            more = {"allow_redirections": False}
        async with self._redis.pipeline(transaction=False) as pipe:
            pipe.execute_command(*command, **where)
            pipe.execute_command("WAIT", self._count, REPLICAS_MS, **where)
            answer, replicas = await pipe.execute(**more)
        return answer, replicas >= self._count
