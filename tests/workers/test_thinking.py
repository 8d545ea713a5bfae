"""A level's answer is legal and in time, or a quick action is played; and who is late too often."""

import logging
import signal
import threading
import time
from contextlib import suppress

import pytest

from api.values import Fault
from engine.actions import ChooseHand, End, Scout, ScoutAndShow, Show
from engine.bots import LEVELS, Level, quick_action
from engine.legal import is_legal
from engine.views import view
from tests import bad_levels
from tests.builders import position
from workers import thinking
from workers.bench import BENCH_SECONDS, STRIKES, Bench
from workers.interrupts import TookTooLong, within
from workers.thinking import Thought, think

VIEW = view(position("7/2 7/4 9/1 | 5/6 | 8/9", table="6/10 7/8", owner=1), 0)
SHOW = Show(0, 0, 2)
FLAWED = sorted(set(bad_levels.LEVELS) - {"swallows", "stuck"})  # those need a process of their own


@pytest.fixture(autouse=True)
def bench(monkeypatch) -> Bench:
    """A bench on which nobody sits."""
    bench = Bench()
    monkeypatch.setattr(thinking, "bench", bench)
    return bench


@pytest.fixture
def ask(monkeypatch):
    """Lets a function be the level, and tells what comes of it."""

    def ask(choose, budget_ms=5, **more) -> Thought:
        monkeypatch.setitem(LEVELS, "asked", Level("asked", "A test's.", budget_ms, choose))
        return think("asked", VIEW, (), 1, **more)

    return ask


def test_an_answer_that_is_legal_and_in_time_is_what_is_played(ask):
    assert ask(lambda *_: SHOW) == Thought(SHOW)


@pytest.mark.parametrize("name", FLAWED)
def test_a_level_that_fails_plays_quickly_and_is_named_without_a_card(ask, name, caplog):
    with caplog.at_level(logging.ERROR, "ringmaster"):
        thought = ask(bad_levels.LEVELS[name].choose, limit=0.1)

    expected = {
        **dict.fromkeys(("raises", "exits"), Fault.RAISED),
        **dict.fromkeys(("spins", "sleeps"), Fault.TIMEOUT),
        **dict.fromkeys(("illegal", "garbage"), Fault.ILLEGAL),
    }
    assert thought == Thought(quick_action(VIEW), expected[name])
    (record,) = caplog.records
    assert f"level=asked kind={expected[name]} detail=" in record.getMessage()
    assert "/" not in record.getMessage()
    assert "top=" not in caplog.text


def test_a_level_that_is_not_known_here_plays_quickly():
    assert think("of-another-worker", VIEW, (), 1).fault is Fault.RAISED


@pytest.mark.parametrize(
    "answer",
    [
        None,
        SHOW.__class__,
        Show(1, 0, 2),
        Show(0, 0.0, 2),  # type: ignore[arg-type]
        Show(0, "0", 2),  # type: ignore[arg-type]
        Show(0, None, None),  # type: ignore[arg-type]
        Scout(0, "MIDDLE", 0, False),  # type: ignore[arg-type]
        Scout(0, End.LEFT, 0, "yes"),  # type: ignore[arg-type]
        Scout(0, End.LEFT, 4, False),
        ChooseHand(0, False),
    ],
    ids=repr,
)
def test_no_answer_but_a_legal_action_is_played(ask, answer):
    assert ask(lambda *_: answer) == Thought(quick_action(VIEW), Fault.ILLEGAL)


