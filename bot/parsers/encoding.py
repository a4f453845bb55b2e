"""Decoding text files, whatever encoding they are in."""

import codecs
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from domain.errors import BookError, BookErrorCode, Worded

_SAMPLE = 120_000
"""Bytes of a long text that are tried in each encoding, from the first non-ASCII one on; they may end anywhere."""
_MOST_COUNTED = 200_000
_FEW = 16
_FEW_SHARE = 0.000_2
"""Non-ASCII bytes that never make a text unreadable: at most this many, or this share. In an English novel they are
the accents of a few foreign names, of any language.
"""
_STRANGE = -8.0
"""The log probability of a letter that is unusual in every language of the encoding."""
_NO_LETTER = -12.0
_BROKEN = -30.0
_STRANGE_CHARACTER = -12.0
"""The same for a two-byte character that is not among the usual ones of its language."""
_WORST = -4.2
_WORST_THAI = -4.9
"""The lower limit for real text; random letters of an alphabet are below it."""
_MOST_BROKEN = 0.01
_DECLARED_BONUS = 0.7
"""How much likelier an encoding is if the file declares it."""
_ASCII = bytes(range(0x80))
_SIGNS = "’—“”–‘…\xa0»«„‚°§·£¡¿º½ª¼¾›‹•©®×÷¶€†‡±²³´`¨¯¸¢¥¬¦µ№"
_SIGN_SHARE = 0.3
_SIGNS_ALONE = 0.9
"""The share of signs where accented letters are foreign, as in English."""
_CAPITAL_SHARE = 0.04
_AMID_LATIN = 6.0
"""The cost of a letter of another script directly after a Latin letter."""
_AFTER_LATIN = re.compile(rb"[A-Za-z][\x80-\xff]")

_LETTERS = json.loads(Path(__file__).with_name("encoding.json").read_text(encoding="utf-8"))
"""The letters beyond ASCII, or the usual characters, of each language, the most frequent first."""
_LATIN_NAMES = ("western", "central", "turkish", "baltic", "vietnamese")
_LATIN = {name: (*_LETTERS[name].values(),) for name in _LATIN_NAMES}
_CYRILLIC, _GREEK, _HEBREW, _ARABIC, _THAI = (
    (*_LETTERS[name].values(),) for name in ("cyrillic", "greek", "hebrew", "arabic", "thai")
)
_KANA, _KANJI, _HANZI, _SIMPLIFIED, _TRADITIONAL, _HANGUL = (
    "".join(_LETTERS[name]) for name in ("kana", "kanji", "hanzi", "simplified", "traditional", "hangul")
)
_ENGLISH = _LATIN["western"][0]
_KANJI_SHARE = 0.35
_CJK_PUNCTUATION = "、。，「」『』！？：；（）《》“”‘’…—　・·"
_CJK_PUNCTUATION_SHARE = 0.15


@dataclass(frozen=True, slots=True)
class Guess:
    """An encoding by Python's name, and the mean log probability, per non-ASCII byte, of the decoded text.

    `is_text` says that real text is that likely.
    """

    encoding: str
    score: float
    is_text: bool = True


def guess_encoding(data: bytes, declared: str = "") -> Guess | None:
    """The encoding that makes the likeliest text of some bytes; None if none does.

    `declared` is the encoding that the file declares, which counts if it is plausible.
    """
    high = data.translate(None, _ASCII)[:_MOST_COUNTED]
    if not high:
        return Guess("cp1252", 0.0)
    said = _canonical(declared)
    start = len(data) - len(data.lstrip(_ASCII))
    guesses = [
        *_single_byte_guesses(high, data[max(0, start - 1) : start + _SAMPLE]),
        *_multi_byte_guesses(data[start : start + _SAMPLE]),
    ]
    best = max(guesses, key=lambda guess: guess.score + (_DECLARED_BONUS if guess.encoding == said else 0.0))
    return best if best.is_text or len(high) < max(_FEW, _FEW_SHARE * len(data)) else None


def _single_byte_guesses(high: bytes, sample: bytes) -> Iterator[Guess]:
    counts = Counter(high)
    amid_latin = _AMID_LATIN * len(_AFTER_LATIN.findall(sample)) / len(sample.translate(None, _ASCII))
    for encoding, tables in _single_byte_tables().items():
        score = max(sum(count * table[byte - 0x80] for byte, count in counts.items()) for table in tables) / len(high)
        penalty = 0.0 if _SINGLE_BYTE[encoding] in _LATIN.values() else amid_latin
        worst = _WORST_THAI if encoding == "cp874" else _WORST
        yield Guess(encoding, score - penalty - _UNLIKELY[encoding] / len(high), score - penalty > worst)


