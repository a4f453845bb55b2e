"""The tool with which a model suggests that the reader has come further. It moves nothing: only people do."""

from collections.abc import Callable
from typing import Any

from bot.tools.arguments import define, text_argument
from domain.ports import ToolHandler
from domain.tool_use import ToolResult
from domain.tools import context

PROPOSE_POSITION = define(
    context.PROPOSE_POSITION,
    "Offer the reader to set how far they have read. Use it only when a reader says so themselves (“I am on page 80 "
    "now”). It changes nothing by itself: the reader confirms, and then their next message sees more.",
    {"page": {"type": "string", "description": "The last page the reader has read, as printed: 80 or xii."}},
    "page",
)


def proposer(propose: Callable[[str], None]) -> ToolHandler:
    """The handler. Whether there is such a page is not looked up: that would tell how long the book is."""

    async def call(args: dict[str, Any]) -> ToolResult:
        page = context.page_in(text_argument(args, "page"))
        if page is None:
            raise ValueError("page must be the number or label of one page, such as 80 or xii")
        propose(page)
        sentence = f"The reader is asked whether to set their position to page {page}. Nothing changes until then."
        return ToolResult(sentence, summary=f"page {page} proposed")

    return call
