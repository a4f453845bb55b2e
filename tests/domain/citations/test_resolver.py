"""Page references are made by code, from sentences that were given, or not at all."""

import re
import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from domain.book import Citation, Sentence, references
from domain.citations.keys import in_language, key_of
from domain.citations.quotations import Quotations
from domain.citations.resolver import AnswerComposer
from domain.citations.symbols import lazily
from domain.tool_use import CitationMark, TextBlockEnd, TextChunk
from tests.domain.turn.passages import TEXT, cite, passage, sentences, stands_in_book

SOURCE = passage().source
KEYS = [key_of(sentence) for sentence in sentences()]


def composer() -> AnswerComposer:
    return AnswerComposer(cite, Quotations(stands_in_book), [passage()])


async def compose(*events: TextChunk | CitationMark | TextBlockEnd | str) -> tuple[str, AnswerComposer]:
    """Everything shown along the way, and the composer that showed it."""
    made = composer()
    shown = [await made.feed(TextChunk(e) if isinstance(e, str) else e) for e in events]
    return "".join([*shown, await made.finish()]), made


async def answered(question: str, answer: str) -> str:
    """What is shown of an answer to this question."""
    made = composer()
    made.learn_words(question)
    return await made.feed(TextChunk(answer)) + await made.finish()


@pytest.mark.parametrize("step", [1, 3, 7, 400])
async def test_a_reference_is_never_parted_from_its_number(step: int) -> None:
    text = " ".join(f"Then Ben reads pages {n} to {n + 9} and on page {n} he stops, see p. {n}." for n in range(10, 60))
    shown, _ = await compose(*(text[at : at + step] for at in range(0, len(text), step)))
    assert not any(letter.isdigit() for letter in shown)


@pytest.mark.parametrize("step", [1, 2, 5, 7, 400])
async def test_no_number_is_cut_in_two_where_too_much_is_held_back(step: int) -> None:
    text = "Here:\n\n    Letters burn ... 214\n" + "    event_ba = wait()\n" * 20
    shown, _ = await compose(*(text[at : at + step] for at in range(0, len(text), step)))
    assert not any(letter.isdigit() for letter in shown)


async def test_long_quotations_below_each_other_have_one_reference_each() -> None:
    line = f"> {' '.join(sentence.text for sentence in sentences())} {' '.join(f'[{key}]' for key in KEYS)}\n\n"
    shown, _ = await compose(*re.findall(r"\s*\S+", "This is it:\n\n" + line * 12))
    assert shown.count("(pp. 12-13)") == shown.count("(p") == 12, shown


@pytest.mark.parametrize("step", [1, 2, 5, 400])
async def test_a_share_waits_for_what_it_is_a_share_of(step: int) -> None:
    text = f"Ann kept the light. À 42 % des voix il gagne. So it was [{KEYS[0]}]."
    shown, _ = await compose(*(text[at : at + step] for at in range(0, len(text), step)))
    assert shown == "Ann kept the light (p. 12). À 42 % des voix il gagne. So it was (p. 12)."


async def test_the_last_letter_of_a_word_is_no_page() -> None:
    shown, _ = await compose("Step", " 1 of his plan is to sell it.", " Kitap", " 300 sayfa.")
    assert shown == "Step 1 of his plan is to sell it. Kitap 300 sayfa."


async def test_the_line_in_front_of_a_readers_message_is_not_repeated() -> None:
    shown, _ = await compose(*"So it ended. [Ann · has read to page 12 · 2026-11-24]\nHello! [see the note · 1999]")
    assert shown == "So it ended.\nHello! [see the note · 1999]"


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("**[Ann · has read to page 12 · 2026-11-24]**\nHello!", "\nHello!"),
        ("_[Ann · 2026-11-24]_\nHello!", "\nHello!"),
        ("It was **Ben**[Ann · 2026-11-24].", "It was **Ben**."),
        ("It was Ben. passage-1-20, passage-50-90", "It was Ben."),
    ],
)
async def test_nothing_is_left_of_that_line_in_bold_and_of_names_of_passages_in_a_row(said: str, left: str) -> None:
    shown, _ = await compose(*said)
    assert shown == left


async def test_what_is_shown_is_what_is_kept() -> None:
    shown, made = await compose("Ben kept ", "the boat.")
    assert shown == made.text == "Ben kept the boat."


async def test_a_sentence_that_repeats_the_book_needs_no_key() -> None:
    shown, made = await compose("It was so. Ann kept the light for forty years. “I never let it go out,” she said. So!")
    assert (
        shown == "It was so. Ann kept the light for forty years (p. 12). “I never let it go out,” she said (p. 12). So!"
    )
    assert [c.quote for c in made.citations] == [sentences()[0].text, sentences()[1].text]


async def test_where_a_provider_cites_by_itself_nothing_is_added() -> None:
    mark = CitationMark(SOURCE, 2, 3)
    shown, _ = await compose("So it was.", mark, TextBlockEnd(), " Ann kept the light for forty years.", TextBlockEnd())
    assert shown == "So it was. (p. 13) Ann kept the light for forty years."


async def test_a_providers_own_citation_becomes_a_page_at_the_end_of_its_block() -> None:
    mark = CitationMark(SOURCE, 0, 1, sentences()[0].text)
    shown, made = await compose("Ann kept the light", mark, TextBlockEnd(), " for long.", TextBlockEnd())
    assert shown == "Ann kept the light (p. 12) for long."
    assert [c.quote for c in made.citations] == [sentences()[0].text]


async def test_several_citations_of_one_block_stand_together_and_a_page_only_once() -> None:
    marks = [CitationMark(SOURCE, at, at + 1) for at in (0, 1, 2)]
    shown, made = await compose("Ann kept the light.", *marks, TextBlockEnd())
    assert shown == "Ann kept the light. (pp. 12-13)"
    assert len(made.citations) == 3


async def test_a_citation_over_two_pages_names_both() -> None:
    shown, _ = await compose("So it was.", CitationMark(SOURCE, 1, 3), TextBlockEnd())
    assert shown == "So it was. (pp. 12-13)"


async def test_a_page_that_a_range_has_is_not_named_again() -> None:
    for first, second in (((1, 3), (2, 3)), ((0, 1), (1, 3))):
        shown, made = await compose(
            "So it was.", CitationMark(SOURCE, *first), CitationMark(SOURCE, *second), TextBlockEnd()
        )
        assert shown == "So it was. (pp. 12-13)"
        assert len(made.citations) == 2


def test_ranges_that_meet_become_one_in_every_language() -> None:
    parts = (("74", "75"), ("75", "75"), ("9", "9"), ("75", "76"), ("xii", "xiii"))
    made = [Citation(at * 10, at * 10 + 3, "So.", *pages, "", estimated=True) for at, pages in enumerate(parts)]
    assert references(made) == "about pp. 74-76, about p. 9, about pp. xii-xiii"
    assert in_language(f"So ({references(made)}).", made, german) == "So (etwa S. 74-76, etwa S. 9, etwa S. xii-xiii)."


@pytest.mark.parametrize(
    "mark",
    [
        CitationMark("passage-9-99", 0, 1),
        CitationMark(SOURCE, 7, 9),
        CitationMark(SOURCE, 0, 1, "Ann never kept anything."),
    ],
)
async def test_a_citation_that_does_not_check_out_is_left_out(mark: CitationMark) -> None:
    shown, made = await compose("Ann kept the light.", mark, TextBlockEnd())
    assert shown == "Ann kept the light."
    assert made.citations == []


async def test_white_space_at_the_end_of_a_block_comes_after_the_reference() -> None:
    shown, _ = await compose("Ann kept it.\n\n", CitationMark(SOURCE, 0, 1), TextBlockEnd(), "More.")
    assert shown == "Ann kept it. (p. 12)\n\nMore."


async def test_keys_become_pages() -> None:
    shown, made = await compose(f"Ann kept the light [{KEYS[0]}]. It was dark [{KEYS[3]}].")
    assert shown == "Ann kept the light (p. 12). It was dark (p. 13)."
    assert [c.quote for c in made.citations] == [sentences()[0].text, sentences()[3].text]


async def test_neighbouring_keys_become_one_reference() -> None:
    shown, _ = await compose(f"Both [{KEYS[0]}] [{KEYS[2]}], and [{KEYS[0]}, {KEYS[1]}].")
    assert shown == "Both (p. 12, p. 13), and (p. 12)."


