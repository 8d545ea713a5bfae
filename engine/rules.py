"""The versions of the rules. A match goes on, and is played again, under the one it began with."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Rules:
    """What may differ from one version of the rules to another.

    ``action_limit``: actions after which a round ends with no ender.
    ``dry_table_ends_round``: when all others have scouted, the round is over also if the last of
    these scouts took the last card.
    """

    version: str
    action_limit: int
    dry_table_ends_round: bool


CURRENT: Final = "1"  # what new matches begin with
VERSIONS: Final = {rules.version: rules for rules in (Rules("1", 1000, True),)}


def rules_of(version: str) -> Rules:
    """The rules of a version.

    Raises:
        ValueError: this code does not know the version.
    """
    rules = VERSIONS.get(version)
    if rules is None:
        raise ValueError("the match was begun under rules that are not known here")
    return rules
