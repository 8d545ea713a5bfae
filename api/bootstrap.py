"""The only place that builds adapters and puts them together."""

from dataclasses import dataclass

from redis.asyncio import Redis

from api import tracing
from api.broker import celery_app
from api.drain import Drain
from api.identity.marks import Marks
from api.identity.recogniser import Outside
from api.identity.service import Identity
from api.jobs import CeleryJobs
from api.levels import adopt_levels
from api.limits.buckets import Bucket, rate_of
from api.limits.limiter import Limiter
from api.limits.windows import RedisWindows
from api.lobby import Lobby
from api.operators.service import Operators
from api.ports import Ring
from api.series.service import SeriesService
from api.service import MatchService
from api.settings import Settings
from api.store.connections import connect
from api.store.operators import RedisProcesses, RedisRecords
from api.store.redis import RedisDirectory, RedisStore
from api.store.series import RedisSeriesStore
from api.store.tokens import RedisTokens
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
    lobby: Lobby
    identity: Identity
    streams: Streams
    drain: Drain
    limiter: Limiter
    processes: RedisProcesses
    operators: Operators
    outside: Outside | None = None

    def heed(self, ring: Ring | None) -> None:
        """Take in what happened, in whichever process; None: anything may have."""
        self.series.wake(ring)
        self.lobby.wake(ring)
        self.identity.heed(ring)
        if ring is not None:
            tracing.remember(ring.traces)

    async def close(self) -> None:
        """Let waiting hints go out and close every connection."""
        self.jobs.close()
        if self.outside is not None:
            self.outside.close()
        await self.redis.aclose()


def build(settings: Settings) -> Parts:
    """Connect everything, lazily: nothing is reached before the first use.

    Raises:
        SystemExit: the levels that the settings name cannot be had.
    """
    adopt_levels(settings.levels)
    redis = connect(settings.redis_url)
    store, directory = RedisStore(redis, settings.replicas), RedisDirectory(redis)
    jobs = CeleryJobs(celery_app(settings.broker))
    limits = Limits(
        settings.match_ttl,
        settings.finished_ttl,
        settings.bot_grace_ms,
        settings.seat_hold_seconds,
        settings.abandon_seconds,
    )
    service = MatchService(store, directory, jobs, limits=limits)
    series = SeriesService(RedisSeriesStore(redis), jobs, limits=limits)
    streams, secret = Streams(settings.stream_seconds), settings.secret.get_secret_value()
    outside = _issuer(settings, secret)
    identity = Identity(
        RedisTokens(redis, settings.replicas),
        streams,
        ttl=settings.guest_ttl,
        secret=secret,
        outside=outside,
    )
    processes = RedisProcesses(redis)
    operators = Operators(
        service=service,
        store=store,
        identity=identity,
        jobs=jobs,
        records=RedisRecords(redis),
        processes=processes,
        limits=limits,
    )
    return Parts(
        settings=settings,
        redis=redis,
        store=store,
        jobs=jobs,
        service=service,
        series=series,
        lobby=Lobby(service),
        identity=identity,
        streams=streams,
        drain=Drain(settings.drain_seconds, streams),
        limiter=_limiter(settings, redis),
        processes=processes,
        operators=operators,
        outside=outside,
    )


def _issuer(settings: Settings, secret: str) -> Outside | None:
    if settings.jwks_url is None or settings.jwt_issuer is None or settings.jwt_audience is None:
        return None
    # Here, as what checks signatures takes long to import and most processes need none of it.
    from api.identity.issuer import Issuer, Keys  # noqa: PLC0415

    keys = Keys(settings.jwks_url)
    return Issuer(keys, settings.jwt_issuer, settings.jwt_audience, Marks(secret))


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
