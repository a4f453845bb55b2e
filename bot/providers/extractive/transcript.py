"""The talk so far, as a request tells it: what was asked, answered and quoted, and what this turn has looked up.

A question is understood as it was meant, and in the context of earlier ones.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby, pairwise
from operator import attrgetter
from typing import Any

from bot.providers.extractive.language import TYPED, WORDINGS, Language, is_little, split_words, stem
from bot.providers.extractive.question import (
    GENDERS,
    MEANS_A_MATTER,
    MEASURED,
    SOMETHING,
    Question,
    QuestionKind,
    Term,
    analyse,
    as_printed,
    asked_in,
    is_title,
    points_back,
    pronoun_in,
)
from bot.providers.extractive.quotation import FEWEST_REPEATED, clauses
from bot.providers.extractive.signs import CAUSE, relation_in
from domain.book import Passage, Sentence
from domain.chat import CompletedCall, PromptKind, PromptMessage, completed_calls
from domain.citations.keys import fold
from domain.library.addressing import is_matter, is_same_number
from domain.library.numerals import number_value
from domain.library.search.sentences import split_sentences
from domain.library.search.words import without_possessive, words_of
from domain.library.summaries import FEWEST_OF_A_STORY, FRONT_WORDS
from domain.reading.recap import is_role

REMEMBERED = 6
"""Exchanges that follow-up questions may refer to."""

_FEWEST_WORDS = 20
"""Of a chapter that is more than the heading of a part."""


_NOT_ASKED = re.compile(
    r"```.*?(?:```|\Z)|<(?:[@#][!&]?|a?:\w+:|t:|id:|/[^<>\n]{1,99}:)[\w:]*>|@(?:everyone|here)\b"
    r"|\]\(<?(?:https?://|www\.)[^\s()<>]*>?\)|<?(?:\b[a-z][a-z+.-]{1,15}://|\bwww\.)[^\s<>]+>?|(?<![\w:]):[\w+-]+:(?![\w:])"
    r"|(?<=\W{8})\W+(?=\W{8})",
    re.IGNORECASE | re.DOTALL,
)
"""What is not asked: code, Discord's mentions, times, emoji, links (but for their words), the middle of many marks."""

_ATTRIBUTION = re.compile(WORDINGS["attribution"][0], re.IGNORECASE | re.DOTALL | re.MULTILINE)
"""What e-readers put below a passage that is copied from them: title, author and page."""

_OTHER_PERSON = re.compile(WORDINGS["other_person"][0], re.IGNORECASE)
"""Somebody else in the room, who is mentioned beside what is asked: "can you tell @Ben who Hobb is?"."""

_TYPED_WORD = re.compile(rf"(?<![\w'’.])(?:{'|'.join(TYPED)})(?![\w'’]|\.\s?\w)")

_SLANG = re.compile(rf"(?:(?<=\s)|^)(?:{'|'.join(WORDINGS['slang'])})\s*")
"""Words that people strew in, which are all of a message that has no others."""

_SHOUTED = re.compile(r"\b[A-ZÀ-ÞА-ЯЁ]{2,}\b(?:\W+[A-ZÀ-ÞА-ЯЁ]+\b)+")
"""Two words or more in capitals."""

_SALUTATION = re.compile(WORDINGS["salutation"][0], re.IGNORECASE)
MOST_CHARACTERS = 2_000
"""Characters of a message that are analysed: the longest message a person can send."""


def as_meant(message: str) -> str:
    """A message without mentions, links, code, slang and shouting, with words in full that are typed in haste, and with
    what is copied from an e-reader as a quotation.
    """
    said = _as_quotation(message[:MOST_CHARACTERS])
    text = _OTHER_PERSON.sub(_instead_of, _NOT_ASKED.sub(" ", said)).strip()
    text = _SHOUTED.sub(lambda found: found[0].lower(), text)
    plain = _SLANG.sub("", text).strip(" ,")
    text = plain if words_of(plain) else text
    return _TYPED_WORD.sub(lambda found: TYPED[found[0]], _SALUTATION.sub("", text))


def _as_quotation(message: str) -> str:
    """A message with the passage that is copied from an e-reader as a quotation."""
    added = _ATTRIBUTION.search(message)
    if added is None:
        return message
    before, _, passage = message[: added.start()].rstrip().rpartition("\n\n")
    quoted = [f"> {line.lstrip('> ')}" for line in passage.splitlines()]
    return "\n".join([before, *quoted, message[added.end() :]])


