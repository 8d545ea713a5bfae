"""Whether the log of a replay is true: its chained hashes, and events that the rounds lead to."""

from typing import Any, Final

from engine.chain import beginning, link
from engine.documents import FaultError, Plain, agree, field

# Events that do not follow from the rounds, with the types of their fields.
_BESIDE_PLAY: Final[dict[str, dict[str, type]]] = {
    "PlayerJoined": {"seat": int, "name": str},
    "PlayerLeft": {"seat": int},
    "MatchStarted": {"players": int},
    "TurnExpired": {"seat": int},
    "ClockRestarted": {"seconds": int},
    "SeatHandedToBot": {"seat": int},
    "PlayerReturned": {"seat": int},
}


def check_log(document: Plain, players: int, expected: list[list[Plain]]) -> None:
    """Compare the log with the public events of every command that the rounds consist of.

    Raises:
        FaultError: the first difference.
    """
    before = beginning(document["matchId"], document["deckCommitment"])
    happened = []
    log = field(document, "log", list, "document")
    for version, entry in enumerate(log, 1):
        where = f"log, version {version}"
        agree(entry, {"version": version}, where)
        events = field(entry, "events", list, where)
        try:
            before = link(before, events)
        except (ValueError, RecursionError):  # what no text in UTF-8 can hold
            raise FaultError(f"{where}.events are not events") from None
        agree(entry, {"hash": before}, where)
        play = _events_of_play(events, players, where)
        if not events and version > 1:
            raise FaultError(f"{where} has no events, which only the first may not have")
        if play:
            happened.append((play, where))
    _compare(_by_seat(happened), expected)
    if happened and happened[-1][1] != f"log, version {len(log)}":
        raise FaultError(f"log, version {len(log)} comes after the end of the match")


def _events_of_play(events: list[Any], players: int, where: str) -> list[Plain]:
    """The events of a version that the rounds lead to; the others are checked alone."""
    play = []
    for number, event in enumerate(events):
        at = f"{where}.events[{number}]"
        kind = event.get("type") if isinstance(event, dict) else None
        fields = _BESIDE_PLAY.get(kind) if isinstance(kind, str) else None
        if fields is None:
            if not isinstance(event, dict):
                raise FaultError(f"{at} is no event")
            play.append(event)
            continue
        if set(event) != {"type", *fields}:
            raise FaultError(f"{at} has other fields than type, {', '.join(fields)}")
        for name, type_ in fields.items():
            field(event, name, type_, at)
        if not 0 <= event.get("seat", 0) < players or event.get("players", players) != players:
            raise FaultError(f"{at} is of another number of players")
        if kind == "MatchStarted":
            play.append(event)
        if kind == "TurnExpired":
            after = events[number + 1] if number + 1 < len(events) else None
            if not isinstance(after, dict) or after.get("seat") != event["seat"]:
                raise FaultError(f"{at} is not followed by what was played for its seat")
    return play


def _compare(happened: list[tuple[list[Plain], str]], expected: list[list[Plain]]) -> None:
    for (events, where), told in zip(happened, expected, strict=False):
        kinds = [event.get("type") for event in events]
        if kinds != [event["type"] for event in told]:
            raise FaultError(f"{where} is not of {', '.join(event['type'] for event in told)}")
        for event, expected_event in zip(events, told, strict=True):
            at = f"{where}, {expected_event['type']}"
            if set(event) != set(expected_event):
                raise FaultError(f"{at} has other fields than {', '.join(expected_event)}")
            agree(event, expected_event, at)
    if len(happened) < len(expected):
        missing = ", ".join(event["type"] for event in expected[len(happened)])
        raise FaultError(f"document.log ends before {missing}")
    if len(happened) > len(expected):
        raise FaultError(f"{happened[len(expected)][1]} comes after the end of the match")


def _by_seat(happened: list[tuple[list[Plain], str]]) -> list[tuple[list[Plain], str]]:
    """The versions with each round's choices by seat, since their order is free."""
    ordered: list[tuple[list[Plain], str]] = []
    choices: list[tuple[list[Plain], str]] = []
    for version in happened:
        if version[0][0].get("type") == "HandChosen":
            choices.append(version)
            continue
        ordered += sorted(choices, key=_seat)
        ordered.append(version)
        choices = []
    return ordered + sorted(choices, key=_seat)


def _seat(version: tuple[list[Plain], str]) -> str:
    return str(version[0][0].get("seat"))
