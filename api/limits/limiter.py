"""Charges callers: each by its own window and by that of its address."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil
from typing import Final

from api.errors import RateLimited
from api.limits.buckets import Bucket, Rate, Standing
from api.limits.purse import Purse, Window
from api.limits.windows import Windows

KEPT: Final = 20_000  # purses in memory; one that is forgotten is filled anew from what is left
_SITE_BITS: Final = 64  # of an IPv6 address: one customer has all that share them


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is charged: a player if there is one, and the address in any case."""

    player_id: str | None
    address: str


class Limiter:
    """The buckets of all callers, as one process knows them."""

    def __init__(
        self,
        rates: Mapping[Bucket, Rate | None],
        windows: Windows,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rates = {bucket: rate for bucket, rate in rates.items() if rate is not None}
        self._windows = windows
        self._now = now
        self._purses: OrderedDict[str, Purse] = OrderedDict()

    async def charge(self, bucket: Bucket, caller: Caller, amount: int = 1) -> Standing | None:
        """Take so many hits from a bucket: what is left of it, None if it has no limit.

        Reads that cost more than the whole bucket take all of it.

        Raises:
            RateLimited: it has not so many left; nothing was taken.
            Unavailable: Redis cannot be reached.
        """
        rate = self._rates.get(bucket)
        if rate is None:
            return None
        if bucket is Bucket.READS:
            amount = min(amount, rate.amount)
        return await self._draw(bucket, self._both(bucket, rate, caller), amount)

    def check(self, bucket: Bucket, caller: Caller) -> None:
        """Refuse a caller of whom it is known that nothing is left.

        Raises:
            RateLimited: so it is.
        """
        rate = self._rates.get(bucket)
        if rate is not None:
            _expect(bucket, self._both(bucket, rate, caller), 1)

    async def charge_address(
        self, bucket: Bucket, address: str, amount: int = 1
    ) -> Standing | None:
        """Take hits from what an address may do in all, as ``charge`` does.

        Raises:
            RateLimited: it has not so many left; nothing was taken.
            Unavailable: Redis cannot be reached.
        """
        rate = self._rates.get(bucket)
        if rate is None:
            return None
        limit = rate.amount * rate.factor
        if bucket is Bucket.READS:
            amount = min(amount, limit)
        shared = self._purse(f"{bucket}:all:{site_of(address)}", limit, rate.seconds)
        return await self._draw(bucket, (shared,), amount)

    async def _draw(self, bucket: Bucket, purses: tuple[Purse, ...], amount: int) -> Standing:
        _expect(bucket, purses, amount)
        if all(purse.holds(amount) for purse in purses):
            for purse in purses:
                purse.spend(amount)
        else:
            drawn = await asyncio.gather(*(purse.draw(amount) for purse in purses))
            if not all(drawn):
                for purse, number in zip(purses, drawn, strict=True):
                    purse.give_back(amount if number else 0, number)
                raise _refusal(bucket, purses[drawn.index(0)])
        tight = min(purses, key=lambda purse: purse.remaining)
        window = tight.window
        return Standing(bucket, window.limit, window.seconds, tight.remaining, tight.reset_after)

    def _both(self, bucket: Bucket, rate: Rate, caller: Caller) -> tuple[Purse, Purse]:
        site = site_of(caller.address)
        who = f"p:{caller.player_id}" if caller.player_id else f"a:{site}"
        return (
            self._purse(f"{bucket}:{who}", rate.amount, rate.seconds),
            self._purse(f"{bucket}:all:{site}", rate.amount * rate.factor, rate.seconds),
        )

    def _purse(self, key: str, limit: int, seconds: int) -> Purse:
        purse = self._purses.get(key)
        if purse is None:
            purse = Purse(Window(key, limit, seconds), self._windows, self._now)
            self._purses[key] = purse
            self._forget()
        else:
            self._purses.move_to_end(key)
        return purse

    def _forget(self) -> None:
        """Drop purses used longest ago: those that hold nothing more, and what is too many."""
        for _ in range(2):  # one more than comes, so that the others go in time
            oldest = next(iter(self._purses))
            if self._purses[oldest].is_over() or len(self._purses) > KEPT:
                del self._purses[oldest]


def _expect(bucket: Bucket, purses: tuple[Purse, ...], amount: int) -> None:
    for purse in purses:
        if purse.lacks(amount):
            raise _refusal(bucket, purse)


def _refusal(bucket: Bucket, empty: Purse) -> RateLimited:
    window, seconds = empty.window, max(1, ceil(empty.reset_after))
    return RateLimited(bucket, window.limit, window.seconds, empty.remaining, seconds)


@lru_cache(KEPT)
def site_of(address: str) -> str:
    """An address as it is charged: IPv6 by the network that one customer has."""
    try:
        found = ip_address(address)
    except ValueError:
        return address  # a socket of another kind
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ip_network((found, _SITE_BITS), strict=False))
