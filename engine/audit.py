"""Whether a replay document is true: deals derived anew, every action replayed by the rules."""

from itertools import groupby
from types import NoneType
from typing import Any, Final

from engine.actions import ChooseHand
from engine.cards import PLAYER_COUNTS, ROUNDS
from engine.chain import beginning, link, public
from engine.codec import decode_action
from engine.commands import Command, CreateMatch, ScoreRound
from engine.deal import commitment, is_entropy
from engine.decide import decide
from engine.errors import RuleError
from engine.events import Event, RoundEnded
from engine.evolve import fold, round_of
from engine.replay import FORMAT, Plain, plain_hands, plain_result
from engine.rules import VERSIONS
from engine.state import Match, Seat, SeatKind, Status, Visibility

SECRET_DIGITS: Final = 64
# Events that follow from the rounds of the document, and those that happen beside play.
_PLAY: Final = (
    "HandsDealt",
    "HandChosen",
    "SetShown",
    "CardScouted",
    "RoundEnded",
    "MatchFinished",
)
_BESIDE_PLAY: Final = ("PlayerJoined", "PlayerLeft", "MatchStarted", "TurnExpired")
_HEX: Final = frozenset("0123456789abcdef")
_TYPES: Final = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "a whole number",
    bool: "true or false",
    NoneType: "null",
}


class _FaultError(Exception):
    """The first difference found."""


def audit(document: Any) -> list[str]:
    """What is wrong with a replay document, as one line; an empty list if it is true.

    ``document`` is any decoded JSON value. The line names the round and the action (both counted
    from 1) where there is one; what comes after the first fault is not looked at.

    Not checked, since nothing follows from them: the names and the bots' levels of the seats,
    fields that are not part of the format; without a log, the match's id. Nor can a document show
    that a hidden choice (a hand's flip, a scouted card's gap and way up) was exchanged for another,
    if all that was public and all results stay the same.
    """
    try:
        _check(document)
    except _FaultError as fault:
        return [str(fault)]
    return []


def _check(document: Any) -> None:
    _agree(document, {"format": FORMAT}, "document")
    if _field(document, "rulesVersion", str, "document") not in VERSIONS:
        raise _FaultError(f"document.rulesVersion is none of {', '.join(VERSIONS)}")
    table = _Table()
    table.hear(_creation(document))
    rounds = _field(document, "rounds", list, "document")
    if len(rounds) != ROUNDS[table.match.players]:
        raise _FaultError(f"document.rounds has not {ROUNDS[table.match.players]} entries")
    for number, played in enumerate(rounds, 1):
        _replay_round(table, played, f"round {number}")
    outcome = {"totals": list(table.match.scores), "winners": list(table.match.winners or ())}
    _agree(document, outcome, "document")
    if "log" in document:  # documents of before the chained hash have none
        played = [event for event in public(table.heard) if event["type"] in _PLAY]
        _check_log(document, played)


class _Table:
    """The match as the audit plays it again, and all events that came of it."""

    def __init__(self) -> None:
        self._match: Match | None = None
        self.heard: list[Event] = []

    @property
    def match(self) -> Match:
        if self._match is None:
            raise ValueError("the match is yet to be created")
        return self._match

    def hear(self, command: Command) -> tuple[Event, ...]:
        events = decide(self._match, command, 0)
        self._match = fold(self._match, events)
        self.heard += events
        return events


def _creation(document: Plain) -> CreateMatch:
    match_id = _field(document, "matchId", str, "document")
    players = _field(document, "players", int, "document")
    if players not in PLAYER_COUNTS:
        raise _FaultError("document.players is not from 2 to 5")
    secret = _field(document, "secret", str, "document")
    if len(secret) != SECRET_DIGITS or not _HEX.issuperset(secret):
        raise _FaultError(f"document.secret is not {SECRET_DIGITS} lower-case hexadecimal digits")
    _agree(document, {"deckCommitment": commitment(secret)}, "document")
    _check_seats(_field(document, "seats", list, "document"), players)
    entropy = _entropy(_field(document, "entropy", dict, "document"), players)
    return CreateMatch(
        match_id=match_id,
        # To the rules a seat is a seat, and a match without people starts at once.
        seats=tuple(Seat(SeatKind.BOT, entropy=entropy.get(n)) for n in range(players)),
        visibility=Visibility.PUBLIC,
        host="",
        secret=secret,
        join_code="",
        rules_version=document["rulesVersion"],
    )


def _check_seats(seats: list[Any], players: int) -> None:
    if len(seats) != players:
        raise _FaultError(f"document.seats has not {players} entries")
    for number, seat in enumerate(seats):
        where = f"document.seats[{number}]"
        _agree(seat, {"seat": number}, where)
        kind = _field(seat, "kind", str, where)
        if kind not in (SeatKind.PLAYER, SeatKind.BOT):
            raise _FaultError(f"{where}.kind is neither PLAYER nor BOT")
        _field(seat, "name", (str, NoneType), where)
        _field(seat, "botLevel", str if kind == SeatKind.BOT else NoneType, where)


