"""Rounds that ``regular`` plays against itself, to be played by the thousand.

Nothing here knows a rule or a choice better: a deal leads to the same actions and points as it does
by ``engine.decide`` and ``engine.bots.greedy``, and a test plays both.
"""

from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Final

from engine.actions import Action, ChooseHand, End, Scout, ScoutAndShow, Show
from engine.bots.gaps import SMALL, gains, made, puts, worths
from engine.bots.parts import (
    CARDS,
    NO_PART,
    NO_TABLE,
    STRONGEST,
    Found,
    Parts,
    Table,
    longest,
    make_room,
    mend,
    parts_of,
    place_before,
    structure,
)
from engine.cards import HIGHEST, PLAYER_COUNTS, Cards
from engine.rules import CURRENT, rules_of
from engine.scoring import result_of
from engine.sets import COUNT
from engine.state import CHIPS_OF_TWO, Ending, RoundEnd, RoundResult

_gains_of, _worths_of, _structure_of = gains.__getitem__, worths.__getitem__, structure.__getitem__
# Parts that hold a set: from this one on, before that one; its first card in the hand; the set.
Place = tuple[int, int, int, Found]
_RULES: Final = rules_of(CURRENT)
_ENDS: Final = (End.LEFT, End.RIGHT)
# What a row has for a card, by ten times its top and its underside.
_of_card: Final = [itemgetter(card) for card in range(HIGHEST * (HIGHEST + 1) + 1)]


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
    make_room()
    return _Playout(hands, actions).play(starter)


