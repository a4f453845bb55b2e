"""From what a person typed or chose to the book or conversation they mean, in their guild and within their sight."""

from collections.abc import Sequence
from typing import Any

import discord

from cogs.errors import Refusal
from cogs.services import services_of, shelf_of
from cogs.translation import speech_of
from cogs.visibility import Sight
from domain.book import Book
from domain.conversation import Conversation


def sight_of(interaction: discord.Interaction[Any]) -> Sight:
    assert interaction.guild is not None, "commands are for guilds only"
    return Sight(interaction.guild, interaction.user)


async def bound_conversation(interaction: discord.Interaction[Any]) -> Conversation | None:
    """The conversation of the thread the person is in."""
    found = await services_of(interaction).conversation_repository.get_by_thread(str(interaction.channel_id))
    return found if found and found.guild_id == shelf_of(interaction) else None


async def meant_book(interaction: discord.Interaction[Any], reference: str | None) -> Book:
    """The book that is named; else that of the thread; else the only one there is.

    Raises:
        BookError: NOT_FOUND.
        Refusal: none is named, and it is not clear which is meant.
    """
    shelf = services_of(interaction).shelf
    if reference is not None:
        return await shelf.find(reference, shelf=shelf_of(interaction))
    if conversation := await bound_conversation(interaction):
        return await shelf.get(conversation.book_id, shelf=shelf_of(interaction))
    books = await shelf.list(shelf_of(interaction))
    if len(books) == 1:
        return books[0]
    say = speech_of(interaction)
    if not books:
        raise Refusal(say("The shelf is empty. Add a book with /books add."))
    raise Refusal(say("Which book? Name it with the option `book`, or use this in the thread of a conversation."))


async def meant_conversation(interaction: discord.Interaction[Any], reference: str | None) -> Conversation:
    """The conversation that is named by its id or title; else that of the thread.

    Raises:
        Refusal: there is none of that name that the person can see, or none is named.
    """
    say = speech_of(interaction)
    if reference is None:
        if conversation := await bound_conversation(interaction):
            return conversation
        raise Refusal(say("Which one? Name it with the option `conversation`, or use this in its thread."))
    known = await services_of(interaction).conversation_repository.get_by_guild(shelf_of(interaction))
    wanted = " ".join(reference.split()).casefold()
    named = [each for each in known if each.id == reference]
    titled = [each for each in known if each.title.casefold() == wanted]
    fitting = await sight_of(interaction).of(named or titled)
    if len(fitting) > 1:
        raise Refusal(say("Several conversations are called so. Please choose one from the list while you type."))
    if not fitting:
        raise Refusal(say("I know no such conversation (any more). /conversations list shows those there are."))
    return fitting[0]


async def within_reach(interaction: discord.Interaction[Any], conversation: Conversation) -> bool:
    """Whether what a button shows or does is the person's to see: it stands in their thread, or they see that."""
    if conversation.guild_id != shelf_of(interaction):
        return False
    return conversation.thread_id == str(interaction.channel_id) or await sight_of(interaction).sees(conversation)


async def reach_of(interaction: discord.Interaction[Any], conversation: Conversation) -> int:
    """How far into a conversation's book the person may look, as an offset."""
    services = services_of(interaction)
    book = await services.shelf.get(conversation.book_id, shelf=shelf_of(interaction))
    return await services.positions.lowest([str(interaction.user.id)], book)


async def common_reach(interaction: discord.Interaction[Any], conversation: Conversation) -> int:
    """How far everybody may look who reads along in the conversation, and the person as well."""
    services = services_of(interaction)
    book = await services.shelf.get(conversation.book_id, shelf=shelf_of(interaction))
    people = await services.messages.list_people(conversation.id)
    return await services.positions.lowest([*people, conversation.owner_id, str(interaction.user.id)], book)


async def visible_conversations(interaction: discord.Interaction[Any], book_id: str | None) -> Sequence[Conversation]:
    """All that the person can see, newest first; of one book where it is named."""
    known = await services_of(interaction).conversation_repository.get_by_guild(shelf_of(interaction))
    return await sight_of(interaction).of([each for each in known if book_id in (None, each.book_id)])
