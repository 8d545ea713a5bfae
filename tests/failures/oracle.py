"""Who may know which card where, by a replay alone; and a search for what nobody may.

Nothing here uses the server's views: the hands as dealt, the choices and the actions of the replay
are played anew, with a few lines of list handling, to the state after every version.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Cards = list[tuple[int, int]]

CARD_TEXT = re.compile(r"(?<![\d.])(\d{1,2})/(\d{1,2})(?![\d])")
# What an event may tell beside its type.
TOLD = {
    "PlayerJoined": {"seat", "name"},
    "PlayerLeft": {"seat"},
    "MatchStarted": {"players"},
    "HandsDealt": {"round", "starter"},
    "HandChosen": {"seat"},
    "SetShown": {"seat", "cards", "kind", "captured"},
    "CardScouted": {"seat", "end", "card", "owner"},
    "TurnExpired": {"seat"},
    "ClockRestarted": {"seconds"},
    "SeatHandedToBot": {"seat"},
    "PlayerReturned": {"seat"},
    "RoundEnded": {"result"},
    "MatchFinished": {"winners", "totals"},
    "MatchAbandoned": {"reason"},
}
# Names under which something private could be told.
PRIVATE = {
    *("flip", "flipped", "insertAt", "first", "hand", "hands", "deck", "deal"),
    *("secret", "entropy", "host", "playerId", "player", "token", "joinCode"),
}


@dataclass(frozen=True)
class Position:
    """What is so after a version: the round, all hands, the table, and what was seen of the round.

    ``told``: the cards that its events tell of, by event.
    """

    round: int
    hands: tuple[Cards, ...]
    table: Cards
    owner: int | None
    seen: frozenset[frozenset[int]]
    seated: frozenset[int]
    told: tuple[tuple[str, int | None, Cards], ...]


class Truth:
    """The position after every version of a match."""

    def __init__(self, replay: dict[str, Any]) -> None:
        self.replay = replay
        self.match_id: str = replay["matchId"]
        self.positions: dict[int, Position] = {}
        players = replay["players"]
        self._round = 0
        self._hands: list[Cards] = [[] for _ in range(players)]
        self._table: Cards = []
        self._owner: int | None = None
        self._seen: set[frozenset[int]] = set()
        self._actions: Iterator[dict[str, Any]] = iter(())
        self._showing: dict[str, Any] | None = None
        joining = {e["seat"] for v in replay["log"] for e in v["events"] if _type(e) in JOINS}
        self._seated = set(range(players)) - joining
        for entry in replay["log"]:
            told = tuple(self._take(event) for event in entry["events"])
            self.positions[entry["version"]] = Position(
                self._round,
                tuple(list(hand) for hand in self._hands),
                list(self._table),
                self._owner,
                frozenset(self._seen),
                frozenset(self._seated),
                told,
            )
        self.last = max(self.positions)

    def _take(self, event: dict[str, Any]) -> tuple[str, int | None, Cards]:
        kind, seat, cards = _type(event), event.get("seat"), []
        match kind:
            case "PlayerJoined":
                self._seated.add(event["seat"])
            case "HandsDealt":
                self._deal()
            case "HandChosen":
                if self._of_round()["flipped"][seat]:
                    self._hands[event["seat"]] = [(b, t) for t, b in self._hands[event["seat"]]]
            case "SetShown":
                action = self._showing or next(self._actions)
                cards = self._show(action)
            case "CardScouted":
                cards = [self._scout(next(self._actions))]
        self._seen |= {frozenset(card) for card in cards}
        return kind, seat, cards

    def _of_round(self) -> dict[str, Any]:
        found: dict[str, Any] = self.replay["rounds"][self._round - 1]
        return found

    def _deal(self) -> None:
        self._round += 1
        dealt = self._of_round()
        self._hands = [[(top, bottom) for top, bottom in hand] for hand in dealt["hands"]]
        self._table, self._owner, self._seen = [], None, set()
        self._actions = iter(dealt["actions"])

    def _show(self, action: dict[str, Any]) -> Cards:
        hand, first, count = self._hands[action["seat"]], action["first"], action["count"]
        self._table, self._owner = hand[first : first + count], action["seat"]
        del hand[first : first + count]
        self._showing = None
        return list(self._table)

    def _scout(self, action: dict[str, Any]) -> tuple[int, int]:
        card = self._table.pop(0 if action["end"] == "LEFT" else -1)
        held = card[::-1] if action["flip"] else card
        self._hands[action["seat"]].insert(action["insertAt"], held)
        if not self._table:
            self._owner = None
        if action["type"] == "SCOUT_AND_SHOW":
            self._showing = action
        return card


JOINS = {"PlayerJoined"}


def _type(event: dict[str, Any]) -> str:
    found: str = event.get("type") or event["__typename"]
    return found


@dataclass(frozen=True)
class Received:
    """What a viewer was sent, to the byte; ``version``: of the match then, if it is known."""

    viewer: str
    seat: int | None
    channel: str
    text: str
    version: int | None = None


@dataclass
class Scan:
    """What was looked at, and what should not have been there.

    Attributes:
        unseen: texts that nobody may be sent before the end, or, by viewer, never.
        outsiders_see: whether who has no seat may see the match at all.
    """

    truth: Truth
    unseen: dict[str, set[str]] = field(default_factory=dict)
    outsiders_see: bool = True
    findings: list[str] = field(default_factory=list)
    cards: Counter[tuple[str, str]] = field(default_factory=Counter)

    def take(self, got: Received) -> None:
        """Look through what a viewer was sent."""
        Look(self, got).whole()


class Look:
    """One look through one text."""

    def __init__(self, scan: Scan, got: Received) -> None:
        self.scan, self.got, self.truth = scan, got, scan.truth

    def found(self, what: str, where: str) -> None:
        self.scan.findings.append(f"{self.got.viewer} by {self.got.channel} at {where}: {what}")

    def whole(self) -> None:
        text = self.got.text
        over = self.got.version == self.truth.last
        if not over and self.truth.replay["secret"] in text:
            self.found("the secret", "-")
        for hidden in self.scan.unseen.get(self.got.viewer, set()):
            if hidden in text and not (over and hidden in json.dumps(self.truth.replay)):
                self.found("a text of somebody else's", "-")
        if not self.scan.outsiders_see and self.got.seat is None and self.truth.match_id in text:
            self.found("a private match", "-")
        if text.strip():
            self.walk(json.loads(text), "$")

    def walk(self, node: Any, where: str, *, own: bool = False) -> None:
        """Look at what is in no place that may hold a card."""
        match node:
            case {"format": "ringmaster-replay/1"}:
                if self.got.version != self.truth.last:
                    self.found("a replay before the end", where)
            case {"top": _, "bottom": _}:
                self.found(f"a card: {node}", where)
            case {"events": list(), "version": int()}:
                self.update(node, where)
            case {"id": str(), "version": int(), "seats": list()}:
                self.match(node, where)
            case dict():
                for name, value in node.items():
                    self.named(name, value, f"{where}.{name}", own=own)
            case list():
                self.items(node, where, own=own)
            case str():
                self.text(node, where)

    def items(self, node: list[Any], where: str, *, own: bool) -> None:
        if node and all(_is_pair(item) for item in node):
            self.found(f"cards: {node}", where)
        for number, item in enumerate(node):
            self.walk(item, f"{where}[{number}]", own=own)

    def named(self, name: str, value: Any, where: str, *, own: bool) -> None:
        mine = own or (name in OF_A_SEAT and self.got.seat is not None)
        if name in PRIVATE and not mine and value is not None:
            self.found(f"{name}: {value}", where)
        self.walk(value, where, own=mine)

    def text(self, text: str, where: str) -> None:
        if text.startswith(("{", "[")):
            self.walk(json.loads(text), where)
            return
        at = self.truth.positions.get(self.got.version or 0)
        known: frozenset[frozenset[int]] = frozenset()
        if at is not None and where.endswith(".reason") and self.got.seat is not None:
            known = at.seen | {frozenset(card) for card in at.hands[self.got.seat]}
        for card in CARD_TEXT.findall(text):
            if frozenset(map(int, card)) not in known:
                self.found(f"a card in a text: {text}", where)

    def update(self, update: dict[str, Any], where: str) -> None:
        at = self.truth.positions[update["version"]]
        if update["events"] and len(update["events"]) != len(at.told):
            self.found("other events than happened", where)
        for event, (kind, seat, cards) in zip(update["events"], at.told, strict=False):
            if _type(event) != kind or event.get("seat") != seat:
                self.found(f"another event than happened: {event}", where)
            if more := set(event) - TOLD[kind] - {"type", "__typename"}:
                self.found(f"an event tells {more}", where)
            shown = event.get("cards") or [event["card"]] if cards else []
            self.same(shown, cards, f"{where}.events")
            self.walk({n: v for n, v in event.items() if n not in ("cards", "card")}, where)
        self.walk({n: v for n, v in update.items() if n != "events"}, where)

    def match(self, match: dict[str, Any], where: str) -> None:
        if match["id"] != self.truth.match_id:
            return  # of which nothing is known here
        at, rest = self.truth.positions[match["version"]], dict(match)
        del rest["seats"]
        self.walk(match["seats"], f"{where}.seats")
        seat = self.got.seat if self.got.seat in at.seated else None
        self.you(rest.pop("you", None), at, seat, f"{where}.you")
        if rest.pop("joinCode", None) is not None and seat is None:
            self.found("the join code", where)
        line = rest.pop("notation", None)
        if line is not None:
            self.line(line, at, seat, f"{where}.notation")
        round_ = dict(rest.pop("round", None) or {"activeSet": None})
        active = dict(round_.pop("activeSet") or {"cards": [], "owner": None})
        self.same(active.pop("cards"), at.table, f"{where}.round.activeSet")
        self.walk([rest, round_, active], where)

    def you(self, you: dict[str, Any] | None, at: Position, seat: int | None, where: str) -> None:
        if you is None:
            return
        rest = dict(you)
        if seat is None or rest.pop("seat") != seat:
            self.found(f"another's seat: {you}", where)
            return
        self.same(rest.pop("hand"), at.hands[seat], f"{where}.hand")
        self.walk(rest, where, own=True)

    def line(self, line: str, at: Position, seat: int | None, where: str) -> None:
        parts = dict(part.split("=") for part in line.split(" "))
        if parts["view"] != ("none" if seat is None else str(seat)):
            self.found(f"another's view: {line}", where)
        for number, hand in enumerate(parts.pop("hands").split("|")):
            if number == seat:
                self.same(_written(hand), at.hands[number], where)
            elif hand != str(len(at.hands[number])):
                self.found(f"another's hand: {hand}", where)
        self.same(_written(parts.pop("table").partition("@")[0]), at.table, where)
        for value in parts.values():
            self.text(value, where)

    def same(self, told: list[Any], cards: Cards, where: str) -> None:
        for card in told:
            if set(card) != {"top", "bottom"} and not isinstance(card, tuple):
                self.found(f"more than a card: {card}", where)
        got = [c if isinstance(c, tuple) else (c["top"], c["bottom"]) for c in told]
        if got != cards:
            self.found(f"{got} in the place of {cards}", where)
        place = re.sub(r".*\.", "", where)
        self.scan.cards[self.got.viewer, place] += len(got)


# What is told to a seat about its own moves.
OF_A_SEAT = {"scoutAndShow", "shows", "advice"}


def _written(text: str) -> Cards:
    return [(int(top), int(bottom)) for top, bottom in CARD_TEXT.findall(text)]


def _is_pair(item: Any) -> bool:
    return (
        isinstance(item, list)
        and len(item) == 2
        and all(type(n) is int and 1 <= n <= 10 for n in item)
    )
