"""Every language says everything that is said, and nothing else."""

from collections.abc import Sequence
from enum import StrEnum
from string import Formatter
from typing import Any

import discord
import pytest
from discord import app_commands

from cogs.i18n import LANGUAGES as FILES
from cogs.i18n import read_catalogue
from cogs.permissions import PERMISSION_NAMES
from domain import errors
from tests.cogs.i18n.said import texts_in_source, texts_of_errors, unreadable_texts
from tests.cogs.stage import Stage

LANGUAGES = pytest.mark.parametrize("language", FILES.values())
DESCRIPTION_LENGTH = 100


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


def translations(language: str) -> dict[str, str]:
    """Texts and their translations; both forms of a text that counts are texts."""
    found: dict[str, str] = {}
    for message in read_catalogue(language):
        if message.id and not message.context:
            found |= zip(_forms(message.id), _forms(message.string), strict=True)
    return found


def _forms(texts: Any) -> Sequence[str]:
    return [texts] if isinstance(texts, str) else texts


def gists(language: str) -> dict[str, set[str]]:
    """The codes of failures that have a gist, by the name of their class."""
    found: dict[str, set[str]] = {}
    for message in read_catalogue(language):
        if message.context:
            found.setdefault(message.context, set()).add(str(message.id))
    return found


@LANGUAGES
async def test_a_catalogue_holds_all_that_is_said_and_no_more(stage: Stage, language: str) -> None:
    assert unreadable_texts() == []
    said = {**texts_in_source(), **texts_of_errors(), **dict.fromkeys(command_texts(stage), "a command")}
    catalogue = translations(language)
    assert {text: where for text, where in said.items() if text not in catalogue} == {}
    assert set(catalogue) - set(said) == set()


@LANGUAGES
def test_a_translation_has_the_same_placeholders(language: str) -> None:
    for text, translation in translations(language).items():
        assert _placeholders(translation) == _placeholders(text), text


def _placeholders(text: str) -> set[tuple[str, str | None]]:
    return {(name, spec) for _, name, spec, _ in Formatter().parse(text) if name is not None}


@LANGUAGES
async def test_descriptions_fit(stage: Stage, language: str) -> None:
    translated = translations(language)
    for text in command_texts(stage):
        assert len(translated[text]) <= DESCRIPTION_LENGTH, text


@LANGUAGES
def test_every_failure_the_program_knows_has_a_gist(language: str) -> None:
    values = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    kinds = [kind for kind in values if issubclass(kind, StrEnum) and kind is not StrEnum]
    codes = {kind.__name__: {str(code) for code in kind} for kind in kinds}
    assert len(codes) >= 5
    assert gists(language) == codes


def test_every_permission_the_bot_needs_is_one_of_discords() -> None:
    for name in PERMISSION_NAMES:
        assert getattr(discord.Permissions.all(), name)