def _multi_byte_guesses(sample: bytes) -> Iterator[Guess]:
    high = len(sample.translate(None, _ASCII))
    for encoding, language in _MULTI_BYTE.items():
        counts = Counter(codecs.getincrementaldecoder(encoding)("replace").decode(sample))
        broken = counts.pop("\ufffd", 0)
        if broken > max(1, _MOST_BROKEN * high):
            continue
        table = _wide_table(language)
        score = sum(
            count * table.get(letter, _STRANGE_CHARACTER) for letter, count in counts.items() if not letter.isascii()
        )
        yield Guess(encoding, (score + broken * _BROKEN - _UNLIKELY[encoding]) / high)


_SINGLE_BYTE = {
    "cp1252": _LATIN["western"],
    "cp1250": _LATIN["central"],
    "iso8859_2": _LATIN["central"],
    "iso8859_16": _LATIN["central"],
    "cp1254": _LATIN["turkish"],
    "cp1257": _LATIN["baltic"],
    "cp1258": _LATIN["vietnamese"],
    "iso8859_15": _LATIN["western"],
    "cp437": _LATIN["western"],
    "cp850": _LATIN["western"],
    "cp852": _LATIN["central"],
    "mac_roman": _LATIN["western"],
    "cp1251": _CYRILLIC,
    "koi8_r": _CYRILLIC,
    "koi8_u": _CYRILLIC,
    "cp866": _CYRILLIC,
    "iso8859_5": _CYRILLIC,
    "mac_cyrillic": _CYRILLIC,
    "cp1253": _GREEK,
    "iso8859_7": _GREEK,
    "cp1255": _HEBREW,
    "cp862": _HEBREW,
    "cp1256": _ARABIC,
    "iso8859_6": _ARABIC,
    "cp874": _THAI,
}
_MULTI_BYTE = {"cp932": "ja", "euc_jp": "ja", "gb18030": "zh-Hans", "big5hkscs": "zh-Hant", "cp949": "ko"}
_USUAL = 3.0
_RARE = 8.0
_RARE_ENCODINGS = (
    "iso8859_15 iso8859_16 cp437 cp850 cp852 cp866 mac_roman iso8859_5 mac_cyrillic iso8859_6 cp862 cp1258"
)
_UNLIKELY = dict.fromkeys([*_SINGLE_BYTE, *_MULTI_BYTE], _USUAL) | dict.fromkeys(_RARE_ENCODINGS.split(), _RARE)
_UNLIKELY["cp1252"] = 0.0
_UNLIKELY["iso8859_7"] = 1_000.0  # cp1253 but for Ά, whose byte is an apostrophe here
"""How much less likely an encoding is a priori, as a log probability; it decides where there are few letters."""
_ALIASES = {
    "x_sjis": "cp932",
    "shift_jis": "cp932",
    "windows_31j": "cp932",
    "ms_kanji": "cp932",
    "x_euc_jp": "euc_jp",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x_gbk": "gb18030",
    "cp936": "gb18030",
    "hz": "gb18030",
    "big5": "big5hkscs",
    "x_x_big5": "big5hkscs",
    "cp950": "big5hkscs",
    "euc_kr": "cp949",
    "ks_c_5601_1987": "cp949",
    "x_windows_949": "cp949",
    "iso8859_1": "cp1252",
    "ascii": "cp1252",
    "iso8859_9": "cp1254",
    "iso8859_8": "cp1255",
    "iso8859_11": "cp874",
    "tis_620": "cp874",
    "x_mac_cyrillic": "mac_cyrillic",
    "macintosh": "mac_roman",
}
"""Declared names as browsers understand them, where Python does not know them or takes them for a subset."""


def _canonical(declared: str) -> str:
    name = declared.strip().lower().replace("-", "_")
    if name in _ALIASES:
        return _ALIASES[name]
    try:
        name = codecs.lookup(declared).name.replace("-", "_")
    except (LookupError, ValueError):
        return ""
    return _ALIASES.get(name, name)


@cache
def _single_byte_tables() -> dict[str, list[list[float]]]:
    """For each encoding and each of its languages, the log probability of the bytes from 0x80 on."""
    return {
        encoding: [[_log_of_byte(byte, encoding, table) for byte in range(0x80, 0x100)] for table in tables]
        for encoding, tables in ((name, [*map(_alphabet, languages)]) for name, languages in _SINGLE_BYTE.items())
    }


