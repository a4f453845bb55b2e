"""Whole turns on a small invented book: asked, looked up, answered, checked."""

import re
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path

import pytest

from bot.providers.extractive.language import Language
from bot.providers.extractive.transcript import last_quoted
from bot.providers.extractive.wording import PHRASES
from domain.citations.page_numbers import TypedPages
from domain.tools.registry import error_output
from tests.bot.providers.extractive.reading import Talk, book_text, opened_view, reading

SAY = PHRASES[Language.ENGLISH]

CHAPTERS = {
    "I. The Arrival": (
        "Marta Quill came to the island on a Tuesday in March. The ferryman, old Hobb, would not take money from her. "
        "He had rowed the boat for thirty years. “Sixty posts,” he said at last. “Count them yourself.”\n\n"
        "Marta was glad when she saw the tower. Her trade was the mending of clocks. She carried a crate of tools."
    ),
    "II. The Lamp": (
        "The lamp had been dark on the night of the ninth, because somebody had sold the oil. There were ninety-five "
        "steps to the lamp. Marta found a brass key under the stairs. It opened a cupboard in the kitchen. In the "
        "cupboard lay a red book with a torn page. The paper smelled of fish and of paraffin.\n\n"
        "A clerk had ruled it with great care, line after line, and nobody had written a word on the first forty "
        "leaves. From the forty-first on it was full. The hand was small and upright. Every entry began with the "
        "weather, and most of them ended there. Wind, rain, fog, and wind again went down the margin like beads. "
        "Twice there was a drawing of a gull. Once, in the middle of a summer, somebody had pressed a clover leaf."
    ),
    "III. The Keeper": (
        "It was Hobb who had put the lamp out. He had done it for his brother Lucian, who drowned in 1887. Lucian lies "
        "in the churchyard behind the mill. Marta closed the book and gave it back."
    ),
}


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Talk]:
    async with reading(tmp_path, CHAPTERS) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "quoted", "page"),
    [
        ("Who put the lamp out?", "It was Hobb who had put the lamp out.", "3"),
        ("When did Marta come to the island?", "Marta Quill came to the island on a Tuesday in March.", "1"),
        ("Where does Lucian lie?", "Lucian lies in the churchyard behind the mill.", "3"),
        ("How many steps are there to the lamp?", "There were ninety-five steps to the lamp.", "2"),
        ("How long had Hobb rowed the boat?", "He had rowed the boat for thirty years.", "1"),
        ("Why was the lamp dark?", "because somebody had sold the oil", "2"),
        ("What did Marta find under the stairs?", "Marta found a brass key under the stairs.", "2"),
        ("How did Marta feel when she saw the tower?", "Marta was glad when she saw the tower.", "1"),
        ("What was Marta's trade?", "Her trade was the mending of clocks.", "1"),
    ],
)
async def test_a_question_is_looked_up_and_answered_with_the_page(
    talk: Talk, question: str, quoted: str, page: str
) -> None:
    turn = await talk.ask(question)
    assert turn.tools[0] == "search_book"
    assert quoted in turn.text
    assert f"(p. {page})" in turn.text
    assert quoted in " ".join(citation.quote for citation in turn.citations)


async def test_what_is_quoted_comes_through_the_checks_as_it_was_written(talk: Talk) -> None:
    turn = await talk.ask("What did the ferryman say about the posts?")
    assert turn.text.startswith("> ")
    assert "“Sixty posts,” he said at last." in turn.text
    assert "[s-" in turn.written
    assert "[s-" not in turn.text


async def test_somebody_is_introduced(talk: Talk) -> None:
    turn = await talk.ask("Who is Hobb?")
    assert turn.tools == ["search_book", "who_is"] or turn.tools == ["who_is", "search_book"]
    assert "The ferryman, old Hobb" in turn.text


async def test_somebody_is_first_met_where_the_name_first_stands(talk: Talk) -> None:
    turn = await talk.ask("How do we first meet Hobb?")
    assert turn.text.startswith("> The ferryman, old Hobb, would not take money from her. He had rowed the boat")
    assert "put the lamp out" not in turn.text
    assert {citation.page for citation in turn.citations} == {"1"}


async def test_somebody_called_by_name_is_met_where_something_is_told(tmp_path: Path) -> None:
    calls = "“Ralf!” No answer. “RALF!” No answer. “Where is that boy hiding from me?” "
    told = "The old lady looked over the edge of her spectacles at the empty hall, and then under them at the stairs."
    async with reading(tmp_path, {"I. The Call": f"{calls}{told} Nobody came. Ralf was in the orchard."}) as talk:
        turn = await talk.ask("How do we first meet Ralf?")
    assert told in turn.text
    assert "orchard" not in turn.text


async def test_the_book_begins_where_its_story_does(tmp_path: Path) -> None:
    preface = {"Preface to this edition": "Hobb, it will turn out, did it. " * 20}
    async with reading(tmp_path, preface | CHAPTERS) as talk:
        turn = await talk.ask("How does the book begin?")
    assert f"{SAY.begins} " in turn.text or turn.text.startswith(SAY.begins)
    assert "Marta Quill came to the island on a Tuesday in March." in turn.text
    assert "it will turn out" not in turn.text


