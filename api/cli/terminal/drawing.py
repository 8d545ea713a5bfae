"""Cards, the table, the seats and scores as text: pure functions from API data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.table import Table
from rich.text import Text

from api.cli.terminal.data import ActiveSet, Card, Match, Reason, RoundResult, SeatKind, SetKind
from api.cli.terminal.moves import turned

CARD_WIDTH: Final = 4
NAME_WIDTH: Final = 18
_FRAME: Final = ("╭──╮", "│", "╰──╯")
_ASCII_FRAME: Final = ("+--+", "|", "+--+")

_REASONS: Final[dict[Reason, str]] = {
    "HAND_EMPTIED": "{who} emptied the hand",
    "ALL_SCOUTED": "all others scouted from {whose} set",
    "STUCK": "{whose} set cannot be beaten",
    "ACTION_LIMIT": "the limit of actions was reached",
}
_KINDS: Final[dict[SetKind, str]] = {
    "SINGLE": "a single",
    "MATCHING": "{} of a kind",
    "CONSECUTIVE": "a run of {}",
}


@dataclass(frozen=True, slots=True)
class Paper:
    """What is drawn on: so many columns wide, and whether only ASCII can be shown."""

    width: int = 80
    ascii: bool = False


def clean(text: str) -> str:
    """A text from elsewhere without what could move the cursor."""
    return "".join(c if c.isprintable() else "?" for c in text)


def name_of(match: Match, seat: int) -> str:
    """Whom to call by which name; the seat's number is added where two have the same."""
    name = match["seats"][seat]["name"]
    if name is None:
        return "(open)"
    alike = sum(other["name"] == name for other in match["seats"])
    return clean(name) + (f" ({seat})" if alike > 1 else "")


def own_seat(match: Match) -> int | None:
    """The viewer's seat, None for spectators."""
    return match["you"]["seat"] if match["you"] else None


def who(match: Match, seat: int) -> str:
    """A seat as the subject of a sentence."""
    return "you" if seat == own_seat(match) else name_of(match, seat)


def whose(match: Match, seat: int) -> str:
    """A seat as the owner of something."""
    return "your" if seat == own_seat(match) else f"{name_of(match, seat)}'s"


def capitalised(sentence: str) -> str:
    """A sentence with its first letter large, the others as they are."""
    return sentence[:1].upper() + sentence[1:]


def tops(cards: Sequence[Card]) -> str:
    """The numbers in play."""
    return " ".join(str(card["top"]) for card in cards)


def kind_text(active: ActiveSet) -> str:
    """What there is to beat, in words."""
    text = _KINDS[active["kind"]].format(len(active["cards"]))
    lowest = min(card["top"] for card in active["cards"])
    return f"{text}, lowest {lowest}" if active["kind"] == "CONSECUTIVE" else f"{text}: {lowest}"


