"""Texts in the reader's language.

Every text is in the code in English, as the first argument of a `Speech` (by convention named `say`), and is its own
key in the catalogues, `locale/*.po`. A test collects the texts and compares.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from io import BytesIO
from itertools import accumulate
from string import Formatter
from typing import Any

import babel
import discord
from babel.dates import format_date, format_time, format_timedelta
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from discord import Locale, app_commands
from discord.app_commands import TranslationContextLocation as Location
from discord.app_commands import TranslationContextTypes, locale_str

from domain.errors import MarginaliaError, StorageError, StorageErrorCode, Worded, listed
from domain.library.search.languages import PLAINLY, language_evidence
from domain.library.search.words import words_of
from domain.use_cases import UseCases

LANGUAGES: dict[discord.Locale, str] = {discord.Locale.german: "de"}
"""The languages with a catalogue, by the name of its file."""

_FOLDERS = re.compile(r"(?<!\S)/.*/")
"""Only the operator is told the folder of a file, by `marginalia check`; readers are told its name."""
_SWAPPED = str.maketrans(",.", ".,")
_LATELY = timedelta(days=1)
"""How long people say that something was hours ago, before they name the day."""
LISTED_LENGTH = 900
"""Characters of a list; a field of a card holds 1024, and has other words beside some lists."""
_CHOSEN: dict[int, discord.Locale] = {}
"""The languages that servers' managers have chosen; set at the start of the bot and with each choice."""
NAMES = frozenset({Location.command_name, Location.group_name, Location.parameter_name})
"""What people type is the same in every language, so that they can tell each other commands. Menus are not typed."""


@cache
def read_catalogue(language: str) -> Catalog:
    """The catalogue as in its file. The short forms of failures have the name of their class as context."""
    return read_po(BytesIO(_bytes_of(language)), locale=language)


@cache
def catalogues_digest() -> str:
    """Changes whenever a catalogue does."""
    return hashlib.sha256(b"".join(map(_bytes_of, LANGUAGES.values()))).hexdigest()


def _bytes_of(language: str) -> bytes:
    return (files(__package__) / "locale" / f"{language}.po").read_bytes()


@cache
def _translations(locale: discord.Locale) -> NullTranslations:
    if locale not in LANGUAGES:
        return NullTranslations()
    compiled = BytesIO()
    write_mo(compiled, read_catalogue(LANGUAGES[locale]))
    compiled.seek(0)
    return GNUTranslations(compiled)


class CommaNumbers(Formatter):
    """Formats numbers in the German way: 1.234,5."""

    def format_field(self, value: object, format_spec: str) -> str:
        shown = str(super().format_field(value, format_spec))
        return shown.translate(_SWAPPED) if isinstance(value, (int, float)) else shown


FORMATTERS: dict[discord.Locale, Formatter] = {discord.Locale.german: CommaNumbers()}


class Speech:
    """One language. Call it with an English text and the values of its {placeholders}."""

    def __init__(self, locale: discord.Locale) -> None:
        self._translations = _translations(locale)
        self._catalogue = read_catalogue(LANGUAGES[locale]) if locale in LANGUAGES else None
        self._formatter = FORMATTERS.get(locale, Formatter())
        american = locale is discord.Locale.american_english
        self._dates = LANGUAGES.get(locale, "en_US" if american else "en_GB")
        """How dates are written: texts in English are read by many others than Americans, who put the day first."""

    def __call__(self, text: str, /, **values: object) -> str:
        return self._formatter.vformat(self._translations.gettext(text), (), values)

    def counted(self, number: int, one: str, many: str, /, **values: object) -> str:
        """The form of a text for a number, which fills its {number}."""
        text = self._translations.ngettext(one, many, number)
        return self._formatter.vformat(text, (), {"number": number, **values})

    def day(self, moment: datetime) -> str:
        """The date, where Discord shows no timestamps; in UTC, because nobody's time zone is known."""
        return format_date(moment.astimezone(UTC), "long", locale=self._dates)

    def minute(self, moment: datetime) -> str:
        """The date and the time, in UTC."""
        time = format_time(moment.astimezone(UTC).timetz(), "short", locale=self._dates)
        return f"{self.day(moment)}, {time} UTC"

    def ago(self, moment: datetime) -> str:
        """How long ago it was, for as long as people say so; empty once they name the day."""
        passed = datetime.now(UTC) - moment
        if passed >= _LATELY:
            return ""
        return format_timedelta(-passed, granularity="minute", add_direction=True, locale=self._dates)

    def listed(self, parts: Sequence[str]) -> str:
        """As many of the parts as fit into a field of a card, and how many more there are; empty without parts."""
        ends = accumulate(len(f"{part}, ") for part in parts)
        shown = [part for part, end in zip(parts, ends, strict=True) if end <= LISTED_LENGTH]
        told = listed(shown, len(parts) - len(shown)) if shown else ""
        return self.sentence(told) if isinstance(told, Worded) else told

    def failure(self, code: str, message: str) -> str:
        """A failure's sentence in this language; where the catalogue does not have it, the gist of its code.

        `code` is the failure's own, an error code of the domain where it has one.
        """
        if code is StorageErrorCode.UNREACHABLE:
            return self(later("I can't get at my notes just now. Please try again in a minute."))
        gist = self._translations.pgettext(type(code).__name__, str(code))
        is_kept = isinstance(code, StorageErrorCode)
        told = self._worded(message) or (message if gist == str(code) else gist)
        return _FOLDERS.sub("", told) if is_kept else told

    def sentence(self, text: str) -> str:
        """A sentence of the domain in this language; as it is if the catalogue does not have it."""
        return self._worded(text) or text

    def error(self, error: MarginaliaError) -> str:
        return self.failure(error.code, error.message)

    def _worded(self, text: str) -> str:
        """The text of an error, with the values in it; empty where the catalogue does not have it."""
        if not isinstance(text, Worded):
            translated = self._translations.gettext(text)
            return "" if translated == text else translated
        if self._catalogue is None or text.template not in self._catalogue:
            return ""
        translated = self._translations.gettext(text.template)
        values = {
            name: (self._worded(value) or value) if isinstance(value, Worded) else value
            for name, value in text.fields.items()
        }
        return self._formatter.vformat(translated, (), values)


