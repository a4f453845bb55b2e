"""Titles of chapters and books, as a person would write them, and the titles that stand under labels."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from unicodedata import normalize

from bot.parsers.draft import Block, clean, has_words, in_capitals
from bot.parsers.headings import (
    MONTHS,
    NAMED_PARTS,
    NO_AUTHORS,
    PATTERNS,
    RANK_OF,
    WORDS,
    Heading,
    Label,
    Rank,
    counted,
    is_bare_label,
    is_contents,
    is_label,
    is_not_the_book,
    label_of,
    parse_label,
    parse_numeral,
)
from domain.book import encodable
from domain.library.numerals import HAN

_LONGEST = 200
_LONGEST_LABEL = 20
_LONGEST_READ = 1_000
_LONGEST_LABEL_ABOVE = 60
_GOES_ON = frozenset("/&(<+")  # "Chapter 4 & 5", "Chapter 1 / Kapitel 1"
_SMALL = frozenset("a an and as at but by for from in into nor of on or so the to upon with vs".split())  # noqa: SIM905
_ROMAN = re.compile(r"(?=[IVXLC]{2})(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})e?\W*")
_SMALL_ENDS = re.compile(r"(?<=[IVX\d])(?:er|e|re|st|nd|rd|th)\b")
_ADDED = re.compile(r"(?:\s*[-–—]+\s*[^\W\d_]+|\s*\([^()]+\))\.?$")
_INITIALS = re.compile(r"(?:\w\.){1,4}\W*")
_WORD = re.compile(r"[^\s\-–—/]+")
_LINE_ABOVE = re.compile(r"(?:\A|(?<=\n))(?P<label>[^\n]+)\n\s*\Z")
_CAPITAL_AGAIN = re.compile(r"(?<=\w\.)[^\W\d_]|(?<=\b[OD][’'])[^\W\d_](?=\w\w)")
_NO_LETTERS = re.compile(r"[\W_]+")
_CAPTION = re.compile(
    rf"\W{{0,2}}(?:{PATTERNS['captions']})\s*(?:no?\.?\s*)?(?:\d{{1,3}}(?:[.\-–]\d{{1,3}})?|[IVXLC]{{1,7}})[a-z]?(?![^\W_])",
    re.IGNORECASE,
)
_NOTE = re.compile(r"\[\d+\]|\*|(?<![^\W_])_|_(?![^\W_])")
_JUNK = re.compile(PATTERNS["filled_in_by_programs"], re.IGNORECASE)
_NAME_OF_FILE = re.compile(r"[a-z\d]+(?:[-_][a-z\d]+)+")
_GUTENBERG = re.compile(r"(?:The )?Project Gutenberg(?:[’']s|(?:[’']s)? E-?(?:Book|text) of)?,?\s+", re.IGNORECASE)
_GUTENBERG_BEHIND = re.compile(
    r"\s*[-–—|,:(\[]\s*(?:an? |the )?Project Gutenberg(?:[’']s)?(?:\s+E-?(?:Book|text))?[.)\]]?$", re.IGNORECASE
)
_FULL_TEXT = re.compile(r"Full text of [\"“](.+)[\"”]")
"""A title as the Internet Archive puts it."""
BY_ELSEWHERE = r"von|par|por|di|door|av|af|kirj\.|írta|yazan|napisał|napsal"
"""What stands before an author's name in other languages than English, as a pattern."""
_BYLINE = re.compile(r"(?P<title>.{2,}?),\s+by\s+(?P<author>[^\W\d_].{1,80})", re.IGNORECASE)
_BY_A_NAME = re.compile(
    r"(?P<title>\S+\s.*?)\s+(?:by|BY)\s+"
    r"(?P<author>(?!(?:A|An|The|My|Your|His|Her|Our|Their)\b)[^\W\d_a-z][\w.’'-]*"
    r"(?:(?:\s+(?:d[aei]|de[lrn]|v[ao]n|la|le))*\s+[^\W\d_a-z][\w.’'-]*){1,3})"
)
"""Without a comma, only a likely person's name is taken for the author, so not in "Death by Black Hole"."""
_ADDRESS = re.compile(r"\s*<[^<>\s]{1,80}@[^<>\s]{1,80}>")
_CATALOGUED = re.compile(r"(?P<name>[^,;&]+(?:,\s+[^,;&\d]+)?),\s+(?:[bd]\.|ca\.|active)?\s*\d{3,4}\b[\d\s?–-]*")
"""As libraries write a person: "Melville, Herman, 1819-1891"."""
_UNPRINTED = re.compile(r"[^\w.,:*†‡§/+\- –—]")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")
_LONGEST_DATE = 48
_YEAR = re.compile(r"[12]\d{3}(?:\s?[-–/]\s?\d{2,4})?")
_CJK_DATE = re.compile(rf"(?:[^\W_]{{1,8}}[年년]\s?)?[\d{HAN}]{{1,3}}[月월]\s?[\d{HAN}]{{1,3}}[日일][^。，、]{{0,8}}")
_DATE_IN_FIGURES = re.compile(
    r"(?:[^\W\d_]{2,12}\.?,?\s+)?(?:\d{4}([./-])\d{1,2}\1\d{1,2}|\d{1,2}([./])\s?(?:\d{1,2}|[IVX]{1,4})\2\s?\d{2,4})(?:,?\s+\d{1,2}[:.]\d\d.{0,12})?"
    r"|\d{1,2}(?:[:.]\d\d)?\s?(?:[aApP]\.?[mM]\.?|Uhr|h)|\d{1,2}:\d\d"  # and times of the day
)
_MARKS_OF_NO_DATE = frozenset('"“”«»„?!;:')
_WORDS = re.compile(r"[^\W\d_]+")


