"""Choices offered while a person types: of their guild, within their sight, and no title they have not reached."""

import re
from collections.abc import Iterable
from typing import Any

import discord
from discord import app_commands

from cogs.access import resolve_book, visibility_of
from cogs.cards import clipped
from cogs.errors import Refusal
from cogs.i18n import Speech, speech_of
from cogs.services import shelf_of, use_cases_of
from domain.book import Chapter
from domain.conversation import Conversation
from domain.errors import BookError
from domain.library.addressing import is_counted
from domain.library.progress import title_is_read

MOST_CHOICES = 25
LONGEST_NAME = 100
CONVERSATIONS_LOOKED_AT = 200

Choices = list[app_commands.Choice[str]]


async def books(interaction: discord.Interaction[Any], typed: str) -> Choices:
    """Books of the guild, by title or author."""
    shelf = await use_cases_of(interaction).shelf.list(shelf_of(interaction))
    return matching(
        typed, ((f"{each.title} · {each.author}" if each.author else each.title, each.id) for each in shelf)
    )


async def conversations(interaction: discord.Interaction[Any], typed: str) -> Choices:
    """Conversations of the guild that the person can see, of the book chosen before if one was."""
    use_cases, book_id = use_cases_of(interaction), getattr(interaction.namespace, "book", None)
    titles = {each.id: each.title for each in await use_cases.shelf.list(shelf_of(interaction))}
    known = await use_cases.conversations.in_guild(shelf_of(interaction))
    named = [(_conversation_name(each, titles.get(each.book_id, "")), each) for each in known]
    fitting = [each for name, each in named if book_id in (None, "", each.book_id) and fits(typed, name)]
    seen = {each.id for each in await visibility_of(interaction).at_a_glance(fitting[:CONVERSATIONS_LOOKED_AT])}
    return matching(typed, ((name, each.id) for name, each in named if each.id in seen))


def _conversation_name(conversation: Conversation, book: str) -> str:
    """Title, book and day: several may be called the same."""
    tail = f" · {clipped(book, 30)} · {conversation.created_at:%Y-%m-%d}"
    return clipped(conversation.title, LONGEST_NAME - len(tail)) + tail


async def chapters(interaction: discord.Interaction[Any], typed: str) -> Choices:
    """Chapters of the book; those a reader with a position has not reached are offered by number alone."""
    use_cases = use_cases_of(interaction)
    try:
        book = await resolve_book(interaction, getattr(interaction.namespace, "book", None) or None)
        file = await use_cases.shelf.open(book)
    except (BookError, Refusal):
        return []
    position = await use_cases.positions.get(str(interaction.user.id), book)
    bound, say = position.bound(book.length), speech_of(interaction)
    found = await file.chapters()
    counted = is_counted(found)
    names = ((chapter_name(each, bound, say, counted=counted), f"#{each.number}") for each in found)
    return matching(typed, names)


def chapter_name(chapter: Chapter, bound: int, say: Speech, *, counted: bool = True) -> str:
    """A chapter's number, and its title where that stands before `bound`; a number in it is not said twice.

    Where the book prints numbers (not `counted`), those are shown and none of ours.
    """
    if not counted:
        if title_is_read(chapter, bound):
            return f"{chapter.title} ({chapter.parent})" if chapter.parent else chapter.title
        return say("Chapter {number}", number=chapter.printed) if chapter.printed else "…"
    number = say("Chapter {number}", number=chapter.number)
    own = re.match(rf"(?:\w+\s)?{chapter.number}(?:[.:)]\s*|$)", chapter.title)
    title = chapter.title[own.end() :] if own else chapter.title
    return f"{number}: {title}" if title and title_is_read(chapter, bound) else number


def matching(typed: str, named: Iterable[tuple[str, str]]) -> Choices:
    """Choices from (name, value) pairs whose name has what was typed."""
    fitting = [(name, value) for name, value in named if fits(typed, name)]
    return [app_commands.Choice(name=name[:LONGEST_NAME], value=value) for name, value in fitting[:MOST_CHOICES]]


def fits(typed: str, name: str) -> bool:
    """Whether every word that was typed occurs in the name."""
    return all(word in name.casefold() for word in typed.casefold().split())
