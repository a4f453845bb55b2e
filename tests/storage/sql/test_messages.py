"""Messages as earlier versions kept them."""

from domain.spoilers.filter import spans
from storage.sql.rows import _as_spans

NOTE = "\n\n-# A part of this answer is hidden, as it seems to name something that comes later than you have read."


def test_what_version_0_1_hid_stays_hidden() -> None:
    shown = [*spans(_as_spans(f"He came. ||It was Lucian.|| It rained.{NOTE}"))]
    assert [(span.text, span.is_hidden) for span in shown] == [
        ("He came. ", False),
        ("It was Lucian.", True),
        (" It rained.", False),
    ]


def test_bars_of_other_answers_are_bars() -> None:
    assert _as_spans("a || b || c") == "a || b || c"
