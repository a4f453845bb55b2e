"""What a model knows by heart is found before it is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import domain.spoilers.detector as leaks_module
from domain.book import Chapter
from domain.spoilers.detector import RunIndex, SpoilerDetector
from domain.spoilers.filter import SpoilerFilter, has_hidden, hide, spans, uncovered
from storage.book_files.format import find_analyzer

READ = (
    "Marta came to the island on a Tuesday. The ferryman Hobb would not take her money, and Hobb was a poor man. "
    "It was a long way up to the light. There was nobody else to be seen, for the sun had gone behind the hill, and "
    "what there was of the road went on without a bend between two walls until she thought that it would never end. "
)
UNREAD = (
    "She learned that Lucian Orchard had put the lamp out for his drowned brother. The Light was dark. "
    "It was a long way home."
)
LEAKS, BOUND = SpoilerDetector.of(READ + UNREAD), len(READ)


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
    assert LEAKS.found_in(sentence, BOUND)


@pytest.mark.parametrize(
    "sentence",
    [
        "it was lucian.",
        "lucian's brother drowned",
        "the light, perhaps: the orchards",
        "It was 'Lucian' all along.",
        "'Lucian did it', she says.",
        "C’est la faute d’Orchard.",
    ],
)
def test_a_name_needs_no_capital_where_nothing_has_one_and_no_space_before_it(sentence: str) -> None:
    assert LEAKS.found_in(sentence, BOUND)


@pytest.mark.parametrize(
    "sentence",
    [
        "It was Lúcian.",
        "It was Ｌｕｃｉａｎ.",
        "It was 𝐋𝐮𝐜𝐢𝐚𝐧.",
        "It was Lu\u0441ian.",
        "It was Lu\u200bci\u00adan.",
        "It was <b>L</b>ucian.",
        "It was L&#117;cian&nbsp;Orchard.",
        "He put&nbsp;the <i>lamp</i> out.",
    ],
)
def test_letters_are_compared_as_they_are_seen(sentence: str) -> None:
    assert LEAKS.found_in(sentence, BOUND)


@pytest.mark.parametrize("said", ["Then came Rene\u0301e Danglars.", "Then came Renée.", "Then came Renee."])
@pytest.mark.parametrize("name", ["Renée", "Renee"])
def test_accents_make_no_other_name(name: str, said: str) -> None:
    text = f"It rained for an hour. In the evening {name} Danglars came to the house."
    leaks = SpoilerDetector.of(text)
    assert leaks.found_in(said, 20)
    assert not leaks.found_in(said, len(text))


@pytest.mark.parametrize(
    ("known", "also"), [("Родион Раскольников", "Родиона Раскольникова"), ("Авдотья Лужина", "Авдотьей Лужиной")]
)
def test_a_name_in_another_case_is_the_same_name(known: str, also: str) -> None:
    text = f"Потом пришёл {known}. Было тихо. Потом мы говорили о том, что {also} там нет. Шёл дождь."
    leaks, bound = SpoilerDetector.of(text), text.index("Было")
    assert not leaks.found_in(f"Я говорю о {also}.", bound)
    for form in (known, also):
        assert leaks.found_in(f"Тут {form}.", 0)
        assert not leaks.found_in(f"Тут {form}.", 0, known=f"Кто {known}?")


@pytest.mark.parametrize(
    ("language", "name", "read", "unread"),
    [
        ("pl", "Wokulski", "Wokulskiego", "Wokulskim"),
        ("pl", "Jan", "Jana", "Janem"),
        ("cs", "Vodička", "Vodičkou", "Vodičkovi"),
        ("fi", "Aapeli", "Aapelin", "Aapelista"),
        ("hu", "Nemecsek", "Nemecseket", "Nemecseknek"),
        ("el", "Ελένη", "Ελένης", "Ελένη"),
        ("tr", "Feride’ye", "Feride’nin", "Feride'den"),
    ],
)
def test_a_name_has_other_endings_in_other_languages(language: str, name: str, read: str, unread: str) -> None:
    text = f"dans le soir il vit {read} ici. Il pleuvait. Enfin tous parlaient de {unread} et pleuraient."
    leaks, bound = SpoilerDetector.of(text, analyzer=find_analyzer(language)), text.index("Il pleuvait")
    for form in (name, read, unread):
        assert not leaks.found_in(f"Je parle de {form} alors.", bound)
        assert leaks.found_in(f"Je parle de {form} alors.", 0)
        assert not leaks.found_in(f"Je parle de {form} alors.", 0, known=f"qui est {name}?")


def test_a_word_that_looks_like_a_name_in_another_case_is_a_word() -> None:
    text = "Порох лежал в углу. Было тихо. Потом пришла жена Пороха и села у окна."
    leaks, bound = SpoilerDetector.of(text), text.index("Было")
    assert not leaks.found_in("Порох лежал в углу.", bound)
    assert leaks.found_in("Она знала о Порохе.", bound)


def test_joiners_within_words_may_be_missing() -> None:
    text = "باران می\u200cآمد. در پایان کسی چراغ را برای برادرش خاموش کرد."
    leaks, bound = SpoilerDetector.of(text), text.index("در")
    assert leaks.found_in("کسی چراغ را برای برادرش خاموش کرد.", bound)
    assert not leaks.found_in("باران میآمد.", bound)


def test_a_name_in_small_letters_is_a_word_in_a_sentence_with_capitals() -> None:
    assert not LEAKS.found_in("It has an orchard.", BOUND)


def test_two_known_names_in_small_letters_can_be_news() -> None:
    text = "They saw that Jane Nunn and old Mr. Orchard had gone. In the end all of them called her Jane Orchard."
    leaks, bound = SpoilerDetector.of(text), text.index("In the end")
    assert leaks.found_in("so she is jane orchard now", bound)
    assert not leaks.found_in("there are jane and orchard, nunn and jane", bound)


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
    assert not LEAKS.found_in(sentence, BOUND)


def test_a_short_run_that_is_to_be_expected_of_the_books_words_gives_nothing_away() -> None:
    read = "The old lamp and the young keeper. " * 100
    leaks = SpoilerDetector.of(f"{read}At last the young lamp and old keeper died there.")
    assert not leaks.found_in("It is a young lamp and old as well.", len(read))
    assert leaks.found_in("The old keeper died there.", len(read))


def test_a_short_run_of_anybodys_words_gives_nothing_away_however_rare_it_is_in_the_book() -> None:
    leaks = SpoilerDetector.of(f"{READ}Then he did not know what was wrong with her brother.")
    assert not leaks.found_in("He did not know what.", BOUND)
    assert leaks.found_in("It was wrong with her brother.", BOUND)


def test_below_a_chapters_title_a_run_begins_anew() -> None:
    read, unread = (
        "Chapter I. Harker's Journal\n3 May. Bistritz. ",
        "Chapter V. Harker's Journal\n5 May. The Castle burns. ",
    )
    text, title = read + unread, "Chapter I. Harker's Journal"
    chapters = (
        Chapter(1, title, 0, len(read)),
        Chapter(2, "Chapter V. Harker's Journal", len(read), len(text)),
    )
    leaks = SpoilerDetector.of(text, chapters)
    assert not leaks.found_in("5 May.", len(read), before=f"**{title}**\n“")
    assert leaks.found_in("5 May. The Castle.", len(read), before="He wrote in Harker's journal on ")


def test_names_inside_a_word_with_an_ending_are_found_on_both_sides() -> None:
    text = "Then Mr. Gant’ll come. It rained on the O’Hara farm. They said that Gant had seen Ann and the Aldous boys."
    leaks, bound = SpoilerDetector.of(text), text.index("It rained")
    assert leaks.found_in("The O’Haras did it.", bound)
    assert leaks.found_in("Aldous’s boys did it.", bound)
    assert not leaks.found_in("Gant’s coming.", bound)
    assert not leaks.found_in("O’Hara’s farm.", text.index("They"))


def test_two_known_names_side_by_side_can_be_news() -> None:
    text = (
        "They saw that Jane Nunn and old Mr. Orchard had gone. In the end she was called Jane Orchard by all of them."
    )
    leaks, bound = SpoilerDetector.of(text), text.index("In the end")
    assert leaks.found_in("So she is Jane Orchard now.", bound)
    assert not leaks.found_in("There are Jane and Orchard, Nunn and Jane.", bound)
    assert not leaks.found_in("Is she Jane Orchard?", bound, known="Will Jane marry Orchard?")


def test_a_year_that_comes_later_gives_it_away_and_a_page_number_does_not() -> None:
    text = "They met in 1890 by the sea. It was in 1912 that the ship was lost, and 14 men were drowned."
    leaks, bound = SpoilerDetector.of(text), text.index("It was")
    assert leaks.found_in("That was in 1912.", bound)
    assert not leaks.found_in("They met in 1890, 14 times (pp. 1912-1913).", bound)


def test_where_nouns_have_capitals_only_names_are_names() -> None:
    read = "Es war einmal ein Müller, der hieß Hobb, und Hobb wohnte in der Mühle am Bach. Da sagte Hobb kein Wort. "
    unread = (
        "Später kam Lucian mit dem Brot, und Lucian lachte, und der Bruder von Lucian aß, was ihm Lucian brachte. "
        "Das Korn war reif, und mit Korn füllte man die Säcke. Niemand wußte, was aus dem Korn und aus der Mühle wurde."
    )
    leaks = SpoilerDetector.of(read + unread)
    assert leaks.found_in("Es war Lucian.", len(read))
    assert not leaks.found_in("Hobb mahlt wohl Korn für Brot.", len(read))


def test_scripts_without_spaces_are_compared_by_characters() -> None:
    read = "昔々あるところに爺さんと婆さんが住んでいました。ある日マリーさんが来ました。"
    unread = "桃が川を流れて来て婆さんは桃を拾いました。そしてルシアンさんが鬼を退治しました。"
    leaks = SpoilerDetector.of(read + unread)
    assert leaks.found_in("婆さんは桃を拾いました。", len(read))
    assert leaks.found_in("ルシアンが犯人です。", len(read))
    assert not leaks.found_in("爺さんは山へ行き、マリーが来ました。", len(read))


@given(st.text(alphabet="ab AB.\n’", max_size=30), st.text(alphabet="ab AB.\n’", max_size=30))
def test_what_has_been_read_word_for_word_is_never_a_leak(read: str, unread: str) -> None:
    assert not SpoilerDetector.of(f"{read} {unread}").found_in(read, len(read))


def test_a_book_in_slices_is_the_same_book(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = SpoilerDetector.of(READ + UNREAD)
    monkeypatch.setattr(leaks_module, "SLICE", 40)
    assert SpoilerDetector.of(READ + UNREAD) == whole


def test_what_the_reader_brought_up_is_no_secret() -> None:
    assert not LEAKS.found_in("I find nothing about Lucian Orchard.", BOUND, known="Who is Lucian Orchard?")


async def tells(sentence: str, /, before: str = "") -> bool:
    return LEAKS.found_in(sentence, BOUND, before=before)


async def gated(*pieces: str) -> str:
    gate = SpoilerFilter(tells)
    shown = [await gate.feed(piece) for piece in pieces]
    shown.append(await gate.finish())
    assert gate.text == "".join(shown)
    return gate.text


def drawn(text: str) -> str:
    """The text with bars around what is hidden."""
    return "".join(f"||{span.text}||" if span.is_hidden else span.text for span in spans(text))


async def test_a_sentence_that_tells_too_much_is_hidden_and_the_others_are_not() -> None:
    shown = await gated("Marta came (p. 1). It wa", "s Lucian (p. 9). She", " paid.")
    assert drawn(shown) == "Marta came (p. 1). ||It was Lucian (p. 9).|| She paid."


async def test_a_reference_behind_a_full_stop_stays_with_its_sentence() -> None:
    shown = await gated("Marta came. (about p. 1) It was Lucian. (p. 2) She paid.")
    assert drawn(shown) == "Marta came. (about p. 1) ||It was Lucian.|| (p. 2) She paid."


@pytest.mark.parametrize("said", ["She paid (p. 3, where Lucian leaves).", "(p. 9, it was Lucian) She paid."])
async def test_words_beside_a_page_are_looked_at(said: str) -> None:
    assert "Lucian" in "".join(span.text for span in spans(await gated(said)) if span.is_hidden)


@pytest.mark.parametrize("pages", ["p. 9", "about pp. 12-13", "p. xxviii", "pp. 3, 14 and 1912", "p. A-12"])
async def test_pages_alone_are_not(pages: str) -> None:
    assert drawn(await gated(f"Marta came. ({pages}) It was Lucian.")) == f"Marta came. ({pages}) ||It was Lucian.||"


async def test_nothing_of_a_sentence_is_shown_before_it_has_been_looked_at() -> None:
    gate = SpoilerFilter(tells)
    assert await gate.feed("It was Luc") == ""
    assert await gate.feed("ian.") == ""
    assert "||It was Lucian.||" in drawn(await gate.finish())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("She put the lamp. Out for his drowned brother.", "She put the lamp. ||Out for his drowned brother.||"),
        ("He would put!\nThe lamp out, he said.", "He would put!\n||The lamp out, he said.||"),
        ("For his. Drowned. Brother.", "For his. Drowned. ||Brother.||"),
    ],
)
async def test_a_run_of_words_is_found_across_the_end_of_a_sentence(text: str, shown: str) -> None:
    assert drawn(await gated(text)) == shown


@pytest.mark.parametrize(
    "said",
    ["_Lucian_ came.", "**Lucian** came.", "*Lucian Orchard* came.", "Then “Lucian” came.", "It is `Lucian`."],
)
async def test_a_name_in_any_dress_is_found(said: str) -> None:
    assert f"||{said}||" in drawn(await gated(said))


@pytest.mark.parametrize(
    "text",
    [
        "```\nIt was Lucian.\n```\nShe paid.",
        "~~~text\nMarta.\nIt was Lucian. Yes.\n~~~",
        "It says `He came. It was Lucian. Yes.` there.",
        "| Who | What |\n|---|---|\n| Dr. Lucian | the lamp |\n",
        "> | Lucian. He did. | x |",
        "```It was Lucian.```",
    ],
)
async def test_in_code_and_tables_the_words_themselves_are_taken_out(text: str) -> None:
    shown = await gated(text)
    assert "Lucian" not in shown
    assert "(hidden)" in shown


async def test_after_a_block_of_code_covers_are_used_again() -> None:
    assert "\n||It was Lucian.||" in drawn(await gated("```\nShe paid.\n```\nIt was Lucian."))
    assert "\n||It was Lucian.||" in drawn(await gated("She paid `twice. He left.\nIt was Lucian."))


@pytest.mark.parametrize(
    "text", [f"So {hide('x')} it is. It was Lucian. Well.", "It was Lucian\ufdd1", "a\ufdd0 It was Lucian. \ufdd1b"]
)
async def test_nothing_the_model_writes_around_it_lifts_a_cover(text: str) -> None:
    hidden = [span.text for span in spans(await gated(text)) if span.is_hidden]
    assert len(hidden) == 1
    assert "Lucian" in hidden[0]


async def test_without_a_bound_all_passes_at_once() -> None:
    gate = SpoilerFilter(None)
    assert await gate.feed("It was Luc") == "It was Luc"


async def test_the_model_is_not_told_what_was_hidden() -> None:
    text = "Marta came. It was Lucian. It rained."
    assert uncovered(await gated(text)) == text
    assert not has_hidden(text)


async def test_a_title_or_an_initial_does_not_end_a_sentence() -> None:
    assert drawn(await gated("It was Mr. Orchard, J. Orchard. Well.")) == "||It was Mr. Orchard, J. Orchard.|| Well."


async def test_an_item_stays_an_item() -> None:
    assert drawn(await gated("- It was Lucian.\n1. She paid.\n")) == "- ||It was Lucian.||\n1. She paid.\n"


@given(
    st.lists(
        st.sampled_from(["It was ", "Lucian", ". ", "Mr. ", "\n", "- ", "She paid", "!”", " ", "1. "]), max_size=12
    )
)
async def test_a_gate_shows_the_same_however_the_text_arrives(pieces: list[str]) -> None:
    assert await gated(*pieces) == await gated("".join(pieces))


@given(st.lists(st.sampled_from("abc"), max_size=60), st.lists(st.sampled_from("abc"), min_size=3, max_size=3))
def test_a_run_is_found_where_it_first_stands(words: list[str], run: list[str]) -> None:
    stands = [at for at in range(len(words) - 2) if words[at : at + 3] == run]
    assert next(RunIndex.of(words, 3).places(run), None) == (stands[0] if stands else None)


@given(st.text(alphabet="ab .", max_size=80), st.text(alphabet="ab .", max_size=30), st.integers(0, 80))
def test_long_runs_are_found_as_if_the_whole_book_were_looked_through(book: str, said: str, read_to: int) -> None:
    words, asked = book.replace(".", " ").split(), said.replace(".", " ").split()
    read = book[:read_to].replace(".", " ").split()
    if read_to < len(book) and book[read_to - 1 : read_to + 1].isalpha():
        read = read[:-1]  # a word that has been read by half

    def runs(of: list[str]) -> set[tuple[str, ...]]:
        return {tuple(of[at : at + leaks_module.LONG_RUN]) for at in range(len(of) - leaks_module.LONG_RUN + 1)}

    told = runs(asked) & runs(words) - runs(read)
    assert SpoilerDetector.of(book).found_in(said, read_to) >= bool(told)


@pytest.mark.parametrize("sign", [" ", "\n", "(", "(p. ", "(about p. 1", "_", "A’", "1,", "ア"])
def test_a_long_answer_of_one_sign_is_checked_to_its_end(sign: str) -> None:
    """With this many signs, work that grows with their square would outlast the time a test has."""
    assert LEAKS.found_in(f"{sign * 100_000} It was Lucian.", BOUND)


def test_only_the_story_counts() -> None:
    contents = "Contents\n\nThe Lamp\n\nHow Barnaby Left the Island in the Night\n\n"
    first = "The Lamp\n\nIt burned, and Mara saw it. " * 20
    second = "How Barnaby left the island in the night\n\nThat was how it was, and so Barnaby went. " * 20
    licence = "This is what Michael Hart has given to everybody, and Hart is thanked."
    text = f"{contents}{first}{second}{licence}"
    middle, end = len(contents) + len(first), len(text) - len(licence)
    chapters = (Chapter(1, "The Lamp", len(contents), middle), Chapter(2, "How Barnaby Left", middle, end))
    detector = SpoilerDetector.of(text, chapters)
    assert detector.found_in("In the end Barnaby goes.", middle)
    assert detector.found_in("Later somebody left the island in the night.", middle)
    assert not detector.found_in("In the end Mara goes, says Michael Hart.", middle)
    assert not detector.found_in("In the end Barnaby goes.", end)
    assert detector.found_in("In the end Mara goes.", 20)