async def test_a_key_that_was_never_given_is_dropped() -> None:
    shown, made = await compose("Ann left [s-00000].")
    assert shown == "Ann left."
    assert made.citations == []


async def test_a_page_the_model_types_goes_even_if_it_was_given_that_page() -> None:
    shown, _ = await compose(f"Ann stays (p. 12) and leaves (p. 99) and (pp. 12-13), on page 12 [{KEYS[0]}].")
    assert shown == "Ann stays and leaves and, in the book (p. 12)."


async def test_a_page_within_a_true_quotation_is_the_books_own() -> None:
    made = AnswerComposer(cite, Quotations(stands_in_book))
    made.learn_title("He said that page 42 of the log was gone.")
    await made.feed(TextChunk("“page 42 of the log was gone” but not page 43."))
    await made.finish()
    assert made.text == "“page 42 of the log was gone” but not a page."


async def test_a_quotation_that_is_not_in_the_book_loses_its_marks() -> None:
    shown, _ = await compose("She said “I always let it go out” and “I never let it go out,” twice.")
    assert shown == "She said I always let it go out and “I never let it go out,” twice."


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("“Let it burn” [{0}]. True [{1}].", "Let it burn. True (p. 12)."),
        ("She said “let it burn.” [{0}] True [{1}].", "She said let it burn. True (p. 12)."),
        ("She said “let it burn”, they say [{0}].\nTrue [{1}].", "She said let it burn, they say.\nTrue (p. 12)."),
        ("It is so [{0}], “let it burn” [{1}].", "It is so (p. 12), let it burn."),
        ("As she says [{0}]: “Let it burn”.", "As she says: Let it burn."),
        ("So [{0}] “Let it burn”. True [{1}].", "So Let it burn. True (p. 12)."),
        ("“Let it burn [{0}]”", "Let it burn"),
        ("> Let it burn [{0}]\n> — Ann [{1}]", "Let it burn"),
        ("“Let it burn.” So says Ann [{0}].", "Let it burn. So says Ann."),
        ("— Let it burn, says Ann [{0}].", "Let it burn, says Ann."),
        ("Ann says, and I quote, let it burn [{0}].", "Ann says, and I quote, let it burn."),
        ("Quote: let it burn [{0}]", "Quote: let it burn"),
        ("**I let it burn** [{0}]", "I let it burn"),
        ("So:\n```\nShe let it burn.\n``` [{0}]\nTrue [{1}].", "So:\nShe let it burn.\nTrue (p. 12)."),
        ("- *She let it burn that night.* [{0}]", "- She let it burn that night."),
        ("The line: **she let it burn** [see {0}].", "The line: she let it burn."),
        ("`she let it burn that night` [{0}]", "she let it burn that night"),
        ("<em>She let it burn that night</em> [{0}].", "She let it burn that night."),
        (
            "She says [{0}]:\n\n> Let it burn.\n\nBut it does not burn [{1}].",
            "She says:\n\nLet it burn.\n\nBut it does not burn (p. 12).",
        ),
        ("“Let it burn.”\n- Source: [{0}]\n- True [{1}]", "Let it burn.\n- Source:\n- True (p. 12)"),
        ("So [{0}]: *She let it burn that night.*", "So: She let it burn that night."),
        ("She thinks *I let it burn* [{0}].", "She thinks I let it burn."),
        ("In the end she owns up (*I let it burn*) [{0}].", "In the end she owns up (I let it burn)."),
        ("It ends *and she let it burn all that night* [{0}].", "It ends and she let it burn all that night."),
        (
            "It ends – *she let it burn that very night, alone* [{0}].",
            "It ends – she let it burn that very night, alone.",
        ),
        ("“Ann kept the light [p. 38]” [{0}].", "“Ann kept the light” (p. 12)."),
        ("*You let it burn*, Ben warns her there [{0}].", "You let it burn, Ben warns her there."),
        ("*She let it burn* [{0}], says Ben.", "She let it burn, says Ben."),
        ("`let it burn` ({0}), Ben warns her.", "let it burn, Ben warns her."),
        ("*I let it burn*, which nobody hears [{0}].", "I let it burn, which nobody hears."),
        ("The keeper sighs, *Forty years wasted!* [{0}]", "The keeper sighs, Forty years wasted!"),
        ("Ann thinks ***it was never really dark*** [{0}].", "Ann thinks it was never really dark."),
        ("Her words are *let it burn*, and so on [{0}].", "Her words are let it burn, and so on."),
        ("*Je ne l'ai jamais vu*, dit Anne [{0}].", "Je ne l'ai jamais vu, dit Anne."),
        (
            "It ends *and she let it burn all that night*, alone [{0}].",
            "It ends and she let it burn all that night, alone.",
        ),
    ],
)
async def test_a_false_quotation_loses_its_page_too(said: str, shown: str) -> None:
    assert (await compose(said.format(KEYS[0], KEYS[1])))[0] == shown


@pytest.mark.parametrize(
    "said",
    [
        "**Why she stays:** Ann kept the light {0}. **What you should know** is that she did {0}.",
        "Ann kept the light *for forty years*, says the narrator {0}. *Answer:* she did {0}.",
        "*I never let it go out*, Ann says of the light {0}. The *Perpetua*, a ship, sank {0}.",
        "Ann, *the last of the keepers*, kept the light {0}. It is *duty*, Ann says {0}.",
        "Ann kept it for years, *and proudly* {0}. Her ship, *The Light.*, sank {0}.",
    ],
)
async def test_emphasis_that_does_not_quote_keeps_its_page(said: str) -> None:
    shown, _ = await compose(*said.format(f"[{KEYS[0]}]"))
    assert shown == said.format("(p. 12)")


@pytest.mark.parametrize("fence", ["```", "~~~", "```text"])
async def test_words_in_a_long_block_of_code_stand_on_no_page(fence: str) -> None:
    invented = "The sea was never so dark as on the night she let it burn.\n" * 60
    block = f"{fence}\n{invented}{fence[:3]}\n"
    for before, after in (("So", f"[{KEYS[0]}]\n"), (f"So [{KEYS[0]}]:\n", ""), ("", f"Source: [{KEYS[0]}]\n")):
        shown, made = await compose(f"{before}\n{block}{after}\nTrue. So it is [{KEYS[1]}].")
        assert [citation.quote for citation in made.citations] == [sentences()[1].text], shown
    code = "light = wait_for(keeper)\n" * 90
    shown, made = await compose(f"So it is:\n```python\n{code}```\nIt waits [{KEYS[0]}].")
    assert shown.endswith("It waits (p. 12).")
    assert code in shown


async def test_words_of_a_reader_stand_on_no_page() -> None:
    made = composer()
    made.learn_words("Does she say “I sold the lamp”, and is Dunmore a thief?")
    said = f"Yes: “I sold the lamp” [{KEYS[0]}]. The “thief” Dunmore is not named [{KEYS[0]}]."
    shown = await made.feed(TextChunk(said)) + await made.finish()
    assert shown == "Yes: “I sold the lamp”. The “thief” Dunmore is not named (p. 12)."


async def test_a_citation_within_a_quotation_waits_for_its_end() -> None:
    mark = CitationMark(SOURCE, 0, 1)
    shown, made = await compose(
        "She said “I sold ", mark, TextBlockEnd(), "the lamp” (p. ", mark, TextBlockEnd(), "38)."
    )
    assert (shown, made.citations) == ("She said I sold the lamp.", [])


async def test_a_false_quotation_in_a_block_loses_the_blocks_page() -> None:
    shown, made = await compose("She said “let it burn”.", CitationMark(SOURCE, 0, 1), TextBlockEnd(), " So.")
    assert shown == "She said let it burn. So."
    assert not made.citations


async def test_the_opening_of_a_chapter_is_cited_by_its_key() -> None:
    opening = sentences()[3]

    async def opening_of(key: str) -> Sentence | None:
        return opening if key == key_of(opening) else None

    made = AnswerComposer(cite, Quotations(stands_in_book), opening_of=opening_of)
    await made.feed(TextChunk(f"* The Lamp [{key_of(opening)}]\n* The End [s-0000000]"))
    await made.finish()
    assert made.text == "* The Lamp (p. 13)\n* The End"


