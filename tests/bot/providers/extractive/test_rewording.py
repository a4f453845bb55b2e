"""No answer of the built-in answerer depends on how a prompt or a tool puts things in words."""

import re
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from bot.providers.extractive.client import ExtractiveChat
from bot.tools.book import book_toolbox
from domain.chat import MessageRole, PromptKind, PromptMessage, Prompts
from domain.citations.resolver import compose
from domain.event import StrategyOutcome
from domain.ports import BookView, Dispatcher, RetrievalStrategy
from domain.strategies.always_retrieve import AlwaysRetrieveStrategy
from domain.strategies.tool_use import ToolUseRetrievalStrategy
from domain.tool_use import RequestUsage, ToolDefinition, ToolResult
from domain.tools.registry import as_result
from domain.turn.quota import complete_once
from tests.bot.providers.extractive.reading import opened_view
from tests.bot.providers.extractive.test_answers import CHAPTERS

QUESTIONS = (
    "Hello!",
    "Who wrote this book?",
    "Who is Hobb?",
    "And why did he put out the lamp?",
    "and then?",
    "What did Marta find under the stairs, and where did it fit?",
    "How often is Marta mentioned?",
    "How often is Zebulon mentioned?",
    "Where does Lucian first appear?",
    "What chapters are there?",
    "Summarise the book",
    "Summarise chapter 2",
    "Summarise chapter 77",
    "Read page 3",
    "Read page 77",
    "Where does it say “found a brass key”?",
    "Where does it say “emperors of Zanzibar adore goats”?",
    "What do emperors pay for goats?",
    "I'm on page 2 now",
    "Who is Lucain?",
    "Wer ist Hobb?",
)
_WORDS = re.compile(r"(?<![\w$])[A-Za-z]{2,}")


def reworded(text: str) -> str:
    """Other words of the same length, all numbers other ones; what a template fills in stays."""
    return re.sub(r"\d", "4", _WORDS.sub(lambda word: "zu" * (len(word[0]) // 2), text))


@pytest.fixture
def other_prompts(tmp_path: Path) -> Prompts:
    for prompt in files("prompts").iterdir():
        if prompt.name.endswith(".md"):
            (tmp_path / prompt.name).write_text(reworded(prompt.read_text(encoding="utf-8")), encoding="utf-8")
    return Prompts.load(tmp_path)


def rewording(dispatch: Dispatcher) -> Dispatcher:
    """Tools that say the same in other words."""

    async def call(name: str, args: dict[str, Any]) -> ToolResult:
        result = as_result(await dispatch(name, args))
        return replace(
            result, content=reworded(result.content), note=reworded(result.note), summary=reworded(result.summary)
        )

    return call


async def answers(view: BookView, prompts: Prompts, strategy: RetrievalStrategy, *, other_words: bool) -> list[str]:
    """All questions in one conversation, with the title of each as its last line."""
    tools = book_toolbox(view)
    dispatch = rewording(tools.build_dispatcher()) if other_words else tools.build_dispatcher()
    definitions = [_other(tool) if other_words else tool for tool in tools.get_definitions()]
    book = {"title": view.book.title, "author": view.book.author, "open": False}
    system = PromptMessage("system", prompts.conversation_system.substitute(book="A Book"), data=book)
    past: list[PromptMessage] = []
    told = []
    for question in QUESTIONS:
        note = "[zu]" if other_words else "[Ann · has read to page 2]"
        asked = PromptMessage(MessageRole.USER, question, note=note)
        text, added = await _turn(view, strategy, [system, *past, asked], definitions, dispatch)
        past += [asked, *added[:-1], PromptMessage(MessageRole.ASSISTANT, text)]
        title = prompts.title.substitute(question=question, answer=text)
        data = {"question": question, "answer": text}
        told.append(f"{text}\n{await complete_once(ExtractiveChat(), _free, title, kind=PromptKind.TITLE, data=data)}")
    return told


async def _turn(
    view: BookView,
    strategy: RetrievalStrategy,
    messages: Sequence[PromptMessage],
    tools: Sequence[ToolDefinition],
    dispatch: Dispatcher,
) -> tuple[str, Sequence[PromptMessage]]:
    composition = compose(view.book, view, (), None)
    added: Sequence[PromptMessage] = ()
    async for event in strategy.execute(ExtractiveChat(), messages, tools, dispatch):
        await composition.follow(event)
        if isinstance(event, StrategyOutcome):
            added = event.messages
    await composition.finish()
    return composition.text, added


async def _free(_: RequestUsage) -> None:
    raise AssertionError("the built-in answerer costs nothing")


def _other(tool: ToolDefinition) -> ToolDefinition:
    return replace(tool, description=reworded(tool.description))


@pytest.mark.parametrize("tools", [True, False], ids=["with tools", "passages handed over"])
async def test_rewording_every_prompt_and_every_tool_changes_no_answer(
    tmp_path: Path, other_prompts: Prompts, *, tools: bool
) -> None:
    prompts = Prompts.load(files("prompts"))

    def strategy(with_prompts: Prompts) -> RetrievalStrategy:
        return ToolUseRetrievalStrategy() if tools else AlwaysRetrieveStrategy(with_prompts)

    async with opened_view(tmp_path / "books", CHAPTERS) as view:
        before = await answers(view, prompts, strategy(prompts), other_words=False)
        after = await answers(view, other_prompts, strategy(other_prompts), other_words=True)
    assert after == before
    assert len(set(before)) == len(QUESTIONS)
    assert "It was Hobb who had put the lamp out." in "".join(before)


async def test_a_conversation_kept_by_an_earlier_version_goes_on(tmp_path: Path) -> None:
    """Its messages have neither kind nor data; the system text is found without them too."""
    async with opened_view(tmp_path, CHAPTERS) as view:
        tools = book_toolbox(view)
        strategy, dispatch = ToolUseRetrievalStrategy(), tools.build_dispatcher()
        kept: list[PromptMessage] = [PromptMessage("system", "You read a book with someone.")]
        for question in QUESTIONS:
            asked = PromptMessage(MessageRole.USER, question)
            text, added = await _turn(view, strategy, [*kept, asked], tools.get_definitions(), dispatch)
            assert text.strip()
            without = [replace(message, kind=PromptKind.TALK, data=None) for message in added]
            kept += [asked, *without]
