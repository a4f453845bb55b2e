"""discord.py's translator over the catalogues: what Discord shows of the commands themselves."""

from discord import Locale, app_commands
from discord.app_commands import TranslationContextLocation as Location
from discord.app_commands import TranslationContextTypes, locale_str

from cogs.translation.speech import CATALOGUES

NAMES = frozenset({Location.command_name, Location.group_name, Location.parameter_name})
"""What is typed stays as it is in every language, so that a command can be told to anybody."""


class CatalogueTranslator(app_commands.Translator):
    """Descriptions and choices in every language there is a catalogue for."""

    async def translate(self, string: locale_str, locale: Locale, context: TranslationContextTypes) -> str | None:
        if context.location in NAMES:
            return None
        return CATALOGUES.get(locale, {}).get(string.message)
