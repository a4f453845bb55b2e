"""What the bot says, in the languages it knows: English in the code, others in a catalogue each."""

from cogs.i18n.speech import CatalogueTranslator, Speech, language_name, later, speech_for, speech_in, speech_of

__all__ = ["CatalogueTranslator", "Speech", "language_name", "later", "speech_for", "speech_in", "speech_of"]
