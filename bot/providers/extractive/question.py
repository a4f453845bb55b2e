"""The analysis of a question."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import zip_longest

from bot.providers.extractive.language import (
    BEARERS,
    COLOURLESS,
    DENSE_KINDS,
    FILLERS,
    KINDS,
    LITTLE_WORDS,
    MACROS,
    POINTS_BACK,
    PORTRAITS,
    WORDINGS,
    Language,
    alike,
    any_accents,
    has_particle,
    is_little,
    is_of_today,
    language_of,
    nominative,
    phrasal_verbs,
    split_words,
    stem,
    stems_of,
    with_small_verb,
)
from bot.providers.extractive.signs import defines, is_place, names_in, relation_in
from domain.library.search.languages import german_forms, separable_german
from domain.library.search.phrases import LEAST_RUN, POINTING, quoted_in
from domain.library.search.words import fold, without_possessive, words_of


class QuestionKind(StrEnum):
    """What a question asks for."""

    WHO_IS = "who is"
    WHO = "who"
    WHEN = "when"
    WHERE = "where"
    HOW_MANY = "how many"
    HOW_MUCH = "how much money"
    HOW_LONG = "how long"
    WHY = "why"
    HAPPENED = "what happened"
    FELT = "how did one feel"
    SAID = "what was said"
    NAMED = "what is it called"
    LOOKS = "what does it look like"
    SCENE = "what is a place like"
    HOW = "how"
    WHAT = "what"
    OTHER = "anything else"


ARTICLES = r"(?:the|an?|any|some|his|her|its|their|my|your|our|der|die|das|de[nm]|ein\w*|une?|l[aeo]s?|el|un[oa]?)"

ALIKE = 0.5
"""The strength of a word that may replace one of the question."""

_PARTED = 0.25
"""The strength of a verb whose particle is missing: "put" in a question for who put the lamp out."""


@dataclass(frozen=True, slots=True)
class Term:
    """A meaningful word of a question.

    `weight` is below 1 if it comes from an earlier question; `others` are the stems of words that may replace it in an
    answer, `forms` those of the same word that its stem leaves apart, `particle` what belongs to a verb ("put the lamp
    out").
    """

    stem: str
    word: str
    weight: float = 1.0
    others: frozenset[str] = frozenset()
    particle: str = ""
    forms: frozenset[str] = frozenset()

    @property
    def stems(self) -> frozenset[str]:
        """The stems that are this word."""
        return self.forms | {self.stem}

    def strength_in(self, stems: Sequence[str]) -> float:
        """How much of the word a sentence has, given its stems: 1 if all, 0 if nothing."""
        if self.stem in stems or not self.forms.isdisjoint(stems):
            return 1.0 if not self.particle or has_particle(self.stems, fold(self.particle), stems) else _PARTED
        return 0.0 if self.others.isdisjoint(stems) else ALIKE


@dataclass(frozen=True, slots=True)
class Question:
    """`names` are the stems of terms that are names; `story` is what it names of a collection."""

    text: str
    language: Language
    kind: QuestionKind
    terms: tuple[Term, ...] = ()
    names: frozenset[str] = frozenset()
    story: str = ""

    @property
    def is_general(self) -> bool:
        """Whether it may be about the reader's own world: "Who is the richest man?"."""
        is_whole = all(term.weight == 1.0 for term in self.terms)
        return self.language is Language.ENGLISH and is_whole and not self.names and is_of_today(self.text)

    @property
    def query(self) -> str:
        """The words to search for, without context."""
        return " ".join(dict.fromkeys(map(self.searched, (term.word for term in self.terms)))) or self.text

    @property
    def asks_about_a_line(self) -> bool:
        """Whether a line with all its words is no answer: it points at one, is in another language, or is open."""
        is_foreign = asked_in(self.text, self.language) is not self.language
        is_pointed = not POINTING.isdisjoint(words_of(fold(self.text))) and self.kind is not QuestionKind.HAPPENED
        return is_foreign or is_pointed or self.kind in (QuestionKind.WHAT, QuestionKind.OTHER)

    @property
    def of_a_line(self) -> frozenset[str]:
        """Its own words, folded, of which a line has to have all; none where it is more likely about somebody."""
        is_foreign = asked_in(self.text, self.language) is not self.language
        own = {fold(term.word) for term in self.terms if is_foreign or term.stem not in self.names}
        is_of_names = self.names and not self.asks_about_a_line
        return frozenset() if is_of_names or self.leans_on_past else frozenset(own - POINTING)

    def has_as_verb(self, term: Term) -> bool:
        """Whether a word is a verb in a German question, no name, and no noun of what it is about: it is small where
        others have capitals, or follows "wer" or the like.
        """
        is_small = self.language is Language.GERMAN and term.word.islower()
        is_second = self.text.split()[1:2] == [term.word] and is_little(self.text.split()[0], self.language)
        return is_small and (is_second or _LATER_CAPITAL.search(self.text) is not None)

    def has_article(self, word: str) -> bool:
        """Whether a word follows an article or the like, perhaps with one word between, as hardly any name does.

        The last word of "why did the ship sink" is a verb.
        """
        before = rf"\b(?P<does>(?:did|does|do) )?{ARTICLES} (?P<between>[\w-]+ )?"
        found = re.search(rf"{before}{re.escape(word)}\b(?P<rest>.*)", self.text, re.IGNORECASE)
        return found is not None and not (found["does"] and found["between"] and not words_of(found["rest"]))

    def searched(self, word: str) -> str:
        """A word as it is searched for: "Effi" for "Effis" in "Effis Tochter"."""
        is_owner = self.language is Language.GERMAN and relation_in(self.text)
        return nominative(word) if is_owner else word

    @property
    def says_something(self) -> bool:
        """Whether it has any meaningful word, its own or from an earlier question."""
        return any(not is_little(term.word, self.language) or term.stem in self.names for term in self.terms)

    @property
    def leans_on_past(self) -> bool:
        """Whether no word of its own says what it is about: "why did she?", "how old is he?"."""
        return all(term.weight < 1.0 for term in self.terms)

    @property
    def means_nobody(self) -> bool:
        """Whether it is about "him" or "her", and little else, where nobody was spoken of: "Where does he live?"."""
        pronoun, is_brief = pronoun_in(self), len(self.terms) <= 1 and not SOMETHING.search(self.text)
        if self.names or self.quoted or pronoun is None or not (is_brief and points_back(self)):
            return False
        is_polite = pronoun.start() > 0 and pronoun[0][0].isupper()  # German "Sie"
        is_person = not is_polite and any(each.fullmatch(pronoun[0]) for each in GENDERS)
        return is_person and {term.stem for term in self.terms} <= {*stems_of(self.text, self.language)}

    @property
    def runs(self) -> frozenset[tuple[str, ...]]:
        """The stems of words in a row that are no coincidence in the book; of what happened then, more stands there."""
        words = stems_of(self.text, self.language) if self.kind is not QuestionKind.HAPPENED else ()
        telling = {term.stem for term in self.terms}
        runs = (words[at : at + LEAST_RUN] for at in range(len(words) - LEAST_RUN + 1))
        return frozenset(run for run in runs if len(telling & {*run}) > 1)

    @property
    def quoted(self) -> frozenset[tuple[str, ...]]:
        """The stems of what stands in quotation marks."""
        return frozenset(stems_of(" ".join(words), self.language) for words in quoted_in(self.text))

    @property
    def called(self) -> str:
        """Its names as one, with the title before them: "Mrs. Harker"."""
        names = " ".join(map(without_possessive, self.name_words))
        titled = re.search(rf"\b(\w+)\.? (?:(?:von|van|de|du|la) )*{re.escape(names)}", self.text) if names else None
        return titled[0] if titled and titled[1].lower() in _TITLES else names

    def without_others(self, text: str) -> str:
        """The text without its names where they are another's by the title: those of "Mr. Harker" for "Mrs. Harker"."""
        title = self.called.split(" ")[0].rstrip(".").lower()
        if not (others := _OTHERS.get(title)):
            return text
        names = "|".join(re.escape(without_possessive(word)) for word in self.name_words)
        return re.sub(rf"(?<!and )\b({others}) (?:{names})\b", r"\1", text)

    @property
    def name_words(self) -> list[str]:
        return list(dict.fromkeys(term.word for term in self.terms if term.stem in self.names))

    @property
    def name_pattern(self) -> str:
        """A pattern for any of its names; for any of its words if it has none."""
        words = [without_possessive(word) for word in self.name_words] or [term.word for term in self.terms]
        return rf"(?:\b(?:{'|'.join(map(re.escape, words))})\b)"

    @property
    def asks_what_it_is(self) -> bool:
        return not self.names and _ASKS_WHAT_IT_IS.match(self.text) is not None

    def is_defined_in(self, text: str) -> bool:
        """Whether a sentence says what the thing asked about is: "A splice is a joint", "called a splice"."""
        return self.asks_what_it_is and defines("[ -]".join(re.escape(term.word) for term in self.terms), text)


_KINDS = {
    Language(name): [(QuestionKind(kind), words.replace("SOMEBODY", MACROS["SOMEBODY"])) for kind, words in kinds]
    for name, kinds in KINDS.items()
}
_DENSE_KINDS = [(QuestionKind(kind), words) for kind, words in DENSE_KINDS.items()]
_PATTERNS = {
    language: tuple((kind, re.compile(rf"\b(?:{any_accents(pattern)})", re.IGNORECASE)) for kind, pattern in kinds)
    for language, kinds in _KINDS.items()
}
_ASKS_WHAT_IT_IS = re.compile(r"\W*(?:\w+ )?(?:what(?:['’]?s| is| are| was| were)|what does .+ mean\b)", re.IGNORECASE)
YES_OR_NO = re.compile(WORDINGS["yes_or_no"][0], re.IGNORECASE)
_FILLERS = re.compile(rf"\b(?:{any_accents('|'.join(FILLERS))})\b", re.IGNORECASE)
_TITLES = frozenset(" ".join(BEARERS.values()).split())
_APART = {"man": "wife maid woman", "wife": "man maid", "maid": "man wife", "woman": "man"}
_OTHERS = {
    title: rf"(?i:{'|'.join(BEARERS[each].replace(' ', '|') for each in apart.split())})\.?(?: (?:von|de|[A-Z][\w-]+))?"
    + ("|(?!Mrs|Mme|Madame|Frau|Lady)[A-Z][a-zé]+" if bearer == "wife" else "")
    for bearer, apart in _APART.items()
    for title in BEARERS[bearer].split()
}
"""By a title, what stands before the same name of somebody else; for a wife also any first name."""
_RANKS = frozenset({"doctor", "professor", "captain", "lord"})
"""Words that also say what somebody is: "Captain Ahab", but "the captain of the ship"."""

_DENSE_FILLERS = re.compile(
    "|".join(words for _, words in _DENSE_KINDS) + "|[的了是在有吗呢嗎はがをにのでとも은는이가을를]"
)


def asked_in(text: str, spoken: Language = Language.ENGLISH) -> Language:
    """The language of a question by its first words if they tell: "wer sagt call me Ishmael" goes on in the book's."""
    opening = [] if any(word[0].isupper() for word in text.split()[1:2]) else text.split()[:2]
    return language_of(" ".join(opening), language_of(text, spoken))


_AROUND = rf"\W*(?:{MACROS['POLITE']})?(?:{{}})(?:,? (?:please|bitte))?\W*"
_PORTRAITS = [
    (plain, re.compile(_AROUND.format(any_accents(asked)), re.IGNORECASE))
    for plain, each in PORTRAITS.items()
    for asked in each
]
_LONGEST_PLAIN = 200
"""Characters of a message that may be nothing but such a question; longer ones say more."""


def _plainly(text: str) -> str:
    """A question of what somebody is like, or why they matter, as that of who they are; and so of a thing."""
    if len(text) > _LONGEST_PLAIN:
        return text
    asked = ((plain, pattern.fullmatch(text)) for plain, pattern in _PORTRAITS)
    return next((plain.format(found[found.lastindex or 0].rstrip(".")) for plain, found in asked if found), text)


def analyse(text: str, language: Language | None = None) -> Question:
    """Analyse a question, whose words tell its language if none is given."""
    plain = _plainly(text)
    language = language or asked_in(plain)
    plain = with_small_verb(plain) if language is Language.GERMAN else plain
    terms = _terms(_DENSE_FILLERS.sub(" ", without_fillers(plain)), language) or _terms(plain, language)
    stems = {term.stem for term in terms}
    kind = kind_of(plain, language)
    if kind in (QuestionKind.WHO_IS, QuestionKind.NAMED) and relation_in(plain):  # not the one named, but another
        kind = QuestionKind.WHO
    names = _names(plain, language) & stems
    if kind is QuestionKind.WHO_IS and not SOMETHING.search(plain):  # "who is captain ahab"
        names = stems
    return Question(text, language, kind, terms, frozenset(names))


def of_scene(question: Question, told: str) -> Question:
    """The question as one for what a place is like, if it asks for nothing but that of a place, and not of a person."""
    is_all = question.names in ({each.stem for each in question.terms}, set())
    if is_all and question.kind in (QuestionKind.WHO_IS, QuestionKind.LOOKS) and is_place(question.name_pattern, told):
        return replace(question, kind=QuestionKind.SCENE)
    return question


def with_words(question: Question, others: Mapping[str, str]) -> Question:
    """The question with some of its words in another spelling."""
    changed = {
        term.stem: replace(term, stem=stem(word, question.language), word=word)
        for term in question.terms
        if (word := others.get(without_possessive(term.word)))
    }
    if not changed:
        return question
    names = frozenset(changed[each].stem if each in changed else each for each in question.names)
    terms = tuple(changed.get(term.stem, term) for term in question.terms)
    return replace(question, terms=terms, names=names)


def kind_of(text: str, language: Language) -> QuestionKind:
    """The main kind of answer asked for; OTHER for a yes-or-no question."""
    dense = next((kind for kind, words in _DENSE_KINDS if re.search(words, text)), None)
    if dense or (language is Language.ENGLISH and YES_OR_NO.match(without_fillers(text))):
        return dense or QuestionKind.OTHER
    found = [
        (match.start(), order, kind) for order, (kind, p) in enumerate(_PATTERNS[language]) if (match := p.search(text))
    ]
    return min(found)[2] if found else QuestionKind.OTHER


def without_fillers(text: str) -> str:
    """The text without words that only say that something is asked ("does the book say anything about")."""
    return _FILLERS.sub(" ", text)


_PAUSE, _OPENER = (re.compile(f"({WORDINGS[each][0]})", re.IGNORECASE) for each in ("pause", "opener"))
_MOST_PAUSES = 24


def cut_at_pauses(text: str) -> tuple[list[str], list[str]]:
    """A message in pieces, of which every other one is a pause; and what is said between the pauses, without a word
    such as "but" that opens it. Behind the first 24 pauses it is not cut.
    """
    pieces = _PAUSE.split(text, _MOST_PAUSES)
    return pieces, [_OPENER.sub("", piece, count=1) for piece in pieces[::2]]


def is_title(word: str) -> bool:
    """Whether a word precedes names; it precedes too many of them to identify one."""
    return word.lower() in _TITLES | _RANKS


def _is_before_name(word: str, following: str) -> bool:
    return word.lower() in _TITLES or (word.lower() in _RANKS and following[:1].isupper())


FULL_NAME = re.compile(r"\b(?:sur|(?:last|first|family|full|whole|christian|given|maiden) )names?\b", re.IGNORECASE)

_MEASURE = re.compile(WORDINGS["measure"][0], re.IGNORECASE)
"""What says which measure is wanted: "old" in "how old is the ferryman", where an answer has years."""

MEASURED = 0.25
"""The weight of such a word."""


def _terms(text: str, language: Language) -> tuple[Term, ...]:
    every = split_words(FULL_NAME.sub(" ", text), language)
    words = [
        (word, after)
        for at, (word, after) in enumerate(zip_longest(every, every[1:], fillvalue=""))
        if not is_little(word, language) or _is_name_too(every, at, language)
    ]
    telling = [
        word
        for word, after in words
        if without_possessive(word).lower() not in COLOURLESS[language] and not _is_before_name(word, after)
    ] or [word for word, _ in words]
    terms = {stem(word, language): word for word in reversed(telling)}
    measure = _MEASURE.search(text)
    verbs = phrasal_verbs(stems_of(text, language)) if language is Language.ENGLISH else {}
    parted = separable_german(every) if language is Language.GERMAN else ("", "")
    found: list[Term] = []
    particles = {particle for particle, _ in verbs.values()} | {fold(parted[1])}
    for key in dict.fromkeys(key for word in telling if (key := stem(word, language)) not in particles):
        weight = MEASURED if measure and terms[key] in measure.groups() else 1.0
        if key in verbs:
            particle, others = verbs[key]
            found.append(Term(key, terms[key], weight, others, particle))
        else:
            found.append(_term(terms[key], language, weight, parted[1] if terms[key] == parted[0] else ""))
    return tuple(found)


def _term(word: str, language: Language, weight: float = 1.0, particle: str = "") -> Term:
    key = stem(word, language)
    forms = frozenset[str]()
    if language is Language.GERMAN and word.islower():  # a verb, or typed in haste
        written = (form for each in {"", particle} for form in german_forms(word, each))
        forms = frozenset(stem(form, language) for form in written) - LITTLE_WORDS[language] - {key}
    meant = {form for form in forms if form.startswith(fold(particle))} if particle else {key, *forms}
    return Term(key, word, weight, alike(meant, language), particle, forms)


def _names(text: str, language: Language) -> set[str]:
    words = split_words(text, language)
    first = 0 if len(words) <= 3 else 1
    return {
        stem(word, language)
        for at, word in enumerate(words)
        if (at >= first and word[0].isupper() and not is_little(word, language)) or _is_name_too(words, at, language)
    }


def _is_name_too(words: Sequence[str], at: int, language: Language) -> bool:
    """Whether a little word is somebody's name: "Who is Will?", and "Will" alone, but not "Will Tom come?"."""
    return language is Language.ENGLISH and words[at] in ("Will", "May") and (at > 0 or len(words) == 1)


_LATER_CAPITAL = re.compile(r"(?<!^)[A-ZÀ-ÞА-ЯЁ]\w")
_TYPED = re.compile(r"[^\W\d_]+(?:['’]s?\b)?")
_DOUBLED = re.compile(r"(\w)\1")


def as_printed(text: str, told: str) -> str:
    """A question without capitals, or in nothing else, with those of the names in a text of the book: people hurry."""
    text = text.lower() if text.isupper() else text
    if _LATER_CAPITAL.search(text) or not told:
        return text
    language = language_of(told)

    def bare(typed: str) -> str:
        word = without_possessive(typed).strip("'’").capitalize()
        return nominative(word) if language is Language.GERMAN else word

    typed = {word: bare(word) for word in _TYPED.findall(text) if not is_little(word, language)}
    is_told = any(word.removesuffix("s") in told for word in typed.values())
    names = names_in(told, language) if is_told else frozenset[str]()
    asked = f" {' '.join(words_of(fold(text)))} "
    names |= {word for name in names if " " in name and f" {name} " in asked for word in name.split()}
    undoubled = {_DOUBLED.sub(r"\1", name): name for name in names}

    def printed(found: re.Match[str]) -> str:
        name = typed.get(found[0], "")
        if fold(name) in names:
            return found[0].capitalize()
        spelt = undoubled.get(_DOUBLED.sub(r"\1", fold(name)), "")
        if spelt and re.search(rf"\b{re.escape(found[0])}\b", told) is None:
            return spelt.capitalize()  # "lady russel", who is found all the same
        owner = name.removesuffix("s") if language is Language.ENGLISH else ""
        return f"{owner}'s" if fold(owner) in names else found[0]  # "darcys sister"

    return _TYPED.sub(printed, text)


SOMETHING = re.compile(r"\b(?:the|an?|der|die|das|ein\w*|une?|les?|la|el|los|las|un[oa]?) \w", re.IGNORECASE)
MEANS_A_MATTER = re.compile(WORDINGS["matter"][0], re.IGNORECASE)
GENDERS = [re.compile(words, re.IGNORECASE) for words in WORDINGS["genders"]]
"""Words for men, and for women."""


def pronoun_in(question: Question) -> re.Match[str] | None:
    pattern = rf"\b(?:{POINTS_BACK[question.language]})\b"
    return re.search(pattern, without_fillers(question.text), re.IGNORECASE)


def points_back(question: Question) -> bool:
    """Whether a pronoun precedes any name or noun in the question that it could refer to."""
    found = pronoun_in(question)
    if found is None:
        return False
    ahead = found.string[: found.start()]
    return question.names.isdisjoint(stems_of(ahead, question.language)) and not SOMETHING.search(ahead)


def in_language(question: Question, language: Language, missing: Mapping[str, Sequence[str]]) -> Question:
    """A question for a search in another language: all of it if it may be in that language as well, else its names.

    Where nothing is capitalised, its names are the words that the book has, or else those it spells otherwise. Names of
    an earlier question count only where it has a pronoun, or neither a name nor a noun.
    """
    if asked_in(question.text, language) is language:
        lent = tuple(_translated(term, language) for term in question.terms if term.weight < 1.0)
        own = analyse(question.text, language)
        return replace(own, terms=(*own.terms, *(term for term in lent if term not in own.terms)))
    typed = [term for term in question.terms if term.weight == 1.0]
    is_new = any(term.word[0].isupper() for term in typed) or SOMETHING.search(question.text)
    meant = typed if is_new and not points_back(question) else question.terms
    words = [without_possessive(term.word) for term in meant]
    named = [word for word in words if word[0].isupper()] or [word for word in words if word not in missing] or words
    if question.language is Language.GERMAN:  # where every noun has a capital
        named = [word.lower() if missing.get(word) == [] else word for word in named]
    terms = tuple(Term(stem(word, language), word) for word in named if missing.get(word) != [])
    return Question(question.text, language, question.kind, terms, frozenset(term.stem for term in terms))


def _translated(term: Term, language: Language) -> Term:
    return _term(term.word, language, term.weight)
