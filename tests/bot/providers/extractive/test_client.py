"""The provider itself: it keeps to what is offered, keeps nothing, and is never at a loss for words."""

import pytest

from bot.providers.extractive.client import ExtractiveChat
from bot.providers.extractive.language import Language
from bot.providers.extractive.wording import PHRASES
from domain.chat import PromptKind, PromptMessage
from domain.citations.matching import find_uncited
from domain.strategies.tool_use import NUDGE
from domain.tool_use import ToolDefinition, ToolInvocation
from tests.bot.providers.talk import SEARCH, collected, passage, result, streamed_text, system, user

SAY = PHRASES[Language.ENGLISH]
LAMP = passage("The lamp stood in a tower.", "It had been dark for a year.", start=100)


def called(name: str, call_id: str = "look_1", **arguments: object) -> PromptMessage:
    return PromptMessage("assistant", "", tool_invocations=[ToolInvocation(name, dict(arguments), call_id)])


async def test_only_parameters_that_a_tool_has_are_sent() -> None:
    response = await ExtractiveChat().chat_with_tools([user("Where did the lamp stand?")], [SEARCH])
    assert [call.arguments for call in response.tool_invocations] == [{"query": "lamp stand"}]


async def test_limits_of_parameters_are_kept() -> None:
    top_k = {"type": "integer", "maximum": 3}
    tool = ToolDefinition("search_book", "", {"properties": {"query": {"type": "string"}, "top_k": top_k}})
    response = await ExtractiveChat().chat_with_tools([user("Where did the lamp stand?")], [tool])
    assert response.tool_invocations[0].arguments["top_k"] == 3


async def test_a_tool_that_wants_more_than_is_known_here_is_left_alone() -> None:
    tool = ToolDefinition("search_book", "", {"properties": {"query": {}, "shelf": {}}, "required": ["query", "shelf"]})
    response = await ExtractiveChat().chat_with_tools([user("Where did the lamp stand?")], [tool])
    assert response.text == SAY.nothing


async def test_what_a_tool_for_it_would_have_told_is_searched_where_there_is_none() -> None:
    response = await ExtractiveChat().chat_with_tools([user("How often is Hobb mentioned?")], [SEARCH])
    assert [call.tool_name for call in response.tool_invocations] == ["search_book"]


async def test_without_calls_it_answers_from_what_was_found_before() -> None:
    talk = [
        user("What is dark?"),
        called("search_book", query="dark"),
        result("look_1", "", LAMP),
        user("Where did the lamp stand?"),
    ]
    _, response = await collected(ExtractiveChat().stream(talk, [SEARCH], call_tools=False))
    assert "The lamp stood in a tower." in (response.text or "")


async def test_it_answers_after_two_rounds_whatever_came_of_them() -> None:
    talk = [user("Where did the lamp stand?")]
    for number in ("1", "2"):
        talk += [called("search_book", f"look_{number}", query="lamp"), result(f"look_{number}", "Nothing fits.")]
    assert (await ExtractiveChat().chat_with_tools(talk, [SEARCH])).text == SAY.nothing


async def test_the_text_comes_word_by_word() -> None:
    events, response = await collected(ExtractiveChat().stream([user("Hello!")]))
    assert streamed_text(events) == response.text == SAY.greeting
    assert len(events) == len(SAY.greeting.split())


async def test_the_same_request_brings_the_same_reply() -> None:
    request = [system(), user("Where did the lamp stand?")]
    first, second = [await ExtractiveChat().chat_with_tools(request, [SEARCH]) for _ in range(2)]
    assert first == second


async def test_calls_of_different_turns_have_different_names() -> None:
    first = await ExtractiveChat().chat_with_tools([user("Where did the lamp stand?")], [SEARCH])
    past = [user("Where did the lamp stand?"), PromptMessage("assistant", "There.")]
    second = await ExtractiveChat().chat_with_tools([*past, user("Where did the lamp stand?")], [SEARCH])
    assert first.tool_invocations[0].tool_use_id != second.tool_invocations[0].tool_use_id


