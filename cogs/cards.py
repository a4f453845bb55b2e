"""What books, positions and conversations look like: embeds and lines, made from values alone."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import discord
from discord import ButtonStyle
from discord.ui import Button, Select, View

from cogs.i18n import Speech, language_name, later, speech_for, speeches_in_all_languages
from cogs.interactions import action_button, action_menu, row
from cogs.rendering.answers import page_name
from cogs.rendering.inline import as_compared, inert
from cogs.rendering.splitting import MARK
from domain.book import Book, Chapter, OfferedBook, Page, ReadingPosition, one_line, shown_chapter
from domain.conversation import UNTITLED, Conversation
from domain.library.addressing import is_counted
from domain.library.progress import ManagePositions, label_at, position_line, title_is_read
from domain.library.shelf import AddedBook
from domain.reading.questions import FirstQuestion, FirstQuestionKind
from domain.records import UsageTotal
from domain.spoilers.filter import without_covers

PAPER = discord.Colour(0xE8D9B5)
INK = discord.Colour(0x2F4B66)

TITLE_LENGTH = 256
QUESTION_SHOWN = 300
LABEL_LENGTH = 80
"""Characters of a button's label."""
DESCRIPTION_LENGTH = 4096
QUESTION_LENGTH = 4000
"""Characters of a first message, which is repeated in the thread in an embed."""
BOOKS_IN_A_MENU = 25
"""Discord's limit for the options of a menu."""
CENT = 0.01
_MEGA = 1_000_000
MICRODOLLARS = 1_000_000
SHOWN_CHAPTERS = 30
"""Lines of a table of contents that are shown; the rest is counted."""
BAR = 12
"""Characters of the progress bar."""

_ESCAPED_COVER = re.compile(r"\\\|\\\|(.+?)\\\|\\\|")

NO_TITLE = later("New conversation")
_HEADING = later("A conversation about a book")

STAGES = {
    "downloading": later("Downloading"),
    "reading": later("Reading"),
    "recognising": later("Recognising the text of"),
    "indexing": later("Indexing"),
}


def book_title(book: Book, say: Speech) -> str:
    return say("{title} by {author}", title=book.title, author=book.author) if book.author else book.title


def titled(conversation: Conversation, say: Speech) -> str:
    """A conversation's title, or the words for an untitled one in the person's language."""
    return say(NO_TITLE) if conversation.title == UNTITLED else conversation.title


def clipped(text: str, length: int) -> str:
    """At most `length` characters, ending in an ellipsis if something is left out."""
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


def clipped_words(text: str, length: int) -> str:
    """The same for a reader's words: a spoiler mark that is cut off is closed, so that hidden words stay hidden."""
    cut = clipped(text, length)
    return f"{cut}{MARK}" if cut != text and cut.count(MARK) % 2 else cut


def repeated(questions: Sequence[str]) -> str:
    """Questions of one person, where the bot repeats them."""
    return clipped_words(inert("\n\n".join(questions)), QUESTION_LENGTH)


def is_repeated_in(message: discord.Message, questions: Sequence[str]) -> bool:
    """Whether a message of the bot repeats these questions."""
    shown = message.embeds[0].description if message.embeds else None
    return as_compared(shown or "") == as_compared(repeated(questions))


def plain(text: str) -> str:
    """Untrusted words as plain text: no formatting, no links, no mentions, on one line."""
    # Made inert first: the time that Discord's library takes for links that never close grows with their length's cube.
    return discord.utils.escape_mentions(discord.utils.escape_markdown(inert(" ".join(text.split()))))


def pages(book: Book, say: Speech) -> str:
    if book.pages_estimated:
        return say.counted(book.page_count, "about {number} page", "about {number} pages")
    return say.counted(book.page_count, "{number} page", "{number} pages")


def book_facts(book: Book, say: Speech) -> str:
    """Format, pages and chapters, if it has any, on one line."""
    chapters = say.counted(book.chapter_count, "{number} chapter", "{number} chapters") if book.chapter_count else ""
    return _joined(_format(book, say), pages(book, say), chapters)


def _format(book: Book, say: Speech) -> str:
    name = book.file_format.upper()
    if book.is_partly_read_by_ocr:
        return say("{format}, partly read by OCR", format=name)
    return say("{format}, read by OCR", format=name) if book.is_read_by_ocr else name


def progress_line(name: str, stage: str, share: float, say: Speech) -> str:
    done = round(min(max(share, 0.0), 1.0) * BAR)
    return f"{say(stage)} {clipped(plain(name), 200)} `{'█' * done}{'░' * (BAR - done)}` {share:.0%}"


