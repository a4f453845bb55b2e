"""Quotations are the book's words exactly, in marks that cannot be mistaken for the book's own."""

from dataclasses import replace

import pytest

from bot.providers.extractive.language import Language
from bot.providers.extractive.quotation import (
    Candidate,
    gather,
    introduce,
    quotations,
    render,
    spoken,
    with_whole_replies,
)
from bot.providers.extractive.signs import is_like
from bot.providers.extractive.transcript import last_quoted
from domain.book import Passage, Sentence
from domain.citations.keys import key_of
from domain.citations.quotations import Quotations


def candidates(*texts: str, gap: int = 1) -> list[Candidate]:
    placed, at = [], 0
    for text in texts:
        placed.append(Sentence(at, at + len(text), text))
        at += len(text) + gap
    return gather([[Passage(1, 0, at, "1", "1", "", tuple(placed))]], Language.ENGLISH)


def rendered(*texts: str, gap: int = 1, language: Language = Language.ENGLISH) -> str:
    return render(quotations(candidates(*texts, gap=gap)), language)


def key(text: str, start: int = 0) -> str:
    return f"[{key_of(Sentence(start, start + len(text), text))}]"


def test_a_sentence_is_quoted_with_its_key() -> None:
    assert rendered("The lamp\n  was dark.") == f"“The lamp was dark.” {key('The lamp' + chr(10) + '  was dark.')}"


@pytest.mark.parametrize(
    ("language", "quoted"), [(Language.GERMAN, "„Es war dunkel.“"), (Language.FRENCH, "«Es war dunkel.»")]
)
def test_marks_are_those_of_the_language(language: Language, quoted: str) -> None:
    assert rendered("Es war dunkel.", language=language).startswith(quoted)


def test_neighbours_are_one_quotation() -> None:
    first, second = "The lamp was dark.", "Nobody knew why."
    assert rendered(first, second) == f"“{first} {second}” {key(first)} {key(second, 19)}"


def test_what_is_apart_is_quoted_apart() -> None:
    assert rendered("The lamp was dark.", "Nobody knew why.", gap=50).count("“") == 2


def test_several_long_quotations_are_blocks() -> None:
    first, second = "The lamp was dark again. " * 6, "Nobody knew why it was. " * 7
    blocks = rendered(first, second, gap=50)
    assert [block[:10] for block in blocks.split("\n\n")] == ["> The lamp", "> Nobody k"]
    assert rendered(f"{first} {second}").startswith("“The lamp")


@pytest.mark.parametrize("left_out", ["5", "***"])
def test_what_stands_around_the_number_of_a_note_is_quoted_apart(left_out: str) -> None:
    assert rendered("The lamp was dark.", left_out, "Nobody knew why.").count("“") == 2


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("“Not before noon.”", "“Not before noon.”"),
        ('"Not before noon."', "“Not before noon.”"),
        ("“Not before noon.", "“Not before noon.”"),
        ("Not before noon.”", "“Not before noon.”"),
        ("‘Not before noon,’ he said.", "“‘Not before noon,’ he said.”"),
    ],
)
def test_marks_around_the_whole_become_ours(text: str, quoted: str) -> None:
    assert rendered(text) == f"{quoted} {key(text)}"


@pytest.mark.parametrize(
    "text", ["“No,” he said.", 'He said "no" and left.', "Er sagte „nein“ und ging.", "Il dit « non »."]
)
def test_a_sentence_with_marks_inside_is_set_off(text: str) -> None:
    assert rendered(text) == f"> {text} {key(text)}"


def test_a_mark_whose_partner_is_elsewhere_is_left_out() -> None:
    assert rendered("“I come.", "“No,” he said.", gap=40).splitlines()[0].startswith("> I come.")


@pytest.mark.parametrize(
    ("before", "reply", "after"),
    [
        ("It rained.", ("“I come.", "I always come.", "You know it,” she said."), "Nobody stirred."),
        ("Es regnete.", ("„Ich komme.", "Ich komme immer.“"), "Er ging."),
        ("Es regnete.", ("»Ich komme.", "Ich komme immer.«"), "Er ging."),
        ("Il pleuvait.", ("« Je viens.", "Je viens toujours. »"), "Il partit."),
        ("It rained.", ('"I come.', 'I always come."'), "Nobody stirred."),
        ("“No.”", ("She said: “I come.", "I always come.” And then: “Do you?", "Yes.”"), "“No.”"),
    ],
)
def test_a_reply_is_quoted_whole(before: str, reply: tuple[str, ...], after: str) -> None:
    found = candidates(before, *reply, after)
    for end in (found[1], found[-2]):
        assert [each.text for each in with_whole_replies([end], found, most_words=40)] == [*reply]