def letters(title: str) -> str:
    """The letters and digits of a title, in one case and without accents, which many outlines lack."""
    return normalize("NFC", _NO_LETTERS.sub("", normalize("NFD", title))).casefold()


def chapter_title(heading: str) -> str:
    """A heading as one line: "CHAPTER I. The Pool of Tears" is "Chapter I. The Pool of Tears"."""
    read = clean(encodable(heading[:_LONGEST_READ]))
    line = " ".join((_NOTE.sub("", read).strip() or read.strip("[]")).split()).strip(" .:;,—–-")
    if (label := parse_label(line)) and label.rank is None and label.title and not label.mark.strip():
        line = calm(line)  # "Dedication of Part II"
    elif label:
        is_apart = label.mark.strip() or not label.name.isascii() or label.title[:1] in _GOES_ON
        name, mark = calm(label.name), label.mark if is_apart else ". "
        line = f"{name}{mark}{calm(label.title)}" if label.title else name
    elif (numeral := parse_numeral(line)) and not is_date(line):
        line = f"{numeral.name}{numeral.mark}{calm(numeral.title)}" if numeral.title else _bare(numeral.name)
    else:
        line = calm(line)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"


def _bare(numeral: str) -> str:
    """A chapter with nothing but a number is called "Chapter", unless its number is a word: "Three"."""
    return f"Chapter {numeral}" if numeral.isdecimal() or numeral == numeral.upper() else numeral


def is_caption(line: str) -> bool:
    """Whether a line begins as what stands under a figure does: "Fig. 3", "Tafel II"."""
    return bool(_CAPTION.match(line))


def is_year(line: str) -> bool:
    """Whether a line is just a year, or some: "1931", "1932–33"."""
    return bool(_YEAR.fullmatch(line))


def is_date(line: str) -> bool:
    """Whether a line is just a date: "Am 4. Mai 1771", "January 3rd", "1931", "三月五日"; or a time: "9:15 a.m."."""
    if is_year(line) or _CJK_DATE.fullmatch(line) or _DATE_IN_FIGURES.fullmatch(line):
        return True
    if len(line) > _LONGEST_DATE or not any(map(str.isdecimal, line)) or not _MARKS_OF_NO_DATE.isdisjoint(line):
        return False
    words = _WORDS.findall(line.casefold())
    return len(words) <= 4 and not MONTHS.isdisjoint(words)


def is_scene(title: str) -> bool:
    """Whether it is no title, but the mere word above a stage direction: "SCENE"."""
    return RANK_OF.get(title.strip(" .:_").casefold()) is Rank.SCENE


def with_subtitle(label: str, title: str) -> str:
    """A label and the title below it, as one heading."""
    if is_scene(title):
        return label.strip()
    return f"{label.strip().rstrip('.:;,—–- ')}. {title.strip()}"