def cards_text(
    cards: Sequence[Card], paper: Paper, *, positions: bool = False, indent: int = 1
) -> Text:
    """Cards side by side, wrapped to the paper; positions above if asked for."""
    per_row = max(1, (paper.width - indent) // CARD_WIDTH)
    rows = [
        _row(cards[start : start + per_row], start if positions else None, paper, indent)
        for start in range(0, len(cards), per_row)
    ]
    return Text("\n").join(rows)


def _row(cards: Sequence[Card], start: int | None, paper: Paper, indent: int) -> Text:
    above, side, below = _ASCII_FRAME if paper.ascii else _FRAME
    margin = " " * indent
    lines = [
        Text(margin + above * len(cards)),
        Text(margin).append_text(_numbers([c["top"] for c in cards], side, "bold")),
        Text(margin).append_text(_numbers([c["bottom"] for c in cards], side, "dim")),
        Text(margin + below * len(cards)),
    ]
    if start is not None:
        numbers = "".join(f"{start + i:>3} " for i in range(len(cards)))
        lines.insert(0, Text((margin + numbers).rstrip(), style="cyan"))
    return Text("\n").join(lines)


def _numbers(numbers: Sequence[int], side: str, style: str) -> Text:
    text = Text()
    for number in numbers:
        text.append(side).append(f"{number:>2}", style).append(side)
    return text


def position_line(match: Match) -> str:
    """The version and the match as one line of text (docs/notation.md), to be copied."""
    return f"{match['version']} {match['notation'] or match['status']}"


def hand_text(hand: Sequence[Card], paper: Paper, title: str = "Your hand") -> Text:
    """A hand, left to right, every card with its position above it."""
    if not hand:
        return Text.assemble((title, "bold"), ": no card")
    legend = ("  (position, number in play, number if turned)", "dim")
    heading = Text.assemble((title, "bold"), legend)
    return Text("\n").join([heading, cards_text(hand, paper, positions=True)])


def choice_text(hand: Sequence[Card], paper: Paper) -> Text:
    """The two ways up of a hand, to choose from."""
    return Text("\n").join(
        [
            hand_text(hand, paper, "As dealt: `keep`"),
            Text("Turned over: `flip`", style="bold"),
            cards_text([turned(card) for card in hand], paper),
        ]
    )


def table_text(match: Match, paper: Paper) -> Text:
    """The active set, whose it is and what it counts."""
    active = match["round"] and match["round"]["activeSet"]
    if not active:
        choosing = match["status"] == "CHOOSING"
        why = "everybody chooses which way up to play" if choosing else "any set may be shown"
        return Text.assemble(("Table", "bold"), f": empty, {why}")
    owner = (who(match, active["owner"]), "yellow")
    heading = Text.assemble(("Table", "bold"), f": {kind_text(active)}, shown by ", owner)
    return Text("\n").join([heading, cards_text(active["cards"], paper)])


def seats_table(match: Match) -> Table:
    """A line for each seat; `>` marks whose turn it is."""
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column(" ", width=1)
    table.add_column("seat", max_width=NAME_WIDTH, no_wrap=True, overflow="ellipsis")
    for heading in ("cards", "captured", "chips", "S&S", "score"):
        table.add_column(heading, justify="right")
    turn = match["round"]["turn"] if match["round"] else None
    choosing = match["status"] == "CHOOSING"
    for seat in match["seats"]:
        to_act = not seat["hasChosen"] if choosing else seat["number"] == turn
        table.add_row(
            ">" if to_act else " ",
            _seat_name(match, seat["number"], seat["kind"]),
            str(seat["handSize"]),
            str(seat["captured"]),
            str(seat["scoutChips"]),
            "yes" if seat["scoutAndShowAvailable"] else "no",
            str(seat["score"]),
            style="bold green" if to_act else None,
        )
    return table


def _seat_name(match: Match, seat: int, kind: SeatKind) -> Text:
    name = Text(name_of(match, seat), style="dim" if kind == "OPEN" else "")
    if seat == own_seat(match):
        room = NAME_WIDTH - len(" (you)")
        name.truncate(room, overflow="ellipsis")
        name.append(" (you)")
    elif match["seats"][seat]["away"]:
        name.truncate(NAME_WIDTH - len(" (away)"), overflow="ellipsis")
        name.append(" (away)")
    return name


def round_heading(match: Match) -> Text:
    """Which round of how many."""
    number = match["round"]["number"] if match["round"] else 0
    return Text(f"Round {number} of {match['roundCount']}", style="bold")


def result_heading(match: Match, number: int, result: RoundResult) -> Text:
    """Which round is over, and why."""
    return Text(f"Round {number} is over: {_ending(match, result)}.", style="bold")


def result_table(match: Match, result: RoundResult) -> Table:
    """A scored round: what each seat made of it, and where that leaves the match."""
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("seat", max_width=NAME_WIDTH, no_wrap=True, overflow="ellipsis")
    for heading in ("captured", "chips", "in hand", "round", "score"):
        table.add_column(heading, justify="right")
    for line in result["lines"]:
        seat = match["seats"][line["seat"]]
        table.add_row(
            _seat_name(match, line["seat"], seat["kind"]),
            str(line["captured"]),
            str(line["scoutChips"]),
            str(-line["handPenalty"]),
            f"{line['total']:+}",
            str(seat["score"]),
            style="bold" if line["seat"] == result["ender"] else None,
        )
    return table


def _ending(match: Match, result: RoundResult) -> str:
    ender = result["ender"]
    names = {} if ender is None else {"who": who(match, ender), "whose": whose(match, ender)}
    return _REASONS[result["reason"]].format_map(names)


def final_text(match: Match) -> Text:
    """Who has won, and all scores, the highest first."""
    winners = match["winners"] or []
    if not winners:
        return Text("The match ended without a result.", "bold")
    named = " and ".join(who(match, seat) for seat in winners)
    verb = "win" if len(winners) > 1 or named == "you" else "wins"
    lines = [Text(f"{capitalised(named)} {verb} the match.", style="bold green")]
    for seat in sorted(match["seats"], key=lambda s: -s["score"]):
        line = Text(f" {seat['score']:>4}  ").append_text(
            _seat_name(match, seat["number"], seat["kind"])
        )
        lines.append(line)
    return Text("\n").join(lines)
