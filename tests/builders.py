"""Positions and whole matches in one line, for tests of the rules."""

from collections.abc import Callable, Collection, Mapping
from copy import deepcopy
from dataclasses import replace
from random import Random
from types import MappingProxyType
from typing import Any

import pytest

from engine.actions import Action
from engine.bots.sight import known
from engine.cards import Card, deck
from engine.chain import hashes
from engine.commands import Command, CreateMatch, ScoreRound
from engine.decide import decide
from engine.due import RoundToScore, due, to_act
from engine.errors import RuleError
from engine.events import Event
from engine.evolve import fold
from engine.legal import legal_actions
from engine.notation import match_at, parse_cards
from engine.rules import CURRENT
from engine.state import Match, Round, Seat, SeatKind, Status, Visibility
from engine.views import History, view

SECRET = "5eed" * 16


def position(
    hands: str,
    *,
    table: str = "",
    owner: int | None = None,
    turn: int | None = 0,
    status: Status = Status.PLAYING,
    chips: tuple[int, ...] | None = None,
    spent: tuple[bool, ...] | None = None,
    scouts: int = 0,
) -> Match:
    """A match in its first round: ``position("7/2 7/4 | 5/6 | 8/9", table="9/10", owner=1)``."""
    seats = [parse_cards(hand) for hand in hands.split("|")]
    n = len(seats)
    round_ = Round(
        number=1,
        starter=0,
        hands=tuple(seats),
        chosen=(status is not Status.CHOOSING,) * n,
        captured=(0,) * n,
        chips=chips or (0,) * n,
        scout_and_show_spent=spent or (False,) * n,
        table=parse_cards(table),
        owner=owner,
        last_shower=owner,
        scouts_in_a_row=scouts,
        turn=turn,
    )
    return replace(match_at(round_, status), match_id="m", secret=SECRET)


def with_round(match: Match, **changes: Any) -> Match:
    """The match with fields of its round changed."""
    assert match.round is not None
    return replace(match, round=replace(match.round, **changes))


def create(
    players: int,
    *,
    seed: int = 0,
    turn_seconds: int | None = None,
    entropy: Mapping[int, str] = MappingProxyType({}),
    rules_version: str = CURRENT,
) -> CreateMatch:
    """A match of bots whose deals follow from ``seed`` and the seats' ``entropy``."""
    return CreateMatch(
        match_id=f"m{seed}",
        seats=tuple(
            Seat(SeatKind.BOT, f"B{n}", "regular", entropy=entropy.get(n)) for n in range(players)
        ),
        visibility=Visibility.PUBLIC,
        host="host",
        secret=Random(seed).randbytes(32).hex(),
        join_code="CODE",
        turn_seconds=turn_seconds,
        rules_version=rules_version,
    )


def actors(match: Match) -> list[int]:
    """The seats that may act now."""
    return to_act(match)


Chooser = Callable[[Match, int, Random], Action]


def any_legal(match: Match, seat: int, chance: Random) -> Action:
    """One of the legal actions, none likelier than another."""
    return chance.choice(legal_actions(view(match, seat)))


def mostly_shows(match: Match, seat: int, chance: Random) -> Action:
    """Shows most of the time, so that matches are short; scouts and Scout & Shows now and then."""
    options = legal_actions(view(match, seat))
    kinds = {type(option) for option in options}
    kind = chance.choice(sorted(kinds, key=lambda k: k.__name__))
    return chance.choice([option for option in options if type(option) is kind])


def play_out(
    players: int,
    seed: int,
    choose: Chooser = mostly_shows,
    *,
    rounds: int = 9,
    entropy: Mapping[int, str] = MappingProxyType({}),
    rules_version: str = CURRENT,
) -> list[tuple[tuple[Event, ...], Match]]:
    """A whole match (or its first rounds): each commit with the state that it led to."""
    chance = Random(seed)
    events = decide(
        None, create(players, seed=seed, entropy=entropy, rules_version=rules_version), 0
    )
    match = fold(None, events)
    commits = [(events, match)]
    while not match.status.over:
        if isinstance(due(match), RoundToScore):
            if match.round is not None and match.round.number == rounds:
                break
            events = decide(match, ScoreRound(), 0)
        else:
            seat = chance.choice(actors(match))
            events = decide(match, choose(match, seat, chance), 0)
        match = fold(match, events)
        commits.append((events, match))
    return commits


def all_events(commits: list[tuple[tuple[Event, ...], Match]]) -> list[Event]:
    """The whole log of ``play_out``, without its commits."""
    return [event for events, _ in commits for event in events]


def logged(
    commits: list[tuple[tuple[Event, ...], Match]],
) -> list[tuple[tuple[Event, ...], str]]:
    """The log of ``play_out`` as it is stored: the events and the hash of every version."""
    match = commits[-1][1]
    log = [events for events, _ in commits]
    return list(zip(log, hashes(match.match_id, match.deck_commitment, log), strict=True))


def refusal(match: Match | None, command: Command, now: int = 0) -> RuleError:
    """The error that a command is refused with; ``match`` is as it was."""
    before = deepcopy(match)
    with pytest.raises(RuleError) as refused:
        decide(match, command, now)
    assert match == before
    return refused.value


def identity(card: Card) -> frozenset[int]:
    """The card whichever way up it lies."""
    return frozenset(card)


def exchanged(
    match: Match, viewer: int | None, chance: Random, seen: History | None = None
) -> Match:
    """The match with all that a viewer may not know exchanged for something else.

    With ``seen``, what everybody saw of the round, all of that stays true: who scouted a card holds
    it until it is shown, and no card that lay on the table turns up in another hand.
    """
    r = match.round
    assert r is not None
    others = [seat for seat in range(match.players) if seat != viewer]
    knowledge = known(seen or (), match.players)
    kept = {seat: [c for c in r.hands[seat] if _in(c, knowledge.held[seat])] for seat in others}
    hidden = [card for seat in others for card in r.hands[seat] if card not in kept[seat]]
    if match.players == 2:  # the other half of the deck is as unknown as the other hand
        own = r.hands[viewer] if viewer is not None else ()
        met = {identity(card) for card in (*r.table, *own, *knowledge.seen)}
        hidden = [card for card in deck(2) if identity(card) not in met]
    chance.shuffle(hidden)
    hands, seats = list(r.hands), list(match.seats)
    for seat in others:
        size = len(hands[seat]) - len(kept[seat])
        hand, hidden = [*kept[seat], *hidden[:size]], hidden[size:]
        chance.shuffle(hand)
        hands[seat] = tuple(chance.choice([card, card.turned()]) for card in hand)
        seats[seat] = replace(seats[seat], entropy=str(chance.random()), player_id="else")
    return replace(
        match,
        secret=chance.randbytes(32).hex(),
        host="else",
        join_code=match.join_code if viewer is not None else "ELSE",
        seats=tuple(seats),
        round=replace(r, hands=tuple(hands)),
    )


def _in(card: Card, held: Collection[Card]) -> bool:
    return card in held or card.turned() in held
