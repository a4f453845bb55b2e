"""Titles of chapters and books, as a person would write them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from bot.parsers.draft import clean, has_words
from bot.parsers.headings import (
    RANK_OF,
    Heading,
    Label,
    Rank,
    counted,
    is_bare_label,
    is_contents,
    is_label,
    label_of,
    parse_label,
    parse_numeral,
)
from domain.book import encodable

_LONGEST = 200
_LONGEST_LABEL = 20
_LONGEST_READ = 1_000
_LONGEST_LABEL_ABOVE = 60
_SMALL_WORDS = "a an and as at but by for from in into nor of on or so the to upon with vs"
_SMALL = frozenset(_SMALL_WORDS.split())
_ROMAN = re.compile(r"(?=[IVXLC]{2})(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})\W*")
_INITIALS = re.compile(r"(?:\w\.){1,4}\W*")
_WORD = re.compile(r"[^\s\-–—/]+")
_LINE_ABOVE = re.compile(r"(?:\A|(?<=\n))(?P<label>[^\n]+)\n\s*\Z")
_CAPITAL_AGAIN = re.compile(r"(?<=\w\.)[^\W\d_]|(?<=\b[OD][’'])[^\W\d_](?=\w\w)")
_NO_LETTERS = re.compile(r"[\W_]+")
_CAPTION = re.compile(
    r"\W{0,2}(?:fig(?:ures?|\.|s\.)?|plate|pl\.|table|map|chart|diagram|photo(?:graph)?|illustration|ill\.|abb(?:ildung|\.)|"
    r"tafel|tabelle|tab\.|karte|bild|planche|tableau|carte|figura|lámina|tavola|tabla|рис(?:унок|\.)|табл(?:ица|\.)|"
    r"[图圖図表])\s*(?:no?\.?\s*)?(?:\d{1,3}(?:[.\-–]\d{1,3})?|[IVXLC]{1,7})[a-z]?(?![^\W_])",
    re.IGNORECASE,
)
_NOTE = re.compile(r"\[\d+\]|[_*]")
_JUNK = re.compile(
    r"untitled.*|unknown|title|document\d*|no title|microsoft word - .*|"
    r".*\.(?:docx?|indd|qx[dp]|pdf|tex|dvi|e?ps|x?html?|odt|rtf|txt|pages|pub|fm|epub|mobi)|"
    r"[a-z]:\\.*|(?:\\\\|/)[^/\\\s]+[/\\].*|file:.*|(?:array|hash|code|scalar|object)\s?\(0x[0-9a-f]+\).*|"
    r"\(?(?:null|none|undefined|n/?a)\)?|<[^<>]*>|[^\w]+",
    re.IGNORECASE,
)
_NAME_OF_FILE = re.compile(r"[a-z\d]+(?:[-_][a-z\d]+)+")
_ACCOUNTS = """
    author, autor, auteur, autore, автор, anonymous volunteer, admin, administrator, root, guest, owner, pc, hp,
    dell, lenovo, acer, asus, toshiba, microsoft, user, windows user, microsoft office user, benutzer,
    windows-benutzer, microsoft office-benutzer, anwender, besitzer, utilisateur, utilisateur windows, utilisateur
    microsoft office, usuario, usuario de windows, usuario de microsoft office, usuário, usuário do windows, utente,
    utente windows, gebruiker, windows-gebruiker, пользователь, пользователь windows, пользователь microsoft office,
    用户, windows 用户, 微软用户, unbekannt, inconnu, desconocido, sconosciuto, неизвестный, python-docx, calibre
"""
_NO_AUTHORS = frozenset(" ".join(name.split()) for name in _ACCOUNTS.split(","))
"""What programs fill in for the author: the name that the machine's account had from the beginning."""
_GUTENBERG = re.compile(r"(?:The )?Project Gutenberg(?:[’']s|(?:[’']s)? E-?(?:Book|text) of)?,?\s+", re.IGNORECASE)
_GUTENBERG_BEHIND = re.compile(
    r"\s*[-–—|,:(\[]\s*(?:an? |the )?Project Gutenberg(?:[’']s)?(?:\s+E-?(?:Book|text))?[.)\]]?$", re.IGNORECASE
)
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