def _instead_of(mentioned: re.Match[str]) -> str:
    """What is asked for somebody else is asked for oneself; who is called is left out."""
    if mentioned["tell"]:
        return f"{mentioned['tell']}me"
    return f"{mentioned['sag']}mir" if mentioned["sag"] else ""


_BORROWED, _MEANT = 0.5, 0.9
"""The weight of a word of an earlier question relative to those of the question itself, and of a name that a pronoun
stands for.
"""

_CONTINUES = re.compile(WORDINGS["continues"][0], re.IGNORECASE)
_NAMES = re.compile(r"(?:(?<=[a-zà-ÿ,;] )|(?<=[“\"«„])|(?<=^)|(?<=\. ))[A-ZÀ-Þ][\w’'-]+")
_FEW_WORDS, _MOST_NAMES = 3, 2


def in_context(text: str, before: Question | None, answer: str = "", spoken: Language = Language.ENGLISH) -> Question:
    """The analysis of a question, with words it lacks from the one before and its answer; in the language `spoken`."""
    question = analyse(text, asked_in(text, spoken))
    if before is None:
        is_bare = question.kind is QuestionKind.OTHER and question.names == {term.stem for term in question.terms}
        return replace(question, kind=QuestionKind.WHO_IS) if is_bare and question.names else question
    if question.language is not before.language and len(split_words(text, question.language)) <= _FEW_WORDS:
        question = analyse(text, asked_in(text, before.language))
    own, is_back = _own_terms(question), points_back(question)
    if not own or (not is_back and all(term.weight == MEASURED for term in own)):  # "why?", "for how long?"
        meant = _antecedents(question, before, answer) if is_back else ()
        return _borrow(question, (*meant, *before.terms), before)
    if _is_elliptical(question):
        kind = QuestionKind.WHO if before.kind is QuestionKind.WHO_IS and not question.names else before.kind
        return _borrow(replace(question, kind=kind), _unless_replaced(question, before), before, _MEANT)
    if is_back or _has_no_subject(question):
        return _borrow(question, _antecedents(question, before, answer), before)
    return question


def _own_terms(question: Question) -> tuple[Term, ...]:
    """Terms other than the question word: the analysis of "why?" contains "why" only because it has nothing else."""
    return tuple(t for t in question.terms if t.stem in question.names or not is_little(t.word, question.language))


def _is_elliptical(question: Question) -> bool:
    """ "And Tom?", "What about her brother?": a subject, and the rest as before."""
    opening = _CONTINUES.match(question.text)
    return len(question.terms) <= _FEW_WORDS and (
        (opening is not None and question.kind in (QuestionKind.OTHER, QuestionKind.WHAT, QuestionKind.HOW))
        or (question.kind is QuestionKind.OTHER and len(split_words(question.text, question.language)) == 1)
    )


def _unless_replaced(question: Question, before: Question) -> tuple[Term, ...]:
    """The earlier terms; a new name replaces the old ones, and so does a word that is all of the question. Words for
    people give way to another one, or to a name if there was none: of "Ann's mother", "and her brother?" keeps
    "Ann's".
    """
    bare = split_words(_CONTINUES.sub("", question.text, count=1), question.language)
    has_role = any(is_role(without_possessive(term.word)) for term in question.terms)
    is_name = question.names or (bare and not has_role and not any(is_little(word, question.language) for word in bare))
    gone = before.names if is_name and not points_back(question) else frozenset()
    if has_role or (is_name and not before.names):
        gone |= {term.stem for term in before.terms if is_role(without_possessive(term.word))}
    return tuple(term for term in before.terms if term.stem not in gone)


def _has_no_subject(question: Question) -> bool:
    """Whether it goes on without a name or a noun, as in "¿Y dónde vive?": Spanish verbs need no pronoun."""
    is_of_deed = question.kind in (QuestionKind.WHERE, QuestionKind.WHEN, QuestionKind.WHY, QuestionKind.HOW)
    goes_on = (is_of_deed and question.language is Language.SPANISH) or _CONTINUES.match(question.text)
    is_short = len(question.terms) <= _FEW_WORDS and not question.names
    return bool(goes_on) and is_short and SOMETHING.search(question.text) is None


