"""Quotations: the sentences that can be quoted, and how they are rendered, with the keys that prove them."""

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

from bot.providers.extractive.language import WORDINGS, Language, is_little, stem, stems_of
from bot.providers.extractive.question import Question
from bot.providers.extractive.signs import stands_in
from domain.book import Passage, Sentence
from domain.citations.keys import KEY_GROUP, fold, key_of
from domain.library.search.words import words_of
from domain.reading.recap import DOUBLE_MARKS, OPENS, bare, paired

LONG = 45
"""Words in the longest sentence that is quoted whole; few readers want more at a time."""

LONGEST_REPLY = 110
"""Words that a quotation of a dialogue has at most."""

_SHORTEST_CLAUSE = 15
_LOOSE = 40
"""Characters by which a sentence may exceed its chapter's title and still be the same without case and marks."""

_LONGEST_HEADING = 80
"""Characters in a line that counts as a heading because it does not end like a sentence."""

FEWEST_REPEATED = 4
"""Words; replies such as "No, sir" may be quoted again."""

_NEAR_A_HEADING = 6
"""Sentences below a heading that are surely about what it says."""

_GAP = 5
"""Characters between neighbours at most: white space, and nothing left out."""

_CLAUSE_END = re.compile(WORDINGS["clause_end"][0])
_NUMBERED = re.compile(WORDINGS["numbered"][0], re.IGNORECASE)
_ANNOUNCES, _SPACE = re.compile(r":[\s—–\"”’-]*$"), re.compile(r"\s+")
_TYPED_PAGE = re.compile(r"\((?:about )?pp?\. ?\w|\A\W*\d+\W*\Z", re.IGNORECASE)
"""What looks like a page reference in a sentence, or as a sentence: a number alone."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence or a clause of one.

    `position` counts the candidates; `run` is the same for all that follow each other without a gap in the book.
    `standing` decreases evenly from 1 for a sentence of the best passage of a result: unlike scores, it means the same
    for every search. `above` has the stems of the heading that stands a few sentences above it at most.
    """

    sentence: Sentence
    position: int
    start: int
    end: int
    stems: tuple[str, ...]
    run: int
    standing: float
    is_heading: bool
    chapter: str
    above: tuple[str, ...] = ()

    @property
    def raw(self) -> str:
        return self.sentence.text[self.start - self.sentence.start : self.end - self.sentence.start]

    @property
    def text(self) -> str:
        """On one line."""
        return " ".join(self.raw.split())

    @property
    def words(self) -> str:
        """The words alone, by which it is told whether two are the same."""
        return " ".join(words_of(fold(self.raw)))

    @property
    def announces(self) -> bool:
        """Whether it ends with a colon: without what follows it is unfinished."""
        return _ANNOUNCES.search(self.raw) is not None

    @property
    def length(self) -> int:
        """In words; each character counts in a script without spaces."""
        return len(self.stems)


class Confidence(StrEnum):
    """How likely it is that an answer is among what is quoted: of plain questions put to novels, eight times of ten
    where it is FIRM, three times where it is LIKELY, and hardly ever where it is NEAR."""

    FIRM = "firm"
    LIKELY = "likely"
    NEAR = "near"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Choice:
    """The candidates to quote, in book order; `shows_it`: the best has a sign of the kind of answer that is wanted."""

    candidates: tuple[Candidate, ...]
    confidence: Confidence
    shows_it: bool = True


NOTHING = Choice((), Confidence.NONE)


def gather(results: Iterable[Sequence[Passage]], language: Language) -> list[Candidate]:
    """The candidates of all results in book order, without duplicates. A result is of one look, best passages first.

    Sentences outside chapters (contents, title page, licence) are left out if there are any inside.
    """
    every = [*results]
    has_story = any(passage.chapter for passages in every for passage in passages)
    standing: dict[Sentence, float] = {}
    chapters: dict[Sentence, str] = {}
    for passages in every:
        for rank, passage in enumerate(passages):
            if has_story and not passage.chapter:
                continue
            for sentence in passage.sentences:
                standing[sentence] = max(standing.get(sentence, 0.0), 1 - rank / len(passages))
                chapters[sentence] = passage.chapter
    found: list[Candidate] = []
    run, end = 0, -1
    units = ((each, *span) for each in _apart(standing) for span in clauses(each.text))
    for sentence, first, last in units:
        start = sentence.start + first
        run += start - end > _GAP
        stems = stems_of(sentence.text[first:last], language) if is_quotable(sentence) else ()
        if not stems:
            run += 1  # what is left out, such as the number of a note, parts its neighbours
            continue
        end, chapter = sentence.start + last, chapters[sentence]
        heading = is_heading(sentence.text, chapter)
        above = _heading_above(found, run) if not heading else ()
        place = (sentence, len(found), start, end, stems, run, standing[sentence])
        found.append(Candidate(*place, heading, chapter, above))
    return found


