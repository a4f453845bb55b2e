"""Answers that read pages out."""

from collections.abc import Iterator, Sequence

from bot.llm.extractive.candidates import Candidate, gather
from bot.llm.extractive.intents import Pages
from bot.llm.extractive.language import Language
from bot.llm.extractive.phrases import PHRASES
from bot.llm.extractive.transcript import Transcript
from domain.book import Passage
from domain.citations.keys import key_of

MOST_PAGE_WORDS = 400
"""Words that are read out at once: more than a page of most books, and less than two messages of Discord."""

_PARAGRAPH_GAP = 2
"""Characters between sentences from which they are in different paragraphs: an empty line, or an indent."""


def page_text(wish: Pages, transcript: Transcript, language: Language) -> str:
    """The text of pages, paragraph by paragraph; empty where it was not looked at."""
    passages = [p for look in transcript.looks_for("read_pages", **{"from": wish.first}) for p in look.result.passages]
    if not passages:
        return ""
    phrases = PHRASES[language]
    candidates = gather([passages], language)
    kept = list(_within(candidates, MOST_PAGE_WORDS))
    goes_on = [phrases.goes_on] if len(kept) < len(candidates) else []
    return "\n\n".join([phrases.page, *_blocks(kept, passages), *goes_on])


def _within(candidates: Sequence[Candidate], most_words: int) -> Iterator[Candidate]:
    words = 0
    for candidate in candidates:
        words += candidate.length
        if words > most_words:
            return
        yield candidate


def _blocks(candidates: Sequence[Candidate], pages: Sequence[Passage]) -> Iterator[str]:
    """Block quotations, one a paragraph; the last of each page has a key, which is enough to tell the page."""
    for page in pages:
        paragraphs = _paragraphs([candidate for candidate in candidates if page.start <= candidate.start < page.end])
        for number, paragraph in enumerate(paragraphs, start=1):
            key = f" [{key_of(paragraph[-1].sentence)}]" if number == len(paragraphs) else ""
            yield f"> {' '.join(candidate.text for candidate in paragraph)}{key}"


def _paragraphs(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    paragraphs: list[list[Candidate]] = []
    for candidate in candidates:
        if paragraphs and candidate.start - paragraphs[-1][-1].end < _PARAGRAPH_GAP:
            paragraphs[-1].append(candidate)
        else:
            paragraphs.append([candidate])
    return paragraphs