async def test_being_nudged_is_not_being_asked() -> None:
    talk = [
        user("Where did the lamp stand?"),
        called("search_book", query="x"),
        result("look_1", "", LAMP),
        PromptMessage("user", NUDGE, kind=PromptKind.NUDGE),
    ]
    response = await ExtractiveChat().chat_with_tools(talk, [SEARCH])
    assert "The lamp stood in a tower." in (response.text or "")


async def test_it_knows_the_book_it_is_on() -> None:
    named = PromptMessage("system", "Be brief.", data={"title": "The Dark Lamp", "author": "A. Nonymous", "open": True})
    assert (
        await ExtractiveChat().chat([named, user("Who wrote this book?")]) == "This is “The Dark Lamp” by A. Nonymous."
    )
    unsigned = PromptMessage("system", "Be brief.", data={"title": "The Dark Lamp", "author": "", "open": True})
    assert await ExtractiveChat().chat([unsigned, user("Who wrote this book?")]) == SAY.title.format("The Dark Lamp")


@pytest.mark.parametrize(("estimated", "told"), [(False, "It has 12 pages."), (True, "It has about 12 pages.")])
async def test_it_knows_how_many_pages_the_book_has(estimated: bool, told: str) -> None:
    about = PromptMessage("system", "Be brief.", data={"title": "The Dark Lamp", "pages": 12, "estimated": estimated})
    assert await ExtractiveChat().chat([about, user("how many pages is this")]) == told


async def test_it_says_that_it_knows_no_more_of_the_author_than_the_name() -> None:
    about = PromptMessage("system", "Be brief.", data={"title": "The Dark Lamp", "author": "Ann Onym"})
    told = f"{SAY.book.format('The Dark Lamp', 'Ann Onym')} {SAY.origin}"
    assert await ExtractiveChat().chat([about, user("When was ann onym born?")]) == told
    assert await ExtractiveChat().chat([about, user("Who wrote the Dark Lamp and when was it published?")]) == told


async def test_an_emoji_is_answered_in_the_language_of_the_talk() -> None:
    talk = [user("Wer ist denn der Wärter?"), PromptMessage("assistant", "Das ist Hobb."), user("😀😀")]
    assert await ExtractiveChat().chat(talk) == PHRASES[Language.GERMAN].unclear


async def test_a_word_of_any_language_is_in_that_of_the_talk() -> None:
    talk = [user("Wer ist denn der Wärter?"), PromptMessage("assistant", "Das ist Hobb."), user("Hobb")]
    assert await ExtractiveChat().chat(talk) == PHRASES[Language.GERMAN].nothing_about.format("*Hobb*")


async def test_nobody_asked_anything() -> None:
    assert (await ExtractiveChat().chat([])).strip()
    assert (await ExtractiveChat().chat([system()])).strip()
    assert (await ExtractiveChat().chat([user("  \n ")])).strip()


@pytest.mark.parametrize("language", list(Language))
def test_what_it_says_besides_its_quotations_claims_nothing(language: Language) -> None:
    say = PHRASES[language]
    talk = f"""
        {say.near}\n{say.no_reason}\n{say.no_number}\n{say.no_time}\n{say.nothing}\n{say.nothing_yet}\n{say.no_line}
        {say.greeting}\n{say.well}\n{say.thanks}\n{say.ready}\n{say.position}\n{say.origin}\n{say.no_summary}
        {say.failed}\n{say.no_page}\n{say.no_chapter}\n{say.both_chapters}\n{say.end_ahead}\n{say.no_more}
        {say.opinion}\n{say.off_topic}\n{say.unclear}\n{say.who_is_meant}\n{say.no_cast}\n{say.narrator}
        {say.foreign}\n{say.abilities}\n{say.farewell}\n{say.sorry}\n{say.sure}\n{say.goes_on}
    """
    assert find_uncited(talk) == ()
