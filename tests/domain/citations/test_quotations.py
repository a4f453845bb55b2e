"""What stands in quotation marks stands in the book."""

import re

import pytest

from domain.citations.keys import fold
from domain.citations.quotations import LONGEST, Quotations
from tests.domain.turn.passages import TEXT, stands_in_book


async def checked(text: str, made: Quotations | None = None) -> str:
    return "".join(piece.text for piece in await (made or quotations()).check(text))


def quotations() -> Quotations:
    made = Quotations(stands_in_book)
    made.learn(TEXT)
    return made


@pytest.mark.parametrize(
    "text",
    [
        "“Ann kept the light for forty years”",
        '"ann kept the LIGHT for forty years."',
        "«In 1911 the Perpetua struck the rocks»",
        "“Ann kept the light … Nobody knew why the lamp”",
        "“Perpetua” and 'the rocks' and \"lamp\", rock 'n' roll, 'a' and “12”, {\"page\": [\"x\"]}",
        "‘Ann kept the light for forty years’",
        "'Ann kept the light for forty years,' it says",
        "»In 1911 the Perpetua struck the rocks«",
        "„In 1911 the Perpetua struck the rocks“",
        "“In 1911 the *Perpetua* [a ship] struck the rocks”",
        "‘Ann kept the light for forty years. “I never let it go out,” she said.’",
        "> In 1911 the Perpetua struck the rocks below.\n> — p. 13\n",
        "“Ann kept the light for forty years.\n\n“In 1911 the Perpetua struck the rocks below.”",
        "the sailors' boats and the keepers' house don't count, 'tis all one",
        "no quotation at all",
        'He stood 6\'2" there, and she 5\'4" in her shoes.\n"Ann kept the light for forty years", 6\'2"',
    ],
)
async def test_true_quotations_are_left_alone(text: str) -> None:
    assert await checked(text) == text


async def test_brackets_that_the_book_itself_has_are_its_words() -> None:
    made = quotations()
    made.learn("He came in [by the old kitchen door, slowly] and sat down.")
    true = "“He came in [by the old kitchen door, slowly] and sat down”"
    false = "“He came in [by the new front window, slowly] and sat down”"
    assert await checked(true, made) == true
    assert await checked(false, made) == false.strip("“”")
    assert [piece.quoted for piece in await made.check(true)] == [True]


async def test_a_false_quotation_keeps_its_words_and_loses_its_marks() -> None:
    assert (
        await checked("He wrote “the lamp was never dark at all” there.")
        == "He wrote the lamp was never dark at all there."
    )


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("‘It was never dark at all’ it says", "It was never dark at all it says"),
        ("'It was never dark at all' it says", "It was never dark at all it says"),
        ("„Es war niemals ganz dunkel“ steht da", "Es war niemals ganz dunkel steht da"),
        ("»It was never dark at all«", "It was never dark at all"),
        ("> It was never dark at all.\nSo it says.", "It was never dark at all.\nSo it says."),
        ("“It was never dark at all.\nSo", "It was never dark at all.\nSo"),
        ("“He said “Ann kept the light” to me”", "He said “Ann kept the light” to me"),
        ("“Ann kept the light … for a hundred years”", "Ann kept the light … for a hundred years"),
        ("“Let it burn”", "Let it burn"),
        ("the “so-called lamp”, 'a thief' and \"murder\"", "the so-called lamp, a thief and murder"),
        ("“ramp”, „Leuchtturm“", "ramp, Leuchtturm"),
        ("「灯台の明かりはその夜消えていた」", "灯台の明かりはその夜消えていた"),
    ],
)
async def test_other_marks_are_a_promise_too(typed: str, shown: str) -> None:
    assert await checked(typed) == shown


MARKS = """“…” "…" ‘…’ '…' „…“ „…” ‚…‘ «…» »…« »…» ‹…› 「…」 『…』 ”…” “…" „…" ＂…＂ ❝…❞
    〝…〟 ‟…” ″…″ ״…״ ``…'' ''…'' &quot;…&quot;
"""


@pytest.mark.parametrize("marks", [*MARKS.split(), "<q>…</q>", '"""…"""'])
async def test_whatever_its_marks_a_quotation_is_checked(marks: str) -> None:
    true, false = (
        f"It says {marks.replace('…', words)} there." for words in ("In 1911 the Perpetua", "He let it burn")
    )
    assert await checked(true) == true
    assert await checked(false) == "It says He let it burn there."
    assert all(quotations().open_at(false[:length]) <= 8 for length in range(9 + marks.index("…"), 22))


@pytest.mark.parametrize(
    "words",
    [
        "Nobody knew why the lamp … Ann kept the light",
        "Ann … the … years … struck … the",
        "Ann kept the light … tomorrow",
        "Ann kept the light for forty years [and then she sold it]",
        "[a lie]",
        "Ann kept the light\nfor sixty years",
        "Ann kept the light for forty years … 38",
    ],
)
async def test_pieces_of_the_book_do_not_make_a_quotation(words: str) -> None:
    assert "“" not in await checked(f"So “{words}”.")


async def test_a_quotation_may_run_over_lines_and_have_its_own_inner_marks() -> None:
    made = quotations()
    made.learn("He said “No, never” and left.")
    text = "“Ann kept the light\nfor forty years”, “He said ‘No, never’ and left”"
    assert await checked(text, made) == text


@pytest.mark.parametrize(
    "text",
    [
        "“Ann kept the light (p. 38)”",
        "“Ann [38] kept the light”",
        "> Ann kept the light (p. 38)\n",
        "> Ann kept the light\n> — Ann, 38\n",
    ],
)
async def test_a_number_added_to_a_quotation_is_not_the_books(text: str) -> None:
    pieces = await quotations().check(text)
    assert "".join(piece.text for piece in pieces) == text
    assert [piece.quoted for piece in pieces if "38" in piece.text] == [False]