@pytest.mark.parametrize("message", ["How does it end?", "What happens at the end of the book?", "Wie endet das Buch?"])
async def test_the_book_ends_where_its_story_does(tmp_path: Path, message: str) -> None:
    last = {
        "III. The Key": "The key went out with the tide. Marta took the ferry home.\n\nTHE END\n\nBuy our almanac. "
    }
    async with reading(tmp_path, CHAPTERS | last | {"Afterword": "Hobb did not write this book. " * 20}) as talk:
        turn = await talk.ask(message)
    assert turn.text.startswith((SAY.ends, PHRASES[Language.GERMAN].ends))
    assert "Marta took the ferry home." in turn.text
    assert "almanac" not in turn.text
    assert "did not write" not in turn.text


async def test_the_end_is_not_told_to_somebody_who_has_not_read_it(tmp_path: Path) -> None:
    async with reading(tmp_path, CHAPTERS, is_open=False) as talk:
        turn = await talk.ask("How does the book end?")
    assert turn.text == SAY.end_ahead
    assert not turn.tools


async def test_a_chapter_begins_and_ends_where_it_does_and_not_where_the_book_does(tmp_path: Path) -> None:
    parts = ("I. The Mill", "II. The Rain", "III. The Key")
    talked = " ".join(f"Marta and old Hobb carried {number} oars up to the lamp of the light." for number in range(30))
    story = {title: f"Hobb opened {title[-4:]}. {talked} Marta shut {title[-4:]}." for title in parts}
    async with reading(tmp_path, story, ("1", "2", "3"), is_open=False) as talk:
        ends, begins = await talk.ask("How does chapter 2 end?"), await talk.ask("wie beginnt das zweite Kapitel")
        assert (await talk.ask("How does chapter 7 end?")).text == SAY.no_chapter
    assert ends.text.startswith(SAY.ends)
    assert "Marta shut Rain." in ends.text
    assert "Key" not in ends.text
    assert begins.text.startswith(PHRASES[Language.GERMAN].begins)
    assert "Hobb opened Rain." in begins.text
    assert "Mill" not in begins.text
    half = len(book_text(story).text) // 2
    async with reading(tmp_path, story, ("1", "2", "3"), half, is_open=False) as talk:
        assert (await talk.ask("How does chapter 2 end?")).text == SAY.end_ahead
        assert "Marta shut Mill." in (await talk.ask("How does chapter 1 end?")).text


KEY = "> “Marta found a brass key under the stairs.”"
"""As a message has it that asks about a passage."""


@pytest.mark.parametrize(
    ("words", "quoted"),
    [
        ("What did it open?", "It opened a cupboard in the kitchen."),
        ("What does this mean?", "Marta found a brass key under the stairs."),
        ("And then?", "It opened a cupboard in the kitchen."),
        ("Where is this?", f"{SAY.line} “Marta found a brass key under the stairs.” (p. 2)"),
        ("Was bedeutet das?", "Marta found a brass key under the stairs."),
        ("Why was the lamp dark?", "because somebody had sold the oil"),
    ],
)
async def test_a_question_about_a_passage_is_answered_from_there(talk: Talk, words: str, quoted: str) -> None:
    turn = await talk.ask(f"{words}\n\n{KEY}")
    assert quoted in turn.text
    assert {citation.page for citation in turn.citations} == {"2"}


@pytest.mark.parametrize(
    "added",
    [
        "Excerpt From\nA Small Book\nNobody\nhttps://books.apple.com/1\nThis material may be protected by copyright.",
        "Excerpt From: Nobody. “A Small Book.” Apple Books.",
        "Auszug aus\nA Small Book\nNobody\nDieses Material ist möglicherweise urheberrechtlich geschützt.",
        "Nobody, Anne. A Small Book (p. 3). Some Publisher Ltd. Kindle Edition. ",
    ],
)
async def test_what_is_copied_from_an_e_reader_is_a_passage(talk: Talk, added: str) -> None:
    copied = f"“Marta found a brass key under the stairs.”\n\n{added}"
    asked = [f"{copied}\nWhat did it open?", f"What did it open?\n\n{copied}"]
    assert [(await talk.ask(each)).text for each in asked] == [(await talk.ask(f"What did it open?\n\n{KEY}")).text] * 2


async def test_a_question_about_a_passage_is_no_other_question(talk: Talk) -> None:
    """What the passage does not have to do with is looked up elsewhere, and so is what stands nowhere in the book."""
    assert "who drowned in 1887" in (await talk.ask(f"When did Lucian drown?\n\n{KEY}")).text
    assert "under the stairs" in (await talk.ask("Where was the key found?\n\n> I like that key!")).text
    assert (await talk.ask(f"Thank you!\n\n{KEY}")).text == SAY.thanks


async def test_two_questions_are_looked_up_at_once_and_both_answered(talk: Talk) -> None:
    turn = await talk.ask("What was Marta’s trade, and where did she find the key?")
    assert sorted(turn.tools) == ["search_book", "search_book", "who_is"]
    assert "the mending of clocks" in turn.text
    assert "under the stairs" in turn.text


async def test_messages_that_came_together_are_answered_together(talk: Talk) -> None:
    turn = await talk.ask("How many steps are there to the lamp?", "And who put it out?")
    assert "ninety-five steps" in turn.text
    assert "It was Hobb" in turn.text


async def test_each_of_several_people_is_answered_in_turn(talk: Talk) -> None:
    said = ("who put the lamp out?", "ok thanks!", "how many steps are there to the lamp?", "what's on page 1?")
    turn = await talk.ask(*said, by=("Ann", "Ben", "Cem", "Dora"))
    hobb, steps, page = turn.text.split("\n\n", 2)
    assert "It was Hobb" in hobb
    assert "ninety-five steps" in steps
    assert page.startswith(SAY.page)


