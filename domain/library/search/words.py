"""Words: what counts as one, and which forms are searched as the same word.

A word is a run of letters and digits, including an English ending after an apostrophe ("don't", "Alice's"). Scripts
without spaces (Chinese, Japanese, Thai …) have no such runs: there every character is a word, and the search looks for
adjacent pairs.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import accumulate, chain, pairwise
from pathlib import Path

_STOP_WORDS = """
    a about above after again all also am an and any are as at be because been before being below between both but by
    can can't cannot could couldn't did didn't do does doesn't doing don't down during each few for from further had
    hadn't has hasn't have haven't having he her here hers herself him himself his how i if in into is isn't it it's its
    itself just let's me more most mustn't my myself no nor not of off on once only or other ought our ours ourselves
    out over own same shall shan't she should shouldn't so some such than that that's the their theirs them themselves
    then there there's these they this those through to too under until up upon us very was wasn't we were weren't what
    what's when where which while who who's whom whose why will with won't would wouldn't you your yours yourself
    yourselves i'm i'd i'll i've he's he'd he'll she's she'd she'll you're you'd you'll you've we're we'd we'll we've
    they're they'd they'll they've o s t d m ll re ve
"""

STOP_WORDS = frozenset(_STOP_WORDS.split())

_IRREGULAR = json.loads(Path(__file__).with_name("irregular.json").read_text(encoding="utf-8"))
IRREGULAR_FORMS = {form: word for word, forms in _IRREGULAR.items() for form in forms.split()}
"""An irregular form and the word it is searched as."""


_DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"  # Chinese, Japanese
    "\uac00-\ud7af"  # Korean: spaced, but its particles hang on the words
    "\U00020000-\U0003ffff"
)
_MARKS = (  # signs that belong to the letter before them, and which \w leaves out
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0903\u093a-\u0957\u0962\u0963\u0980-\u0dff\u200d"
)
_APART = "(?<![\u0600-\u08ff])\u200c"
"""The sign that keeps two letters apart. In Persian it stands before an ending, so there it ends a word."""
CLITIC_END = r"(?:[stdmSTDM]|ll|re|ve|LL|RE|VE)\b"
"""A pattern for an English ending after its apostrophe."""

_CLITIC = rf"(?:['’]{CLITIC_END})?"
_PLAIN_WORD = re.compile(rf"[^\W_]+{_CLITIC}")
_DENSE_OR_MARK = re.compile(rf"[{_DENSE}{_MARKS}\u200c]")

_POINTS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c7\u064b-\u065f\u0670\u200c\u200d]")
"""Accents, the vowel points of Hebrew and Arabic, and the signs that join letters or keep them apart. In other scripts
the signs on a letter are vowels that matter.
"""

_UNDECOMPOSED = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})


def words_of(text: str) -> list[str]:
    """The words of a text in order, as written."""
    return word_finder(text)(text)


CHARACTERS_OF_A_WORD = 15
"""More than words and the spaces between them have on average in any language: what has more is data or decoration."""


def length_in_words(text: str) -> int:
    """How much there is to read in a text: its words, and no fewer than its number of characters makes likely.

    A text of signs alone has no words, and a row of letters without an end is one, but neither is short.
    """
    return max(len(words_of(text)), len(text) // CHARACTERS_OF_A_WORD)


def word_finder(text: str) -> Callable[[str], list[str]]:
    """A function that finds the words of a text, or of any part of it."""
    return _pattern_for(text).findall


def word_spans(text: str) -> list[tuple[int, int]]:
    """The positions of the words of a text: the n-th span belongs to the n-th word of `words_of`."""
    return [match.span() for match in _pattern_for(text).finditer(text)]


def name_pattern(name: str) -> str:
    """What finds a name as it is written, with and without full stops behind its words ("Mr. Bennet", "Mr Bennet"),
    and in no longer word.

    It begins with the name itself: a pattern that begins with what must not stand in front of it is tried at every
    character, which takes forty times as long in a book.
    """
    *others, last = name.split()
    first, *more = map(re.escape, [*(word.rstrip(".") or word for word in others), last])
    return r"\.?\s+".join([rf"{first}(?<!\w{first})", *more]) + r"(?!\w)"


def _pattern_for(text: str) -> re.Pattern[str]:
    """The pattern to use for a text. Both find the same words in most texts; the plain one takes half the time."""
    return _any_word() if has_marks_or_dense_script(text) else _PLAIN_WORD


def has_marks_or_dense_script(text: str) -> bool:
    """Whether words of the text may differ from plain runs of letters and digits."""
    return not text.isascii() and _DENSE_OR_MARK.search(text) is not None


@cache
def _any_word() -> re.Pattern[str]:
    """The full pattern, compiled on first use because that takes some milliseconds."""
    return re.compile(rf"[^\W_{_DENSE}]+(?:(?:[{_MARKS}]|{_APART})[^\W_{_DENSE}]*)*{_CLITIC}|[{_DENSE}]")


def is_dense(word: str) -> bool:
    """Whether this word is a character of a script without spaces."""
    return len(word) == 1 and _dense_character().match(word) is not None


@cache
def _dense_character() -> re.Pattern[str]:
    return re.compile(rf"[{_DENSE}]")


def fold(word: str) -> str:
    """The word without case and accents, so that "CAFÉ" and "cafe" are equal."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word.casefold().replace("’", "'"))
    return unicodedata.normalize("NFC", _POINTS.sub("", decomposed)).casefold().translate(_UNDECOMPOSED)


