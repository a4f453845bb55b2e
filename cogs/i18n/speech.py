"""Texts in the language of whoever reads them.

Every text stands in the code in English, as the first argument of a call of a `Speech` (by convention named `say`), and
is its own key in the catalogues. A test collects them all and compares.
"""

import re
from collections.abc import Mapping
from string import Formatter
from typing import Any

import discord
from discord import Locale, app_commands
from discord.app_commands import TranslationContextLocation as Location
from discord.app_commands import TranslationContextTypes, locale_str

from cogs.i18n.german import GERMAN, GERMAN_ANSWERS, GERMAN_COMMANDS, GERMAN_ERRORS
from domain.errors import MarginaliaError, StorageErrorCode

CATALOGUES: dict[discord.Locale, Mapping[str, str]] = {
    discord.Locale.german: GERMAN | GERMAN_ANSWERS | GERMAN_COMMANDS,
}
ERRORS: dict[discord.Locale, Mapping[type[str], Mapping[str, str]]] = {discord.Locale.german: GERMAN_ERRORS}

_FOLDERS = re.compile(r"(?<!\S)/.*/")
"""In which folder a file is kept is told to whoever runs the bot, by `marginalia check`; readers are told its name."""


class CommaNumbers(Formatter):
    """Formats numbers as German does: 1.234,5."""

    def format_field(self, value: object, format_spec: str) -> str:
        shown = str(super().format_field(value, format_spec))
        return shown.translate(_SWAPPED) if isinstance(value, (int, float)) else shown


_SWAPPED = str.maketrans(",.", ".,")
FORMATTERS: dict[discord.Locale, Formatter] = {discord.Locale.german: CommaNumbers()}


class Speech:
    """One language. Call it with an English text and the values of its {placeholders}."""

    def __init__(self, locale: discord.Locale) -> None:
        self._texts = CATALOGUES.get(locale, {})
        self._errors = ERRORS.get(locale, {})
        self._formatter = FORMATTERS.get(locale, Formatter())

    def __call__(self, text: str, /, **values: object) -> str:
        return self._formatter.vformat(self._texts.get(text, text), (), values)

    def counted(self, number: int, one: str, many: str, /, **values: object) -> str:
        """The form of a text that fits a number, which is its {number}."""
        return self(one if number == 1 else many, number=number, **values)

    def failure(self, code: str, message: str) -> str:
        """A failure's sentence. In another language than English the gist comes first, the full sentence small below.

        `code` is the failure's own, an error code of the domain where it has one.
        """
        if isinstance(code, StorageErrorCode):
            message = _FOLDERS.sub("", message)
        gist = self._errors.get(type(code), {}).get(code)
        return f"{gist}\n-# {message}" if gist else message

    def error(self, error: MarginaliaError) -> str:
        return self.failure(error.code, error.message)


_SPEECHES = {locale: Speech(locale) for locale in discord.Locale}


def speech_for(locale: discord.Locale) -> Speech:
    """Locales that Discord adds and the library does not know yet are read as English."""
    return _SPEECHES.get(locale) or _SPEECHES[discord.Locale.american_english]


def speech_of(interaction: discord.Interaction[Any]) -> Speech:
    """The language of the person who uses a command or presses a button."""
    return speech_for(interaction.locale)


def speech_in(guild: discord.Guild) -> Speech:
    """The language of a guild, for what is read by all: messages do not tell their author's."""
    return speech_for(guild.preferred_locale)


def later(text: str) -> str:
    """Mark a text that is said elsewhere, by a Speech that is handed it as a value."""
    return text


NAMES = frozenset({Location.command_name, Location.group_name, Location.parameter_name})
"""What is typed stays as it is in every language, so that a command can be told to anybody."""


class CatalogueTranslator(app_commands.Translator):
    """Descriptions and choices in every language there is a catalogue for."""

    async def translate(self, string: locale_str, locale: Locale, context: TranslationContextTypes) -> str | None:
        if context.location in NAMES:
            return None
        return CATALOGUES.get(locale, {}).get(string.message)
