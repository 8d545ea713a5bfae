"""What the service can refuse beside the rules.

ServiceError
├── Refused      something the caller can mend; has a code of the schema
├── Unreadable   a log that this code cannot read; no other match is touched by it
├── Unauthenticated   no token, or one that is not or no longer valid
├── RateLimited  more than a bucket holds; try again when its window is over
├── TooDear      an operation that costs more than one may
└── Unavailable  Redis, or the issuer of a token, cannot be reached; try again later
    ├── Unwritable   Redis can be read, but takes no writes
    └── Unconfirmed  done, but not yet on as many replicas as are asked for
"""

from schema.codes import ErrorCode


class ServiceError(Exception):
    """A request that was not carried out."""


class Refused(ServiceError):  # noqa: N818 - reads as what happened
    """A request that its caller can mend.

    Attributes:
        code: the stable code.
        field: the input field at fault in camel case, None where no single one is.
        current_version: the match's version, where the code is about versions.
    """

    def __init__(
        self,
        code: ErrorCode,
        sentence: str,
        *,
        field: str | None = None,
        current_version: int | None = None,
    ) -> None:
        super().__init__(sentence)
        self.code = code
        self.field = field
        self.current_version = current_version


class Unauthenticated(ServiceError):  # noqa: N818 - the HTTP term
    """The call needs a sign-in: no token was given, or one that is not or no longer valid."""


class Unreadable(ServiceError):  # noqa: N818 - reads as what it is
    """A match's log is damaged, or was written by a later release."""


class RateLimited(ServiceError):  # noqa: N818 - the HTTP term
    """A caller has asked for more than a bucket holds.

    Attributes:
        bucket: its name.
        limit: how much it holds.
        seconds: the length of its window.
        remaining: what is left of it, too little for what was asked.
        retry_after: whole seconds until it is full again.
    """

    def __init__(
        self, bucket: str, limit: int, seconds: int, remaining: int, retry_after: int
    ) -> None:
        super().__init__(f"Too many {bucket}: try again in {retry_after} s.")
        self.bucket = bucket
        self.limit = limit
        self.seconds = seconds
        self.remaining = remaining
        self.retry_after = retry_after


class TooDear(ServiceError):  # noqa: N818 - reads as what it is
    """An operation costs more points than one operation may."""

    def __init__(self, cost: int, limit: int) -> None:
        super().__init__(f"The operation costs {cost} points; one may cost {limit}.")
        self.cost = cost
        self.limit = limit


class Unavailable(ServiceError):  # noqa: N818 - the HTTP term
    """What is needed cannot be reached now; nothing was acknowledged."""


class Unwritable(Unavailable):
    """Redis answers, but refuses to write: its text is the code with which it does."""


class Unconfirmed(Unavailable):
    """It is done, but not yet on as many replicas as are asked for: not acknowledged."""


def not_found() -> Refused:
    """No match has this id, or none that the caller may see."""
    return Refused(ErrorCode.NOT_FOUND, "There is no such match.")