async def test_discarded_text_leaves_nothing_behind() -> None:
    made = composer()
    await made.feed(TextChunk(f"Let me look [{KEYS[0]}]. "))
    made.discard()
    await made.feed(TextChunk("Ann."))
    assert await made.finish() is not None
    assert (made.text, made.citations) == ("Ann.", [])


async def test_passages_learnt_on_the_way_can_be_cited() -> None:
    made = AnswerComposer(cite, Quotations(stands_in_book))
    made.learn([passage()])
    await made.feed(TextChunk(f"Ann [{KEYS[0]}]."))
    await made.finish()
    assert made.text == "Ann (p. 12)."


def pieces_of(text: str, cuts: Sequence[int]) -> list[str]:
    ends = sorted({min(cut, len(text)) for cut in cuts} | {len(text)})
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@example(["Ann Ben *38*“He said “yes” to it” , 38. Ann Ann "], [33])
@example(["| S. | p. |\n|--|--|\non page 12 [s-35c0456] Ann Ann Ann “He said “yes” to it” "], [62])
@example(["men, 38. at the foot of Ann kept the light"], [5])
@example([" menBen *38*"], [9])
@example(['on page 12 Ben *38*"> it was never dark at all\nOn page 99, '], [44])
@example(["[s-e90fecc]“a(p. 12)> In 1911 the Perpetua struck\n“He said “yes” to it” "], [57])
@example([" and 40 ‘it was never dark at all’at the foot of "], [34])
@example(["\n2. ‘it was never dark at all’Ann 'a b c d' "], [35])
@example(["forty-\" of the book'a b c d' | S. | p. |\n|--|--|\nAnn kept the light f @ "], [32])
@example(["Ann “I never´ let it go out,” Ann Ann Ann"], [20])
@example(["Ann saw H", "´", "¹ Ann Ann "], [10])
@example(["Ann \n2. \n2. Ann ‘it was never dark at all’x [1] "], [17])
@given(
    st.lists(
        st.sampled_from(
            [
                "Ann ",
                "“I never let it go out,” ",
                f"[{KEYS[0]}] ",
                f"[{KEYS[3]}]",
                "(p. 12)",
                "(p. 99) ",
                "“a",
                "” ",
                "´",
                "¹ ",
                "[",
                "]",
                "(",
                ")",
                "\n\n",
                '"',
                "x [1] ",
                "on page 12 ",
                "On page 99, ",
                "about ",
                "pages 12",
                "–13 and ",
                "p. 99 ",
                "S. 9",
                "7 ",
                "(38)",
                ". ",
                "³⁸ ",
                "[page 38](https://x/38) ",
                "page. Two dogs ",
                "‘In 1911 the Perpetua struck’ ",
                "‘it was never dark at all’",
                "the sailors' ",
                "'a b c d' ",
                "> In 1911 the Perpetua struck\n",
                "> it was never dark at all\n",
                "(*and I let it burn all that night*) ",
                "see 38 ",
                "on 38, and ",
                "the page is ",
                ", 38. ",
                "described in ",
                "on the ",
                "forty-",
                "seven ",
                "eighth ",
                "at the foot of ",
                "38",
                " men",
                " @ ",
                " of the book",
                "at 47% ",
                " percent",
                " of the way ",
                "into the book",
                "tells that ",
                "Chapter 3",
                " and 40 ",
                "\n2. ",
                "June ",
                "1887:",
                "Louis XIV ",
                "$38$",
                "三十八",
                "| S. | p. |\n|--|--|\n",
                "| *38* | 38 |\n",
                "Ben *38*",
                "«",
                "„In 1911 the Perpetua struck“ ",
                "“He said “yes” to it” ",
                TEXT[:20],
            ]
        ),
        max_size=14,
    ),
    st.lists(st.integers(0, 300), max_size=20),
)
async def test_an_answer_is_the_same_however_its_stream_is_cut(parts: list[str], cuts: list[int]) -> None:
    text = "".join(parts)
    whole, _ = await compose(text)
    cut, made = await compose(*pieces_of(text, cuts))
    assert cut == made.text
    assert cut.rstrip() == whole.rstrip()


NUMBERS = ["38", "forty-seven", "the 47th", "XLVII", "38–40", "４７", "47, 48", "siebenundvierzig", "p. 38", "page 47"]
LEADS = [
    *(
        "on ",
        "at ",
        "in ",
        "see ",
        "as told on ",
        "described in ",
        "from ",
        "per ",
        "at the foot of ",
        "auf ",
        "siehe ",
    ),
    *(
        ", ",
        " – ",
        ": ",
        "; ",
        "… ",
        " @ ",
        " → #",
        " (",
        " [",
        " (see ",
        " (Smith, ",
        "\n",
        "\n- ",
        "| ",
        "“x” ",
        "Ref. ",
    ),
]
ENDS = [".", ", they say.", ")", "]", " says so.", "; so it is.", "\n", " where Ann leaves.", "** it is.", " |"]


@example(["Ann leaves on the 47th says so. ", "Ann leaves on the 47th. "], [])
@given(
    st.lists(
        st.one_of(
            st.tuples(st.sampled_from(LEADS), st.sampled_from(NUMBERS), st.sampled_from(ENDS)).map(
                "Ann leaves {0[0]}{0[1]}{0[2]} ".format
            ),
            st.sampled_from([f"Ben stays [{key}]. " for key in KEYS]),
        ),
        max_size=5,
    ),
    st.lists(st.integers(0, 300), max_size=10),
)
async def test_a_reference_stands_only_where_code_has_resolved_it(parts: list[str], cuts: list[int]) -> None:
    shown, made = await compose(*pieces_of("".join(parts), cuts))
    cited = [f"({citation.reference})" for citation in made.citations]
    typed = re.sub("|".join(map(re.escape, cited)), "", shown) if cited else shown
    assert not re.search(r"\d|forty|vierzig|seven|XL|４", typed), shown
    assert all(reference in shown for reference in cited)


@pytest.mark.parametrize("typed", ["On page 38 Ann leaves", "Ann leaves (38)", "Ann leaves on 38", "Ann leaves, 38"])
async def test_what_a_reader_or_a_tool_says_of_pages_is_no_licence_for_one(typed: str) -> None:
    made = composer()
    made.learn_words("What is on page 38?")
    made.learn_figures("[Page 38 · The Light · p38]\nAnn kept the light.")
    await made.feed(TextChunk(f"{typed}. “Ann kept the light for forty years.”"))
    await made.finish()
    assert "38" not in made.text
    assert made.text.endswith("(p. 12)")


@pytest.mark.parametrize(
    "answer",
    [
        "Probably 38.",
        "The answer is 38.",
        "Die Antwort ist 38.",
        "In your notes: 38.",
        "Chapter 4 — 38",
        "Answer = 38",
        "He has 38.",
    ],
)
@pytest.mark.parametrize("learn", ["a reader", "a reader before", "a tool"])
async def test_where_pages_are_spoken_of_a_bare_number_is_one(learn: str, answer: str) -> None:
    made = composer()
    if learn == "a tool":
        made.learn_words("When does Ann leave?")
        made.learn_elsewhere('{"page": "38"}')
    else:
        made.learn_words("On which page does Ann leave?")
    if learn == "a reader before":
        made.learn_words("And what do my notes say?")
    await made.feed(TextChunk(answer))
    await made.finish()
    assert "38" not in made.text


