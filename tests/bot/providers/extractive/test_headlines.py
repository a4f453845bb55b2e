"""The prompts of the program that ask for a title or a query are understood."""

from importlib.resources import files

import pytest

from bot.providers.extractive.client import ExtractiveChat
from domain.chat import PromptKind, PromptMessage, Prompts

PROMPTS = Prompts.load(files("prompts"))


async def said(prompt: str, kind: PromptKind, **data: object) -> str:
    return await ExtractiveChat().chat([PromptMessage("user", prompt, kind=kind, data=data)])


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Why did the six sons plan to leave?", "Six sons plan to leave"),
        ("Who is Tom Liddiard?", "Tom Liddiard"),
        ("?!", "About the book"),
        ("Who is <https://example.com/a> Tom?", "Tom"),
        ("Where, in all the years of the war, was the old lamp of the tower hidden?", "Years of the war"),
        ("Warum ging der König fort?", "Ging der König fort"),
    ],
)
async def test_a_title_is_made_of_the_words_that_carry_the_question(question: str, title: str) -> None:
    answer = "“He did.” (p. 3)"
    prompt = PROMPTS.title.substitute(question=question, answer=answer)
    assert await said(prompt, PromptKind.TITLE, question=question, answer=answer) == title


async def test_a_message_becomes_a_query_that_stands_on_its_own() -> None:
    history = [("user", "Who put out the lamp?"), ("assistant", "“It was Hobb who did it.” (p. 3)")]
    message = "And where did he live?"
    prompt = PROMPTS.reformulation.substitute(history=history, message=message)
    query = await said(prompt, PromptKind.SEARCH_QUERY, history=history, message=message)
    assert query.split() == ["live", "Hobb"]
