"""What a position must not contradict: the cards there are, and how a round goes (rules.md)."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from engine.cards import HAND_SIZE, ROUNDS, Card, deck
from engine.evolve import round_of
from engine.notation.cards import format_card
from engine.notation.words import NotationError
from engine.rules import rules_of
from engine.sets import kind_of, tops_of
from engine.state import CHIPS_OF_TWO, Match, Round, RoundEnd, Status

HIDDEN: Final = Card(0, 0)  # stands for each card that a viewer does not see


def check(match: Match, *, full: bool) -> None:
    """Accept a position that play could lead to, as far as counting tells.

    ``full``: all is known. Otherwise it is a view: there are hidden cards, and neither the last
    shower, nor the number of actions, nor, before it is scored, the end of the round.

    Raises:
        NotationError: the first fault found.
    """
    faults = (_cards, _phase, _before_a_show, _turn, _scouts, _end, *((_full,) if full else ()))
    for find in faults:
        for fault in find(match, round_of(match)):
            raise NotationError(fault)


def _is_fresh(r: Round) -> bool:
    # A show leaves cards on the table, and only scouts take the last of them.
    return not r.table and r.scouts_in_a_row == 0


def _all_scouts(match: Match, r: Round) -> int:
    chips = sum(r.chips)
    return match.players * CHIPS_OF_TWO - chips if match.players == 2 else chips


def _cards(match: Match, r: Round) -> Iterator[str]:
    n = match.players
    used, all_dealt = set(deck(n)), n * HAND_SIZE[n]
    seen = Counter(
        Card(*sorted(card)) for cards in (*r.hands, r.table) for card in cards if card != HIDDEN
    )
    for card, times in seen.items():
        if times > 1:
            yield f"hands, table: {format_card(card)} is there {times} times"
        if card not in used:
            yield f"hands, table: {format_card(card)} is not in the deck of {n} players"
    if r.table and kind_of(tops_of(r.table)) is None:
        yield "table: these cards are no set"
    if sum(map(len, r.hands)) + len(r.table) + sum(r.captured) != all_dealt:
        yield f"hands, table, captured: together they are not {all_dealt} cards"


def _phase(match: Match, r: Round) -> Iterator[str]:
    status, last = match.status, ROUNDS[match.players]
    if not 1 <= r.number <= last or (status is Status.FINISHED and r.number < last):
        yield f"round: {status} cannot be in round {r.number} of {last}"
    if all(r.chosen) == (status is Status.CHOOSING):
        yield "chosen: as long as not all have, and no longer, the phase is CHOOSING"
    if (r.turn is not None) != (status is Status.PLAYING):
        yield "turn: there is one in the phase PLAYING and in no other"
    if r.number == 1 and any(match.scores):
        yield "scores: there are none in round 1"


def _before_a_show(match: Match, r: Round) -> Iterator[str]:
    n, status = match.players, match.status
    if not _is_fresh(r):
        if status is Status.CHOOSING:
            yield "table, scouts: nothing is shown in the phase CHOOSING"
        return
    if status not in (Status.CHOOSING, Status.PLAYING):
        yield "table, scouts: the round has ended before the first show"
    if status is Status.PLAYING and r.turn != r.starter:
        yield "turn: the starter acts first"
    chips = CHIPS_OF_TWO if n == 2 else 0
    if (
        any(len(hand) != HAND_SIZE[n] for hand in r.hands)
        or any(held != chips for held in r.chips)
        or any(r.scout_and_show_spent)
    ):
        yield "hands, chips, spent: nothing changes before the first show"


def _turn(match: Match, r: Round) -> Iterator[str]:
    n = match.players
    shower = r.owner if r.last_shower is None else r.last_shower
    if match.status is not Status.PLAYING:
        return
    if not all(r.hands):
        yield "hands: the round has ended when a seat has no card left"
    if shower is not None and r.turn != (shower + 1 + (0 if n == 2 else r.scouts_in_a_row)) % n:
        yield "turn: after the last show and the scouts since, another seat is next"
    if r.table and r.turn == r.owner:
        yield "turn: nobody is faced by a set of the own"


def _scouts(match: Match, r: Round) -> Iterator[str]:
    n, in_a_row, spent = match.players, r.scouts_in_a_row, sum(r.scout_and_show_spent)
    if n > 2 and in_a_row > n - 1:
        yield "scouts: the round has ended when all others have scouted"
    if n == 2 and (max(r.chips) > CHIPS_OF_TWO or spent):
        yield "chips, spent: two players have at most 3 chips and no Scout & Show"
    if in_a_row + spent > _all_scouts(match, r):
        yield "scouts, spent: by the chips there were fewer scouts"


def _end(match: Match, r: Round) -> Iterator[str]:
    n, ending = match.players, r.ending
    if ending is None:
        if match.status is Status.FINISHED:
            yield "end: it is missing"
        return
    reason, ender = ending.reason, ending.ender
    if match.status not in (Status.SCORING, Status.FINISHED):
        yield "end: the round goes on"
    if (ender is None) != (reason is RoundEnd.ACTION_LIMIT):
        yield "end: ACTION_LIMIT, and it alone, has no ender"
    if ender is not None and r.table and ender != r.owner:
        yield "end: the ender has shown the active set"
    empty = [seat for seat, hand in enumerate(r.hands) if not hand]
    if empty != ([ender] if reason is RoundEnd.HAND_EMPTIED else []):
        yield "end: HAND_EMPTIED, and it alone, leaves a seat without cards, the ender"
    if reason in (RoundEnd.HAND_EMPTIED, RoundEnd.STUCK) and not r.table:
        yield f"end: there is a set on the table at {reason}"
    if (n > 2 and reason is RoundEnd.STUCK) or (n == 2 and reason is RoundEnd.ALL_SCOUTED):
        yield f"end: {n} players have no {reason}"
    if reason is RoundEnd.ALL_SCOUTED and r.scouts_in_a_row != n - 1:
        yield "end: not all others have scouted"


def _full(match: Match, r: Round) -> Iterator[str]:
    limit = rules_of(match.rules_version).action_limit
    shown, ending = r.last_shower is not None, r.ending
    if shown == _is_fresh(r) or (r.table and r.owner != r.last_shower):
        yield "shower: it is who showed the set on the table, or the one that was scouted away"
    fewest = _all_scouts(match, r) + 1 if shown else 0
    if r.actions < fewest or (r.actions and not shown):
        yield "actions: they do not fit the shows and scouts"
    if ending is None and match.status is Status.SCORING:
        yield "end: it is missing"
    if ending is not None and ending.ender not in (None, r.last_shower):
        yield "end: the ender is the last shower"
    limited = ending is not None and ending.reason is RoundEnd.ACTION_LIMIT
    if (limited and r.actions < limit) or (ending is None and r.actions >= limit):
        yield f"actions: at {limit} of them, and not before, the round ends for their number"