class _Playout:
    """A round in play, changed in place. A hand is its parts, and the undersides of its cards."""

    __slots__ = ("actions", "captured", "chips", "hands", "players", "spent", "undersides")

    def __init__(self, hands: Sequence[Cards], actions: list[Action] | None) -> None:
        self.players = len(hands)
        self.hands: list[Parts] = []
        self.undersides: list[bytearray] = []
        self.captured = [0] * self.players
        self.chips = [CHIPS_OF_TWO if self.players == 2 else 0] * self.players
        self.spent = [self.players == 2] * self.players
        self.actions = actions
        for seat, hand in enumerate(hands):
            self._choose(seat, *map(bytes, zip(*hand, strict=True)))

    def _choose(self, seat: int, tops: bytes, bottoms: bytes) -> None:
        kept, turned = parts_of(tops), parts_of(bottoms)
        flip = sum(map(_structure_of, turned)) > sum(map(_structure_of, kept))
        self.hands.append(turned if flip else kept)
        self.undersides.append(bytearray(tops if flip else bottoms))
        if self.actions is not None:
            self.actions.append(ChooseHand(seat, flip))

    def play(self, starter: int) -> RoundResult:
        """Play on to the end; the points."""
        hands, undersides, spent, players = self.hands, self.undersides, self.spent, self.players
        captured, chips = self.captured, self.chips
        turn = shower = starter  # whose the active set is
        table, laid = NO_TABLE, bytearray()  # the active set and its undersides
        scouts = 0  # since the last show
        for _ in range(_RULES.action_limit):
            parts = hands[turn]
            strongest = max(parts) >> STRONGEST
            place = None
            if strongest > table[0]:
                place = self._show(turn, strongest, table[0])
            elif not spent[turn]:
                place = self._scout_and_show(turn, strongest, table, laid)
                chips[shower] += place is not None
            if place is None:
                table = self._scout(turn, table, laid)
                scouts += 1
                if players == 2:
                    chips[turn] -= 1
                else:
                    chips[shower] += 1
                    if scouts == players - 1 and (table[0] or _RULES.dry_table_ends_round):
                        return self._result(RoundEnd.ALL_SCOUTED, shower)
                    turn = (turn + 1) % players
            else:
                low, high, first, (_, _, size, pieces, table) = place
                captured[turn] += len(laid)
                held = undersides[turn]
                laid = held[first : first + size]
                del held[first : first + size]
                mend(parts, low, high, pieces)
                if not parts:
                    return self._result(RoundEnd.HAND_EMPTIED, turn)
                shower, scouts, turn = turn, 0, (turn + 1) % players
            if players == 2 and self._stuck(turn, table):
                return self._result(RoundEnd.STUCK, shower)
        return self._result(RoundEnd.ACTION_LIMIT, None)

    def _show(self, seat: int, strongest: int, beating: int) -> Place:
        """The weakest of the longest sets that beat the active set, the first of equals."""
        parts = self.hands[seat]
        least = strongest >> COUNT << COUNT
        least = (least if least > beating else beating + 1) << STRONGEST
        weakest = strongest + 1
        for at, part in enumerate(parts):
            if part >= least:
                for found in longest[part]:
                    if found[0] > beating:
                        if found[0] < weakest:
                            weakest, low, best = found[0], at, found
                        break
        first = (sum(parts[:low]) & CARDS) + best[1]
        if self.actions is not None:
            self.actions.append(Show(seat, first, best[2]))
        return low, low + 1, first, best

    def _scout(self, seat: int, table: Table, laid: bytearray) -> Table:
        """Scout as it links best, the first of equals; what is left on the table."""
        parts = self.hands[seat]
        _, left, right, without_left, without_right = table
        around = [NO_PART, *parts, NO_PART]
        rows = [*map(_gains_of, pairwise(around))]
        column = [*map(_of_card[left * 10 + laid[0]], rows)]
        other = [*map(_of_card[right * 10 + laid[-1]], rows)]
        most, most_right = max(column), max(other)
        if from_right := most_right >> 1 > most >> 1:
            column, most = other, most_right
            top, under, table = right, laid.pop(), without_right
        else:
            top, under, table = left, laid.pop(0), without_left
        if flip := not most & 1:
            top, under = under, top
        at = column.index(most)
        offset, pieces = puts[around[at], around[at + 1], top]
        gap = (sum(parts[:at]) & CARDS) + offset
        parts[at - 1 if at else 0 : at + 1] = pieces
        self.undersides[seat].insert(gap, under)
        if self.actions is not None:
            self.actions.append(Scout(seat, _ENDS[from_right], gap, flip))
        return table

    def _scout_and_show(
        self, seat: int, strongest: int, table: Table, laid: bytearray
    ) -> Place | None:
        """Scout for the strongest Scout & Show, the first of equals, if one is worth the chip."""
        parts = self.hands[seat]
        _, left, right, without_left, without_right = table
        around = [NO_PART, *parts, NO_PART]
        rows = [*map(_worths_of, pairwise(around))]
        column = [*map(_of_card[left * 10 + laid[0]], rows)]
        other = [*map(_of_card[right * 10 + laid[-1]], rows)]
        most, most_right = max(column), max(other)
        own = strongest - SMALL if strongest > SMALL else 0
        best, best_right = most >> 1, most_right >> 1
        if own:
            best, best_right = max(own, best), max(own, best_right)
        if best + SMALL <= without_left[0]:
            best = 0
        if from_right := best_right > best and best_right + SMALL > without_right[0]:
            column, most, best = other, most_right, best_right
        if not best:
            return None
        top, under = (right, laid.pop()) if from_right else (left, laid.pop(0))
        if flip := best > own and not most & 1:
            top, under = under, top
        worth, offset = best + SMALL, -1
        at = column.index(most) if best > own else 0
        if best > own or column[0] == 2 * best + 1:
            offset, found = made[around[at], around[at + 1], top, worth]
        if best > own or not offset:
            gap = (sum(parts[:at]) & CARDS) + offset
            first = gap - offset - (around[at] & CARDS) + found[1]
            low, high = at - 1 if at else 0, at + 1
        else:  # with the card before the whole hand a set that was there comes first
            gap = 0
            low, first, found = place_before(parts, top, worth)
            high = low + 1
        self.undersides[seat].insert(gap, under)
        self.spent[seat] = True
        if self.actions is not None:
            end, size = _ENDS[from_right], found[2]
            self.actions.append(ScoutAndShow(seat, end, gap, flip, first, size))
        return low, high, first, found

    def _stuck(self, turn: int, table: Table) -> bool:
        """Whether one of two cannot beat the active set and has no chip left to scout with."""
        if not table[0] or self.chips[turn]:
            return False
        return max(self.hands[turn]) >> STRONGEST <= table[0]

    def _result(self, reason: RoundEnd, ender: int | None) -> RoundResult:
        left = [len(undersides) for undersides in self.undersides]
        return result_of(Ending(reason, ender), left, self.captured, self.chips)
