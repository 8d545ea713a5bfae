"""The lobby as REST tells it."""

from schema import lobby
from schema.rest.base import Model
from schema.rest.match import Match


class LobbyUpdate(Model, mirrors=lobby.LobbyUpdate):
    matches: list[Match]
    gone: list[str]
