"""Understanding the messages of a request, and deciding what to look up for them."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from bot.providers.extractive import intents, quotation, signs, wording
from bot.providers.extractive.language import WORDINGS, Language, is_little, language_of, stems_of
from bot.providers.extractive.question import (
    Question,
    QuestionKind,
    Term,
    analyse,
    as_printed,
    asked_in,
    cut_at_pauses,
    in_language,
    is_title,
    kind_of,
    of_scene,
    with_words,
)
from bot.providers.extractive.quotation import NOTHING, Candidate, Choice, Confidence, gather, with_whole_replies
from bot.providers.extractive.scoring import MOST_WORDS, Evidence, choose
from bot.providers.extractive.transcript import (
    BOTH,
    REMEMBERED,
    Transcript,
    in_context,
    last_pages,
    numbered,
    quoted_of,
    story_chapter,
    typed_small,
)
from domain.book import Passage, Sentence
from domain.citations.keys import fold
from domain.library.addressing import is_same_number
from domain.library.search.sentences import ENDS_AS_QUESTION, questions_in, split_sentences
from domain.library.search.words import STOP_WORDS, with_hyphens, without_possessive, words_of
from domain.tool_use import OfferedTools, ToolInvocation

_Results = Sequence[Sequence[Passage]]

_TELLING_CHARACTERS = 400
"""Characters of a book from which its language can be determined."""


class Choices:
    """The quotations that answer each question of a message, chosen once from the results of its looks."""

    def __init__(self, transcript: Transcript, questions: int) -> None:
        """`questions` share the available space almost evenly, because most of them need less."""
        self.transcript = transcript
        self._most_words = MOST_WORDS if questions <= 1 else MOST_WORDS * 2 // 3
        self._chosen: dict[Question, Choice] = {}
        self.quoted: set[Candidate] = set()
        self.explained: set[str] = set()
        """What need not be said again for another question."""

    def of(self, question: Question) -> Choice:
        if question not in self._chosen:
            asked = self.as_looked_up(question)
            self._chosen[question] = self._best(asked)
            known = wording.without_lost(asked, wording.absent(asked, self.transcript.missing, ()))
            if known and not self._chosen[question].candidates and (rest := self._best(known)).candidates:
                self._chosen[question] = replace(rest, confidence=Confidence.NEAR)
        return self._chosen[question]

    def _best(self, question: Question) -> Choice:
        story, question = self.told_in(of_scene(question, self.transcript.told))
        results = [[p for p in passages if story in ("", p.chapter)] for passages in self.transcript.results]
        told = self._told(results, question)
        new = self._choose(question, results, told)
        return new if new.candidates or not told else self._choose(question, results)

    def _choose(self, question: Question, results: _Results, told: Collection[Sentence] = ()) -> Choice:
        candidates = intents.stating(question, gather(results, question.language))
        evidence = Evidence(question, candidates)
        is_apart = max(evidence.wide, default=0.0) < intents.least_together(question, self.transcript.told)
        is_apart = is_apart and not wording.absent(question, self.transcript.missing, ())
        if is_apart or not self._knows(question, candidates):
            return NOTHING
        choice = choose(evidence, told, most_words=self._most_words)
        choice = with_context(evidence, choice, most_words=self._most_words)
        return replace(choice, candidates=tuple(each for each in choice.candidates if each.sentence not in told))

    def _told(self, results: _Results, question: Question) -> set[Sentence]:
        """For a mere "why?", what the last answer quoted; a cause only if that answered a "why?" itself."""
        if not (self.transcript.earlier and question.leans_on_past and question.kind is QuestionKind.WHY):
            return set()
        last = self.transcript.earlier[-1]
        return quoted_of(results, last.answer, causes=analyse(last.question).kind is QuestionKind.WHY)

    def _knows(self, question: Question, candidates: Sequence[Candidate]) -> bool:
        """Whether anything is told of the names that are asked about; in German every noun looks like a name."""
        named = [candidate for candidate in candidates if question.names & {*candidate.stems}]
        if not self.transcript.book["open"] and named and all(candidate.is_heading for candidate in named):
            return False  # a printed table of contents has told nothing yet
        if asked_in(question.text, question.language) is not question.language:
            return self._is_shared(question, candidates)
        capitals = (word for word in question.name_words if word[0].isupper() and not is_title(word))
        typed = [without_possessive(word) for word in capitals if not question.has_article(word)]
        is_asked_who = kind_of(question.text, question.language) is question.kind is QuestionKind.WHO_IS
        asks_who = is_asked_who and question.language is not Language.GERMAN
        return not (asks_who and typed) or quotation.are_names(typed, candidates, question.language)

    def _is_shared(self, question: Question, candidates: Sequence[Candidate]) -> bool:
        """Whether a question in another language has a name of the book, or a noun that is spelt the same in both."""
        words = [term.word for term in question.terms]
        told = {word for candidate in candidates for word in candidate.words.split()}
        nouns = (w for w in words if w.capitalize() in question.text or question.has_article(w))
        return quotation.are_names(words, candidates, question.language) or any(fold(word) in told for word in nouns)

    def told_in(self, question: Question) -> tuple[str, Question]:
        """The story of a collection that a question names, if any, and the question without its title."""
        return wording.told_in(question, {each.chapter for passages in self.transcript.results for each in passages})

    def as_looked_up(self, question: Question) -> Question:
        """The question with its names as the book spells them; only the names if it is in another language than the
        book.
        """
        named = self._in_book(question)
        return with_words(named, wording.respelt(named, self.transcript.missing))

    def _in_book(self, question: Question) -> Question:
        if self.book_language in (None, question.language):
            return question
        return in_language(question, self.book_language, self.transcript.missing)

    def spoken(self, question: Question) -> Language:
        """The language to answer in: the book's, if the question may as well be in that."""
        language = self.book_language
        return language if language and asked_in(question.text, language) is language else question.language

    def native(self, question: Question) -> Question:
        """The question in the book's language, if it may as well be in that."""
        return self._in_book(question) if self.spoken(question) is self.book_language else question

    @cached_property
    def book_language(self) -> Language | None:
        """The language of the passages; None if there are none, or too little text to tell."""
        found = self.transcript.results if self.transcript.told else [past.passages for past in self.transcript.earlier]
        text = " ".join(passage.text for each in found for passage in each)
        letters = [letter for letter in text.lower() if letter.isalpha()]
        latin = sum("a" <= letter <= "ÿ" for letter in letters)  # not the French of a Russian novel
        return language_of(text) if len(text) >= _TELLING_CHARACTERS and latin > len(letters) / 2 else None

    def is_elsewhere(self, text: str) -> bool:
        """Whether a message is about a famous work, person or place of which the book has nothing."""
        if not (found := {fold(match[0]) for match in intents.ELSEWHERE.finditer(text)}):
            return False
        titles = {each.chapter for passages in self.transcript.results for each in passages}
        known = fold(" ".join([self.transcript.book["title"], self.transcript.told, *titles]))
        return not any(each in known for each in found)

    def mended(self, question: Question) -> dict[str, str]:
        """The words of a question that the book spells otherwise, and how; what is borrowed has been told before."""
        own = {without_possessive(term.word) for term in question.terms if term.weight == 1.0}
        return {
            word: spelt
            for word, spelt in wording.respelt(self._in_book(question), self.transcript.missing).items()
            if word in own
        }

    def missing(self, question: Question) -> list[str]:
        """Words of a question that the book has in no spelling; first those that no other word can replace."""
        gone = self._gone(question)
        lost = [term.word for term in gone if not wording.is_replaceable(term, question)]
        return lost or [term.word for term in gone]

    def unknown(self, question: Question) -> list[str]:
        """Missing words without which a question has no answer."""
        is_foreign = self.book_language not in (None, question.language)  # whose other words it cannot have
        gone, respelt = self._gone(question), wording.respelt(question, self.transcript.missing)
        lost = wording.essential(question, gone, respelt, is_foreign=is_foreign)
        _, told_of = self.told_in(question)  # a story of the book may be named in it by its title alone
        lost = lost or wording.half_known(told_of, [term.word for term in gone], respelt, self.transcript.told)
        return lost or (self.missing(question) if intents.is_indefinite(question) else [])

    def namesake(self, name: str) -> str:
        """Who else has a name, with what stands before it in the passages: "Muff Potter"; empty if nobody has."""
        found = re.findall(rf"\b([A-Z]\w+)(\.?) {re.escape(name)}\b", self.transcript.told)
        others = [f"{word}{dot} {name}" for word, dot in found if fold(word) not in STOP_WORDS]
        return max(others, key=others.count, default="")

    def _gone(self, question: Question) -> list[Term]:
        stems = ((*each.stems, *stems_of(each.words, question.language)) for each in self.of(question).candidates)
        gone = wording.absent(question, self.transcript.missing, {*chain.from_iterable(stems)})
        return [term for term in gone if not question.has_as_verb(term)]