def _log_of_byte(byte: int, encoding: str, table: Mapping[str, float]) -> float:
    letter = bytes([byte]).decode(encoding, "replace")
    if letter == "\ufffd":
        return _BROKEN
    return table.get(letter, _STRANGE if letter.isalpha() else _NO_LETTER)


@cache
def _alphabet(letters: str) -> dict[str, float]:
    """Log probabilities of the letters of a language, given in order of frequency, of their capitals and of signs."""
    signs = _SIGNS_ALONE if letters == _ENGLISH else _SIGN_SHARE
    table = _shares(_SIGNS, signs)
    for letter, share in _ranked(letters):
        if (capital := letter.upper()) != letter and len(capital) == 1:
            table[capital] = math.log(share * _CAPITAL_SHARE)
        table[letter] = math.log(share * (1 - signs))
    return table


@cache
def _wide_table(language: str) -> dict[str, float]:
    """Log probabilities of the usual characters of an East Asian language."""
    table = _shares(_CJK_PUNCTUATION, _CJK_PUNCTUATION_SHARE)
    rest = 1 - _CJK_PUNCTUATION_SHARE
    if language == "ja":
        table |= _shares(_KANJI, rest * _KANJI_SHARE) | _shares(_KANA, rest * (1 - _KANJI_SHARE))
    elif language == "ko":
        table |= _shares(_HANGUL, rest)
    else:
        hant = str.maketrans(_SIMPLIFIED, _TRADITIONAL)
        table |= _shares(_HANZI.translate(hant) if language == "zh-Hant" else _HANZI, rest)
    return table


def _shares(letters: str, whole: float) -> dict[str, float]:
    return {letter: math.log(share * whole) for letter, share in _ranked(letters)}


def _ranked(letters: Iterable[str]) -> Iterator[tuple[str, float]]:
    """Letters given in order of frequency, with the shares by Zipf's law."""
    unique = [*dict.fromkeys(letters)]
    harmonic = sum(1 / rank for rank in range(1, len(unique) + 1))
    return ((letter, 1 / (rank * harmonic)) for rank, letter in enumerate(unique, start=1))


_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LONGEST_DECLARATION = 2_000
_DECLARED = re.compile(rb"""(?:encoding|charset)\s*=\s*["']?\s*([\w:.-]{2,40})""", re.IGNORECASE)
_DOCTYPE = re.compile(r"<!DOCTYPE[^<>\[]*([>\[])", re.IGNORECASE)
_END_OF_SUBSET = re.compile(r"\]\s*>")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x19\x1b-\x1f]")
_COMMANDS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
"""Characters that control a terminal: all control characters but line and page breaks and tabs."""
_COMMAND_BYTES = bytes([*range(0x09), 0x0B, *range(0x0E, 0x20), 0x7F])
_LONG_COMMAND_BYTES = re.compile(rb"\xc2[\x80-\x9f]")
_MOST_CONTROLS = 0.001
_MOST_REPLACED = 0.001
_MOST_UNMARKED_ZEROS = 0.005
"""The share of zero bytes above which bytes without a byte order mark are either UTF-16, recognisable by its Latin
letters, blanks and line feeds, or no text.
"""
_FEWEST_NEWER = 3
_FEWEST_NEWER_SHARE = 0.1
"""Lines with accents in UTF-8 for each line that is not: of those in an older encoding, hardly any is UTF-8 as well."""
_UTF16_SAMPLE = 100_000
_USUAL_IN_UTF16 = re.compile("[\t\n\r -~\u2010-\u2027\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef]")
_LEAST_USUAL = 0.95
_DAMAGED = (Worded("A few characters of this file are damaged and are shown as \ufffd."),)
_ESCAPES = ((b"\x1b$B", "iso2022_jp_2"), (b"\x1b$@", "iso2022_jp_2"), (b"\x1b$)C", "iso2022_kr"))


def decode(data: bytes) -> tuple[str, tuple[str, ...]]:
    """The text, and warnings if some of it could not be decoded with certainty.

    Control characters become blanks, one for one, so that offsets do not change.

    Raises:
        BookError: UNSUPPORTED_FORMAT, these bytes are no text.
    """
    text, warnings = _decoded(data)
    text = _in_own_letters(_decoded_again(text))
    if not _has_commands(text):
        return text, warnings
    if len(_CONTROL.findall(text)) > _MOST_CONTROLS * len(text):
        raise _no_text()
    return _COMMANDS.sub(" ", text), warnings