_MOVABLE_ADVERB = re.compile(
    r"now|already|soon|often|still|today|yesterday"
    r"|\w{2,24}(?:al|ful|ous|ive|less|ed|ing|[ae]nt|[ai]te|ick|ow|iet|oud|oft|dden)ly"
)
"""Not every word in "ly": a family and a lonely girl are something else elsewhere in a sentence."""


def is_movable_adverb(word: str) -> bool:
    """Whether a word may stand elsewhere in a sentence that says the same."""
    return _MOVABLE_ADVERB.fullmatch(word) is not None


def script_of(word: str) -> str:
    """The script of a word's first letter, as its name has it: LATIN, CYRILLIC, CJK."""
    return unicodedata.name(word[0], "").partition(" ")[0]


def without_possessive(word: str) -> str:
    return word[:-2] if word.endswith(("'s", "’s")) else word


ERROR = 2
"""The cost of an error in a spelling."""

_VOWELS = "aeiouyаеиоуыэюяіє"
_SOUNDS = ("iy", "ckqx", "cszx", "bp", "fv", "vw", "dt", "gj", "бп", "вф", "дт", "зс", "гкх", "жшщч", "ао", "еи", "ыи")
_LIKE_SOUNDS = (*_SOUNDS, _VOWELS, "bfpvw", "mn")
"""Letters that sound the same in many a word, and all that are mistaken for each other by their sound."""

_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


def _pairs(groups: Iterable[str]) -> frozenset[str]:
    return frozenset(one + other for group in groups for one in group for other in group if one != other)


_HEARD = _pairs(_SOUNDS)
_MISTAKEN = _pairs(_LIKE_SOUNDS)
_SLIPS = _MISTAKEN | _pairs(map("".join, chain.from_iterable(map(pairwise, _KEYS))))
"""Pairs of letters: those that sound the same, those that are mistaken, and those that are neighbours as keys, too."""

_UNHEARD = frozenset(_VOWELS + "hьъ")
"""Letters that are left out or added by their sound, as every doubled one is."""

_TOLD_BY_EACH_LETTER = 4
"""Letters of words in which no other letters are mistaken: "Rose" is not "Rome", but "Lusy" may be "Lucy"."""