_CONTEXT_WORDS = 30
"""Words that neighbours may add to what is quoted."""

_POINTS_BACK = re.compile(WORDINGS["stands_in"][0], re.IGNORECASE)


def with_context(evidence: Evidence, choice: Choice, *, most_words: int = MOST_WORDS) -> Choice:
    """The choice with the neighbours that some candidates need to be understood, if there is space."""
    candidates = evidence.candidates
    shown = {candidate.position for candidate in choice.candidates}
    space = max(most_words, sum(candidate.length for candidate in choice.candidates)) + _CONTEXT_WORDS
    for at in sorted(shown):
        wanted = shown | _needed(evidence, at)
        if sum(candidates[each].length for each in wanted) <= space:
            shown = wanted
    spoken = _with_speakers(shown, evidence)
    whole = with_whole_replies([candidates[at] for at in spoken or shown], candidates, most_words=space)
    return replace(choice, candidates=tuple(whole))


_SPEAKER = re.compile(r"(?:[A-ZÀ-Þ][^\W\d_]+\.? ?){1,3}\.")
_SENTENCES_A_SPEECH = 10
"""At most, in a play: if fewer sentences are a name and nothing else, that is what somebody cries in a novel."""


def _with_speakers(shown: Collection[int], evidence: Evidence) -> set[int]:
    """What is shown of a play, each speech with the name before it, and no name without a speech."""
    speakers = {at for at, each in enumerate(evidence.candidates) if _SPEAKER.fullmatch(each.text)}
    if len(speakers) * _SENTENCES_A_SPEECH < len(evidence.candidates):
        return {*shown}
    speeches = {at for at in shown if at not in speakers}
    return speeches | {at for at in speakers if evidence.following(at) in speeches}