def _antecedents(question: Question, before: Question, answer: str) -> tuple[Term, ...]:
    """What the pronouns refer to: the names asked about, with the relative of theirs, or found if it was asked who, or
    if those are forgotten; for "it", everything asked about. "She" stays who she was in "Who does she marry?".
    """
    pronoun = pronoun_in(question)
    own = [each for each in GENDERS if pronoun and each.fullmatch(pronoun[0])]
    relation = relation_in(before.text)
    theirs = [term for term in before.terms if (relation or term.weight < 1.0) and _may_mean(term.word, own)]
    meant = [term for term in before.terms if term.stem in before.names or term in theirs]
    is_forgotten = own and not before.names and (before.leans_on_past or points_back(before))
    is_same = (said := pronoun_in(before)) and any(each.fullmatch(said[0]) for each in own)  # "Who does she marry?"
    if is_forgotten or (before.kind is QuestionKind.WHO and not (relation or is_same)):
        meant += _names_in(answer, before)
    return (*meant, *(before.terms if not meant or MEANS_A_MATTER.search(question.text) else ()))


def _may_mean(word: str, own: Sequence[re.Pattern[str]]) -> bool:
    """Whether a pronoun, of its own gender, may stand for what somebody is: "she" stands for no father."""
    return is_role(word) and not (own and any(each.fullmatch(word) for each in GENDERS if each not in own))


def _names_in(answer: str, before: Question) -> list[Term]:
    """The most frequent names in an answer that were not in its question."""
    asked = {term.stem for term in before.terms}
    found = (name for name in _NAMES.findall(answer) if not is_little(name, before.language) and not is_title(name))
    counted = Counter(name for name in found if stem(name, before.language) not in asked)
    return [Term(stem(name, before.language), name) for name, _ in counted.most_common(_MOST_NAMES)]


def _borrow(question: Question, terms: tuple[Term, ...], before: Question, words: float = _BORROWED) -> Question:
    own = _own_terms(question)
    known = {term.stem for term in own}
    names = before.names | {term.stem for term in terms if term.word[0].isupper()}
    lent = {
        term.stem: replace(term, weight=term.weight * (_MEANT if term.stem in names else words))
        for term in terms
        if term.stem not in known
    }
    every = (*own, *lent.values()) or question.terms
    return replace(question, terms=every, names=(question.names | names) & {term.stem for term in every})


@dataclass(frozen=True, slots=True)
class LastQuoted:
    """The last sentence in reading order that an answer quoted, and a passage with it."""

    sentence: Sentence
    passage: Passage


_REFERENCE = re.compile(r"\((?:about )?pp?\. [^()]*\)")


def last_quoted(answers: Iterable[tuple[str, Sequence[Passage]]]) -> LastQuoted | None:
    """The end of the first of these answers, each with its passages, that quoted anything: in the chapter it quoted
    most of.
    """
    for answer, passages in answers:
        told = fold(" ".join(_REFERENCE.split(answer)[:-1]))
        ends = {s: p for p in sorted(passages, key=lambda each: each.end) for s in p.sentences}
        words = {sentence: _quoted_words(sentence, told) for sentence in ends}
        least = min(max(words.values(), default=0), FEWEST_REPEATED)  # "Miss Prism." is everywhere
        if least > 1:
            quoted = [sentence for sentence in ends if words[sentence] >= least]
            share = Counter(ends[sentence].chapter for sentence in quoted for _ in range(words[sentence]))
            last = max(quoted, key=lambda each: (share[ends[each].chapter], each.end))
            return LastQuoted(last, ends[last])
    return None


def quoted_of(results: Iterable[Sequence[Passage]], answer: str, *, causes: bool) -> set[Sentence]:
    """The sentences of which an answer quotes enough to be noticed; those that state a cause only if `causes`."""
    told = fold(answer)
    every = {each for passages in results for passage in passages for each in passage.sentences}
    quoted = (each for each in every if _quoted_words(each, told) >= FEWEST_REPEATED)
    return {each for each in quoted if causes or not CAUSE.search(each.text)}


def _quoted_words(sentence: Sentence, answer: str) -> int:
    """The words of the longest clause of a sentence that a folded answer has."""
    parts = (fold(sentence.text[start:end]).strip(" \"'") for start, end in clauses(sentence.text))
    return max((len(words.split()) for words in parts if words in answer), default=0)


_BEFORE_QUOTED = re.compile(r"^[^“«„]*[“«„]")


def lines_quoted(answer: str) -> list[str]:
    """The last telling sentence of each quotation in an answer, before its reference to a page."""
    lines: list[str] = []
    for quoted in _REFERENCE.split(answer)[:-1]:
        sentences = [quoted[start:end] for start, end in split_sentences(quoted)]
        telling = [each.strip('> “”«»„"…\n') for each in sentences if len(words_of(each)) >= FEWEST_REPEATED]
        lines += [_BEFORE_QUOTED.sub("", each) for each in telling[-1:]]
    return lines


