"""How many nodes a page has, and a list that has none."""

from typing import Final

PAGE_LIMIT: Final = 100  # the most
USUAL_PAGE: Final = 20  # if nobody says
TOLD: Final = 20  # commits of an inspection