def added_card(added: AddedBook, seconds: float, say: Speech) -> discord.Embed:
    """The result of adding a file; `seconds` is how long it took."""
    book = added.book
    card = discord.Embed(title=clipped(plain(book.title), TITLE_LENGTH), colour=PAPER)
    heading = say("Added to the shelf") if added.is_new else say("This book is already on the shelf")
    if added.is_back:
        heading = say("This book is back on the shelf, with its conversations")
    card.set_author(name=heading)
    if author := clipped(plain(book.author), 256):
        card.add_field(name=say("Author"), value=author)
    card.add_field(name=say("Format"), value=_format(book, say))
    card.add_field(name=say("Pages"), value=pages(book, say))
    if book.chapter_count:
        card.add_field(name=say("Chapters"), value=str(book.chapter_count))
    if added.is_new:
        card.add_field(name=say("Took"), value=say("{seconds:.1f} s", seconds=seconds))
    if added.warnings:
        warnings = "\n".join(f"⚠️ {plain(say.sentence(warning))}" for warning in added.warnings)
        card.add_field(name=say("Please note"), value=clipped(warnings, 1024), inline=False)
    return card


def added_buttons(book: Book, questions: Sequence[str], say: Speech, *, can_talk: bool) -> View:
    """What can be done with a book that was just added; `can_talk` where a conversation can be opened.

    A press on one of the questions asks it: in a conversation, or where there can be none, for whoever presses alone.
    """
    read = action_button("read", book.id, label=say("Start reading"), style=ButtonStyle.primary)
    contents = action_button("contents", book.id, label=say("Contents"))
    first = question_buttons("begin", book.id, questions)
    return row(read, contents, *first) if can_talk else row(contents, *first)


def book_card(
    book: Book, chapters: Sequence[Chapter], pages_of_book: Sequence[Page], bound: int, say: Speech
) -> discord.Embed:
    """A book's state and its contents, with the titles up to the reader's position."""
    card = discord.Embed(title=clipped(plain(book.title), TITLE_LENGTH), colour=PAPER)
    if book.author:
        card.set_author(name=clipped(book.author, TITLE_LENGTH))
    contents = contents_lines(book, chapters, pages_of_book, bound, say)
    card.description = clipped("\n".join(contents), DESCRIPTION_LENGTH)
    card.add_field(name=say("Format"), value=_format(book, say))
    card.add_field(name=say("Pages"), value=pages(book, say))
    card.add_field(name=say("Words"), value=say("{number:,}", number=book.word_count))
    added = discord.utils.format_dt(book.created_at, "d")
    card.add_field(name=say("Added"), value=f"{added} · <@{book.added_by}>" if book.added_by.isdecimal() else added)
    return card


def contents_lines(
    book: Book, chapters: Sequence[Chapter], pages_of_book: Sequence[Page], bound: int, say: Speech
) -> list[str]:
    if not chapters:
        return [say("I found no chapters in this book.")]
    counted = is_counted(chapters)
    reached = [each for each in chapters if title_is_read(each, bound)]
    lines = []
    for each in reached[:SHOWN_CHAPTERS]:
        where = page_name(label_at(pages_of_book, each.start + 1), say, estimated=book.pages_estimated)
        lines.append(f"{plain(shown_chapter(each.number, each.title, is_counted=counted))} · {where}")
    if more := len(reached) - len(lines):
        lines.append(say.counted(more, "… and {number} more", "… and {number} more"))
    if ahead := len(chapters) - len(reached):
        lines.append(
            say.counted(ahead, "… {number} more chapter ahead of you", "… {number} more chapters ahead of you")
        )
    return lines


def conversation_card(
    conversation: Conversation,
    book: Book,
    position: str,
    say: Speech,
    *,
    reads_messages: bool,
) -> discord.Embed:
    """The first message of a thread: which book, how far, and how to talk here. `position` is a sentence."""
    card = discord.Embed(title=clipped(plain(book_title(book, say)), TITLE_LENGTH), colour=INK)
    card.set_author(name=say(_HEADING))
    if conversation.is_direct:
        how = say("Just write here and I'll answer from the book. /chat switches to another book or conversation.")
    elif reads_messages:
        how = say(
            "Just write here and I'll answer from the book. Once somebody else writes here too, "
            "mention me or reply to me; I'll ignore the rest."
        )
    else:
        how = say(
            "Mention me or reply to me: I can't read other messages, because this bot's Message Content intent is off."
        )
    card.description = how
    card.add_field(name=say("Spoilers"), value=_spoilers(position, conversation, say), inline=False)
    card.add_field(
        name=say("Good to know"),
        value=say(
            "**Stop** ends an answer early · **Sources** shows the sentences behind it · /verbose "
            "shows how I look things up · /help has the rest"
        ),
        inline=False,
    )
    return card


