"""What happened, told in sentences and tables."""

from typing import assert_never

from rich.console import Group, RenderableType
from rich.text import Text

from api.cli.terminal.data import CardScouted, Event, Match, SetShown, Update
from api.cli.terminal.drawing import (
    capitalised,
    clean,
    final_text,
    name_of,
    own_seat,
    result_heading,
    result_table,
    tops,
    who,
    whose,
)


def tell(update: Update, before: Match | None) -> list[RenderableType]:
    """The events of an update, each as something to print; ``before``: the match until then."""
    return [_event(event, update, before or update["match"]) for event in update["events"]]


def _event(event: Event, update: Update, before: Match) -> RenderableType:  # noqa: C901, PLR0912 - one case per event
    match = update["match"]
    match event["type"]:
        case "PlayerJoined":
            seat = event["seat"]
            return _sentence(match, seat, f"take seat {seat}.", f"takes seat {seat}.")
        case "PlayerLeft":
            taken = match["seats"][event["seat"]]["kind"] == "BOT"
            heir = "a bot takes the seat" if taken else "the seat is open again"
            return Text(f"{name_of(before, event['seat'])} leaves; {heir}.")
        case "MatchStarted":
            rounds = f"{match['roundCount']} rounds"
            return Text(f"The match begins: {event['players']} players, {rounds}.", "bold")
        case "HandsDealt":
            return _dealt(match, event["round"], event["starter"])
        case "HandChosen":
            return _sentence(match, event["seat"], "have chosen.", "has chosen.")
        case "SetShown":
            return _shown(event, match)
        case "CardScouted":
            return _scouted(event, update)
        case "TurnExpired":
            time = f"{capitalised(whose(match, event['seat']))} time is up"
            return Text(f"{time}; the house plays this turn.", "yellow")
        case "ClockRestarted":
            sentence = "The server was away; whose turn it is has the whole time again"
            return Text(f"{sentence}, {event['seconds']} s.", "yellow")
        case "SeatHandedToBot":
            if event["seat"] == own_seat(match):
                return Text("A bot plays for you now; `back` takes your seat again.", "yellow")
            return _sentence(match, event["seat"], "", "is away; a bot plays until the return.")
        case "PlayerReturned":
            return _sentence(match, event["seat"], "are back.", "is back.")
        case "RoundEnded":
            heading = result_heading(match, _round_ended(update), event["result"])
            return Group(Text(), heading, result_table(match, event["result"]), Text())
        case "MatchFinished":
            return final_text(match)
        case "MatchAbandoned":
            reason = clean(event["reason"])
            if reason.isupper():  # a code, and no operator's sentence
                reason = reason.replace("_", " ").lower()
            return Text(f"The match ended without a result: {reason.rstrip('.')}.", "bold")
        case _:
            assert_never(event["type"])


def _round_ended(update: Update) -> int:
    """The number of the round that an update ended; it may have dealt the next one as well."""
    for event in update["events"]:
        if event["type"] == "HandsDealt":
            return event["round"] - 1
    round_ = update["match"]["round"]
    return round_["number"] if round_ else 0


def _dealt(match: Match, number: int, starter: int) -> Text:
    dealt = (f"Round {number} of {match['roundCount']} is dealt", "bold")
    verb = "begin" if own_seat(match) == starter else "begins"
    return Text.assemble(dealt, f"; {who(match, starter)} {verb}.")


def _shown(event: SetShown, match: Match) -> Text:
    text = _sentence(match, event["seat"], "show", "shows")
    text.append(" ").append(tops(event["cards"]), "bold")
    if event["captured"]:
        verb = "capture" if event["seat"] == own_seat(match) else "captures"
        text.append(f" and {verb} {event['captured']}")
    return text.append(".")


def _scouted(event: CardScouted, update: Update) -> Text:
    match = update["match"]
    text = _sentence(match, event["seat"], "scout", "scouts")
    text.append(" ").append(str(event["card"]["top"]), "bold")
    text.append(f"/{event['card']['bottom']}", "dim")
    text.append(f" from the {event['end'].lower()} of {whose(match, event['owner'])} set")
    if any(other["type"] == "SetShown" for other in update["events"]):
        return text.append(", and at once:")
    active = match["round"]["activeSet"] if match["round"] else None
    return text.append(f" (left: {tops(active['cards'])})." if active else " (none is left).")


def _sentence(match: Match, seat: int, you: str, others: str) -> Text:
    """Subject and predicate, without a full stop."""
    own = seat == own_seat(match)
    subject = (capitalised(who(match, seat)), "cyan" if own else "yellow")
    return Text.assemble(subject, f" {you if own else others}")
