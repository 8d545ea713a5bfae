"""What an event changes. No rule is decided here: events hold outcomes."""

from collections.abc import Iterable
from typing import Any, TypeVar, assert_never

from engine import events as e
from engine.actions import End
from engine.cards import Card, Cards, flipped
from engine.state import Match, Round, Seat, SeatKind, Status, changed

T = TypeVar("T")


def _with(values: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    return (*values[:index], value, *values[index + 1 :])


def inserted(hand: Cards, card: Card, gap: int) -> Cards:
    """The hand with a card in gap 0 (before the first) to its size (after the last)."""
    return (*hand[:gap], card, *hand[gap:])


def round_of(match: Match) -> Round:
    """The round in play, or the last one.

    Raises:
        ValueError: no round was dealt yet, so what wants one does not belong to this match.
    """
    if match.round is None:
        raise ValueError("an event of play in a match without a round")
    return match.round


def _created(event: e.MatchCreated) -> Match:
    seats = tuple(Seat(s.kind, s.name, s.bot_level, s.player_id, s.entropy) for s in event.seats)
    return Match(
        match_id=event.match_id,
        status=Status.LOBBY,
        visibility=event.visibility,
        seats=seats,
        scores=(0,) * len(seats),
        deck_commitment=event.deck_commitment,
        rules_version=event.rules_version,
        created_at=event.created_at,
        secret=event.secret,
        join_code=event.join_code,
        host=event.host,
        turn_seconds=event.turn_seconds,
        advice=event.advice,
    )


def _dealt(match: Match, event: e.HandsDealt) -> Match:
    seats = len(event.hands)
    dealt = Round(
        number=event.round,
        starter=event.starter,
        hands=event.hands,
        chosen=(False,) * seats,
        captured=(0,) * seats,
        chips=event.chips,
        scout_and_show_spent=(False,) * seats,
    )
    return changed(match, status=Status.CHOOSING, round=dealt, deadline=None)


def _chosen(match: Match, event: e.HandChosen) -> Match:
    r = round_of(match)
    hands = _with(r.hands, event.seat, flipped(r.hands[event.seat])) if event.flip else r.hands
    r = changed(r, hands=hands, chosen=_with(r.chosen, event.seat, True), turn=event.turn)
    if event.turn is None:
        return changed(match, round=r)
    return changed(match, status=Status.PLAYING, round=r, deadline=None)


def _shown(match: Match, event: e.SetShown) -> Match:
    r, seat = round_of(match), event.seat
    hand = r.hands[seat]
    r = changed(
        r,
        hands=_with(r.hands, seat, hand[: event.first] + hand[event.first + len(event.cards) :]),
        captured=_with(r.captured, seat, r.captured[seat] + event.captured),
        table=event.cards,
        owner=seat,
        last_shower=seat,
        scouts_in_a_row=0,
        actions=r.actions + 1,
        turn=event.turn,
    )
    return changed(match, round=r, deadline=None)


def _scouted(match: Match, event: e.CardScouted) -> Match:
    r, seat = round_of(match), event.seat
    table = r.table[1:] if event.end is End.LEFT else r.table[:-1]
    card = event.card.turned() if event.flip else event.card
    spent = r.scout_and_show_spent
    r = changed(
        r,
        hands=_with(r.hands, seat, inserted(r.hands[seat], card, event.insert_at)),
        chips=event.chips,
        scout_and_show_spent=_with(spent, seat, True) if event.and_show else spent,
        table=table,
        owner=r.owner if table else None,
        scouts_in_a_row=r.scouts_in_a_row + 1,
        # A Scout & Show is one action: its show counts.
        actions=r.actions if event.and_show else r.actions + 1,
        turn=event.turn,
    )
    return changed(match, round=r, deadline=None)


def _seated(match: Match, seat: int, **changes: Any) -> Match:
    """The match with something changed about who sits on a seat."""
    return changed(match, seats=_with(match.seats, seat, changed(match.seats[seat], **changes)))


def _left(match: Match, event: e.PlayerLeft) -> Match:
    seat = Seat(SeatKind.OPEN)
    if event.bot_level is not None:
        old = match.seats[event.seat]
        # The entropy given stays: the deals are derived from it.
        seat = Seat(SeatKind.BOT, old.name, event.bot_level, None, old.entropy)
    return changed(match, seats=_with(match.seats, event.seat, seat), host=event.host)


def evolve(  # noqa: C901, PLR0912 - one case per event
    match: Match | None, event: e.Event
) -> Match:
    """The match after one event; None only before ``MatchCreated``.

    Raises:
        ValueError: the event cannot follow this state, so the log is damaged.
    """
    if isinstance(event, e.MatchCreated):
        if match is not None:
            raise ValueError("a match is created once")
        return _created(event)
    if match is None:
        raise ValueError("the log does not begin with the match's creation")
    match event:
        case e.PlayerJoined():
            seat = Seat(SeatKind.PLAYER, event.name, None, event.player_id, event.entropy)
            return changed(match, seats=_with(match.seats, event.seat, seat))
        case e.PlayerLeft():
            return _left(match, event)
        case e.SeatFilled():
            seat = Seat(SeatKind.BOT, event.name, event.bot_level)
            return changed(match, seats=_with(match.seats, event.seat, seat))
        case e.MatchStarted() | e.ClockRestarted():
            return match
        case e.TurnExpired():
            return _seated(match, event.seat, expired=event.in_a_row)
        case e.ClockKept():
            return _seated(match, event.seat, expired=0)
        case e.SeatHandedToBot():
            return _seated(match, event.seat, substitute=event.bot_level)
        case e.PlayerReturned():
            match = _seated(match, event.seat, expired=0, substitute=None)
            return changed(match, deserted_since=None)
        case e.MatchDeserted():
            return changed(match, deserted_since=event.since, deadline=None)
        case e.HandsDealt():
            return _dealt(match, event)
        case e.HandChosen():
            return _chosen(match, event)
        case e.SetShown():
            return _shown(match, event)
        case e.CardScouted():
            return _scouted(match, event)
        case e.PlayEnded():
            r = changed(round_of(match), ending=event.ending, turn=None)
            return changed(match, status=Status.SCORING, round=r, deadline=None)
        case e.ClockStarted():
            return changed(match, deadline=event.deadline)
        case e.RoundEnded():
            return changed(
                match, round=changed(round_of(match), result=event.result), scores=event.totals
            )
        case e.MatchFinished():
            return changed(match, status=Status.FINISHED, winners=event.winners, deadline=None)
        case e.MatchAbandoned():
            return changed(match, status=Status.ABANDONED, deadline=None)
        case _:
            assert_never(event)


def fold(match: Match | None, events: Iterable[e.Event]) -> Match:
    """The match after all of ``events`` in order.

    Raises:
        ValueError: no event and no match, or an event that cannot follow.
    """
    for event in events:
        match = evolve(match, event)
    if match is None:
        raise ValueError("nothing to fold")
    return match
