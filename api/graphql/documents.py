"""Documents: parsed and validated once, and refused for their shape before either gets dear."""

import re
from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Final

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLSchema,
    NoSchemaIntrospectionCustomRule,
    SelectionSetNode,
    Source,
    SourceLocation,
    parse,
    specified_rules,
    validate,
)

MAX_TOKENS: Final = 400
MAX_DEPTH: Final = 15
MAX_INTROSPECTION_DEPTH: Final = 20
MAX_ALIASES: Final = 64
MAX_DIRECTIVES: Final = 32
MAX_REPEATS: Final = 16  # of one response key in one selection: they are compared pair by pair
MAX_LINES: Final = 2000
MAX_ERRORS: Final = 10  # that are told; some look through the whole text for their lines
TOO_DEEP: Final = "The document is nested too deeply."
_CACHED: Final = 512
_known: Final[OrderedDict[tuple[str, bool], tuple[GraphQLError, ...]]] = OrderedDict()
_RULES: Final = tuple(specified_rules)
_CLOSED_RULES: Final = (*specified_rules, NoSchemaIntrospectionCustomRule)


class _Text(Source):
    """Finds the line of a position without going through all before it, as each error asks for."""

    @cached_property
    def _breaks(self) -> list[tuple[int, int]]:
        """Where each line break begins and ends."""
        return [match.span() for match in re.finditer(r"\r\n|[\n\r]", self.body)]

    def get_location(self, position: int) -> SourceLocation:
        before = bisect_left(self._breaks, (position, 0))
        start = self._breaks[before - 1][1] if before else 0
        return SourceLocation(before + 1, position + 1 - start)


@lru_cache(_CACHED)
def parsed(text: str) -> DocumentNode:
    """A document of at most ``MAX_TOKENS``.

    Raises:
        GraphQLError: it is no document.
        RecursionError: it is nested beyond measure.
    """
    return parse(_Text(text), max_tokens=MAX_TOKENS)


def is_known(text: str, introspection: bool) -> bool:
    """Whether it is remembered what is wrong with a document."""
    return (text, introspection) in _known


def faults(schema: GraphQLSchema, text: str, introspection: bool) -> tuple[GraphQLError, ...]:
    """What is wrong with a document; ``introspection``: it may ask for the schema.

    Known by the text: the hash of a document's tree takes longer than the rest of a repeated move.
    """
    key = (text, introspection)
    found = _known.get(key)
    if found is None:
        found = _known[key] = _faults(schema, text, introspection)
        if len(_known) > _CACHED:
            _known.popitem(last=False)
    else:
        _known.move_to_end(key)
    return found


def _faults(schema: GraphQLSchema, text: str, introspection: bool) -> tuple[GraphQLError, ...]:
    try:
        document = parsed(text)
        if text.count("\n") + text.count("\r") >= MAX_LINES:
            return (GraphQLError(f"The document may have {MAX_LINES} lines."),)
        misshapen = _Shape(document).fault()
        if misshapen is not None:
            return (GraphQLError(misshapen),)
        rules = _RULES if introspection else _CLOSED_RULES
        # "Did you mean ..." tells the schema a name at a time.
        return tuple(validate(schema, document, rules, MAX_ERRORS, not introspection))
    except RecursionError:
        return (GraphQLError(TOO_DEEP),)


class _Shape:
    """How deep and how wide a document is, without a look at the schema."""

    def __init__(self, document: DocumentNode) -> None:
        self._document = document
        self._fragments = {
            d.name.value: d for d in document.definitions if isinstance(d, FragmentDefinitionNode)
        }
        self._depths: dict[str, int] = {}
        self._aliases = self._directives = self._repeats = 0

    def fault(self) -> str | None:
        """The first limit that it breaks, as a sentence."""
        for definition in self._document.definitions:
            self._directives += len(getattr(definition, "directives", None) or ())
            chosen = getattr(definition, "selection_set", None)
            if isinstance(chosen, SelectionSetNode):
                self._count(chosen)
        for found, most, what in (
            (self._aliases, MAX_ALIASES, "aliases"),
            (self._directives, MAX_DIRECTIVES, "directives"),
            (self._repeats, MAX_REPEATS, "repetitions of one field"),
        ):
            if found > most:
                return f"The document has {found} {what}; it may have {most}."
        deepest = max((self._depth(chosen) for chosen in self._selections()), default=0)
        return TOO_DEEP if deepest > MAX_DEPTH else None

    def _selections(self) -> Iterator[SelectionSetNode]:
        for definition in self._document.definitions:
            chosen = getattr(definition, "selection_set", None)
            if isinstance(chosen, SelectionSetNode):
                yield chosen

    def _count(self, chosen: SelectionSetNode) -> None:
        keys: Counter[str] = Counter()
        for selection in chosen.selections:
            self._directives += len(selection.directives or ())
            if isinstance(selection, FieldNode):
                self._aliases += selection.alias is not None
                keys[(selection.alias or selection.name).value] += 1
            elif isinstance(selection, FragmentSpreadNode):
                continue
            inner = getattr(selection, "selection_set", None)
            if inner is not None:
                self._count(inner)
        self._repeats = max(self._repeats, *keys.values(), 0)

    def _depth(self, chosen: SelectionSetNode) -> int:
        """The longest way down in fields; introspection counts as one unless it is too deep."""
        deepest = 0
        for selection in chosen.selections:
            if isinstance(selection, FragmentSpreadNode):
                depth = self._fragment_depth(selection.name.value)
            else:
                inner: SelectionSetNode | None = getattr(selection, "selection_set", None)
                depth = 0 if inner is None else self._depth(inner)
                if isinstance(selection, FieldNode):
                    if selection.name.value.startswith("__") and depth <= MAX_INTROSPECTION_DEPTH:
                        depth = 0
                    depth += 1
            deepest = max(deepest, depth)
        return deepest

    def _fragment_depth(self, name: str) -> int:
        fragment = self._fragments.get(name)
        if fragment is None:
            return 0
        if name not in self._depths:
            self._depths[name] = 0  # a cycle ends here; validation tells of it
            self._depths[name] = self._depth(fragment.selection_set)
        return self._depths[name]
