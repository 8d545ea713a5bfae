"""The rules of one action: what it leads to, or the first reason why it is refused."""

from typing import assert_never

from engine.actions import Action, ChooseHand, End, Scout, ScoutAndShow, Show
from engine.errors import Reason, RuleError
from engine.events import CardScouted, Event, HandChosen, PlayEnded, SetShown
from engine.evolve import evolve, fold, round_of
from engine.rules import rules_of
from engine.sets import kind_of, sets_in, strength, tops_of
from engine.state import Ending, Match, Round, RoundEnd, Status


def play(match: Match, action: Action) -> tuple[Event, ...]:
    """The events of an action, the end of the round included.

    Raises:
        RuleError: the first check of the rules' order that fails.
    """
    round_ = _expect_turn(match, action)
    match action:
        case ChooseHand():
            return (_choose(round_, action),)
        case Show():
            events: tuple[Event, ...] = (_show(match, round_, action),)
        case Scout():
            _expect_scoutable(match, round_, action.seat)
            events = (_scout(match, round_, action, and_show=False),)
        case ScoutAndShow():
            events = _scout_and_show(match, round_, action)
        case _:
            assert_never(action)
    return events + _end_of_round(match, events)


def _expect_turn(match: Match, action: Action) -> Round:
    if not 0 <= action.seat < match.players:
        raise RuleError(Reason.INVALID_INPUT, "seat")
    if match.status.over:
        raise RuleError(Reason.MATCH_OVER)
    round_ = match.round
    choosing = isinstance(action, ChooseHand)
    if round_ is None or match.status is not (Status.CHOOSING if choosing else Status.PLAYING):
        raise RuleError(Reason.WRONG_PHASE)
    if choosing and round_.chosen[action.seat]:
        raise RuleError(Reason.HAND_ALREADY_CHOSEN)
    if not choosing and round_.turn != action.seat:
        raise RuleError(Reason.NOT_YOUR_TURN)
    return round_


def _choose(round_: Round, action: ChooseHand) -> HandChosen:
    last = sum(round_.chosen) == len(round_.chosen) - 1
    return HandChosen(action.seat, action.flip, round_.starter if last else None)


def _show(match: Match, round_: Round, action: Show) -> SetShown:
    hand, first, count = round_.hands[action.seat], action.first, action.count
    if first < 0 or count < 1 or first + count > len(hand):
        raise RuleError(Reason.BAD_RANGE, "first" if not 0 <= first < len(hand) else "count")
    cards = hand[first : first + count]
    tops = tops_of(cards)
    kind = kind_of(tops)
    if kind is None:
        raise RuleError(Reason.NOT_A_SET)
    if strength(tops) <= strength(tops_of(round_.table)):
        raise RuleError(Reason.SET_TOO_LOW)
    after = (action.seat + 1) % match.players
    return SetShown(action.seat, first, cards, kind, len(round_.table), after)


def _expect_scoutable(match: Match, round_: Round, seat: int) -> None:
    if not round_.table:
        raise RuleError(Reason.NO_ACTIVE_SET)
    if round_.owner == seat:
        raise RuleError(Reason.OWN_SET)
    if match.players == 2 and round_.chips[seat] == 0:
        raise RuleError(Reason.NO_CHIPS)


def _scout(match: Match, round_: Round, action: Scout, *, and_show: bool) -> CardScouted:
    seat = action.seat
    if not 0 <= action.insert_at <= len(round_.hands[seat]):
        raise RuleError(Reason.BAD_INSERTION, "insertAt")
    owner = round_.owner
    if owner is None:
        raise ValueError("a set without an owner")
    pays_self = match.players == 2
    chips = list(round_.chips)
    if pays_self:
        chips[seat] -= 1
    else:
        chips[owner] += 1
    return CardScouted(
        seat=seat,
        end=action.end,
        card=round_.table[0] if action.end is End.LEFT else round_.table[-1],
        owner=owner,
        insert_at=action.insert_at,
        flip=action.flip,
        chips=tuple(chips),
        and_show=and_show,
        turn=seat if pays_self or and_show else (seat + 1) % match.players,
    )


def _scout_and_show(match: Match, round_: Round, action: ScoutAndShow) -> tuple[Event, ...]:
    if match.players == 2:
        raise RuleError(Reason.SCOUT_AND_SHOW_UNAVAILABLE)
    if round_.scout_and_show_spent[action.seat]:
        raise RuleError(Reason.SCOUT_AND_SHOW_SPENT)
    _expect_scoutable(match, round_, action.seat)
    scout, show = action.halves()
    scouted = _scout(match, round_, scout, and_show=True)
    between = evolve(match, scouted)
    return (scouted, _show(between, round_of(between), show))


def _end_of_round(match: Match, events: tuple[Event, ...]) -> tuple[Event, ...]:
    after = fold(match, events)
    ending = _ending(after, round_of(after), shown=isinstance(events[-1], SetShown))
    return () if ending is None else (PlayEnded(ending),)


def _ending(match: Match, round_: Round, *, shown: bool) -> Ending | None:
    shower, rules = round_.last_shower, rules_of(match.rules_version)
    if shown and shower is not None and not round_.hands[shower]:
        return Ending(RoundEnd.HAND_EMPTIED, shower)
    if match.players == 2:
        if _is_stuck(round_):
            return Ending(RoundEnd.STUCK, round_.owner)
    elif round_.scouts_in_a_row == match.players - 1 and (
        round_.table or rules.dry_table_ends_round
    ):
        return Ending(RoundEnd.ALL_SCOUTED, shower)
    if round_.actions >= rules.action_limit:
        return Ending(RoundEnd.ACTION_LIMIT, None)
    return None


def _is_stuck(round_: Round) -> bool:
    # Two players: an active set, no chip, no legal show (rules: STUCK).
    seat = round_.turn
    if seat is None or not round_.table or round_.chips[seat]:
        return False
    return not sets_in(tops_of(round_.hands[seat]), beating=strength(tops_of(round_.table)))
