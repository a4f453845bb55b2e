"""The windows around sentences are what they are said to be, also for those who have not read the whole book."""

from array import array
from itertools import accumulate, pairwise

from hypothesis import given
from hypothesis import strategies as st

from domain.library.search.layout import WIDTHS, Windows

LENGTHS = st.lists(st.sampled_from([0, 1, 5, 18, 60, 300]), min_size=1, max_size=120)


def sentences_of(words: "array[int]", runs: list[int], sentence: int, width: int) -> range:
    """The window of a sentence, found by looking at every sentence of its chapter."""
    start, stop = next((a, b) for a, b in pairwise(runs) if a <= sentence < b)
    middle, half = (words[sentence] + words[sentence + 1]) // 2, width // 2
    whole = [i for i in range(start, stop) if words[i] >= middle - half and words[i + 1] <= middle + half]
    return range(min([*whole, sentence]), max([*whole, sentence]) + 1)


def check(windows: Windows, words: "array[int]", runs: list[int], asked: range) -> None:
    found = windows.of(asked)
    assert len(found) == len(WIDTHS)
    for width, (before, after) in zip(WIDTHS, found, strict=True):
        assert len(before) == len(after) == len(asked)
        for sentence, left, right in zip(asked, before, after, strict=True):
            window = sentences_of(words, runs, sentence, width)
            counted = words[window.stop] - words[window.start]
            assert words[sentence + right] - words[sentence - left] == counted


@given(LENGTHS, st.data())
def test_a_window_holds_the_whole_sentences_of_the_chapter_around_the_middle(
    lengths: list[int], data: st.DataObject
) -> None:
    words, runs = laid_out(lengths, data)
    windows = Windows(words, runs)
    for _ in range(2):
        first = data.draw(st.integers(0, len(lengths) - 1))
        check(windows, words, runs, range(first, data.draw(st.integers(first + 1, len(lengths)))))


@given(LENGTHS, LENGTHS, st.data())
def test_the_windows_of_what_has_been_read_do_not_depend_on_what_follows(
    lengths: list[int], others: list[int], data: st.DataObject
) -> None:
    words, runs = laid_out(lengths, data)
    whole = Windows(words, runs)
    whole.of(range(len(lengths)))
    kept = data.draw(st.integers(0, len(lengths)))
    clipped_words = array("I", accumulate([*lengths[:kept], *others], initial=0))
    clipped_runs = sorted({run for run in runs if run <= kept} | {len(clipped_words) - 1})
    clipped = whole.clipped(clipped_words, array("I", clipped_runs), kept)
    check(clipped, clipped_words, clipped_runs, range(len(clipped_words) - 1))


def laid_out(lengths: list[int], data: st.DataObject) -> tuple["array[int]", list[int]]:
    edges = data.draw(st.sets(st.integers(0, len(lengths)), max_size=4))
    return array("I", accumulate(lengths, initial=0)), sorted(edges | {0, len(lengths)})
