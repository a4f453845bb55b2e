"""Whatever way a reader asks: what is there is never denied, and what is not is said by its name."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.providers.extractive.language import Language
from bot.providers.extractive.wording import PHRASES
from tests.bot.providers.extractive.reading import Talk, reading

SAY = PHRASES[Language.ENGLISH]
AHRENS = (
    "5 May. Mr. Ahrens, a doctor from Bremen, came to the mill. “There is no hurry,” said Wilhelmina Tasker. “The "
    "wheel has stood still since June.” Mr. Ahrens was four feet high. Wilhelmina was the miller’s daughter. The wheel "
    "was called Old Hannah. Each sack cost nine shillings. Mr. Ahrens stayed until it was dark, because the bridge was "
    "under water. After that the mill was sold."
)
BRIDGE = (
    "The bridge was built of oak. In the morning Wilhelmina found him there. It was raining. “Go home,” she said. "
    "“Nothing here is for you.” Nobody answered. The doctor died in Bremen that winter. The bridge was never mended."
)


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Talk]:
    async with reading(tmp_path, {"I. The Mill": AHRENS, "II. The Bridge": BRIDGE}) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "written", "meant", "quoted"),
    [
        ("Who is Mr. Ahrns?", "Ahrns", "Ahrens", "Mr. Ahrens, a doctor from Bremen, came to the mill."),
        ("Who is Wilhelmina Taskr?", "Taskr", "Tasker", "Wilhelmina"),
        ("who is wilhelmna taskr", "wilhelmna taskr", "Wilhelmina Tasker", "Wilhelmina"),
        ("Who is Will Tasker’s friend Ahrence?", "Ahrence", "Ahrens", "Mr. Ahrens"),
        ("Who is Wil Tasker?", "Wil", "Wilhelmina", "Wilhelmina was the miller’s daughter."),
        ("Who is Prof. Aarens?", "Aarens", "Ahrens", "Mr. Ahrens, a doctor from Bremen, came to the mill."),
        ("Who is Willhelmina?", "Willhelmina", "Wilhelmina", "Wilhelmina was the miller’s daughter."),
        ("Where did the doctor from Bermen die?", "Bermen", "Bremen", "The doctor died in Bremen that winter."),
        ("Where was the bridge when Mr. Ahrns stayed?", "Ahrns", "Ahrens", "because the bridge was under water"),
    ],
)
async def test_a_name_is_found_for_all_its_spelling_errors(
    talk: Talk, question: str, written: str, meant: str, quoted: str
) -> None:
    turn = await talk.ask(question)
    assert turn.text.startswith(SAY.did_you_mean.format(written, meant))
    assert quoted in turn.text


@pytest.mark.parametrize("question", ["who is indian joe", "Who is Indian Joe?"])
async def test_a_word_of_the_book_may_be_meant_for_part_of_a_name(tmp_path: Path, question: str) -> None:
    games = "Joe Harper played an Indian in the woods. Joe liked tales of an Indian."
    text = f"{'In came Injun Joe. ' * 10} Injun Joe was a half-breed. {games}"
    async with reading(tmp_path, {"I. The Cave": text}) as talk:
        turn = await talk.ask(question)
        assert "Injun Joe was a half-breed." in turn.text
        assert "Injun" in turn.text.split("\n", 1)[0]


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("Where is the Bridge?", "The bridge was built of oak."),
        ("Who is the Miller?", "Wilhelmina was the miller’s daughter."),
        ("Shillings?", "Each sack cost nine shillings."),
        ("What does the doctor say about Oak?", "The bridge was built of oak."),
    ],
)
async def test_a_word_typed_with_a_capital_is_found_without(talk: Talk, question: str, quoted: str) -> None:
    turn = await talk.ask(question)
    assert quoted in turn.text
    assert not turn.text.startswith("I found nothing")


@pytest.mark.parametrize("question", ["who is shilings", "what did dumbledore tell shilings"])
async def test_what_may_be_a_name_is_not_mended_to_a_common_word(talk: Talk, question: str) -> None:
    names = [f"*{name}*" for name in ("dumbledore", "shilings") if name in question]
    assert (await talk.ask(question)).text == SAY.nothing_about.format(", ".join(names))


async def test_who_somebody_is_no_word_without_a_capital_says(talk: Talk) -> None:
    assert (await talk.ask("Who is Wheel?")).text == SAY.nothing_about.format("*Wheel*")


@pytest.mark.parametrize("question", ["Why is Oak important?", "What role does Oak play in the story?"])
async def test_a_thing_typed_as_a_name_is_not_denied(talk: Talk, question: str) -> None:
    assert "built of oak" in (await talk.ask(question)).text


async def test_a_name_typed_small_is_looked_up_once(talk: Talk) -> None:
    turn = await talk.ask("who is wilhelmina")
    assert len({(call.tool_name, str(call.arguments).casefold()) for call in turn.calls}) == len(turn.calls)
    assert turn.tools.count("who_is") == 1


async def test_a_spelling_is_mended_aloud_only_once(talk: Talk) -> None:
    assert SAY.did_you_mean.format("Willhelmina", "Wilhelmina") in (await talk.ask("Who is Willhelmina?")).text
    turn = await talk.ask("where does she live?")
    assert "Did you mean" not in turn.text
    assert "Wilhelmina" in turn.text


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("What does the zeppelin look like?", "zeppelin"),
        ("Who is Gandalf?", "Gandalf"),
        ("Why did Heathcliff leave the mill?", "Heathcliff"),
    ],
)
async def test_what_is_nowhere_in_the_book_is_named(talk: Talk, question: str, word: str) -> None:
    turn = await talk.ask(question)
    assert turn.text == SAY.nothing_about.format(f"*{word}*")
    assert not turn.citations


@pytest.mark.parametrize(
    "question", ["Who found the dragon?", "Did anybody ever find and mend the dragon?", "why did the dragon stay"]
)
async def test_where_the_only_thing_asked_about_is_missing_nothing_is_quoted(talk: Talk, question: str) -> None:
    turn = await talk.ask(question)
    assert turn.text == SAY.nothing_about.format("*dragon*")


async def test_where_only_a_part_is_missing_the_quotations_are_for_the_rest(talk: Talk) -> None:
    turn = await talk.ask("Why did the doctor stay in the submarine?")
    assert turn.text.startswith(f"{SAY.nothing_about.format('*submarine*')}\n\n{SAY.rest}")
    assert SAY.near not in turn.text
    assert "because the bridge was under water" in turn.text


@pytest.mark.parametrize("question", ["Who put the lamp out?", "Who put out the lamp?"])
@pytest.mark.parametrize(
    ("told", "answer"),
    [
        ("In the end it was Ahrens who put the old lamp out.", "it was Ahrens who put the old lamp out"),
        ("In the end it was Ahrens who extinguished it.", "it was Ahrens who extinguished it"),
        ("In the end nobody spoke.", ""),
    ],
)
async def test_a_verb_is_found_with_what_belongs_to_it_and_not_alone(
    tmp_path: Path, question: str, told: str, answer: str
) -> None:
    supper = (
        f"Wilhelmina put down the pudding beside the lamp. They ate. {told} Then it was dark and they went to bed. "
    )
    async with reading(tmp_path, {"I. Supper": supper, "II. The Bridge": BRIDGE}) as talk:
        turn = await talk.ask(question)
    assert answer in turn.text
    assert answer or turn.text.startswith((SAY.near, SAY.likely))


@pytest.mark.parametrize(
    "message",
    [
        "What is the capital of Australia?",
        "What's the weather like today?",
        "Write me a poem about the mill",
        "Tell me a joke",
        "What is 17 times 23?",
        "Recommend a film to me",
        "Wie wird das Wetter morgen?",
    ],
)
async def test_what_has_nothing_to_do_with_a_book_is_declined(talk: Talk, message: str) -> None:
    turn = await talk.ask(message)
    assert turn.tools == []
    assert turn.text in {phrases.off_topic for phrases in PHRASES.values()}


MANUAL = (
    "Fill the tank before you start the engine. To start the engine, turn the key and press the red button. If the "
    "engine does not start, wait for a minute and clean the filter. Never clean the filter while the engine is hot. "
    "When the work is done, close the valve and empty the tank. The oil has to be changed after fifty hours of use. "
    "The screws on both sides of the cover are to be tightened once a year, and whenever the cover has been removed."
)


@pytest.mark.parametrize("question", ["How do I start the engine?", "how to clean the filter"])
async def test_how_something_is_done_is_told_by_a_manual_and_not_by_a_story(tmp_path: Path, question: str) -> None:
    async with reading(tmp_path / "manual", {"1. First Steps": MANUAL}) as talk:
        assert "the engine" in (await talk.ask(question)).text
    story = f"{AHRENS} He cleaned the filter. “Start the engine,” he said to his wife."
    async with reading(tmp_path / "story", {"I. The Mill": story}) as talk:
        assert (await talk.ask(question)).text == SAY.off_topic


ASKED = (
    "How do I stop my engine? Turn the key back. Can I leave my tank open? I would not. Does my filter have to be "
    "changed? If I drive in the rain, I change it. A dry filter lets more air through than a wet one."
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("how do i stop the engine", "Turn the key back."),
        ("what is the difference between a dry filter and a wet one?", "A dry filter lets more air through"),
    ],
)
async def test_a_manual_that_asks_its_questions_in_the_readers_name_answers_them(
    tmp_path: Path, question: str, answer: str
) -> None:
    async with reading(tmp_path, {"1. First Steps": MANUAL, "2. Questions": ASKED}) as talk:
        assert answer in (await talk.ask(question)).text


@pytest.mark.parametrize(
    "around",
    [
        "marginalia {}",
        "hey um so i was wondering {}",
        "Hey Marginalia, quick question: {}",
        "ok so basically my question is {}",
        "sorry to bother you but could you maybe tell me {}",
        "{} asap thx",
    ],
)
async def test_what_people_say_around_a_question_is_not_looked_for(talk: Talk, around: str) -> None:
    plain = (await talk.ask("who was Wilhelmina")).text
    talk.past.clear()
    assert (await talk.ask(around.format("who was Wilhelmina"))).text == plain


async def test_whom_a_message_is_for_is_no_part_of_the_question(talk: Talk) -> None:
    plain = await talk.ask("What was the wheel called?")
    talk.past.clear()
    for around in ("@everyone <@1234> <:mill:99> {}", "{} <https://example.com/Zeppelin>", "```py\nZeppelin\n```{}🙂"):
        assert (await talk.ask(around.format("What was the wheel called?"))).text == plain.text
        talk.past.clear()
    assert "The wheel was called Old Hannah." in plain.text


@pytest.mark.parametrize(
    "message",
    [
        "@Ben What was the wheel called?",
        "What was the wheel called, @Ben?",
        "@Ben wants to know what the wheel was called",
        "@Ben, @Cy: what was the wheel called?",
        "@Ben\xa0Lee\xa0(he/him) what was the wheel called?",
        "What was the wheel called, @Ben\xa0Lee?",
        "Can you tell @Ben and @Cy what the wheel was called?",
        "Please explain to @Ben and me what the wheel was called.",
    ],
)
async def test_who_is_mentioned_beside_a_question_is_not_looked_for_in_the_book(talk: Talk, message: str) -> None:
    """As a message reads once Discord's mentions are names."""
    assert "The wheel was called Old Hannah." in (await talk.ask(message)).text


