"""Whether a replay document is true: deals derived anew, every action replayed by the rules."""

from types import NoneType
from typing import Any, Final

from engine.actions import ChooseHand
from engine.cards import PLAYER_COUNTS, ROUNDS
from engine.codec import decode_action
from engine.commands import Command, CreateMatch, ScoreRound, SeatSetup
from engine.deal import commitment, is_entropy
from engine.decide import decide
from engine.errors import RuleError
from engine.events import RoundEnded
from engine.evolve import fold, round_of
from engine.replay import FORMAT, Plain, plain_hands, plain_result
from engine.state import RULES_VERSION, Match, SeatKind, Status, Visibility

SECRET_DIGITS: Final = 64
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

    Not checked, since nothing follows from them: the match's id, the names, the bots' levels,
    fields that are not part of the format. Nor can a document show that an action was exchanged
    for another legal one, if all that follows stays legal and all results stay the same.
    """
    try:
        _check(document)
    except _FaultError as fault:
        return [str(fault)]
    return []


def _check(document: Any) -> None:
    _agree(document, {"format": FORMAT, "rulesVersion": RULES_VERSION}, "document")
    match = fold(None, decide(None, _creation(document), 0))
    rounds = _field(document, "rounds", list, "document")
    if len(rounds) != ROUNDS[match.players]:
        raise _FaultError(f"document.rounds has not {ROUNDS[match.players]} entries")
    for number, played in enumerate(rounds, 1):
        match = _after_round(match, played, f"round {number}")
    outcome = {"totals": list(match.scores), "winners": list(match.winners or ())}
    _agree(document, outcome, "document")


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
        seats=tuple(SeatSetup(SeatKind.BOT, entropy=entropy.get(n)) for n in range(players)),
        visibility=Visibility.PUBLIC,
        host="",
        secret=secret,
        join_code="",
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


def _after_round(match: Match, played: Any, where: str) -> Match:
    dealt = round_of(match)
    expected = {
        "number": dealt.number,
        "starter": dealt.starter,
        "hands": plain_hands(dealt.hands),
    }
    _agree(played, expected, where)
    match = _after_choices(match, _field(played, "flipped", list, where), where)
    for number, action in enumerate(_field(played, "actions", list, where), 1):
        match = _after_action(match, action, f"{where}, action {number}")
    if match.status is not Status.SCORING:
        raise _FaultError(f"{where} does not end with its last action")
    events = decide(match, ScoreRound(), 0)
    results = [plain_result(event.result) for event in events if isinstance(event, RoundEnded)]
    _agree(played, {"result": results[0]}, where)
    return fold(match, events)


def _after_choices(match: Match, flipped: list[Any], where: str) -> Match:
    if len(flipped) != match.players:
        raise _FaultError(f"{where}.flipped has not {match.players} entries")
    for seat, flip in enumerate(flipped):
        if not isinstance(flip, bool):
            raise _FaultError(f"{where}.flipped[{seat}] is not true or false")
        match = _after(match, ChooseHand(seat, flip))
    return match


def _after_action(match: Match, action: Any, where: str) -> Match:
    if match.status is not Status.PLAYING:
        raise _FaultError(f"{where}: the round had ended before")
    if not isinstance(action, dict):
        raise _FaultError(f"{where} is not an object")
    try:
        return _after(match, decode_action(action))
    except RuleError as refused:
        field = f" ({refused.field!a})" if refused.field else ""
        raise _FaultError(f"{where}: {refused.reason}: {refused}{field}") from refused


def _after(match: Match, command: Command) -> Match:
    return fold(match, decide(match, command, 0))


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
        if len(given) != len(expected):
            raise _FaultError(f"{where} has not {len(expected)} entries")
        for index, (item, value) in enumerate(zip(given, expected, strict=True)):
            _agree(item, value, f"{where}[{index}]")
    elif given != expected:
        raise _FaultError(f"{where} is not {expected}")
