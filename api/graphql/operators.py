"""What operators do: resolvers of a few lines over their service."""

import strawberry

from api import requests
from api.graphql.context import ContextInfo
from api.operators.ports import Entry, Process
from api.operators.service import STUCK_SECONDS, Operators, Stuck, due_of
from api.paging import act_cursor, act_place, page_info, page_size
from api.requests import operator_of, seconds_of
from api.values import Inspection
from schema import operators as shown
from schema.scopes import Scope
from schema.types import at, match_of


async def _operators(info: ContextInfo) -> Operators:
    await info.context.player(Scope.OPERATE)
    return info.context.operators


async def stuck(
    info: ContextInfo, older_than_seconds: int | None, first: int | None
) -> list[shown.StuckMatch]:
    """Matches that are owed something since too long ago.

    Raises:
        Unauthenticated: the caller has not signed in.
        Refused: FORBIDDEN, INVALID_INPUT.
        RuleError: INVALID_INPUT.
    """
    operators = await _operators(info)
    seconds = STUCK_SECONDS if older_than_seconds is None else seconds_of(older_than_seconds)
    return [stuck_match(one) for one in await operators.stuck(seconds, page_size(first))]


async def inspect(info: ContextInfo, match_id: str) -> shown.MatchInspection:
    """A match as an operator may see it.

    Raises:
        Unauthenticated: the caller has not signed in.
        Refused: FORBIDDEN, NOT_FOUND.
    """
    caller = await info.context.player(Scope.OPERATE)
    return inspection(await info.context.operators.inspect(operator_of(caller), match_id))


async def processes(info: ContextInfo) -> list[shown.Process]:
    """Who is at work.

    Raises:
        Unauthenticated: the caller has not signed in.
        Refused: FORBIDDEN.
    """
    operators = await _operators(info)
    return [process(one) for one in (await operators.processes())[: shown.PROCESSES]]


async def acts(
    info: ContextInfo, first: int | None, after: str | None
) -> shown.OperatorActConnection:
    """What operators did, the newest first.

    Raises:
        Unauthenticated: the caller has not signed in.
        Refused: FORBIDDEN, INVALID_INPUT.
    """
    operators = await _operators(info)
    place = None if after is None else act_place(after)
    entries, more = await operators.acts(place, page_size(first))
    edges = [shown.OperatorActEdge(cursor=act_cursor(e), node=act(e)) for e in entries]
    cursors = [edge.cursor for edge in edges]
    return shown.OperatorActConnection(edges=edges, page_info=page_info(cursors, after, more=more))


async def send_due(info: ContextInfo, match_id: str | None, *, quick: bool) -> shown.SendDuePayload:
    """Send the workers again what is owed.

    Raises:
        Unauthenticated: the caller has not signed in.
        Refused: FORBIDDEN, NOT_FOUND.
    """
    caller = await info.context.player(Scope.OPERATE)
    sent = await info.context.operators.send_due(operator_of(caller), match_id, quick=quick)
    return shown.SendDuePayload(user_errors=[], sent=sent)


async def drain(info: ContextInfo, process_id: str, reason: str) -> shown.DrainProcessPayload:
    """Ask a process to end.

    Raises:
        Unauthenticated: the caller has not signed in.
        RuleError: INVALID_INPUT.
        Refused: FORBIDDEN, NOT_FOUND.
    """
    caller = await info.context.player(Scope.OPERATE)
    await requests.drain(info.context.operators, caller, process_id, reason)
    return shown.DrainProcessPayload(user_errors=[], process_id=strawberry.ID(process_id))


async def revoke_tokens(
    info: ContextInfo, player_id: str, reason: str
) -> shown.RevokeTokensPayload:
    """End every token of a player.

    Raises:
        Unauthenticated: the caller has not signed in.
        RuleError: INVALID_INPUT.
        Refused: FORBIDDEN.
    """
    caller = await info.context.player(Scope.OPERATE)
    revoked = await requests.revoke_tokens(info.context.operators, caller, player_id, reason)
    return shown.RevokeTokensPayload(user_errors=[], revoked=revoked)


def stuck_match(found: Stuck) -> shown.StuckMatch:
    """A stuck match as operators see it."""
    seen = found.inspection
    seat, level = (None, None) if seen is None else due_of(seen)
    return shown.StuckMatch(
        match_id=strawberry.ID(found.match_id),
        version=None if seen is None else seen.answer.version,
        status=None if seen is None else seen.answer.view.status,
        waits_for=found.waits_for,
        seat=seat,
        level=level,
        since=at(found.since),
    )


def inspection(seen: Inspection) -> shown.MatchInspection:
    """A match as operators see it."""
    answer, (seat, level) = seen.answer, due_of(seen)
    return shown.MatchInspection(
        match=match_of(answer.view, answer.version, answer.hash),
        waits_for=seen.waits_for,
        seat=seat,
        level=level,
        host=None if seen.host is None else strawberry.ID(seen.host),
        players=[
            shown.SeatedPlayer(seat=number, player_id=strawberry.ID(player))
            for number, player in enumerate(seen.players)
            if player is not None
        ],
        commits=[
            shown.CommitLine(version=c.version, at=at(c.at), events=list(c.events))
            for c in seen.commits
        ],
    )


def process(found: Process) -> shown.Process:
    """A process as operators see it."""
    return shown.Process(
        id=strawberry.ID(found.process_id),
        kind=found.kind,
        release=found.release,
        started_at=at(found.started_at),
        seen_at=at(found.seen_at),
        queues=list(found.queues),
        streams=found.streams,
        draining=found.draining,
    )


def act(entry: Entry) -> shown.OperatorAct:
    """An act as operators see it."""
    return shown.OperatorAct(
        id=strawberry.ID(entry.entry_id),
        at=at(entry.at),
        operator=entry.operator,
        act=entry.act,
        target=entry.target,
        reason=entry.reason,
        outcome=entry.outcome,
    )
