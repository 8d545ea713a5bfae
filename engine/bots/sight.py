"""What a seat knows, as the small integers that bots weigh moves with."""

from collections import Counter
from dataclasses import dataclass

from engine.bots import features as f
from engine.bots.after import ROOM
from engine.cards import Card, Cards, deck
from engine.legal import may_choose, scout_ends
from engine.views import History, OwnSeat, RoundView, ScoutedCard, ShownSet, View


@dataclass(frozen=True, slots=True)
class Sight:
    """A seat's position for ``engine.bots.moves`` and ``features``; lists have ``ROOM`` to grow."""

    seat: int
    choosing: bool
    tops: list[int]
    bottoms: list[int]
    table: list[int]
    undersides: list[int]
    table_size: int
    facts: list[int]
    may_scout: bool
    may_scout_and_show: bool


@dataclass(frozen=True, slots=True)
class Known:
    """What the history tells everybody, as cards lower number first.

    ``held``: per seat, the cards scouted in the open and not shown since; ``seen``: all that ever
    lay on the table this round.
    """

    held: tuple[frozenset[Card], ...]
    seen: frozenset[Card]


def known(history: History, players: int) -> Known:
    """Who is known to hold which card: a scouted card is everybody's knowledge until shown."""
    held: list[set[Card]] = [set() for _ in range(players)]
    seen: set[Card] = set()
    for event in history:
        if isinstance(event, ShownSet):
            shown = {_either_way_up(card) for card in event.cards}
            seen |= shown
            held[event.seat] -= shown
        elif isinstance(event, ScoutedCard):
            held[event.seat].add(_either_way_up(event.card))
    return Known(tuple(frozenset(cards) for cards in held), frozenset(seen))


def sight(view: View, history: History) -> Sight:
    """The viewer's own position.

    Raises:
        ValueError: the seat has nothing to do.
    """
    you, round_ = view.you, view.round
    choosing = may_choose(view)
    if you is None or round_ is None or not (choosing or round_.turn == you.seat):
        raise ValueError("this seat has nothing to do")
    may_scout = not choosing and bool(scout_ends(view))
    return Sight(
        seat=you.seat,
        choosing=choosing,
        tops=_roomy([card.top for card in you.hand]),
        bottoms=_roomy([card.bottom for card in you.hand]),
        table=_roomy([card.top for card in round_.table]),
        undersides=_roomy([card.bottom for card in round_.table]),
        table_size=len(round_.table),
        facts=_facts(view, you, round_, known(history, len(view.seats))),
        may_scout=may_scout,
        may_scout_and_show=may_scout and view.seats[you.seat].scout_and_show_available,
    )


def _facts(view: View, you: OwnSeat, round_: RoundView, knowledge: Known) -> list[int]:
    players, seat = len(view.seats), you.seat
    acting = round_.starter if round_.turn is None else round_.turn
    facts = [0] * f.FACTS
    facts[f.PLAYERS] = players
    facts[f.OWNER] = -1 if round_.owner is None else (round_.owner - seat) % players
    facts[f.ROW] = round_.scouts_in_a_row
    facts[f.NEXT] = (acting - seat) % players
    facts[f.CHOOSING] = int(round_.turn is None)
    facts[f.LAST] = int(round_.number == view.round_count)
    for offset in range(players):
        of = view.seats[(seat + offset) % players]
        held = knowledge.held[of.number]
        numbers = {number for card in held for number in card}
        near = 0
        for number in numbers:
            near |= 7 << (number - 1)
        block = f.SEATS + offset * f.BLOCK
        facts[block : block + f.BLOCK] = [
            *(of.hand_size, of.captured, of.scout_chips, int(of.scout_and_show_available)),
            *(of.score, len(held), max(numbers, default=0), near),
        ]
    unseen = _unseen(you.hand, round_.table, knowledge, players)
    for number in range(1, 11):
        facts[f.UNSEEN + number] = unseen[number]
    return facts


def _unseen(hand: Cards, table: Cards, knowledge: Known, players: int) -> Counter[int]:
    """How many cards of the deck that the viewer has not seen this round bear each number."""
    seen = knowledge.seen | {_either_way_up(card) for card in (*hand, *table)}
    return Counter(number for card in deck(players) if card not in seen for number in card)


def _either_way_up(card: Card) -> Card:
    return card if card.top < card.bottom else card.turned()


def _roomy(numbers: list[int]) -> list[int]:
    return numbers + [0] * (ROOM - len(numbers))
