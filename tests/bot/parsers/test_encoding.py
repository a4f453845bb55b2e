"""Text in any encoding that readers' files are in, of any length, comes out in its letters or not at all."""

import codecs
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.parsers.encoding import decode, decode_document, decode_markup
from bot.parsers.web_formats import read_html
from domain.errors import BookError, BookErrorCode
from tests.sampling import a_few

_ENGLISH = (
    "“It is a truth universally acknowledged,” she read—“that a single man in possession of a good fortune must be in "
    "want of a wife.” It’s Mr. Bennet’s house; don’t you know who has taken it?"
)
_FRENCH = (
    "Nous étions à l’étude, quand le Proviseur entra, suivi d’un nouveau habillé en bourgeois et d’un garçon de classe "
    "qui portait un grand pupitre. Ceux qui dormaient se réveillèrent, et chacun se leva, comme surpris dans son "
    "travail. Le cœur lui battait; il était déjà là, près de la fenêtre."
)
_GERMAN = (
    "In Front des schon seit Kurfürst Georg Wilhelm von der Familie von Briest bewohnten Herrenhauses zu Hohen-Cremmen "
    "fiel heller Sonnenschein auf die mittagsstille Dorfstraße, während nach der Park- und Gartenseite hin ein "
    "rechtwinklig angebauter Seitenflügel einen breiten Schatten über die Fliesen warf."
)
_SPANISH = (
    "En un lugar de la Mancha, de cuyo nombre no quiero acordarme, no ha mucho tiempo que vivía un hidalgo de los de "
    "lanza en astillero, adarga antigua, rocín flaco y galgo corredor. ¿Quién será? ¡Señor, aquí está!"
)
_POLISH = (
    "Litwo! Ojczyzno moja! ty jesteś jak zdrowie; ile cię trzeba cenić, ten tylko się dowie, kto cię stracił. Dziś "
    "piękność twą w całej ozdobie widzę i opisuję, bo tęsknię po tobie. Święta, co jasnej bronisz Częstochowy."
)
_CZECH = (
    "Byl pozdní večer, první máj, večerní máj, byl lásky čas. Hrdliččin zval ku lásce hlas, kde borový zaváněl háj. "
    "O lásce šeptal tichý mech; květoucí strom lhal lásky žel, svou lásku slavík růži pěl."
)
_RUSSIAN = (
    "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему. Все смешалось в доме "
    "Облонских. Жена узнала, что муж был в связи с бывшею в их доме француженкою-гувернанткой."
)
_GREEK = "Σαν βγεις στον πηγαιμό για την Ιθάκη, να εύχεσαι νάναι μακρύς ο δρόμος, γεμάτος περιπέτειες, γεμάτος γνώσεις."
_JAPANESE = (
    "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所でニャーニャー泣いていた事だけは記憶している。"
    "吾輩はここで始めて人間というものを見た。しかもあとで聞くとそれは書生という人間中で一番獰悪な種族であったそうだ。"
)
_SIMPLIFIED = (
    "此开卷第一回也。作者自云：因曾历过一番梦幻之后，故将真事隐去，而借“通灵”之说，撰此《石头记》一书也。"
    "故曰“甄士隐”云云。但书中所记何事何人？自又云：“今风尘碌碌，一事无成，忽念及当日所有之女子，一一细考较去。”"
)
_TRADITIONAL = (
    "此開卷第一回也。作者自云：因曾歷過一番夢幻之後，故將真事隱去，而借「通靈」之說，撰此《石頭記》一書也。"
    "故曰「甄士隱」云云。但書中所記何事何人？自又云：「今風塵碌碌，一事無成，忽念及當日所有之女子，一一細考較去。」"
)
_KOREAN = (
    "새침하게 흐린 품이 눈이 올 듯하더니 눈은 아니 오고 얼다가 만 비가 추적추적 내리는 날이었다. "
    "이날이야말로 동소문 안에서 인력거꾼 노릇을 하는 김 첨지에게는 오래간만에도 닥친 운수 좋은 날이었다."
)
_CASES = [
    (_ENGLISH, "cp1252"),
    (_ENGLISH, "mac_roman"),
    (_FRENCH.replace("’", "'").replace("œ", "oe"), "latin-1"),
    (_FRENCH, "cp1252"),
    (_FRENCH.replace("’", "'").replace("œ", "oe"), "cp850"),
    (_GERMAN, "latin-1"),
    (_SPANISH, "cp1252"),
    (_POLISH, "cp1250"),
    (_POLISH, "iso8859-2"),
    (_CZECH, "cp1250"),
    (_RUSSIAN, "cp1251"),
    (_RUSSIAN, "koi8-r"),
    (_RUSSIAN, "cp866"),
    (_GREEK, "cp1253"),
    (_JAPANESE, "shift_jis"),
    (_JAPANESE, "euc_jp"),
    (_JAPANESE, "iso2022_jp"),
    (_SIMPLIFIED, "gb18030"),
    (_TRADITIONAL, "big5"),
    (_KOREAN, "euc_kr"),
]
_OF_SEVERAL_BYTES = {"shift_jis", "euc_jp", "iso2022_jp", "gb18030", "big5", "euc_kr"}
_case = pytest.mark.parametrize(("text", "encoding"), _CASES, ids=[f"{text[:6]} {name}" for text, name in _CASES])
_LICENCE = "The Project Gutenberg EBook. This eBook is for the use of anyone anywhere at no cost.\n" * 200