def _entropy(given: dict[str, Any], players: int) -> dict[int, str]:
    seats = {str(seat): seat for seat in range(players)}
    for seat, text in given.items():
        if seat not in seats:
            raise _FaultError("document.entropy names a seat that is not there")
        if not isinstance(text, str) or not is_entropy(text):
            raise _FaultError(f"document.entropy.{seat} is not of the form of entropy")
    return {seats[seat]: text for seat, text in given.items()}


def _replay_round(table: _Table, played: Any, where: str) -> None:
    dealt = round_of(table.match)
    expected = {
        "number": dealt.number,
        "starter": dealt.starter,
        "hands": plain_hands(dealt.hands),
    }
    _agree(played, expected, where)
    _replay_choices(table, _field(played, "flipped", list, where), where)
    for number, action in enumerate(_field(played, "actions", list, where), 1):
        _replay_action(table, action, f"{where}, action {number}")
    if table.match.status is not Status.SCORING:
        raise _FaultError(f"{where} does not end with its last action")
    events = table.hear(ScoreRound())
    results = [plain_result(event.result) for event in events if isinstance(event, RoundEnded)]
    _agree(played, {"result": results[0]}, where)


def _replay_choices(table: _Table, flipped: list[Any], where: str) -> None:
    if len(flipped) != table.match.players:
        raise _FaultError(f"{where}.flipped has not {table.match.players} entries")
    for seat, flip in enumerate(flipped):
        if not isinstance(flip, bool):
            raise _FaultError(f"{where}.flipped[{seat}] is not true or false")
        table.hear(ChooseHand(seat, flip))


def _replay_action(table: _Table, action: Any, where: str) -> None:
    if table.match.status is not Status.PLAYING:
        raise _FaultError(f"{where}: the round had ended before")
    if not isinstance(action, dict):
        raise _FaultError(f"{where} is not an object")
    try:
        table.hear(decode_action(action))
    except RuleError as refused:
        field = f" ({refused.field!a})" if refused.field else ""
        raise _FaultError(f"{where}: {refused.reason}: {refused}{field}") from refused


def _check_log(document: Plain, expected: list[Plain]) -> None:
    happened = []
    before = beginning(document["matchId"], document["deckCommitment"])
    for version, entry in enumerate(_field(document, "log", list, "document"), 1):
        where = f"log, version {version}"
        _agree(entry, {"version": version}, where)
        events = _field(entry, "events", list, where)
        try:
            before = link(before, events)
        except (ValueError, RecursionError):  # what no text in UTF-8 can hold
            raise _FaultError(f"{where}.events are not events") from None
        _agree(entry, {"hash": before}, where)
        for number, event in enumerate(events):
            kind = event.get("type") if isinstance(event, dict) else None
            if kind in _PLAY:
                happened.append((event, f"{where}.events[{number}]"))
            elif kind not in _BESIDE_PLAY:
                raise _FaultError(f"{where}.events[{number}] is no event")
    for (event, where), told in zip(_by_seat(happened), expected, strict=False):
        if set(event) != set(told):
            raise _FaultError(f"{where} has other fields than {', '.join(told)}")
        _agree(event, told, where)
    if len(happened) != len(expected):
        raise _FaultError(f"document.log has not {len(expected)} events of play")


def _by_seat(happened: list[tuple[Plain, str]]) -> list[tuple[Plain, str]]:
    """The events with each round's choices by seat, since their order is free."""
    ordered: list[tuple[Plain, str]] = []
    for is_choice, group in groupby(happened, lambda pair: pair[0]["type"] == "HandChosen"):
        events = list(group)
        if is_choice:
            events.sort(key=lambda pair: str(pair[0].get("seat")))
        ordered += events
    return ordered


def _field(data: Plain, name: str, kinds: type | tuple[type, ...], where: str) -> Any:
    """The named field of an object, if it is there and exactly of one of the kinds."""
    if name not in data:
        raise _FaultError(f"{where} lacks {name}")
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    if type(data[name]) not in kinds:
        expected = " or ".join(_TYPES[kind] for kind in kinds)
        raise _FaultError(f"{where}.{name} is not {expected}")
    return data[name]


def _agree(given: Any, expected: Any, where: str) -> None:
    """Raise unless all that is expected is there, at the same place and of the same type."""
    if type(given) is not type(expected):
        raise _FaultError(f"{where} is not {_TYPES[type(expected)]}")
    if isinstance(expected, dict):
        for name, value in expected.items():
            _agree(_field(given, name, type(value), where), value, f"{where}.{name}")
    elif isinstance(expected, list):
        # By far the most; 1, 1.0 and true are equal, but do not read alike.
        if given == expected and repr(given) == repr(expected):
            return
        if len(given) != len(expected):
            raise _FaultError(f"{where} has not {len(expected)} entries")
        for index, (item, value) in enumerate(zip(given, expected, strict=True)):
            _agree(item, value, f"{where}[{index}]")
    elif given != expected:
        raise _FaultError(f"{where} is not {expected}")
