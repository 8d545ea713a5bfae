"""The engine alone: playouts, the longest list of legal actions, the audit of a replay."""

import json
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Final

from engine.audit import audit
from engine.legal import legal_actions
from engine.notation import parse_view
from engine.replay import document
from tests.bench.figures import Figure, middle
from tests.bench.playouts import match, playouts
from tests.builders import logged

RUNS: Final = 5
# Hands that scouted again and again, found by a search among random play.
LONG: Final = (
    "view=1 rules=1 phase=PLAYING round=1 starter=2 turn=1 table=1/10@0 shower=? scouts=0 "
    "actions=? end=- "
    "hands=2|9/7,6/2,4/5,2/10,1/4,4/10,9/5,9/8,2/5,3/8,3/9,2/7,7/3,3/5,6/9,6/8,7/1|1|20 "
    "captured=0,1,2,0 chips=8,2,12,2 scores=0,0,0,0 chosen=yyyy spent=nnyn"
)
LONGEST: Final = (
    "view=2 rules=1 phase=PLAYING round=1 starter=3 turn=2 table=10/6@1 shower=? scouts=0 "
    "actions=? end=- "
    "hands=19|1|2/5,7/8,2/9,4/6,4/2,4/8,4/7,3/8,10/2,2/8,3/10,4/3,8/5,10/8,4/10,1/7,2/1,1/8,"
    "6/9,6/7,5/9|2 captured=0,0,0,0 chips=2,10,0,10 scores=0,0,0,0 chosen=yyyy spent=nnnn"
)


def cpu_of(work: Callable[[], int]) -> list[float]:
    """CPU microseconds per unit of work, of several runs."""
    found = []
    for _ in range(RUNS):
        began = time.process_time()
        units = work()
        found.append((time.process_time() - began) / units * 1e6)
    return found


def listing(which: str, text: str, **limits: float) -> Figure:
    """What it takes to list the legal actions of a position."""
    seen = parse_view(text)
    count = len(legal_actions(seen))
    runs = cpu_of(lambda: len([legal_actions(seen) for _ in range(20)]))
    what = f"legal_actions of {which} position, {count} of them, CPU"
    return middle(what, [each / 1000 for each in runs], "ms", **limits)


def rules(*, peers: bool = False) -> Iterator[Figure]:
    """What the rules cost, in one process, no I/O; ``peers``: beside another's."""
    yield from playouts(peers=peers)
    yield listing("a long", LONG, target=3, moonshot=1)
    yield listing("the longest known", LONGEST)
    replays = [json.dumps(document(logged(match(seed)))) for seed in range(10)]
    parse = cpu_of(lambda: len([json.loads(replay) for replay in replays]))
    parsed = [json.loads(replay) for replay in replays]
    checked = cpu_of(lambda: sum(audit(replay) == [] for replay in parsed))
    yield middle(
        "audit of a replay of four, CPU",
        [each / 1000 for each in checked],
        "ms",
        ratio=median(checked) / median(parse),
        of="json.loads",
    )
