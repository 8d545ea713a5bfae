"""Whether what was seen fits the logs: one line for each thing that is wrong."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from engine.audit import audit
from tests.chaos.records import Ack, Fault, Log, Record, Stream

FROZEN: Final = "an API process frozen"
FROZEN_SECONDS: Final = 5.0  # of a turn, after which its clock may run out
STILL_SECONDS: Final = 15.0  # that a match the house is to go on with may stand, nothing broken


def judge(record: Record, logs: Mapping[str, Log], now: float) -> list[str]:
    """Everything that is wrong. ``now``: when the logs were read, seconds since the epoch."""
    wrong = list(record.odd)
    for match_id, log in logs.items():
        wrong += whole(log)
        wrong += acknowledged(log, [a for a in record.acks if a.match_id == match_id])
        for stream in record.streams:
            if stream.match_id == match_id:
                wrong += followed(log, stream)
        wrong += clocks(log, record.faults)
        wrong += still(log, record.faults, now)
        if record.replays.get(match_id) is not None:
            wrong += replayed(log, record.replays[match_id])
    return [*wrong, *keys(record, logs)]


def whole(log: Log) -> Iterator[str]:
    """Versions from 1 on without a gap, each chained to the one before."""
    if not log.entries:
        yield f"{log.match_id}: there is no log"
    for place, entry in enumerate(log.entries, 1):
        if entry.version != place:
            yield f"{log.match_id}: version {entry.version} stands where {place} belongs"
            return
        if entry.hash != log.chained[place - 1]:
            yield f"{log.match_id}: the hash of version {place} is not that of its events"
            return


def acknowledged(log: Log, acks: Iterable[Ack]) -> Iterator[str]:
    """Every acknowledged version is in the log, as it was acknowledged, by that seat's move."""
    found = {entry.version: entry for entry in log.entries}
    for ack in acks:
        name = f"{log.match_id}: version {ack.version}, acknowledged to seat {ack.seat},"
        entry = found.get(ack.version)
        if entry is None:
            yield f"{name} is lost"
        elif entry.hash != ack.hash:
            yield f"{name} is another one in the log"
        elif ack.seat not in entry.movers:
            yield f"{name} is no move of that seat"


def followed(log: Log, stream: Stream) -> Iterator[str]:
    """The stream saw each version once, in order, as the log has it; to the end if it is over."""
    name = f"{log.match_id}: the stream of {stream.who}"
    hashes = [entry.hash for entry in log.entries]
    for place, seen in enumerate(stream.seen, 1):
        if seen.version != place:
            yield f"{name} saw version {seen.version} where {place} belongs"
            return
        if place > len(hashes) or seen.hash != hashes[place - 1]:
            yield f"{name} saw another version {place} than the log has"
            return
    if stream.over and len(stream.seen) != len(hashes):
        yield f"{name} ended at version {len(stream.seen)} of {len(hashes)}"


def keys(record: Record, logs: Mapping[str, Log]) -> Iterator[str]:
    """A key led to one version, a version has one key, and no move was made without its key."""
    versions: dict[str, set[int]] = defaultdict(set)
    by: dict[tuple[str, int], set[str]] = defaultdict(set)
    for ack in record.acks:
        if ack.key is not None:
            versions[ack.key].add(ack.version)
            by[ack.match_id, ack.version].add(ack.key)
    for key, made in versions.items():
        if len(made) > 1:
            yield f"the key {key} led to versions {sorted(made)}"
    for (match_id, version), used in by.items():
        if len(used) > 1:
            yield f"{match_id}: version {version} answers the keys {sorted(used)}"
    for match_id, log in logs.items():
        for entry in log.entries:
            seats = [seat for seat in entry.movers if (match_id, seat) in record.keyed]
            if log.over and seats and (match_id, entry.version) not in by:
                yield f"{match_id}: version {entry.version} of seat {seats[0]} answers no key"


def clocks(log: Log, faults: Iterable[Fault]) -> Iterator[str]:
    """No clock ran out: all players were there, and what an outage takes is given again.

    One process that stands still beside another is no outage, but can take a client's time.
    """
    for before, entry in pairwise(log.entries):
        frozen = sum(
            max(0.0, min(fault.ended, entry.at) - max(fault.began, before.at))
            for fault in faults
            if fault.name == FROZEN
        )
        if entry.expired and frozen < FROZEN_SECONDS:
            name = f"{log.match_id}: a clock ran out at version {entry.version}"
            yield f"{name}, though its player was there"


def still(log: Log, faults: Sequence[Fault], now: float) -> Iterator[str]:
    """While the house was to go on, the match did not stand for long with nothing broken."""
    ends = [*(entry.at for entry in log.entries[1:]), now]
    for entry, end in zip(log.entries, ends, strict=False):  # of none there is no end
        if entry.owed:
            longest = max((b - a for a, b in unbroken(entry.at, end, faults)), default=0)
            if longest > STILL_SECONDS:
                name = f"{log.match_id}: version {entry.version}"
                yield f"{name} stood for {longest:.1f} s with nothing broken"


def unbroken(begin: float, end: float, faults: Sequence[Fault]) -> Iterator[tuple[float, float]]:
    """The parts of a time in which nothing was broken."""
    for fault in sorted(faults, key=lambda one: one.began):
        if fault.ended <= begin or fault.began >= end:
            continue
        if fault.began > begin:
            yield begin, fault.began
        begin = fault.ended
    if begin < end:
        yield begin, end


def slowest(
    logs: Iterable[Log], fault: Fault, faults: Sequence[Fault], until: float
) -> float | None:
    """Seconds from the end of a fault to the next move of the last bots' match to make one.

    Without those in which something else was broken. None if no match of bots alone was under way.
    """
    waited = []
    for log in logs:
        times = [entry.at for entry in log.entries]
        if not log.house or not times or times[0] > fault.ended:
            continue
        after = [at for at in times if at > fault.ended]
        if after or log.entries[-1].owed:
            end = after[0] if after else until
            waited.append(sum(b - a for a, b in unbroken(fault.ended, end, faults)))
    return max(waited, default=None)


def replayed(log: Log, replay: dict) -> Iterator[str]:
    """The replay agrees with the rules, and its hashes with the log's."""
    for fault in audit(replay):
        yield f"{log.match_id}: replay: {fault}"
    if [one["hash"] for one in replay["log"]] != [entry.hash for entry in log.entries]:
        yield f"{log.match_id}: the replay's hashes are not those of the log"
