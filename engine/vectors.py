"""Cases of the rules as data (format ``ringmaster-vectors/1``), run through the engine.

Anyone who ports the rules can run the same file through both programs.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from engine.cards import Cards
from engine.codec import decode_action
from engine.decide import decide
from engine.errors import RuleError
from engine.evolve import fold, round_of
from engine.notation import format_card, match_at, parse_card
from engine.scoring import score_round
from engine.sets import kind_of, strength
from engine.state import Match, Round, Status

FORMAT: Final = "ringmaster-vectors/1"
Case = Mapping[str, Any]


def check(document: Case) -> list[str]:
    """One line per case that the engine answers otherwise; empty if it agrees with all.

    Raises:
        ValueError: the document is not of this format.
    """
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"the format is not {FORMAT}")
    faults = []
    for kind, check_case in (("compare", check_comparison), ("transitions", check_transition)):
        cases = document.get(kind)
        if not isinstance(cases, list):
            raise ValueError(f"{kind} is not a list")  # noqa: TRY004 - one error for a bad document
        faults += [_fault(check_case, case, f"{kind}[{at}]") for at, case in enumerate(cases)]
    return [fault for fault in faults if fault is not None]


def _fault(check_case: Callable[[Case], str | None], case: Any, name: str) -> str | None:
    if isinstance(case, dict) and isinstance(case.get("id"), str):
        name = case["id"]
    try:
        return check_case(case)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        return f"{name}: this is no case of the format"


def check_comparison(case: Case) -> str | None:
    """None if the engine agrees whether ``new`` beats ``table``, else a line that says how not."""
    new, table = case["new"], case["table"]
    answer: bool | str = strength(new) > strength(table)
    if kind_of(new) is None:
        answer = "NOT_A_SET"
    if answer == case["expect"]:
        return None
    return f"{case['id']}: {new} on {table} is {_json(answer)}, expected {_json(case['expect'])}"


def check_transition(case: Case) -> str | None:
    """None if the engine agrees with a case's outcome, else a line that says how not."""
    match = position(case)
    error = None
    for data in case["actions"]:
        try:
            match = fold(match, decide(match, decode_action(data), 0))
        except RuleError as refused:
            error = refused.reason.value
            break
    if error and "error" not in case["expect"]:
        return f"{case['id']}: refused with {error}, expected to be accepted"
    got = _outcome(match) | {"error": error}
    for name, expected in case["expect"].items():
        if got.get(name) != expected:
            return f"{case['id']}: {name} is {_json(got.get(name))}, expected {_json(expected)}"
    return None


def _json(value: Any) -> str:
    return json.dumps(value)


def position(case: Case) -> Match:
    """The match that a case begins with.

    Raises:
        ValueError: there is not one hand per player.
        KeyError: the case lacks a field.
    """
    round_ = Round(
        number=1,
        starter=case["starter"],
        hands=tuple(_cards(hand) for hand in case["hands"]),
        chosen=tuple(case["chosen"]),
        captured=tuple(case["captured"]),
        chips=tuple(case["chips"]),
        scout_and_show_spent=tuple(case["scoutAndShowSpent"]),
        table=_cards(case["activeSet"]),
        owner=case["owner"],
        last_shower=case["lastShower"],
        scouts_in_a_row=case["scouts"],
        turn=case["turn"],
    )
    if len(round_.hands) != case["players"]:
        raise ValueError(f"{case['id']} has not as many hands as players")
    return match_at(round_, Status(case["phase"]))


def _cards(texts: list[str]) -> Cards:
    return tuple(parse_card(text) for text in texts)


def _texts(cards: Cards) -> list[str]:
    return [format_card(card) for card in cards]


def _outcome(match: Match) -> dict[str, Any]:
    r = round_of(match)
    got: dict[str, Any] = {
        "phase": match.status.value,
        "hands": [_texts(hand) for hand in r.hands],
        "activeSet": _texts(r.table),
        "owner": r.owner,
        "turn": r.turn,
        "scouts": r.scouts_in_a_row,
        "chosen": list(r.chosen),
        "captured": list(r.captured),
        "chips": list(r.chips),
        "scoutAndShowSpent": list(r.scout_and_show_spent),
    }
    if r.ending is not None:
        result = score_round(r, r.ending)
        got |= {"reason": r.ending.reason.value, "ender": r.ending.ender}
        got["scores"] = [line.total for line in result.lines]
    return got
