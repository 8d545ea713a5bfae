"""Settings from the environment, all with the prefix ``RINGMASTER_``; documented in the README."""

from typing import Annotated, Self

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

DAY = 24 * 3600


class Settings(BaseSettings):
    """What a process is told from outside, checked when it starts."""

    model_config = SettingsConfigDict(env_prefix="RINGMASTER_", extra="ignore", frozen=True)

    redis_url: Annotated[
        str,
        Field(
            pattern=r"^(redis|rediss|unix)://",
            description="Redis with the matches. `ringmaster up` starts an embedded one if unset.",
        ),
    ] = "redis://127.0.0.1:6379/0"
    broker_url: Annotated[
        str | None,
        Field(
            pattern=r"^(redis|rediss)://",
            description="Redis for Celery's queues; unset: the same as `RINGMASTER_REDIS_URL`.",
        ),
    ] = None
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
        int, Field(ge=60, description="Seconds that a match in play is kept after its last commit.")
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
    ready_file: Annotated[
        str | None, Field(description="File that a worker makes once it takes tasks (for probes).")
    ] = None
    log_level: Annotated[
        str, Field(pattern=r"^(debug|info|warning|error)$", description="Lowest level logged.")
    ] = "info"

    @model_validator(mode="after")
    def _issuer_is_whole(self) -> Self:
        given = [self.jwks_url, self.jwt_issuer, self.jwt_audience]
        if any(given) and not all(given):
            raise ValueError(
                "RINGMASTER_JWKS_URL, RINGMASTER_JWT_ISSUER and RINGMASTER_JWT_AUDIENCE go "
                "together: set all of them, or none"
            )
        return self

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
