"""The built-in answerer's replies: a paragraph for each wish, quotations, overviews, counts and lists."""

import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile, groupby, takewhile
from operator import attrgetter
from typing import Any, TypeVar

from bot.providers.extractive.intents import (
    ASKS_FOR_CHAPTER,
    OF_THE_BOOK,
    ONWARD,
    OUTCRY,
    Beginning,
    Cast,
    Cited,
    ContentsList,
    Count,
    Intent,
    Line,
    Lookup,
    Onward,
    Overview,
    Pages,
    Position,
    Remark,
    StoryEnd,
    asks_nothing,
    is_of_the_world,
    is_readers_own,
    least_together,
    names_author,
)
from bot.providers.extractive.language import Language
from bot.providers.extractive.planning import Choices, Wish, places_of
from bot.providers.extractive.question import Question, analyse
from bot.providers.extractive.quotation import (
    Candidate,
    Choice,
    Confidence,
    block_quotations,
    first_told,
    from_hit_on,
    gather,
    introduce,
    is_telling,
    quotations,
    render,
    spoken,
    with_neighbours,
)
from bot.providers.extractive.scoring import MOST_WORDS, Evidence, choose
from bot.providers.extractive.signs import is_like, stands_in
from bot.providers.extractive.transcript import BOTH, Transcript, last_pages, numbered, story_chapter
from bot.providers.extractive.wording import (
    PHRASES,
    Phrases,
    as_typed,
    book_told,
    lead_in,
    nothing_found,
    phrases_in,
    tally_of,
)
from domain.book import Passage
from domain.citations.keys import KEY_GROUP, key_of
from domain.library.numerals import number_value
from domain.library.search.words import words_of
from domain.library.summaries import is_of_names, most_salient, weights_of

_MOST_TOLD, _MOST_CHAPTERS = 6, 12
"""Telling sentences of few chapters, and chapters that are told of: as many as fit on a screen."""
_FEWEST_OPENING = 12  # words that tell something; of fewer, what stands behind a gap is told as well
_FEWEST_MET = 20
"""Words that tell how somebody is met: “Tom!” and “No answer.” do not, nor does what follows on them at once."""
_ROOM = 1_500
"""Characters of a story told by its chapters, without references: with them it fits into one message on Discord."""

_Thing = TypeVar("_Thing")


@dataclass(frozen=True, slots=True)
class _Chapter:
    """A chapter and the sentences that can be quoted of it."""

    title: str
    told: list[Candidate]

    @property
    def length(self) -> int:
        """In characters."""
        return len(self.title) + sum(len(candidate.text) for candidate in self.told)

    def shortened(self, most: int, weights: Counter[str]) -> "_Chapter":
        """With those sentences that are also the most telling overall."""
        chosen = most_salient([candidate.sentence for candidate in self.told], most, weights)
        kept = [candidate for candidate in self.told if candidate.sentence in chosen]
        return _Chapter(self.title, kept or self.told[:most])


def overview(wish: Overview, transcript: Transcript, language: Language) -> str:
    """Telling sentences, said to be no summary; empty if they were not looked up."""
    looks = transcript.looks_for("story_so_far")
    if not looks:
        return ""
    phrases = PHRASES[language]
    if all(look.result.is_error for look in looks):
        same = numbered(transcript.listed, wish.chapter)
        number = number_value(same[0]["printed"]) if same else None
        return phrases.which_chapter.format(len(same), number) if len(same) > BOTH else phrases.no_chapter
    if isinstance(wish.chapter, int) and transcript.is_story_of_part and (inner := transcript.part):
        return "\n".join([phrases.which_inner.format(wish.chapter, len(inner)), *_entries(inner)])
    passages = transcript.passages_of("story_so_far")
    found = (each for each in gather([passages], language) if not (each.is_heading or each.announces))
    told = [each for each in found if not is_of_names(words_of(each.raw))]
    told = [each for each in told if re.search(r"[^\w\s,،]\W*$", each.raw)] or told  # a line may be half a sentence
    if not told:
        return phrases.no_summary
    told = told[-_MOST_TOLD:] if wish.latest and not transcript.listed else told
    chapters = [_Chapter(title, list(each)) for title, each in groupby(told, key=attrgetter("chapter"))]
    shown = _story(chapters)
    lead = phrases.telling if len(shown) == len(chapters) else phrases.telling_some.format(len(shown))
    if len(looks) > BOTH and not wish.others:  # the first found none
        lead = phrases.both_chapters
    return "\n\n".join([f"{phrases.no_summary} {lead}", *(_part(chapter, language) for chapter in shown)])


