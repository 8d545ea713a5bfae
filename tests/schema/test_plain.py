"""What is sent without models is what the models send, byte by byte."""

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from engine import events as e
from engine import views
from engine.cards import PLAYER_COUNTS
from engine.views import PublicEvent, View, redact, view
from schema import events as twins
from schema.rest import events as models
from schema.rest.events import MatchUpdate, UpdatePage
from schema.rest.match import match_of
from schema.rest.plain import match_json, page_json, update_json
from schema.types import at
from tests.builders import play_out

PLAYED = [commit for players in PLAYER_COUNTS for commit in play_out(players, players)]
SEEN = [told for events, _ in PLAYED for event in events if (told := redact(event)) is not None]
EVENT: TypeAdapter[models.MatchEvent] = TypeAdapter(models.MatchEvent)
times = st.integers(0, 2**42)
versions = st.integers(1, 2**31 - 1)
seats = st.integers(0, 4)
happened = st.lists(
    st.one_of(
        st.sampled_from(SEEN),
        st.builds(views.SeatTaken, seats, st.text()),
        st.builds(views.SeatLeft, seats),
        st.builds(views.TurnRanOut, seats),
        st.builds(e.ClockRestarted, seats),
        st.builds(views.SeatGoneAway, seats),
        st.builds(e.PlayerReturned, seats),
        st.builds(e.MatchAbandoned, st.text()),
    ),
    max_size=3,
)


@st.composite
def positions(draw: st.DrawFn) -> View:
    """A position of some match, as somebody may see it; with names and a clock of any kind."""
    _, match = draw(st.sampled_from(PLAYED))
    seat = draw(st.none() | st.integers(0, match.players - 1))
    seen = view(match, seat, host=draw(st.booleans()))
    round_ = seen.round and seen.round._replace(deadline=draw(st.none() | times))
    named = tuple(each._replace(name=draw(st.none() | st.text())) for each in seen.seats)
    return replace(seen, seats=named, round=round_, created_at=draw(times))


@settings(max_examples=50)
@given(positions(), versions, times, happened)
def test_a_match_and_its_updates_are_what_the_models_say(seen, version, at_ms, told):
    match, shared = match_of(seen, version, "ab" * 32), dict[Any, Any]()
    encoded = match_json(seen, version, "ab" * 32, shared)
    assert encoded.decode() == match.model_dump_json()
    update = MatchUpdate(
        version=version, at=at(at_ms), events=[event_of(one) for one in told], match=match
    )
    encoded = update_json(version, at_ms, told, encoded, shared)
    assert encoded.decode() == update.model_dump_json()
    for more, updates in ((True, [update, update]), (False, [])):
        page = UpdatePage(updates=updates, version=version, has_next_page=more)
        assert page_json([encoded] * len(updates), version, more=more).decode() == (
            page.model_dump_json()
        )


def test_all_viewers_of_a_version_may_share_what_was_made_for_one():
    for version, (_, match) in enumerate(PLAYED):
        shared: dict[Any, Any] = {}
        for seat in (None, *range(match.players)):
            seen = view(match, seat)
            encoded = match_json(seen, version, "ab" * 32, shared)
            assert encoded.decode() == match_of(seen, version, "ab" * 32).model_dump_json()


def event_of(told: PublicEvent) -> models.MatchEvent:
    """An event as its model, made of its GraphQL twin."""
    twin = twins.match_event(told)
    model = getattr(models, type(twin).__name__)
    return EVENT.validate_python(model.model_validate(twin))
