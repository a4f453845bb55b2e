"""What an answer looks like while it is made, when it stands, when it was stopped, when it failed; and its sources."""

from collections.abc import Sequence

from cogs.rendering.calls import CallState, ShownCall, describe, shortened
from cogs.rendering.inline import escape
from cogs.rendering.splitting import MESSAGE_LIMIT, closed_code, units
from cogs.rendering.words import Say, in_english
from domain.book import Citation
from domain.event import Answer, TurnFailed

QUOTE_SHOWN = 600
"""Characters of one quotation in the list of sources."""


def status_line(calls: Sequence[ShownCall], say: Say = in_english) -> str:
    """A small line that says what is being done: the calls that run, else the last one that ended, else thinking."""
    running = [call for call in calls if call.state is CallState.RUNNING]
    if running:
        more = f" (+{len(running) - 1})" if len(running) > 1 else ""
        return f"-# 🔎 {escape(describe(running[-1]))} …{more}"
    if calls:
        outcome = f" · {calls[-1].summary}" if calls[-1].summary else ""
        return f"-# 🔎 {escape(shortened(describe(calls[-1]) + outcome, 200))}"
    return say("-# 📖 reading …")


def draft_text(text: str, status: str = "") -> str:
    """An answer so far; the status stands where the text will go on."""
    return with_note(text, status) if status else text


def answer_text(answer: Answer, say: Say = in_english) -> str:
    """The final text, marked where a person stopped it or the model ran out of room."""
    text = answer.text
    if answer.cut:
        text = with_note(text, say("-# ✂ I ran out of room here; ask me to go on."))
    if answer.stopped:
        text = with_note(text, say("-# ⏹ Stopped."))
    return text


def failure_text(failure: TurnFailed, sentence: str = "") -> str:
    """What had been written, and below it what went wrong: the failure's own sentence, or it in another language."""
    return with_note(failure.partial, f"⚠️ {sentence or failure.message}")


def with_note(text: str, note: str) -> str:
    """The text and, as a paragraph of its own outside any code block, a note."""
    return f"{closed_code(text.rstrip())}\n\n{note}" if text.strip() else note


def source_pages(citations: Sequence[Citation], say: Say = in_english, limit: int = MESSAGE_LIMIT) -> list[str]:
    """The sentences an answer rests on, page by page of the book, in messages of at most `limit` characters."""
    if not citations:
        return [say("This answer cites nothing from the book.")]
    pages: list[str] = []
    for entry in dict.fromkeys(map(_source, citations)):
        joined = f"{pages[-1]}\n\n{entry}" if pages else entry
        if pages and units(joined) <= limit:
            pages[-1] = joined
        else:
            pages.append(entry)
    return pages


def _source(citation: Citation) -> str:
    place = f"**{escape(citation.reference)}**"
    if citation.chapter:
        place += f" · {escape(shortened(citation.chapter, 200))}"
    return f"{place}\n> {escape(shortened(citation.quote, QUOTE_SHOWN))}"