async def test_who_is_asked_about_by_a_mention_is_looked_for(talk: Talk) -> None:
    assert "*Ben*" in (await talk.ask("Who is @Ben?")).text


@pytest.mark.parametrize(
    "message", ["<https://example.com/mill>", "<@1234>", "🙂", "```\nWho is Ahrens?\n```", ":mill:"]
)
async def test_a_message_without_a_word_of_its_own_is_asked_for_one(talk: Talk, message: str) -> None:
    await talk.ask("What was the wheel called?")
    turn = await talk.ask(message)
    assert (turn.text, turn.tools) == (SAY.unclear, [])


@pytest.mark.parametrize(
    ("message", "language", "name"),
    [
        ("Wer ist die Müllerin?", Language.GERMAN, "Müllerin"),
        ("Was sagt die Müllerin?", Language.GERMAN, "Müllerin"),
        ("Qui est la Meunière ?", Language.FRENCH, "Meunière"),
        ("¿Quién es la Molinera?", Language.SPANISH, "Molinera"),
    ],
)
async def test_a_name_in_another_language_that_is_found_nowhere_is_said_to_be_in_another_language(
    talk: Talk, message: str, language: Language, name: str
) -> None:
    say = PHRASES[language]
    assert (await talk.ask(message)).text == f"{say.foreign} {say.nothing_about.format(f'*{name}*')}"


