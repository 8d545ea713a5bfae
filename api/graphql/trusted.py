"""Trusted documents: the operations of one's own front ends, known by the SHA-256 of their text.

A request names its document by ``documentId`` (GraphQL over HTTP, appendix Persisted Documents), or
as Apollo's clients do by ``extensions.persistedQuery.sha256Hash``, and sends no text.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from graphql import GraphQLSchema

from api.graphql.documents import faults

_PREFIX: Final = "sha256:"
PERSISTED_QUERY_NOT_FOUND: Final = "PERSISTED_QUERY_NOT_FOUND"
DOCUMENT_NOT_TRUSTED: Final = "DOCUMENT_NOT_TRUSTED"


class Untrusted(Exception):  # noqa: N818 - reads as what it is
    """A document that is not among the trusted ones.

    Attributes:
        code: what a client is told; Apollo's sends the text when it reads the first one.
    """

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class Trusted:
    """The trusted documents; ``only``: no other is carried out."""

    def __init__(self, documents: Mapping[str, str], *, only: bool) -> None:
        self._documents = documents
        self._texts = frozenset(documents.values())
        self._only = only

    def fill(self, request: dict[str, Any]) -> None:
        """Give a request that names its document the text of it.

        Raises:
            Untrusted: there is no such document, or its text is sent and no other may be.
        """
        text = request.get("query")
        if isinstance(text, str) and text:
            if self._only and text not in self._texts:
                raise Untrusted(DOCUMENT_NOT_TRUSTED, "Only trusted documents are carried out.")
            return
        named = _named(request)
        if named is None:
            return
        found = self._documents.get(named.removeprefix(_PREFIX))
        if found is None:
            raise Untrusted(PERSISTED_QUERY_NOT_FOUND, "PersistedQueryNotFound")
        request["query"] = found


def _named(request: dict[str, Any]) -> str | None:
    given = request.get("documentId")
    if given is None and isinstance(extensions := request.get("extensions"), dict):
        persisted = extensions.get("persistedQuery")
        given = persisted.get("sha256Hash") if isinstance(persisted, dict) else None
    return given if isinstance(given, str) else None


def read_trusted(path: str | None, schema: GraphQLSchema, *, only: bool) -> Trusted:
    """The documents of a manifest, a JSON object of texts by the SHA-256 of each in hex.

    Raises:
        SystemExit: it cannot be read, a hash does not fit its text, or a text is not valid.
    """
    if path is None:
        return Trusted({}, only=only)
    try:
        documents = json.loads(Path(path).read_text())
        wrong = [fault for found in documents.items() for fault in _faults(schema, *found)]
    except (OSError, ValueError, AttributeError, TypeError) as error:
        wrong = [str(error)]
    if wrong:
        raise SystemExit(f"ringmaster: RINGMASTER_DOCUMENTS: {wrong[0]}")
    return Trusted(documents, only=only)


def _faults(schema: GraphQLSchema, digest: str, text: str) -> list[str]:
    """What is wrong with a document of a manifest; a valid one is known from now on."""
    if sha256(text.encode()).hexdigest() != digest:
        return [f"{digest} is not the SHA-256 of its document"]
    return [f"{digest}: {fault.message}" for fault in faults(schema, text, True)]