def misspelling(word: str, other: str, most: int, *, heard: int = ERROR) -> int:
    """The cost of the letters to insert, delete, change or swap to turn one folded word into the other; `most` + 1 if
    it is more. An error of the ear costs `heard`.
    """
    if heard < ERROR:
        word, other = word.replace("ph", "f"), other.replace("ph", "f")
    if heard * max(abs(len(word) - len(other)), len({*word}.difference(other)), len({*other}.difference(word))) > most:
        return most + 1
    is_long = len(word) > _TOLD_BY_EACH_LETTER
    lost, added = _costs(word, heard), _costs(other, heard)
    before: list[int] = []
    row = list(accumulate(added, initial=0))
    for at, letter in enumerate(word):
        last, before, row = before, row, [row[0] + lost[at]]
        for to, wanted in enumerate(other):
            change = 0
            if letter != wanted:
                pair = letter + wanted
                change = heard if pair in _HEARD else ERROR if is_long or pair in _MISTAKEN else most + 1
            cost = min(before[to + 1] + lost[at], row[to] + added[to], before[to] + change)
            if at and to and letter == other[to - 1] and wanted == word[at - 1]:
                cost = min(cost, last[to - 1] + ERROR)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]


def _costs(word: str, heard: int) -> list[int]:
    """The cost of leaving out each letter."""
    return [heard if one in _UNHEARD or one == before else ERROR for before, one in pairwise(f" {word}")]


_SOUNDS_AS = (
    ("ough", "o"),
    ("igh", "i"),
    ("ph", "f"),
    ("eau", "o"),
    ("ck", "k"),
    ("c", "k"),
    ("q", "k"),
    ("ou", "u"),
    ("ai", "a"),
    ("ie", "i"),
    ("ey", "i"),
    ("y", "i"),
)
_REPEATED = re.compile(r"(\w)\1+")


def sound_of(word: str) -> str:
    """A folded word by its sound, roughly: "Lizzie" is "Lizzy", and "Burg" is "Bourgh"."""
    for letters, sound in _SOUNDS_AS:
        word = word.replace(letters, sound)
    return _REPEATED.sub(r"\1", word[:1] + word[1:].replace("h", "")).removesuffix("e")


def begin_alike(word: str, other: str) -> bool:
    """Whether folded words begin so that one may be the other misspelt; it saves comparing most of them."""
    return word[0] == other[0] or word[1:2] == other[1:2] or word.lstrip("h")[:1] == other.lstrip("h")[:1]


def is_slip(word: str, other: str) -> bool:
    """Whether one error of typing turns a word into another: a letter too many or too few, letters in another order, or
    one that is mistaken for another, or its neighbour on the keyboard.
    """
    if misspelling(word, other, ERROR) > ERROR:
        return False
    changed = (one + two for one, two in zip(word, other, strict=False) if one != two)
    return len(word) != len(other) or sorted(word) == sorted(other) or all(pair in _SLIPS for pair in changed)


STEMS_REMEMBERED = 50_000
"""More than the distinct words of a long novel."""


@lru_cache(maxsize=STEMS_REMEMBERED)
def stem_of(word: str) -> str:
    """The form under which a word is searched: folded, without English or Russian endings, irregular forms unified."""
    return _regular(without_possessive(fold(word)))


def _regular(word: str) -> str:
    return _without_ending(IRREGULAR_FORMS.get(word, word))


_VOWEL = re.compile(r"[aeiou]|(?<!^)y")
_PLURAL = re.compile(r"(?<=ss|sh|ch|zz)es$|(?<![sui])s$")
_DOUBLED, _LONGEST_WITH_TWO = "bdgmnprt", 3
"""Letters that verbs double before an ending, and the length of verbs that end in two: "add", "err"."""
_NOT_AFTER_SHORT = "aeiouwxy"
_SHORT = re.compile(rf"^[^aeiou]*[aeiouy][^{_NOT_AFTER_SHORT}]$")
_SUFFIX = re.compile(r"(?:ful)?(?:ly|ness)$|ful$")


_CYRILLIC = re.compile(
    r"([\u0430-\u045f]{3,}?)(?:ами|ями|иями|ого|его|ому|ему|ыми|ими|иях|ах|ях|ая|яя|ую|юю|ои|еи|ою|ею|ии|ыи|ое|ее|ые|ие"
    r"|ых|их|ым|им|ом|ем|ам|ям|ов|ев|ью|ия|ию|иям|ием|[аяоеыиуюьі])"
)
"""The endings of declension, folded (so that "й" is "и")."""