async def test_that_the_book_is_in_another_language_is_said_once(talk: Talk) -> None:
    told = (await talk.ask("Wer ist Wilhelmina? Wo wohnt Ahrens?")).text
    assert told.count(PHRASES[Language.GERMAN].foreign) == 1
    assert "Wilhelmina was the miller’s daughter." in told
    assert "Bremen" in told


async def test_a_name_that_the_book_has_is_not_said_to_be_missing(talk: Talk) -> None:
    """Portuguese is taken for Spanish, in which "Quem" is no word."""
    say = PHRASES[Language.SPANISH]
    assert (await talk.ask("Quem é Wilhelmina?")).text == f"{say.foreign} {say.nothing_about.format('*Quem*')}"


async def test_a_question_in_another_language_than_the_books_is_answered_as_far_as_names_go(talk: Talk) -> None:
    turn = await talk.ask("Wer ist Wilhelmina?")
    assert turn.text.startswith(PHRASES[Language.GERMAN].foreign)
    assert "Wilhelmina was the miller’s daughter." in turn.text
    turn = await talk.ask("Wo wohnt Graf Ahrens?")
    assert turn.text.startswith(PHRASES[Language.GERMAN].foreign)
    assert "Mr. Ahrens, a doctor from Bremen" in turn.text
    assert "Mr. Ahrens, a doctor from Bremen" in (await talk.ask("wo wohnt ahrens")).text
    assert not (await talk.ask("Who is Wilhelmina?")).text.startswith(PHRASES[Language.GERMAN].foreign)
    assert "The doctor died in Bremen that winter." in (await talk.ask("Was passierte im Winter?")).text
    await talk.ask("Wer ist Wilhelmina?")
    turn = await talk.ask("Wie heißt ihr Schwiegervater?")
    assert turn.text.startswith(PHRASES[Language.GERMAN].foreign)
    assert "Wilhelmina" in turn.text