@_case
@pytest.mark.parametrize("around", a_few([299_990, 300_000, 400_000], 1))
def test_long_files_whatever_byte_a_sample_ends_at(text: str, encoding: str, around: int) -> None:
    paragraphs = text + "\n\n"
    book = _LICENCE + paragraphs * (around // len(paragraphs.encode(encoding)) + 1)
    for shift in range(4 if encoding in _OF_SEVERAL_BYTES else 1):
        shifted = "x" * shift + book
        assert decode(shifted.encode(encoding)) == (shifted, ())


@_case
def test_a_page_is_enough(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding))[0] == text


@pytest.mark.parametrize("text", [_ENGLISH, _RUSSIAN, _JAPANESE, _SIMPLIFIED, _KOREAN])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-8-sig"])
def test_utf_16_with_and_without_its_mark(text: str, encoding: str) -> None:
    book = (text + "\n\n") * 3_000
    assert decode(book.encode(encoding))[0] == book


@pytest.mark.parametrize(
    ("text", "encoding", "declared"),
    [
        (_JAPANESE, "shift_jis", "x-sjis"),
        (_JAPANESE, "shift_jis", ""),
        (_JAPANESE, "euc_jp", "iso-8859-1"),
        (_JAPANESE, "utf-8", "shift_jis"),
        (_SIMPLIFIED.replace("石", "囍镕"), "gbk", "gb2312"),
        (_TRADITIONAL, "big5", "x-x-big5"),
        (_KOREAN, "cp949", "ks_c_5601-1987"),
        (_RUSSIAN, "cp1251", ""),
        (_RUSSIAN, "koi8-r", "windows-1252"),
        (_RUSSIAN, "cp1251", "utf-8"),
        (_GERMAN, "cp1252", ""),
        (_FRENCH, "cp1252", "us-ascii"),
        (_FRENCH, "cp1252", "no-such-charset"),
        (_POLISH, "iso8859-2", "iso-8859-2"),
    ],
)
def test_html_with_no_wrong_or_aliased_charset(text: str, encoding: str, declared: str) -> None:
    meta = f'<meta http-equiv="Content-Type" content="text/html; charset={declared}">' if declared else ""
    page = f"<html><head>{meta}<title>x</title></head><body><p>{text}</p></body></html>".encode(encoding)
    assert text in decode_document(page)
    assert text in decode_markup(page)
    assert text in read_html(page, "a.html").text


def test_letters_of_no_known_encoding_are_refused_and_not_guessed() -> None:
    armenian = "Ամեն մարդ իր սրտի մէջ մի աշխարհ ունի, եւ այդ աշխարհը ուրիշներին անծանօթ է։ " * 50
    shifted = bytes(letter if letter < 0x80 else 0x80 + letter % 0x80 for letter in map(ord, armenian))
    for data in (shifted, bytes(range(0x80, 0x100)) * 40):
        with pytest.raises(BookError, match="save it as UTF-8") as refused:
            decode(data)
        assert refused.value.code is BookErrorCode.UNSUPPORTED_FORMAT


def test_a_few_accents_of_foreign_names_are_no_reason_to_refuse_a_novel() -> None:
    text = "It was the house of the Röslers, and Mr. Ægir came. " + "Nobody had seen the cart come over. " * 20_000
    text += "Äußerst œuvre, Ñandú, ð, þ, Æolian, £5, Ø, Å, ÿ, ¿qué?"
    assert decode(text.encode("cp1252"))[0] == text


def test_a_text_half_of_which_is_in_another_encoding_is_refused() -> None:
    with pytest.raises(BookError, match="save it as UTF-8"):
        decode((_JAPANESE * 2_000).encode("shift_jis") + (_RUSSIAN * 2_000).encode("koi8-r"))