def _needed(evidence: Evidence, at: int) -> set[int]:
    """The neighbours that a candidate needs: the beginning of its sentence, and what a colon announces, more than a
    name, or whom a pronoun refers to.
    """
    candidate, names = evidence.candidates[at], evidence.question.names
    beside = None
    if candidate.announces or (names and _told_by(evidence, at) < 2):  # "My name is Ann."
        beside = evidence.following(at)
    elif _POINTS_BACK.match(candidate.text) and not names & {*candidate.stems}:
        beside = evidence.previous(at)
    begun = {other for other in range(at) if evidence.candidates[other].sentence is candidate.sentence}
    return begun if beside is None or evidence.candidates[beside].is_heading else {*begun, beside}


def _told_by(evidence: Evidence, at: int) -> int:
    """How many meaningful words a candidate has that are not names in the question."""
    names, language = evidence.question.names, evidence.question.language
    words = [word for word in words_of(evidence.candidates[at].text) if not is_little(word, language)]
    return sum(names.isdisjoint(stems_of(word, language)) for word in words)


MOST_PLACES = 3
"""Places of a line that are quoted."""

MOST_WISHES = 3


@dataclass(frozen=True, slots=True)
class Wish:
    """`question` is the whole question, which is looked up if the intent itself cannot be served."""

    intent: intents.Intent
    question: Question


def wishes_of(transcript: Transcript) -> list[Wish]:
    """The wishes of everybody who is to be answered. Of several people, those have none who ask nothing; and all wait
    until it is settled where one of them is, who reads the answers to the others, too.
    """
    wishes = [*dict.fromkeys(wish for said in transcript.asked for wish in _wishes_in(said, transcript))]
    if len(transcript.asked) == 1:
        return wishes
    places = [wish for wish in wishes if isinstance(wish.intent, intents.Position)]
    return places or [wish for wish in wishes if not _asks_nothing(wish)] or wishes