def _has_commands(text: str) -> bool:
    """Whether there are control characters. UTF-8 bytes are searched: searching any of many characters takes five
    times as long.
    """
    encoded = text.encode("utf-8", "surrogatepass")
    return len(encoded.translate(None, _COMMAND_BYTES)) < len(encoded) or bool(_LONG_COMMAND_BYTES.search(encoded))


def decode_document(data: bytes) -> str:
    """The text of a standalone HTML or XML file.

    Raises:
        BookError: UNSUPPORTED_FORMAT, its encoding cannot be determined.
    """
    return _in_own_letters(_decoded_again(_decode_markup(data) or _decoded(data)[0]))


_AS_BYTES = {ord(bytes([byte]).decode("cp1252", "ignore") or chr(byte)): byte for byte in range(0x80, 0xA0)}
_FOLLOWING = f"[{''.join(map(chr, _AS_BYTES))}\x80-\xbf]"
_ENCODED_TWICE = re.compile(f"[\xc2-\xdf]{_FOLLOWING}|[\xe0-\xef]{_FOLLOWING}{{2}}")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_FEWEST_ENCODED_TWICE = 3
_FIRST_TRIED = 4_000


def _decoded_again(text: str) -> str:
    """The text; if a program read its UTF-8 as windows-1252 and saved that as UTF-8 ("FÃ¤hre"), as it was before."""
    first = None if text.isascii() else _NOT_ASCII.search(text)
    start = first.start() if first else 0
    if not _ENCODED_TWICE.match(text, start) or len(_ENCODED_TWICE.findall(text)) < _FEWEST_ENCODED_TWICE:
        return text
    try:
        _from_bytes(text[start : start + _FIRST_TRIED], final=False)  # a hundredth of the time, if it fails
        return _from_bytes(text, final=True).removeprefix("\ufeff")
    except UnicodeError:
        return text


def _from_bytes(text: str, *, final: bool) -> str:
    return codecs.getincrementaldecoder("utf-8")().decode(text.translate(_AS_BYTES).encode("latin-1"), final)


_MISREAD = re.compile("[À-ÿ]{4,}")
"""What is no word in any language with Latin letters."""
_FEWEST_MISREAD = 20
_LEAST_MISREAD = 0.1


def misread_letters(text: str) -> dict[int, str]:
    """What stands for the letters of a text in Cyrillic or Greek that was read as Western ("Ïðåñòóïëåíèå"), as from
    PDFs whose fonts say nothing else; empty for any other text.
    """
    words = [] if text.isascii() else _MISREAD.findall(text)
    if len(words) < _FEWEST_MISREAD or sum(map(len, words)) < _LEAST_MISREAD * len(text):
        return {}
    guess = guess_encoding(" ".join(words).encode("latin-1"))
    if guess is None or _SINGLE_BYTE.get(guess.encoding) not in (_CYRILLIC, _GREEK):
        return {}
    encoding = guess.encoding.replace("mac_cyrillic", "cp1251")  # which have most small letters in common
    return {byte: bytes([byte]).decode(encoding, "replace") for byte in range(0xA1, 0x100)}


def _in_own_letters(text: str) -> str:
    return text.translate(letters) if (letters := misread_letters(text)) else text


def decode_markup(data: bytes) -> str:
    """The text of an archive's part: by its byte order mark, as UTF-8, as declared, or as it most likely is."""
    if (text := _decode_markup(data)) is not None:
        return text
    guess = guess_encoding(data)
    return data.decode(guess.encoding if guess else "cp1252", "replace")


def ascii_head(data: bytes, length: int) -> str:
    """The first bytes of a file, with non-ASCII ones as �, whatever the encoding."""
    head = data[:length]
    encoding = _marked(data) or _unmarked_utf16(head) or "ascii"
    return codecs.getincrementaldecoder(encoding)("replace").decode(head)


def _decode_markup(data: bytes) -> str | None:
    if encoding := _marked(data) or _unmarked_utf16(data):
        return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        if damaged := _damaged_utf8(data):
            return damaged[0]
    declared = _DECLARED.search(data, 0, _LONGEST_DECLARATION)
    guess = guess_encoding(data, declared[1].decode("ascii") if declared else "")
    return data.decode(guess.encoding, "replace") if guess else None