@pytest.mark.parametrize(
    ("message", "word"), [("Und der hutmacher?", "hutmacher"), ("wo wohnt das graue kaninchen?", "graue kaninchen")]
)
async def test_a_name_of_the_question_before_stands_for_no_other_thing(talk: Talk, message: str, word: str) -> None:
    say = PHRASES[Language.GERMAN]
    await talk.ask("Wer ist Wilhelmina?")
    turn = await talk.ask(message)
    assert turn.text == f"{say.foreign} {say.nothing_about.format(f'*{word}*')}"


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("What was the wheel called?", "The wheel was called Old Hannah."),
        ("How tall was Mr. Ahrens?", "Mr. Ahrens was four feet high."),
        ("How much money did a sack cost?", "Each sack cost nine shillings."),
        ("Why did Mr. Ahrens stay?", "because the bridge was under water"),
        ("When did Mr. Ahrens come to the mill?", "5 May. Mr. Ahrens, a doctor from Bremen, came to the mill."),
        ("What happened to the doctor?", "The doctor died in Bremen that winter."),
    ],
)
async def test_the_sentence_with_the_kind_of_answer_is_quoted_whole(talk: Talk, question: str, quoted: str) -> None:
    assert quoted in (await talk.ask(question)).text


FAMILY = (
    "Mrs. Orme came with her three daughters and a great deal of luggage. Her brother was late. Her brother Silas "
    "Kemp had two thousand pounds a year, people said, and no friends. Mrs. Orme had five aunts. The youngest daughter "
    "cried. The daughter, a thin girl named Ottilie, said nothing. Silas was worth more than he looked, said "
    "Mrs. Orme, and she was worth listening to."
)
FAMILIE = (
    "Frau Orme kam mit drei Töchtern und viel Gepäck aus Bremen, und der Kutscher fluchte. Mutter und Tochter gingen "
    "früh zu Bett. Was Mia wollte, das bekam sie; so hatte es Mia gern. Am Morgen nannte Ottilie das Kind ihrer "
    "Schwester wieder Lotte, und Lotte lachte. Ottilies Tochter Mia weinte. Der Hund Pluto bellte."
)


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("How many daughters has Mrs. Orme?", "Mrs. Orme came with her three daughters"),
        ("How many aunts does Mrs. Orme have?", "Mrs. Orme had five aunts."),
        ("How rich is Silas?", "two thousand pounds a year"),
        ("How much is Silas Kemp worth?", "two thousand pounds a year"),
        ("What is the name of Mrs. Orme's brother?", "Her brother Silas Kemp"),
        ("What is Mrs. Orme's daughter called?", "named Ottilie"),
        ("Who is Mrs. Orme's brother?", "Her brother Silas Kemp"),
    ],
)
async def test_a_family_and_its_money_are_found_by_what_is_asked(tmp_path: Path, question: str, quoted: str) -> None:
    async with reading(tmp_path, {"I. The Family": FAMILY, "II. The Bridge": BRIDGE}) as talk:
        assert quoted in (await talk.ask(question)).text


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("Wie heißt Ottilies Tochter?", "Ottilies Tochter Mia weinte."),
        ("Wer ist die Tochter von Ottilie?", "Ottilies Tochter Mia weinte."),
        ("Wie viele Töchter hat Frau Orme?", "drei Töchtern"),
    ],
)
async def test_a_relative_is_named_by_a_german_genitive(tmp_path: Path, question: str, quoted: str) -> None:
    async with reading(tmp_path, {"I. Die Familie": FAMILIE}) as talk:
        assert quoted in (await talk.ask(question)).text


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("how many aunts does mrs. orme have", "Mrs. Orme had five aunts."),
        ("what is mrs. orme's daughter called", "named Ottilie"),
        ("who is mrs. orme's brother", "Her brother Silas Kemp"),
    ],
)
async def test_names_need_no_capitals(tmp_path: Path, question: str, quoted: str) -> None:
    async with reading(tmp_path, {"I. The Family": FAMILY, "II. The Bridge": BRIDGE}) as talk:
        assert quoted in (await talk.ask(question)).text


async def test_whoever_is_only_half_in_the_book_is_not_there(talk: Talk) -> None:
    assert (await talk.ask("who is wilhelmina gandalf")).text == SAY.nothing_about.format("*gandalf*")


