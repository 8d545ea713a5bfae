"""A finished match as a document that anyone can re-check (docs/replay.md)."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from engine.actions import Scout, ScoutAndShow, Show
from engine.cards import Cards
from engine.chain import public
from engine.codec import encode_action
from engine.events import CardScouted, Event, HandChosen, HandsDealt, RoundEnded, SetShown
from engine.evolve import fold
from engine.state import Match, RoundResult, Status

FORMAT: Final = "ringmaster-replay/1"

Plain = dict[str, Any]  # what JSON can hold


def document(versions: Iterable[tuple[Sequence[Event], str]]) -> Plain:
    """The replay of a finished match, from the events and the hash of each of its versions.

    Raises:
        ValueError: the match is not finished.
    """
    commits = tuple(versions)
    log = tuple(event for events, _ in commits for event in events)
    match = fold(None, log)
    if match.status is not Status.FINISHED:
        raise ValueError("a match has a replay once it is finished")
    return {
        "format": FORMAT,
        "matchId": match.match_id,
        "players": match.players,
        "rulesVersion": match.rules_version,
        "secret": match.secret,
        "deckCommitment": match.deck_commitment,
        "entropy": {
            str(n): seat.entropy for n, seat in enumerate(match.seats) if seat.entropy is not None
        },
        "seats": _seats(match),
        "rounds": _rounds(log),
        "totals": list(match.scores),
        "winners": list(match.winners or ()),
        "log": [
            {"version": version, "events": public(events), "hash": digest}
            for version, (events, digest) in enumerate(commits, 1)
        ],
    }


def plain_hands(hands: Iterable[Cards]) -> list[list[list[int]]]:
    """Hands as ``[[[top, bottom], ...], ...]``."""
    return [[list(card) for card in hand] for hand in hands]


def plain_result(result: RoundResult) -> Plain:
    """A round's result as in the document."""
    return {
        "reason": result.reason.value,
        "ender": result.ender,
        "lines": [
            {
                "seat": line.seat,
                "captured": line.captured,
                "scoutChips": line.scout_chips,
                "handPenalty": line.hand_penalty,
                "total": line.total,
            }
            for line in result.lines
        ],
    }


def _seats(match: Match) -> list[Plain]:
    return [
        {"seat": n, "kind": seat.kind.value, "name": seat.name, "botLevel": seat.bot_level}
        for n, seat in enumerate(match.seats)
    ]


def _rounds(log: Iterable[Event]) -> list[Plain]:
    rounds: list[Plain] = []
    scouted = None  # the first half of a Scout & Show, whose second half follows
    for event in log:
        match event:
            case HandsDealt():
                rounds.append(_dealt(event))
            case HandChosen():
                rounds[-1]["flipped"][event.seat] = event.flip
            case CardScouted(and_show=True):
                scouted = event
            case CardScouted():
                scout = Scout(event.seat, event.end, event.insert_at, event.flip)
                rounds[-1]["actions"].append(encode_action(scout))
            case SetShown():
                rounds[-1]["actions"].append(_shown(event, scouted))
                scouted = None
            case RoundEnded():
                rounds[-1]["result"] = plain_result(event.result)
            case _:
                pass  # lobby and clocks leave no trace in a replay
    return rounds


def _dealt(event: HandsDealt) -> Plain:
    return {
        "number": event.round,
        "starter": event.starter,
        "hands": plain_hands(event.hands),
        "flipped": [False] * len(event.hands),
        "actions": [],
    }


def _shown(event: SetShown, scouted: CardScouted | None) -> Plain:
    seat, first, count = event.seat, event.first, len(event.cards)
    if scouted is None:
        return encode_action(Show(seat, first, count))
    s = scouted
    return encode_action(ScoutAndShow(seat, s.end, s.insert_at, s.flip, first, count))