def _story(chapters: Sequence[_Chapter]) -> list[_Chapter]:
    """The most telling sentences of each chapter; as many chapters as there is space for, at even distances."""
    if len(chapters) == 1:
        return [_Chapter(chapter.title, _spread(chapter.told, _MOST_TOLD)) for chapter in chapters]
    weights = weights_of(candidate.sentence for chapter in chapters for candidate in chapter.told)
    each = max(_MOST_TOLD // len(chapters), 1)
    for many in range(min(len(chapters), _MOST_CHAPTERS), 1, -1):
        shown = [chapter.shortened(each, weights) for chapter in _spread(chapters, many)]
        if sum(chapter.length for chapter in shown) <= _ROOM:
            return shown
    return [chapter.shortened(1, weights) for chapter in _spread(chapters, 2)]


def _part(chapter: _Chapter, language: Language) -> str:
    rendered = render(quotations(chapter.told), language)
    return f"**{chapter.title}**\n{rendered}" if chapter.title else rendered


def _spread(of: Sequence[_Thing], many: int) -> list[_Thing]:
    """So many items at even distances, from the first to the last; `many` is more than one."""
    if len(of) <= many:
        return list(of)
    step = (len(of) - 1) / (many - 1)
    return [of[round(at * step)] for at in range(many)]


_MOST_LISTED = 40


def contents(transcript: Transcript, phrases: Phrases) -> str:
    """The titles of the chapters; empty if the table of contents was not looked up."""
    looks = transcript.looks_for("table_of_contents")
    if not looks:
        return ""
    data = looks[-1].result.data
    listed: Sequence[Mapping[str, Any]] = data["chapters"] if data else ()
    if not listed:
        return phrases.no_contents
    more = [phrases.more.format(len(listed) - _MOST_LISTED)] if len(listed) > _MOST_LISTED else []
    lead = phrases.one_chapter if len(listed) == 1 else phrases.contents.format(len(listed))
    return "\n".join([lead, *_entries(listed), *more])


def _entries(listed: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The first chapters with the keys of their opening sentences, which are rendered as their pages."""
    for each in listed[:_MOST_LISTED]:
        yield f"* {' '.join(each['title'].split())}" + (f" [{each['key']}]" if "key" in each else "")


MOST_PAGE_WORDS = 400
"""Words read out at once: more than a page of most books, and less than two messages on Discord."""


def page_text(wish: Pages, transcript: Transcript, language: Language) -> str:
    """The text of pages, paragraph by paragraph; empty if they were not looked up."""
    passages = transcript.passages_of("read_pages", **{"from": wish.first})
    if not passages:
        return ""
    phrases = PHRASES[language]
    candidates = gather([passages], language)
    kept = list(_within(candidates, MOST_PAGE_WORDS))
    goes_on = [phrases.goes_on] if len(kept) < len(candidates) else []
    return "\n\n".join([phrases.page, *block_quotations(kept, passages), *goes_on])


def _within(candidates: Sequence[Candidate], most_words: int) -> Iterator[Candidate]:
    words = 0
    for candidate in candidates:
        words += candidate.length
        if words > most_words:
            return
        yield candidate


def count(wish: Count, transcript: Transcript, language: Language) -> str:
    """How often, and the first and last place; empty if nothing was counted."""
    looks = transcript.looks_for("count_mentions", term=wish.term)
    if not looks:
        return ""
    phrases, result = phrases_in(language, transcript.book), looks[0].result
    if not result.passages:
        return phrases.never.format(wish.term)
    places = [_around(wish.term, passage, language) for passage in result.passages]
    tally = tally_of(result.data)
    if wish.place == "chapters" and tally and tally.chapters and tally.total > 1:
        return tally.listed(wish.term, phrases)
    is_count = wish.place in ("all", "chapters")
    if is_count and tally and tally.total == 1:
        return introduce(phrases.once.format(wish.term), places[0])
    (words, _), (last_words, last_key) = map(_parted, (places[0], places[-1]))
    is_same = is_count and words == last_words  # it is quoted once
    first, last = introduce(phrases.first, places[0]), introduce(phrases.last, last_key if is_same else places[-1])
    if wish.place == "met":
        hit, around = first_told(result.passages), transcript.passages_of("read_around")
        return render(quotations(from_hit_on(hit, around, language, fewest_words=_FEWEST_MET)), language)
    if not is_count:
        return last if wish.place == "last" else first
    told = [tally.sentence(wish.term, phrases)] if tally else []
    return "\n\n".join([*told, first, *([last] if len(places) > 1 else [])])


def _parted(rendered: str) -> tuple[str, str]:
    """The words of a quotation, and its keys."""
    return (rendered[: keys.start()], keys[0].strip()) if (keys := KEY_GROUP.search(rendered)) else (rendered, "")


def _around(term: str, passage: Passage, language: Language) -> str:
    """The part of a passage with the term."""
    candidates = gather([[passage]], language)
    evidence = Evidence(analyse(term, language), candidates)
    best = max(range(len(candidates)), key=lambda at: evidence.here[at], default=None)
    return "" if best is None else render(quotations([candidates[best]]), language)


def line(wish: Line, transcript: Transcript, language: Language) -> str:
    """The place of a line; empty if it was not looked up."""
    places = places_of(wish, transcript)
    hits = [hit for hit in places if stands_in(wish.text, hit.text) or is_like(wish.text, hit.text, language)]
    phrases = phrases_in(language, transcript.book)
    is_sure = wish.sure or (wish.speaker and OUTCRY.fullmatch(wish.text))
    if not transcript.looks_for("find_phrase", text=wish.text) or not (hits or is_sure):
        return ""
    if not hits:
        return phrases.no_line
    around = transcript.passages_of("read_around")
    told = [from_hit_on(each, around, language) for each in hits] if wish.after else []
    told = told or [spoken(each, around, language, with_speaker=wish.speaker) for each in hits]
    pieces = [piece for each in told for piece in each]
    lead = phrases.line if stands_in(wish.text, hits[0].text) else phrases.line_similar
    if hits[0].chapter and any(map(ASKS_FOR_CHAPTER.search, transcript.asked)):
        lead = f"{lead[:-1].rstrip()}, {phrases.in_chapter.format(hits[0].chapter)}:"
    return introduce(lead, render(quotations(list(dict.fromkeys(pieces))), language))


_NEARBY = 4
"""Sentences before and behind a passage in which an answer about it may stand."""


def cited(wish: Cited, transcript: Transcript, language: Language) -> str:
    """What stands at a passage that a message quotes, the sentences that answer if there are any; empty where the
    book has it nowhere, or nothing there has to do with the question.
    """
    around = transcript.passages_of("read_around")
    hits = places_of(wish, transcript)
    near = {each.start for hit in hits for each in with_neighbours(hit, around, language, reach=_NEARBY)}
    found = (each for each in gather([around], language) if each.start in near)
    area = [replace(each, position=at) for at, each in enumerate(found)]
    if not area or (wish.needs and not any(wish.needs & {*each.stems} for each in area)):
        return ""
    phrases = PHRASES[language]
    if ONWARD.fullmatch(wish.question.text):
        following = [each for each in area if each.start >= hits[-1].end]
        return introduce(phrases.onward, render(quotations(_opening(following)), language)) if following else ""
    choice = choose(Evidence(wish.question, area), most=2)
    told = choice.candidates or [each for hit in hits for each in with_neighbours(hit, around, language, reach=1)]
    return introduce(phrases.there, render(quotations([*dict.fromkeys(told)]), language))


def onward(transcript: Transcript, language: Language) -> str:
    """What follows; empty if nothing was quoted before."""
    quoted = transcript.last_quoted
    if quoted is None:
        return ""
    phrases = PHRASES[language]
    read = transcript.passages_of("read_around") or [quoted.passage]
    following = [candidate for candidate in gather([read], language) if candidate.start >= quoted.sentence.end]
    if not following:
        chapter = quoted.passage.chapter if transcript.book["open"] else ""
        return phrases.chapter_ends.format(" ".join(chapter.split())) if chapter else phrases.no_more
    return introduce(phrases.onward, render(quotations(_opening(following)), language))


def cast(transcript: Transcript, language: Language) -> str:
    """The people of the book with their first places, the most frequent first; empty if none was found."""
    phrases = PHRASES[language]
    met = ((look.result.data or {}, look.result.passages) for look in transcript.looks_for("who_is"))
    first = [(name, place) for data, places in met for name, place in zip(data.get("people", ()), places, strict=False)]
    lines = [f"* {phrases.cast_line.format(name)} [{key_of(place.sentences[0])}]" for name, place in first]
    return "\n".join([phrases.cast, *lines]) if lines else ""


def beginning(wish: Beginning, transcript: Transcript, language: Language) -> str:
    """The first sentences of the story, without its number and persons; empty where they were not looked for."""
    chapter = transcript.told_chapter() if wish.chapter else story_chapter(transcript.listed)
    read = transcript.passages_of("read_pages", **{"from": chapter.get("page", "1")})
    found = gather([read], language)
    story = [each for each in found if each.start >= _start_of(chapter, read, 0) and not each.is_heading]
    told = [
        *dropwhile(lambda c: (c.length == 1 and c.raw[0].isalnum()) or is_of_names(words_of(c.raw)), story)
    ] or story
    lead = PHRASES[language].narrator if wish.narrator else PHRASES[language].begins
    return introduce(lead, render(quotations(_opening(told)), language)) if told else ""


def _start_of(chapter: Mapping[str, Any], read: Sequence[Passage], otherwise: int) -> int:
    """Where a chapter of the table of contents opens in what was read."""
    opening = (each.start for passage in read for each in passage.sentences if key_of(each) == chapter.get("key"))
    return next(opening, otherwise)


def _whole_book(wish: Overview | Cast | Lookup, choices: Choices, language: Language) -> str:
    """Of the whole book or a chapter; empty for a question that is none about all of a chapter."""
    transcript = choices.transcript
    if isinstance(wish, Lookup):
        story, _ = choices.told_in(wish.question)
        return overview(Overview(None), transcript, language) if story else ""
    if isinstance(wish, Cast):
        return cast(transcript, language) or PHRASES[language].no_cast
    return overview(wish, transcript, language) or PHRASES[language].no_summary


def _at_place(wish: Line | Cited, transcript: Transcript, language: Language) -> str:
    return line(wish, transcript, language) if isinstance(wish, Line) else cited(wish, transcript, language)


def _edge(wish: Beginning | StoryEnd, transcript: Transcript, language: Language) -> str:
    if wish.chapter and not transcript.told_chapter():
        return overview(Overview(wish.chapter), transcript, language)
    if isinstance(wish, Beginning):
        return beginning(wish, transcript, language)
    return PHRASES[language].end_ahead if transcript.is_ahead(wish.chapter) else ending(wish, transcript, language)


_THE_END = re.compile(r"\W*(?:the end|finis|fin|ende)\W*", re.IGNORECASE)
"""What a printed book may say between its story and its advertisements."""


def ending(wish: StoryEnd, transcript: Transcript, language: Language) -> str:
    """The last sentences of the story, or of a chapter; empty where they were not looked for."""
    own, following = (transcript.told_chapter(last=True), transcript.next_chapter) if wish.chapter else ({}, {})
    read = transcript.passages_of("read_pages", **last_pages(own or story_chapter(transcript.listed, last=True)))
    begins, ends = _start_of(own, read, 0), _start_of(following, read, sys.maxsize)
    story = takewhile(lambda each: not _THE_END.fullmatch(each.text), gather([read], language))
    told = [each for each in story if begins <= each.start < ends and not each.is_heading]
    kept = _opening(told[::-1])[::-1] if told else []
    return introduce(PHRASES[language].ends, render(quotations(kept), language)) if kept else ""


def _opening(following: list[Candidate]) -> list[Candidate]:
    kept, words = following[:1], following[0].length
    for candidate in following[1:]:
        words += candidate.length
        if words > MOST_WORDS or (candidate.run != kept[0].run and words - candidate.length > _FEWEST_OPENING):
            break
        kept.append(candidate)
    return kept


def answer_to(wishes: Sequence[Wish], choices: Choices) -> str:
    """One paragraph for each wish; never empty."""
    return "\n\n".join(dict.fromkeys(filter(None, (_answer(wish, choices) for wish in wishes))))


def _answer(wish: Wish, choices: Choices) -> str:
    if isinstance(wish.intent, Overview | Cast | Lookup) and choices.is_elsewhere(wish.question.text):
        return PHRASES[wish.question.language].off_topic
    if isinstance(wish.intent, Overview) and wish.intent.may_be_title and choices.transcript.rounds > 1:
        return _lookup(analyse(str(wish.intent.chapter)), choices)  # it is no chapter's title
    if choices.transcript.is_unread and not isinstance(wish.intent, Remark | Position):
        return _lookup(wish.question, choices)
    return _told(wish, choices)


def _told(wish: Wish, choices: Choices) -> str:
    transcript, intent = choices.transcript, wish.intent
    phrases = phrases_in(wish.question.language, transcript.book)
    if transcript.has_failed:
        return _failure(intent, phrases)
    match intent:
        case Remark(reply):
            return book_told(reply, transcript.book, phrases) if reply in OF_THE_BOOK else getattr(phrases, reply)
        case Count():
            said = count(intent, transcript, wish.question.language)
        case Line() | Cited():
            said = _at_place(intent, transcript, choices.spoken(wish.question))
        case Pages(_, _, None):
            said = page_text(intent, transcript, wish.question.language)
        case ContentsList():
            said = contents(transcript, phrases)
        case Overview() | Cast() | Lookup():
            said = _whole_book(intent, choices, wish.question.language)
        case Position():
            said = phrases.proposed if transcript.looks_for("propose_position") else phrases.position
        case Beginning() | StoryEnd():
            said = _edge(intent, transcript, wish.question.language)
        case Onward():
            said = onward(transcript, wish.question.language)
        case Pages(_, _, question) if question:
            return _lookup(question, choices)
        case _:
            said = ""
    return said or _lookup(wish.question, choices)


def _failure(intent: Intent, phrases: Phrases) -> str:
    """What failed to be looked up. A tool explains it in words for a model; here the question is known."""
    match intent:
        case Pages():
            return phrases.no_page
        case Overview(int() | str(), _) | Cast(int() | str()):
            return phrases.no_chapter
        case _:
            return phrases.failed


def _lookup(question: Question, choices: Choices) -> str:
    question = choices.native(question)
    if asks_nothing(question):
        phrases = PHRASES[question.language]
        return phrases.who_is_meant if question.means_nobody else phrases.unclear
    if is_readers_own(question, choices.transcript.told, choices.book_language):
        return PHRASES[question.language].off_topic
    if choices.transcript.is_unread:
        phrases, own = PHRASES[question.language], choices.transcript.book["place"].get("page")
        return phrases.unread_by_others if own else phrases.unread
    choice = choices.of(question)
    if names_author(question, choices.transcript.book["author"], choice.candidates):
        return book_told("origin", choices.transcript.book, PHRASES[question.language])
    language = choices.spoken(question)
    phrases = phrases_in(language, choices.transcript.book)
    unknown = choices.unknown(question)
    if choice.candidates and not _still_to_quote(choice, choices.quoted).candidates:
        return ""  # another question of the message has quoted all of it
    asked, missing = choices.as_looked_up(question), choices.missing(question)
    is_foreign = asked.language is not language
    absent = [] if is_foreign else missing
    answer = "" if unknown else _quoted(asked, _still_to_quote(choice, choices.quoted), phrases, is_rest=bool(absent))
    choices.quoted.update(choice.candidates)
    foreign = [phrases.foreign] if is_foreign and phrases.foreign not in choices.explained else []
    choices.explained.update(foreign)
    if not answer:
        named = [term.word for term in question.terms if term.stem in question.names and term.weight == 1.0]
        lost = [word for word in named if choices.transcript.missing.get(word) == []]
        words = (lost or named if is_foreign else []) or unknown or missing
        is_general = is_of_the_world(question) or least_together(question, choices.transcript.told) > 0
        words = words or ([] if is_general else question.name_words)  # of England, there is something else
        nothing = nothing_found(words, question.text, phrases)
        other = choices.namesake(unknown[-1]) if len(unknown) > 1 else ""
        return " ".join([*foreign, nothing, *([phrases.did_you_mean.format("", other)] if other else [])])
    spelt = choices.mended(question)
    typed = as_typed([*spelt], question.text)
    mended = (" ".join(spelt.get(each, each) for each in words.split()) for words in typed)
    meant = [phrases.did_you_mean.format(*each) for each in zip(typed, mended, strict=True)]
    without = [nothing_found(absent, question.text, phrases)] if absent else []
    return "\n\n".join([*meant, *foreign, *without, answer])


def _still_to_quote(choice: Choice, quoted: Collection[Candidate]) -> Choice:
    """The choice without what was quoted for another question of the message."""
    told = {each.words for each in quoted if is_telling(each)}
    new = (each for each in choice.candidates if each not in quoted and each.words not in told)
    return replace(choice, candidates=tuple(new))


def _quoted(question: Question, choice: Choice, phrases: Phrases, *, is_rest: bool) -> str:
    """What is quoted with its lead-in; empty where nothing is. `is_rest`: something of the question is not there."""
    if choice.confidence is Confidence.NONE:
        return ""
    quoted = quotations(choice.candidates)
    lead = phrases.rest if is_rest else lead_in(question, choice, phrases, several=len(quoted) > 1)
    return introduce(lead, render(quoted, question.language))