def without_doctype(markup: str) -> str:
    """XML or XHTML without document types, and so without declarations of entities; an unterminated one is kept."""
    kept, at = [], 0
    while opening := _DOCTYPE.search(markup, at):
        closing = opening if opening[1] == ">" else _END_OF_SUBSET.search(markup, opening.end())
        if closing is None:
            break
        kept.append(markup[at : opening.start()])
        at = closing.end()
    return "".join([*kept, markup[at:]])


def _decoded(data: bytes) -> tuple[str, tuple[str, ...]]:
    if encoding := _marked(data) or _unmarked_utf16(data):
        text = data.decode(encoding, "replace")
        broken = text.count("\ufffd")
        if broken <= max(1, _MOST_REPLACED * len(text)):
            return text, _DAMAGED if broken else ()
        if encoding != "utf-8-sig":
            raise _no_text()
        data = data.removeprefix(codecs.BOM_UTF8)  # an editor's mark, before text in an older encoding
    for escape, encoding in _ESCAPES:
        if escape in data:
            return data.decode(encoding, "replace"), ()
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError:
        return _damaged_utf8(data) or _legacy(data)


def _marked(data: bytes) -> str | None:
    return next((encoding for mark, encoding in _BYTE_ORDER_MARKS if data.startswith(mark)), None)


def _unmarked_utf16(data: bytes) -> str | None:
    """Whether it is UTF-16: that has blanks and line feeds in any language, and so zero bytes, mostly at odd or mostly
    at even positions.
    """
    zeros = (data[0::2].count(0), data[1::2].count(0))
    if max(zeros) < max(2, _MOST_UNMARKED_ZEROS * len(data)):
        return None
    if min(zeros) * 20 <= max(zeros):
        return "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"
    sample = data[: _UTF16_SAMPLE - _UTF16_SAMPLE % 2]  # East Asian text has zeros of both kinds, as in U+4E00
    letters = {
        name: len(_USUAL_IN_UTF16.findall(sample.decode(name, "replace"))) for name in ("utf-16-le", "utf-16-be")
    }
    best = max(letters, key=lambda name: letters[name])
    return best if letters[best] * 2 > _LEAST_USUAL * len(sample) else None


def _damaged_utf8(data: bytes) -> tuple[str, tuple[str, ...]] | None:
    """Whether it is UTF-8 with a few broken characters; legacy encodings break at nearly every accent."""
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    if broken > max(1, _MOST_REPLACED * len(text)) or broken * 4 > sum(
        map(len, re.findall(r"[^\x00-\x7f\ufffd]+", text))
    ):
        return None
    return text, _DAMAGED


def _mixed(data: bytes) -> str | None:
    """The text of files in UTF-8 and in an older encoding that were joined: each line is in one of them."""
    lines = data.split(b"\n")
    read = [*map(_utf8, lines)]
    older = [line for line, text in zip(lines, read, strict=True) if text is None]
    newer = sum(text is not None and not text.isascii() for text in read)
    if newer < max(_FEWEST_NEWER, _FEWEST_NEWER_SHARE * len(older)):
        return None
    guess = guess_encoding(b"\n".join(older))
    if guess is None or not guess.is_text:
        return None
    return "\n".join(
        line.decode(guess.encoding, "replace") if text is None else text for line, text in zip(lines, read, strict=True)
    )


def _utf8(line: bytes) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None


def _legacy(data: bytes) -> tuple[str, tuple[str, ...]]:
    if mixed := _mixed(data):
        return mixed, ()
    guess = guess_encoding(data)
    text = data.decode(guess.encoding, "replace") if guess else "\ufffd"
    if (broken := text.count("\ufffd")) > max(1, _MOST_REPLACED * len(text)) or guess is None:
        if len(data) - len(data.translate(None, _COMMAND_BYTES)) > _MOST_CONTROLS * len(data):
            raise _no_text()
        raise BookError(
            BookErrorCode.UNSUPPORTED_FORMAT,
            "I can't tell how the letters in this file are encoded. Please open it in a text editor, "
            "save it as UTF-8, and add that.",
        )
    return text, _DAMAGED if broken else ()


def _no_text() -> BookError:
    return BookError(
        BookErrorCode.UNSUPPORTED_FORMAT,
        "This file does not look like text, nor like any book I can read. If it is a book, please convert it to EPUB, "
        "for example with Calibre, and add that.",
    )
