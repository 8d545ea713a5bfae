"""What helps after a refusal: how things stand, in the terms of what was tried."""

from typing import Final

from api.cli.terminal.data import Card, Match
from api.cli.terminal.drawing import kind_text, name_of, tops
from api.cli.terminal.moves import ChooseHand, Move, Scout, ScoutAndShow, Show, scouted_card

LIST_THEM: Final = "`moves` lists what you can do."
HOW_TO_BEAT: Final = (
    "More cards beat it; or as many, equal numbers where it is a run; or a higher lowest number."
)


def hint(code: str, move: Move, match: Match) -> str:
    """A sentence or two to go with a refusal of ``move`` in ``match``."""
    match code:
        case "WRONG_PHASE":
            return _phase(match)
        case "NOT_YOUR_TURN":
            turn = match["round"]["turn"] if match["round"] else None
            return "" if turn is None else f"It is the turn of {name_of(match, turn)}."
        case "BAD_INSERTION":
            size = len(_hand(match))
            return f"Gaps are 0, before the first card, to {size}, after the last one."
        case "BAD_RANGE":
            return f"Positions are 0 to {_hand_size(move, match) - 1}; {_tried(move)}."
        case "NOT_A_SET":
            return f"You tried {_cards_tried(move, match)}. {LIST_THEM}"
        case "SET_TOO_LOW":
            return f"You tried {_cards_tried(move, match)}. {_to_beat(move, match)} {LIST_THEM}"
        case _:
            return LIST_THEM


def _phase(match: Match) -> str:
    you = match["you"]
    if match["status"] == "LOBBY":
        return "The match has not begun: seats are still open."
    if you and you["legal"]["flip"]:
        return "First choose which way up to hold your hand: `keep` or `flip`."
    if match["status"] == "CHOOSING":
        return "The others are still choosing."
    return "Hands are chosen only before a round." if match["status"] == "PLAYING" else ""


def _hand(match: Match) -> list[Card]:
    you = match["you"]
    return list(you["hand"]) if you else []


def _hand_size(move: Move, match: Match) -> int:
    return len(_hand(match)) + isinstance(move, ScoutAndShow)


def _show_of(move: Move) -> Show | None:
    match move:
        case ScoutAndShow():
            return move.show
        case Show():
            return move
        case ChooseHand() | Scout():
            return None


def _tried(move: Move) -> str:
    show = _show_of(move)
    if show is None or show.count < 1:
        return "a set has at least one card"
    return f"you tried {show.first} to {show.first + show.count - 1}"


def _cards_tried(move: Move, match: Match) -> str:
    show, hand = _show_of(move), _hand(match)
    if show is None:
        return "that"
    if isinstance(move, ScoutAndShow) and (card := scouted_card(match, move.scout)):
        hand.insert(move.scout.insert_at, card)
    return tops(hand[show.first : show.first + show.count])


def _to_beat(move: Move, match: Match) -> str:
    active = match["round"]["activeSet"] if match["round"] else None
    if not active:
        return ""
    if isinstance(move, ScoutAndShow):
        kept = active["cards"][1:] if move.scout.end == "LEFT" else active["cards"][:-1]
        return f"The scout leaves {tops(kept)} on the table. {HOW_TO_BEAT}"
    return f"On the table is {kind_text(active)}. {HOW_TO_BEAT}"
