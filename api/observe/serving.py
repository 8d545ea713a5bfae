"""Metrics as Prometheus reads them: of one process, or of all processes of a worker."""

import os
import platform
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Final

from prometheus_client import REGISTRY, CollectorRegistry, start_http_server
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from api.observe import metrics
from api.observe.sharing import FOLDER
from engine.rules import CURRENT

_DEAD: Final = 0  # stands in names of files for all processes that have ended


def prepare(process: str) -> None:
    """Let this process's metrics be there from its beginning on; it is an api, worker, sweeper."""
    metrics.prepare()
    labels = (process, version("scout-ringmaster"), platform.python_version(), CURRENT)
    metrics.build_info.labels(*labels).set(1)


def exposed(accept: str) -> tuple[bytes, str]:
    """The metrics of this process in the format that is asked for, and its media type."""
    encode, media_type = choose_encoder(accept)
    return encode(REGISTRY), media_type


def serve(host: str, port: int, *collectors: Collector) -> None:
    """Serve this process's metrics from a thread, and those that are collected when asked.

    Raises:
        SystemExit: the port cannot be used.
    """
    for collector in collectors:
        REGISTRY.register(collector)
    _serve(host, port, REGISTRY)


def serve_shared(host: str, port: int) -> None:
    """Serve the metrics of this process and its children.

    Raises:
        SystemExit: the port cannot be used.
    """
    registry = CollectorRegistry()
    registry.register(SharedCollector(Path(os.environ[FOLDER])))
    _serve(host, port, registry)


def _serve(host: str, port: int, registry: CollectorRegistry) -> None:
    try:
        start_http_server(port, host, registry)
    except OSError as error:
        raise SystemExit(
            f"ringmaster: port {port} on {host} cannot serve metrics ({error.strerror}); choose "
            "another with RINGMASTER_METRICS_PORT"
        ) from None


class SharedCollector(Collector):
    """Adds up what several processes have counted, those that have ended included.

    Each has files of its own. What is left of one that ended is added to a single set of files, so
    that no count goes back and no file is left for every process that there ever was.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = MultiProcessCollector(None, str(folder))  # type: ignore[no-untyped-call]
        self._lock = Lock()

    def collect(self) -> Iterable[Metric]:
        with self._lock:
            for path in self._folder.glob("*.db"):
                self._take_over(path)
            found: Iterable[Metric] = self._files.collect()  # type: ignore[no-untyped-call]
            return list(found)

    def _take_over(self, path: Path) -> None:
        kind, _, pid = path.stem.rpartition("_")
        if int(pid) == _DEAD or _lives(int(pid)):
            return
        if kind in {"counter", "histogram"}:
            sums = MmapedDict(str(path.with_name(f"{kind}_{_DEAD}.db")))  # type: ignore[no-untyped-call]
            for key, value, _at, _ in MmapedDict.read_all_values_from_file(str(path)):  # type: ignore[no-untyped-call]
                before, _at = sums.read_value(key)  # type: ignore[no-untyped-call]
                sums.write_value(key, before + value, 0.0)  # type: ignore[no-untyped-call]
            sums.close()  # type: ignore[no-untyped-call]
        path.unlink()


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