def joined(text: str, headings: Sequence[Heading]) -> list[Heading]:
    """The headings with "CHAPTER ONE" and a directly following "THE EVE OF THE WAR" joined, and repeated titles
    merged.

    A title of another level belongs to a chapter only if most chapters have one.
    """
    ends = [0, *(heading.end for heading in headings)]
    known = NAMED_PARTS.union(letters(heading.title) for heading in headings)
    headings = [_with_label_above(text, end, heading, known) for end, heading in zip(ends, headings, strict=False)]
    titled = [at for at, (above, below) in enumerate(pairwise(headings)) if _is_title_of(text, above, below)]
    bare = Counter(heading.level for heading in headings if is_bare_label(heading.title))
    inner = Counter(headings[at].level for at in titled if headings[at + 1].level != headings[at].level)
    joins = {at + 1 for at in titled if headings[at + 1].level == headings[at].level}
    joins |= {at + 1 for at in titled if inner[headings[at].level] * 2 >= bare[headings[at].level]}
    result: list[Heading] = []
    for at, heading in enumerate(headings):
        if result and at in joins:
            label = result.pop()
            title, level = with_subtitle(label.title, heading.title), min(label.level, heading.level)
            heading = replace(label, end=heading.end, title=title, level=level)
        elif result and _adds_nothing(text, result[-1], heading):
            heading = replace(result.pop(), end=heading.end)
        result.append(heading)
    return result


def stories_over_parts(text: str, headings: Sequence[Heading]) -> list[Heading]:
    """The headings with levels corrected where most are titles of stories: a "First Story" directly after a title is
    deeper than it, and so is the second.
    """
    titled = Counter(heading.level for heading in headings if not label_of(heading))
    labelled = Counter(heading.level for heading in headings if label_of(heading))
    result: list[Heading] = []
    lowered = 0
    for heading, following in zip(headings, [*headings[1:], None], strict=False):
        label = label_of(heading)
        if lowered and heading.level == lowered and label and label.value is not None:
            heading = replace(heading, level=lowered + 1)
        else:
            lowered = 0
        result.append(heading)
        if (
            label is None
            and following
            and following.level == heading.level
            and (first := label_of(following))
            and first.value == 1
            and titled[heading.level] > labelled[heading.level]
            and not has_words(text, heading.end, following.start)
        ):
            lowered = heading.level
    return result


def _with_label_above(text: str, end: int, heading: Heading, known: Container[str]) -> Heading:
    """The heading with a label that is printed above its title, as in books whose outline has only the titles or
    numbers; `end` is that of the last heading. A `known` title is that of a preface, or a line of contents.
    """
    found = _LINE_ABOVE.search(text, max(end, heading.start - _LONGEST_LABEL_ABOVE), heading.start)
    line = found["label"] if found else ""
    above, own = parse_label(line), label_of(heading)
    if not found or not above or above.title or (above.number and not above.rank) or letters(line) in known:
        return heading
    number = own or counted(heading.title)
    is_same = number is not None and number.rank is Rank.NUMERAL and number.value == above.value
    is_titled_so = own is not None and own.rank is None and above.rank in (Rank.CHAPTER, None)  # "Notes" of Appendix A
    if own and not is_same and not is_titled_so:
        return heading
    title = with_subtitle(line, number.title if number and is_same else heading.title)
    return replace(heading, start=found.start("label"), title=title, label=None)


def _adds_nothing(text: str, above: Heading, below: Heading) -> bool:
    """Whether a heading repeats the one it stands directly below, or opens a stage direction there: "SCENE"."""
    is_empty = letters(above.title) == letters(below.title) or is_scene(below.title)
    return is_empty and not has_words(text, above.end, below.start)


def _is_title_of(text: str, above: Heading, below: Heading) -> bool:
    if not is_bare_label(above.title) or is_contents(below.title):  # but a last chapter may be called "The End"
        return False
    label = parse_label(above.title)
    if below.level > above.level and label and label.rank and label.rank < Rank.CHAPTER:
        return False  # the first chapter of "Part One" does not name it
    named = parse_label(below.title)
    stands_for_itself = is_label(below.title) and not (named and may_be_called(above.title, named))
    return not (stands_for_itself or has_words(text, above.end, below.start))


