"""What the bot says, in the languages it knows: English in the code, others in a catalogue each."""

from cogs.translation.speech import Speech, later, speech_for, speech_in, speech_of
from cogs.translation.translator import CatalogueTranslator

__all__ = ["CatalogueTranslator", "Speech", "later", "speech_for", "speech_in", "speech_of"]