@pytest.mark.parametrize("message", ["Wilhelmina?", "Frau Tasker?", "Señora Tasker?", "who is wilhelmina tasker"])
async def test_a_name_by_itself_asks_who_that_is(talk: Talk, message: str) -> None:
    turn = await talk.ask(message)
    assert "who_is" in turn.tools
    assert "Wilhelmina" in turn.text
    assert not turn.text.startswith((SAY.nothing, SAY.nothing_about[:20]))


@pytest.mark.parametrize("question", ["What is Wilhelmina's surname?", "What is Wilhelmina's last name?"])
async def test_the_rest_of_a_name_stands_where_the_name_is_full(talk: Talk, question: str) -> None:
    turn = await talk.ask(question)
    assert turn.tools[:2] == ["search_book", "who_is"]
    assert "Wilhelmina Tasker" in turn.text


@pytest.mark.parametrize("question", ["What is Ottilie's surname?", "whats ottilies last name"])
async def test_a_whole_name_is_found_where_the_first_name_stands_everywhere(tmp_path: Path, question: str) -> None:
    walks = [f"Ottilie walked past mill {n} with Ottilie's dog, and Ottilie called it back to her." for n in range(400)]
    once = "That evening they carried the old box of Miss Ottilie Brandt into the yard."
    text = " ".join([*walks[:200], once, *walks[200:]])
    async with reading(tmp_path, {"I. The Mill": text}) as talk:
        assert once in (await talk.ask(question)).text


@pytest.mark.parametrize("question", ["How old is Wilhelmina?", "how old is wilhelmina"])
async def test_an_age_is_also_looked_for_where_somebody_is_introduced(talk: Talk, question: str) -> None:
    assert "who_is" in (await talk.ask(question)).tools


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("whos the guy that stole the sacks", "It was the old man with the red hat who had stolen the sacks."),
        ("Who's the dude with the red hat?", "It was the old man with the red hat who had stolen the sacks."),
        ("who is wilhelmina's dad", "Wilhelmina's father was the miller."),
        ("where did the cops find him", "The constable found him behind the church."),
    ],
)
async def test_a_word_of_today_is_not_denied_to_an_old_book(tmp_path: Path, question: str, answer: str) -> None:
    found = "Wilhelmina's father was the miller. The constable found him behind the church."
    text = f"{AHRENS} It was the old man with the red hat who had stolen the sacks. {found}"
    async with reading(tmp_path, {"I. The Mill": text, "II. The Bridge": BRIDGE}) as talk:
        turn = await talk.ask(question)
        assert answer in turn.text
        assert SAY.nothing_about[:20] not in turn.text


async def test_what_became_of_somebody_is_looked_for_at_the_last_place(talk: Talk) -> None:
    turn = await talk.ask("What happened to Wilhelmina?")
    assert "count_mentions" in turn.tools
    assert "In the morning Wilhelmina found him there." in turn.text


async def test_a_title_is_a_word_of_the_question_where_no_name_follows(talk: Talk) -> None:
    assert (await talk.ask("Where did the doctor of the mill die?")).query == "doctor mill die"
    assert (await talk.ask("Where did Doctor Ahrens die?")).query == "Ahrens die"


async def test_a_reply_is_not_cut_in_two(talk: Talk) -> None:
    turn = await talk.ask("What did Wilhelmina Tasker say about the hurry?")
    assert "“There is no hurry,” said Wilhelmina Tasker. “The wheel has stood still since June.”" in turn.text


async def test_nothing_is_quoted_twice(talk: Talk) -> None:
    turn = await talk.ask("What was the wheel called? And how was the wheel called?")
    assert turn.text.count("The wheel was called Old Hannah.") == 1


@pytest.mark.parametrize(
    "question", ["What colour are the roses?", "what is the color of the roses", "which colour had the roses"]
)
async def test_what_is_asked_for_need_not_stand_beside_it(tmp_path: Path, question: str) -> None:
    roses = "A tree stood there: the roses growing on it were white, but three gardeners were painting them red. "
    others = "The house had a garden. Nobody picked the roses. The lamp was lit. Somebody spoke of another colour. "
    async with reading(tmp_path, {"I. The House": others * 5, "II. The Garden": f"{roses} It rained."}) as talk:
        turn = await talk.ask(question)
    assert "painting them red" in turn.text


@pytest.mark.parametrize(
    "question",
    [
        "what does the beacon symbolise",
        "what type of beacon is it",
        "what role does the beacon play",
        "how bright is the beacon",
        "what temperature is the beacon",
        "what shape is the beacon",
        "what's so special about the beacon",
    ],
)
async def test_what_the_book_has_is_not_denied_for_what_is_asked_of_it(tmp_path: Path, question: str) -> None:
    story = "The house had a garden. Nobody slept. On the hill stood the beacon, as tall as a tree. Ned climbed it. "
    async with reading(tmp_path, {"I. The House": story + "Nobody spoke. It rained. " * 20}) as talk:
        assert "On the hill stood the beacon" in (await talk.ask(question)).text


