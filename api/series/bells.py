"""What wakes those who follow series in this process."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Bell:
    """Wakes the followers of one series."""

    def __init__(self) -> None:
        self.rung = asyncio.Event()
        self.followers = 0

    def ring(self) -> None:
        """Wake all who wait on ``rung``."""
        self.rung.set()
        self.rung = asyncio.Event()


class Bells:
    """The bells of the series that are followed in this process."""

    def __init__(self) -> None:
        self._bells: dict[str, Bell] = {}

    @contextmanager
    def follow(self, series_id: str) -> Iterator[Bell]:
        """The bell of a series, to be looked at before each reading, while the block runs."""
        bell = self._bells.setdefault(series_id, Bell())
        bell.followers += 1
        try:
            yield bell
        finally:
            bell.followers -= 1
            if not bell.followers:
                self._bells.pop(series_id, None)

    def ring(self, rung: frozenset[str] | None) -> None:
        """Wake the followers of some series, or with None of all."""
        for series_id in list(self._bells) if rung is None else rung & self._bells.keys():
            self._bells[series_id].ring()
