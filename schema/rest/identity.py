"""Who is calling, as REST tells it."""

from schema import payloads
from schema.rest.base import Model


class Guest(Model, mirrors=payloads.GuestPayload, leaves_out=("user_errors",)):
    token: str
    player_id: str