@pytest.mark.parametrize(
    "answer",
    [
        *("Room 238.", "Chapter 238.", "£38.", "It is 238 years old.", "Ann eats 38 spiders.", "At 238 o'clock."),
        *("Verse 238.", "38 km.", "Day 38.", "In act 238.", "The 238th of May."),
        "I think it was 38 but I am not sure.",
        "It’s 38 in the Penguin edition.",
        "I’d guess 38.",
        "My best guess: 38",
        "38 seems right.",
        "It is first told on 38, later on 39 and 38.",
        "Das müsste 38 sein.",
        "Dat staat op 38.",
        "38だと思います。",
        "应该在38左右。",
        "After about 38 pages.",
        "At the 38-page mark.",
        "38ish.",
        "Somewhere in the 380s.",
        "CCXXXVIII.",
        "На двести тридцать восемь.",
        "Na dwieście trzydziestej ósmej.",
        "İki yüz otuz sekiz.",
        "二百三十八です。",
        "이백삼십팔입니다.",
        "二百三十八ページです。",
        "The page number is two-three-eight.",
        "She dies at 38.",
        "0038",
        "It is 38.0, I think.",
        "138,0",
        "138 138",
        "~~139~~ 138",
        "3-8-8 is the page.",
        "३८ पर।",
        "In my book 138",
        "a) 138 b) 238",
        "0x38",
        "Mid-380s.",
        "3.8.8 or 3/8/8",
        "CCXXXVIIIth",
        "38 out of 418",
        "Look around 38 Ann leaves there",
        "38 narrates her leave",
        "38 always comes to mind",
        "The scene: 38",
        "It's 200 plus 38",
        "I turned 38 of them.",
        "1. Ben\n38. Ann",
        "| 38 | Ann leaves |",
        "Ann XXXVIII Light",
        "Auf 38 Anns Abschied.",
        "Um die 38 herum.",
        "Alla 38.",
        "A 38 circa.",
        "Na dvousté třicáté osmé.",
        "Umírá na dvousté třicáté osmé.",
        "İki yüz otuz sekizde gider.",
        "La două sute treizeci și opt.",
        "دویست و سی و هشت.",
        "På tohundredeogsyttende.",
        "第二百三十八。",
        "38번째.",
        "Chapter 9 / 38",
        "38 folks",
        "Chyba 38 albo 138",
        "Um 3-8",
        "في ٣٨ تقريبا",
    ],
)
async def test_who_asks_for_a_page_gets_none_that_is_guessed(answer: str) -> None:
    shown = await answered("On which page does Ann leave?", answer)
    pages = ("38", "٣٨", "३८", "3-8", "3.8", "3/8", "XXXVIII", "двести", "dwieście", "yüz", "三十八", "삼십팔", "three")
    in_words = ("třic", "treizeci", "هشت", "sytten")
    assert not [page for page in (*pages, *in_words) if page in shown]


@pytest.mark.parametrize(
    "answer",
    [
        "She left on 3 October 1893, at 8 in the evening, in chapter 21.",
        "She ate 12 fish and paid 6 shillings for 12 feet of rope.",
        "She left between 2 and 3 o'clock, on the 2nd or the 3rd of October.",
        "The letter is 6 pages long.",
        "The three ghostly women, the other two and all three men stayed a moment or two.",
        "I attend on Ann, who is attached to her station on the hill; das sei ein Glück.",
        "Two burly men held her; one of them, and 2 of the others, let go.",
        "1. Ann comes.\n2. Ann leaves.",
        "| 1 | Ann comes |\n| 2 | Ann leaves |",
        "About 50% of the men left. Elizabeth II was not there in 1914–1918.",
        "Sie war 59 Jahre alt und ging am 3. Oktober, im 21. Kapitel.",
        "Elle mangea 2 poissons et partit au chapitre 21; elle avait 59 ans.",
        "Она ушла в главе 21, 3 октября; ей было 59 лет.",
        "彼女は第21章で、10月3日に去る。二十三人がいた。",
    ],
)
async def test_what_a_word_beside_it_says_is_no_page_stays_where_one_is_asked_for(answer: str) -> None:
    assert await answered("On which page does Ann leave?", answer) == answer


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("On 38 Ann leaves with 38 crowns.", "In the book Ann leaves with 38 crowns."),
        ("Ann left the light on 38.", "Ann left the light in the book."),
    ],
)
async def test_where_a_page_is_asked_for_a_number_of_the_book_needs_the_word_it_counts(answer: str, shown: str) -> None:
    made = composer()
    made.learn_words("On which page does Ann leave?")
    made.learn_figures("Ann left the light when Dunmore had paid 38 crowns for it.")
    await made.feed(TextChunk(answer))
    await made.finish()
    assert made.text == shown


COUNTED = " ".join(f"chunk {number}" for number in range(1, 50))


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("Ann is 47. By 38 she had left. Ben 47.", "Ann is …. By … she had left. Ben."),
        ("She ate 47 fish in room 38 (47 boats).", "She ate … fish in room … (… boats)."),
        ("Laut 38 ging sie. في 47 رحلت.", "Laut … ging sie. في … رحلت."),
        ("Ann leaves, 2:38. She left at 8:38. (2:38)", "Ann leaves. She left in the book."),
        ("Laut XLII blieb sie. She ate 42 fish.", "Laut … blieb sie. She ate … fish."),
        ("| Ann leaves | 47 |\n| Ben stays | 38 |", "| Ann leaves | |\n| Ben stays | |"),
        ("Dunmore paid 38 crowns; it was 1893.", "Dunmore paid 38 crowns; it was 1893."),
        (COUNTED, COUNTED),
        ("It is 38 miles, 47 years ago, for £38 (38 €); 9 + 9 is 18.",) * 2,
        ("She leaves 38 minutes in. 38 lines on, 47 words.", "She leaves … minutes in. … lines on, … words."),
        ("Answer 38. This is reply-47, question 38, not Ann 47.", "Answer 38. This is reply-47, question 38, not Ann."),
        ("She was 37, he is aged 47. 47% of the men left.", "She was 37, he is aged 47. 47% of the men left."),
    ],
)
async def test_a_page_that_the_model_has_seen_is_no_other_number_unless_the_book_says_so(
    answer: str, shown: str
) -> None:
    made = composer()
    made.learn_words("Tell me about Ann.")
    made.learn(replace(passage(), page=page, last_page=page) for page in ("xlii", "38"))
    made.learn_figures('{"chapters": [{"number": 3, "page": "47"}]}')
    made.learn_figures("Dunmore had paid 38 crowns for it.")
    await made.feed(TextChunk(answer))
    await made.finish()
    assert made.text == shown


async def test_the_patterns_are_compiled_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    one = lazily("[0-9]+")
    compiled_in: list[threading.Thread] = []
    compile_it = re.compile

    def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
        if pattern == one.pattern:
            compiled_in.append(threading.current_thread())
        return compile_it(pattern, flags)

    monkeypatch.setattr(re, "compile", compiled)
    assert await answered("On which page does Ann leave?", "On page 38.") == "In the book."
    assert len(compiled_in) == 1
    assert one.findall("3 of 12") == ["3", "12"]
    assert threading.main_thread() not in compiled_in


@pytest.mark.parametrize(
    "asked",
    ["How far in is that?", "Where in the book is that?", "Source?", "How many pages in?", "På hvilken side er det?"],
)
async def test_a_place_in_the_book_is_a_page_in_whatever_words_it_is_asked_for(asked: str) -> None:
    assert "38" not in await answered(asked, "It's 38.")


@pytest.mark.parametrize(
    "answer", ["Exactly 48.", "Number of men: 48", "Answer: 48", "It is 347.", "It was 50, I think.", "48."]
)
async def test_who_asks_for_a_number_gets_it(answer: str) -> None:
    assert await answered("How many men has Ann?", answer) == answer


@pytest.mark.parametrize("said", ["I'm on page 12. How many men has Ann?", "How many pages are there?"])
async def test_who_names_a_page_or_counts_them_asks_for_none(said: str) -> None:
    assert await answered(said, "She has 38.") == "She has 38."


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("In which chapter does Ann leave?", "It's 21."),
        ("In which chapter does Ann leave?", "In 21."),
        ("In welchem Kapitel geht sie?", "21."),
        ("Which chapters is she in?", "5, 6, 18, 20 and 21."),
        ("How old is Ann?", "59."),
        ("What's 7 times 31?", "217"),
        ("What is half of 434?", "217."),
        ("When was that?", "In the 1890s."),
        ("How old is Ann?", "She is nineteen, almost twenty."),
        ("Why does she fish?", "She catches perhaps 100 a week."),
        ("船長は何歳？", "52です。"),
        ("有几章？", "全书共有27章，约四百二十页。"),
        ("When does the train leave?", "At 8."),
        ("Wann fährt der Zug?", "Um 20."),
        ("When does he sleep?", "Between 9 and 5, I think."),
        ("How tall is she?", "She is 6 ft 2."),
    ],
)
async def test_a_number_that_is_the_answer_stays(asked: str, answer: str) -> None:
    assert await answered(asked, answer) == answer


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("In chapter 21, 217.", "In chapter 21."),
        ("Ann leaves in chapter 21. 217.", "Ann leaves in chapter 21."),
        ("Chapter 21 (217)", "Chapter 21"),
        ("Chapter 21. At 217 Dracula dies.", "Chapter 21. In the book Dracula dies."),
    ],
)
async def test_a_number_beside_the_answer_is_a_page_all_the_same(answer: str, shown: str) -> None:
    assert await answered("In which chapter does Ann leave?", answer) == shown


