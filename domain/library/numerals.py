"""Numbers as books print them: 5, V, five, fünftes, quinto, пятая, 五, ٥."""

import re
import unicodedata
from functools import lru_cache

_WORDS = {
    1: "one first ein eine eins erst premier première un une primero primera primer uno una primo prima primeiro "
    "primeira um uma один одна перв först eerst første",
    2: "two second zwei zweit deux deuxième seconde segundo segunda dos secondo seconda due dois два две втор andra "
    "tweede anden",
    3: "three third drei dritt trois troisième tercero tercera tercer tres terzo terza tre terceiro terceira три трет "
    "tredje derde",
    4: "four fourth vier viert quatre quatrième cuarto cuarta cuatro quarto quarta quattro четыре четверт четвёрт "
    "fjärde vierde",
    5: "five fifth fünf fünft cinq cinquième quinto quinta cinco cinque пять пят femte vijfde",
    6: "six sixth sechs sechst sixième sexto sexta seis sesto sesta sei шесть шест sjätte zesde",
    7: "seven seventh sieben siebent siebt sept septième séptimo séptima septimo septima siete settimo settima sette "
    "sétimo sétima sete семь седьм sjunde zevende",
    8: "eight eighth acht huit huitième octavo octava ocho ottavo ottava otto oitavo oitava oito восемь восьм åttonde "
    "achtste",
    9: "nine ninth neun neunt neuf neuvième noveno novena nono nona nueve nove девять девят nionde negende",
    10: "ten tenth zehn zehnt dix dixième décimo décima decimo decima diez dieci dez десять десят tionde tiende",
    11: "eleven eleventh elf elft onze onzième undécimo undécima undecimo undecima once undicesimo undicesima undici "
    "одиннадцать одиннадцат elfde",
    12: "twelve twelfth zwölf zwölft douze douzième duodécimo duodécima doce dodicesimo dodicesima dodici doze "
    "двенадцать двенадцат twaalfde",
    13: "thirteen thirteenth dreizehn dreizehnt treize treizième trece tredicesimo tredici treze тринадцать тринадцат",
    14: "fourteen fourteenth vierzehn vierzehnt quatorze quatorzième catorce quattordicesimo quattordici catorze "
    "четырнадцать четырнадцат",
    15: "fifteen fifteenth fünfzehn fünfzehnt quinze quinzième quince quindicesimo quindici пятнадцать пятнадцат",
    16: "sixteen sixteenth sechzehn sechzehnt seize seizième dieciséis sedicesimo sedici dezesseis шестнадцать "
    "шестнадцат",
    17: "seventeen seventeenth siebzehn siebzehnt diecisiete diciassettesimo diciassette dezessete семнадцать "
    "семнадцат",
    18: "eighteen eighteenth achtzehn achtzehnt dieciocho diciottesimo diciotto dezoito восемнадцать восемнадцат",
    19: "nineteen nineteenth neunzehn neunzehnt diecinueve diciannovesimo diciannove dezenove девятнадцать девятнадцат",
    20: "twenty twentieth zwanzig zwanzigst vingt vingtième vigésimo vigésima veinte ventesimo ventesima venti vinte "
    "двадцать двадцат",
    30: "thirty thirtieth dreißig dreißigst dreissig dreissigst trente trentième trigésimo trigésima treinta "
    "trentesimo trenta trinta тридцать тридцат",
    40: "forty fortieth vierzig vierzigst quarante quarantième cuadragésimo cuarenta quarantesimo quaranta quarenta "
    "сорок сороков",
    50: "fifty fiftieth fünfzig fünfzigst cinquante cinquantième quincuagésimo cincuenta cinquantesimo cinquanta "
    "пятьдесят пятидесят",
    60: "sixty sixtieth sechzig sechzigst soixante soixantième sesenta sessanta sessenta шестьдесят шестидесят",
    70: "seventy seventieth siebzig siebzigst setenta settanta семьдесят семидесят",
    80: "eighty eightieth achtzig achtzigst ochenta ottanta oitenta восемьдесят восьмидесят",
    90: "ninety ninetieth neunzig neunzigst noventa novanta девяносто",
    100: "hundred hundredth hundert hundertst cent centième ciento cien centesimo cento сто сот",
}
_VALUE_OF = {word: value for value, words in _WORDS.items() for word in words.split()}
_JOINTS = frozenset("and und et y e i".split())  # noqa: SIM905
_ENDINGS = (
    "", "e", "er", "es", "en", "em", "te", "ter", "tes", "ste", "ster", "stes", "ая", "ый", "ой", "ое", "ья", "ий",
    "ье", "ого", "а", "s", "o", "a",
)  # fmt: skip
_LONGEST_ENDING = 4
_PART = re.compile(r"[^\W\d_]+")