@given(data=st.binary(min_size=1, max_size=400), declared=st.text("abc-_.:185", max_size=12))
def test_any_bytes_are_text_or_refused(data: bytes, declared: str) -> None:
    try:
        text, _ = decode(data)
    except BookError as error:
        assert error.message.endswith(".")
    else:
        assert isinstance(text, str)
    assert isinstance(decode_markup(f"<?xml encoding='{declared}'?>".encode() + data), str)


def test_a_byte_order_mark_is_no_letter() -> None:
    assert decode(codecs.BOM_UTF16_LE + "Ahoy".encode("utf-16-le"))[0] == "Ahoy"


def test_a_mark_of_utf_8_before_older_letters_makes_no_garbage() -> None:
    assert decode(codecs.BOM_UTF8 + (_GERMAN * 20).encode("cp1252"))[0] == _GERMAN * 20


def test_what_a_byte_order_mark_calls_text_may_be_none() -> None:
    with pytest.raises(BookError, match="does not look like text"):
        decode(codecs.BOM_UTF16_LE + b"\x00\xd8AN" * 5_000)


def test_a_broken_character_of_marked_text_is_a_warning() -> None:
    text, warnings = decode(codecs.BOM_UTF16_LE + (_FRENCH * 20).encode("utf-16-le") + b"\x00\xd8a\x00")
    assert text == f"{_FRENCH * 20}\ufffda"
    assert len(warnings) == 1


def encoded_twice(text: str) -> bytes:
    """The text in UTF-8 that a program took for windows-1252."""
    return "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in text.encode()).encode()


@pytest.mark.parametrize(
    "text",
    [
        "Das Fährhaus steht über der Brücke, „schön“ und groß.",
        "“It’s a fine day”—he said—“isn’t it?” naïve café",
        "Мальчик увидел звезду над лесом.",
        "渡し場の夜は静かだった。",
    ],
)
def test_what_was_encoded_twice_is_read_as_it_was(text: str) -> None:
    assert decode(encoded_twice(text)) == (text, ())
    assert decode_document(encoded_twice(f"<p>{text}</p>")) == f"<p>{text}</p>"


@pytest.mark.parametrize(("text", "encoding"), [(_RUSSIAN, "cp1251"), (_RUSSIAN, "koi8_r"), (_GREEK, "cp1253")])
def test_an_alphabet_read_as_western_letters_is_read_as_its_own(text: str, encoding: str) -> None:
    misread = f"{text} " * 4
    saved = misread.encode(encoding).decode("latin-1").encode()
    assert decode(saved) == (misread, ())
    assert decode_document(b"<p>" + saved) == f"<p>{misread}"


@pytest.mark.parametrize(
    "text",
    [
        "Hélène’s «fête» où l’été… É’ Ã© Ã© Ã© ä",
        "Er aß» und ließ» und saß»… daß»",
        "Three signs: Ã© alone.",
    ],
)
def test_what_only_looks_encoded_twice_stays(text: str) -> None:
    assert decode(text.encode()) == (text, ())


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (_FRENCH, "cp1252"),
        (_ENGLISH, "cp1252"),
        (_GERMAN, "cp1252"),
        ("Мальчик увидел звезду над лесом.", "cp1251"),
    ],
)
@pytest.mark.parametrize("shares", [(5, 5), (40, 9), (3, 12)])
def test_files_in_two_encodings_that_were_joined(text: str, encoding: str, shares: tuple[int, int]) -> None:
    newer, older = shares
    lines = [*[text.encode()] * newer, *[text.encode(encoding)] * older, b"", text.encode()]
    assert decode(b"\r\n".join(lines)) == ("\r\n".join([*[text] * (newer + older), "", text]), ())


def test_a_file_of_no_encoding_is_refused_though_some_lines_could_be_read() -> None:
    cut = [_FRENCH.encode()[at : at + 60] for at in range(0, 300, 61)]
    noise = bytes(range(0x80, 0x100)) * 2
    with pytest.raises(BookError, match="how the letters"):
        decode(b"\n".join([*cut, *[noise] * 50]))


@pytest.mark.parametrize("is_whole", [True, False])
def test_vietnamese_of_windows_has_its_tones_apart(is_whole: bool) -> None:
    told = "Trăm năm trong cõi người ta, chữ tài chữ mệnh khéo là ghét nhau. Trải qua một cuộc bể dâu, những điều."
    data = bytearray()
    for letter in told:
        base, *marks = list(unicodedata.normalize("NFD", letter))
        shape = unicodedata.normalize("NFC", base + "".join(mark for mark in marks if mark in "\u0302\u0306\u031b"))
        tones = "".join(mark for mark in marks if mark not in "\u0302\u0306\u031b")
        written = letter if is_whole and letter in "àáèéíóùú" else shape + tones
        data += written.encode("cp1258")
    assert unicodedata.normalize("NFC", decode(bytes(data))[0]) == told