async def test_nobody_is_told_anything_before_it_is_settled_where_another_is(talk: Talk) -> None:
    turn = await talk.ask("who put the lamp out?", "I'm on page 1", by=("Ann", "Ben"))
    assert turn.text == SAY.position


async def test_what_several_people_ask_is_answered_once(talk: Talk) -> None:
    turn = await talk.ask("who put the lamp out?", "Who put the lamp out", by=("Ann", "Ben"))
    assert turn.text == (await talk.ask("Who put the lamp out?")).text


async def test_the_beginning_is_not_that_of_a_page_another_asks_for(talk: Talk) -> None:
    turn = await talk.ask("What's on page 3?", "How does the book begin?", by=("Ann", "Ben"))
    assert turn.text.endswith((await talk.ask("How does the book begin?")).text)


async def test_lines_with_a_question_each_are_answered_one_by_one(talk: Talk) -> None:
    turn = await talk.ask("how many steps are there to the lamp?\nwho put it out?")
    assert "ninety-five steps" in turn.text
    assert "It was Hobb" in turn.text
    assert turn.tools.count("search_book") > 1


async def test_a_follow_up_is_understood_from_the_talk(talk: Talk) -> None:
    await talk.ask("Who put the lamp out?")
    turn = await talk.ask("Why did he do it?")
    assert "Hobb" in turn.query
    assert "He had done it for his brother Lucian" in turn.text


async def test_a_mere_why_does_not_repeat_the_answer_it_asks_about(talk: Talk) -> None:
    first = await talk.ask("Who put the lamp out?")
    assert "It was Hobb who had put the lamp out." in first.text
    turn = await talk.ask("why?")
    assert "It was Hobb who had put the lamp out." not in turn.text
    assert turn.text.startswith(SAY.unsure)
    assert "He had done it for his brother Lucian" in turn.text


async def test_where_nothing_else_is_told_a_mere_why_denies_nobody(tmp_path: Path) -> None:
    pests = {"Pests": "Greenfly are bad. Mr. Olof Strand, who sold kettles, kept a toad."}
    async with reading(tmp_path, pests) as talk:
        await talk.ask("Who is Olof Strand?")
        assert "Olof Strand, who sold kettles" in (await talk.ask("why?")).text


async def test_a_list_of_characters_is_not_what_a_play_is_about(tmp_path: Path) -> None:
    play = {
        "The Theatre": "Ada Lamplighter: Miss Rose Leclercq. Bertram, R.N.: Mr. F. Kinsey Peile.",
        "Act I": "The lamp has gone out again and nobody but me has noticed it tonight. " * 9,
    }
    async with reading(tmp_path, play) as talk:
        assert "Leclercq" not in (await talk.ask("what is the play about")).text


@pytest.mark.parametrize("title", ["Characters of the Play", "The Cast", "List of Characters", "Die Personen"])
async def test_a_play_begins_behind_its_list_of_characters(tmp_path: Path, title: str) -> None:
    people = "Ada is a lamplighter who has lived in the harbour all her life, and nobody knows how long that is. " * 3
    async with reading(tmp_path, {title: people, "Act I": "The lamp has gone out. " * 12}) as talk:
        turn = await talk.ask("How does it begin?")
        assert "The lamp has gone out." in turn.text
        assert "Ada" not in turn.text


async def test_a_mere_why_repeats_a_cause_once(tmp_path: Path) -> None:
    manual = "Rain is better than water from the tap\nbecause it has no lime. Water from the tap blocks roots. "
    async with reading(tmp_path, {"Watering": manual + "Pour it in the morning."}) as talk:
        cause = "because it has no lime"
        assert cause in (await talk.ask("What is better than water from the tap?")).text
        assert cause in (await talk.ask("why?")).text
        assert cause not in (await talk.ask("why?")).text


async def test_what_is_understood_from_the_talk_is_not_sure(talk: Talk) -> None:
    await talk.ask("Who is Hobb?")
    turn = await talk.ask("How old is he?")
    assert turn.text.startswith(SAY.unsure)


async def test_who_says_it_is_asked_of_what_was_quoted(talk: Talk) -> None:
    await talk.ask("Where does it say “Count them yourself”?")
    turn = await talk.ask("who says it?")
    assert turn.tools == ["find_phrase", "read_around"]
    assert turn.text.startswith(SAY.line)
    assert "“Sixty posts,” he said at last." in turn.text


@pytest.mark.parametrize(
    ("message", "lead", "told"),
    [
        ("where was that?", SAY.there, "Marta found a brass key under the stairs."),
        ("and what did she do with that?", SAY.there, "It opened a cupboard in the kitchen."),
        ("in which chapter?", f"{SAY.line[:-1]}, in “II. The Lamp”:", "In the cupboard lay a red book"),
        ("are you sure?", SAY.sure, ""),
    ],
)
async def test_what_points_at_a_quotation_is_answered_where_that_stands(
    talk: Talk, message: str, lead: str, told: str
) -> None:
    await talk.ask("What did Marta find under the stairs?")
    turn = await talk.ask(message)
    assert turn.text.startswith(lead)
    assert told in turn.text
    assert "p. 3" not in turn.text


async def test_the_place_that_was_asked_for_does_not_change_what_the_talk_is_about(talk: Talk) -> None:
    await talk.ask("Who is Lucian?")
    await talk.ask("in which chapter?")
    assert "Lucian lies in the churchyard behind the mill." in (await talk.ask("Where does he lie?")).text


