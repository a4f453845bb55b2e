"""What a model knows by heart is found before it is shown."""

import pytest

from domain.agent.leak_gate import HIDDEN_NOTE, LeakGate
from domain.library.leaks import Leaks

READ = (
    "Marta came to the island on a Tuesday. The ferryman Hobb would not take her money, and Hobb was a poor man. "
    "It was a long way up to the light. "
)
UNREAD = (
    "She learned that Lucian Orchard had put the lamp out for his drowned brother. The Light was dark. "
    "It was a long way home."
)
LEAKS = Leaks.beyond(READ + UNREAD, len(READ))


@pytest.mark.parametrize(
    "sentence",
    [
        "It was Lucian.",
        "Perhaps ORCHARD did it?",
        "Somebody “put the lamp out” for money.",
        "He put the lamp out.",
        "That is Orchard’s doing.",
    ],
)
def test_names_and_runs_of_unread_text_are_found(sentence: str) -> None:
    assert LEAKS.found_in(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Hobb would not take her money.",
        "It was a long way, and Marta came on a Tuesday.",
        "She came by the ferry; nothing more is known so far.",
        "The light is up there.",
        "",
        "!?",
    ],
)
def test_what_was_read_or_is_anybodys_gives_nothing_away(sentence: str) -> None:
    assert not LEAKS.found_in(sentence)


def test_what_the_reader_brought_up_is_no_secret() -> None:
    assert not LEAKS.found_in("I find nothing about Lucian Orchard.", known="Who is Lucian Orchard?")


async def tells(sentence: str) -> bool:
    return LEAKS.found_in(sentence)


async def gated(*pieces: str) -> str:
    gate = LeakGate(tells)
    shown = [await gate.feed(piece) for piece in pieces]
    shown.append(await gate.finish())
    assert gate.text == "".join(shown)
    return gate.text


async def test_a_sentence_that_tells_too_much_is_hidden_and_the_others_are_not() -> None:
    shown = await gated("Marta came (p. 1). It wa", "s Lucian (p. 9). She", " paid.")
    assert shown == "Marta came (p. 1). ||It was Lucian (p. 9).|| She paid." + HIDDEN_NOTE


async def test_nothing_of_a_sentence_is_shown_before_it_has_been_looked_at() -> None:
    gate = LeakGate(tells)
    assert await gate.feed("It was Luc") == ""
    assert await gate.feed("ian.") == ""
    assert "||It was Lucian.||" in await gate.finish()


async def test_without_a_bound_all_passes_at_once() -> None:
    gate = LeakGate(None)
    assert await gate.feed("It was Luc") == "It was Luc"


async def test_a_spoiler_mark_inside_cannot_open_what_is_hidden() -> None:
    assert "||It was // Lucian.||" in await gated("It was || Lucian.")
