"""The one decision: what a command leads to in a state, as events; nothing is changed here."""

from typing import assert_never

from engine import commands as c
from engine import deal, lobby, scoring
from engine.actions import Action, ChooseHand, Scout, ScoutAndShow, Show
from engine.cards import ROUNDS
from engine.due import to_act
from engine.events import (
    CardScouted,
    ClockRestarted,
    ClockStarted,
    Event,
    HandChosen,
    HandsDealt,
    MatchFinished,
    MatchStarted,
    PlayerReturned,
    RoundEnded,
    SetShown,
    TurnExpired,
)
from engine.evolve import fold
from engine.play import play
from engine.state import CHIPS_OF_TWO, Match, SeatKind, Status

Events = tuple[Event, ...]


def decide(match: Match | None, command: c.Command, now: int) -> Events:
    """The events that ``command`` leads to; none if there is nothing (more) to do.

    ``match`` is None only for ``CreateMatch``; ``now`` is in milliseconds since the Unix epoch.

    Raises:
        RuleError: the command is refused; nothing has changed.
        ValueError: a match created twice, or a command to none.
    """
    events = _decide(match, command, now)
    if not events or not _more_may_follow(match):
        return events
    after = fold(match, events)
    if after.status is Status.LOBBY and all(s.kind is not SeatKind.OPEN for s in after.seats):
        events += (MatchStarted(after.players), _deal(after, 1))
        after = fold(match, events)
    return events + _clock(after, events, now)


def _more_may_follow(match: Match | None) -> bool:
    # The start of a match in the lobby, or a clock.
    return match is None or match.status is Status.LOBBY or match.turn_seconds is not None


def _decide(  # noqa: C901, PLR0912 - one case per command
    match: Match | None, command: c.Command, now: int
) -> Events:
    if isinstance(command, c.CreateMatch):
        if match is not None:
            raise ValueError("a match is created once")
        return lobby.create(command, now)
    if match is None:
        raise ValueError("there is no match to decide on")
    match command:
        case ChooseHand() | Show() | Scout() | ScoutAndShow():
            events = play(match, command)
            return lobby.kept(match, command.seat) + events
        case c.PlayForAway():
            return play(match, command.action) if _is_away(match, command.action.seat) else ()
        case c.ScoreRound():
            return _score(match)
        case c.ExpireTurn():
            return _expire(match, command.action, now)
        case c.RestartClock():
            return _restart_clock(match, now)
        case c.AbandonMatch():
            return lobby.abandon(match)
        case c.CancelMatch():
            return lobby.cancel(match, command)
        case c.ReturnToMatch():
            return lobby.come_back(match, command)
        case c.JoinMatch():
            return lobby.join(match, command)
        case c.LeaveMatch():
            return lobby.leave(match, command, now)
        case c.StartMatch():
            return lobby.start(match, command)
        case _:
            assert_never(command)


def _deal(match: Match, number: int) -> HandsDealt:
    entropy = {n: seat.entropy for n, seat in enumerate(match.seats) if seat.entropy is not None}
    key = deal.key_of_deals(match.secret, entropy)
    return HandsDealt(
        round=number,
        starter=deal.starter(key, match.players, number),
        hands=deal.hands(key, match.players, number),
        chips=(CHIPS_OF_TWO if match.players == 2 else 0,) * match.players,
    )


def _score(match: Match) -> Events:
    round_ = match.round
    if match.status is not Status.SCORING or round_ is None or round_.ending is None:
        return ()
    result = scoring.score_round(round_, round_.ending)
    totals = tuple(
        score + line.total for score, line in zip(match.scores, result.lines, strict=True)
    )
    ended = RoundEnded(result, totals)
    if round_.number < ROUNDS[match.players]:
        return (ended, _deal(match, round_.number + 1))
    return (ended, MatchFinished(scoring.winners(totals), totals))


def _expire(match: Match, action: Action, now: int) -> Events:
    phase = Status.CHOOSING if isinstance(action, ChooseHand) else Status.PLAYING
    if match.deadline is None or now < match.deadline or match.status is not phase:
        return ()
    if action.seat not in to_act(match):
        return ()
    seat, events = match.seats[action.seat], play(match, action)
    in_a_row = seat.expired + 1 if seat.attended else 0
    gone = lobby.go_away(match, action.seat, in_a_row, now)
    return (TurnExpired(action.seat, in_a_row), *events, *gone)


def _restart_clock(match: Match, now: int) -> Events:
    if match.deadline is None or match.turn_seconds is None or now < match.deadline:
        return ()
    return (ClockRestarted(match.turn_seconds),)


def _is_away(match: Match, seat: int) -> bool:
    return 0 <= seat < match.players and match.seats[seat].away


def _clock(after: Match, events: Events, now: int) -> Events:
    if after.turn_seconds is None or after.status not in (Status.CHOOSING, Status.PLAYING):
        return ()
    if after.paused or not any(_starts_clock(after, event) for event in events):
        return ()
    return (ClockStarted(now + after.turn_seconds * 1000),)


def _starts_clock(after: Match, event: Event) -> bool:
    match event:
        case HandsDealt() | SetShown() | CardScouted() | ClockRestarted():
            return True
        case PlayerReturned():  # a match that had waited, or waits now for this player
            return after.deadline is None or event.seat in to_act(after)
        case _:
            return _opens_play(event)


def _opens_play(event: Event) -> bool:
    return isinstance(event, HandChosen) and event.turn is not None
