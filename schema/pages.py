"""How many nodes a page has."""

from typing import Final

PAGE_LIMIT: Final = 100  # the most
USUAL_PAGE: Final = 20  # if nobody says
