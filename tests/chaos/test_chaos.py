"""The short form of `make chaos`: each kind of fault once, on one set of processes."""

import pytest

from tests.chaos.run import run
from tests.chaos.schedule import Step

STEPS = (
    Step(
        0.5,
        (
            ("an API process killed", 1),
            ("a worker's process killed", 1),
            ("answers to clients lost", 1),
        ),
    ),
    Step(0.2, (("an API process frozen", 2), ("the broker stalled", 1), ("a sweeper killed", 1))),
    Step(0.2, (("clients cut off", 1), ("the broker cut off", 1))),
    Step(0.2, (("answers of the store lost", 1), ("tasks repeated", 1), ("the broker emptied", 1))),
    Step(0.2, (("Redis killed", 1),)),
    Step(0.2, (("all workers killed", 1),)),
)


@pytest.mark.timeout(240)
async def test_nothing_is_lost_doubled_or_stuck_whatever_is_killed_cut_or_stalled(tmp_path):
    told: list[str] = []
    wrong = await run(tmp_path, 1, STEPS, 200, told.append, short=True)

    assert wrong == [], "\n".join(told)