def may_be_called(label: str, title: Label) -> bool:
    """Whether the title of a label may be a label without a number: "CHAPTER TEN" is called "THE EPILOGUE" or "THE LAST
    CHAPTER".
    """
    outer = parse_label(label) or parse_numeral(label)
    is_chapter = outer is not None and outer.rank in (Rank.CHAPTER, Rank.NUMERAL) and not outer.title
    is_uncounted = title.value is None and (title.rank or Rank.CHAPTER) >= Rank.CHAPTER
    return is_chapter and (is_uncounted or not title.is_certain)


def calm(text: str) -> str:
    """A text in capitals, except for "Ier" and "--continued", in title case; any other unchanged, also in a script
    without capitals.
    """
    if (added := _ADDED.search(text)) and added[0] != added[0].upper() and in_capitals(text[: added.start()]):
        return calm(text[: added.start()]) + added[0]
    has_none = any(letter.isalpha() and letter.upper() == letter.lower() for letter in text)
    if has_none or (said := _SMALL_ENDS.sub("", text)) != said.upper() or text == text.lower():
        return text
    last = max(word.start() for word in _WORD.finditer(text))
    small = _in_small_letters(text)

    def written(word: re.Match[str]) -> str:
        opens = not (before := text[: word.start()].rstrip()) or before[-1] in ":?!—–" or before.endswith(" -")
        return _calm_word(word.group(), small[slice(*word.span())], may_be_small=not opens and word.start() != last)

    return _WORD.sub(written, text)


def _in_small_letters(text: str) -> str:
    """The text in small letters; where there is a dotted capital I, the others have no dot, as in Turkish."""
    return text.replace("I", "ı").replace("İ", "i").lower() if "İ" in text else text.lower()


def _calm_word(word: str, small: str, *, may_be_small: bool) -> str:
    if _ROMAN.fullmatch(word) or _INITIALS.fullmatch(word):
        return word
    if may_be_small and small in _SMALL:
        return small
    first = next((index for index, letter in enumerate(word) if letter.isalpha()), len(word))
    lowered = word[: first + 1] + small[first + 1 :]
    return _CAPITAL_AGAIN.sub(lambda letter: letter.group().upper(), lowered)


def book_title(declared: str, author: str = "") -> tuple[str, str]:
    """A title and the author it names: "Emma, by Jane Austen" gives both; names of files and programs give nothing.

    The declared `author` may have any name: "Ashes by moonlit_owl".
    """
    title = _FULL_TEXT.sub(r"\1", _GUTENBERG.sub("", _GUTENBERG_BEHIND.sub("", one_line(declared)), count=1))
    if not title or _JUNK.fullmatch(title) or is_name_of_file(title):
        return "", ""
    if author and title.casefold().endswith(f" by {author}".casefold()):
        return title[: -len(f" by {author}")].rstrip(" ,"), author
    if match := _BYLINE.fullmatch(title) or _BY_A_NAME.fullmatch(title):
        return match["title"], match["author"]
    return title, ""


def is_name_of_file(title: str) -> bool:
    """Whether a title was meant for programs, such as "developers-reference"."""
    return bool(_NAME_OF_FILE.fullmatch(title))


def author_name(declared: str) -> str:
    """The declared author, or an empty string if a program filled in the field."""
    name = _ADDRESS.sub("", one_line(declared)).strip(" ,;")
    if listed := _CATALOGUED.fullmatch(name):
        last, _, first = listed["name"].partition(",")
        name = f"{first.strip()} {last}".strip()
    return "" if _JUNK.fullmatch(name) or name.lower() in NO_AUTHORS else name


def page_label(declared: str) -> str:
    """What may be printed on a page: a number or a word or two; empty if it looks like more."""
    return " ".join(_UNPRINTED.sub("", one_line(declared)).split())[:_LONGEST_LABEL].strip()


def last_component(filename: str) -> str:
    """A file's own name, without the folders of any system."""
    return filename.replace("\\", "/").replace("\0", "").rstrip("/").rpartition("/")[2]


def title_from_filename(filename: str) -> str:
    """ "war_peace.txt" is "War Peace"; a name without letters is "Untitled"."""
    words = one_line(re.sub(r"[_+]+|%20", " ", _EXTENSION.sub("", last_component(filename)))).strip(" .-")
    if words != words.lower():
        return words
    spaced = words if " " in words else words.replace("-", " ")
    return calm(spaced.upper()) or "Untitled"


