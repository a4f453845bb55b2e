"""Whatever is asked, and whatever was found: an answer comes, and all it quotes stands in the book."""

import asyncio
from collections.abc import Sequence

from hypothesis import example, given
from hypothesis import strategies as st

from bot.providers.extractive.client import ExtractiveChat
from bot.providers.extractive.language import Language
from bot.providers.extractive.quotation import gather, quotations, render
from domain.book import Citation, Passage, Sentence
from domain.chat import PromptMessage
from domain.citations.keys import KEY_GROUP, KEY_IN_GROUP, UNSEEN, key_of
from domain.citations.quotations import Quotations
from domain.citations.resolver import AnswerComposer
from domain.tool_use import TextChunk, ToolInvocation
from tests.bot.providers.talk import SEARCH

QUESTIONS = (
    "Who is Hobb?",
    "Why did he leave, and when?",
    "How many times is the lamp mentioned?",
    "Where does it say “the lamp was dark”?",
    "Read page 2",
    "Summarise chapter iv",
    "and then?",
    "Wer hat das Licht gelöscht?",
    "灯台守は誰ですか",
)
MARKS = "“”\"„«»‘’'()[]*_>#…—-.,;:!?。」「 \n"
words = st.sampled_from(["Hobb", "the", "lamp", "was", "dark", "because", "seven", "Licht", "灯台", "said", "p.", "12"])
wild = st.lists(words | st.text(MARKS, max_size=4) | st.text(max_size=6), max_size=40).map(" ".join)
questions = st.sampled_from(QUESTIONS) | wild


@st.composite
def passages(draw: st.DrawFn) -> list[Passage]:
    found, at = [], 0
    for text in draw(st.lists(st.lists(wild.filter(str.strip), min_size=1, max_size=4), max_size=4)):
        placed = []
        for sentence in text:
            placed.append(Sentence(at, at + len(sentence), sentence))
            at += len(sentence) + draw(st.sampled_from([0, 1, 2, 9]))
        found.append(Passage(1, placed[0].start, placed[-1].end, "12", "12", draw(wild), tuple(placed)))
    return draw(st.permutations(found))


def answer_to(question: str, found: Sequence[Passage]) -> str:
    talk = [PromptMessage("user", question)]
    chat = ExtractiveChat()
    for _ in range(4):
        response = asyncio.run(chat.chat_with_tools(talk, [SEARCH]))
        if response.text is not None:
            return response.text
        talk.append(PromptMessage("assistant", "", tool_invocations=response.tool_invocations))
        talk += [_result(call, found) for call in response.tool_invocations]
    raise AssertionError("it never came to an answer")


def _result(call: ToolInvocation, found: Sequence[Passage]) -> PromptMessage:
    return PromptMessage("tool_result", "", tool_use_id=call.tool_use_id, passages=tuple(found))


@given(questions, passages())
def test_an_answer_always_comes_and_names_only_sentences_that_were_given(question: str, found: list[Passage]) -> None:
    text = answer_to(question, found)
    assert text.strip()
    given_keys = {key_of(sentence) for passage in found for sentence in passage.sentences}
    assert set(KEY_IN_GROUP.findall(text)) <= given_keys


def alone(text: str) -> list[Passage]:
    return [Passage(1, 0, len(text), "12", "12", "", (Sentence(0, len(text), text),))]


@example(alone("“:[ seven ]”"), Language.ENGLISH)
@example(alone("Hobb \ue000 Hobb"), Language.ENGLISH)
@example(alone(": ¹"), Language.ENGLISH)
@example(alone('Hobb [ " ²'), Language.ENGLISH)
@given(passages(), st.sampled_from(Language))
def test_what_is_quoted_is_left_alone_by_the_checks(found: list[Passage], language: Language) -> None:
    """Sentence by sentence; in a wild text, what stands between two sentences can make a third of them. A number alone
    in quotation marks is no quotation.
    """
    for candidate in (each for each in gather([found], language) if any(map(str.isalpha, each.text))):
        written = render(quotations([candidate]), language)
        assert candidate.text.strip(MARKS) in written
        shown = asyncio.run(composed(written, found))
        read = UNSEEN.sub("", KEY_GROUP.sub("", written))
        assert shown.replace(" (p. 12)", "").rstrip() == read.rstrip()


async def composed(written: str, found: Sequence[Passage]) -> str:
    composer = AnswerComposer(_cite, Quotations(_nowhere), found)
    shown = await composer.feed(TextChunk(written))
    return shown + await composer.finish()


async def _cite(start: int, end: int) -> Citation:
    return Citation(start, end, "", "12", "12", "")


async def _nowhere(_: str) -> bool:
    return False