def test_a_reply_that_does_not_fit_is_cut() -> None:
    found = candidates("“I come.", "I always come.”")
    assert with_whole_replies(found[:1], found, most_words=3) == found[:1]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("“You can cross at five,” said Varley.", ["“You can cross at five,” said Varley."]),
        ("“You can cross at five,” he said.", ["Varley looked up.", "“You can cross at five,” he said.", "It rained."]),
        ("You can cross, Ann, at five.", ["Varley looked up.", "You can cross, Ann, at five.", "It rained."]),
        ("“I can cross, Ann.”", ["Varley looked up.", "“I can cross, Ann.”", "It rained."]),
    ],
)
def test_a_line_that_names_its_speaker_needs_nothing_else(line: str, shown: list[str]) -> None:
    found = candidates("Varley looked up.", line, "It rained.")
    passage = Passage(1, 0, found[-1].end, "1", "1", "", tuple(each.sentence for each in found))
    hit = Passage(1, found[1].start, found[1].end, "1", "1", "", (found[1].sentence,))
    assert [each.text for each in spoken(hit, [passage], Language.ENGLISH, with_speaker=True)] == shown
    assert [each.text for each in spoken(hit, [passage], Language.ENGLISH, with_speaker=False)] == [line]


@pytest.mark.parametrize(
    ("before", "is_shown"), [("Then old Varley spoke.", True), ("It was dark.", False)], ids=["two before", "nowhere"]
)
def test_the_speaker_of_a_line_is_looked_for_a_little_further(before: str, *, is_shown: bool) -> None:
    told = [before, "“It rains.", "You can cross at five.”"]
    found = candidates(*told)
    passage = Passage(1, 0, found[-1].end, "1", "1", "", tuple(each.sentence for each in found))
    hit = Passage(1, found[-1].start, found[-1].end, "1", "1", "", (found[-1].sentence,))
    quoted = [each.text for each in spoken(hit, [passage], Language.ENGLISH, with_speaker=True)]
    assert quoted == (told if is_shown else told[1:])


def test_a_part_of_a_sentence_shows_that_it_is_one() -> None:
    long = (
        f"The lamp was dark {'and the sea was loud beneath the cold tower ' * 3}; nobody had seen the keeper since the "
        "old boat left the harbour on that Monday in the long grey March of the storms."
    )
    first, second = candidates(long)
    assert render(quotations([first]), Language.ENGLISH).endswith(f" …” {key(long)}")
    assert render(quotations([second]), Language.ENGLISH).startswith("“… nobody had seen")
    assert render(quotations([first, second]), Language.ENGLISH) == f"“{' '.join(long.split())}” {key(long)}"


@pytest.mark.parametrize("text", ["The letter was to this effect:", "He told us:--"])
def test_what_only_announces_something_shows_that_it_goes_on(text: str) -> None:
    assert rendered(text).startswith(f"“{text} …” [")


def test_a_mark_that_closes_what_was_said_stays_with_it() -> None:
    told = (
        f"‘If one only knew the way {'to the tower and back ' * 5}--’ when she saw the keeper {'far out at sea ' * 6}."
    )
    assert [each.text[:10] for each in candidates(told)] == ["‘If one on", "when she s"]


def test_the_file_name_of_a_picture_is_nobodys_line() -> None:
    line, picture = "You can cross at five.", "20-163.jpg (54K)"
    found = candidates("Varley looked up.", line, picture)
    passage = Passage(1, 0, found[-1].end, "1", "1", "", tuple(each.sentence for each in found))
    hit = Passage(1, found[1].start, found[1].end, "1", "1", "", (found[1].sentence,))
    told = spoken(hit, [passage], Language.ENGLISH, with_speaker=True)
    assert [each.text for each in told] == ["Varley looked up.", line]


async def test_what_is_quoted_passes_the_check_of_quotations() -> None:
    texts = [
        "“Sixty-two posts,” he said at last. “If anybody tells you sixty, he’s",
        "The *road* is — well — a mile long.",
    ]
    check = Quotations(_nowhere)
    check.learn(" ".join(texts))
    written = rendered(*texts, gap=30)
    assert "".join(piece.text for piece in await check.check(written)) == written


async def _nowhere(_: str) -> bool:
    return False


SHORT, NEXT = "Miss Prism.", "She left the key on the shelf by the door."
LONG_SENTENCE = f"The lamp stood in a tower {'behind the church ' * 9}; and Hobb rowed {'out to it at night ' * 9}."


