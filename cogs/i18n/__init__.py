"""The bot's texts in all its languages: English in the code, others in one catalogue each."""

from cogs.i18n.speech import (
    LANGUAGES,
    CatalogueTranslator,
    Speech,
    catalogues_digest,
    choose_language,
    language_name,
    later,
    set_languages,
    speech_for,
    speech_for_all,
    speech_in,
    speech_of,
)

__all__ = [
    "LANGUAGES",
    "CatalogueTranslator",
    "Speech",
    "catalogues_digest",
    "choose_language",
    "language_name",
    "later",
    "set_languages",
    "speech_for",
    "speech_for_all",
    "speech_in",
    "speech_of",
]
