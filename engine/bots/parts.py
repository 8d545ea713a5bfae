"""What the parts of a hand hold, each worked out once, for ``engine.bots.playouts``.

A part is a longest stretch of neighbours that differ by one at most. No set reaches over two parts,
so a hand holds what its parts hold; and there are few different ones.

A part is told by one number. From its high bits to its low ones: the strength of its strongest set,
a serial number, how many cards it has. So the greatest number of a hand is that of the part with
the strongest set, and a sum of numbers tells how many cards come before a part. Nearly all are
below 2 ** 30, where Python is quickest.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, TypeVar

from engine.sets import COUNT, rank, strength

K = TypeVar("K")
V = TypeVar("V")
Part = int
Parts = list[Part]
# An active set: its strength, its left and its right top, what a card taken from there leaves.
Table = tuple[int, int, int, Any, Any]
# A set in a part: its strength, its first card there, its size, what is left of the part, the set.
Found = tuple[int, int, int, tuple[Part, ...], Table]

CARDS: Final = (1 << 7) - 1  # the bits of a part that hold how many cards it has
_SERIAL: Final = 7
STRONGEST: Final = 21  # the strength of the strongest set from this bit on
MOST_PARTS: Final = 1 << 13  # half of what serial numbers there are for
NO_PART: Final = 0
_CHUNK: Final = 3  # cards of a hand that are looked up at once; more are not quicker
NO_TABLE: Final[Table] = (0, 0, 0, None, None)


class Facts(NamedTuple):
    """What is known of a part: its tops, the longest sets at its ends, told from the end on.

    ``longest`` has the sets of the most cards: strength and first card.
    """

    tops: bytes
    head: bytes
    tail: bytes
    longest: Sequence[tuple[int, int]]


class Once(dict[K, V]):
    """What a function returns, by its argument; all is forgotten when it has ``most`` of them."""

    def __init__(self, function: Callable[[K], V], most: int = 1 << 14) -> None:
        super().__init__()
        self._function, self._most = function, most

    def __missing__(self, argument: K) -> V:
        if len(self) >= self._most:
            self.clear()
        found = self[argument] = self._function(argument)
        return found


def of_parts(function: Callable[[K], V]) -> Once[K, V]:
    """A table that numbers of parts are in, and that is forgotten with them."""
    table = Once(function)
    _tables_of_parts.append(table)
    return table


def _part(tops: bytes) -> Part:
    runs = [*_runs(tops)]
    strongest = max(runs)[0]
    part = strongest << STRONGEST | len(facts) << _SERIAL | len(tops)
    longest = sorted(run for run in runs if run[0] >> COUNT == strongest >> COUNT)
    head, tail = runs[0][0] >> COUNT, runs[-1][0] >> COUNT
    facts[part] = Facts(tops, tops[:head], tops[::-1][:tail], longest)
    structure[part] = sum([_squares(worth >> COUNT) for worth, _ in runs])
    return part


def _runs(tops: bytes) -> Iterator[tuple[int, int]]:
    """The sets of a part that are in no longer ones, from the left: strength and first card."""
    first, last = 0, len(tops) - 1
    if not last:
        yield rank(1, 0, tops[0]), 0
    while first < last:
        step = tops[first + 1] - tops[first]
        end = first + 1
        while end < last and tops[end + 1] - tops[end] == step:
            end += 1
        yield rank(end - first + 1, not step, min(tops[first], tops[end])), first
        first = end


@cache
def _squares(size: int) -> int:
    """The squares of the sizes of all sets within one, singles left out."""
    return sum([squares_with(0, after) for after in range(size)])


@cache
def squares_with(before: int, after: int) -> int:
    """The squares of the sizes of the sets with a card that has so many others on its sides."""
    sizes = [i + j + 1 for i in range(before + 1) for j in range(after + 1)]
    return sum([size * size for size in sizes if size > 1])


def pieces_of(tops: bytes) -> tuple[Part, ...]:
    """The parts of a stretch of cards from the left."""
    pieces, begin = [], 0
    for end in range(1, len(tops)):
        if not -2 < tops[end] - tops[end - 1] < 2:
            pieces.append(part_of[tops[begin:end]])
            begin = end
    if tops:
        pieces.append(part_of[tops[begin:]])
    return tuple(pieces)


def parts_of(tops: bytes) -> Parts:
    """The parts of a hand from the left."""
    parts = [*_chunks[tops[:_CHUNK]]]
    for begin in range(_CHUNK, len(tops), _CHUNK):
        more = _chunks[tops[begin : begin + _CHUNK]]
        if -2 < tops[begin - 1] - tops[begin] < 2:
            parts[-1] = joined[parts[-1], more[0]]
            parts += more[1:]
        else:
            parts += more
    return parts


def _joined(pair: tuple[Part, Part]) -> Part:
    left, right = facts[pair[0]].tops, facts[pair[1]].tops
    return part_of[left + right] if -2 < left[-1] - right[0] < 2 else NO_PART


def mend(parts: Parts, low: int, high: int, pieces: Sequence[Part]) -> None:
    """Put pieces in the place of parts, in place; what then hangs together is one part.

    No two of the pieces do.
    """
    if not pieces:
        whole = joined[parts[low - 1], parts[high]] if low > 0 and high < len(parts) else NO_PART
        if whole:
            parts[low - 1 : high + 1] = [whole]
        else:
            del parts[low:high]
        return
    if low and (whole := joined[parts[low - 1], pieces[0]]):
        low, pieces = low - 1, (whole, *pieces[1:])
    if high < len(parts) and (whole := joined[pieces[-1], parts[high]]):
        high, pieces = high + 1, (*pieces[:-1], whole)
    parts[low:high] = pieces


def _table(tops: bytes) -> Table:
    if not tops:
        return NO_TABLE
    return (strength(tops), tops[0], tops[-1], tables[tops[1:]], tables[tops[:-1]])


def found_at(tops: bytes, first: int, size: int) -> Found:
    """The set of so many cards from one of a stretch on."""
    table = tables[tops[first : first + size]]
    return table[0], first, size, pieces_of(tops[:first] + tops[first + size :]), table


def _longest(part: Part) -> list[Found]:
    tops, _, _, longest = facts[part]
    return [found_at(tops, first, worth >> COUNT) for worth, first in longest]


def place_before(parts: Parts, top: int, worth: int) -> tuple[int, int, Found]:
    """Put a card before a hand, in place, and look for the first set of a strength it had before.

    Returns the set's part, its first card in the hand, and what it is in its part.
    """
    at = next(at for at, part in enumerate(parts) if part >> STRONGEST == worth)
    _, first, size, _, _ = next(found for found in longest[parts[at]] if found[0] == worth)
    first += (sum(parts[:at]) & CARDS) + 1
    mend(parts, 0, 0, (part_of[bytes([top])],))
    at, position = 0, first
    while position >= parts[at] & CARDS:
        position -= parts[at] & CARDS
        at += 1
    return at, first, found_at(facts[parts[at]].tops, position, size)


_tables_of_parts: list[Once[Any, Any]] = []
_NOTHING: Final = Facts(b"", b"", b"", ())
facts: dict[Part, Facts] = {NO_PART: _NOTHING}
structure: dict[Part, int] = {}
part_of = of_parts(_part)  # by its tops
joined = of_parts(_joined)  # two neighbours as one part; ``NO_PART``: they are two
longest = of_parts(_longest)  # the sets of the most cards, the weakest first
tables = Once(_table)  # active sets by their tops
_chunks = of_parts(pieces_of)  # by some neighbours in a hand


def make_room() -> None:
    """Forget all parts if they are many; not while a round is played."""
    if len(facts) > MOST_PARTS:
        for table in _tables_of_parts:
            table.clear()
        structure.clear()
        facts.clear()
        facts[NO_PART] = _NOTHING