@pytest.mark.parametrize(
    "typed",
    [
        "She says *I never let it burn* to Ben.",
        "She told him: **“I never let it burn”**.",
        "Ann said to Ben, _I never let it burn_.",
        "Ann sagte: `I never let it burn`.",
        "Ann says 《I never let it burn》.",
        "Ann: *I never let it burn*",
        "So [quote]I never let it burn[/quote].",
        '```\n"I never let it burn"\n```',
    ],
)
async def test_emphasis_behind_a_word_of_saying_is_a_promise_too(typed: str) -> None:
    true = typed.replace("I never let it burn", "I never let it go out")
    plain = re.sub(r'[*_“”《》"]|(?<!`)`(?!`)|\[/?quote\]', "", typed)
    assert (await checked(typed), await checked(true)) == (plain, true)
    begins = typed.index("I never")
    assert all(quotations().open_at(typed[: begins + size]) < begins for size in range(1, 15)), "it waits for its end"


@pytest.mark.parametrize(
    "text",
    [
        "It says `print('x')`, `s = \"it is not so\"`, `git commit -m 'not in the book'` and ``it's 'x'``.",
        "```\n```\nHere:\n```py\n```\n~~~\n~~~",
        "```\nx = 'not in the book'\n```\n~~~sh\necho \"not in the book\"\n~~~\n",
        "She says *no*, *never again*, that *the lamp was never dark*, and *The Long Night of the Lamp* is a book.",
        "The **keeper of the lamp** reads *The Light of the North* and saw it in 《灯》: *not in the book at all*.",
        "Note: **Ann never kept any light**. Ann: *not me*. Title: 《My Lamp》.",
    ],
)
async def test_code_and_other_emphasis_stay_as_typed(text: str) -> None:
    assert await checked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "*Never* [{0}]. *The Long Night of the Lamp* [{0}]. He did it *for the money* [{0}].",
        "**Ben sold the lamp to the mate.** [{0}]\n- **Ben:** the mate [{0}]\n### *Ben sells it* [{0}]",
        "Ann says what *I never let it go out* [{0}] says. Ann ist *die einzige, die es je gehütet hat* [{0}].",
        "It is *Me Before You* [{0}]. Ann kept it — *for forty years* [{0}] — alone.",
        "The answer: **Ben sold the lamp to the mate** [{0}]. Ann (*the keeper of the light*) [{0}] stayed.",
        "*Ann kept the light for forty years.* [{0}] `Ann kept the light for forty years` [{0}]",
        "```\n- 1911: the wreck\n- 1912: Ben leaves\n```\n[{0}]",
        "```\nAnn kept the light for forty years.\n```\n[{0}]",
        "```\nThe lamp was never dark at all.\n```\nSo it is [{0}].",
    ],
)
async def test_emphasis_beside_a_key_that_claims_or_is_true_keeps_it(text: str) -> None:
    keyed = text.format("s-1234567")
    pieces = await quotations().check(keyed)
    assert "".join(piece.text for piece in pieces) == keyed
    assert not any(piece.refused for piece in pieces)


async def test_a_quotation_that_is_true_is_known_as_one() -> None:
    pieces = await quotations().check("So “Ann kept the light for forty years” and “never at all in my life”.")
    assert [piece.text for piece in pieces if piece.quoted] == ["“Ann kept the light for forty years”"]


async def test_a_quotation_that_is_false_is_marked_where_it_ends() -> None:
    pieces = await quotations().check("So “let it burn” it says.")
    assert [(piece.text, piece.refused) for piece in pieces] == [
        ("So ", False),
        ("let it burn", False),
        ("", True),
        (" it says.", False),
    ]


async def test_a_reader_may_be_quoted() -> None:
    made = quotations()
    made.learn_reader("Does the lamp go out in the end?")
    assert await checked("You asked: “Does the lamp go out”?", made) == "You asked: “Does the lamp go out”?"


async def test_keys_and_references_within_a_quotation_do_not_make_it_false() -> None:
    text = "“Ann kept the light [s-0a1b2c3] for forty years (p. 12)”"
    assert await checked(text) == text


async def test_a_quotation_the_model_was_not_given_is_looked_up_in_the_book() -> None:
    made = Quotations(stands_in_book)
    assert await checked("“struck the rocks below. Nobody”", made) == "“struck the rocks below. Nobody”"


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("all closed “here”", 17),
        ("and “open", 4),
        ("an “old\nparagraph", 3),
        ("an “old\n\nparagraph", 18),
        ('odd "quote', 4),
        ("", 0),
        ("it’s ‘open", 5),
        ("the sailors' 'open", 13),
        ("'tis late", 9),
        ("yes\n> a line\n> more", 4),
        ("> a line\nmore", 13),
        ("1 > 0 and", 9),
    ],
)
def test_an_open_quotation_is_held_back_from_its_mark_on(text: str, at: int) -> None:
    assert quotations().open_at(text) == at


def test_a_quotation_that_never_ends_is_not_held_back_for_ever() -> None:
    text = "“" + "word " * LONGEST
    assert quotations().open_at(text) == len(text)


def test_folding_makes_typography_alike() -> None:
    assert fold("“It’s  so—ﬁne…”") == '"it\'s so-fine..."'


@pytest.mark.parametrize("title", ["“Bring Lucy Here”", '"Count Vlad Dracula"', "«Return on the Ebb»"])
async def test_capitals_make_no_exception(title: str) -> None:
    assert await checked(f"The chapter {title} tells of it.") == f"The chapter {title[1:-1]} tells of it."
