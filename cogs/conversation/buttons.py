"""The buttons under answers: values that name their action and their turn, and the views made from them."""

import logging
import re
from collections.abc import Hashable, Iterable
from datetime import timedelta
from typing import Any, cast

import discord
from discord.ui import Button, Item, View

from cogs.errors import hint
from cogs.i18n import speech_at
from cogs.interactions import buttons_of
from cogs.interactions import row as view_row
from cogs.rendering.tool_calls import PATTERN, ButtonData, ButtonStyle
from domain.conversation import Conversation
from domain.errors import Say, StorageError
from domain.event import PositionProposed
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)

STOP, RETRY, SOURCES, MOVE, AGAIN, ACCEPT = "stop", "retry", "sources", "move", "again", "hear"
RECAP, REDO, ASK_AGAIN, ASK_RETRY = "recap", "redo", "ask-again", "ask-retry"
ALLOW, REFUSE = "allow", "refuse"
KEEP_ANSWER, DROP_ANSWER = "keep-answer", "drop-answer"
"""The actions of the buttons, as in their custom_ids."""

PROPOSAL = r"\w+:\d+:.+"
"""The argument of a button that confirms a proposed position: the turn, the reader and the place."""

AWAY = timedelta(days=7)
"""How long somebody must not have written about a book to be offered a recap."""

Buttons = tuple[ButtonData, ...]

_OF_A_TURN = re.compile(rf"do:(?:(?:{STOP}|{RETRY}):(?P<turn>\w+)|(?:{ALLOW}|{REFUSE}):(?P<asking>\w+):\w+)")


def stop_button(turn_id: str, say: Say) -> Buttons:
    return _button(STOP, turn_id, say("Stop"), ButtonStyle.RED)


def retry_button(turn_id: str, say: Say) -> Buttons:
    return _button(RETRY, turn_id, say("Retry"))


def approval_buttons(turn_id: str, approval_id: str, say: Say) -> Buttons:
    """The asker's choices for a call that may change something."""
    argument = f"{turn_id}:{approval_id}"
    return _button(ALLOW, argument, say("Allow"), ButtonStyle.GREEN) + _button(REFUSE, argument, say("Refuse"))


def sources_button(turn_id: str, say: Say) -> Buttons:
    return _button(SOURCES, f"{turn_id}:1", say("Sources"))


def move_buttons(turn_id: str, proposals: Iterable[PositionProposed], say: Say) -> Buttons:
    """One button for each proposed position, by which the reader confirms it."""
    return tuple(
        button
        for each in proposals
        for button in _button(MOVE, f"{turn_id}:{each.reader_id}:{_place(each)}", _claim(each, say))
    )


def proposal_of(argument: str) -> tuple[str, PositionProposed]:
    """The turn and the proposal in the argument of such a button."""
    turn_id, reader_id, place = argument.split(":", 2)
    kind, is_no_page, chapter = place.partition("=")
    page = "" if is_no_page else kind
    return turn_id, PositionProposed(page, reader_id, chapter, kind == "finished" and bool(is_no_page))


def _place(proposal: PositionProposed) -> str:
    """The place of a proposal; a page label is not a word, and contains no sign."""
    if proposal.page:
        return proposal.page
    return f"chapter={proposal.chapter}" if proposal.chapter else "finished="


def _claim(proposal: PositionProposed, say: Say) -> str:
    if proposal.page:
        return say("I have read to page {page}", page=proposal.page)
    if proposal.chapter:
        return say("I have read to the end of chapter {chapter}", chapter=proposal.chapter)
    return say("I have finished the book")


def redo_button(turn_id: str, say: Say, *, edited: bool = False) -> Buttons:
    """Answer an answered question again; `edited`: its words have changed since."""
    return _button(REDO, turn_id, say("Answer again") if edited else say("Try again"))


def ask_again_button(turn_id: str, say: Say) -> Buttons:
    """The same for an answer outside a conversation's thread."""
    return _button(ASK_AGAIN, turn_id, say("Try again"))


def ask_retry_button(question_id: str, say: Say) -> Buttons:
    """Answer a question that has failed outside a conversation's thread. It keeps its id, however often it fails."""
    return _button(ASK_RETRY, question_id, say("Retry"))


def buttons_of_edited(message: discord.Message, turn_id: str, say: Say) -> Buttons:
    """The buttons under an answer whose question was edited."""
    redo = redo_button(turn_id, say, edited=True)
    return buttons_left(message, redo[0].custom_id) + redo


def again_button(conversation_id: str, say: Say) -> Buttons:
    """Answer what is waiting in a conversation, after a failure outside of any turn."""
    return _button(AGAIN, conversation_id, say("Retry"))


def accept_button(message_id: int, say: Say) -> Buttons:
    """Accept a message that could not be stored."""
    return _button(ACCEPT, str(message_id), say("Retry"))


def tells_of_waiting(message: discord.Message) -> bool:
    """Whether a message of the bot tells somebody to wait, and has one of the two buttons above."""
    starts = (f"do:{AGAIN}:", f"do:{ACCEPT}:")
    return any((button.custom_id or "").startswith(starts) for button in buttons_of(message))


def recap_button(book_id: str, say: Say) -> Buttons:
    """Tell the person who presses what has happened so far."""
    return _button(RECAP, book_id, say("What's happened so far?"))


async def offer_recap(use_cases: UseCases, message: discord.Message, conversation: Conversation) -> None:
    """Offer a recap to somebody who returns to a book after some days."""
    try:
        last = await use_cases.transcripts.last_written(
            str(message.author.id), conversation.book_id, but=str(message.id)
        )
        say = await speech_at(use_cases, message)
    except StorageError as error:
        logger.info("no recap was offered: %s", error)
        return
    if last is not None and message.created_at - last >= AWAY:
        text = say("-# It's been a while. Shall I tell you what's happened so far, up to your page?")
        await hint(message, text, view_of(recap_button(conversation.book_id, say)), about=RECAP)


def keep_buttons(turn_id: str, say: Say) -> Buttons:
    """Whether to keep an answer whose question was deleted."""
    return _button(KEEP_ANSWER, turn_id, say("Keep it")) + _button(DROP_ANSWER, turn_id, say("Remove it"))


def turn_shown_by(custom_id: str) -> str | None:
    """The turn whose draft or failure a message with this button shows; None for other buttons."""
    match = _OF_A_TURN.fullmatch(custom_id)
    return match["turn"] or match["asking"] if match else None


def turn_traced_by(custom_id: str) -> str | None:
    """The turn whose tool calls a message with this button shows; None for other buttons."""
    match = re.fullmatch(PATTERN, custom_id)
    return match["turn"] if match else None


def buttons_left(message: discord.Message, pressed: str) -> Buttons:
    """The buttons under a message without the one that was pressed, identified by its custom_id."""
    return tuple(
        ButtonData(part.label or "…", part.custom_id, row=0, style=ButtonStyle(part.style.value))
        for part in buttons_of(message)
        if part.custom_id is not None and part.custom_id != pressed
    )


def view_of(buttons: Hashable) -> View:
    """The view for some `Buttons`."""
    return view_row(*map(_item, cast(Iterable[ButtonData], buttons)))


def _button(action: str, argument: str, label: str, style: ButtonStyle = ButtonStyle.GREY) -> Buttons:
    return (ButtonData(label, f"do:{action}:{argument}", row=0, style=style),)


def _item(data: ButtonData) -> Item[Any]:
    style = discord.ButtonStyle(data.style)
    row = data.row if turn_traced_by(data.custom_id) else None
    return Button(custom_id=data.custom_id, label=data.label, style=style, disabled=data.disabled, row=row)