async def test_how_many_pages_something_has_is_told_where_pages_are_asked_for() -> None:
    for said in ("The letter has 6 pages.", "You have read 40 pages so far."):
        assert await answered("On which page is the letter?", said) == said


async def test_where_pages_are_spoken_of_other_numbers_stay() -> None:
    made = composer()
    made.learn_words("On which page does Ann count her men?")
    said = (
        "She has 8 men, in chapters 4, 6 and 18, on 8 May, at 6 p.m. None leaves but one. It was in 1911."
        " She left, 2.5 miles from home."
    )
    await made.feed(TextChunk(said))
    await made.finish()
    assert made.text == said


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("What proportion of them came back?", "About 33%, i.e. one third."),
        ("Wie viel Prozent kamen zurück?", "33 Prozent, mehr als gedacht."),
        ("By how much did it fall?", "By about 64%, says Ann."),
        ("What interest does it pay?", "4.5 %. That is little."),
    ],
)
async def test_a_share_that_is_asked_for_stays(asked: str, answer: str) -> None:
    assert await answered(asked, answer) == answer


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("What percentage of them came back?", "It stands at 33%."),
        ("What proportion of them came back?", "He eats it 33% of the way through the book."),
        ("How far into the book, in percent?", "33%."),
        ("As a percentage, where does he die?", "33%."),
        ("Bei wie viel Prozent des Buchs stirbt er?", "33 %."),
    ],
)
async def test_how_far_into_a_book_something_stands_is_no_share_that_was_asked_for(asked: str, answer: str) -> None:
    assert "33" not in await answered(asked, answer)


@pytest.mark.parametrize("asked", ["Hoe oud was hij?", "Hur gammal är han?", "Kolik mu bylo?", "Ile lat ma Jan?"])
async def test_an_age_is_asked_for_in_many_languages(asked: str) -> None:
    assert await answered(asked, "Jan: 46.") == "Jan: 46."


@pytest.mark.parametrize(
    ("asked", "answer", "page"),
    [
        ("Quel âge a Lucien ?", "Il a 22 ans ; voyez 104 et suivantes.", "104"),
        ("Wie alt ist Effi?", "Sie ist 17, siehe 93.", "93"),
        ("Hány éves Ilka?", "Ilka 16 éves, a 91-en olvasható.", "91"),
    ],
)
async def test_what_is_to_be_looked_up_is_no_age(asked: str, answer: str, page: str) -> None:
    assert page not in await answered(asked, answer)


async def told_by_the_book(asked: str, answer: str, *, book: str, tool: str = "") -> str:
    """What is shown of an answer by somebody who was given the book's words and those of another tool."""
    made = composer()
    made.learn_words(asked)
    made.learn_figures(book)
    made.learn_elsewhere(tool)
    return await made.feed(TextChunk(answer)) + await made.finish()


@pytest.mark.parametrize(
    ("book", "answer"),
    [
        ("They marched out with 640 muskets.", "429 of 640, says Ann."),
        ("They marched out with six hundred and forty muskets.", "In the battle, 429 of 640 (says Ann)."),
        ("Von den 22 aus der Klasse sind wir noch fünf.", "17 von 22; die anderen sind noch da."),
    ],
)
async def test_a_part_of_what_the_book_counts_stays_also_where_a_page_is_asked_for(book: str, answer: str) -> None:
    for asked in ("How many were lost?", "On which page is that, and how many were lost?"):
        assert await told_by_the_book(asked, answer, book=book) == answer


async def test_a_page_of_so_many_pages_is_no_part_of_what_the_book_counts() -> None:
    for tool, answer in (("", "217 of 640."), ('{"total": 640}', "217 of 640."), ("", "700 of 640: Ann.")):
        shown = await told_by_the_book(
            "Where is it?", answer, book="38 muskets" if not tool else "640 muskets", tool=tool
        )
        assert not re.search("217|700", shown)


@pytest.mark.parametrize(
    ("book", "answer"),
    [
        ("Supper was at six o’clock and prayers at half past nine.", "Supper is at 6:00, and prayers are at 9:30."),
        ("We came at a quarter to eight, or at ten minutes past.", "At 7:45."),
        ("It was twenty-five minutes to twelve.", "It was 11:35, or 23:35."),
        ("Er kam um halb zehn, der Arzt Viertel vor drei.", "Er kam um 9:30 Uhr, der Arzt 14:45."),
        ("A las cinco y media, cinq heures et demie, alle sette meno un quarto.", "A las 5:30, 6:45."),
        ("The last car runs at 11.15 p.m.", "It runs at 23:15, I read."),
    ],
)
async def test_an_hour_that_the_book_tells_in_words_stays_in_figures(book: str, answer: str) -> None:
    assert await told_by_the_book("What happens?", answer, book=book) == answer


async def test_an_hour_that_nobody_told_may_be_a_page() -> None:
    assert "2:17" not in await told_by_the_book("What happens?", "He dies, 2:17.", book="It was half past two.")


@pytest.mark.parametrize(
    "told", ["trois heures moinſ le quart", "um vıertel vor drei", "MENOſ CUARTO, a las seis menoſ cuarto"]
)
async def test_an_hour_in_letters_of_another_time_or_alphabet_ends_no_answer(told: str) -> None:
    assert await told_by_the_book("What happens?", "Ann leaves on 8 May.", book=told) == "Ann leaves on 8 May."


@pytest.mark.parametrize(
    "book", ["There were fifty boxes, and he was fifty-nine.", "vijftig, 59; femtio; halvtreds; 50"]
)
async def test_a_number_that_the_book_tells_stays_in_another_language(book: str) -> None:
    for answer in (
        "Er waren vijftig kisten.",
        "Det fanns femtio lådor.",
        "Der var halvtreds kasser.",
        "Hij was negenenvijftig.",
    ):
        assert await told_by_the_book("What?", answer, book=book) == answer


@pytest.mark.parametrize("asked", ["On which page is it?", "What is in the boxes?"])
@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("1501.", "…."),
        ("Common earth, 1500.", "Common earth."),
        ("He is old (1500). It is on 1501.", "He is old. It is in the book."),
        ("The kitten: 1500\nThe mirror: 1,501", "The kitten\nThe mirror"),
        ("In 1812 war began; it ended in March 1814.", "In 1812 war began; it ended in March 1814."),
        ("It was published 1869, about the summer of 1805.", "It was published 1869, about the summer of 1805."),
    ],
)
async def test_a_book_of_so_many_pages_has_pages_that_look_like_years(asked: str, answer: str, shown: str) -> None:
    made = composer()
    made.learn_title("War and Peace", 1_612)
    made.learn_words(asked)
    assert (await made.feed(TextChunk(answer)) + await made.finish()).rstrip(".") == shown.rstrip(".")


async def test_a_year_needs_no_word_where_a_book_has_fewer_pages_unless_a_page_is_asked_for() -> None:
    for asked, left in (("What is it?", "Dracula (1897)"), ("On which page is it?", "Dracula")):
        made = composer()
        made.learn_title("Dracula", 420)
        made.learn_words(asked)
        assert await made.feed(TextChunk("Dracula (1897).")) + await made.finish() == f"{left}."


async def test_cents_are_no_hundreds() -> None:
    said = "It covered 40%, i.e. 40 cents; she gave deux cents francs."
    assert await told_by_the_book("What?", said, book="It paid forty cents on the dollar, and 200 francs.") == said


async def test_the_numbers_of_another_tool_stand_beside_the_words_they_had_there() -> None:
    made = composer()
    made.learn_elsewhere('{"shelf": 34, "rolls": [17, 18]}')
    shown = await made.feed(TextChunk("It is on shelf 34. You rolled 17 and 18. Ann leaves at 34."))
    assert shown + await made.finish() == "It is on shelf 34. You rolled 17 and 18. Ann leaves in the book."


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("There are 217 open issues, and 64 left.", "There are 217 open issues, and 64 left."),
        ("The call is at 15:30. You rolled a 17.", "The call is at 15:30. You rolled a 17."),
        (
            "It stands at 64. The mirror breaks, 64. The mirror (64).",
            "It stands in the book. The mirror breaks. The mirror.",
        ),
        ("Humidity is 91 %, as of 64.", "Humidity is 91 %, as of 64."),
    ],
)
async def test_what_another_tool_has_told_stands_in_prose_and_never_where_a_reference_would(
    answer: str, shown: str
) -> None:
    made = composer()
    made.learn_elsewhere(
        '{"issues": 217, "left": 64, "mirror": 64, "starts": "15:30", "rolls": [17, 18], "humidity": 91}'
    )
    await made.feed(TextChunk(answer))
    await made.finish()
    assert made.text == shown


