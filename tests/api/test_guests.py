"""Guests: opaque tokens, of which the store has a keyed hash and no more."""

import pytest

from api.errors import Unauthenticated
from api.guests import Guests
from api.ports import Guest
from api.store.memory import MemoryDirectory


async def test_a_token_is_recognised_by_every_process_with_the_same_secret():
    directory = MemoryDirectory()
    token, guest = await Guests(directory, 60, "key").sign_in("  Ann ")

    assert guest == Guest(guest.player_id, "Ann")
    assert await Guests(directory, 60, "key").recognise(f"bearer {token}") == guest
    with pytest.raises(Unauthenticated):
        await Guests(directory, 60, "other").recognise(f"Bearer {token}")


async def test_the_store_never_holds_a_token():
    directory = MemoryDirectory()
    token, _ = await Guests(directory, 60).sign_in("Ann")

    assert token not in repr(directory)


async def test_two_guests_of_one_name_are_two_players():
    guests = Guests(MemoryDirectory(), 60)

    (first, ann), (second, other) = await guests.sign_in("Ann"), await guests.sign_in("Ann")

    assert first != second
    assert ann.player_id != other.player_id