async def test_reading_on_stays_in_the_chapter_and_says_where_that_ends(talk: Talk) -> None:
    await talk.ask("When did Marta come to the island?")
    assert "She carried a crate of tools." in (await talk.ask("and then?")).text
    assert (await talk.ask("and then?")).text == SAY.chapter_ends.format("I. The Arrival")
    talk.is_open = False
    assert (await talk.ask("and then?")).text == SAY.no_more


async def test_it_reads_on_in_the_chapter_of_which_most_was_quoted(tmp_path: Path) -> None:
    async with opened_view(tmp_path, CHAPTERS) as view:
        passages = [passage for query in ("steps", "churchyard") for passage in await view.search([query], 1)]
    quoted = "“There were ninety-five steps to the lamp. Marta found a brass key under the stairs.” (p. 2)"
    last = last_quoted([(f"{quoted} “Lucian lies in the churchyard behind the mill.” (p. 3)", passages)])
    assert last is not None
    assert last.passage.chapter == "II. The Lamp"


async def test_and_then_reads_on_from_what_was_quoted(talk: Talk) -> None:
    await talk.ask("What did Marta find under the stairs?")
    turn = await talk.ask("and then?")
    assert turn.tools == ["read_around"]
    assert turn.text.startswith(SAY.onward)
    assert "The paper smelled of fish and of paraffin." in turn.text


async def test_what_was_quoted_is_found_again_where_the_history_is_without_passages(talk: Talk) -> None:
    """A long conversation keeps the answers, and not what they were made of."""
    await talk.ask("What did Marta find under the stairs?")
    talk.past = [message for message in talk.past if message.role != "tool_result" and not message.tool_invocations]
    turn = await talk.ask("and then?")
    assert turn.tools == ["find_phrase", "read_around"]
    assert turn.text.startswith(SAY.onward)
    assert "The paper smelled of fish and of paraffin." in turn.text
    talk.past = [message for message in talk.past if message.role != "tool_result" and not message.tool_invocations]
    assert (await talk.ask("who says it?")).text.startswith(SAY.line)


async def test_words_in_quotation_marks_win_over_scattered_ones(tmp_path: Path) -> None:
    scattered = "The red lamp of the Great House was lit. Nobody put the lamp out in the red house. The house was red. "
    quoted = "Ned slept. Somebody wrote “the house of red lamps” on the door. Ned woke."
    async with reading(tmp_path, {"I. The House": scattered * 4, "II. The Door": quoted}) as talk:
        turn = await talk.ask("What is “the house of red lamps” in the Great House?")
        assert "Somebody wrote “the house of red lamps” on the door." in turn.text
        assert '"the house of red lamps"' in turn.calls[0].arguments["also"]
        turn = await talk.ask("Why did the old admiral of the fleet fear “the door”?")
        assert "on the door." in turn.text


@pytest.mark.parametrize(
    "asked",
    [
        'Where does it say "without such it is"?',
        "tell me more about “without such it is” please",
        'what about "without such it is"',
        'why "without such it is"?',
        'why "he said"?',
    ],
)
async def test_a_line_of_little_words_is_found(tmp_path: Path, asked: str) -> None:
    async with reading(tmp_path, {"I. The House": "Ned slept. “Without such it is odd,” he said. Ned woke."}) as talk:
        turn = await talk.ask(asked)
        assert turn.text.startswith(SAY.line)
        assert "Without such it is odd" in turn.text


@pytest.mark.parametrize(
    "asked",
    [
        "What are the children of the lamp?",
        "the children of the lamp - what does that mean",
        "who are meant by CHILDREN OF THE LAMP?",
        "I remember the children of the lamp, who was that",
        "warum heißt es the children of the lamp?",
        "why the children of the lamp?",
        "when came the children of the lamp",
    ],
)
async def test_a_line_wins_over_its_words_scattered_without_quotation_marks_too(tmp_path: Path, asked: str) -> None:
    scattered = " ".join(f"In house {n} children lit a lamp, children whose lamp no child had lit." for n in range(60))
    line = "Moths came in. “Listen to them, the children of the lamp,” said Ned. It grew late."
    async with reading(tmp_path, {"I. The House": scattered, "II. The Moths": line}) as talk:
        assert "the children of the lamp" in (await talk.ask(asked)).text


@pytest.mark.parametrize(
    ("asked", "language"),
    [
        ("what does the book mean by the stairs for", Language.ENGLISH),
        ("on the stairs for: what does that mean?", Language.ENGLISH),
        ("is it true that on the stairs for want", Language.ENGLISH),
        ("wer sagt the stairs for want", Language.GERMAN),
        ("Was bedeutet “the stairs for want of”?", Language.GERMAN),
        ("que veut dire the stairs for want", Language.FRENCH),
        ("¿qué significa the stairs for want?", Language.SPANISH),
    ],
)
async def test_a_run_of_the_book_is_found_in_a_question_of_any_language(
    tmp_path: Path, asked: str, language: Language
) -> None:
    story = "The stairs were long. Ned slept on the stairs for want of a bed. “For shame!” cried Ann on the stairs."
    async with reading(tmp_path, {"I. The House": story}) as talk:
        turn = await talk.ask(asked)
    assert turn.text.startswith(PHRASES[language].line)
    assert "Ned slept on the stairs for want of a bed." in turn.text


