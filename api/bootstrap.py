"""The only place that builds adapters and puts them together."""

from dataclasses import dataclass

from redis.asyncio import Redis

from api.broker import celery_app
from api.guests import Guests
from api.jobs import CeleryJobs
from api.levels import adopt_levels
from api.limits.buckets import Bucket, rate_of
from api.limits.limiter import Limiter
from api.limits.windows import RedisWindows
from api.series.service import SeriesService
from api.service import MatchService
from api.settings import Settings
from api.store.redis import RedisDirectory, RedisStore, connect
from api.store.series import RedisSeriesStore
from api.streams import Streams
from api.values import Limits


@dataclass(frozen=True, slots=True)
class Parts:
    """What a process works with; ``close`` it on the loop that it was built on."""

    settings: Settings
    redis: Redis
    store: RedisStore
    jobs: CeleryJobs
    service: MatchService
    series: SeriesService
    guests: Guests
    streams: Streams
    limiter: Limiter

    async def close(self) -> None:
        """Let waiting hints go out and close every connection."""
        self.jobs.close()
        await self.redis.aclose()


def build(settings: Settings) -> Parts:
    """Connect everything, lazily: nothing is reached before the first use.

    Raises:
        SystemExit: the levels that the settings name cannot be had.
    """
    adopt_levels(settings.levels)
    redis = connect(settings.redis_url)
    store, directory = RedisStore(redis), RedisDirectory(redis)
    jobs = CeleryJobs(celery_app(settings.broker))
    limits = Limits(settings.match_ttl, settings.finished_ttl, settings.bot_grace_ms)
    service = MatchService(store, directory, jobs, limits=limits)
    series = SeriesService(RedisSeriesStore(redis), jobs, limits=limits)
    guests = Guests(directory, settings.guest_ttl, settings.secret.get_secret_value())
    streams = Streams(settings.stream_seconds)
    limiter = _limiter(settings, redis)
    return Parts(settings, redis, store, jobs, service, series, guests, streams, limiter)


def _limiter(settings: Settings, redis: Redis) -> Limiter:
    texts = {
        Bucket.PLAYS: settings.limit_plays,
        Bucket.READS: settings.limit_reads,
        Bucket.CREATES: settings.limit_creates,
        Bucket.STREAMS: settings.limit_streams,
    }
    factor = settings.limit_address_factor
    rates = {bucket: rate_of(text, factor) for bucket, text in texts.items()}
    return Limiter(rates, RedisWindows(redis))