@pytest.mark.parametrize("question", ["is the hatter dead", "who does the hatter hate"])
async def test_a_name_that_stands_small_once_is_known_when_typed_small(tmp_path: Path, question: str) -> None:
    story = "“I’m a hatter,” said the Hatter. " + "At last the Hatter spoke, and the Hatter drank tea. " * 8
    async with reading(tmp_path, {"I. The Tea": story + "Nobody spoke. It rained. " * 20}) as talk:
        assert "Hatter" in (await talk.ask(question)).text


async def test_a_name_of_two_words_is_not_another_of_one(tmp_path: Path) -> None:
    async with reading(tmp_path, {"I. The House": "Louisa painted. Louisa Biron came from Geneva. Ned slept."}) as talk:
        turn = await talk.ask("Who painted Vera Lisa?")
    assert "Louisa Biron" not in turn.text
    assert turn.text.startswith(SAY.nothing_about.format("*Vera*"))


async def test_who_is_called_otherwise_in_another_translation_is_told_of(tmp_path: Path) -> None:
    family = "Count Rastov was proud of his son Nicholas, who had joined the hussars in spite of his mother's tears. "
    others = "The guests went home at four. It had snowed all night. Vera Holm was left to put out the candles. "
    async with reading(tmp_path, {"I": family + others * 4}) as talk:
        turn = await talk.ask("Who is Nikolai Rastov?")
        nobody = await talk.ask("Who is Nikolai Holm?")
    assert turn.text.startswith("Did you mean *Nicholas*?")
    assert "his son Nicholas, who had joined the hussars" in turn.text
    assert nobody.text.startswith(SAY.nothing_about.format("*Nikolai Holm*"))


async def test_two_unknown_german_words_side_by_side_are_no_two_others_misspelt(tmp_path: Path) -> None:
    told = "Die Götter zürnten, und ihre Haare flogen im Wind. Frau Adler schloß das Fenster und ging zu Bett. "
    async with reading(tmp_path, {"Erstes Kapitel": told * 3}) as talk:
        turn = await talk.ask("Was macht Harre Götler?")
    assert turn.text == PHRASES[Language.GERMAN].nothing_about.format("*Harre Götler*")


async def test_two_german_nouns_are_no_name(tmp_path: Path) -> None:
    story = "Auf dem Stein stand nichts als Anna. Anna schlief. Die Mutter weinte um Anna. " * 6
    async with reading(tmp_path, {"I. Der Stein": story}) as talk:
        assert "Anna" in (await talk.ask("Was steht auf Annas Grabstein?")).text.split("\n\n", 1)[1]


@pytest.mark.parametrize(
    "question",
    [
        "whats the plot of star wars",
        "who wrote Hamlet",
        "what happens at the end of the hunger games",
        "who painted the mona lisa",
        "is lord of the rings better than this",
        "who are the characters in macbeth",
        "who won the game last night",
        "when is christmas",
        "is coffee bad for you",
        "make me laugh",
        "how long is the nile river",
        "what is machine learning",
        "What's the latest news?",
        "Which country has the most people?",
        "can you play music",
        "how is cheese made",
        "why do cats purr",
        "what's the difference between a llama and an alpaca",
        "who is the richest person alive",
        "Who is the king of England?",
    ],
)
async def test_another_work_and_the_world_of_today_are_none_of_the_book(talk: Talk, question: str) -> None:
    assert (await talk.ask(question)).text == SAY.off_topic


async def test_a_famous_work_is_answered_of_where_the_book_is_that_or_tells_of_it(tmp_path: Path) -> None:
    story = "Ophelia drowned in the brook. The prince wept. It rained. " * 3
    async with reading(tmp_path, {"Macbeth": "Three witches danced. " * 3, "Hamlet": story}) as talk:
        assert "Ophelia drowned" in (await talk.ask("who drowned in hamlet")).text
    async with reading(tmp_path, {"I. The Play": "They played Macbeth in the barn. Ned slept. " * 3}) as talk:
        assert "Macbeth in the barn" in (await talk.ask("who played macbeth in the barn")).text


@pytest.mark.parametrize("message", ["What do you think of the mill?", "Wie findest du das Buch?"])
async def test_an_opinion_is_not_made_up(talk: Talk, message: str) -> None:
    assert (await talk.ask(message)).text in {phrases.opinion for phrases in PHRASES.values()}


async def test_what_was_understood_is_answered_beside_a_word_that_is_lost(talk: Talk) -> None:
    said, answer = (await talk.ask("Is the doctor a vampire?")).text.split(SAY.rest)
    assert said.strip() == SAY.nothing_about.format("*vampire*")
    assert "doctor" in answer


