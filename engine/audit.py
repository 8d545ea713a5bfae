"""Whether a replay document is true: deals derived anew, every action replayed by the rules."""

from types import NoneType
from typing import Any, Final

from engine.actions import ChooseHand
from engine.audit_log import check_log
from engine.cards import PLAYER_COUNTS, ROUNDS
from engine.chain import public
from engine.codec import decode_action
from engine.commands import Command, CreateMatch, ScoreRound
from engine.deal import commitment, is_entropy
from engine.decide import decide
from engine.documents import FaultError, Plain, agree, field
from engine.errors import RuleError
from engine.events import Event, RoundEnded
from engine.evolve import fold, round_of
from engine.replay import FORMAT, plain_hands, plain_result
from engine.rules import VERSIONS
from engine.state import Match, Seat, SeatKind, Status, Visibility

SECRET_DIGITS: Final = 64
_HEX: Final = frozenset("0123456789abcdef")


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
    except FaultError as fault:
        return [str(fault)]
    return []


def _check(document: Any) -> None:
    agree(document, {"format": FORMAT}, "document")
    if field(document, "rulesVersion", str, "document") not in VERSIONS:
        raise FaultError(f"document.rulesVersion is none of {', '.join(VERSIONS)}")
    table = _Table()
    table.hear(_creation(document))
    rounds = field(document, "rounds", list, "document")
    if len(rounds) != ROUNDS[table.match.players]:
        raise FaultError(f"document.rounds has not {ROUNDS[table.match.players]} entries")
    for number, played in enumerate(rounds, 1):
        _replay_round(table, played, f"round {number}")
    outcome = {"totals": list(table.match.scores), "winners": list(table.match.winners or ())}
    agree(document, outcome, "document")
    if "log" in document:  # documents of before the chained hash have none
        check_log(document, table.match.players, [public(events) for events in table.heard])


class _Table:
    """The match as the audit plays it again, and the events of every command."""

    def __init__(self) -> None:
        self._match: Match | None = None
        self.heard: list[tuple[Event, ...]] = []

    @property
    def match(self) -> Match:
        if self._match is None:
            raise ValueError("the match is yet to be created")
        return self._match

    def hear(self, command: Command) -> tuple[Event, ...]:
        events = decide(self._match, command, 0)
        self._match = fold(self._match, events)
        self.heard.append(events)
        return events


def _creation(document: Plain) -> CreateMatch:
    match_id = field(document, "matchId", str, "document")
    if not match_id.isprintable():  # nor could a lone surrogate be hashed
        raise FaultError("document.matchId is not printable")
    players = field(document, "players", int, "document")
    if players not in PLAYER_COUNTS:
        raise FaultError("document.players is not from 2 to 5")
    secret = field(document, "secret", str, "document")
    if len(secret) != SECRET_DIGITS or not _HEX.issuperset(secret):
        raise FaultError(f"document.secret is not {SECRET_DIGITS} lower-case hexadecimal digits")
    agree(document, {"deckCommitment": commitment(secret)}, "document")
    _check_seats(field(document, "seats", list, "document"), players)
    entropy = _entropy(field(document, "entropy", dict, "document"), players)
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
        raise FaultError(f"document.seats has not {players} entries")
    for number, seat in enumerate(seats):
        where = f"document.seats[{number}]"
        agree(seat, {"seat": number}, where)
        kind = field(seat, "kind", str, where)
        if kind not in (SeatKind.PLAYER, SeatKind.BOT):
            raise FaultError(f"{where}.kind is neither PLAYER nor BOT")
        field(seat, "name", (str, NoneType), where)
        field(seat, "botLevel", str if kind == SeatKind.BOT else NoneType, where)


def _entropy(given: dict[str, Any], players: int) -> dict[int, str]:
    seats = {str(seat): seat for seat in range(players)}
    for seat, text in given.items():
        if seat not in seats:
            raise FaultError("document.entropy names a seat that is not there")
        if not isinstance(text, str) or not is_entropy(text):
            raise FaultError(f"document.entropy.{seat} is not of the form of entropy")
    return {seats[seat]: text for seat, text in given.items()}


def _replay_round(table: _Table, played: Any, where: str) -> None:
    dealt = round_of(table.match)
    expected = {
        "number": dealt.number,
        "starter": dealt.starter,
        "hands": plain_hands(dealt.hands),
    }
    agree(played, expected, where)
    _replay_choices(table, field(played, "flipped", list, where), where)
    for number, action in enumerate(field(played, "actions", list, where), 1):
        _replay_action(table, action, f"{where}, action {number}")
    if table.match.status is not Status.SCORING:
        raise FaultError(f"{where} does not end with its last action")
    events = table.hear(ScoreRound())
    results = [plain_result(event.result) for event in events if isinstance(event, RoundEnded)]
    agree(played, {"result": results[0]}, where)


def _replay_choices(table: _Table, flipped: list[Any], where: str) -> None:
    if len(flipped) != table.match.players:
        raise FaultError(f"{where}.flipped has not {table.match.players} entries")
    for seat, flip in enumerate(flipped):
        if not isinstance(flip, bool):
            raise FaultError(f"{where}.flipped[{seat}] is not true or false")
        table.hear(ChooseHand(seat, flip))


def _replay_action(table: _Table, action: Any, where: str) -> None:
    if table.match.status is not Status.PLAYING:
        raise FaultError(f"{where}: the round had ended before")
    if not isinstance(action, dict):
        raise FaultError(f"{where} is not an object")
    try:
        table.hear(decode_action(action))
    except RuleError as refused:
        field = f" ({refused.field!a})" if refused.field else ""
        raise FaultError(f"{where}: {refused.reason}: {refused}{field}") from refused
