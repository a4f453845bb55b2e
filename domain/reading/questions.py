"""Questions to discuss: each is based on a quotation and asks about just that."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import cycle

from domain.book import Chapter, Citation, Sentence
from domain.errors import Say, in_english
from domain.library.addressing import is_matter
from domain.library.names import TITLES_OF_PEOPLE, folded_name, name_phrases
from domain.library.progress import title_is_read
from domain.library.search.words import STOP_WORDS, fold, name_pattern, stem_of, words_of
from domain.library.summaries import FEWEST_OF_A_STORY, ChapterPart, chapter_parts, weights_of
from domain.ports import BookView
from domain.reading.recap import is_fit, is_spoken, names_of, quoted, score, spoken_among

MOST_QUESTIONS = 5
FEWEST_WORDS, FEWEST_AT_ALL = 9, 4
"""Words in a sentence that gives something to discuss; and in one where all are shorter."""


class DiscussionKind(StrEnum):
    """What a question asks about its sentence."""

    WRITTEN = "written"
    """A model wrote it."""
    SAID = "said"
    ASKED = "asked"
    CHOICE = "choice"
    FEELING = "feeling"
    PUZZLE = "puzzle"
    CHANGE = "change"
    PICTURE = "picture"
    MISSING = "missing"
    EXPLAIN = "explain"
    OPINION = "opinion"


@dataclass(frozen=True, slots=True)
class DiscussionQuestion:
    """Something to discuss, and the places it is based on, in order.

    `name` is the person it is about, if known. `text` is empty if `question_text` words it by its kind.
    """

    kind: DiscussionKind
    citations: tuple[Citation, ...]
    name: str = ""
    text: str = ""

    @property
    def quote(self) -> str:
        """The first of its sentences, on one line."""
        return " ".join(self.citations[0].quote.split())

    @property
    def page(self) -> str:
        """The page of that sentence: "p. 12"."""
        return self.citations[0].reference


def question_text(question: DiscussionQuestion, say: Say = in_english) -> str:
    """The question in words, without its quotation."""
    if question.kind is DiscussionKind.WRITTEN:
        return question.text
    return _of_somebody(question.kind, question.name, say) if question.name else _of_nobody(question.kind, say)


def _of_somebody(kind: DiscussionKind, name: str, say: Say) -> str:
    match kind:
        case DiscussionKind.SAID:
            return say("Why does {name} say this, and how far do you believe it?", name=name)
        case DiscussionKind.ASKED:
            return say("How would you answer {name}, from what you know so far?", name=name)
        case DiscussionKind.CHOICE:
            return say("Was {name} right to do this? What else could have been done?", name=name)
        case DiscussionKind.FEELING:
            return say("What do you think {name} really feels here, and why?", name=name)
        case DiscussionKind.CHANGE:
            return say(
                "How has {name} changed between these two passages, or how has your view of {name} changed?", name=name
            )
        case DiscussionKind.PUZZLE:
            return say("What do you make of this, and what does {name} have to do with it?", name=name)
    return say("What does this tell you about {name}?", name=name)


def _of_nobody(kind: DiscussionKind, say: Say) -> str:
    match kind:
        case DiscussionKind.SAID:
            return say("Why is this said here, and how far do you believe it?")
        case DiscussionKind.ASKED:
            return say("How would you answer this, from what you know so far?")
        case DiscussionKind.CHOICE:
            return say("Was this the right thing to do? What else could have been done?")
        case DiscussionKind.FEELING:
            return say("What lies behind this feeling, do you think?")
        case DiscussionKind.PUZZLE:
            return say("What do you make of this? What might be behind it?")
        case DiscussionKind.MISSING:
            return say("What would you like to know about this that isn't said here?")
        case DiscussionKind.EXPLAIN:
            return say("How would you say this in your own words?")
        case DiscussionKind.OPINION:
            return say("Do you agree with this? Why, or why not?")
    return say("Why do you think the book tells us this, and why in this way?")


def questions_text(questions: Sequence[DiscussionQuestion], say: Say = in_english) -> str:
    """Questions in Markdown: numbered, each with its sentences and their pages."""
    return "\n\n".join(
        "\n".join([f"**{number}. {question_text(each, say)}**", *(quoted(c, say, each.name) for c in each.citations)])
        for number, each in enumerate(questions, start=1)
    )


async def questions(view: BookView, since: int = 0, count: int = 3) -> list[DiscussionQuestion]:
    """Questions about what has been read from an offset on, as varied as possible, in order."""
    parts = [part for part in await chapter_parts(view) if part.end > since]
    drafts = await asyncio.to_thread(_drafts_from, parts, since, min(max(count, 1), MOST_QUESTIONS))
    return [
        DiscussionQuestion(
            draft.kind, tuple([await view.cite(each.start, each.end) for each in draft.sentences]), draft.name
        )
        for draft in drafts
    ]


@dataclass(frozen=True, slots=True)
class _Draft:
    """A possible question, before its places are looked up."""

    kind: DiscussionKind
    sentences: tuple[Sentence, ...]
    name: str
    weight: float


def _drafts_from(parts: Sequence[ChapterPart], since: int, count: int) -> list[_Draft]:
    titles = "\n".join({" ".join(part.title.split()).casefold() for part in parts})
    told = [
        each
        for part in parts
        for each in part.after(since)
        if " ".join(each.text.split()).casefold() not in titles  # in no line: it has no line feed itself
    ]
    fit = [each for each in told if is_fit(each) and len(words_of(each.text)) >= FEWEST_WORDS]
    return _chosen(fit or [each for each in told if len(words_of(each.text)) >= FEWEST_AT_ALL], count)


def _chosen(sentences: Sequence[Sentence], count: int) -> list[_Draft]:
    """The best questions: one from each stretch of equal length, of as many kinds as possible."""
    drafts = [*_drafts(sentences)]
    chosen: list[_Draft] = []
    for number in range(count):
        stretch = sentences[len(sentences) * number // count : len(sentences) * (number + 1) // count]
        starts = {each.start for each in stretch}
        taken = {each for draft in chosen for each in draft.sentences}
        kinds = Counter(draft.kind for draft in chosen)
        names = Counter(draft.name for draft in chosen)
        fitting = [d for d in drafts if d.sentences[-1].start in starts and taken.isdisjoint(d.sentences)]
        if fitting:
            chosen.append(max(fitting, key=lambda d: d.weight / (1 + 2 * kinds[d.kind]) / (1 + names[d.name] / 2)))
    of_matters = cycle(_OF_MATTERS)
    return [
        replace(draft, kind=next(of_matters))
        if draft.kind is DiscussionKind.PICTURE and not draft.name
        else replace(draft, name=_as_printed(draft.name, draft.sentences[-1].text))
        for draft in sorted(chosen, key=lambda draft: draft.sentences[-1].start)
    ]


_OF_MATTERS = (DiscussionKind.PICTURE, DiscussionKind.MISSING, DiscussionKind.EXPLAIN, DiscussionKind.OPINION)
"""What is asked about sentences that are about nobody, in turn: a book that explains something has no others."""


def _drafts(sentences: Sequence[Sentence]) -> Iterator[_Draft]:
    weights, names = weights_of(sentences), names_of(sentences)
    known, speeches = names | TITLES_OF_PEOPLE, spoken_among(sentences)
    first: dict[str, Sentence] = {}
    for each in sentences:
        words = {*map(fold, words_of(each.text))}
        spoken = each.start in speeches
        has_speech = is_spoken(each.text)
        weight = score(each, weights, names) / (_UNSPOKEN if has_speech else 1)  # speech is what people talk about
        kind = _kind_of(each.text, words, spoken=spoken)
        told = _WORDS_SAID.sub(" ", each.text) if spoken and has_speech else ""
        name = _speaker(told, known) if spoken else _subject(each.text, known)
        if kind is DiscussionKind.FEELING and words & _TELLERS:
            name = ""  # "Dracula had sent me there, to my great delight"
        yield _Draft(kind, (each,), name, weight * _WEIGHTS[kind] * (_NAMED if name else 1))
        if name and not spoken:
            if name in first and each.start - first[name].start > _APART:
                changes = weight * _WEIGHTS[DiscussionKind.CHANGE]
                yield _Draft(DiscussionKind.CHANGE, (first[name], each), name, changes)
            first.setdefault(name, each)


def _as_printed(name: str, text: str) -> str:
    """A name as the sentence prints it, with the English article it has there: "Mr. Varley", "the Duchess"."""
    has_article = name and re.search(rf"\b[Tt]he\s+{name_pattern(name)}", text)
    return f"the {name}" if has_article else name


_UNSPOKEN = 0.4
_NAMED = 1.3
_APART = 4_000
"""Characters between two places in which somebody may have changed."""

_WEIGHTS = {
    DiscussionKind.SAID: 1.2,
    DiscussionKind.ASKED: 1.0,
    DiscussionKind.CHOICE: 1.8,
    DiscussionKind.FEELING: 1.5,
    DiscussionKind.PUZZLE: 1.6,
    DiscussionKind.CHANGE: 1.1,
    DiscussionKind.PICTURE: 0.9,
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CHOICES = _words(
    "decided resolved determined refused agreed promised chose choose swore vowed dared consented declined obeyed"
    " beschloss entschied weigerte versprach wählte schwor entschloss"
    " décida refusa promit choisit jura résolut decidió rehusó prometió eligió juró resolvió"
)
_FEELINGS = _words(
    "afraid ashamed angry anger love loved hate hated grief joy fear feared happy unhappy miserable lonely jealous"
    " proud pride despair delight delighted hope hoped regret sorrow terror anguish remorse envy contempt"
    " angst scham zorn wut liebe liebte hass trauer freude furcht glücklich unglücklich einsam stolz hoffnung reue"
    " peur honte colère amour haine joie espoir triste miedo vergüenza amor odio alegría tristeza esperanza"
)
_TELLERS = _words(
    "i me my mine we us our ich mir mich mein meine meinem meinen meiner wir uns je moi mon ma mes nous yo mi mí"
)
"""Who tells a story of their own, and whose feelings it then tells of."""
_PUZZLES = _words(
    "secret mystery mysterious strange strangely wondered vanished disappeared hidden suspected suspicion unknown"
    " nobody geheimnis seltsam rätsel verschwunden verdacht geheimnisvoll étrange secret mystère disparu soupçon"
    " extraño secreto misterio desapareció sospecha"
)
_SAYS = (
    "said|says|cried|replied|answered|asked|whispered|muttered|shouted|exclaimed|added|remarked|murmured|observed"
    "|sagte|rief|fragte|antwortete|flüsterte|erwiderte|dit|répondit|demanda|cria|dijo|respondió|preguntó|exclamó"
)
_SPEAKER = r"((?:[^\W\d_]+\.?\s+){0,3}[^\W\d_]+)"
_WORDS_SAID = re.compile(
    r"»[^«»]*«|«[^»]*(?:»|\Z)|\A»[^«]*\Z|\A[^“„«»”]*[”»]|“[^”]*(?:”|\Z)|„[^“”]*(?:[“”]|\Z)"
    r"|\"[^\"]*(?:\"|\Z)|(?<!\w)‘(?:[^’]|’(?=\w))*(?:’|\Z)"
)
"""What is said in a sentence, perhaps as part of a longer speech. It may tell of what others say."""
_SAID_BY = re.compile(rf"\b(?:{_SAYS})\s+{_SPEAKER}")
_BY_SAID = re.compile(rf"\b{_SPEAKER}\s+(?:{_SAYS})\b")


def _kind_of(text: str, words: set[str], *, spoken: bool) -> DiscussionKind:
    if spoken:
        return DiscussionKind.ASKED if "?" in text else DiscussionKind.SAID
    if words & _CHOICES:
        return DiscussionKind.CHOICE
    if words & _PUZZLES:
        return DiscussionKind.PUZZLE
    return DiscussionKind.FEELING if words & _FEELINGS else DiscussionKind.PICTURE


def _subject(text: str, known: frozenset[str]) -> str:
    """The name at the beginning of a sentence, as written there; empty if there is none."""
    phrase = next(name_phrases(text), None)
    if phrase is None or not text.lstrip(_OPENING_MARKS).startswith(phrase[0]):
        return ""
    return _as_name(phrase, known)


def _as_name(phrase: Sequence[str], known: frozenset[str]) -> str:
    words = [*map(folded_name, phrase)]
    is_name = known.issuperset(words) and not TITLES_OF_PEOPLE.issuperset(words)
    return " ".join(phrase) if is_name else ""


_OPENING_MARKS = " \n\t“‘\"'«„("


def _speaker(text: str, known: frozenset[str]) -> str:
    """The speaker, as written, if the sentence names one explicitly."""
    for pattern in (_SAID_BY, _BY_SAID):
        for match in pattern.finditer(text):
            for phrase in name_phrases(match[1]):
                if name := _as_name(phrase, known):
                    return name
    return ""


OPENING = 8_000
"""Characters from the beginning of the story that first questions are made from: three or four pages."""

FIRST_QUESTIONS = 3
FEWEST_MENTIONS = 3
"""How often the opening names a person before a first question asks about them."""

BEFORE_PLACE = re.compile(
    r"\b(?:in|at|to|from|near|towards?|through|into|of|nach|aus|bei|von|à|dans|vers|de|en|desde|hacia)$", re.IGNORECASE
)
"""What ends in front of the name of a place."""

_ARTICLE = re.compile(r"\b(?:the|an?|der|die|das|den|dem|des|le|la|les|une?|el|los|las)$", re.IGNORECASE)
_DOES = re.compile(
    r"(?:said|says|asked|cried|replied|answered|thought|would|could|did|went|came|looked|knew|felt|took|began|sat|stood"
    r"|turned|laughed|nodded|had been|sagte|fragte|rief|ging|kam|sah|wusste|dachte|lachte|sprach|erwiderte|dit|demanda"
    r"|répondit|reprit|dijo|preguntó|respondió)\b"
)
_SAID = re.compile(
    r"\b(?:said|asked|cried|replied|answered|thought|sagte|fragte|rief|sprach|erwiderte|lachte|dit|demanda|dijo)$"
)


class FirstQuestionKind(StrEnum):
    """The kind of question for somebody who has only begun, and its subject."""

    BEGINNING = "beginning"
    """How the story begins; about nothing else."""
    MET = "met"
    """How one gets to know a person, known by a name."""
    NAMED = "named"
    """How one first hears of somebody or something that has a name."""
    SAID = "said"
    """Who says some words."""
    THING = "thing"
    """Where something first appears, as the book calls it."""
    PAGE = "page"
    """What stands on a page, known by its label."""


@dataclass(frozen=True, slots=True)
class FirstQuestion:
    """A question to begin with, whose answer is at the beginning of the book."""

    kind: FirstQuestionKind
    about: str = ""


def story_start(chapters: Sequence[Chapter], read_to: int) -> int:
    """Where the story begins, as an offset: prefaces, dedications and title pages are no part of it. `read_to`, if no
    more than those has been read.

    It depends on nothing beyond `read_to`: whether a chapter is as short as a title page is known at its end.
    """
    shortest = FEWEST_OF_A_STORY * _CHARACTERS_OF_A_WORD
    reached = [each for each in chapters if title_is_read(each, read_to)]
    told = [each for each in reached if not is_matter(each.title)]
    begun = [each.start for each in told if each.end >= read_to or each.end - each.start >= shortest]
    if not begun and chapters and read_to < chapters[-1].end:
        return read_to
    return [*begun, *(each.start for each in chapters), 0][0]


def first_questions(opening: str, names: Sequence[str], pages: Sequence[str]) -> list[FirstQuestion]:
    """Three questions about the opening of a book; fewer where less of it may be told, none where nothing may.

    `names` are those of the opening, the most frequent first, and `pages` the labels of its pages.
    """
    if not opening.strip():
        return []
    named: list[FirstQuestion] = []
    for name in names:
        kind = _kind_of_name(name, opening)
        if kind and not any({*name.split()} & {*known.about.split()} for known in named):
            named.append(FirstQuestion(kind, name))
    named.sort(key=lambda each: each.kind is not FirstQuestionKind.MET)
    asked = [FirstQuestion(FirstQuestionKind.BEGINNING), *named[:1]]
    asked += [FirstQuestion(FirstQuestionKind.SAID, words) for words in _telling_words(opening, names)]
    asked += named[1:2]
    asked += [FirstQuestion(FirstQuestionKind.THING, thing) for thing in _things(opening)]
    asked += [FirstQuestion(FirstQuestionKind.PAGE, page) for page in pages[1:]]
    return asked[:FIRST_QUESTIONS]


_CHARACTERS_OF_A_WORD = 5

_UTTERANCE = re.compile(r"“([^“”]+)”|»([^«»]+)«|„([^„“”]+)“|«\s?([^«»]+?)\s?»|\"([^\"]+)\"|‘((?:[^‘’]|’\w)+)’(?!\w)")
_ANOTHER = re.compile(r"\n\s*\n|[“»„«\"‘]")
_NEAR = 40
"""Characters from the end of what is said within which it is said by whom."""

SHORTEST_LINE, LONGEST_LINE = 18, 52
"""Characters of words that a question quotes: they must be known again, and fit on a button."""


def _telling_words(text: str, names: Sequence[str]) -> list[str]:
    """Words that somebody says who is named right after them, or in front of them as in a play: the most telling."""
    known = frozenset(fold(word) for name in names for word in name.replace(".", "").split())
    found = [(words, text.find(words)) for words in [*_utterances(text, known), *_lines_of_a_play(text, names)]]
    fit = [
        (words, at)
        for words, at in found
        if SHORTEST_LINE <= len(words) <= LONGEST_LINE
        and words[0].isupper()
        and words[-1] in "?!."
        and not known & {fold(word) for word in words_of(words)}
    ]
    best = max(fit, key=lambda each: (_weight(each[0]), -each[1]), default=None)
    return [best[0]] if best else []


def _weight(words: str) -> float:
    """How telling a line is: by what it has besides little words; questions are asked about rather than statements."""
    told = {stem_of(word) for word in words_of(words)} - STOP_WORDS
    return len(told) + (1.5 if words.endswith("?") else 0)


def _utterances(text: str, known: frozenset[str]) -> Iterator[str]:
    for match in _UTTERANCE.finditer(text):
        words, after = " ".join("".join(filter(None, match.groups())).split()), text[match.end() : match.end() + _NEAR]
        if words and _speaker(_ANOTHER.split(after)[0], known):
            yield words


def _lines_of_a_play(text: str, names: Sequence[str]) -> Iterator[str]:
    speakers = "|".join(name_pattern(name) for name in names if name.strip()) or "(?!)"
    cue = rf"(?m)^\s*(?:{speakers}|[^\W\d_a-z]{{3,}})[.:]\s+([^\W\d_][^\n.?!]*[.?!])(?=\s|$)"
    cues = [match[1] for match in re.finditer(cue, text)]
    if len(cues) >= FEWEST_MENTIONS:
        yield from (" ".join(words.split()) for words in cues)


_THING = re.compile(
    r"\b(the|der|die|das|le|la|les|el|los|las) ([^\W\d_]{3,})(?=[,.;:!?’'”]|\s+([^\W\d_]+)|$)", re.IGNORECASE
)
_MOMENTS = _words(
    "time times day days morning evening night hour moment year years world way place matter thing things subject end"
    " beginning first last other others same rest whole book chapter zeit jahr jahre stunde augenblick welt sache ende"
    " morgen abend nacht jour temps heure monde chose fois día tiempo hora mundo cosa vez"
    " door room house man men woman lady child people family table fire window bed hall floor wall ground road country"
    " sea water air wind sun light earth head name letter question case fact truth idea point course top middle midst"
    " tür zimmer haus mann männer frau leute familie tisch feuer fenster bett boden wand weg straße land meer wasser"
    " luft wind sonne licht erde kopf name brief frage fall wahrheit porte chambre maison homme femme table fenêtre lit"
    " mur pays mer eau air vent soleil terre tête nom lettre question puerta casa hombre mujer gente mesa fuego ventana"
    " cama suelo camino país mar agua aire viento sol luz tierra cabeza nombre carta verdad"
)
"""Words that say nothing of a book: they stand in the openings of most. Of 19 English novels and collections of tales,
at least eight have the English nouns with "the" three times in 50,000 words.
"""


def _things(text: str) -> list[str]:
    """What is named most often in the opening, with its article: "the giant"."""
    counted: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    for article, noun, following in _THING.findall(text):
        is_german = article.casefold() in ("der", "die", "das")
        if noun.casefold() not in _MOMENTS | STOP_WORDS and noun[0].isupper() == is_german:
            phrase = f"{article.casefold()} {noun}"
            counted[phrase] += 1
            alone[phrase] += not following or following.casefold() in STOP_WORDS
    often = [phrase for phrase, number in counted.most_common() if number >= FEWEST_MENTIONS]
    return [phrase for phrase in often if alone[phrase] * _ALONE >= counted[phrase]][: FIRST_QUESTIONS - 1]


_ALONE = 3
"""One in so many times, at least, nothing follows that could be what "the" belongs to: "the old …" is none."""


def _kind_of_name(name: str, text: str) -> FirstQuestionKind | None:
    """What may be asked about a name: a person's is that of somebody who does or says something, or has a title.

    None: it is blank, is named too rarely, is where things happen, or needs an article ("the Carpathians").
    """
    if not name.strip():
        return None
    written = name_pattern(name)
    places = [match.span() for match in re.finditer(written, text)]
    found = [(text[max(start - 16, 0) : start].rstrip(), text[end : end + 16].lstrip()) for start, end in places]
    elsewhere = sum(bool(BEFORE_PLACE.search(before) or _ARTICLE.search(before)) for before, _ in found)
    alone = [bool(_ARTICLE.search(before)) for before, after in found if not after[:1].isupper()]  # not "Count Dracula"
    if len(places) < FEWEST_MENTIONS or elsewhere * 2 >= len(found) or sum(alone) * 2 > len(alone):
        return None
    does = any(_DOES.match(after) or _SAID.search(before) for before, after in found)
    titled = " " in name and folded_name(name.split()[0]) in TITLES_OF_PEOPLE
    if titled or does or re.search(rf"(?m)^\s*{written}[.:]\s", text):
        return FirstQuestionKind.MET
    return FirstQuestionKind.NAMED if len(places) > FEWEST_MENTIONS else None
