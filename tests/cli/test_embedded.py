"""The embedded Redis keeps what it holds to itself, and to disk as it is told."""

import stat

import pytest
from redis import Redis

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
