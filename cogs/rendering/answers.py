"""The texts around an answer: its progress, how it ended, and its sources."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from cogs.rendering.inline import escape, fenceless, inert
from cogs.rendering.markdown import render
from cogs.rendering.splitting import MESSAGE_LIMIT, closed_code, split, units, with_covers
from cogs.rendering.tool_calls import CallState, ShownCall, describe_briefly, outcome_in_words, shortened
from domain.book import Binding, Citation, Surroundings, page_reference
from domain.citations.keys import in_language
from domain.errors import Say, in_english
from domain.event import Answer, ApprovalAsked, TurnFailed
from domain.library.progress import limit_line
from domain.spoilers.filter import has_hidden

QUOTE_SHOWN = 600
"""Characters of one quotation in the list of sources."""

AROUND_SHOWN = 250
"""Characters of the sentence before a quotation, and of the one after it."""

NOTHING_AROUND: Mapping[Citation, Surroundings] = MappingProxyType({})

ARGUMENTS_SHOWN = 1_200
"""Characters of a call's arguments shown when somebody is asked to allow it."""

_LONG_TEXTS = [re.compile(rf'("(?:[^"\\]|\\.){{{length}}})(?:[^"\\]|\\.)+"') for length in (400, 120, 40)]
"""Texts in JSON that are longer than that, each with its beginning: if there is too much to show, it is their ends that
are left out, so that no text pushes another argument out of sight.
"""


def status_line(calls: Sequence[ShownCall], say: Say = in_english) -> str:
    """A small line about the progress: the running calls, else the last finished one, else thinking."""
    running = [call for call in calls if call.state is CallState.RUNNING]
    if running:
        more = f" (+{len(running) - 1})" if len(running) > 1 else ""
        return f"-# 🔎 {escape(describe_briefly(running[-1]))} …{more}"
    if calls:
        outcome = f" · {outcome_in_words(calls[-1].summary, say)}" if calls[-1].summary else ""
        return f"-# 🔎 {escape(shortened(describe_briefly(calls[-1]) + outcome, 200))}"
    return say("-# 📖 reading …")


def approval_note(call: ApprovalAsked, say: Say = in_english) -> str:
    """The question to the asker whether a tool that may change something may be called with these arguments."""
    shown = whole = json.dumps(call.arguments, ensure_ascii=False)
    for long_text in _LONG_TEXTS:
        shown = long_text.sub(r'\1…"', whole) if len(shown) > ARGUMENTS_SHOWN else shown
    code = fenceless(inert(shortened(shown, ARGUMENTS_SHOWN)))
    question = say(
        "<@{reader}>, may I use **{tool}**? It may change something outside this book.",
        reader=call.reader_id,
        tool=escape(call.tool_name),
    )
    more = say("-# ⚠ That isn't all of it: {count} characters in full", count=len(whole))
    return f"{question}\n```json\n{code}\n```{more if len(whole) > ARGUMENTS_SHOWN else ''}"


def answer_note(answer: Answer, say: Say = in_english, *, verbose: bool = False) -> str:
    """The note below an answer: that a person stopped it, part of it is hidden, or it was cut; with `verbose` also how
    many of its claims have no reference; and finally who limited it.
    """
    lines = [say("-# ⏹ Stopped.")] if answer.stopped else []
    if has_hidden(answer.text):
        lines.append(say("-# I've hidden part of this answer: it seems to give away something you haven't read yet."))
    lines += [say("-# ✂ I ran out of room. Ask me to go on.")] if answer.cut and not answer.stopped else []
    lines += _uncited_lines(answer.uncited, say) if verbose else []
    return "\n".join([*lines, *([binding_note(answer.binding, say)] if answer.binding else [])])


def _uncited_lines(claims: Sequence[str], say: Say) -> list[str]:
    """How many sentences have no reference; they are not repeated."""
    if len(claims) == 1:
        return [say("-# ⚠ 1 sentence cites nothing")]
    return [say("-# ⚠ {count} sentences cite nothing", count=len(claims))] if claims else []


def page_name(page: str, say: Say = in_english, *, estimated: bool) -> str:
    """A page by its label."""
    return page_reference(page, page, estimated=estimated, say=say)


def binding_note(binding: Binding, say: Say = in_english) -> str:
    """The line that says how far the answer goes, and who or what limits it."""
    who = escape(binding.name) if binding.name else f"<@{binding.reader_id}>"
    return f"-# {limit_line(binding, who, say)}"


