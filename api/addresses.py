"""Where a Redis is: one server, one behind Sentinels, or a Cluster, told by its URL.

    redis://[user:password@]host[:port][/db]            rediss:// for TLS, unix:// for a socket
    redis+sentinel://[user:password@]host[:port],.../service[/db]
    redis+cluster://[user:password@]host[:port],...     both with rediss+ for TLS

Options after ``?`` are those of redis-py's connections; ``sentinel_username`` and
``sentinel_password`` are what the Sentinels ask for, where they ask.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit

from redis.asyncio.connection import SSLConnection, parse_url

_PORTS: Final = {"sentinel": 26379, "cluster": 6379}


class Kind(StrEnum):
    """What answers at an address."""

    SERVER = "server"
    SENTINEL = "sentinel"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class Address:
    """A Redis.

    Attributes:
        kind: what answers there.
        url: of a single server, as redis-py takes it.
        nodes: hosts and ports of Sentinels, or of nodes of a Cluster to begin with.
        service: the name under which the Sentinels know it.
        options: of every connection.
        sentinel_options: of those to the Sentinels.
    """

    kind: Kind
    url: str = ""
    nodes: tuple[tuple[str, int], ...] = ()
    service: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    sentinel_options: Mapping[str, Any] = field(default_factory=dict)


def address_of(url: str) -> Address:
    """What a URL says.

    Raises:
        ValueError: it says nothing that can be used; the message says what is wrong.
    """
    parts = urlsplit(url)
    scheme, _, kind = parts.scheme.partition("+")
    if parts.scheme in {"redis", "rediss", "unix"}:
        parse_url(url)
        return Address(Kind.SERVER, url)
    if scheme not in {"redis", "rediss"} or kind not in _PORTS:
        raise ValueError(
            "not the URL of a Redis: redis://, rediss://, unix://, redis+sentinel:// or "
            "redis+cluster://"
        )
    login, _, hosts = parts.netloc.rpartition("@")
    nodes = tuple(_node(host, _PORTS[kind]) for host in hosts.split(","))
    service, _, db = parts.path.strip("/").partition("/")
    if kind == Kind.CLUSTER and (service or db):
        raise ValueError("a Cluster has one database: nothing comes after its hosts")
    if db and not db.isdecimal():
        raise ValueError("the database is a number: redis+sentinel://host:port/service/0")
    if kind == Kind.SENTINEL and not service:
        raise ValueError("the name of the service is missing: redis+sentinel://host:port/service")
    options: dict[str, Any] = dict(
        parse_url(
            f"{scheme}://{login}{'@' if login else ''}x/{db or 0}"
            f"{'?' if parts.query else ''}{parts.query}"
        )
    )
    del options["host"]
    tls = {"ssl": True} if options.pop("connection_class", None) is SSLConnection else {}
    asked = {
        name: options.pop(f"sentinel_{name}")
        for name in ("username", "password")
        if f"sentinel_{name}" in options
    }
    if kind == Kind.CLUSTER:
        options.pop("db", None)
    return Address(Kind(kind), "", nodes, service, {**options, **tls}, {**asked, **tls})


def _node(text: str, usual_port: int) -> tuple[str, int]:
    parts = urlsplit(f"//{text}")
    if not parts.hostname:
        raise ValueError("a host is missing: hosts are separated by commas, each host:port")
    return parts.hostname, parts.port or usual_port
