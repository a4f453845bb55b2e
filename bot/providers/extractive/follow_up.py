"""Follow-ups: questions that mean something only after what was said before, made to stand on their own."""

import re
from collections import Counter
from dataclasses import replace

from bot.providers.extractive.language import Language, is_little, split_words, stem
from bot.providers.extractive.question import Question, QuestionKind, Term, analyse, is_title, without_fillers

_BORROWED = 0.5
"""What a word of an earlier question counts beside those of the question itself."""

_CONTINUES = re.compile(
    r"\W*(?:and|but|so|then|what about|how about|und|aber|was ist mit|et|mais|y|pero|e)\b(?: (?:what|how) about\b)?",
    re.IGNORECASE,
)
_POINTS_BACK = {
    Language.ENGLISH: r"s?he|him|his|hers?|they|them|theirs?|it|its|this|that|these|those|there|himself|herself|one",
    Language.GERMAN: r"er|sie|ihm|ihn|ihr\w*|sein\w*|es|das|dies\w*|dort|da|damals|denen",
    Language.FRENCH: r"il|elle|ils|elles|lui|leurs?|son|sa|ses|le|la|les|cela|ça|ce|y",
    Language.SPANISH: r"él|ella|ellos|ellas|le|les|lo|su|sus|suyo|eso|esto|allí|ahí",
}
_SOMETHING = re.compile(r"\b(?:the|an?|der|die|das|ein\w*|une?|les?|la|el|los|las|un[oa]?) \w", re.IGNORECASE)
_MEANS_A_MATTER = re.compile(
    r"\b(?:it|its|this|that|so|th(?:ey|em|ese|ose)|there|es|das|dies\w*|dort|cela|ça|y|eso|esto|lo|allí)\b",
    re.IGNORECASE,
)
_NAMES = re.compile(r"(?:(?<=[a-zà-ÿ,;] )|(?<=[“\"«„])|(?<=^)|(?<=\. ))[A-ZÀ-Þ][\w’'-]+")
_FEW_WORDS = 3
_MOST_NAMES = 2


def in_context(text: str, before: Question | None, answer: str = "") -> Question:
    """The question taken apart, with what it leaves out borrowed from the question before and its answer."""
    question = analyse(text)
    if before is None:
        return question
    if question.language is not before.language and len(split_words(text, question.language)) <= _FEW_WORDS:
        question = analyse(text, before.language)
    if not _own_terms(question):
        meant = _antecedents(question, before, answer) if _points_back(question) else ()
        return _borrow(question, (*meant, *before.terms), before)
    if _is_elliptical(question):
        return _borrow(_as_before(question, before), _unless_replaced(question, before), before)
    if _points_back(question):
        return _borrow(question, _antecedents(question, before, answer), before)
    return question


def _own_terms(question: Question) -> tuple[Term, ...]:
    """Terms that are more than the question word: an analysis of "why?" holds "why" for want of anything better."""
    return tuple(term for term in question.terms if not is_little(term.word, question.language))


def _is_elliptical(question: Question) -> bool:
    """ "And Tom?", "What about her brother?": a subject, and the rest as before."""
    opening = _CONTINUES.match(question.text)
    return len(question.terms) <= _FEW_WORDS and (
        (opening is not None and question.kind in (QuestionKind.OTHER, QuestionKind.WHAT, QuestionKind.HOW))
        or (question.kind is QuestionKind.OTHER and len(split_words(question.text, question.language)) == 1)
    )


def _as_before(question: Question, before: Question) -> Question:
    kind = QuestionKind.WHO if before.kind is QuestionKind.WHO_IS and not question.names else before.kind
    return replace(question, kind=kind)


def _unless_replaced(question: Question, before: Question) -> tuple[Term, ...]:
    """What was asked before; a new name takes the place of the old ones."""
    if question.names and not _points_back(question):
        return tuple(term for term in before.terms if term.stem not in before.names)
    return before.terms


def _points_back(question: Question) -> bool:
    """Whether a pronoun stands before anybody or anything in the question that it could mean."""
    text = without_fillers(question.text)
    found = re.search(rf"\b(?:{_POINTS_BACK[question.language]})\b", text, re.IGNORECASE)
    if found is None:
        return False
    ahead = text[: found.start()]
    stems = {stem(word, question.language) for word in split_words(ahead, question.language)}
    return not (stems & question.names or _SOMETHING.search(ahead))


def _antecedents(question: Question, before: Question, answer: str) -> tuple[Term, ...]:
    """What the pronouns mean: the names asked for, or found if it was asked who; for "it" all that was asked about."""
    names = [term for term in before.terms if term.stem in before.names]
    if before.kind is QuestionKind.WHO:
        names += _names_in(answer, before)
    matter = not names or _MEANS_A_MATTER.search(question.text)
    return tuple(names) + (before.terms if matter else ())


def _names_in(answer: str, before: Question) -> list[Term]:
    """The names that fall most often in an answer, of those that were not in its question."""
    asked = {term.stem for term in before.terms}
    found = (name for name in _NAMES.findall(answer) if not is_little(name, before.language) and not is_title(name))
    counted = Counter(name for name in found if stem(name, before.language) not in asked)
    return [Term(stem(name, before.language), name) for name, _ in counted.most_common(_MOST_NAMES)]


def _borrow(question: Question, terms: tuple[Term, ...], before: Question) -> Question:
    own = _own_terms(question)
    known = {term.stem for term in own}
    lent = {term.stem: replace(term, weight=term.weight * _BORROWED) for term in terms if term.stem not in known}
    names = before.names | {term.stem for term in terms if term.word[0].isupper()}
    every = (*own, *lent.values()) or question.terms
    return replace(
        question, terms=every, names=(question.names | names) & {term.stem for term in every}, setting=frozenset()
    )


_TITLE = re.compile(r"^Reader: (.*?)\n+Answer: ", re.DOTALL | re.MULTILINE)
_REFORMULATION = re.compile(r"^Conversation so far:\n(.*?)\n+Last message:\n(.*)", re.DOTALL | re.MULTILINE)
_SPOKEN = re.compile(r"^(user|assistant): (.*?)(?=^(?:user|assistant): |\Z)", re.DOTALL | re.MULTILINE)
_MOST_WORDS = 6
_EDGES = " .,;:!?…“”\"«»„‘’'()[]"
_UNTITLED = "About the book"


def written_for(prompt: str) -> str | None:
    """What a prompt of one of these two kinds asks for; None where it is none of them."""
    if found := _TITLE.search(prompt):
        return _title(analyse(found[1]))
    if found := _REFORMULATION.search(prompt):
        return _reformulated(found[1], found[2])
    return None


def _title(question: Question) -> str:
    """The question from its first telling word to its last, without what only asks."""
    words = [word.strip(_EDGES) for word in question.text.split()]
    telling = {word.strip(_EDGES) for term in question.terms for word in term.word.split()}
    places = [place for place, word in enumerate(words) if word in telling]
    if not places:
        return _UNTITLED
    last = max(place for place in places if place < places[0] + _MOST_WORDS)
    title = " ".join(words[places[0] : last + 1])
    return title[:1].upper() + title[1:]


def _reformulated(history: str, message: str) -> str:
    past: Question | None = None
    asked, answer = "", ""
    for role, text in _SPOKEN.findall(history):
        if role == "user":
            asked = text.strip()
        elif asked:
            past, answer, asked = in_context(asked, past, answer), text, ""
    return in_context(message.strip(), past, answer).query
