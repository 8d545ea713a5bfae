"""Reading GraphQL answers: the data, or the exception that says why there are none."""

from http import HTTPStatus
from typing import Any

from httpx import Response

from api.cli.terminal.errors import Refused, TerminalError, Unreachable, Unusable


def data_of(response: Response, url: str) -> dict[str, Any]:
    """The data of an HTTP answer.

    Raises:
        TerminalError: there are none; which one, by what the server says.
    """
    if response.is_server_error or response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        wait = response.headers.get("retry-after", "0")
        raise Unreachable(
            "the server is not available for now", float(wait) if wait.isdecimal() else 0
        )
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict) or not ("data" in body or "errors" in body):
        raise Unusable(f"{url} does not answer as a Ringmaster server does.")
    return payload_data(body)


def payload_data(body: dict[str, Any]) -> dict[str, Any]:
    """The data of a GraphQL answer.

    Raises:
        TerminalError: it carries errors.
    """
    if body.get("errors"):
        raise failure(body["errors"])
    data: dict[str, Any] = body["data"]
    return data


def failure(errors: list[dict[str, Any]]) -> TerminalError:
    """The first of GraphQL's errors as an exception."""
    first = errors[0]
    extensions = first.get("extensions") or {}
    code, message = str(extensions.get("code")), str(first.get("message"))
    if "retryAfter" in extensions:
        return Unreachable(message, float(extensions["retryAfter"]))
    if code == "UNAUTHENTICATED":
        return Unusable(message)
    return Refused(code, message)


def raise_refusal(payload: dict[str, Any]) -> None:
    """Raise what a mutation's payload says against it.

    Raises:
        Refused: its ``userErrors`` are not empty.
    """
    for error in payload["userErrors"]:
        raise Refused(error["code"], error["message"])
