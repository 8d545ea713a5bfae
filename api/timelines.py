"""What this process knows of matches: a cache that only the store can vouch for.

A timeline is brought up to date by reading the log's tail; it also wakes the followers of a match.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from weakref import WeakValueDictionary

from api.ports import Commit
from api.values import Moment
from engine.events import Event, HandsDealt
from engine.evolve import fold
from engine.state import Match
from engine.views import Common, PublicEvent, View, common, redact, view, view_with

RECENT = 8
KEPT = 1024  # timelines that stay in memory though nobody follows them, some 100 kB each


class Timeline:
    """The commits of one match, from the first on, and the state that they lead to."""

    def __init__(self, match_id: str) -> None:
        self.match_id = match_id
        self.commits: list[Commit] = []
        self.match: Match | None = None
        self.followers = 0
        self._moments: dict[tuple[int | None, bool], Moment] = {}
        self._common: Common | None = None  # of the last state
        self.writing = asyncio.Lock()  # writers of one process queue instead of racing
        self._changed = asyncio.Event()

    @property
    def version(self) -> int:
        """The number of commits known."""
        return len(self.commits)

    def nonce_of(self, version: int) -> str | None:
        """The nonce of a version's commit, by which it is told from another; None: not known."""
        return self.commits[version - 1].nonce if 0 < version <= self.version else None

    def merge(self, since: int, commits: Sequence[Commit]) -> bool:
        """Take in the log as read from version ``since`` on; False if it is another log.

        The log must still hold the commit ``since`` that is known here: otherwise it expired or
        lost its end, and everything known is forgotten.
        """
        known = self.commits
        if since > len(known):
            return False  # forgotten while the log was being read
        if since and (not commits or commits[0].nonce != known[since - 1].nonce):
            self.commits, self.match, self._moments, self._common = [], None, {}, None
            self._wake()
            return False
        new = [commit for commit in commits if commit.version > len(known)]
        for commit in new:
            if commit.version != len(known) + 1:
                raise ValueError("the log has a gap")
            self._take(commit, fold(self.match, commit.events))
        if new:
            self._wake()
        return True

    def extend(self, commit: Commit, after: Match) -> bool:
        """Take in a commit of our own that leads to ``after``; False if it does not follow."""
        if commit.version <= self.version:
            return self.commits[commit.version - 1].nonce == commit.nonce
        if commit.version != self.version + 1:
            return False
        self._take(commit, after)
        self._wake()
        return True

    def has(self, nonce: str | None) -> bool:
        """Whether a commit with this nonce is among the last that are known."""
        return any(commit.nonce == nonce for commit in self.commits[-RECENT:])

    def at(self, version: int) -> Match:
        """The state as of a version that is known.

        Raises:
            ValueError: version 0, or one that is not known.
        """
        if version == self.version and self.match is not None:
            return self.match
        if not 0 < version <= self.version:
            raise ValueError("no such version")
        return fold(None, (e for commit in self.commits[:version] for e in commit.events))

    def last(self, caller: str | None) -> Moment:
        """The last commit as a caller may know it, made once for all who may know as much.

        Raises:
            ValueError: nothing is known of the match.
        """
        if self.match is None:
            raise ValueError("no such match")
        audience = _audience(self.match, caller)
        found = self._moments.get(audience)
        if found is None:
            found = self._moments[audience] = self._last(self.match, *audience)
        return found

    def _last(self, match: Match, seat: int | None, is_host: bool) -> Moment:
        commit, told = self.commits[-1], next(iter(self._moments.values()), None)
        if self._common is None:
            self._common = common(match)
        seen = view_with(self._common, match, seat, host=is_host)
        if told is None:
            return Moment(commit.version, commit.hash, commit.at, redacted(commit), seen)
        # What everybody may know is the same for all of them, and what was made of it.
        return Moment(commit.version, commit.hash, commit.at, told.events, seen, {}, told.shared)

    def round_events(self) -> list[Event]:
        """The events of the commits since the last deal, the one that dealt included."""
        first = self.version
        while first > 0:
            first -= 1
            if any(isinstance(event, HandsDealt) for event in self.commits[first].events):
                break
        return [event for commit in self.commits[first:] for event in commit.events]

    def _take(self, commit: Commit, after: Match) -> None:
        self.match = after
        self.commits.append(commit)
        self._moments, self._common = {}, None

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait(self, version: int) -> None:
        """Return once the version known is another than ``version``."""
        while self.version == version:
            await self._changed.wait()


def moment(commit: Commit, match: Match, caller: str | None) -> Moment:
    """A commit, and the match right after it, as a caller may know them."""
    seen = seen_by(match, caller)
    return Moment(commit.version, commit.hash, commit.at, redacted(commit), seen)


def redacted(commit: Commit) -> tuple[PublicEvent, ...]:
    """What everybody may know of a commit."""
    return tuple(told for event in commit.events if (told := redact(event)) is not None)


def seen_by(match: Match, caller: str | None) -> View:
    """A match as a caller may know it."""
    seat, is_host = _audience(match, caller)
    return view(match, seat, host=is_host)


def _audience(match: Match, caller: str | None) -> tuple[int | None, bool]:
    """What decides what a caller may know: the seat if any, and being the host."""
    return match.seat_of(caller), caller is not None and match.host == caller


class Timelines:
    """The timelines of a process; those followed are never dropped."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._recent: OrderedDict[str, Timeline] = OrderedDict()
        self._live: WeakValueDictionary[str, Timeline] = WeakValueDictionary()

    def get(self, match_id: str) -> Timeline:
        """The timeline of a match, an empty one if nothing is known of it."""
        timeline = self._live.get(match_id)
        if timeline is None:
            timeline = Timeline(match_id)
            self._live[match_id] = timeline
        self._recent[match_id] = timeline
        self._recent.move_to_end(match_id)
        if len(self._recent) > self._kept:
            self._recent.popitem(last=False)
        return timeline

    def drop(self, match_id: str) -> None:
        """Forget a match that turned out not to exist."""
        self._recent.pop(match_id, None)

    @contextmanager
    def follow(self, match_id: str) -> Iterator[Timeline]:
        """The timeline of a match, kept up to date by the tail reader while the block runs."""
        timeline = self.get(match_id)
        timeline.followers += 1
        try:
            yield timeline
        finally:
            timeline.followers -= 1

    def followed(self, among: frozenset[str] | None) -> list[Timeline]:
        """The timelines that somebody follows, of all matches or of some."""
        live = self._live.values() if among is None else map(self._live.get, among)
        return [t for t in list(live) if t is not None and t.followers]
