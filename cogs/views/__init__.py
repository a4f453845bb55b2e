"""Buttons and menus that remember by their name, and so work after a restart and in old messages."""

from cogs.views.actions import ActionButton, ActionMenu, row
from cogs.views.confirm import assert_fresh, confirmation
from cogs.views.paging import PageOf, page_asked, page_of, page_turner

__all__ = [
    "ActionButton",
    "ActionMenu",
    "PageOf",
    "assert_fresh",
    "confirmation",
    "page_asked",
    "page_of",
    "page_turner",
    "row",
]
