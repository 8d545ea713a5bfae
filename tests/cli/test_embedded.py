"""The embedded Redis keeps what it holds to itself, and to disk as it is told."""

import stat
import tempfile
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from api.broker import celery_app
from api.cli.embedded import embedded_redis
from tests.redises import Node


def test_its_folder_is_its_owners_alone(tmp_path):
    (tmp_path / "redis").mkdir(mode=0o755)  # as releases before made it

    folder = embedded_redis(tmp_path).folder

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("fsync", ["everysec", "always"])
def test_it_writes_to_disk_when_it_is_told(tmp_path, fsync):
    found = embedded_redis(tmp_path, fsync=fsync)
    node = Node(found.folder, found.command[1:])
    node.start()
    try:
        with Redis(port=node.port, decode_responses=True) as client:
            config = client.config_get("append*")
    finally:
        node.kill()

    assert (config["appendonly"], config["appendfsync"]) == ("yes", fsync)


def test_it_listens_on_a_socket_of_its_owner_where_the_name_is_not_too_long(tmp_path):
    with tempfile.TemporaryDirectory() as short:
        place = Path(short) / "redis"
        found = embedded_redis(tmp_path, socket=place)
        node = Node(found.folder, found.command[1:])
        node.start()
        try:
            assert stat.S_IMODE(place.stat().st_mode) == 0o700
            with Redis.from_url(found.near) as near, Redis(port=node.port) as far:
                near.set("a", "b")
                assert far.get("a") == b"b"
            with celery_app(found.near).connection_for_write() as broker:
                broker.ensure_connection(max_retries=1)
                channel: Any = broker.default_channel
                connection = channel.client.connection_pool.get_connection()
                assert connection.path == str(place)
        finally:
            node.kill()

    long = embedded_redis(tmp_path, socket=tmp_path / ("x" * 100))
    assert long.near == long.url
    assert "--unixsocket" not in long.command