def nothing_read(say: Say = in_english, *, by_asker: bool) -> str:
    """What to do when the asker, or somebody who limits what everybody is told, has not started reading."""
    if by_asker:
        return say("You haven't started reading. Once you've read a few pages, set your page with /progress.")
    return say("There's nothing I can tell everybody yet. Without `public` I tell it to you alone.")


def failure_note(failure: TurnFailed, sentence: str = "", say: Say = in_english) -> str:
    """The note below an unfinished answer: the failure's own sentence, or its translation, and, if no model answered,
    passages of the book about the question.
    """
    note = f"⚠️ {inert(sentence or failure.message, ours=True)}"
    if not failure.offer:
        return note
    lead = say("Meanwhile, here's what the book says:")
    return f"{note}\n\n{lead}\n\n{render(with_covers(in_language(failure.offer, failure.citations, say)))}"


def kept_note(sentence: str, say: Say = in_english) -> str:
    """The note below an answer that was to be made again, and was not; `sentence` is the failure's."""
    return say(
        "-# ⚠️ I couldn't answer this again, so the earlier answer stays. {reason}", reason=inert(sentence, ours=True)
    )


def with_note(text: str, note: str) -> str:
    """The text followed by a note, if there is one, as a paragraph outside any code block."""
    if not text.strip() or not note:
        return text if text.strip() else note
    return f"{closed_code(text.rstrip())}\n\n{note}"


def beginning_of(message: str, say: Say = in_english) -> str:
    """The beginning of a text that is attached as a file."""
    more = say("-# The whole text is in the file.")
    return f"{split(message, MESSAGE_LIMIT - units(more) - 2)[0]}\n\n{more}"


def source_pages(
    citations: Sequence[Citation],
    say: Say = in_english,
    *,
    read_to: int | None = None,
    around: Mapping[Citation, Surroundings] = NOTHING_AROUND,
) -> list[str]:
    """The sentences an answer is based on, page by page, in as many messages as it takes.

    If the context `around` a sentence is known it is shown too, with the sentence in bold; sentences that follow each
    other on a page are one entry. Sentences beyond `read_to` are only counted, because the person has not read them.
    """
    if not citations:
        return [say("This answer cites nothing from the book.")]
    within = [citation for citation in citations if read_to is None or citation.end <= read_to]
    if not within:
        return [say("All the sources of this answer are on pages you haven't read yet.")]
    entries = dict.fromkeys(_source(run, around, say) for run in _runs(dict.fromkeys(within), around))
    if beyond := len({*citations}) - len({*within}):
        entries[say("-# {count} more from pages you haven't read yet", count=beyond)] = None
    pages: list[str] = []
    for entry in entries:
        joined = f"{pages[-1]}\n\n{entry}" if pages else entry
        if pages and units(joined) <= MESSAGE_LIMIT:
            pages[-1] = joined
        else:
            pages.append(entry)
    return pages


def _runs(citations: Iterable[Citation], around: Mapping[Citation, Surroundings]) -> list[list[Citation]]:
    """The citations, those together that follow each other on the same page and are not too long to be shown so."""
    runs: list[list[Citation]] = []
    for citation in citations:
        last = runs[-1][-1] if runs else None
        follows = last is not None and last in around and around[last].after == citation.quote
        if last and follows and last.reference == citation.reference and _length([*runs[-1], citation]) <= QUOTE_SHOWN:
            runs[-1].append(citation)
        else:
            runs.append([citation])
    return runs


def _length(run: Sequence[Citation]) -> int:
    return sum(len(each.quote) + 1 for each in run)


def _source(run: Sequence[Citation], around: Mapping[Citation, Surroundings], say: Say) -> str:
    place = f"**{escape(run[0].reference_in(say))}**"
    if run[0].chapter:
        place += f" · {escape(shortened(run[0].chapter, 200))}"
    quote = escape(shortened(" ".join(each.quote for each in run), QUOTE_SHOWN))
    before, after = (around.get(each, Surroundings()) for each in (run[0], run[-1]))
    if not (before.before or after.after):
        return f"{place}\n> {quote}"
    told = (
        escape(shortened(before.before, AROUND_SHOWN)),
        f"**{quote}**",
        escape(shortened(after.after, AROUND_SHOWN)),
    )
    return f"{place}\n> {' '.join(filter(None, told))}"