FIRST_QUESTIONS = {
    FirstQuestionKind.BEGINNING: later("How does the book begin?"),
    FirstQuestionKind.MET: later("How do we first meet {about}?"),
    FirstQuestionKind.NAMED: later("How do we first hear of {about}?"),
    FirstQuestionKind.SAID: later("Who says “{about}”?"),
    FirstQuestionKind.THING: later("Where does “{about}” first appear?"),
    FirstQuestionKind.PAGE: later("What happens on page {about}?"),
}


def question_line(question: FirstQuestion, say: Speech) -> str:
    """A question to begin with, in words that fit on a button."""
    return clipped(say(FIRST_QUESTIONS[question.kind], about=" ".join(question.about.split())), LABEL_LENGTH)


def asked_line(name: str, question: str, say: Speech) -> str:
    """One line that says who asks what, and another one with the passage that the question quotes."""
    lines = question.splitlines()
    own = " ".join(line for line in lines if not line.startswith(">")).strip()
    quoted = " ".join(line.removeprefix(">").strip() for line in lines if line.startswith(">"))
    shown = _plain_words(own or quoted)
    asked = f"{shown}\n> {_plain_words(quoted)}" if own and quoted else shown
    return say("**{who}** asks: {question}", who=plain(name), question=asked)


def _plain_words(text: str) -> str:
    """A reader's words on one line, with nothing but covers in them."""
    return _ESCAPED_COVER.sub(rf"{MARK}\1{MARK}", plain(clipped_words(text, QUESTION_SHOWN)))


def question_buttons(action: str, of: str, questions: Sequence[str]) -> list[Button[View]]:
    """A row of buttons that ask the question on their label; their argument is `of`, a colon and a number."""
    buttons = [action_button(action, f"{of}:{number}", label=each) for number, each in enumerate(questions)]
    for button in buttons:
        button.row = 1
    return buttons


def welcome_buttons(conversation: Conversation, questions: Sequence[str], say: Speech) -> View:
    """The buttons under the first message of a thread: set your page, get help, or ask one of the questions."""
    page = action_button("page", conversation.book_id, label=say("Set my page"), style=ButtonStyle.primary)
    first = question_buttons("first", conversation.id, questions)
    return row(page, action_button("help", "", label=say("Help")), *first)


def moved_card(
    card: discord.Embed,
    position: ReadingPosition | None,
    conversation: Conversation,
    book: Book,
    pages_of_book: Sequence[Page],
) -> discord.Embed | None:
    """A conversation's card with another position, in the card's own language.

    None: it is no such card, or has that position.
    """
    say = next((each for each in speeches_in_all_languages() if each(_HEADING) == card.author.name), None)
    if say is None or not card.fields:
        return None
    line, shown = position_line(position, book, pages_of_book, say), card.fields[0]
    if (shown.value or "").startswith(line):
        return None
    return card.copy().set_field_at(0, name=shown.name, value=_spoilers(line, conversation, say), inline=False)


def _spoilers(position: str, conversation: Conversation, say: Speech) -> str:
    company = say("In a group, I stop at the page the slowest reader has reached.")
    change = say("Change that with /progress.")
    return f"{position} {change}" if conversation.private else f"{position} {change}\n-# {company}"


def of_shared_names(conversations: Sequence[Conversation], say: Speech) -> list[Conversation]:
    """Those that another one is called like."""
    often = Counter(titled(each, say) for each in conversations)
    return [each for each in conversations if often[titled(each, say)] > 1]


def earlier_menu(book: Book, earlier: Sequence[Conversation], asked: Mapping[str, str], say: Speech) -> View:
    """A menu of earlier conversations on a book, and a button that starts another.

    `asked` has the questions by which conversations of one name are told apart, by the ids of these.
    """
    options = [_option(each, asked.get(each.id, ""), say) for each in earlier]
    menu = action_menu("chat-resume", "", options=options, placeholder=say("Continue with …"))
    return row(menu, action_button("chat-new", book.id, label=say("Start a new one"), style=ButtonStyle.primary))