def _heading_above(found: Sequence[Candidate], run: int) -> tuple[str, ...]:
    near = (each for each in found[: -_NEAR_A_HEADING - 1 : -1] if each.run == run and each.is_heading)
    return next((each.stems for each in near), ())


def without_others(question: Question, candidates: Sequence[Candidate]) -> tuple[list[str], Sequence[Candidate]]:
    """The texts without other people of the same name, unless it is never that of the one who is asked about."""
    texts = [question.without_others(each.text) for each in candidates]
    stems = [stems_of(text, question.language) for text in texts]
    if not any(question.names & {*each} for each in stems):
        return [each.text for each in candidates], candidates
    return texts, [replace(each, stems=own) for each, own in zip(candidates, stems, strict=True)]


def first_told(places: Sequence[Passage]) -> Passage:
    """The first of the places of a name that is in a chapter, and not on the title page."""
    return next((each for each in places if each.chapter), places[0])


def is_heading(text: str, chapter: str) -> bool:
    """Whether a sentence is the title of its chapter, or looks like one, or is the file name of a picture left out."""
    folded = " ".join(text.split())
    is_shouted = folded.isupper() and folded[:1] not in '“«"'  # “TOM!”
    if is_shouted or (len(folded) <= len(chapter) + _LOOSE and fold(folded).strip(" .") in fold(chapter)):
        return True
    return len(folded) < _LONGEST_HEADING and (folded[-1:].isalnum() or _NUMBERED.match(folded) is not None)


_BEFORE_NAME = re.compile(r"(?:\w,?|Mrs?\.|Dr\.|[A-Z]\.) $")


def are_names(words: Sequence[str], candidates: Sequence[Candidate], language: Language) -> bool:
    """Whether any of these words is somebody's name in some candidates, and not only the beginning of a sentence or a
    word that is written small elsewhere: "Mark" among marks, "Will" among wills.
    """
    return any(_is_name(stem(word, language), candidates, language) for word in words)


def _is_name(key: str, candidates: Sequence[Candidate], language: Language) -> bool:
    told = [candidate.text for candidate in candidates if key in candidate.stems and not candidate.is_heading]
    found = [(text, text.find(word), word) for text in told for word in words_of(text) if stem(word, language) == key]
    inside = [(text[:at], word) for text, at, word in found if word[0].isupper() and _BEFORE_NAME.search(text[:at])]
    if any(not (is_little(word, language) and before.endswith(", ")) for before, word in inside):  # a line of verse
        return True
    return bool(found) and all(word[0].isupper() and not is_little(word, language) for _, _, word in found)


def is_quotable(sentence: Sentence) -> bool:
    """Whether it passes an answer's checks unchanged: it must not look like a page reference."""
    return bool(sentence.text.strip()) and not (_TYPED_PAGE.search(sentence.text) or KEY_GROUP.search(sentence.text))