@dataclass(frozen=True, slots=True)
class Exchange:
    """An earlier question, its answer, and the passages behind that."""

    question: str
    answer: str
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Transcript:
    """`looks` are those of the running turn, made in `rounds` rounds; `handed_over` are passages that came with the
    question.

    `asked` is what each person has asked, in order, those who wrote while the answer before was being made. `book` is
    what is known of the book, and whether it is `open`: a reader has finished it.
    """

    asked: tuple[str, ...]
    book: Mapping[str, Any]
    earlier: tuple[Exchange, ...] = ()
    looks: tuple[CompletedCall, ...] = ()
    handed_over: tuple[Passage, ...] = ()
    rounds: int = 0

    @property
    def results(self) -> list[tuple[Passage, ...]]:
        """The passages of each look; if nothing was looked up, those of the talk so far, the latest first."""
        found = [look.result.passages for look in self.looks if look.result.passages]
        if self.handed_over:
            return [self.handed_over, *found]
        return found if self.looks else [exchange.passages for exchange in reversed(self.earlier) if exchange.passages]

    @property
    def spoken(self) -> Language:
        """The language of the readers so far."""
        return reduce(
            lambda spoken, each: asked_in(each.question, spoken), self.earlier[-REMEMBERED:], Language.ENGLISH
        )

    @property
    def told(self) -> str:
        """The text of the results, once where several looks found it."""
        return " ".join(dict.fromkeys(passage.text for passages in self.results for passage in passages))

    @property
    def last_quoted(self) -> LastQuoted | None:
        """The end of the last answer that quoted anything: known, or found again if the history is without passages."""
        known = last_quoted((each.answer, each.passages) for each in reversed(self.earlier))
        again = self.passages_of("find_phrase")
        return known or (LastQuoted(again[0].sentences[-1], again[0]) if again else None)

    @property
    def last_lines(self) -> list[str]:
        """The last sentence of each quotation of the last answer that had any."""
        return next(filter(None, (lines_quoted(each.answer) for each in reversed(self.earlier))), [])

    @property
    def missing(self) -> dict[str, list[str]]:
        """Words of the turn's searches that the book does not have, each with similarly spelt names."""
        data = ((look.result.data or {}).get("missing", {}) for look in self.looks)
        return {word: spelt for missing in data for word, spelt in missing.items()}

    @property
    def listed(self) -> Sequence[Mapping[str, Any]]:
        """The chapters in the table of contents, if it was looked up."""
        looks = self.looks_for("table_of_contents")
        return (looks[-1].result.data or {}).get("chapters", ()) if looks else ()

    @property
    def is_story_of_part(self) -> bool:
        """Whether a story was told that runs through several chapters."""
        return len({passage.chapter for passage in self.passages_of("story_so_far")}) > 1

    @property
    def part(self) -> Sequence[Mapping[str, Any]]:
        """The chapters of the part whose story was told, from the table of contents; empty if it is not of one part."""
        told = {passage.chapter for passage in self.passages_of("story_so_far")}
        parts = {each["parent"] for each in self.listed if each["title"] in told} - {""}
        return [each for each in self.listed if {each["parent"]} == parts]

    def told_chapter(self, *, last: bool = False) -> Mapping[str, Any]:
        """The chapter whose story was told, from the table of contents; of a part, the first that is more than its
        heading, or the last one; empty if there is none.
        """
        looks = self.looks_for("story_so_far")
        numbers = (looks[-1].result.data or {}).get("chapters", ()) if looks else ()
        told = [each for each in self.listed if each["number"] in numbers]
        long = [each for each in told if each["words"] >= _FEWEST_WORDS] or told
        return next(iter(long[::-1] if last else long), {})

    @property
    def next_chapter(self) -> Mapping[str, Any]:
        """The one behind it in the table of contents; empty if there is none."""
        chapter = self.told_chapter(last=True)
        return next((behind for each, behind in pairwise(self.listed) if each is chapter), {})

    def is_ahead(self, chapter: int | str | None) -> bool:
        """Whether the end of the book, or of a chapter that was looked up, lies beyond what has been read."""
        if self.book["open"] or not chapter:
            return not self.book["open"]
        at_end_of = self.book["place"].get("chapter")
        told = self.told_chapter(last=True)
        return told is self.listed[-1] and not (at_end_of and is_same_number(told["printed"], at_end_of))

    @property
    def has_failed(self) -> bool:
        """Whether the turn has looked something up, and found nothing but errors."""
        return bool(self.looks) and all(look.result.is_error for look in self.looks)

    @property
    def is_unread(self) -> bool:
        """Whether nothing of the book has been read yet, so that all tools fail but the search."""
        return bool(self.book["page"] == "")

    def passages_of(self, tool: str, /, **arguments: str) -> list[Passage]:
        """What those looks have found."""
        return [passage for look in self.looks_for(tool, **arguments) for passage in look.result.passages]

    def looks_for(self, tool: str, /, **arguments: str) -> list[CompletedCall]:
        """The looks made with a tool and these arguments, in whatever case, possibly among others."""
        wanted = typed_small(arguments).items()
        made = (look for look in self.looks if look.call.tool_name == tool)
        return [look for look in made if wanted <= typed_small(look.call.arguments).items()]


