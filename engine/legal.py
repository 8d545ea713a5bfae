"""What the viewer's own seat may do, from its view alone (rules: Show, Scout, Scout & Show)."""

from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, assert_never

from engine.actions import Action, ChooseHand, End, Scout, ScoutAndShow, Show
from engine.cards import Card, Cards
from engine.evolve import inserted
from engine.sets import SetAt, sets_in, sets_with, strength, tops_of
from engine.state import Status
from engine.views import OwnSeat, RoundView, View


@dataclass(frozen=True, slots=True)
class ScoutThenShows:
    """A scout and every show that it allows; ``first`` of a show counts after the insertion."""

    end: End
    insert_at: int
    flip: bool
    shows: tuple[SetAt, ...]


def may_choose(view: View) -> bool:
    """Whether the viewer may still choose which way up to hold the hand."""
    you = view.you
    return (
        view.status is Status.CHOOSING and you is not None and not view.seats[you.seat].has_chosen
    )


def shows(view: View) -> tuple[SetAt, ...]:
    """Every set that the viewer may show now, from the left."""
    turn = _turn(view)
    if turn is None:
        return ()
    you, round_ = turn
    return _shows(you.hand, round_.table)


def scout_ends(view: View) -> tuple[End, ...]:
    """The ends that the viewer may scout from; with one card both ends are the same card."""
    turn = _turn(view)
    return (End.LEFT, End.RIGHT) if turn is not None and _may_scout(view, *turn) else ()


def shows_after_scout(view: View, end: End, insert_at: int, flip: bool) -> tuple[SetAt, ...]:
    """The shows that a Scout & Show with this scout allows; none if the scout is not legal."""
    turn = _turn(view)
    if turn is None or not _may_scout_and_show(view, *turn):
        return ()
    you, round_ = turn
    if not 0 <= insert_at <= len(you.hand):
        return ()
    card, left = taken(round_.table, end, flip)
    return _shows(inserted(you.hand, card, insert_at), left)


def scout_and_shows(view: View) -> tuple[ScoutThenShows, ...]:
    """Every scout that allows a show, with the shows it allows."""
    turn = _turn(view)
    if turn is None or not _may_scout_and_show(view, *turn):
        return ()
    you, round_ = turn
    found: list[ScoutThenShows] = []
    for end in End:
        found += _scouts_then_shows(tops_of(you.hand), round_.table, end)
    return tuple(found)


def scout_and_show_is_legal(view: View) -> bool:
    """Whether at least one Scout & Show is legal; stops at the first found."""
    turn = _turn(view)
    if turn is None or not _may_scout_and_show(view, *turn):
        return False
    you, _ = turn
    return any(
        shows_after_scout(view, end, gap, flip)
        for end in End
        for flip in (False, True)
        for gap in range(len(you.hand) + 1)
    )


def legal_actions(view: View) -> list[Action]:
    """Every action that ``decide`` accepts from the viewer's seat now; none for spectators."""
    you = view.you
    if you is None:
        return []
    seat = you.seat
    if may_choose(view):
        return [ChooseHand(seat, False), ChooseHand(seat, True)]
    actions: list[Action] = [Show(seat, show.first, show.size) for show in shows(view)]
    actions += [
        Scout(seat, end, gap, flip)
        for end in scout_ends(view)
        for gap in range(len(you.hand) + 1)
        for flip in (False, True)
    ]
    for option in scout_and_shows(view):
        actions += _scout_and_show_actions(seat, option)
    return actions


def _turn(view: View) -> tuple[OwnSeat, RoundView] | None:
    you, round_ = view.you, view.round
    if (
        view.status is not Status.PLAYING
        or you is None
        or round_ is None
        or round_.turn != you.seat
    ):
        return None
    return you, round_


def _may_scout(view: View, you: OwnSeat, round_: RoundView) -> bool:
    if not round_.table or round_.owner == you.seat:
        return False
    return len(view.seats) > 2 or view.seats[you.seat].scout_chips > 0


def _may_scout_and_show(view: View, you: OwnSeat, round_: RoundView) -> bool:
    return view.seats[you.seat].scout_and_show_available and _may_scout(view, you, round_)


def _shows(hand: Cards, table: Cards) -> tuple[SetAt, ...]:
    return tuple(reversed(sets_in(tops_of(hand), strength(tops_of(table)))))


def taken(table: Cards, end: End, flip: bool) -> tuple[Card, Cards]:
    """The card that a scout takes, the way up it is held, and what it leaves of the active set."""
    card, left = (table[0], table[1:]) if end is End.LEFT else (table[-1], table[:-1])
    return (card.turned() if flip else card), left


def is_legal(view: View, action: Action) -> bool:
    """Whether ``decide`` accepts the action from the viewer's seat now."""
    you = view.you
    if you is None or action.seat != you.seat:
        return False
    match action:
        case ChooseHand():
            return may_choose(view)
        case Show():
            options = shows(view)
        case Scout():
            return action.end in scout_ends(view) and 0 <= action.insert_at <= len(you.hand)
        case ScoutAndShow():
            options = shows_after_scout(view, action.end, action.insert_at, action.flip)
        case _:
            assert_never(action)
    return any((o.first, o.size) == (action.first, action.count) for o in options)


def _scouts_then_shows(tops: list[int], table: Cards, end: End) -> Iterator[ScoutThenShows]:
    # A card in a gap leaves the sets to both sides as they are, so only those with it are new.
    beating = strength(tops_of(taken(table, end, flip=False)[1]))
    found = sets_in(tops, beating)[::-1]
    moved = [SetAt(first + 1, size, kind, worth) for first, size, kind, worth in found]
    firsts = [s.first for s in moved]
    gaps = range(len(tops) + 1)
    before = [[s for s in found[: bisect(firsts, gap)] if s[0] + s[1] <= gap] for gap in gaps]
    after = [moved[bisect(firsts, gap) :] for gap in gaps]
    for flip in (False, True):
        top = taken(table, end, flip)[0].top
        for gap in gaps:
            options = (*before[gap], *sets_with(tops, top, gap, beating), *after[gap])
            if options:
                yield ScoutThenShows(end, gap, flip, options)


class _AfterScout(dict[int, ScoutAndShow]):
    """The Scout & Shows that begin with one scout, each made when first asked for.

    A position has up to some 3,200, and making a frozen dataclass takes longer than finding that
    it is legal. Between positions most are alike.
    """

    def __init__(self, seat: int, end: End, gap: int, flip: bool) -> None:
        super().__init__()
        self._scout = seat, end, gap, flip

    def __missing__(self, show: int) -> ScoutAndShow:
        made = self[show] = ScoutAndShow(*self._scout, *divmod(show, _FIRST))
        return made


_FIRST: Final = 1 << 6  # a show's number is its first card times this, and how many there are
_after_scout = lru_cache(maxsize=1 << 10)(_AfterScout)  # of hands up to 12 cards there are 260


def _scout_and_show_actions(seat: int, option: ScoutThenShows) -> list[ScoutAndShow]:
    made = _after_scout(seat, option.end, option.insert_at, option.flip)
    return [made[first * _FIRST + size] for first, size, _, _ in option.shows]
