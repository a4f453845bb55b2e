"""Answers about where words stand: mentions that were counted, lines that were found."""

from collections.abc import Sequence

from bot.llm.extractive.candidates import Candidate, gather
from bot.llm.extractive.choice import Confidence, choose
from bot.llm.extractive.intents import Count, Line
from bot.llm.extractive.language import Language
from bot.llm.extractive.phrases import PHRASES
from bot.llm.extractive.question import analyse
from bot.llm.extractive.quoting import introduce, quotations, render
from bot.llm.extractive.scoring import Evidence
from bot.llm.extractive.tally import tally_of
from bot.llm.extractive.transcript import Transcript
from domain.book import Passage
from domain.citations.quotations import fold

MOST_PLACES = 3
"""Places of a line that are quoted."""


def count(wish: Count, transcript: Transcript, language: Language) -> str:
    """How often, and the first and last place; empty where nothing was counted."""
    looks = transcript.looks_for("count_mentions", term=wish.term)
    if not looks:
        return ""
    phrases, result = PHRASES[language], looks[0].result
    if not result.passages:
        return phrases.never.format(wish.term)
    places = [_around(wish.term, passage, language) for passage in result.passages]
    tally = tally_of(result.note or result.content)
    if wish.place == "all" and tally and tally.total == "1":
        return introduce(phrases.once.format(wish.term), places[0])
    first, last = introduce(phrases.first, places[0]), introduce(phrases.last, places[-1])
    if wish.place != "all":
        return last if wish.place == "last" else first
    told = tally.sentence(wish.term, phrases) if tally else (result.note or result.content).strip().split("\n")[0]
    return "\n\n".join([told, first, *([last] if len(places) > 1 else [])])


def _around(term: str, passage: Passage, language: Language) -> str:
    """The piece of a passage that has the term."""
    candidates = gather([[passage]], language)
    evidence = Evidence(analyse(term, language), candidates)
    best = max(range(len(candidates)), key=lambda at: evidence.here[at], default=None)
    return "" if best is None else render(quotations([candidates[best]]), language)


def line(wish: Line, transcript: Transcript, language: Language) -> str:
    """Where a line stands; empty where it was not looked for."""
    looks = transcript.looks_for("find_phrase", text=wish.text)
    if not looks:
        return ""
    hits = looks[0].result.passages[:MOST_PLACES]
    phrases = PHRASES[language]
    if not hits:
        return _similar(wish, transcript, language)
    around = [passage for look in transcript.looks_for("read_around") for passage in look.result.passages]
    pieces = [piece for hit in hits for piece in _pieces(hit, around, language, reach=1 if wish.speaker else 0)]
    exact = fold(wish.text).strip(" .,;:!?'\"-") in fold(hits[0].text)
    lead = phrases.line if exact else phrases.line_similar
    return introduce(lead, render(quotations(list(dict.fromkeys(pieces))), language))


def _pieces(hit: Passage, around: Sequence[Passage], language: Language, reach: int) -> list[Candidate]:
    """The sentence a hit is in, with its neighbours within reach; the hit itself where no more is known."""
    candidates = gather([around], language) if around else []
    touched = [c.position for c in candidates if c.start < hit.end and hit.start < c.end]
    if not touched:
        return gather([[hit]], language)
    return [c for c in candidates if min(touched) - reach <= c.position <= max(touched) + reach]


def _similar(wish: Line, transcript: Transcript, language: Language) -> str:
    question = analyse(wish.text, language)
    choice = choose(Evidence(question, gather(transcript.results, language)), most=1)
    phrases = PHRASES[language]
    if choice.confidence is not Confidence.FIRM:
        return phrases.no_line
    return introduce(phrases.line_similar, render(quotations(choice.candidates), language))