_SPEECHES = {locale: Speech(locale) for locale in discord.Locale}
ENGLISH = _SPEECHES[discord.Locale.american_english]


def speech_for(locale: discord.Locale) -> Speech:
    """The texts for a locale; locales that the library does not know yet are served in English."""
    return _SPEECHES.get(locale, ENGLISH)


def speeches_in_all_languages() -> Sequence[Speech]:
    """The texts in each language, English first."""
    return [speech_for(each) for each in (discord.Locale.american_english, *LANGUAGES)]


def speech_of(interaction: discord.Interaction[Any]) -> Speech:
    """The language of the person who uses a command or presses a button."""
    return speech_for(interaction.locale)


def set_languages(codes: Mapping[int, str]) -> None:
    """Use these languages, by Discord's codes, in these servers, and Discord's own setting in others."""
    _CHOSEN.clear()
    for server_id, code in codes.items():
        choose_language(server_id, code)


def choose_language(server_id: int, code: str) -> None:
    """Use a language, by Discord's code, in a server from now on; "" returns to Discord's setting."""
    if code:
        _CHOSEN[server_id] = discord.Locale(code)
    else:
        _CHOSEN.pop(server_id, None)


def speech_in(guild: discord.Guild) -> Speech:
    """The language of a server, for what everybody reads: messages do not tell their author's language."""
    return speech_for(_CHOSEN.get(guild.id, guild.preferred_locale))


async def direct_speech(use_cases: UseCases, person_id: str, written: str = "") -> Speech:
    """The language of a person's direct messages: that of the command by which they last started to talk there, or of
    the last command that they have used anywhere, or else the one in which they have `written`.
    """
    known = _locale_of(await use_cases.people.locale(person_id)) or _language_of(written)
    return speech_for(known or discord.Locale.american_english)


def last_direct_speeches(use_cases: UseCases, person_id: str, written: str = "") -> Sequence[Speech]:
    """The same without the database: all languages if that person's is not known."""
    known = _locale_of(use_cases.people.last_locale(person_id)) or _language_of(written)
    return [speech_for(known)] if known else speeches_in_all_languages()


def known_speeches_at(use_cases: UseCases, message: discord.Message) -> Sequence[Speech]:
    """The language to use where a message is, as far as it is known without the database; several if it is not."""
    if message.guild is not None:
        return [speech_in(message.guild)]
    return last_direct_speeches(use_cases, str(message.author.id), message.content)


async def speech_at(use_cases: UseCases, message: discord.Message) -> Speech:
    """The language to use where a message is: while the database is away, the one last known."""
    if message.guild is not None:
        return speech_in(message.guild)
    try:
        return await direct_speech(use_cases, str(message.author.id), message.content)
    except StorageError:
        return known_speeches_at(use_cases, message)[0]


def _language_of(text: str) -> discord.Locale | None:
    """The one of our languages that a message is in; None if its words tell none, or plainly another."""
    words = [word.lower() for word in words_of(text)]
    evidence, ours = Counter(language_evidence(words)), {discord.Locale.american_english: "en", **LANGUAGES}
    for locale, code in ours.items():
        say = speech_for(locale)  # people begin with these words, which tell a language as function words do
        greetings = say("hello hi hey good morning evening help please thanks thank").split()
        evidence[code] += sum(word in greetings for word in words)
    likeliest = max(ours, key=lambda locale: evidence[ours[locale]])
    is_told = 0 < evidence[ours[likeliest]] * PLAINLY >= max(evidence.values())
    return likeliest if is_told else None


def _locale_of(code: str | None) -> discord.Locale | None:
    return discord.Locale(code) if code in _LOCALES else None


_LOCALES = frozenset(locale.value for locale in discord.Locale)


def speech_for_all(interaction: discord.Interaction[Any]) -> Speech:
    """The language of a reply that everybody reads: the one chosen for the server, else the asker's."""
    chosen = _CHOSEN.get(interaction.guild_id or 0)
    return speech_of(interaction) if chosen is None else speech_for(chosen)


def language_name(code: str, locale: discord.Locale) -> str:
    """The name of a language, given by its code, in the locale's language; the code if the name is unknown."""
    try:
        return babel.Locale.parse(code).get_language_name(LANGUAGES.get(locale, "en")) or code
    except (babel.UnknownLocaleError, ValueError, TypeError):
        return code


def english_name(locale: discord.Locale) -> str:
    """The English name of a language, without its country."""
    try:
        return babel.Locale.parse(str(locale).split("-")[0]).english_name or ""
    except (babel.UnknownLocaleError, ValueError):
        return ""


def later(text: str) -> str:
    """Mark a text that is translated elsewhere, by a Speech that receives it as a value."""
    return text


class CatalogueTranslator(app_commands.Translator):
    """Descriptions and choices in every language with a catalogue."""

    async def translate(self, string: locale_str, locale: Locale, context: TranslationContextTypes) -> str | None:
        if locale not in LANGUAGES:  # discord.py asks for each text in each language it knows
            return None
        if context.location in NAMES and not isinstance(context.data, app_commands.ContextMenu):
            return None
        translated = _translations(locale).gettext(string.message)
        return translated if translated != string.message else None