@pytest.mark.parametrize(
    "answer",
    [
        *("The train left Munich at 8:35 p.m. on 1st May.", "She takes the 6:30 train and arrives at 10:18."),
        *("Um 15:30 Uhr kommt er, um 16.45 Uhr geht er.", "She wakes at 5:20 and is back by 9:15."),
        *("Of the 50 crowns, 29 were lost; 21 have been found.", "In the end 49 of the fifty crowns are lost."),
        *("Powieść ma 27 rozdziałów.", "A regénynek 27 fejezete van.", "Roman 27 bölümden oluşur.", "فيها ٢٧ فصلا."),
        *(
            "It echoes Deut. 12:23 and 1 Cor. 13:4.",
            "The first edition ran to 390 pages, and the diary fills 40 pages.",
        ),
        *("| Fact | Number |\n|---|---|\n| Crowns | 50 |\n| Lamps | 12 |",),
    ],
)
async def test_what_is_a_time_a_part_or_a_size_stays(answer: str) -> None:
    book = "Dunmore had paid fifty crowns for twelve of the lamps."
    assert await told_by_the_book("Tell me about it.", answer, book=book) == answer


@pytest.mark.parametrize(
    "answer",
    [
        *(
            "Common earth, see fifty.",
            "Siehe 50.",
            "Voir 50.",
            "Ver la 50.",
            "см. 50.",
            "Open it at 50.",
            "Turn to 1850.",
        ),
        *(
            "Read from 50 onward.",
            "Lies ab 50 weiter.",
            "Carfax, 50 ff.",
            "He paid (Stoker, 50).",
            "Ann (Stoker, 1850).",
        ),
        *(
            "第50-51页",
            "50~51ページ",
            "(50-51쪽)",
            "On the 50th and 51st pages.",
            "Flies at 1:50.",
            "It stands at 8:50.",
        ),
    ],
)
async def test_where_to_look_is_a_page_though_the_book_has_told_the_number(answer: str) -> None:
    shown = await told_by_the_book("Tell me about it.", answer, book="Dunmore had paid fifty crowns.")
    assert not re.search("50|51|fifty", shown), shown


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("She had 47 lamps and 47 fish.", "She had 47 lamps and … fish."),
        ("47 lamps burned. The 47 lamp.", "47 lamps burned. The … lamp."),
        ("Von den 50 Kronen blieben 12, also 38.", "Von den 50 Kronen blieben 12, also 38."),
        ("Fifty crowns less twelve lamps. Ann, 50. Ann (50).", "Fifty crowns less twelve lamps. Ann. Ann."),
        ("It was at 6:35. It was at 7:40.", "It was at 6:35. It was in the book."),
    ],
)
async def test_a_number_counts_what_was_spoken_of_or_was_told_in_prose(answer: str, shown: str) -> None:
    made = composer()
    made.learn_figures("At 6:35 Dunmore had paid fifty crowns for twelve of the lamps.")
    await made.feed(TextChunk(answer))
    await made.finish()
    assert made.text == shown


@pytest.mark.parametrize(
    "answer",
    [
        "420 less 203 is the page.",
        "The Count crawls at 2:16, which without the colon is the page.",
        "It costs £97, as pounds are pages here.",
        "Room 356 of the book has it.",
        "Es steht in 217, und das ist die Seitenzahl.",
        "x = 272, solve for the page.",
    ],
)
@pytest.mark.parametrize("step", [1, 7, 400])
async def test_a_sentence_that_speaks_of_a_page_keeps_no_number_that_might_be_one(answer: str, step: int) -> None:
    made = composer()
    shown = [await made.feed(TextChunk(answer[at : at + step])) for at in range(0, len(answer), step)]
    assert not re.search(r"\d{2}|:\d", "".join([*shown, await made.finish()]))


async def test_what_another_tool_has_told_is_no_page_for_standing_on_a_page_of_that_number() -> None:
    made = composer()
    made.learn([replace(passage(), page="38", last_page="39")])
    made.learn_elsewhere('{"degrees": 38}')
    shown = await made.feed(TextChunk("It is 38 degrees warm, and Ann ate 39 fish."))
    assert shown + await made.finish() == "It is 38 degrees warm, and Ann ate … fish."


async def test_what_a_reader_says_of_a_books_share_is_no_licence_for_one() -> None:
    made = composer()
    made.learn_words("What happens at 38% of the book?")
    await made.feed(TextChunk("You have read 38%. At 38% Ann leaves."))
    await made.finish()
    assert made.text == "You have read 38%. In the book Ann leaves."


async def test_a_share_is_known_only_where_a_share_was_given() -> None:
    made = composer()
    made.learn_figures("Ann kept 31 percent of the oil, and 62 men had 47 lamps.")
    await made.feed(TextChunk("Ann (31%) kept the oil. Ann left the men (40%), the lamps (47%) and the oil (31)."))
    await made.finish()
    assert made.text == "Ann (31%) kept the oil. Ann left the men, the lamps and the oil."


async def test_a_number_of_the_book_stands_only_in_its_company() -> None:
    made = composer()
    made.learn_figures("Dunmore paid 38 crowns for the lamp, of which 12 were false.")
    await made.feed(TextChunk("Dunmore gave (38) for the lamp. Ann drowned (38). Ann drowned, 12. Source: 38\n"))
    await made.feed(TextChunk("38\nAnn drowned.\n\n**38**\nShe paid in crowns."))
    await made.finish()
    begun = "Dunmore gave (38) for the lamp. Ann drowned. Ann drowned. Source: …\n"
    assert made.text == f"{begun}…\nAnn drowned.\n\n**38**\nShe paid in crowns."


async def test_an_age_in_brackets_may_be_the_readers() -> None:
    made = composer()
    made.learn_words("Was Jim 12 when he ran? And did Jane die on 17, or marry when she was 16?")
    await made.feed(TextChunk("Jim (12) ran. At 16, she married. It sank (17) then."))
    await made.finish()
    assert made.text == "Jim (12) ran. At 16, she married. It sank then."


async def test_a_number_of_the_reader_is_theirs_but_no_reference() -> None:
    made = composer()
    made.learn_words("How old was Ann in 38, and who were the 47?")
    made.learn_figures("“Ann” appears 51 times (The Light: 51).\n\n[Page 12 · The Light]\nAnn kept the light.")
    await made.feed(TextChunk("In 38 she was forty, of the 47 (38) she was the first, The Light (51), and left [47]."))
    await made.finish()
    assert made.text == "In 38 she was forty, of the 47 she was the first, The Light (51), and left."


@pytest.mark.parametrize("piece", ["[", "( ", "[(", "p. 1", "1", "p. ii ", "'a ", "“a", "[a](", "on page "])
async def test_a_model_gone_wild_keeps_nobody_waiting(piece: str) -> None:
    """Text that is matched in ever more ways, the longer it gets, would never come to an end here."""
    wild = (piece * 2_000)[:2_000] + "x" * 200 + "."
    streamed, _ = await compose(*[wild[at : at + 100] for at in range(0, len(wild), 100)])
    at_once, _ = await compose(wild)
    assert streamed.endswith(f"{'x' * 200}.")
    assert at_once.endswith(f"{'x' * 200}.")


@pytest.mark.parametrize("step", [1, 2, 3, 5, 50])
@pytest.mark.parametrize(
    "typed",
    [
        *(
            "on pa\u00adge 99",
            "on pa\u200dge 99",
            "on page\u200b 99",
            "on p.\u2060 9\u200b9",
            "on page **99**",
            "on p.  99",
        ),
        *(
            "on page <b>99</b>",
            "on page&nbsp;99",
            "on p. &#57;9",
            "on page\u00a0\u200e99",
            "on \u202epage 99",
        ),
    ],
)
async def test_no_disguise_of_a_page_gets_through_in_pieces(typed: str, step: int) -> None:
    answer = f"What Ann does {typed} is known."
    shown, _ = await compose(*(answer[at : at + step] for at in range(0, len(answer), step)))
    assert shown == "What Ann does in the book is known."