def one_line(text: str) -> str:
    """A text from a file in a form and length that can be shown anywhere."""
    return " ".join(clean(encodable(text)).split())[:_LONGEST]


# --- titles under labels --------------------------------------------------------------------------------------------

LONGEST_TITLE = 90
_LONGEST_TITLE_IN_CAPITALS = 420
_FEWEST_TITLES = 3
QUOTATION_MARKS = "\"“”'‘’«»„‹›「」『』"
OPENING_MARKS = f"{QUOTATION_MARKS}*[(-–—"
_ENDS_OF_SENTENCES = (*".!?…。！？।؟",)
_STOPS = (*_ENDS_OF_SENTENCES, *",;:，；：،؛")
_NO_TITLE = re.compile(PATTERNS["stand_for_themselves"], re.IGNORECASE)
_SHORT_WORD = 3
_VERSE = re.compile(r"\d{1,3}:\d")
_SHORTEST_PARAGRAPH_CJK = 40
_ANNOUNCING = tuple(f"{words} " for words in ", ".join(WORDS["names"]["announcing"]).split(", "))
"""How titles begin that announce what a chapter tells."""


@dataclass(frozen=True, slots=True)
class HeadingCandidate:
    """A line that may be a heading: its span, its label, and the number of its block."""

    heading: Heading
    label: Label
    block: int


def with_title_lines(
    candidates: Sequence[HeadingCandidate], blocks: Sequence[Block], listed: Iterable[Heading] = ()
) -> list[Heading]:
    """Bare labels joined with the title that stands under them.

    It is in capitals, or the contents list it, or most labels have one; where most have, it may be a whole sentence
    that announces what the chapter tells ("In which …"), or a line in small letters, as most languages write titles.
    """
    starts = [block.start for block in blocks]
    ends = {block.end for block in blocks}
    named = {heading.start for heading in listed}
    titles: dict[int, Block] = {}
    less_certain: dict[int, Block] = {}
    quoted: dict[int, Block] = {}
    bare = 0
    for each in candidates:
        heading = each.heading
        is_alone = each.label.rank is Rank.CHAPTER and heading.title == each.label.name
        if each.label.is_certain and not is_alone and not is_bare_label(heading.title):
            continue
        bare += 1
        at = bisect_left(starts, heading.end)
        if heading.end not in ends or at >= len(blocks):
            continue
        below = blocks[at]
        if (each.label.rank or Rank.CHAPTER) < Rank.CHAPTER and below.text[0].isdecimal():
            continue  # "1 The Harbour" is the first chapter of "Part One"
        is_of_play = each.label.rank in (Rank.ACT, Rank.SCENE)
        may_follow = may_be_title(below) and not (is_of_play and below.text.endswith("._"))
        if may_follow or (below.start in named and not is_label(below.text)):
            titles[heading.start] = below
        elif is_of_play and below.text.rstrip("_").endswith("."):
            continue  # "Enter Hamlet."
        elif _announces(below) or _is_line_above_prose(*blocks[at : at + 2]):
            less_certain[heading.start] = below
        elif below.is_short and is_quoted(below.text) and reads_as_title(below.text, may_be_quoted=True):
            quoted[heading.start] = below
    titles |= quoted if len(titles) * 2 >= bare else {}
    fewest = 1 if len(titles) * 2 >= bare else _FEWEST_TITLES
    if len(titles) + len(less_certain) >= max(fewest, bare * 6 / 10):
        titles |= less_certain
    usual = len(titles) * 10 >= bare * 6
    certain = {at: each for at, each in titles.items() if usual or each.start in named or in_capitals(each.text)}
    return _titled((each.heading for each in candidates), certain)


def _titled(headings: Iterable[Heading], titles: Mapping[int, Block]) -> list[Heading]:
    found: list[Heading] = []
    for heading in headings:
        if title := titles.get(heading.start):
            heading = replace(heading, end=title.end, title=with_subtitle(calm(heading.title), calm(title.text)))
        if not found or heading.start >= found[-1].end:  # "A Letter" may be the title of "Chapter IV"
            found.append(heading)
    return found


