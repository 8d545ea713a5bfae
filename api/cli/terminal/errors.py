"""What can go wrong between the front end and a server.

TerminalError
├── Refused      the server says why the caller may not do this
├── Unusable     the server, or what it was told, is not what it has to be; no use to repeat
└── Unreachable  no answer now; the same again may succeed
"""


class TerminalError(Exception):
    """A request that did not bring what was asked for; the message is fit to show."""


class Refused(TerminalError):  # noqa: N818 - reads as what happened
    """A request that the server refused.

    Attributes:
        code: the API's error code.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Unusable(TerminalError):  # noqa: N818 - reads as what happened
    """An address or a token that cannot serve."""


class Unreachable(TerminalError):  # noqa: N818 - reads as what happened
    """No answer for now.

    Attributes:
        wait: seconds that the server asks to wait, 0 if it asks nothing.
    """

    def __init__(self, message: str, wait: float = 0) -> None:
        super().__init__(message)
        self.wait = wait