def _apart(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """Sentences in book order; of overlapping ones (cut at a page) the first and longest."""
    end = -1
    for sentence in sorted(sentences, key=lambda s: (s.start, -s.end)):
        if sentence.start >= end:
            end = sentence.end
            yield sentence


def clauses(text: str) -> Iterator[tuple[int, int]]:
    """The spans of clauses of moderate length; a short sentence is one clause."""
    start = 0
    if len(words_of(text)) > LONG:
        for cut in [match.end() for match in _CLAUSE_END.finditer(text)]:
            if len(words_of(text[start:cut])) >= _SHORTEST_CLAUSE <= len(words_of(text[cut:])):
                yield from _no_longer(text, start, cut)
                start = cut
    yield from _no_longer(text, start, len(text))


def _no_longer(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The span, cut between words if there is no punctuation to cut at."""
    while len(words_of(text[start:end])) > 2 * LONG:
        cuts = [match.end() for match in _SPACE.finditer(text, start + 1, end - 1)] or list(range(start + 1, end))
        cut = min(cuts, key=lambda place: abs(len(words_of(text[start:place])) - LONG))
        yield start, start + len(text[start:cut].rstrip())
        start = cut
    yield start, start + len(text[start:end].rstrip())


_MARKS = {Language.GERMAN: ("„", "“"), Language.FRENCH: ("«", "»")}
_LONGEST_LINE = 300
"""Characters of several quotations that are still read well in one paragraph."""
_NAME_INSIDE = re.compile(r"\w\W+[A-ZÀ-ÞА-ЯЁ]\w")


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words that are consecutive in the book, and their sentences."""

    text: str
    sentences: tuple[Sentence, ...]

    @property
    def keys(self) -> str:
        return " ".join(f"[{key_of(sentence)}]" for sentence in self.sentences)


def quotations(chosen: Sequence[Candidate]) -> list[Quotation]:
    """The chosen candidates, in book order; neighbours are joined.

    What stands in several places is quoted once, with all of them if it is quoted alone.
    """
    groups: list[list[Candidate]] = []
    for candidate in chosen:
        if groups and _adjoin(groups[-1][-1], candidate):
            groups[-1].append(candidate)
        else:
            groups.append([candidate])
    kept: list[list[Candidate]] = []
    others: defaultdict[int, list[Sentence]] = defaultdict(list)
    first: dict[str, int] = {}
    for group in groups:
        for is_told, part in _runs(group, first):
            if not is_told:
                first |= {each.words: len(kept) for each in part if is_telling(each)}
                kept.append(part)
            elif len(kept[at := first[part[0].words]]) == 1:
                others[at] += [each.sentence for each in part]
    return [_quotation(group, others[at]) for at, group in enumerate(kept)]


def _runs(group: Sequence[Candidate], told: Container[str]) -> Iterator[tuple[bool, list[Candidate]]]:
    """The group in parts: what has been told, one by one, and what has not; `told` grows with each part."""
    part: list[Candidate] = []
    for candidate in group:
        if candidate.words not in told:
            part.append(candidate)
            continue
        if part:
            yield False, part
            part = []
        yield True, [candidate]
    if part:
        yield False, part


def is_telling(candidate: Candidate) -> bool:
    """Whether it is long enough to be noticed as the same when it is quoted a second time."""
    return candidate.length >= FEWEST_REPEATED


def render(quoted: Sequence[Quotation], language: Language) -> str:
    """Quotations as Markdown, each followed by its keys; as blocks, if they have marks inside or are many words."""
    are_long = len(quoted) > 1 and sum(len(each.text) for each in quoted) > _LONGEST_LINE
    if are_long or any(DOUBLE_MARKS.search(bare(each.text)) for each in quoted):
        return "\n\n".join(f"> {paired(each.text)} {each.keys}" for each in quoted)
    opening, closing = _MARKS.get(language, ("“", "”"))
    return " ".join(f"{opening}{paired(bare(each.text))}{closing} {each.keys}" for each in quoted)


def introduce(lead: str, rendered: str) -> str:
    """A lead-in followed by the quotations."""
    if not lead:
        return rendered
    return f"{lead}\n\n{rendered}" if rendered.startswith("> ") else f"{lead} {rendered}"


_PARAGRAPH_GAP = 2
"""Characters between sentences that mean different paragraphs: an empty line, or an indent."""


def block_quotations(candidates: Sequence[Candidate], pages: Sequence[Passage]) -> Iterator[str]:
    """Block quotations, one per paragraph, each with the key of its last sentence, from which its page is rendered."""
    for page in pages:
        for paragraph in _paragraphs([each for each in candidates if page.start <= each.start < page.end]):
            yield f"> {' '.join(each.text for each in paragraph)} [{key_of(paragraph[-1].sentence)}]"


def _paragraphs(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    paragraphs: list[list[Candidate]] = []
    for candidate in candidates:
        if paragraphs and candidate.start - paragraphs[-1][-1].end < _PARAGRAPH_GAP:
            paragraphs[-1].append(candidate)
        else:
            paragraphs.append([candidate])
    return paragraphs


_FURTHEST_SPEAKER = 3
"""Sentences before or behind a line in which its speaker is looked for."""


def spoken(hit: Passage, around: Sequence[Passage], language: Language, *, with_speaker: bool) -> list[Candidate]:
    """The sentence with a line; if its speaker is wanted, with those beside it, up to the first that name somebody."""
    reaches = range(_FURTHEST_SPEAKER + 1) if with_speaker else ()
    near = (with_neighbours(hit, around, language, reach=reach) for reach in reaches)
    told = next((each for each in near if _says_who(" ".join(piece.text for piece in each))), None)
    return told or with_neighbours(hit, around, language, reach=int(with_speaker))


def _says_who(text: str) -> bool:
    """Whether a sentence names somebody outside of what is said in it; without marks, all of it is said."""
    told, depth, end = "", 0, 0
    for mark in DOUBLE_MARKS.finditer(text):
        told += "" if depth else text[end : mark.start()]
        depth, end = max(0, depth + (1 if OPENS.match(text, mark.start()) else -1)), mark.end()
    return _NAME_INSIDE.search(told + ("" if depth or not end else text[end:])) is not None


def with_neighbours(hit: Passage, around: Sequence[Passage], language: Language, *, reach: int) -> list[Candidate]:
    """The sentence with a hit and its neighbours, if they are known; otherwise the hit itself."""
    candidates = gather([around], language) if around else []
    touched = [c.position for c in candidates if c.start < hit.end and hit.start < c.end]
    if not touched:
        return gather([[hit]], language)
    reached = [c for c in candidates if min(touched) - reach <= c.position <= max(touched) + reach]
    near = [c for c in reached if c.position in touched or not c.is_heading]
    return with_whole_replies(near, candidates, most_words=LONGEST_REPLY)


def from_hit_on(
    hit: Passage, around: Sequence[Passage], language: Language, *, fewest_words: int = 0
) -> list[Candidate]:
    """The sentence with a hit and the next one, and as many more as it takes to have so many words, if there are."""
    pieces: list[Candidate] = []
    for reach in range(1, max(fewest_words, 1) + 1):
        near = with_neighbours(hit, around, language, reach=reach)
        pieces = [each for each in near if each.end > hit.start and not each.is_heading]
        if sum(each.length for each in pieces) >= fewest_words:
            break
    return pieces


def with_whole_replies(
    chosen: Sequence[Candidate], candidates: Sequence[Candidate], *, most_words: int
) -> list[Candidate]:
    """The chosen ones, in book order, with the rest of each reply that begins or ends in them, if there is space.

    `candidates` are all that were gathered with them. A reply that does not fit stays cut.
    """
    kept = {candidate.position for candidate in chosen}
    words = sum(candidate.length for candidate in chosen)
    for at in sorted(kept):
        closing, opening = _unpaired(candidates[at].raw)
        following = _rest_of_reply(candidates, at, 1, opening)
        preceding = _rest_of_reply(candidates, at, -1, closing)
        for rest in (following, preceding):
            more = [each for each in rest if each.position not in kept]
            if words + sum(each.length for each in more) <= most_words:
                words += sum(each.length for each in more)
                kept |= {each.position for each in more}
    return [candidates[at] for at in sorted(kept)]


def _rest_of_reply(candidates: Sequence[Candidate], at: int, step: int, missing: int) -> list[Candidate]:
    """The candidates from here on, forwards or backwards, up to the one with the last missing quotation mark; none if
    that is not among them.
    """
    rest: list[Candidate] = []
    while missing and 0 <= at + step < len(candidates) and candidates[at + step].run == candidates[at].run:
        at += step
        rest.append(candidates[at])
        closing, opening = _unpaired(candidates[at].raw)
        found, more = (closing, opening) if step > 0 else (opening, closing)
        missing = max(0, missing - found) + more
    return [] if missing else rest


def _unpaired(text: str) -> tuple[int, int]:
    """How many quotation marks close what was opened before the text, and open what is closed behind it."""
    closing = opening = 0
    for mark in DOUBLE_MARKS.finditer(text):
        if OPENS.match(text, mark.start()):
            opening += 1
        elif opening:
            opening -= 1
        else:
            closing += 1
    return closing, opening


def _adjoin(first: Candidate, second: Candidate) -> bool:
    if first.sentence is second.sentence:
        return not first.sentence.text[first.end - first.sentence.start : second.start - first.sentence.start].strip()
    whole = first.end == first.sentence.end and second.start == second.sentence.start
    return whole and first.run == second.run and second.position == first.position + 1


def _quotation(group: Sequence[Candidate], repeated: Sequence[Sentence]) -> Quotation:
    text = group[0].text
    for before, after in pairwise(group):
        glue = before.sentence.text[before.end - before.sentence.start : after.start - before.sentence.start]
        text += (" " if before.sentence is not after.sentence or glue else "") + after.text
    opening = "" if group[0].start == group[0].sentence.start else "… "
    closing = "" if group[-1].end == group[-1].sentence.end and not group[-1].announces else " …"
    return Quotation(f"{opening}{text}{closing}", tuple(dict.fromkeys([*(each.sentence for each in group), *repeated])))


def is_told(line: str, passage: Passage) -> bool:
    """Whether a passage has the very words of a line, which are not its chapter's title."""
    is_title = passage.text.isupper() or fold(passage.text) in fold(passage.chapter)
    return stands_in(line, passage.text) and not is_title