def _without_ending(word: str) -> str:
    """The word without its ending. The last letters are checked first, because most words have no such ending."""
    if len(word) <= 3:
        return word
    if not word.isascii():
        declined = _CYRILLIC.fullmatch(word)
        return declined[1] if declined else word
    word = _without_suffix(word)
    if word.endswith(("ies", "ied")):
        return _regular(word[:-3] + "y" if len(word) > 4 else word[:-1])  # families, ties
    if word.endswith("s") and (singular := _PLURAL.sub("", word)) != word:
        return _regular(singular)
    if word.endswith("ing"):
        word = _without_suffix(_without_participle(word, word[:-3]))
    elif word.endswith("ed") and not word.endswith("eed"):
        word = _without_suffix(_without_participle(word, word[:-2]))
    if word.endswith("i"):
        return word[:-1] + "y"
    if word.endswith("e") and len(word) > 3 and not _is_short(word[:-1]):
        return word[:-1]
    return word


def _without_suffix(word: str) -> str:
    return _SUFFIX.sub("", word) if len(word) > 5 and word.endswith(("ly", "ness", "ful")) else word


def _without_participle(word: str, base: str) -> str:
    if len(base) < 2 or not _VOWEL.search(base):
        return word
    if base[-1] == base[-2] and base[-1] in _DOUBLED and len(base) > _LONGEST_WITH_TWO:
        return base[:-1]
    return base + "e" if _is_short(base) else base


def _is_short(word: str) -> bool:
    """Whether it has one vowel followed by one consonant, as "hop" in "hoping"."""
    return word[-1] not in _NOT_AFTER_SHORT and _SHORT.match(word) is not None


_BETWEEN = "\0"
"""Separates sentences that are joined into one text."""

_APOSTROPHES = "'’"
_APOSTROPHE = re.compile(rf"[{_APOSTROPHES}](?:(?<=[^\W_][{_APOSTROPHES}]){CLITIC_END}[{_APOSTROPHES}]?)?")
"""It begins with a character set, which is fast to search. No ending follows another: "rock'd's" is two words, so the
apostrophe after an ending is consumed.
"""

_ASCII = bytes(range(128))
_ASCII_WORDS = bytes(
    code if code > 127 or chr(code).isalnum() or chr(code) in {_BETWEEN, "'"} else ord(" ") for code in range(256)
)
"""The replacement of each byte of UTF-8."""

_MOST_SIGNS = 50
"""Distinct signs beyond ASCII that are replaced by spaces one after the other; a novel has five or six."""

_TYPICAL = 100
"""Sentences that suffice to show a book's script."""


def words_of_each(sentences: Sequence[str]) -> Iterable[list[str]]:
    """The words of each sentence, in order."""
    beginning = "".join(sentences[:_TYPICAL])
    if has_marks_or_dense_script(beginning):
        return map(word_finder(beginning), sentences)
    text = _BETWEEN.join(sentences)
    if text.count(_BETWEEN) != len(sentences) - 1:
        return map(words_of, sentences)
    encoded = _APOSTROPHE.sub(_without_quotation_mark, text).encode("utf-8", "surrogatepass").translate(_ASCII_WORDS)
    foreign = set(encoded.translate(None, _ASCII).decode("utf-8", "surrogatepass"))
    signs = [character for character in foreign if not character.isalnum() and character not in _APOSTROPHES]
    if len(signs) > _MOST_SIGNS or has_marks_or_dense_script("".join(foreign)):
        return map(words_of, sentences)
    for sign in signs:
        encoded = encoded.replace(sign.encode("utf-8", "surrogatepass"), b" ")
    return map(str.split, encoded.decode("utf-8").split(_BETWEEN))


def _without_quotation_mark(found: re.Match[str]) -> str:
    """The text without marks that are not apostrophes before an ending: quotation marks, or omitted letters."""
    ending = found[0].rstrip(_APOSTROPHES)
    return f"{ending} " if ending else " "