def without_lines_of_contents(
    blocks: Sequence[Block], numbers: Sequence[HeadingCandidate], labelled: Sequence[Heading]
) -> list[HeadingCandidate]:
    """The numbers without those that another number or label follows at once; "Epilogue" may be a number's title."""
    counted = (each.start for each in labelled if each.label and each.label.value is not None)
    starts = {each.heading.start for each in numbers}.union(counted)
    follows = dict(pairwise(block.start for block in blocks))
    return [
        each
        for each in numbers
        if each.heading.end < blocks[each.block].end or follows.get(blocks[each.block].start) not in starts
    ]


def _announces(block: Block) -> bool:
    """Whether a block says in a sentence what a chapter tells: "In which we meet an old friend"."""
    text = _unemphasised(block)
    is_another = len(text) > _LONGEST_TITLE_IN_CAPITALS or goes_on(text) or is_label(text) or is_date(text)
    return text.casefold().startswith(_ANNOUNCING) and not is_another


def _unemphasised(block: Block) -> str:
    """Its text; without the marks of emphasis, and the full stop, if all is emphasised: "_The Arrival._"."""
    text = block.text
    return text[1:-1].rstrip(".") if text[:1] == "_" == text[-1:] and "_" not in text[1:-1] else text


def _is_line_above_prose(block: Block, below: Block | None = None) -> bool:
    """Whether a block is one line, neither speech nor a sentence, with a paragraph below it rather than a verse."""
    text = _unemphasised(block)
    shortest = _SHORTEST_PARAGRAPH_CJK if text[:1] >= "\u2e80" else LONGEST_TITLE
    is_sentence = below is not None and below.text.rstrip(QUOTATION_MARKS)[-1:] in _ENDS_OF_SENTENCES
    is_prose = below is not None and (below.end - below.start > shortest or is_sentence)
    if not text or len(block.lines) != 1 or not is_prose:
        return False
    if len(text) > LONGEST_TITLE or not text[0].isalpha() or (text[-1] in _STOPS and not _is_capitalised(text)):
        return False
    return not (text[0].islower() or _is_another(text))


def _is_another(text: str) -> bool:
    """Whether what stands under a label is a date, another label, or no part of the book, rather than a title."""
    return is_date(text) or is_label(text) or is_not_the_book(text) or bool(_NO_TITLE.fullmatch(text))


def _is_capitalised(text: str) -> bool:
    """Whether it is a title that ends with a full stop, as in old books: "The Return of the Ferry."."""
    words = [word for word in text.split() if len(word) > _SHORT_WORD]
    return text[-1] == "." and bool(words) and all(not word[0].islower() for word in words)


def may_be_title(block: Block) -> bool:
    """Whether a block under a label may be its title: in capitals, or a few words without a full stop."""
    text = _unemphasised(block)
    if not text or text[0] in OPENING_MARKS or _is_another(text):
        return False
    if in_capitals(text):
        return len(text) <= _LONGEST_TITLE_IN_CAPITALS and not goes_on(text)
    if not block.is_short or len(text) > LONGEST_TITLE:
        return False
    long_words = [word for word in text.split() if len(word) > 4]
    return text[-1] not in ".,;:!" and text[0].isupper() and all(not word[0].islower() for word in long_words)


def reads_as_title(text: str, *, may_be_quoted: bool = False) -> bool:
    """Whether a short block may be a title, perhaps "“Who Goes There?”": no speech, half a sentence, or number."""
    if may_be_quoted and is_quoted(text):
        said = text.strip(f"{QUOTATION_MARKS} ")
        return said[-1:] not in ("", ".", ",") and text[-1] != "." and reads_as_title(said)
    if len(text) > LONGEST_TITLE or text[0] in OPENING_MARKS or text[-1] in ",;:" or not any(map(str.isalpha, text)):
        return False
    return not (
        text[0].islower() or is_not_the_book(text) or parse_numeral(text) or is_caption(text) or _VERSE.match(text)
    )


def is_quoted(text: str) -> bool:
    """Whether it opens with a quotation mark, as speech does."""
    return text[0] in QUOTATION_MARKS


def goes_on(text: str) -> bool:
    """Whether a block of several lines is rather prose that begins with a label: it contains sentences."""
    return text.count(". ") + text.count("! ") + text.count("? ") > 1
