"""Who calls, and what the token shown allows."""

from dataclasses import dataclass, field
from typing import Final

from schema.scopes import Scope

_ALLOWED: Final = {
    Scope.PLAY: frozenset({Scope.PLAY, Scope.BOT, Scope.SPECTATE}),
    Scope.BOT: frozenset({Scope.BOT, Scope.SPECTATE}),
    Scope.SPECTATE: frozenset({Scope.SPECTATE}),
    Scope.OPERATE: frozenset({Scope.OPERATE, Scope.SPECTATE}),
}


def rights(scopes: frozenset[Scope]) -> frozenset[Scope]:
    """The scopes, and those that they include."""
    return frozenset().union(*(_ALLOWED[scope] for scope in scopes))


def names_of(scopes: frozenset[Scope]) -> list[str]:
    """Their names, always in the same order."""
    return [scope.value for scope in Scope if scope in scopes]


@dataclass(frozen=True, slots=True)
class Caller:
    """A player, as far as the token goes that was shown.

    Attributes:
        token_id: None for a token of an outside issuer.
        expires_at: when the token ends, in milliseconds since the epoch.
        seed: derived from the token itself and never stored: what a retry derives a token from.
    """

    player_id: str = field(repr=False)
    name: str
    scopes: frozenset[Scope]
    token_id: str | None = field(repr=False)
    expires_at: int
    seed: bytes = field(default=b"", repr=False, compare=False)

    def may(self, scope: Scope) -> bool:
        """Whether the token allows what a scope stands for."""
        return scope in rights(self.scopes)

    @property
    def viewer_id(self) -> str | None:
        """Whose eyes the token lends: None if it shows no more than everybody may see."""
        return self.player_id if self.may(Scope.BOT) else None