def _asks_nothing(wish: Wish) -> bool:
    is_unclear = isinstance(wish.intent, intents.Lookup) and intents.asks_nothing(wish.intent.question)
    return is_unclear or isinstance(wish.intent, intents.Remark)


def _wishes_in(said: str, transcript: Transcript) -> list[Wish]:
    """The wishes of one person."""
    said = _beside_place(said, transcript.book["place"])
    past, answer = _past(transcript)
    words, passage = intents.parted(said)
    if words and passage:
        question = in_context(words, analyse(passage))
        return [Wish(intents.about_passage(words, passage, question), question)]
    whole = _wish(said, past, answer, transcript, is_whole=True)
    if not isinstance(whole.intent, intents.Lookup):
        return [whole]
    asked: list[Wish] = []
    for part in questions_in(said):
        wish = _wish(part, past, answer, transcript, is_whole=part == said)
        past = past if isinstance(wish.intent, intents.Remark) else wish.question
        if ENDS_AS_QUESTION.search(part) or not isinstance(wish.intent, intents.Lookup | intents.Remark):
            asked.append(wish)
    return asked[:MOST_WISHES] or [whole]


def _beside_place(text: str, place: Mapping[str, str]) -> str:
    """What else a message says that tells where the reader is, if that is known: "I'm on page 5, who is he?"."""
    pieces, said = cut_at_pauses(text)
    known = [2 * at for at, each in enumerate(said) if _says_place(each, place)]
    rest = "".join(piece for at, piece in enumerate(pieces) if at not in known).lstrip(" ,.;:!–—-")
    return rest if known and words_of(rest) else text


def _says_place(text: str, place: Mapping[str, str]) -> bool:
    """Whether a text says that the reader is at the end of that page, or of that chapter."""
    page, chapter = place.get("page"), place.get("chapter")
    if page and (found := intents.PAGE_READ.fullmatch(text)):
        return page in found.groups()
    if chapter and (found := intents.CHAPTER_READ.fullmatch(text)):
        return any(is_same_number(each, chapter) for each in filter(None, found.groups()))
    return False


def _wish(text: str, past: Question | None, answer: str, transcript: Transcript, *, is_whole: bool) -> Wish:
    question = in_context(text, past, answer, transcript.spoken)
    lines, told = transcript.last_lines, transcript.told
    of_last = intents.of_last(text, lines, question) if is_whole else None
    intent = of_last or intents.intent_of(text, question, transcript.book, has_past=bool(lines))
    if isinstance(intent, intents.Lookup) and (printed := with_hyphens(as_printed(text, told), told)) != text:
        return _wish(printed, past, answer, transcript, is_whole=False)
    return Wish(intent, question)


def _past(transcript: Transcript) -> tuple[Question | None, str]:
    """The last question of the talk so far, itself understood from those before, and its answer."""
    past: Question | None = None
    answer = ""
    for exchange in transcript.earlier[-REMEMBERED:]:
        question = in_context(exchange.question, past, answer, transcript.spoken)
        of_last = intents.of_last(exchange.question, [answer], question)
        wanted = of_last or intents.intent_of(exchange.question, question, has_past=True)
        if isinstance(wanted, intents.Lookup | intents.Count | intents.Cited):
            past, answer = question, exchange.answer
    return past, answer


_MORE_PASSAGES = 10
"""Passages of a second search, in the words that an answer may share with the question."""


def next_calls(wishes: Sequence[Wish], choices: Choices, tools: OfferedTools) -> list[ToolInvocation]:
    """The calls to make now; none when it is time to answer."""
    rounds = (_first_calls, _second_calls, _third_calls)
    if choices.transcript.rounds >= len(rounds):
        return []
    calls = [call for wish in wishes for call in rounds[choices.transcript.rounds](wish, choices, tools)]
    made = [(look.call.tool_name, typed_small(look.call.arguments)) for look in choices.transcript.looks]
    new = (call for call in calls if (call.tool_name, typed_small(call.arguments)) not in made)
    return list({call.tool_use_id: call for call in new}.values())