async def test_a_quotation_is_the_books_whatever_invisible_letters_are_in_it() -> None:
    words = sentences()[0].text.strip()
    shown, _ = await compose(f"“{words[:6]}\u00ad{words[6:]}”, she says; “Ann ne\u200bver kept anything at all.”")
    assert shown == f"“{words}”, she says; Ann never kept anything at all."


def german(text: str, /, **values: object) -> str:
    """Page references as a German writes them."""
    return text.replace("about ", "etwa ").replace("pp. ", "S. ").replace("p. ", "S. ").format(**values)


def cited(page: str, last: str = "", quote: str = "It was dark.", **parts: bool) -> Citation:
    return Citation(0, 9, quote, page, last or page, "", **parts)


@pytest.mark.parametrize(
    ("english", "translated"),
    [
        ("Ann kept it (p. 12).", "Ann kept it (S. 12)."),
        ("It was so. (about p. 7) Then it was not.", "It was so. (etwa S. 7) Then it was not."),
        ("So (p. 12, pp. 12-13, about p. 7).", "So (S. 12, S. 12-13, etwa S. 7)."),
        ("Nobody has cited (p. 99), nor (p. 1), nor p. 12.", "Nobody has cited (p. 99), nor (p. 1), nor p. 12."),
        ("“See the map (p. 12) first.” (p. 12)", "“See the map (p. 12) first.” (S. 12)"),
        ("> See the map (p. 12) first. (p. 12)", "> See the map (p. 12) first. (S. 12)"),
        ("You asked “what is it (p. 12) about?”", "You asked “what is it (p. 12) about?”"),
        ("„It was dark (p. 12).“ So (p. 12).", "„It was dark (S. 12).“ So (S. 12)."),
        ('"It was dark." (p. 12) It is 6" (p. 12).', '"It was dark." (S. 12) It is 6" (p. 12).'),
    ],
)
def test_an_answer_is_told_in_another_language_by_its_references_alone(english: str, translated: str) -> None:
    citations = [
        cited("12"),
        cited("12", "13"),
        cited("7", estimated=True),
        cited("8", quote="See the map (p. 12) first."),
    ]
    assert in_language(english, citations, german) == translated
    assert in_language(english, citations, str.format) == english
    assert in_language(english, [], german) == english


@given(st.text(alphabet='ab“”"„>(). p12,\n\ufdd0\ufdd1', max_size=80))
def test_what_is_no_reference_stays_letter_for_letter(text: str) -> None:
    assert in_language(text, [cited("12")], german).replace("(S. 12", "(p. 12").replace(", S. 12", ", p. 12") == text


@pytest.mark.parametrize("step", [3, 400])
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It says “Nobody knew why the lamp” [{0}].", "It says “Nobody knew why the lamp” (p. 13)."),
        (
            "“Ann kept the light” and “nobody knew why” [{0}].",
            "“Ann kept the light” and “nobody knew why” (p. 12, p. 13).",
        ),
        ("“kept the light for” long, as told [{2}].", "“kept the light for” long, as told (p. 12)."),
        ("“years. “I never let it”, she said [{0}].", "“years. “I never let it”, she said (p. 12)."),
        ("“The lamp”, she said [{0}].", "“The lamp”, she said (p. 12)."),
        (
            "„Ann kept the light for forty years.“ [{0}] „Nobody knew why the lamp had been dark.“ [{2}]",
            "„Ann kept the light for forty years.“ (p. 12) „Nobody knew why the lamp had been dark.“ (p. 13)",
        ),
        (
            "“Ann kept the light for forty” [{0}] and “nobody knew why the lamp” [{2}].",
            "“Ann kept the light for forty” (p. 12) and “nobody knew why the lamp” (p. 13).",
        ),
    ],
)
async def test_the_page_beside_a_quotation_is_the_one_where_it_stands(text: str, shown: str, step: int) -> None:
    keyed = text.format(*map(key_of, sentences()))
    assert (await compose(*(keyed[at : at + step] for at in range(0, len(keyed), step))))[0] == shown


@pytest.mark.parametrize(
    ("said", "page"),
    [
        ("Ben asks: “Nobody knew why the lamp had been dark that night.” That is all.", "13"),
        ("The story opens with “Ann kept the light for forty years”.", "12"),
        ("> Ann kept the light for forty years. “I never let it go out,” she said.", "12"),
    ],
)
async def test_a_quotation_without_a_key_is_cited(said: str, page: str) -> None:
    _, made = await compose(said)
    assert [citation.page for citation in made.citations] == [page]


@pytest.mark.parametrize("step", [1, 3, 400])
@pytest.mark.parametrize("line", ["**{}**", "## {}", "**{}?**", "**Chapter 3. {}**"])
async def test_a_heading_has_no_page_though_the_book_has_its_words(line: str, step: int) -> None:
    words = sentences()[0].text.rstrip(".")
    heading = line.format(words)
    text = f"{heading}\n{words}. And then?"
    shown, _ = await compose(*(text[at : at + step] for at in range(0, len(text), step)))
    assert shown == f"{heading}\n{words} (p. 12). And then?"


async def test_a_few_quoted_words_are_not() -> None:
    assert (await compose("Ann, who “kept the light”, drowned Ben."))[1].citations == []
    assert (await compose("Ann drowned Ben although she “kept the light for forty years”."))[1].citations == []


NIGHT = "Nobody knew why the lamp had been dark that night"
YEARS = "Ann kept the light for forty years"


@pytest.mark.parametrize("step", [1, 3, 7, 400])
@pytest.mark.parametrize(
    "quoted",
    ['"{}!"', '"{}."', "“{}?”", "„{}!“", "»{}!«", "« {} ! »", "「{}。」", "‘{}.’"],
)
async def test_a_sentence_ends_behind_the_marks_of_a_quotation_that_ends_in_a_stop(quoted: str, step: int) -> None:
    said = f"Ben asks: {quoted.format(NIGHT)}"
    text = f"{said} {YEARS}. {said} “I never let it go out,” she said. {said} True [{KEYS[0]}]. {said} The end."
    shown, _ = await compose(*(text[at : at + step] for at in range(0, len(text), step)))
    cited = f"{said} (p. 13)"
    own = "“I never let it go out,” she said (p. 12)."
    assert shown == f"{cited} {YEARS} (p. 12). {cited} {own} {cited} True (p. 12). {cited} The end."


@pytest.mark.parametrize("step", [1, 3, 7, 400])
@pytest.mark.parametrize(
    "told",
    [
        *(
            "he cried",
            "– said Ben",
            "Ben said",
            "Hobb asked, and left",
            "Van Helsing asked quietly",
            "Dr. Ann says to her",
        ),
        *("fragte Ben", "murmura Ben", "I thought"),
    ],
)
async def test_who_says_a_quotation_belongs_to_it(told: str, step: int) -> None:
    text = f"“{NIGHT}!” {told}. {YEARS}."
    shown, _ = await compose(*(text[at : at + step] for at in range(0, len(text), step)))
    assert shown == f"“{NIGHT}!” {told} (p. 13). {YEARS} (p. 12)."


async def test_who_says_a_false_quotation_gets_no_page_for_it() -> None:
    shown, _ = await compose(f'"Let it burn!" Hobb said to all the others in the house [{KEYS[0]}].')
    assert shown == "Let it burn! Hobb said to all the others in the house."


@pytest.mark.parametrize("told", ["Hobb says that it was so", 'Hobb said, "I never let it go out"', "Hobb is sad"])
async def test_another_sentence_about_who_speaks_is_one_of_its_own(told: str) -> None:
    assert (await compose(f'"{NIGHT}." {told}.'))[0].startswith(f'"{NIGHT}." (p. 13) {told}')


async def test_in_a_script_without_spaces_the_speaker_belongs_to_the_quotation_too() -> None:
    for told in ("と彼は言った", "他说"):
        assert (await compose(f"「{NIGHT}。」{told}。"))[0] == f"「{NIGHT}。」{told} (p. 13)。"
    assert (await compose(f"「{NIGHT}。」彼は来た。"))[0] == f"「{NIGHT}。」 (p. 13)彼は来た。"


