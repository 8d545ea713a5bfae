"""Settings from the environment, all with the prefix ``RINGMASTER_``; documented in the README."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from api.addresses import Kind, address_of
from api.limits.buckets import rate_of

DAY = 24 * 3600


def _rate(text: str) -> str:
    try:
        rate_of(text, 1)
    except ValueError as error:
        raise ValueError(f"not a limit such as `100/minute`: {error}") from None
    return text


def _address(url: str) -> str:
    address_of(url)
    return url


def _broker_address(url: str | None) -> str | None:
    if url is not None and address_of(url).kind is Kind.CLUSTER:
        raise ValueError("a Cluster cannot carry Celery's queues; name a single Redis")
    return url


class Settings(BaseSettings):
    """What a process is told from outside, checked when it starts."""

    model_config = SettingsConfigDict(env_prefix="RINGMASTER_", extra="ignore", frozen=True)

    redis_url: Annotated[
        str,
        AfterValidator(_address),
        Field(
            description=(
                "Redis with the matches, Sentinels or a Cluster (docs/durability.md). "
                "`ringmaster up` starts an embedded one if unset."
            ),
        ),
    ] = "redis://127.0.0.1:6379/0"
    broker_url: Annotated[
        str | None,
        AfterValidator(_broker_address),
        Field(
            description=(
                "Redis for Celery's queues, a single one or behind Sentinels; unset: the same as "
                "`RINGMASTER_REDIS_URL`, which then is no Cluster."
            ),
        ),
    ] = None
    replicas: Annotated[
        int,
        Field(
            ge=0,
            le=9,
            description=(
                "Replicas of Redis that have a move before it is acknowledged; unset: none are "
                "waited for (docs/durability.md)."
            ),
        ),
    ] = 0
    fsync: Annotated[
        str,
        Field(
            pattern=r"^(everysec|always)$",
            description=(
                "When the embedded Redis writes to disk: every second, or before each answer."
            ),
        ),
    ] = "everysec"
    secret: Annotated[
        SecretStr,
        Field(
            description=(
                "Key of the hashes under which tokens are stored; changing it signs everybody out."
            ),
        ),
    ] = SecretStr("")
    host: Annotated[str, Field(description="Address that the API listens on.")] = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535, description="Port that the API listens on.")] = 8000
    data_dir: Annotated[str, Field(description="Folder of the embedded Redis's data.")] = (
        ".ringmaster"
    )
    development: Annotated[bool, Field(description="Serve GraphiQL to browsers at /graphql.")] = (
        True
    )
    introspection: Annotated[bool, Field(description="Let clients ask for the GraphQL schema.")] = (
        True
    )
    documents: Annotated[
        str | None,
        Field(
            description=(
                "File of trusted documents: a JSON object of GraphQL documents by the SHA-256 of "
                "each (docs/api.md)."
            )
        ),
    ] = None
    documents_only: Annotated[
        bool, Field(description="Carry out no GraphQL document but the trusted ones.")
    ] = False
    origins: Annotated[
        str | None,
        Field(
            pattern=r"^$|^(\*|https?://[^/,\s*]+)(,(\*|https?://[^/,\s*]+))*$",
            description=(
                "Origins of the web pages that may call, separated by commas, `*` for all; unset: "
                "all in development, otherwise none but the API's own."
            ),
        ),
    ] = None
    trusted_proxies: Annotated[
        str,
        Field(
            description=(
                "Addresses or networks, separated by commas, whose `X-Forwarded-For` is believed."
            )
        ),
    ] = ""
    cost_limit: Annotated[
        int,
        Field(ge=1, description="Points that one GraphQL operation may cost (docs/limits.md)."),
    ] = 8000
    limit_plays: Annotated[
        str,
        AfterValidator(_rate),
        Field(description="Moves of a player, such as `100/minute`; empty: no limit."),
    ] = "12000/minute"
    limit_reads: Annotated[
        str,
        AfterValidator(_rate),
        Field(description="Points of a caller's queries; empty: no limit."),
    ] = "3000000/minute"
    limit_creates: Annotated[
        str,
        AfterValidator(_rate),
        Field(description="Matches and series that a player creates or joins; empty: no limit."),
    ] = "1200/minute"
    limit_streams: Annotated[
        str,
        AfterValidator(_rate),
        Field(description="Streams that a caller opens; empty: no limit."),
    ] = "6000/minute"
    limit_address_factor: Annotated[
        int, Field(ge=1, description="So many times as much is let through for an address in all.")
    ] = 10
    worker_concurrency: Annotated[
        int, Field(ge=1, le=64, description="Processes of one worker.")
    ] = 2
    guest_ttl: Annotated[
        int, Field(ge=60, description="Seconds that a guest's token is valid.")
    ] = 90 * DAY
    jwks_url: Annotated[
        str | None,
        Field(
            pattern=r"^https?://",
            description=(
                "Address of the keys (JWKS) of an outside issuer, whose signed tokens (JWTs) are "
                "taken like our own; with the next two, or none of the three (docs/identity.md)."
            ),
        ),
    ] = None
    jwt_issuer: Annotated[
        str | None, Field(min_length=1, description="The claim `iss` of those tokens.")
    ] = None
    jwt_audience: Annotated[
        str | None, Field(min_length=1, description="What their claim `aud` has to name.")
    ] = None
    match_ttl: Annotated[
        int,
        Field(
            ge=60,
            description="Seconds that a match in play is kept after its last commit, and up to a "
            "hundredth longer.",
        ),
    ] = 7 * DAY
    finished_ttl: Annotated[
        int, Field(ge=60, description="Seconds that a finished match and its replay are kept.")
    ] = 30 * DAY
    seat_hold_seconds: Annotated[
        int,
        Field(
            ge=0,
            description=(
                "Seconds that a seat of the lobby is held for who joined and has not used it yet; "
                "then it is open again. 0: for ever."
            ),
        ),
    ] = 120
    abandon_seconds: Annotated[
        int,
        Field(
            ge=0,
            description=(
                "Seconds after which a match is ABANDONED that its last player has gone from: "
                "left, or away after turns that ran out. 0: kept as any match in play."
            ),
        ),
    ] = 3600
    bot_grace_ms: Annotated[
        int,
        Field(
            ge=50,
            description="Milliseconds after which the sweeper sends work that was not done.",
        ),
    ] = 2000
    bot_limit_ms: Annotated[
        int,
        Field(
            ge=100,
            description=(
                "Milliseconds after which a bot's decision is given up and a quick move played; "
                "after three times as long its process is ended."
            ),
        ),
    ] = 2000
    levels: Annotated[
        str,
        Field(
            pattern=r"^$|^[A-Za-z_][\w.]*(,[A-Za-z_][\w.]*)*$",
            description=(
                "Modules with levels of your own for bots, separated by commas (docs/bot-guide.md)."
            ),
        ),
    ] = ""
    stream_seconds: Annotated[
        int,
        Field(ge=5, description="Seconds after which a subscription ends politely, to be resumed."),
    ] = 3600
    drain_seconds: Annotated[
        float,
        Field(
            ge=0,
            le=300,
            description=(
                "Seconds that the API serves on after it was asked to stop; the streams end over "
                "the second half of them (k8s/README.md). 0: it stops at once."
            ),
        ),
    ] = 0
    ready_file: Annotated[
        str | None,
        Field(
            description=(
                "File that a worker makes once it takes tasks, or a sweeper once it sweeps, and "
                "touches while it is alive; for probes, by `python -m api.signs`."
            )
        ),
    ] = None
    log_level: Annotated[
        str,
        Field(
            pattern=r"^(debug|info|warning|error)$",
            description=(
                "Lowest level logged: `info` has a line for every request and task. `ringmaster "
                "up` on a terminal: `warning` if unset."
            ),
        ),
    ] = "info"
    log_format: Annotated[
        str,
        Field(
            pattern=r"^(auto|json|text)$",
            description="`json`, `text`, or `auto`: text on a terminal, JSON otherwise.",
        ),
    ] = "auto"
    metrics_port: Annotated[
        int | None,
        Field(
            ge=1,
            le=65533,
            description=(
                "Port on which a worker or sweeper serves its metrics; unset: none. Under "
                "`ringmaster up` the worker has it, the sweeper the next, the worker of series the "
                "one after (docs/observability.md)."
            ),
        ),
    ] = None
    metrics_host: Annotated[str, Field(description="Address that they are served on.")] = (
        "127.0.0.1"
    )
    tracing: Annotated[
        bool,
        Field(
            description=(
                "Send spans by OTLP, to where the variables `OTEL_EXPORTER_OTLP_...` say; needs "
                "the extra `tracing`."
            )
        ),
    ] = False

    @model_validator(mode="after")
    def _issuer_is_whole(self) -> Self:
        given = [self.jwks_url, self.jwt_issuer, self.jwt_audience]
        if any(given) and not all(given):
            raise ValueError(
                "RINGMASTER_JWKS_URL, RINGMASTER_JWT_ISSUER and RINGMASTER_JWT_AUDIENCE go "
                "together: set all of them, or none"
            )
        return self

    @model_validator(mode="after")
    def _queues_have_a_place(self) -> Self:
        if self.broker_url is None and address_of(self.redis_url).kind is Kind.CLUSTER:
            raise ValueError(
                "RINGMASTER_REDIS_URL is a Cluster, which cannot carry Celery's queues: set "
                "RINGMASTER_BROKER_URL to a single Redis beside it"
            )
        return self

    @property
    def allowed_origins(self) -> tuple[str, ...]:
        """The origins whose pages may call, beside the API's own."""
        if self.origins is None:
            return ("*",) if self.development else ()
        return tuple(origin for origin in self.origins.split(",") if origin)

    @property
    def broker(self) -> str:
        """The URL of Celery's broker."""
        return self.broker_url or self.redis_url


def read_settings() -> Settings:
    """The settings of this process.

    Raises:
        SystemExit: a variable has a value that is not allowed; the message names it.
    """
    try:
        return Settings()
    except ValidationError as error:
        lines = [
            f"RINGMASTER_{'.'.join(map(str, e['loc'])).upper()}: {e['msg']}"
            if e["loc"]
            else e["msg"].removeprefix("Value error, ")
            for e in error.errors()
        ]
        raise SystemExit("ringmaster: bad settings\n" + "\n".join(lines)) from None
