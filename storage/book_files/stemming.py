"""The stemmers of the Snowball project, each made when a book in its language is written or opened."""

from collections.abc import Callable
from functools import cache
from threading import Lock

from domain.library.search.languages import DEFAULT_ANALYZER, LANGUAGES, Analyzer, analyzer_for, language_name


@cache
def find_analyzer(language: str) -> Analyzer:
    """The analyzer for a language by its code; the default one for English and where the code names none."""
    if language == "en" or language not in LANGUAGES:
        return DEFAULT_ANALYZER
    return analyzer_for(language, _algorithm(language_name(language)))


def _algorithm(name: str) -> Callable[[str], str]:
    """One of Snowball's algorithms. It keeps the word it works on in itself, so one thread at a time may use it."""
    import snowballstemmer  # type: ignore[import-untyped] # without its compiled half it brings thirty modules along

    stem_word: Callable[[str], str] = snowballstemmer.stemmer(name).stemWord
    lock = Lock()

    def stem(word: str) -> str:
        with lock:
            return stem_word(word)

    return stem