def typed_small(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by which calls are compared: what is looked up is found in capitals as well."""
    return {name: value.casefold() if isinstance(value, str) else value for name, value in arguments.items()}


def transcribe(messages: Sequence[PromptMessage]) -> Transcript:
    """Read the messages of a request."""
    spoken = [_as_asked(m) for m in messages if m.role != "system" and m.kind is not PromptKind.NUDGE]
    about = next((m.data for m in messages if m.role == "system" and m.data), {})
    turns = list(_turns(spoken))
    asked, since = turns[-1] if turns else ([], [])
    return Transcript(
        asked=tuple(_words([*said]) for _, said in groupby(asked, key=attrgetter("note"))) or ("",),
        book={"title": "", "author": "", "page": None, "place": {}, "open": True, **about},
        earlier=tuple(_exchange(*turn) for turn in turns[:-1]),
        looks=tuple(completed_calls(since)),
        handed_over=tuple(p for m in asked if m.kind is PromptKind.PASSAGES for p in m.passages),
        rounds=sum(bool(message.tool_invocations) for message in since),
    )


def _words(asked: Sequence[PromptMessage]) -> str:
    return as_meant("\n".join(message.content for message in asked))


def _as_asked(message: PromptMessage) -> PromptMessage:
    """A message with passages: the reader's own words, and the passages."""
    if message.kind is not PromptKind.PASSAGES or message.data is None:
        return message
    return replace(message, content=message.data["message"], passages=tuple(message.data["passages"]))


def _turns(messages: Sequence[PromptMessage]) -> Iterator[tuple[list[PromptMessage], list[PromptMessage]]]:
    """Consecutive messages of readers, and what followed from them; from unanswered ones nothing."""
    asked: list[PromptMessage] = []
    for (is_reader, _), group in groupby(messages, key=lambda m: (m.role == "user", m.kind is PromptKind.UNANSWERED)):
        if is_reader:
            if asked:
                yield asked, []
            asked = list(group)
        elif asked:
            yield asked, list(group)
            asked = []
    if asked:
        yield asked, []


def _exchange(asked: Sequence[PromptMessage], since: Sequence[PromptMessage]) -> Exchange:
    passages = tuple(passage for message in since for passage in message.passages)
    answer = "\n".join(m.content for m in since if m.role == "assistant" and not m.tool_invocations)
    return Exchange(as_printed(_words(asked), " ".join(passage.text for passage in passages)), answer, passages)


def story_chapter(listed: Sequence[Mapping[str, Any]], *, last: bool = False) -> Mapping[str, Any]:
    """The first chapter of a table of contents that does not call itself a preface or the like, or the last one."""
    told = [each for each in listed if not is_matter(each["title"])]
    long = [each for each in told if each["words"] >= FEWEST_OF_A_STORY]
    begins, after = ([each["printed"] for each in long] + ["", ""])[:2]
    at = int(bool(after) and not begins and long[0]["words"] < FRONT_WORDS)  # the cast of a play before its first act
    return next(iter([*told[::-1], *listed[::-1]] if last else [*long[at:], *listed]), {})


BOTH = 2
"""Chapters with the same number that are told together; of more, it is asked which."""


def numbered(listed: Sequence[Mapping[str, Any]], chapter: int | str | None) -> list[Mapping[str, Any]]:
    """The chapters with a number ("1", "chapter one"), as they are printed: several if each part counts anew."""
    wanted = number_value(str(chapter).partition(" ")[2] or str(chapter))
    parts = {each["parent"] for each in listed}
    return [
        each for each in listed if each["title"] not in parts and number_value(each["printed"]) == wanted is not None
    ]


def last_pages(chapter: Mapping[str, Any]) -> dict[str, str]:
    """The last two pages of a chapter, because the last one may be a line; one if they are not numbered."""
    first, last = str(chapter.get("page", "1")), str(chapter.get("last_page", "1"))
    if not (first.isdecimal() and last.isdecimal()):
        return {"from": last, "to": last}
    return {"from": str(max(int(first), int(last) - 1)), "to": last}