async def test_a_turn_of_phrase_is_found_in_the_words_of_its_book(tmp_path: Path) -> None:
    story = "Die Treppe war lang. Ned schlief ganz und gar allein auf der Treppe. Es war ganz still, und gar kalt."
    async with reading(tmp_path, {"I. Das Haus": story}) as talk:
        turn = await talk.ask("ganz und gar – was soll das heißen?")
    assert turn.text.startswith(PHRASES[Language.GERMAN].line)
    assert "Ned schlief ganz und gar allein auf der Treppe." in turn.text


async def test_what_happens_after_words_of_the_book_stands_behind_them(talk: Talk) -> None:
    turn = await talk.ask("what happens after she saw the tower")
    assert (
        turn.text == f"{SAY.line} “Marta was glad when she saw the tower. Her trade was the mending of clocks.” (p. 1)"
    )


async def test_a_weak_search_is_repeated_wider_before_it_says_so(talk: Talk) -> None:
    turn = await talk.ask("Which ferryman kept goats on the tower?")
    assert turn.tools == ["search_book", "search_book"]
    assert len(turn.calls[1].arguments["also"]) > len(turn.calls[0].arguments.get("also", []))
    assert turn.text.startswith((SAY.near, SAY.nothing_about.split("{}", 1)[0]))


async def test_what_is_not_there_is_said_plainly(talk: Talk) -> None:
    assert (await talk.ask("What do emperors eat?")).text == SAY.nothing_about.format("*emperors*")


async def test_a_reader_on_the_way_hears_that_it_may_come_later(tmp_path: Path) -> None:
    async with reading(tmp_path, CHAPTERS, is_open=False) as talk:
        assert (await talk.ask("What do emperors eat?")).text == SAY.nothing_about_yet.format("*emperors*")


async def test_the_chapters_in_which_something_is_mentioned_are_listed(talk: Talk) -> None:
    turn = await talk.ask("In which chapters is the lamp mentioned?")
    first, *chapters = turn.text.splitlines()
    assert first.startswith("“lamp” appears")
    assert len(chapters) > 1
    assert all(re.fullmatch(r"\* .+ \(\d+ ×\)", each) for each in chapters)


async def test_mentions_are_counted_not_guessed(talk: Talk) -> None:
    turn = await talk.ask("How often is Marta mentioned?")
    assert turn.tools == ["count_mentions"]
    lead, first, last = turn.text.split("\n\n")
    assert lead.startswith("“Marta” appears 4 times: first in ")
    assert lead.endswith("most often there: 2 times), last in “3. III. The Keeper”.")
    assert (first.endswith("(p. 1)"), last.endswith("(p. 3)")) == (True, True)
    assert "Marta Quill came to the island" in turn.text
    assert "Marta closed the book" in turn.text


async def test_the_first_mention_alone(talk: Talk) -> None:
    turn = await talk.ask("Where does Lucian first appear?")
    assert turn.text == f"{SAY.first} “He had done it for his brother Lucian, who drowned in 1887.” (p. 3)"


async def test_what_occurs_once_is_not_shown_twice(talk: Talk) -> None:
    turn = await talk.ask("How often is Quill mentioned?")
    quoted = "Marta Quill came to the island on a Tuesday in March."
    assert turn.text == f"“Quill” appears once: “{quoted}” (p. 1)"


@pytest.mark.parametrize(
    "question", ["Weint Hans?", "Lügt Hans?", "Flieht der Turm?", "Wer verkauft den Schlüssel?", "was lügt hans"]
)
async def test_a_german_verb_is_not_named_as_what_the_book_has_nothing_about(tmp_path: Path, question: str) -> None:
    told = "Der Turm war alt. Der junge Hans fand den Schlüssel unter der Treppe. Es regnete den ganzen Tag, und "
    told += "niemand kam über die Heide. Am Abend saß Hans am Fenster, und die Mutter sagte, dass Hans schlafen soll."
    async with reading(tmp_path, {"Der Turm": told}) as talk:
        answer = (await talk.ask(question)).text.lower()
    assert not any(f"*{verb}" in answer for verb in ("weint", "lügt", "flieht", "verkauft"))
    assert "meinst du" not in answer


async def test_what_never_occurs(talk: Talk) -> None:
    assert (await talk.ask("How often is Zebulon mentioned?")).text == SAY.never.format("Zebulon")


async def test_counts_hold_so_far_only_for_somebody_who_is_still_reading(talk: Talk) -> None:
    talk.is_open = False
    assert (await talk.ask("How often is Zebulon mentioned?")).text == "“Zebulon” hasn’t appeared so far."
    assert (await talk.ask("How often is Quill mentioned?")).text.startswith("“Quill” appears once so far: ")
    assert (await talk.ask("How often is Marta mentioned?")).text.startswith("“Marta” appears 4 times so far: ")


async def test_the_chapters(talk: Talk) -> None:
    turn = await talk.ask("What chapters are there?")
    assert turn.tools == ["table_of_contents"]
    assert turn.text.splitlines()[0] == SAY.contents.format(3)
    assert "* II. The Lamp (p. 2)" in turn.text.splitlines()


async def test_a_book_with_one_chapter(tmp_path: Path) -> None:
    async with reading(tmp_path, {"I. The Lamp": CHAPTERS["II. The Lamp"]}) as talk:
        turn = await talk.ask("What chapters are there?")
    assert turn.text.splitlines() == [SAY.one_chapter, "* I. The Lamp (p. 1)"]


async def test_a_line_is_found(talk: Talk) -> None:
    turn = await talk.ask("Where does it say “found a brass key”?")
    assert turn.tools == ["find_phrase", "read_around"]
    assert turn.text == f"{SAY.line} “Marta found a brass key under the stairs.” (p. 2)"


