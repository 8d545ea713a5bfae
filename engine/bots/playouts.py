"""Rounds that ``regular`` plays against itself, to be played by the thousand.

Nothing here knows a rule or a choice better: a deal leads to the same actions and points as it does
by ``engine.decide`` and ``engine.bots.greedy``, and a test plays both.
"""

from collections.abc import Sequence
from typing import Final

from engine.actions import Action, ChooseHand, End, Scout, ScoutAndShow, Show
from engine.bots.parts import (
    NO_PART,
    SMALL,
    Parts,
    Row,
    beside,
    find,
    first_card,
    first_gap,
    longest_weakest,
    mend,
    parts_of,
    put_between,
    row,
    strength,
    strongest,
    structure,
    take_out,
)
from engine.cards import HIGHEST, PLAYER_COUNTS, Cards
from engine.rules import CURRENT, rules_of
from engine.scoring import result_of
from engine.sets import COUNT, NO_STRENGTH
from engine.state import CHIPS_OF_TWO, Ending, RoundEnd, RoundResult

# The ways to take a card: its end, whether it is turned, where it is and what it leaves.
_WAYS: Final = [
    (end, flip, card, left)
    for end, card, left in (
        (End.LEFT, slice(1), slice(1, None)),
        (End.RIGHT, slice(-1, None), slice(-1)),
    )
    for flip in (False, True)
]
_strongest_of, _structure_of, _row_of = (
    strongest.__getitem__,
    structure.__getitem__,
    row.__getitem__,
)


def play_out(
    hands: Sequence[Cards], starter: int, actions: list[Action] | None = None
) -> RoundResult:
    """Play a round with ``regular`` on every seat, under the current rules; how it ended.

    ``hands``: as dealt, by seat, each left to right, before anyone chose which way up to hold it.
    ``actions`` is given all actions as they are played, the choices first. The same every time.

    Raises:
        ValueError: there are not 2 to 5 hands, one is empty, or the starter has none.
    """
    if len(hands) not in PLAYER_COUNTS or not all(hands) or not 0 <= starter < len(hands):
        raise ValueError("a round has 2 to 5 hands of cards, and one of their holders starts")
    return _Playout(hands, starter, actions).play()