async def test_a_word_without_an_end_is_not_repeated_whole(talk: Talk) -> None:
    assert len((await talk.ask(f"Who is {'Zq' * 900}?")).text) < 300


async def test_nothing_is_answered_of_what_belongs_to_a_word_that_is_lost(talk: Talk) -> None:
    assert (await talk.ask("What is the bridge of the vampire?")).text == SAY.nothing_about.format("*vampire*")


async def test_a_name_is_not_told_of_for_its_first_part_alone(talk: Talk) -> None:
    assert (await talk.ask("Who is Wilhelmina Musk?")).text == SAY.nothing_about.format("*Musk*")


@pytest.mark.parametrize(
    ("question", "name"),
    [("Who is Sherlock Ahrens?", "Sherlock Ahrens"), ("Did Gandalf Ahrens die?", "Gandalf Ahrens")],
)
async def test_a_name_is_not_told_of_for_its_last_part_alone(talk: Talk, question: str, name: str) -> None:
    meant = SAY.did_you_mean.format("", "Mr. Ahrens")
    assert (await talk.ask(question)).text == f"{SAY.nothing_about.format(f'*{name}*')} {meant}"
    assert (await talk.ask("Who is Mr. Ahrens?")).citations


@pytest.mark.parametrize(
    "message",
    [
        "should i see a doctor about my cold",
        "what should I have for dinner?",
        "how much money do i need",
        "my bridge is broken what now",
        "i'm bored",
        "when did you last stay at a mill",
        "nobody likes you",
        "when is the bridge mended today",
        "what happens when we die",
        "wie baue ich eine mill",
        "Soll ich zum Doctor gehen?",
        "was hast du gestern gegessen",
    ],
)
async def test_what_is_about_the_reader_is_not_about_a_story(talk: Talk, message: str) -> None:
    turn = await talk.ask(message)
    assert not turn.citations
    assert turn.text in {phrases.off_topic for phrases in PHRASES.values()}


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("How do I pronounce Wilhelmina?", "Wilhelmina"),
        ("Why should I care about Mr. Ahrens?", "Ahrens"),
        ("i dont understand why the bridge was under water", "because the bridge was under water"),
        ("tell me about the bridge", "bridge"),
        ("i have a question about the bridge", "bridge"),
        ("do you think the doctor died", "The doctor died in Bremen"),
        ("my teacher asked why the mill was sold", "the mill was sold"),
        ("should i feel bad for the doctor", "doctor"),
        ("where can i find the bridge", "bridge"),
        ("Ich verstehe nicht, wer Ahrens ist", "Ahrens"),
    ],
)
async def test_a_reader_who_speaks_of_reading_asks_about_the_book(talk: Talk, question: str, quoted: str) -> None:
    assert quoted in (await talk.ask(question)).text


@pytest.mark.parametrize(
    "question",
    ["how do you sell a wet bridge", "what does wet oak sell for", "does rain stop doctors from coming"],
)
async def test_what_names_nobody_and_nothing_known_needs_its_words_together(tmp_path: Path, question: str) -> None:
    rest = "It went on. Nothing stirred. The sea was calm. They slept. A gull cried. The lamp burned low. "
    parts = ["They sold the mill. ", "It was wet. ", "The bridge fell. ", "Rain came. ", "She died. ", "An oak stood. "]
    story = (rest * 3).join([*parts, "A doctor came. ", "He went home. ", "They stopped. "])
    async with reading(tmp_path, {"I. The Mill": story}) as talk:
        assert not (await talk.ask(question)).citations


@pytest.mark.parametrize("question", ["can cats grin", "how do you cure warts", "does rain cure warts"])
async def test_what_is_generally_so_is_told_where_the_story_has_it(tmp_path: Path, question: str) -> None:
    story = "“Cats can grin,” said Ann. Bob cured his warts with rain. He slept. They walked. "
    async with reading(tmp_path, {"I. The Mill": story}) as talk:
        assert (await talk.ask(question)).citations


async def test_a_word_that_two_languages_share_is_no_name(tmp_path: Path) -> None:
    story = "They went back to the hamlet. “Come,” she said to Polly. The winter was over and all was well again. " * 6
    async with reading(tmp_path, {"I. The Mill": story}) as talk:
        for asked in ("wie komme man back", "was passiert am ende von hamlet", "wie lange kochen eier"):
            assert not (await talk.ask(asked)).citations
        for asked in ("wer ist tante polly", "was war im Winter", "was ist ein hamlet"):
            assert (await talk.ask(asked)).citations


async def test_what_a_question_is_of_is_all_of_it(talk: Talk) -> None:
    assert (await talk.ask("what is the doctor of tesla")).text == SAY.nothing_about.format("*tesla*")
    assert (await talk.ask("who is the dark wizard")).text == SAY.nothing_about.format("*wizard*")