@pytest.mark.parametrize(
    "message", ["Where does it say “emperors of Zanzibar adore goats”?", "to be or not to be", "“the key of the sea”"]
)
async def test_a_line_that_stands_nowhere(talk: Talk, message: str) -> None:
    assert (await talk.ask(message)).text == SAY.no_line


async def test_a_line_may_be_asked_for_by_who_says_it(talk: Talk) -> None:
    turn = await talk.ask("find the sentence where old hobb says sixty posts he said at last")
    assert turn.text.startswith(SAY.line)
    assert "Sixty posts" in turn.text


async def test_a_name_that_only_headings_have_is_not_known_yet(tmp_path: Path) -> None:
    chapters = {"Contents": "I. The Arrival 1\n\nII. Zebedee Strand 7", **CHAPTERS}
    async with reading(tmp_path, chapters, is_open=False) as talk:
        assert (await talk.ask("Who is Zebedee Strand?")).text == SAY.nothing_about_yet.format("*Zebedee Strand*")


@pytest.mark.parametrize(
    "question", ["Who is Hobb?", "What happened so far?", "Who says “Go home”?", "List the people"]
)
async def test_who_has_read_nothing_is_told_how_to_set_a_page(tmp_path: Path, question: str) -> None:
    async with reading(tmp_path, CHAPTERS, is_open=False, page="", read_to=0) as talk:
        assert (await talk.ask(question)).text == SAY.unread
        assert (await talk.ask("Hello!")).text == SAY.greeting


async def test_who_waits_for_others_to_begin_is_not_told_to_set_a_page(tmp_path: Path) -> None:
    async with reading(tmp_path, CHAPTERS, is_open=False, page="", place={"page": "3"}, read_to=0) as talk:
        assert (await talk.ask("Who is Hobb?")).text == SAY.unread_by_others


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Who is d'Artagnon?", "*d'Artagnon*"),
        ("who is the Mock Turtle", "*Mock Turtle*"),
        ("Does Hobb own a zeppelin or a smartphone?", "*zeppelin*, *smartphone*"),
        ("飛行船", "*飛行船*"),
    ],
)
async def test_what_is_found_nowhere_is_named_as_it_was_typed(talk: Talk, question: str, named: str) -> None:
    assert (await talk.ask(question)).text == SAY.nothing_about.format(named)


async def test_a_word_that_is_no_name_in_the_book_is_nobody(tmp_path: Path) -> None:
    chapters = {
        "I. The Mark": "Will he come? There was a mark here. Hobb had marked it. Mr. Grace went home, said Léonie."
    }
    async with reading(tmp_path, chapters) as talk:
        assert (await talk.ask("Who is Mark?")).text == SAY.nothing_about.format("*Mark*")
        assert (await talk.ask("Who is Will?")).text == SAY.nothing_about.format("*Will*")
        assert "Mr. Grace went home" in (await talk.ask("Who is Grace?")).text
        assert "Mr. Grace went home" in (await talk.ask("Who is Leonie?")).text


async def test_what_is_missing_is_named_beside_what_is_found(talk: Talk) -> None:
    text = (await talk.ask("Is there a zeppelin or a churchyard?")).text
    assert text.startswith(SAY.nothing_about.format("*zeppelin*"))
    assert "Lucian lies in the churchyard behind the mill." in text


@pytest.mark.parametrize("title", ["The Juniper Bush", "II. The Tale of the Juniper-Bush [Or the Thrush]"])
async def test_a_question_that_names_a_story_is_answered_from_there(tmp_path: Path, title: str) -> None:
    rhyme = "Under the juniper bush my bones do lie. "
    stories = {
        "The Tailor": "Old Veit killed seven boys at one blow, and each boy had killed a boy before. " * 3,
        title: f"{rhyme}Then the lid fell. {rhyme}The weaver’s wife had killed him. {rhyme}So the thrush sang.",
        "The Bush": "A juniper bush grew in the yard. The boy who was killed under a juniper bush was another. " * 3,
    }
    async with reading(tmp_path, stories) as talk:
        turn = await talk.ask("Who killed the boy in the Juniper Bush?")
        assert "The weaver’s wife had killed him." in turn.text
        assert {citation.page for citation in turn.citations} == {"2"}


async def test_a_story_that_is_named_is_never_denied(tmp_path: Path) -> None:
    stories = {
        "Little Blue-Hood": "A fox met a girl. The fox was hungry. A fox ran. The hunter drew off the skin of the fox.",
        "The Tailor": "A tailor killed seven flies at one blow. " * 9,
    }
    async with reading(tmp_path, stories) as talk:
        turn = await talk.ask("Who killed the fox in Little Blue-Hood?")
        assert "I found nothing" not in turn.text
        assert {citation.page for citation in turn.citations} == {"1"}


@pytest.mark.parametrize(
    "question", ["What happens in the old mill?", "what is the old mill about", "In the old mill?"]
)
async def test_a_question_about_all_of_a_story_is_answered_like_a_chapter(tmp_path: Path, question: str) -> None:
    mill = "The old mill had stood empty since the flood. A miller came back to it one winter with a sack of seed."
    async with reading(
        tmp_path, {"The Tailor": "A tailor lived by the old mill for years. " * 9, "The Old Mill": mill}
    ) as talk:
        turn = await talk.ask(question)
        assert turn.text.startswith(f"{SAY.no_summary} {SAY.telling}")
        assert {citation.page for citation in turn.citations} == {"2"}


