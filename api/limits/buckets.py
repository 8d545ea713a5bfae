"""The buckets, and how much fits into each."""

from dataclasses import dataclass
from enum import StrEnum
from math import ceil

from limits import RateLimitItem, parse

from api.errors import RateLimited


class Bucket(StrEnum):
    """What is counted apart, so that one never starves another."""

    PLAYS = "plays"
    READS = "reads"
    CREATES = "creates"
    STREAMS = "streams"


@dataclass(frozen=True, slots=True)
class Rate:
    """So many within so many seconds, of a caller; of an address ``factor`` times as many."""

    amount: int
    seconds: int
    factor: int


@dataclass(frozen=True, slots=True)
class Standing:
    """What is left of a bucket, as far as this process knows."""

    bucket: Bucket
    limit: int
    seconds: int
    remaining: int
    reset_after: float

    @property
    def reset_seconds(self) -> int:
        """Whole seconds after which the bucket is full again."""
        return ceil(self.reset_after)

    def extensions(self) -> dict[str, object]:
        """For the ``extensions`` of a GraphQL response."""
        return {
            "bucket": self.bucket.value,
            "limit": self.limit,
            "remaining": self.remaining,
            "resetAfter": self.reset_seconds,
        }

    def headers(self) -> dict[str, str]:
        """The header fields that tell it."""
        return _headers(self.bucket, self.limit, self.seconds, self.remaining, self.reset_seconds)


def refusal_headers(error: RateLimited) -> dict[str, str]:
    """The header fields of an answer that refuses."""
    told = _headers(error.bucket, error.limit, error.seconds, error.remaining, error.retry_after)
    return {**told, "Retry-After": str(error.retry_after)}


def _headers(bucket: str, limit: int, seconds: int, remaining: int, reset: int) -> dict[str, str]:
    """As in the IETF draft "RateLimit header fields for HTTP"."""
    return {
        "RateLimit-Policy": f'"{bucket}";q={limit};w={seconds}',
        "RateLimit": f'"{bucket}";r={remaining};t={reset}',
    }


def tightest(standings: list[Standing]) -> Standing | None:
    """The one of which the least is left."""
    return min(standings, key=lambda s: s.remaining / s.limit, default=None)


def rate_of(text: str, factor: int) -> Rate | None:
    """A limit such as ``12000/minute`` or ``100 per 10 seconds``; None if empty, for none.

    Raises:
        ValueError: it is written in another way, or lets nothing through.
    """
    if not text.strip():
        return None
    item: RateLimitItem = parse(text)
    if item.amount < 1:
        raise ValueError("a limit lets at least one through; leave it empty for none")
    return Rate(item.amount, item.get_expiry(), factor)