_LOOK_ALIKE_LETTERS = """
    aаαɑᴀ@ bвβʙ cсᴄ dԁðđᴅ eеεᴇ fꜰ gɡցɢ hнһʜ iіιıɪ jјᴊ kкκᴋ lӏʟ mмᴍ nηոɴ oоοօøᴏ pрρᴘ qԛ rгʀ sѕꜱ tтτᴛ uυսᴜ vѵνᴠ wԝᴡ
    xхχ yуγʏ zᴢ
"""
_LOOK_ALIKES = {ord(other): group[0] for group in _LOOK_ALIKE_LETTERS.split() for other in group[1:]}
_NEGATIVE_LETTERS = ((0x1F150, 0x1F169), (0x1F170, 0x1F189), (0x1F1E6, 0x1F1FF))
"""Letters in black circles and squares, and flag letters, which Unicode does not classify as letters."""

_KERAIAS = "\u0374\u0384\u02b9"
"""Signs that make a number of Greek letters, as they are written; one of them would read as a blank."""
_TATWEEL = "\u0640"  # it only makes an Arabic word longer
SUPERSCRIPTS = "²³¹⁰⁴⁵⁶⁷⁸⁹"
_UNSEEN = frozenset({"Mn", "Mc", "Me", "Cf", "Cc", "Co"})
"""Categories of characters that are left out; the vowel signs of Indian scripts are among them."""


@lru_cache(maxsize=4_096)
def fold_letter(character: str) -> str:
    """A character as a person reads it; empty if it is invisible."""
    for first, last in _NEGATIVE_LETTERS:
        if first <= ord(character) <= last:
            return chr(ord("a") + ord(character) - first)
    if character in SUPERSCRIPTS or character in "\n\t":
        return character  # a superscript is the number of a note behind that of a page
    if character in _KERAIAS:
        return "ʹ"
    if character == _TATWEEL:
        return ""
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", character).casefold())
    if parts[:1] == " " and not character.isspace():
        return character  # an accent of its own, such as that for an apostrophe: no blank is seen there
    return "".join(_digit(part) for part in parts if unicodedata.category(part) not in _UNSEEN).translate(_LOOK_ALIKES)


_NAMES_OF_DIGITS = ["ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE"]
_SHOWN = {"ACE": "1"} | {name: str(digit) for digit, name in enumerate(_NAMES_OF_DIGITS, start=1)}
_SHOWS = re.compile(rf"(?:FACE|CARD|TILE)[ -]([1-9]|{'|'.join(_SHOWN)})\b")
"""In the name of a die, a clock face, a playing card or a tile: the number on it."""


def _digit(character: str) -> str:
    """The digit that a sign stands for or shows, in any script; the character itself if there is none."""
    if character.isascii():
        return character
    if shown := _SHOWS.search(unicodedata.name(character, "")):
        return _SHOWN.get(shown[1], shown[1])
    if not unicodedata.category(character).startswith("N"):
        return character
    value = unicodedata.numeric(character)
    return str(int(value)) if value in range(10) else character


def fold_letters(text: str) -> str:
    """A text as a person reads it, letter by letter."""
    return "".join(map(fold_letter, text))


def length_of(text: str) -> int:
    """In words; two characters of a script without spaces count as one."""
    words = words_of(text)
    dense = sum(map(is_dense, words))
    return len(words) - dense + dense // 2


_HYPHENATED = re.compile(r"(?<![\w-])[^\W\d_]{2,}[-‐‑][^\W\d_]{2,}(?![\w-])")
_MAY_HAVE_A_HYPHEN = re.compile(r"[^\W\d_]{5,}")


def with_hyphens(text: str, told: str) -> str:
    """A text with those words in two that another has with a hyphen, and not as one: "pain-killer" for "painkiller"."""
    plain = told.casefold()
    printed = {re.sub("[-‐‑]", "", each).casefold(): each for each in _HYPHENATED.findall(told)}

    def spelt(word: re.Match[str]) -> str:
        whole = word[0].casefold()
        return printed[whole] if whole in printed and whole not in plain else word[0]

    return _MAY_HAVE_A_HYPHEN.sub(spelt, text)