async def test_a_sentence_is_quoted_from_its_beginning_where_there_is_room(tmp_path: Path) -> None:
    told = (
        f"Marta had always liked the tower {'and the long stair of cold grey stone ' * 3}; but on the last of March, "
        "when the boat had gone and nobody could see her, she buried the brass key of the lamp under the third step."
    )
    async with reading(tmp_path, {"I. The Key": f"It rained. {told} It was dark."}) as talk:
        turn = await talk.ask("What did she bury under the step?")
    assert "Marta had always liked the tower" in turn.text
    assert "…" not in turn.text


async def test_the_file_name_of_a_picture_is_not_quoted(tmp_path: Path) -> None:
    told = (
        "Marta lit the lamp.\n\n07-072.jpg (175K)\n\nThe lamp burned all night.\n\nimages/lamp.png\n\nThen Marta slept."
    )
    async with reading(tmp_path, {"I. The Lamp": told}) as talk:
        for question in ("Who lit the lamp?", "What is lamp.png?", "How long did the lamp of Marta burn?"):
            text = (await talk.ask(question)).text
            assert "Marta" in text or "lamp burned" in text
            assert "jpg" not in text
            assert "images" not in text


async def test_a_speech_of_a_play_is_quoted_with_its_speaker(tmp_path: Path) -> None:
    told = ("It is late.", "The lamp was put out by my brother Hobb.", "Then we must sit in the dark.", "Good night.")
    lines = [f"{'Ada' if at % 2 else 'Bertram'}. {each}" for at, each in enumerate(told)]
    async with reading(tmp_path, {"ACT I": "\n\n".join(lines * 3)}) as talk:
        text = (await talk.ask("Who put the lamp out?")).text
        assert "Ada. The lamp was put out by my brother Hobb." in text
        assert not text.split(" (p.")[0].rstrip("”").endswith(("Ada.", "Bertram."))


async def test_a_stage_direction_is_quoted_with_its_page(tmp_path: Path) -> None:
    direction = "[Cecily puts four lumps of sugar into the cup.]"
    play = {"ACT I": f"Will you take sugar?\n\n{direction}\n\nThank you. I hate it."}
    async with reading(tmp_path, play) as talk:
        turn = await talk.ask("How many lumps of sugar does Cecily put into the cup?")
        assert [citation.quote for citation in turn.citations][:1] == [
            "[Cecily puts four lumps of sugar into the cup.]"
        ]


async def test_a_line_is_quoted_once_and_a_title_is_none(tmp_path: Path) -> None:
    again = "The old bell rang. Hobb slept."
    chapters = {"I. The Tall Grey Tower": again, "II. The Bell": f"Nobody came to the tower. {again}"}
    async with reading(tmp_path, chapters) as talk:
        assert (await talk.ask("the old bell rang")).text.count("The old bell rang.") == 1
        assert SAY.line not in (await talk.ask("the tall grey tower")).text


async def test_words_of_the_book_are_found_without_quotation_marks(talk: Talk) -> None:
    turn = await talk.ask("found a brass key")
    assert turn.text.startswith(SAY.line)
    assert "Marta found a brass key under the stairs." in turn.text
    turn = await talk.ask("brass key of Marta")
    assert not turn.text.startswith((SAY.line, SAY.no_line))
    assert "Marta found a brass key under the stairs." in turn.text


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("where does he live", Language.ENGLISH),
        ("What is her name?", Language.ENGLISH),
        ("him?", Language.ENGLISH),
        ("wie heißt sie?", Language.GERMAN),
    ],
)
async def test_who_is_meant_is_asked_where_nobody_was_spoken_of(
    tmp_path: Path, message: str, language: Language
) -> None:
    story = "Ann lived in a tower. Her name was odd. Ned, a clerk, lived by the sea with Ann. Sie lebten lange dort."
    async with reading(tmp_path, {"I. The House": story}) as talk:
        turn = await talk.ask(message)
        assert turn.text == PHRASES[language].who_is_meant
        assert not turn.calls
        await talk.ask("Where does Ned live?")
        assert (await talk.ask("And who is he?")).text != PHRASES[language].who_is_meant


async def test_what_somebody_did_to_something_is_searched_without_a_name(tmp_path: Path) -> None:
    async with reading(tmp_path, {"I. The House": "Ned slept. Then he broke the lamp with a stone. Ann woke."}) as talk:
        assert "he broke the lamp" in (await talk.ask("why did he break the lamp")).text


@pytest.mark.parametrize("message", ["why?", "and then?", "tell me more", "???", "🙂", "https://example.com/x"])
async def test_a_message_that_asks_nothing_is_asked_back(talk: Talk, message: str) -> None:
    turn = await talk.ask(message)
    assert turn.text == SAY.unclear
    assert not turn.calls


async def test_the_names_of_the_book_are_listed_with_their_first_place(talk: Talk) -> None:
    told = (await talk.ask("list of characters")).text.splitlines()
    assert told[0] == SAY.cast
    assert told[1:] == ["* Marta, first (p. 1)", "* Hobb, first (p. 1)", "* Lucian, first (p. 3)"]


async def test_the_names_of_a_chapter_are_listed_with_their_first_place_there(talk: Talk) -> None:
    told = (await talk.ask("Who are the characters in chapter 2?")).text.splitlines()
    assert told == [SAY.cast, "* Marta, first (p. 2)"]
    assert (await talk.ask("who appears in chapter 77")).text == SAY.no_chapter