def _first_calls(wish: Wish, choices: Choices, tools: OfferedTools) -> list[ToolInvocation]:
    match wish.intent:
        case intents.StoryEnd(None) if not choices.transcript.book["open"]:
            return []
        case intents.Position(page, chapter):
            place = {"page": page} if page else {"chapter": chapter} if chapter else {"finished": True}
            return tools.call("propose_position", **place)
        case intents.Overview() | intents.Cast():
            return _story(wish.intent, "{title} by {author}".format_map(choices.transcript.book), tools)
        case intents.Count(term, _):
            calls = tools.call("count_mentions", term=term)
        case intents.Line(text, _, sure):
            calls = tools.call("find_phrase", text=text)
            calls += [] if sure else wording.search(wish.question, tools) + wording.introduction(wish.question, tools)
        case intents.Cited(lines):
            calls = [call for each in lines for call in tools.call("find_phrase", text=each)]
            calls += wording.search(wish.question, tools)
        case intents.Pages(first, last, _):
            calls = tools.call("read_pages", **{"from": first, "to": last})
        case intents.ContentsList() | intents.Beginning() | intents.StoryEnd():
            calls = _contents(wish.intent, tools)
        case intents.Onward():
            calls = _onward(choices.transcript, tools)
        case intents.Lookup(question) if not intents.asks_nothing(question):
            return wording.search(question, tools) + wording.introduction(question, tools)
        case intents.Remark() | intents.Lookup():
            return []
    return calls or wording.search(wish.question, tools)


def _contents(
    wish: intents.ContentsList | intents.Beginning | intents.StoryEnd, tools: OfferedTools
) -> list[ToolInvocation]:
    """The table of contents, and the story of a chapter, which tells which one of these is meant."""
    of = None if isinstance(wish, intents.ContentsList) else wish.chapter
    return tools.call("table_of_contents") + (tools.call("story_so_far", chapter=of) if of else [])


def _story(wish: intents.Overview | intents.Cast, book: str, tools: OfferedTools) -> list[ToolInvocation]:
    of_chapter = {} if wish.chapter is None else {"chapter": wish.chapter}
    if isinstance(wish, intents.Cast):
        return tools.call("who_is", **of_chapter)
    if wish.others:
        return [call for each in (wish.chapter, *wish.others) for call in tools.call("story_so_far", chapter=each)]
    of_book = wish.may_be_title and {*words_of(fold(str(wish.chapter)))} <= {*words_of(fold(book)), *STOP_WORDS}
    return tools.call("table_of_contents" if wish.latest else "story_so_far", **({} if of_book else of_chapter))


def _second_calls(wish: Wish, choices: Choices, tools: OfferedTools) -> list[ToolInvocation]:
    transcript = choices.transcript
    match wish.intent:
        case intents.Overview(latest=True):
            last = story_chapter(transcript.listed, last=True)
            return tools.call("story_so_far", chapter=f"#{last['number']}" if last else "0")
        case intents.Overview(chapter=int(), others=()) if transcript.is_story_of_part:
            return tools.call("table_of_contents")
        case intents.Overview(chapter=str() | int() as of, may_be_title=may_be_title) if not transcript.results:
            return wording.search(analyse(str(of)), tools) if may_be_title else tools.call("table_of_contents")
        case intents.Line(text, _, False) if not phrase_hits(transcript, text, exact=True):
            return _second_calls(replace(wish, intent=intents.Lookup(wish.question)), choices, tools)
        case intents.Lookup(question):
            return _look_again(question, choices, tools)
        case intents.Line() | intents.Cited():
            hits = places_of(wish.intent, transcript)
            around = [call for hit in hits for call in tools.call("read_around", passage=hit.source, before=1, after=1)]
            return around if hits else wording.search(wish.question, tools)
        case intents.Count(term, "met"):
            looks = transcript.looks_for("count_mentions", term=term)
            hits = [quotation.first_told(look.result.passages) for look in looks if look.result.passages]
            return [call for hit in hits for call in tools.call("read_around", passage=hit.source, before=1, after=1)]
        case intents.Beginning(chapter=of):
            first = transcript.told_chapter() if of else story_chapter(transcript.listed)
            return tools.call("read_pages", **{"from": first.get("page", "1")}) if first else []
        case intents.StoryEnd(of):
            last = transcript.told_chapter(last=True) if of else story_chapter(transcript.listed, last=True)
            return tools.call("read_pages", **last_pages(last)) if last or not of else []
        case _:
            return _onward(transcript, tools) if isinstance(wish.intent, intents.Onward) else []