async def test_mister_is_no_name(talk: Talk) -> None:
    assert "Mr. Ahrens" in (await talk.ask("who is mister ahrens")).text


async def test_two_common_words_typed_as_a_name_are_nobody_of_the_book(talk: Talk) -> None:
    assert (await talk.ask("Who plays Oak Wheel?")).text == SAY.nothing_about.format("*Oak Wheel*")


async def test_of_a_name_that_is_there_it_does_not_say_that_nothing_is_found(tmp_path: Path) -> None:
    async with reading(
        tmp_path, {"I. The Mill": AHRENS, "II. Rain": "Rain. " * 300, "III. The Bridge": BRIDGE}
    ) as talk:
        assert (await talk.ask("Is the wheel of Bremen built?")).text == SAY.nothing


async def test_two_words_that_are_nowhere_are_no_two_others_misspelt(talk: Talk) -> None:
    assert (await talk.ask("who wrote briege morneng")).text == SAY.nothing_about.format("*briege morneng*")
    assert (await talk.ask("who mended the brigde")).text.startswith(SAY.did_you_mean.format("brigde", "bridge"))


async def test_an_index_full_of_dots_does_not_hide_what_language_a_manual_is_in(tmp_path: Path) -> None:
    index = "\n".join(f"jobs, looping over files {'. ' * 40}{page}" for page in range(30))
    story = f"A for loop runs over files, and is used for each of them.\n\n{index}"
    async with reading(tmp_path, {"1. Loops": story}) as talk:
        assert (await talk.ask("how do i loop over files")).citations


ALL_KNOW = (
    "Ann was in love with the ferryman, whose house was in London. He lived there among six other people. "
    "The birds flew up when he rowed, and the tide caused him to be late. “I love rain,” said the cook. "
    "He loved the tides of London more than people. A bird flew in. What was love to him? They slept. The birds sang. "
)


@pytest.mark.parametrize(
    "question",
    [
        "What is love?", "what is the meaning of love", "Was ist Liebe?", "What causes the tides?", "how do birds fly",
        "How many people live in London?", "how many people are there in london", "Wie viele Menschen leben in London?",
        "what is happiness",
    ],
)  # fmt: skip
async def test_what_all_the_world_knows_is_not_answered_by_a_story_that_has_only_the_words(
    tmp_path: Path, question: str
) -> None:
    async with reading(tmp_path, {"I. The Ferry": ALL_KNOW}) as talk:
        turn = await talk.ask(question)
    assert not turn.citations
    assert "London" not in turn.text


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What is love?", "Love is a cruel master, and lets nobody sleep."),
        ("what is love", "“Love, my dear, is what one pays for,” said the cook."),
        ("what is the meaning of war", "He had come to think that war is an evil."),
        ("What is happiness?", "“Happiness is rest!” cried Bob."),
        ("what is liberty", "“Freedom, Bob, is one of the most precious gifts,” said the clerk."),
        ("What causes the tides?", "“Nothing but the moon causes the tides,” said the clerk."),
        ("How do birds fly?", "“The birds fly by beating the air,” said Bob."),
        ("How many people live in London?", "In London, with its six million souls, nobody knew him."),
        ("how big is the population of london", "“The population of London is four millions,” said Bob."),
        ("Wie viele Menschen leben in London?", "“In London there are four million inhabitants,” said Bob."),
    ],
)
async def test_what_all_the_world_knows_is_answered_where_the_story_says_it(
    tmp_path: Path, question: str, told: str
) -> None:
    async with reading(tmp_path, {"I. The Ferry": f"{ALL_KNOW}{told} {ALL_KNOW}"}) as talk:
        assert told.strip("“”").split("”")[0] in (await talk.ask(question)).text


async def test_how_something_is_that_a_chapter_is_about_may_be_told_in_any_words(tmp_path: Path) -> None:
    async with reading(tmp_path, {"I. The Birds": ALL_KNOW, "II. The Ferry": ALL_KNOW}) as talk:
        assert (await talk.ask("how do birds fly")).citations
    async with reading(tmp_path, {"I. The Tide": ALL_KNOW, "II. The Ferry": ALL_KNOW}) as talk:
        assert not (await talk.ask("what causes the tides")).citations


@pytest.mark.parametrize("question", ["Who says “off with her head”?", "who says off with her head"])
async def test_a_line_that_is_further_on_is_not_in_what_has_been_read(tmp_path: Path, question: str) -> None:
    story = {
        "I. The Fall": "She walked with her head down. “My head,” says Ann. It fell. ",
        "II. The Queen": "“Off with her head!”",
    }
    async with reading(tmp_path, story, read_to=60, is_open=False) as talk:
        assert (await talk.ask(question)).text == SAY.no_line_yet
    async with reading(tmp_path, story) as talk:
        assert "Off with her head" in (await talk.ask(question)).text