async def test_a_short_sentence_behind_a_false_quotation_keeps_its_own_page() -> None:
    shown, _ = await compose(f"He says “let it burn.” (p. 38) He is sad [{KEYS[0]}].")
    assert shown == "He says let it burn. He is sad (p. 12)."
    shown, _ = await compose(f"It says “let it burn.” He says so [{KEYS[0]}].")
    assert shown == "It says let it burn. He says so."


@pytest.mark.parametrize("step", [1, 3, 7, 400])
async def test_a_quotation_over_two_lines_is_one(step: int) -> None:
    true, false = '"Ann kept the light\nfor forty years!"', '"Ann sold the light\nat once."'
    text = f"He says {true} [{KEYS[0]}] So.\nHe says {false} [{KEYS[0]}]"
    shown, made = await compose(*(text[at : at + step] for at in range(0, len(text), step)))
    assert shown == f"He says {true} (p. 12) So.\nHe says Ann sold the light\nat once."
    assert in_language(shown, made.citations, german) == shown.replace("(p. ", "(S. ")


@pytest.mark.parametrize("step", [1, 7, 400])
async def test_a_straight_mark_without_its_other_one_quotes_its_line_alone(step: int) -> None:
    text = f'He says "Ann kept the light\nThen "I never let it go out", 5" long.\n\nAnd so "it\nis [{KEYS[2]}].'
    shown, _ = await compose(*(text[at : at + step] for at in range(0, len(text), step)))
    assert shown.startswith('He says "Ann kept the light (p. 12)\nThen "I never let it go out"')
    assert shown.endswith("is (p. 13).")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is the address?", "The address is Piccadilly 347."),
        ("Wer ist das?", "Name: Renfield\nAlter: 59"),
        ("Qui est-ce ?", "Nom : Renfield\nÂge : 59"),
        ("Who are they?", "Ages: Renfield 59, Lucy 19, Mina 22."),
        ("How old are they?", "Renfield (59) and Mr. Swales (nearly 100)."),
        ("When was it?", "It was on 8 July 1893, on July 9, and on 3 May, 5 May and 8 May."),
        ("Wann war das?", "Am 8. Juli 1893 und am 3. Mai."),
        ("Who died?", "Lucy, age at death: 19"),
        ("How big is it?", "The room measures 12 by 15 feet, the wall 3 m by 4 m."),
        (
            "What is left?",
            "9 + 9 is 18. 12 − 9 = 3 boxes are missing. That leaves 3. She leaves 20 minutes later.",
        ),
        ("What is left?", "He leaves 3 boxes behind, and 12 less 9 is 3."),
        ("How old are they?", "Arthur is 29, Quincey about 30. His age is given as 59."),
        (
            "Is she ill?",
            "This is part 1 of 2. It was ten past 3. They wait until the 28th.",
        ),
        ("Is it likely?", "One in 10 survived. There is a 1 in 50 chance. Nobody over 40 is bitten."),
        ("How old is he?", "He is close to ninety, and was well over 80. He looked 30. He is between 40 and 50."),
        (
            "When does he come?",
            "Dinner is at 7 in the evening. Between 6 and 7 in the evening he is free.",
        ),
    ],
)
@pytest.mark.parametrize("step", [1, 5, 400])
async def test_a_number_stays_that_counts_what_one_before_it_counts(question: str, said: str, step: int) -> None:
    made = composer()
    made.learn_words(question)
    shown = [await made.feed(TextChunk(said[at : at + step])) for at in range(0, len(said), step)]
    assert "".join([*shown, await made.finish()]) == said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Where does it say so about the birds?", "Seward's Diary, 8 July, 213."),
        ("Tell me both place and page.", "Seward's Diary, 5 June, 213"),
        ("Where does it say so?", "Seward's Diary, 8 July, 21."),
        ("Where does it say so?", "Seward's Diary, July 213."),
        ("Where does it say so?", "Seward's Diary, 8th of July, 213-214."),
        ("Wo steht das?", "Sewards Tagebuch, 8. Juli, 213."),
        ("Où est-ce ?", "Journal de Seward, 8 juillet, 213."),
        ("Where does it say so?", "Diary, July 8: 213."),
        ("Where does it say so?", "Diary of July 8, 213, and July 9, 214."),
        ("Tell me of the birds", "He had sparrows in July, 213, and in August, 220."),
        ("On which page?", "Seward's Diary, 8 July, 213."),
        ("On which page?", "It stands under 5 June, 88."),
        ("Where are they?", "Renfield on 217, Lucy on 220 and Mina on 231."),
        ("Where do they die?", "He dies at 217, she at 230."),
        ("List them", "Renfield (217), Lucy (220), Mina (231)."),
        ("List them", "flies (217), (220), (231)"),
        ("When did he come?", "It sailed at 217, at 220 the fog came, and at 231 they were off Dover."),
        ("When did he come?", "The ship sails on 217, and at 220 it lands."),
        ("Tell me of them", "The kitten, 217 at Carfax, 213 at Piccadilly."),
        ("What is the address of the house?", "The address is given by Stoker 217."),
        ("What is the address of the house?", "The address is told by Mina at 217."),
        ("Where is the address?", "His address stands in Dracula, 217."),
        ("On which page is the address?", "The address is Piccadilly 347."),
        ("Tell me of his age", "His age is given at 217."),
        ("Tell me of his age", "Ages: Renfield 217, Lucy 220."),
        ("Tell me of his age", "He inherits at 217."),
        ("Tell me of his age", "He inherited the house, 88."),
        ("Tell me of his age", "Renfield (nearly 217) is a patient."),
        ("On which page does he inherit?", "He inherits at 88."),
        ("On which page does it sail?", "It sailed at 6, and at 8 it landed."),
        ("Index of animals", "Animals:\n- flies: 213\n- spiders: 214"),
        ("Index of animals", "Pages:\n- flies: 13\n- spiders: 14"),
        ("Index of animals", "Ages:\n- Renfield: 213"),
        ("Where are they told of?", "Where:\n- flies: 13\n- spiders: 14"),
        ("Tell me of him", "In chapter 6:\n- flies: 88\n- spiders: 89"),
        ("Tell me of him", "Chapters and pages:\n- flies: 13\n- spiders: 14"),
        ("Tell me of him", "Ages:\n- Renfield: 213"),
        ("Tell me of him", "The Light 88 has Renfield and his flies."),
        ("Tell me of him", "Penguin 217 tells of the flies."),
        ("Tell me of him", "Flies 217"),
        ("Tell me of him", "Leaves 217–218 tell of flies, and on leaves 219 to 220 he eats a spider."),
        ("Tell me of him", "Up to 217 he keeps flies only."),
        ("Tell me of him", "He eats it; it's 217 in mine."),
        ("Tell me of him", "In Whitby, 88, he keeps flies."),
        ("Tell me of him", "In June (88) he keeps flies."),
        ("Tell me of him", "On 5 June (88) he keeps flies."),
        ("Tell me of him", "On 5 June 88 he keeps flies."),
        ("Tell me of him", "He eats a spider (mid-217)."),
        ("Tell me of him", "He eats a spider at 217/400."),
        ("Erzähl von ihm", "Auf 217 isst er eine Spinne."),
        ("Erzähl von ihm", "Ab 217 wird er ruhig, und bis 230 isst er nichts."),
        ("Erzähl von ihm", "Auf der 217 isst er eine Spinne, und ab 230 isst er Fliegen."),
        ("说说他", "在217他吃了蜘蛛。"),
    ],
)
async def test_a_page_goes_that_looks_like_a_date_an_age_an_hour_or_one_of_a_row(question: str, said: str) -> None:
    shown = re.sub(
        r"\b\d{1,2}(?:st|nd|rd|th)?\.? (?:of )?(?:July|June|Juli|juillet)|July [89]|chapter 6",
        "",
        await answered(question, said),
    )
    assert not any(letter.isdigit() for letter in shown), shown


@pytest.mark.parametrize(
    ("said", "page"),
    [
        ("The ship ran at 11 knots, the launch at 217.", "217"),
        ("The ship ran at 11 knots, the tale at 31.", "31"),
        ("There are 29 at Carfax, 217 at Mile End.", "217"),
        ("There are 29 at Carfax, Stoker 217.", "217"),
        ("There are 29 boxes, 217.", "217"),
        ("Carfax got 29, Stoker 88.", "88"),
    ],
)
async def test_a_larger_number_behind_one_that_counts_is_a_page(said: str, page: str) -> None:
    assert page not in await answered("Tell me about it", said)
