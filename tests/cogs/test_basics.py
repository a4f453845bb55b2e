"""/help: one card, and every command on it exists."""

import re
from functools import partial

import discord
import pytest

from cogs.basics import help_card
from cogs.conversation.buttons import redo_button, sources_button, stop_button
from cogs.i18n import speech_for
from tests.cogs.stage import Stage, embed_text, text_of

ENGLISH = speech_for(discord.Locale.american_english)


async def test_it_names_commands_that_exist(stage: Stage) -> None:
    shown = await stage.ann.slash(stage.channel, "help")
    assert shown.ephemeral
    named = {name for line in text_of(shown).splitlines() for name in re.findall(r"`/([a-z ]+)`", line)}
    assert len(named) >= 8
    assert named <= {command.qualified_name for command in stage.bot.tree.walk_commands()}


@pytest.mark.parametrize("locale", [discord.Locale.american_english, discord.Locale.german])
def test_the_buttons_it_names_are_called_so(locale: discord.Locale) -> None:
    say = speech_for(locale)
    named = set(re.findall(r"\*\*(.+?)\*\*", embed_text(help_card(say, reads_messages=True))))
    buttons = (stop_button, sources_button, redo_button, partial(redo_button, edited=True))
    assert named == {button.label for make in buttons for button in make("1", say)}


def test_without_the_content_intent_it_says_so() -> None:
    assert "I can't read other messages" in embed_text(help_card(ENGLISH, reads_messages=False))
    assert "just write" in embed_text(help_card(ENGLISH, reads_messages=True))


@pytest.mark.parametrize("reads_messages", [True, False])
def test_in_private_it_tells_of_no_threads_and_of_no_mentions(reads_messages: bool) -> None:
    told = embed_text(help_card(ENGLISH, reads_messages=reads_messages, is_private=True))
    assert "begins a conversation about a book in our direct messages" in told
    assert "Just write. I answer every message." in told
    assert "thread" not in told
