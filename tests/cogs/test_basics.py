"""/help: one card, and every command on it exists."""

import re

import discord
import pytest

from cogs.basics import help_card
from cogs.i18n import speech_for
from tests.cogs.stage import Stage, embed_text, text_of

ENGLISH = speech_for(discord.Locale.american_english)


async def test_it_names_commands_that_exist(stage: Stage) -> None:
    shown = await stage.ann.slash(stage.channel, "help")
    assert shown.ephemeral
    named = {name for line in text_of(shown).splitlines() for name in re.findall(r"`/([a-z ]+)`", line)}
    assert len(named) >= 8
    assert named <= {command.qualified_name for command in stage.bot.tree.walk_commands()}


def test_without_the_content_intent_it_says_so() -> None:
    assert "I can't read other messages" in embed_text(help_card(ENGLISH, reads_messages=False))
    assert "just write" in embed_text(help_card(ENGLISH, reads_messages=True))


@pytest.mark.parametrize("reads_messages", [True, False])
def test_in_private_it_tells_of_no_threads_and_of_no_mentions(reads_messages: bool) -> None:
    told = embed_text(help_card(ENGLISH, reads_messages=reads_messages, is_private=True))
    assert "begins a conversation about a book in our direct messages" in told
    assert "Just write. I answer every message." in told
    assert "thread" not in told
