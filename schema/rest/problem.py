"""Problem documents (RFC 9457), the answer to everything that was not carried out."""

from pydantic import Field

from schema.rest.base import Model


class FieldProblem(Model):
    """What is wrong with one part of a request."""

    path: list[str] = Field(description="Where it is: names of fields and places in lists.")
    message: str = Field(description="A sentence that a front end may show.")


class Problem(Model):
    """A problem document (RFC 9457). `code` is stable and to be acted on."""

    type: str = Field(default="about:blank", description="`code` tells more than a type would.")
    title: str = Field(description="The name of the HTTP status.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="A sentence that a front end may show.")
    code: str = Field(description="A code of `ErrorCode`, or of a request wrong as a whole.")
    path: list[str] | None = Field(default=None, description="The input field at fault.")
    errors: list[FieldProblem] | None = Field(
        default=None, description="Everything at fault in a malformed request."
    )
    current_version: int | None = Field(
        default=None, description="The match's version, where the code is about versions."
    )
    retry_after: int | None = Field(
        default=None, description="Seconds after which it is worth trying again."
    )
    bucket: str | None = Field(default=None, description="The limit that was reached.")
    limit: int | None = Field(default=None, description="What that limit allows.")