async def test_a_page_is_read_out(talk: Talk) -> None:
    turn = await talk.ask("Read page 3")
    assert turn.tools == ["read_pages"]
    assert turn.text.startswith(f"{SAY.page}\n\n> ")
    assert turn.text.endswith("Marta closed the book and gave it back. (p. 3)")


async def test_every_paragraph_of_a_page_carries_its_page(talk: Talk) -> None:
    paragraphs = (await talk.ask("What's on page two?")).text.split("\n\n")[1:]
    assert len(paragraphs) > 1
    assert all(paragraph.startswith("> ") and paragraph.endswith("(p. 2)") for paragraph in paragraphs)


async def test_a_page_or_chapter_that_is_not_there_is_told(talk: Talk) -> None:
    assert (await talk.ask("Read page 77")).text == SAY.no_page
    assert (await talk.ask("Summarise chapter 77")).text == SAY.no_chapter


@pytest.mark.parametrize("message", ["chapter 1 summary", "Summarise chapter one"])
async def test_of_two_chapters_with_the_same_number_both_are_told(tmp_path: Path, message: str) -> None:
    parts = {
        "Chapter One. The Mill": "Marta left the mill. It rained.",
        "Chapter One. The Sea": "Hobb went to sea. It blew.",
    }
    async with reading(tmp_path, parts, numbers=["1", "1"]) as talk:
        turn = await talk.ask(message)
    assert turn.text.startswith(f"{SAY.no_summary} {SAY.both_chapters}")
    assert "Marta left the mill." in turn.text
    assert "Hobb went to sea." in turn.text


async def test_of_more_chapters_with_the_same_number_the_reader_is_asked_which(tmp_path: Path) -> None:
    parts = {f"Chapter One. Part {part}": "Marta left the mill. It rained." for part in ("A", "B", "C")}
    async with reading(tmp_path, parts, numbers=["1", "1", "1"]) as talk:
        assert (await talk.ask("chapter 1 summary")).text == SAY.which_chapter.format(3, 1)
        assert (await talk.ask("chapter 2 summary")).text == SAY.no_chapter


async def test_a_page_is_asked(talk: Talk) -> None:
    turn = await talk.ask("What drowned on page 3?")
    assert turn.tools == ["read_pages"]
    assert "drowned in 1887" in turn.text


async def test_it_does_not_pretend_to_summarise(talk: Talk) -> None:
    turn = await talk.ask("Summarise the book")
    assert turn.tools == ["story_so_far"]
    assert turn.text.startswith(SAY.no_summary)
    assert turn.citations


@pytest.mark.parametrize(
    ("message", "reply"),
    [("Hello!", SAY.greeting), ("Thank you!", SAY.thanks), ("What can you do?", SAY.abilities)],
)
async def test_small_talk_needs_no_book(talk: Talk, message: str, reply: str) -> None:
    turn = await talk.ask(message)
    assert (turn.tools, turn.text) == ([], reply)


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("Guten Tag", Language.GERMAN),
        ("Guten Morgen!", Language.GERMAN),
        ("Coucou", Language.FRENCH),
        ("Buenas tardes", Language.SPANISH),
    ],
)
async def test_a_greeting_is_answered_in_its_language(talk: Talk, message: str, language: Language) -> None:
    assert (await talk.ask(message)).text == PHRASES[language].greeting


async def test_thanks_are_answered_in_their_language(talk: Talk) -> None:
    assert (await talk.ask("Vielen Dank!")).text == PHRASES[Language.GERMAN].thanks


@pytest.mark.parametrize("line", ["You TOM!", "You TOM", "you, tom"])
async def test_only_places_with_the_very_words_of_a_line_are_said_to_have_it(tmp_path: Path, line: str) -> None:
    shout = "It rained. “You TOM!” cried Aunt Ann. Nobody came."
    told = {"I": shout, "II": "It makes me creep to hear you. Tom slept on. “You too, Tom?” asked Ann."}
    async with reading(tmp_path, told) as talk:
        turn = await talk.ask(f"Who says “{line}”?")
    assert turn.text.startswith(SAY.line)
    assert "Aunt Ann" in turn.text
    assert "creep" not in turn.text
    assert "too" not in turn.text


async def test_the_language_of_the_question_is_answered(tmp_path: Path) -> None:
    chapters = {"Der Turm": "Der Turm war alt. Hans fand den Schlüssel unter der Treppe. Es regnete den ganzen Tag."}
    async with reading(tmp_path, chapters) as talk:
        assert "Hans fand den Schlüssel unter der Treppe." in (await talk.ask("Wer hat den Schlüssel gefunden?")).text
        nothing = PHRASES[Language.GERMAN].nothing_about.format("*Ziegen*, *Kaiserin*")
        assert (await talk.ask("Was kosten die Ziegen der Kaiserin?")).text == nothing


async def test_a_tool_that_fails_is_told(tmp_path: Path) -> None:
    async def broken(name: str, args: object) -> str:
        return error_output("The shelf has fallen over.")

    async with reading(tmp_path, CHAPTERS, dispatch=broken) as talk:
        assert (await talk.ask("Who put the lamp out?")).text == SAY.failed


@pytest.mark.parametrize("language", PHRASES)
def test_no_sentence_of_its_own_reads_like_a_typed_page(language: Language) -> None:
    sayings = [each.format("Ann", "Ann") for each in asdict(PHRASES[language]).values() if isinstance(each, str)]
    assert sayings
    assert [each for each in sayings if TypedPages(lambda _: False).remove(each) != each] == []