def _option(conversation: Conversation, asked: str, say: Speech) -> discord.SelectOption:
    moment, ago, last = conversation.created_at, say.ago(conversation.created_at), one_line(without_covers(asked))
    quoted = say("“{title}”", title=last) if last not in ("", conversation.title) else ""
    begun = say("started {ago}", ago=ago) if ago else say("started on {date}", date=say.day(moment))
    label, description = clipped(titled(conversation, say), 100), clipped(_joined(begun, quoted), 100)
    return discord.SelectOption(label=label, value=conversation.id, description=description)


def names_of_conversations(
    conversations: Sequence[Conversation], books: Mapping[str, str], length: int, say: Speech
) -> list[str]:
    """What to call conversations where one is chosen, in at most `length` characters: by title, book and day, and if
    several share these, by the minute. `books` has the titles of books by their ids.
    """

    def name(conversation: Conversation, begun: str) -> str:
        tail = f" · {clipped(books.get(conversation.book_id, ''), 30)} · {begun}"
        return clipped(titled(conversation, say), length - len(tail)) + tail

    names = [name(each, say.ago(each.created_at) or say.day(each.created_at)) for each in conversations]
    often = Counter(names)
    return [
        short if often[short] == 1 else name(each, say.minute(each.created_at))
        for each, short in zip(conversations, names, strict=True)
    ]


async def place_of(reader_id: str, book: Book, positions: ManagePositions, say: Speech) -> str:
    """How far somebody has read a book, and in which chapter that is, for their eyes."""
    return "\n".join(map(plain, await positions.lines(reader_id, book, say)))


def usage_line(total: UsageTotal, say: Speech) -> str:
    """Tokens and their cost in US dollars, if any."""
    tokens = say.counted(total.tokens, "{number:,} token", "{number:,} tokens")
    parts = [
        say("about {tokens}", tokens=tokens) if total.usage.estimated else tokens,
        say.counted(total.requests, "{number:,} request", "{number:,} requests"),
    ]
    cost = total.cost_microdollars / MICRODOLLARS
    if cost:
        parts.append(say("${cost:,.2f}", cost=cost) if cost >= CENT else say("less than $0.01"))
    if total.unpriced:
        parts.append(
            say.counted(total.unpriced, "{number} request of unknown cost", "{number} requests of unknown cost")
        )
    return " · ".join(parts)


def names_of(books: Sequence[Book], say: Speech) -> list[str]:
    """What to call books where one is chosen: by title and author, and if several share both, by what differs."""
    return [_joined(book.title, *about) for book, about in zip(books, _told_apart(books, say), strict=True)]


def books_menu(action: str, argument: str, books: Sequence[Book], placeholder: str, say: Speech) -> Select[View]:
    """A menu of books on the shelf, at most `BOOKS_IN_A_MENU`; each option's value is the book's id."""
    options = [
        discord.SelectOption(label=clipped(book.title, 100), description=clipped(_joined(*about), 100), value=book.id)
        for book, about in zip(books, _told_apart(books, say), strict=True)
    ]
    return action_menu(action, argument, options=options, placeholder=placeholder)


def _told_apart(books: Sequence[Book], say: Speech) -> list[tuple[str, ...]]:
    """Each book's author; before it format and pages, if another book has the same title and author."""
    often = Counter((book.title, book.author) for book in books)
    return [
        (_format(book, say), pages(book, say), book.author) if often[book.title, book.author] > 1 else (book.author,)
        for book in books
    ]


def _joined(*parts: str) -> str:
    return " · ".join(filter(None, parts))


def offers_menu(action: str, offered: Sequence[OfferedBook], locale: discord.Locale) -> discord.ui.View:
    """A menu of books to download; each option's value is the address."""
    say = speech_for(locale)
    options = [
        discord.SelectOption(label=clipped(book.title, 100), description=_about(book, locale), value=book.url)
        for book in {each.url: each for each in offered}.values()
    ]
    return row(action_menu(action, "", options=options, placeholder=say("Choose the book to add")))


def _about(book: OfferedBook, locale: discord.Locale) -> str:
    """Author, language and length, where known."""
    say = speech_for(locale)
    length = say("about {number:,} words", number=book.words) if book.words is not None else ""
    if book.size is not None:
        length = say("{size:.1f} MB", size=book.size / _MEGA)
    languages = ", ".join(language_name(code, locale) for code in book.languages)
    return clipped(" · ".join(filter(None, (clipped(book.author, 50), languages, length))), 100)
