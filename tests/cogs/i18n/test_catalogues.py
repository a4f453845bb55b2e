"""Every language says everything that is said, and nothing else."""

from enum import StrEnum
from string import Formatter

import discord
import pytest
from discord import app_commands

from cogs.i18n.speech import CATALOGUES, ERRORS
from cogs.permissions import PERMISSION_NAMES
from domain import errors
from tests.cogs.i18n.said import texts_in_source, unreadable_texts
from tests.cogs.stage import Stage

LANGUAGES = pytest.mark.parametrize("language", list(CATALOGUES), ids=str)
DESCRIPTION_LENGTH = 100
BUTTON_LENGTH = 80


def command_texts(stage: Stage) -> set[str]:
    """Descriptions and choices of all commands, groups and options."""
    texts: set[str] = set()
    for command in stage.bot.tree.walk_commands():
        texts.add(command.description)
        if isinstance(command, app_commands.Command):
            for option in command.parameters:
                texts.add(str(option.description))
                texts |= {choice.name for choice in option.choices}
    return texts


def test_every_text_stands_whole_in_the_source() -> None:
    assert unreadable_texts() == []


@LANGUAGES
async def test_a_catalogue_holds_all_that_is_said_and_no_more(stage: Stage, language: discord.Locale) -> None:
    said = {**texts_in_source(), **dict.fromkeys(command_texts(stage), "a command")}
    catalogue = CATALOGUES[language]
    assert {text: where for text, where in said.items() if text not in catalogue} == {}
    assert set(catalogue) - set(said) == set()


@LANGUAGES
def test_a_translation_has_the_same_placeholders(language: discord.Locale) -> None:
    for text, translation in CATALOGUES[language].items():
        assert _placeholders(translation) == _placeholders(text), text


def _placeholders(text: str) -> set[tuple[str, str | None]]:
    return {(name, spec) for _, name, spec, _ in Formatter().parse(text) if name is not None}


@LANGUAGES
async def test_descriptions_fit(stage: Stage, language: discord.Locale) -> None:
    for text in command_texts(stage):
        assert len(CATALOGUES[language][text]) <= DESCRIPTION_LENGTH, text


@LANGUAGES
def test_every_failure_the_program_knows_has_a_gist(language: discord.Locale) -> None:
    values = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    kinds = [kind for kind in values if issubclass(kind, StrEnum) and kind is not StrEnum]
    codes = {kind.__name__: {str(code) for code in kind} for kind in kinds}
    assert len(codes) >= 5
    gists = {
        kind.__name__: {str(code) for code in texts} for kind, texts in ERRORS[language].items() if kind is not str
    }
    assert gists == codes


def test_every_permission_the_bot_needs_is_one_of_discords() -> None:
    for name in PERMISSION_NAMES:
        assert getattr(discord.Permissions.all(), name)