def letters(title: str) -> str:
    """The letters and digits of a title, in one case."""
    return _NO_LETTERS.sub("", title).casefold()


def chapter_title(heading: str) -> str:
    """A heading as one line: "CHAPTER I. The Pool of Tears" is "Chapter I. The Pool of Tears"."""
    line = " ".join(_NOTE.sub("", clean(encodable(heading[:_LONGEST_READ]))).split()).strip(" .:;,—–-")
    if (label := parse_label(line)) and label.rank is None and label.title and not label.mark.strip():
        line = calm(line)  # "Dedication of Part II"
    elif label:
        name, mark = calm(label.name), label.mark if label.mark.strip() or not label.name.isascii() else ". "
        line = f"{name}{mark}{calm(label.title)}" if label.title else name
    elif numeral := parse_numeral(line):
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
    headings = [_with_label_above(text, end, heading) for end, heading in zip(ends, headings, strict=False)]
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


def _with_label_above(text: str, end: int, heading: Heading) -> Heading:
    """The heading with a label that is printed above its title, as in books whose outline has only the titles or
    numbers; `end` is that of the last heading.
    """
    found = _LINE_ABOVE.search(text, max(end, heading.start - _LONGEST_LABEL_ABOVE), heading.start)
    above, own = parse_label(found["label"]) if found else None, label_of(heading)
    if found is None or above is None or above.rank is None or above.title:
        return heading
    number = own or counted(heading.title)
    is_same = number is not None and number.rank is Rank.NUMERAL and number.value == above.value
    if own and not is_same:
        return heading
    title = with_subtitle(found["label"], number.title if number and is_same else heading.title)
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
    """A text in capitals, in title case; any other text unchanged, also one in a script without capitals."""
    has_none = any(letter.isalpha() and letter.upper() == letter.lower() for letter in text)
    if has_none or text != text.upper() or text == text.lower():
        return text
    last = max(word.start() for word in _WORD.finditer(text))
    small = _in_small_letters(text)

    def written(word: re.Match[str]) -> str:
        opens = not (before := text[: word.start()].rstrip()) or before[-1] in ":?!—"
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


def book_title(declared: str) -> tuple[str, str]:
    """A title and the author it names: "Emma, by Jane Austen" gives both; names of files and programs give nothing."""
    title = _GUTENBERG.sub("", _GUTENBERG_BEHIND.sub("", one_line(declared)), count=1)
    if not title or _JUNK.fullmatch(title) or is_name_of_file(title):
        return "", ""
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
    return "" if _JUNK.fullmatch(name) or name.lower() in _NO_AUTHORS else name


def page_label(declared: str) -> str:
    """What may be printed on a page: a number or a word or two; empty if it looks like more."""
    return " ".join(_UNPRINTED.sub("", one_line(declared)).split())[:_LONGEST_LABEL].strip()


def last_component(filename: str) -> str:
    """A file's own name, without the folders of any system."""
    return filename.replace("\\", "/").replace("\0", "").rstrip("/").rpartition("/")[2]


def title_from_filename(filename: str) -> str:
    """ "war_peace.txt" is "War Peace"; a name without letters is "Untitled"."""
    stem = _EXTENSION.sub("", last_component(filename))
    words = one_line(re.sub(r"[_+]+|%20", " ", stem)).strip(" .-")
    if words != words.lower():
        return words
    spaced = words if " " in words else words.replace("-", " ")
    return calm(spaced.upper()) or "Untitled"


def one_line(text: str) -> str:
    """A text from a file in a form and length that can be shown anywhere."""
    return " ".join(clean(encodable(text)).split())[:_LONGEST]


_ROMAN_UNITS = ((100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


def roman(number: int) -> str:
    """A number in small Roman letters; empty if it is below one."""
    text = ""
    for value, letters in _ROMAN_UNITS:
        text += letters * (number // value)
        number %= value
    return text