class _Playout:
    """A round in play, changed in place. Cards are the bytes of their tops and undersides."""

    def __init__(self, hands: Sequence[Cards], starter: int, actions: list[Action] | None) -> None:
        self.players = len(hands)
        self.hands: list[Parts] = []
        self.undersides: list[bytes] = []
        self.captured = [0] * self.players
        self.chips = [CHIPS_OF_TWO if self.players == 2 else 0] * self.players
        self.spent = [self.players == 2] * self.players
        self.table = self.table_undersides = b""
        self.strength = NO_STRENGTH
        self.shower = starter  # the last one, whose the active set is
        self.row = 0  # scouts since the last show
        self.played = 0
        self.turn = starter
        rules = rules_of(CURRENT)
        self.action_limit, self.ends_dry = rules.action_limit, rules.dry_table_ends_round
        self.actions = actions
        for seat, hand in enumerate(hands):
            self._choose(seat, *map(bytes, zip(*hand, strict=True)))

    def play(self) -> RoundResult:
        """Play on to the end; the points."""
        ending = None
        while ending is None:
            seat = self.turn
            parts = self.hands[seat]
            best = max(map(_strongest_of, parts))
            if best > self.strength:
                found = longest_weakest(parts, self.strength, best >> COUNT)
                first, count = self._show(*found)
                if self.actions is not None:
                    self.actions.append(Show(seat, first, count))
            else:
                self._scout(parts, best)
            self.played += 1
            ending = self._ending()
        return self._result(ending)

    def _choose(self, seat: int, tops: bytes, bottoms: bytes) -> None:
        kept, turned = parts_of(tops), parts_of(bottoms)
        flip = sum(map(_structure_of, turned)) > sum(map(_structure_of, kept))
        self.hands.append(turned if flip else kept)
        self.undersides.append(tops if flip else bottoms)
        if self.actions is not None:
            self.actions.append(ChooseHand(seat, flip))

    def _show(self, at: int, offset: int, strength: int) -> tuple[int, int]:
        """Show the set of this strength at an offset of a part; its first card and its size."""
        seat, count = self.turn, strength >> COUNT
        parts, undersides = self.hands[seat], self.undersides[seat]
        part, first = parts[at], sum(map(len, parts[:at])) + offset
        self.captured[seat] += len(self.table)
        self.table = part[offset : offset + count]
        self.table_undersides = undersides[first : first + count]
        self.undersides[seat] = undersides[:first] + undersides[first + count :]
        if count == len(part):
            take_out(parts, at)
        else:
            mend(parts, at, (part[:offset], part[offset + count :]))
        self.strength, self.shower, self.row = strength, seat, 0
        self.turn = (seat + 1) % self.players
        return first, count

    def _scout(self, parts: Parts, strongest: int) -> None:
        """A Scout & Show if one is worth the chip, else the scout that links best."""
        seat, table, undersides = self.turn, self.table, self.table_undersides
        rows = list(map(_row_of, zip([NO_PART, *parts], [*parts, NO_PART], strict=True)))
        tops = [table[0], undersides[0]]  # by the ways to take a card
        if len(table) > 1:  # one alone is taken from the left, as the first of equals
            tops += table[-1], undersides[-1]
        if not self.spent[seat]:
            way, worth = self._best_scout_and_show(tops, rows, strongest)
            if worth:
                self._scout_and_show(parts, rows, way, tops[way], worth)
                return
        gains = [row[top] for top in tops for row in rows]
        most = max(gains)
        way, at = divmod(gains.index(most), len(rows))
        offset = 0
        if at < len(parts) and len(parts[at]) > 1:
            offset = first_gap(*beside(parts, at), tops[way], most)
        gap = self._take(way, at, offset)
        self.row += 1
        if self.players > 2:
            self.turn = (seat + 1) % self.players
        if self.actions is not None:
            end, flip, _, _ = _WAYS[way]
            self.actions.append(Scout(seat, end, gap, flip))

    def _best_scout_and_show(
        self, tops: list[int], rows: list[Row], strongest: int
    ) -> tuple[int, int]:
        """The way to take a card and the strength to show then; 0: none is worth the chip."""
        left, right = strength[self.table[1:]], strength[self.table[:-1]]
        own = strongest if strongest > SMALL else 0
        worths = [row[top] for top in [HIGHEST + top for top in tops] for row in rows]
        best, chosen = max(worths), 0
        if best > own and best > max(left, right):
            return worths.index(best) // len(rows), best
        best = 0
        for way in range(len(tops)):
            worth = max(own, *worths[way * len(rows) : (way + 1) * len(rows)])
            if worth > best and worth > (right if way > 1 else left):
                best, chosen = worth, way
        return chosen, best

    def _take(self, way: int, at: int, offset: int) -> int:
        """Scout into a gap before or within part ``at``; the gap of the hand."""
        seat, table, undersides = self.turn, self.table, self.table_undersides
        _, flip, card, left = _WAYS[way]
        top, under = table[card], undersides[card]
        if flip:
            top, under = under, top
        self.table, self.table_undersides = table[left], undersides[left]
        parts, held = self.hands[seat], self.undersides[seat]
        gap = sum(map(len, parts[:at])) + offset
        if offset:
            part = parts[at]
            mend(parts, at, (part[:offset], top, part[offset:]))
        else:
            put_between(parts, at, top)
        self.undersides[seat] = held[:gap] + under + held[gap:]
        self.strength = strength[self.table]
        if self.players == 2:
            self.chips[seat] -= 1
        else:
            self.chips[self.shower] += 1
        return gap

    def _scout_and_show(
        self, parts: Parts, rows: list[Row], way: int, top: int, worth: int
    ) -> None:
        """Play the first Scout & Show of this strength that can be made in this way."""
        seat, key = self.turn, HIGHEST + top
        column = [row[key] for row in rows]
        at = column.index(worth) if worth in column else 0
        around = beside(parts, at)
        offset = first_gap(*around, key, column[at]) if len(around[1]) > 1 else 0
        if worth in map(_strongest_of, parts) and (at or offset or worth != column[0]):
            # With the card before the whole hand, the set that was there moves by one.
            holder, within, _ = longest_weakest(parts, worth - 1, worth >> COUNT)
            first = sum(map(len, parts[:holder])) + within + 1
            gap = self._take(way, 0, 0)
        else:
            back = first_card(*around, offset, top, worth)
            gap = self._take(way, at, offset)
            first = gap + back
        _, count = self._show(*find(parts, first), worth)
        self.spent[seat] = True
        if self.actions is not None:
            end, flip, _, _ = _WAYS[way]
            self.actions.append(ScoutAndShow(seat, end, gap, flip, first, count))

    def _ending(self) -> Ending | None:
        shower = self.shower
        if not self.hands[shower]:
            return Ending(RoundEnd.HAND_EMPTIED, shower)
        if self.players == 2:
            if self.table and not self.chips[self.turn]:
                strongest = max(map(_strongest_of, self.hands[self.turn]))
                if strongest <= self.strength:
                    return Ending(RoundEnd.STUCK, shower)
        elif self.row == self.players - 1 and (self.table or self.ends_dry):
            return Ending(RoundEnd.ALL_SCOUTED, shower)
        if self.played >= self.action_limit:
            return Ending(RoundEnd.ACTION_LIMIT, None)
        return None

    def _result(self, ending: Ending) -> RoundResult:
        left = [len(undersides) for undersides in self.undersides]
        return result_of(ending, left, self.captured, self.chips)
