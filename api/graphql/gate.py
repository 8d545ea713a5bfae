"""What an operation passes before it runs: its cost is told, its caller charged."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Protocol

from graphql import OperationType

from api.errors import RateLimited, TooDear, Unauthenticated
from api.graphql.cost import OperationCost
from api.limits.buckets import Bucket, Standing, tightest
from api.limits.limiter import Caller, Limiter

REFUSED_DOCUMENT: Final = 100  # points: to find out that a document is not valid costs as much
SIGN_IN: Final = "signInAsGuest"
CREATING: Final = frozenset({"createMatch", "joinMatch", "createSeries", "createToken"})


class Calling(Protocol):
    """A request, as far as it says who calls."""

    @property
    def address(self) -> str: ...

    async def player_id(self) -> str | None:
        """The player who is calling, None without a token.

        Raises:
            Unauthenticated: the token is not known.
        """
        ...


@dataclass(frozen=True, slots=True)
class Admission:
    """An operation that may run, and what is told to its caller."""

    extensions: Mapping[str, Any]
    headers: Mapping[str, str]


class Gate:
    """Admits operations up to a cost, each charged to its caller."""

    def __init__(self, limiter: Limiter, cost_limit: int, *, introspection: bool) -> None:
        self._limiter = limiter
        self._cost_limit = cost_limit
        self.introspection = introspection

    async def admit(self, calling: Calling, cost: OperationCost) -> Admission:
        """Charge for an operation.

        Raises:
            TooDear: it costs more than one may.
            RateLimited: its caller has not so much left.
            Unavailable: Redis cannot be reached.
        """
        if cost.points > self._cost_limit:
            raise TooDear(cost.points, self._cost_limit)
        standing = await self._charge(calling, cost)
        told: dict[str, Any] = {
            "cost": {"operation": cost.points, "limit": self._cost_limit},
        }
        if standing is None:
            return Admission(told, {})
        return Admission({**told, "rateLimit": standing.extensions()}, standing.headers())

    async def check_new(self, calling: Calling, type_: OperationType) -> None:
        """Refuse a document that is yet to be validated if its caller has nothing left at all.

        Raises:
            RateLimited: so it is.
            Unavailable: Redis cannot be reached.
        """
        self._limiter.check(_bucket(type_), await _charged(calling))

    async def charge_refused(self, calling: Calling, type_: OperationType) -> None:
        """Charge for a document that is not carried out, as far as something is left.

        Raises:
            Unavailable: Redis cannot be reached.
        """
        bucket = _bucket(type_)
        amount = REFUSED_DOCUMENT if bucket is Bucket.READS else 1
        with suppress(RateLimited):
            await self._limiter.charge(bucket, await _charged(calling), amount)

    async def _charge(self, calling: Calling, cost: OperationCost) -> Standing | None:
        caller = await _caller(calling)
        if caller is None:  # a guess at a token, or an old one: never at the cost of plays
            return await self._limiter.charge_address(Bucket.READS, calling.address, cost.points)
        standings = [
            await self._limiter.charge(bucket, caller, amount)
            for bucket, amount in _shares(cost).items()
            if amount
        ]
        if sign_ins := cost.roots.get(SIGN_IN, 0):
            address = calling.address
            standings.append(await self._limiter.charge_address(Bucket.CREATES, address, sign_ins))
        return tightest([standing for standing in standings if standing is not None])


def _shares(cost: OperationCost) -> dict[Bucket, int]:
    """What an operation takes from each bucket."""
    if cost.type is OperationType.QUERY:
        return {Bucket.READS: cost.points}
    if cost.type is OperationType.SUBSCRIPTION:
        return {Bucket.STREAMS: 1}
    creates = sum(cost.roots.get(name, 0) for name in CREATING)
    others = sum(count for name, count in cost.roots.items() if name != "__typename")
    return {Bucket.CREATES: creates, Bucket.PLAYS: others - creates - cost.roots.get(SIGN_IN, 0)}


def _bucket(type_: OperationType) -> Bucket:
    """Which bucket documents that are not carried out are charged to: never reads for a move."""
    return Bucket.PLAYS if type_ is OperationType.MUTATION else Bucket.READS


async def _charged(calling: Calling) -> Caller:
    return await _caller(calling) or Caller(None, calling.address)


async def _caller(calling: Calling) -> Caller | None:
    """Who is charged; None if a token was given that is not known."""
    try:
        return Caller(await calling.player_id(), calling.address)
    except Unauthenticated:
        return None