def _look_again(question: Question, choices: Choices, tools: OfferedTools) -> list[ToolInvocation]:
    transcript = choices.transcript
    if (asked := choices.as_looked_up(question)).query != question.query:
        return wording.search(asked, tools) + wording.introduction(asked, tools)
    story, inside = choices.told_in(question)
    if story:
        return tools.call("story_so_far", chapter=story) if inside is question else wording.search(inside, tools)
    calls = _first_scene(question, transcript, tools)
    if not transcript.told:
        may_be_foreign = question.language is not Language.ENGLISH or transcript.missing
        return wording.people(tools) if may_be_foreign else []
    if (confidence := choices.of(question).confidence) is Confidence.FIRM:
        return calls
    if known := wording.in_known_words(question, transcript.missing):
        calls += tools.call("search_book", query=known, top_k=wording.PASSAGES)
    if expected := wording.answer_queries(of_scene(question, transcript.told)):
        calls += tools.call("search_book", query=expected[0], top_k=_MORE_PASSAGES, also=expected[1:])
    one_by_one = sorted((term.word for term in question.terms), key=len, reverse=True)  # the answer may share just one
    return calls if confidence is Confidence.LIKELY else calls + wording.search(question, tools, one_by_one)


def _third_calls(wish: Wish, choices: Choices, tools: OfferedTools) -> list[ToolInvocation]:
    if isinstance(wish.intent, intents.Lookup):  # whose names are known by now, though nobody typed their capitals
        return _first_scene(wish.intent.question, choices.transcript, tools)
    chapter = wish.intent.chapter if isinstance(wish.intent, intents.Overview) else None
    same = numbered(choices.transcript.listed, chapter)
    told = same if len(same) == BOTH else []
    return [call for each in told for call in tools.call("story_so_far", chapter=f"#{each['number']}")]


def phrase_hits(transcript: Transcript, text: str, *, exact: bool) -> list[Passage]:
    """The first places of a line that was looked up; only those with its very words, if it has to be exact: in one
    sentence if there are any, since "you. Tom" is no "You Tom".
    """
    found = transcript.passages_of("find_phrase", text=text)
    places = {fold(each.text): each for each in reversed(found) if not exact or quotation.is_told(text, each)}
    parts = {each: [each.text[start:end] for start, end in split_sentences(each.text)] for each in places.values()}
    whole = [each for each, own in parts.items() if any(signs.stands_in(text, part) for part in own)]
    return (whole or [*places.values()])[: -1 - MOST_PLACES : -1]


def places_of(wish: intents.Line | intents.Cited, transcript: Transcript) -> list[Passage]:
    """The places of a line, or of a passage: where all of it is, else where its lines are, else what is like it."""
    if isinstance(wish, intents.Line):
        exact = phrase_hits(transcript, wish.text, exact=True)
        return exact or (phrase_hits(transcript, wish.text, exact=False) if wish.sure else [])
    whole, *parts = (phrase_hits(transcript, each, exact=True)[:1] for each in wish.lines)
    return whole or [hit for hits in parts for hit in hits] or phrase_hits(transcript, wish.lines[0], exact=False)[:1]


def _onward(transcript: Transcript, tools: OfferedTools) -> list[ToolInvocation]:
    """Read on behind the last quotation, or find that again."""
    if quoted := transcript.last_quoted:
        return tools.call("read_around", passage=quoted.passage.source, before=0, after=1)
    return [call for line in transcript.last_lines[-1:] for call in tools.call("find_phrase", text=line)]


def _first_scene(question: Question, transcript: Transcript, tools: OfferedTools) -> list[ToolInvocation]:
    looks = transcript.looks_for("count_mentions", term=question.called)
    at = -1 if question.kind is QuestionKind.HAPPENED else 0
    first = next((look.result.passages[at] for look in looks if look.result.passages), None)
    return tools.call("read_around", passage=first.source) if first else wording.introduction(question, tools)
