"""What the API answers, typed field for field, and the GraphQL documents that ask for it."""

from typing import Final, Literal, TypedDict

Status = Literal["LOBBY", "CHOOSING", "PLAYING", "SCORING", "FINISHED", "ABANDONED"]
SeatKind = Literal["OPEN", "PLAYER", "BOT"]
SetKind = Literal["SINGLE", "MATCHING", "CONSECUTIVE"]
End = Literal["LEFT", "RIGHT"]
Reason = Literal["HAND_EMPTIED", "ALL_SCOUTED", "STUCK", "ACTION_LIMIT"]

OVER: Final[frozenset[Status]] = frozenset({"FINISHED", "ABANDONED"})


class Card(TypedDict):
    top: int
    bottom: int


class Seat(TypedDict):
    number: int
    kind: SeatKind
    name: str | None
    botLevel: str | None
    away: bool
    score: int
    handSize: int
    captured: int
    scoutChips: int
    scoutAndShowAvailable: bool
    hasChosen: bool


class ScoreLine(TypedDict):
    seat: int
    captured: int
    scoutChips: int
    handPenalty: int
    total: int


class RoundResult(TypedDict):
    reason: Reason
    ender: int | None
    lines: list[ScoreLine]


class ActiveSet(TypedDict):
    owner: int
    kind: SetKind
    cards: list[Card]


class Round(TypedDict):
    number: int
    starter: int
    turn: int | None
    activeSet: ActiveSet | None
    deadline: str | None


class ShowOption(TypedDict):
    first: int
    count: int
    kind: SetKind


class ScoutOption(TypedDict):
    ends: list[End]
    maxInsertAt: int


class Legal(TypedDict):
    flip: bool
    shows: list[ShowOption]
    scout: ScoutOption | None
    scoutAndShowAvailable: bool


class You(TypedDict):
    seat: int
    hand: list[Card]
    legal: Legal


class Match(TypedDict):
    id: str
    status: Status
    version: int
    notation: str | None
    joinCode: str | None
    playerCount: int
    roundCount: int
    seats: list[Seat]
    round: Round | None
    you: You | None
    winners: list[int] | None


class PlayerJoined(TypedDict):
    type: Literal["PlayerJoined"]
    seat: int
    name: str


class PlayerLeft(TypedDict):
    type: Literal["PlayerLeft"]
    seat: int


class MatchStarted(TypedDict):
    type: Literal["MatchStarted"]
    players: int


class HandsDealt(TypedDict):
    type: Literal["HandsDealt"]
    round: int
    starter: int


class HandChosen(TypedDict):
    type: Literal["HandChosen"]
    seat: int


class SetShown(TypedDict):
    type: Literal["SetShown"]
    seat: int
    cards: list[Card]
    kind: SetKind
    captured: int


class CardScouted(TypedDict):
    type: Literal["CardScouted"]
    seat: int
    end: End
    card: Card
    owner: int


class TurnExpired(TypedDict):
    type: Literal["TurnExpired"]
    seat: int


class ClockRestarted(TypedDict):
    type: Literal["ClockRestarted"]
    seconds: int


class SeatHandedToBot(TypedDict):
    type: Literal["SeatHandedToBot"]
    seat: int


class PlayerReturned(TypedDict):
    type: Literal["PlayerReturned"]
    seat: int


class RoundEnded(TypedDict):
    type: Literal["RoundEnded"]
    result: RoundResult


class MatchFinished(TypedDict):
    type: Literal["MatchFinished"]
    winners: list[int]
    totals: list[int]


class MatchAbandoned(TypedDict):
    type: Literal["MatchAbandoned"]
    reason: str


Event = (
    PlayerJoined
    | PlayerLeft
    | MatchStarted
    | HandsDealt
    | HandChosen
    | SetShown
    | CardScouted
    | TurnExpired
    | ClockRestarted
    | SeatHandedToBot
    | PlayerReturned
    | RoundEnded
    | MatchFinished
    | MatchAbandoned
)


class Update(TypedDict):
    """One commit; without events, the match as it stands."""

    version: int
    events: list[Event]
    match: Match


_MATCH: Final = """
fragment M on Match {
  id status version notation joinCode playerCount roundCount winners
  seats { number kind name botLevel away score handSize captured scoutChips
          scoutAndShowAvailable hasChosen }
  round { number starter turn deadline activeSet { owner kind cards { top bottom } } }
  you { seat hand { top bottom }
        legal { flip shows { first count kind } scout { ends maxInsertAt }
                scoutAndShowAvailable } }
}
"""
_EVENTS: Final = """
fragment E on MatchEvent {
  type: __typename
  ... on PlayerJoined { seat name }
  ... on PlayerLeft { seat }
  ... on MatchStarted { players }
  ... on HandsDealt { round starter }
  ... on HandChosen { seat }
  ... on SetShown { seat cards { top bottom } kind captured }
  ... on CardScouted { seat end card { top bottom } owner }
  ... on TurnExpired { seat }
  ... on ClockRestarted { seconds }
  ... on SeatHandedToBot { seat }
  ... on PlayerReturned { seat }
  ... on RoundEnded {
    result { reason ender lines { seat captured scoutChips handPenalty total } }
  }
  ... on MatchFinished { winners totals }
  ... on MatchAbandoned { reason }
}
"""
_PAYLOAD: Final = "{ match { ...M } userErrors { code message } }"

SIGN_IN: Final = """mutation ($name: String!) {
  signInAsGuest(name: $name) { token userErrors { code message } }
}"""
FIND_MATCH: Final = "query ($match: ID!) { match(id: $match) { ...M } }" + _MATCH
UPDATES: Final = (
    """subscription ($match: ID!, $after: Int) {
  matchUpdates(matchId: $match, after: $after) { version events { ...E } match { ...M } }
}"""
    + _MATCH
    + _EVENTS
)
SHOWS_AFTER_SCOUT: Final = """query ($match: ID!, $end: End!, $insertAt: Int!, $flip: Boolean!) {
  match(id: $match) { you { legal {
    showsAfterScout(end: $end, insertAt: $insertAt, flip: $flip) { first count kind }
  } } }
}"""


def mutation(name: str, input_type: str) -> str:
    """A mutation with one input object that answers with the match."""
    return f"mutation ($input: {input_type}!) {{ {name}(input: $input) {_PAYLOAD} }}{_MATCH}"


def mutation_by_id(name: str) -> str:
    """A mutation that takes the match's id alone and answers with the match."""
    return f"mutation ($match: ID!) {{ {name}(matchId: $match) {_PAYLOAD} }}{_MATCH}"