class Number:
    """An integer of another library, as those of numpy."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value

    def __eq__(self, other: object) -> bool:
        return self.value == other

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    "action",
    [SHOW, Scout(0, End.RIGHT, 3, True), ScoutAndShow(0, End.LEFT, 2, True, 0, 2)],
    ids=lambda action: type(action).__name__,
)
def test_numbers_of_other_libraries_are_stored_as_plain_ones(ask, action):
    assert is_legal(VIEW, action)
    fields = {name: getattr(action, name) for name in action.__match_args__}
    foreign = {n: v if isinstance(v, End) else Number(v) for n, v in fields.items()}

    played = ask(lambda *_: type(action)(**foreign)).action

    assert played == action
    assert [type(getattr(played, n)) for n in fields] == [type(v) for v in fields.values()]


def test_cpu_time_is_limited_by_the_budget_and_waiting_by_the_clock(ask):
    def spend(*_):
        until = time.process_time() + 0.8
        while time.process_time() < until:
            pass
        return SHOW

    assert ask(spend, budget_ms=5, limit=20).fault is Fault.TIMEOUT
    assert ask(spend, budget_ms=100, limit=20) == Thought(SHOW)


def test_an_interruption_that_is_swallowed_comes_again(ask):
    def stubborn(*__):
        for _ in range(3):
            with suppress(BaseException):
                time.sleep(10)
        time.sleep(10)

    began = time.monotonic()
    assert ask(stubborn, limit=0.1).fault is Fault.TIMEOUT
    assert time.monotonic() - began < 2


def test_off_the_main_thread_answers_are_checked_all_the_same(ask):
    def sluggish(*_):
        time.sleep(0.2)
        return SHOW

    found: list[Thought] = []
    for choose in (bad_levels.illegal, sluggish):
        asking = threading.Thread(target=lambda c=choose: found.append(ask(c, limit=0.1)))
        asking.start()
        asking.join()

    assert found == [Thought(quick_action(VIEW), Fault.ILLEGAL), Thought(SHOW)]


def test_asked_to_be_quick_the_level_is_not_asked(ask):
    thought = ask(lambda *_: pytest.fail("asked"), quick=True)

    assert thought == Thought(quick_action(VIEW), Fault.TIMEOUT)


def test_timers_and_handlers_are_left_as_they_were_found():
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    timer = signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        assert within(1, 1, lambda: "done") == "done"
        with pytest.raises(TookTooLong):
            within(1, 0.1, lambda: time.sleep(10))

        assert not rung
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 0.2
        assert signal.getitimer(signal.ITIMER_PROF) == (0, 0)
        assert signal.getsignal(signal.SIGPROF) is signal.SIG_DFL
        time.sleep(0.4)
        assert rung == [1]
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *timer)


def test_a_level_late_three_times_running_is_left_alone_for_a_while(ask):
    asked: list[int] = []

    def late(*_):
        asked.append(1)
        time.sleep(10)

    for _ in range(STRIKES + 3):
        assert ask(late, limit=0.02).fault is Fault.TIMEOUT
    assert len(asked) == STRIKES
    assert think("regular", VIEW, (), 1).fault is None


@pytest.fixture
def clock():
    return [100.0]


@pytest.fixture
def slow(clock) -> Bench:
    return Bench(lambda: clock[0])


def be_late(bench: Bench, level: int) -> None:
    with pytest.raises(TookTooLong), bench.asking(level):
        raise TookTooLong("WALL")


def test_who_has_sat_is_asked_again_and_sits_again_at_once(slow, clock):
    for _ in range(STRIKES):
        assert not slow.sits(7, 2)
        be_late(slow, 7)
    assert slow.sits(7, 2)
    assert not slow.sits(8, 2)

    clock[0] += BENCH_SECONDS
    assert not slow.sits(7, 2)
    be_late(slow, 7)
    assert slow.sits(7, 2)

    clock[0] += BENCH_SECONDS
    with slow.asking(7):
        pass
    be_late(slow, 7)
    assert not slow.sits(7, 2)


def test_a_level_that_a_process_was_ended_for_is_not_asked(slow, clock):
    asking = slow.asking(3)
    asking.__enter__()
    clock[0] += 6

    slow.arrive(2)
    assert slow.sits(3, 2)
    assert not slow.sits(4, 2)


def test_a_process_killed_in_the_middle_of_a_thought_is_not_the_levels_fault(slow, clock):
    asking = slow.asking(3)
    asking.__enter__()
    clock[0] += 1

    slow.arrive(2)
    clock[0] += 6
    assert not slow.sits(3, 2)


def test_a_level_that_ends_process_after_process_is_not_asked(slow):
    asked = []  # kept, or they would come to an end
    for _ in range(STRIKES):
        assert not slow.sits(3, 2)
        asked.append(slow.asking(3))
        asked[-1].__enter__()
        slow.arrive(2)

    assert slow.sits(3, 2)


def test_a_level_that_another_process_is_stuck_in_is_not_asked(slow, clock):
    slow._since[0], slow._asking[0] = clock[0], 3 + 1

    assert not slow.sits(3, 2)
    clock[0] += 2.5
    assert slow.sits(3, 2)
