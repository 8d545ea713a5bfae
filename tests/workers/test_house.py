"""What the workers do, without a broker: bots that fail, work that comes late or twice."""

import logging
from dataclasses import dataclass, field

import pytest

from api.errors import Unavailable
from api.service import MatchService
from api.store.memory import MemoryDirectory, MemoryStore
from api.values import Fault, NewMatch
from engine.actions import Show
from engine.bots import LEVELS, Level
from engine.due import BotToAct, Due, RoundToScore
from engine.state import Seat, SeatKind, Status, Visibility
from engine.views import RoundScored
from workers import house


@dataclass
class Queue:
    """Jobs that wait until the test runs them."""

    waiting: list[tuple[str, int, Due]] = field(default_factory=list)

    def hint(self, match_id: str, version: int, due: Due) -> None:
        self.waiting.append((match_id, version, due))


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def service(queue) -> MatchService:
    return MatchService(MemoryStore(), MemoryDirectory(), queue)


async def create(service, level: str, players: int = 3) -> str:
    seats = tuple(Seat(SeatKind.BOT, f"B{n}", level) for n in range(players))
    answer = await service.create("host", NewMatch(seats, Visibility.PUBLIC, None))
    return answer.view.match_id


async def work_off(service, queue, times: int = 1) -> None:
    """Do everything hinted, each thing several times over."""
    while queue.waiting:
        match_id, version, due = queue.waiting.pop(0)
        work = house.score_round if isinstance(due, RoundToScore) else house.play_bot
        for _ in range(times):
            await work(service, match_id, version)


@pytest.mark.parametrize(
    ("level", "players"), [*((level, 2) for level in LEVELS), *(("regular", n) for n in (3, 4, 5))]
)
async def test_bots_play_a_match_to_its_end(service, queue, level, players):
    match_id = await create(service, level, players)

    await work_off(service, queue)

    answer = await service.look(match_id, None)
    assert answer.view.status is Status.FINISHED
    assert answer.view.round.number == {2: 2, 3: 3, 4: 4, 5: 5}[players]


async def test_turns_that_follow_are_played_at_once(service, queue, monkeypatch):
    monkeypatch.setattr(house, "GO_ON_SECONDS", 60)
    match_id = await create(service, "regular")
    _, version, _ = queue.waiting.pop()

    await house.play_bot(service, match_id, version)

    ((_, version, due),) = queue.waiting  # one round is over, and nothing else was handed on
    answer = await service.look(match_id, None)
    assert due == RoundToScore()
    assert (answer.version, answer.view.status) == (version, Status.SCORING)


async def test_later_turns_are_handed_on(service, queue, monkeypatch):
    monkeypatch.setattr(house, "GO_ON_SECONDS", 0)
    match_id = await create(service, "regular")
    _, version, _ = queue.waiting.pop()

    await house.play_bot(service, match_id, version)

    assert queue.waiting == [(match_id, version + 1, BotToAct(1, "regular"))]
    assert (await service.look(match_id, None)).version == version + 1


async def test_every_task_run_three_times_changes_nothing_more(queue, service):
    match_id = await create(service, "regular")
    await work_off(service, queue, times=3)
    thrice = await service.look(match_id, None)
    moments = [moment async for moment in service.follow(match_id, None, 0)]

    assert thrice.view.status is Status.FINISHED
    scored = [
        event.result.lines
        for moment in moments
        for event in moment.events
        if isinstance(event, RoundScored)
    ]
    assert len(scored) == 3
    totals = [sum(lines[seat].total for lines in scored) for seat in range(3)]
    assert totals == [seat.score for seat in thrice.view.seats]


async def test_a_task_of_a_version_that_has_passed_does_nothing(service, queue):
    match_id = await create(service, "regular")
    late = queue.waiting[0]
    await work_off(service, queue)
    before = await service.look(match_id, None)

    await house.play_bot(service, late[0], late[1])
    await house.score_round(service, late[0], late[1])
    await house.expire_turn(service, late[0], late[1])

    assert await service.look(match_id, None) == before


async def test_a_task_of_a_match_that_is_gone_does_nothing(service):
    await house.play_bot(service, "m0-aaaaaaaaaaaaaaaa", 1)
    await house.score_round(service, "m0-aaaaaaaaaaaaaaaa", 1)


def raises(view, *_):
    raise RuntimeError(f"with {view.you.hand} in its text")


def illegal(view, *_):
    return Show(view.you.seat, 99, 1)


def of_another_seat(view, *_):
    return Show((view.you.seat + 1) % len(view.seats), 0, 1)


def nonsense(*_):
    return None


async def test_a_fault_that_cannot_be_counted_costs_no_move(queue, monkeypatch, caplog):
    class Unreachable(MemoryDirectory):
        async def count_fault(self, level: str, fault: Fault) -> None:  # noqa: ARG002
            raise Unavailable("Redis failed")

    monkeypatch.setitem(LEVELS, "broken", Level("broken", "Fails.", 1, raises))
    service = MatchService(MemoryStore(), Unreachable(), queue)
    match_id = await create(service, "broken")

    await work_off(service, queue)

    answer = await service.look(match_id, None)
    assert answer
    assert answer.view.status is Status.FINISHED
    assert "fault of level broken not counted" in caplog.text


@pytest.mark.parametrize("choose", [raises, illegal, of_another_seat, nonsense])
async def test_a_level_that_fails_is_logged_and_the_match_goes_on(
    service, queue, choose, monkeypatch, caplog
):
    monkeypatch.setitem(LEVELS, "broken", Level("broken", "Fails.", 1, choose))
    match_id = await create(service, "broken")

    with caplog.at_level(logging.ERROR, "ringmaster"):
        await work_off(service, queue)

    answer = await service.look(match_id, None)
    assert answer.view.status is Status.FINISHED
    assert any("bot fault: level=broken " in record.getMessage() for record in caplog.records)
    assert await service.faults("broken") >= 3
    assert "top=" not in caplog.text
    assert all(record.exc_info is None for record in caplog.records)
