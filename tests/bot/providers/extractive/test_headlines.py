"""The prompts of the program that ask for a title or a query are understood."""

from importlib.resources import files

import pytest

from bot.providers.extractive import ExtractiveChat
from domain.chat import PromptMessage
from domain.turn.prompts import Prompts

PROMPTS = Prompts.load(files("prompts"))


async def said(prompt: str) -> str:
    return await ExtractiveChat().chat([PromptMessage("user", prompt)])


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Why did the six sons plan to leave?", "Six sons plan to leave"),
        ("Who is Tom Liddiard?", "Tom Liddiard"),
        ("?!", "About the book"),
        ("Where, in all the years of the war, was the old lamp of the tower hidden?", "Years of the war"),
        ("Warum ging der König fort?", "Ging der König fort"),
    ],
)
async def test_a_title_is_made_of_the_words_that_carry_the_question(question: str, title: str) -> None:
    assert await said(PROMPTS.title.substitute(question=question, answer="“He did.” (p. 3)")) == title


async def test_a_message_becomes_a_query_that_stands_on_its_own() -> None:
    history = "user: Who put out the lamp?\nassistant: “It was Hobb who did it.” (p. 3)"
    query = await said(PROMPTS.reformulation.substitute(history=history, message="And where did he live?"))
    assert query.split() == ["live", "Hobb"]