ROMAN = r"(?=[MDCLXVI])M{0,3}(?:CM|CD|D?C{0,4})(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})"
"""A pattern for Roman numerals, in capitals unless case is ignored; old books print IIII."""
_ROMAN = re.compile(ROMAN, re.IGNORECASE)
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}

HAN = "〇零一二三四五六七八九十百千廿壱弐参"
"""The characters of Chinese and Japanese numbers."""
_HAN_DIGITS = {
    **{digit: value for value, digit in enumerate("〇一二三四五六七八九")},
    "零": 0,
    "壱": 1,
    "弐": 2,
    "参": 3,
}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000}


@lru_cache(maxsize=8_192)
def number_value(printed: str) -> int | None:
    """The value of a printed number: 5 for "5", "V", "five", "Fünftes", "五" in "第五"; None if it is no number."""
    text = printed.strip(" .:()[]—–-")
    if not text or len(text) > 60:
        return None
    if text.isdecimal():
        return int("".join(str(unicodedata.decimal(digit)) for digit in text[:6]))
    if _ROMAN.fullmatch(text):
        return _roman_value(text.upper())
    if all(character in HAN for character in text):
        return _han_value(text)
    return _value_in_words(text.casefold())


def _roman_value(numeral: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in numeral]
    following = [*values[1:], 0]
    return sum(-value if value < after else value for value, after in zip(values, following, strict=True))


def _han_value(characters: str) -> int:
    if not any(character in _HAN_UNITS or character == "廿" for character in characters):
        return int("".join(str(_HAN_DIGITS[character]) for character in characters[:6]))
    total = current = 0
    for character in characters:
        if unit := _HAN_UNITS.get(character):
            total, current = total + (current or 1) * unit, 0
        elif character == "廿":
            total += 20
        else:
            current = _HAN_DIGITS[character]
    return total + current


def _value_in_words(text: str) -> int | None:
    """The sum of the words: twenty-first, vingt et unième, einundzwanzigstes, двадцать первая."""
    words = _PART.findall(text)
    if not words or words[0] in _JOINTS or len(words) > 5:
        return None
    total, joined = 0, True
    for word in words:
        if word in _JOINTS:
            joined = True
            continue
        value = _word_value(word)
        if value is None:
            return None
        if (total, value) == (4, 20) or (value == 100 and 0 < total < 10):
            total *= value
        elif joined or (total % 10 == 0 and total > 10 and value < 20):
            total += value
        else:
            return None
        joined = False
    return total


def _word_value(word: str) -> int | None:
    value = _simple_value(word)
    if value is not None:
        return value
    units, joint, tens = word.partition("und")  # einundzwanzig
    if joint and (first := _simple_value(units)) is not None and (second := _simple_value(tens)) is not None:
        return first + second
    for ten in ("twenty", "thirty", "forty", "fifty", "venti", "trenta", "quaranta"):
        if word.startswith(ten) and (rest := _simple_value(word[len(ten) :])) is not None:
            return _VALUE_OF[ten] + rest
    return 1 if word in ("unième", "unieme") else None


def _simple_value(word: str) -> int | None:
    if word in _VALUE_OF:
        return _VALUE_OF[word]
    for length in range(1, _LONGEST_ENDING + 1):
        if word[-length:] in _ENDINGS and (value := _VALUE_OF.get(word[:-length])) is not None and len(word) > 4:
            return value
    return None


def stands_spelt(number: int, text: str) -> bool:
    """Whether an English text, in small letters, has a number below a hundred in words: "thirty-eight"."""
    tens, ones = number - number % 10, number % 10
    if number in _WORDS:
        ways = "|".join(_WORDS[number].split()[:2])
    elif tens in _WORDS and ones in _WORDS:
        [ten, *_], [one, *_] = _WORDS[tens].split(), _WORDS[ones].split()
        ways = rf"{ten}[\s-]{one}|{one}[\s-]and[\s-]{ten}"
    else:
        return False
    return re.search(rf"\b(?:{ways})\b", text) is not None