@pytest.mark.parametrize(
    ("answer", "last"),
    [
        ("“Hobb told Miss Prism. She heard Miss Prism.” (p. 1)", "Hobb told Miss Prism."),
        (f"“… {LONG_SENTENCE[LONG_SENTENCE.index('and') :]}” (p. 1)", LONG_SENTENCE),
        ("“Miss Prism.” (p. 1)", SHORT),
    ],
)
def test_the_last_quotation_is_no_short_sentence_that_is_like_it(answer: str, last: str) -> None:
    texts, at, placed = ("Hobb told Miss Prism.", LONG_SENTENCE, NEXT, SHORT), 0, []
    for text in texts:
        placed.append(Sentence(at, at + len(text), text))
        at += len(text) + 1
    found = last_quoted([(answer, [Passage(1, 0, at, "1", "1", "", tuple(placed))])])
    assert found is not None
    assert found.sentence.text == last


def test_a_lead_stands_before_a_quotation_or_above_a_block() -> None:
    assert introduce("The book says:", "“A.”") == "The book says: “A.”"
    assert introduce("The book says:", "> “A,” he said.") == "The book says:\n\n> “A,” he said."
    assert introduce("", "“A.”") == "“A.”"


def test_what_stands_in_several_places_is_quoted_once_with_all_its_pages() -> None:
    refrain, other = "The lamp was dark that night.", "Marta found a brass key under the stairs."
    keys = [key(refrain, start) for start in (0, len(refrain) + 100)]
    assert rendered(refrain, refrain, gap=100) == f"“{refrain}” {' '.join(keys)}"
    later = rendered(f"{other[:-1]} in May.", refrain, other, refrain, gap=1)
    assert later.count(refrain) == 2, "the book says it twice there"
    assert rendered("No, sir.", "No, sir.", gap=100).count("No, sir.") == 2, "short replies may recur"
    [first, again] = quotations([*candidates(refrain, gap=100), *moved(candidates(refrain, other), by=500)])
    assert (first.text, again.text) == (refrain, other)


def moved(found: list[Candidate], by: int) -> list[Candidate]:
    """The same further on in the book."""
    return [
        replace(
            each,
            position=each.position + by,
            run=each.run + by,
            start=each.start + by,
            end=each.end + by,
            sentence=replace(each.sentence, start=each.sentence.start + by, end=each.sentence.end + by),
        )
        for each in found
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("I will go.” She went. “Do you hear?", "“… I will go.” She went. “Do you hear? …”"),
        ('See!" he said. "One is from you.', '"… See!" he said. "One is from you. …"'),
        ("Nein.« Sie ging. »Ja.", "»… Nein.« Sie ging. »Ja. …«"),
        ("He said “Good day” and left. “I will", "He said “Good day” and left. “I will …”"),
        ("Die Nadel.“ Er ging. „Ja.“", "„… Die Nadel.“ Er ging. „Ja.“"),
        ("Il dit « non » et rit. « Oui.", "Il dit « non » et rit. « Oui. …»"),
        ("I see... He is gone.” “Who?... Ann?”", "“… I see... He is gone.” “Who?... Ann?”"),
        ("Hier wohne ich ...« »Ach ...«", "»… Hier wohne ich ...« »Ach ...«"),
        ("I said “What for?”’", "‘… I said “What for?”’"),
        ("“The boys’ cart is ‘old,’” he said. “It is.”", "“The boys’ cart is ‘old,’” he said. “It is.”"),
    ],
)
def test_a_reply_that_is_cut_is_complete_in_its_marks(text: str, shown: str) -> None:
    assert rendered(text).startswith(f"> {shown} [")


@pytest.mark.parametrize(
    ("line", "told", "is_alike"),
    [
        ("call me ismael", "Call me Ishmael.", True),
        ("my feelings will not be suppressed", "My feelings will not be repressed.", True),
        ("a truth known by all, that a single man", "It is a truth universally acknowledged, that a single man", True),
        ("it was the best of times", "It was the prospect of constant society, and good society.", False),
        ("mirror mirror on the wall", "The voice came from a bird in a cage on the wall.", False),
        ("Tom, you are in love", "Tom Sawyer, you are just as mean as you can be.", False),
        ("to be or not to be", "It may be or not, as I have to be there.", False),
        ("off with her head", "How funny among the people that walk with their heads downward!", False),
        ("off with his head", "“Off with her head!”", True),
    ],
)
def test_a_line_is_like_another_if_most_of_its_words_are_there_in_order(line: str, told: str, is_alike: bool) -> None:
    assert is_like(line, told, Language.ENGLISH) is is_alike
