"""marginalia chat, recap, who and discuss: reading a book in the terminal, no further than one has read."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from bot.app import QUOTES_ONLY, SAMPLE, App, answerer_name
from bot.cli.books import add_path
from bot.cli.console import PROGRESS, TERMINAL_READER, ConsoleChat, Orders, conversation_fields, leaves
from bot.cli.search import end_of, page_number
from bot.cli.terminal import (
    console,
    errors,
    fail,
    in_daemon_thread,
    interrupts,
    load_ahead,
    opened,
    opened_for_chat,
    print_json,
    run_async,
    said_yes,
    typed,
    with_provider_message,
    with_whole_references,
)
from bot.parsers.formats import named_format
from domain.book import Book, Citation, PositionState, ReadingPosition
from domain.chat import ChatMessage
from domain.conversation import UNTITLED, Conversation
from domain.errors import BookError, LLMError, shortened
from domain.reading.companion import Asker, Discussion, Told
from domain.reading.portrait import not_met
from domain.reading.questions import MOST_QUESTIONS, question_text
from domain.turn.history import within_bound

EXAMPLE_QUESTIONS = (
    "When would the gentleman from the Trust come?",
    "Who says “You can cross at five to”?",
    "How often does “Return on the ebb” occur, and where first?",
)
QUESTIONS = 3
"""Questions to discuss, unless another number is asked for."""
TRIES = 3
"""Invalid choices after which a new conversation is started anyway."""


def chat(
    book: Annotated[
        str | None, typer.Argument(help="Title, id or path of a file; the sample novel if left out")
    ] = None,
    conversation: Annotated[
        str | None, typer.Option(metavar="ID", help="Continue the conversation with this id")
    ] = None,
    new: Annotated[bool, typer.Option("--new", help="Start a new conversation without asking")] = False,
    verbose: Annotated[bool | None, typer.Option("--verbose/--quiet", help="Show how answers are looked up")] = None,
    page: Annotated[str | None, typer.Option(help="The page you're on; nothing after it is revealed")] = None,
    chapter: Annotated[str | None, typer.Option(help="The last chapter you've read, as printed")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per event")] = False,
) -> None:
    """Talk about a book. Lines from a pipe are questions as well, answered in order."""
    if page is not None and chapter is not None:
        fail("Give either --page or --chapter.")

    async def work() -> int:
        async with opened_for_chat() as app:
            if sys.stdin.isatty() or app.provider.name != QUOTES_ONLY:  # else the first question asks for it at once
                load_ahead()
            found, talk = await _choose(app, book, conversation, new=new or as_json)
            if page is not None:
                await app.positions.set_page(TERMINAL_READER.id, found, page)
            elif chapter is not None:
                await app.positions.follow(TERMINAL_READER.id, found, f"chapter {chapter}")
            shows_calls = app.settings.verbose_default if verbose is None else verbose
            session = _session(app, found, talk, verbose=shows_calls, as_json=as_json)
            if as_json:
                position = await app.positions.get(TERMINAL_READER.id, found)
                print_json(conversation_fields(talk, found.title, position))
            else:
                await _greet(app, found)
            await session.take_up(await _said(app, found, talk))
            await session.run(_lines(echo=not as_json))
            return _exit_code(session)

    run_async(work)


def start() -> None:
    """The Discord bot if DISCORD_TOKEN is set, else a chat in the terminal on the sample novel."""
    from bot.cli.run import run
    from bot.settings import load_settings

    if load_settings().discord_token:
        run()
    else:
        run_async(_start_chat)


async def _start_chat() -> int:
    async with opened_for_chat() as app:
        found = await sample_book(app)
        talk = await app.conversations.create(found.id, owner_id=TERMINAL_READER.id)
        session = _session(app, found, talk, verbose=app.settings.verbose_default, as_json=False)
        console.print(
            "[dim]DISCORD_TOKEN is not set, so this is Marginalia in the terminal. "
            "To see it as it looks on Discord, without a token: make preview[/]\n",
            soft_wrap=True,
        )
        await _greet(app, found)
        if sys.stdin.isatty():
            load_ahead()
            console.print(f"[dim]Ask something, for example: {EXAMPLE_QUESTIONS[0]}[/]\n", soft_wrap=True)
            await session.run(_lines(echo=False))
            return _exit_code(session)
        questions = [line async for line in _lines(echo=False)]
        if not questions:
            console.print("[dim]Nothing to read on standard input: here is an example reading.[/]\n", soft_wrap=True)
        await session.run(_echoed(questions or EXAMPLE_QUESTIONS))
        return _exit_code(session)


def _exit_code(session: ConsoleChat) -> int:
    """1 if a piped line has failed; who types has read what went wrong, and leaves in the ordinary way."""
    return 1 if session.failures and not sys.stdin.isatty() else 0


async def sample_book(app: App) -> Book:
    """The sample novel, on the local shelf from the first use on."""
    added = await app.shelf.add(SAMPLE.read_bytes(), SAMPLE.name)
    return added.book


async def _choose(app: App, book: str | None, conversation: str | None, *, new: bool) -> tuple[Book, Conversation]:
    if conversation is not None:
        talk = await app.conversations.get(conversation)
        return await app.shelf.get(talk.book_id), talk
    found = await _find_book(app, book)
    earlier = () if new or not sys.stdin.isatty() else await _begun(app, found)
    picked = await _pick(earlier) if earlier else None
    return found, picked or await app.conversations.create(found.id, owner_id=TERMINAL_READER.id)


async def _begun(app: App, book: Book) -> Sequence[Conversation]:
    """The conversations on a book without those that were left before a word was said."""
    talks = await app.conversations.list_by_book(book.id)
    return [each for each in talks if each.title != UNTITLED or await app.transcripts.messages(each.id)]


async def _find_book(app: App, book: str | None) -> Book:
    if book is None:
        return await sample_book(app)
    if path := await asyncio.to_thread(_existing_file, book):
        return await add_path(app, path)
    try:
        return await app.shelf.find(book, shelf=None)
    except BookError as error:
        if named_format(book) is None and os.sep not in book:
            raise
        if await asyncio.to_thread(os.path.exists, _expanded(book)):
            return await add_path(app, Path(_expanded(book)))  # a folder or a device, which is refused in a sentence
        raise BookError(error.code, f"There is no file {shortened(book)}. {error.message}") from error


def _existing_file(name: str) -> Path | None:
    path = _expanded(name)
    return Path(path) if os.path.isfile(path) else None  # noqa: PTH113


def _expanded(name: str) -> str:
    return os.path.expanduser(name)  # noqa: PTH111 - and not pathlib, which raises what a title may cause


async def _pick(conversations: Iterable[Conversation]) -> Conversation | None:
    """Let a person choose a conversation; None means a new one. Who leaves begins none."""
    choices = list(conversations)
    table = Table("", "Conversation", "Started", box=None, pad_edge=False)
    now = datetime.now().astimezone()
    for number, talk in enumerate(choices, start=1):
        table.add_row(str(number), Text(talk.title), day_and_time(talk.created_at.astimezone(), now))
    console.print(table)
    for _ in range(TRIES):
        line = await _input("Continue which one? Type its number, or press Enter for a new one: ")
        answer = line.strip()
        if not line or leaves(answer):
            raise typer.Exit
        if not answer:
            return None
        if answer.isdecimal() and 1 <= int(answer) <= len(choices):
            return choices[int(answer) - 1]
        console.print(f"Please type a number from 1 to {len(choices)}, or just Enter.")
    return None


def day_and_time(moment: datetime, now: datetime) -> str:
    """A moment as people say it; both in the person's time zone."""
    days = (now.date() - moment.date()).days
    day = {0: "today", 1: "yesterday"}.get(days, f"{moment.day} {moment:%B %Y}")
    return f"{day}, {moment:%H:%M}"


def _session(app: App, book: Book, talk: Conversation, *, verbose: bool, as_json: bool) -> ConsoleChat:
    async def move(order: str) -> tuple[ReadingPosition, str]:
        position = await app.positions.follow(TERMINAL_READER.id, book, order)
        return position, await app.positions.describe(TERMINAL_READER.id, book)

    async def missing() -> Mapping[str, str]:
        await app.tools_ready()
        return app.missing_tools()

    async def read(command: str, about: str) -> None:
        read_to = await _bound(app, book)
        event = command.removeprefix("/")
        match command:
            case "/recap":
                await _tell_recap(app, book, read_to, about, as_json=as_json, event=event)
            case "/who":
                await _tell_who(app, book, read_to, about, as_json=as_json, event=event)
            case _:
                await _tell_discussion(app, book, read_to, about, QUESTIONS, as_json=as_json, event=event)

    confirm = said_yes if sys.stdin.isatty() and not as_json else None
    return ConsoleChat(
        app.chat,
        talk,
        console,
        orders=Orders(move, read),
        missing=missing,
        confirm=confirm,
        verbose=verbose,
        as_json=as_json,
    )


async def _said(app: App, book: Book, talk: Conversation) -> Sequence[ChatMessage]:
    """What has been said in the conversation, as far as the person may be told it now."""
    position = await app.positions.get(TERMINAL_READER.id, book)
    read_to = position.read_to if position.state is PositionState.READING else book.length
    return within_bound(await app.transcripts.messages(talk.id), read_to)


async def _greet(app: App, book: Book) -> None:
    where = await app.positions.describe(TERMINAL_READER.id, book)
    by = f" by {book.author}" if book.author else ""
    console.print(f"[bold]{escape(book.title)}[/]{escape(by)}", soft_wrap=True)
    answerer = answerer_name(app.provider.name, app.provider.model_name)
    details = f"Answers by {answerer} · /help for commands · quit, exit or Ctrl-D to leave"
    console.print(f"[dim]{escape(details)}[/]", soft_wrap=True)
    console.print(f"[dim]{escape(where)} To change that: {PROGRESS} page N[/]", soft_wrap=True)
    if starting := ", ".join(app.missing_tools()):
        console.print(f"[dim]{escape(f'Starting the tools of {starting}')}[/]", soft_wrap=True)
    console.print()


async def _lines(*, echo: bool) -> AsyncIterator[str]:
    """Lines that a person types, or lines from a pipe (echoed, so that a transcript makes sense), until they end."""
    interactive = sys.stdin.isatty()
    while line := await (_input("› ") if interactive else in_daemon_thread(sys.stdin.readline)):
        if echo and not interactive and line.strip():
            _echo(line)
        yield line


async def _echoed(questions: Iterable[str]) -> AsyncIterator[str]:
    for question in questions:
        _echo(question)
        yield question


def _echo(line: str) -> None:
    console.print(f"[bold cyan]› {escape(line.strip())}[/]", soft_wrap=True)


async def _input(prompt: str) -> str:
    """A line that a person types, or an empty string at Ctrl-D. Ctrl-C only prints how to leave."""
    with interrupts(lambda: console.print(f"\n[dim]quit, exit or Ctrl-D to leave[/]\n[bold cyan]{prompt}[/]", end="")):
        line = await typed(prompt)
    return "" if line is None else line or "\n"


BOOK = Annotated[str, typer.Argument(help="Title, id, path or file name")]
PAGE = Annotated[str | None, typer.Option(help="The page you're on; without it, where you are in the terminal's chat")]
AS_JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object")]


def recap(
    book: BOOK,
    since: Annotated[str, typer.Option(help="Start at “chapter 3”, “page 40” or a title")] = "",
    page: PAGE = None,
    as_json: AS_JSON = False,
) -> None:
    """Tell what has happened so far, up to your page."""

    async def work() -> None:
        async with opened(with_model=True) as app:
            await _tell_recap(app, *await _read_so_far(app, book, page), since, as_json=as_json)

    run_async(work)


def who(
    book: BOOK,
    name: Annotated[str, typer.Argument(help="A name as the book writes it")],
    page: PAGE = None,
    as_json: AS_JSON = False,
) -> None:
    """Tell who somebody is, as far as you've read."""
    if not name.strip():
        fail("Say whom you mean.")

    async def work() -> None:
        async with opened(with_model=True) as app:
            await _tell_who(app, *await _read_so_far(app, book, page), name, as_json=as_json)

    run_async(work)


def discuss(
    book: BOOK,
    section: Annotated[str, typer.Option(help="This chapter or part, as printed; by default the last three")] = "",
    count: Annotated[int, typer.Option(min=1, max=MOST_QUESTIONS, metavar="N", help="How many questions")] = QUESTIONS,
    page: PAGE = None,
    as_json: AS_JSON = False,
) -> None:
    """Find questions to discuss, each with the quotation it is based on."""

    async def work() -> None:
        async with opened(with_model=True) as app:
            await _tell_discussion(app, *await _read_so_far(app, book, page), section, count, as_json=as_json)

    run_async(work)


TERMINAL_ASKER = Asker(TERMINAL_READER.id)


async def _read_so_far(app: App, book: str, page: str | None) -> tuple[Book, int]:
    """The book, and how far the reader may look: to the named page, else to their position."""
    found = await app.shelf.find(book, shelf=None)
    read_to = await end_of(found, await app.shelf.open(found), page, None)
    if read_to is None:
        read_to = await _bound(app, found)
    return found, read_to


async def _bound(app: App, book: Book) -> int:
    """How far the reader may look by their position."""
    return (await app.positions.get(TERMINAL_READER.id, book)).bound(book.length)


async def _tell_recap(app: App, book: Book, read_to: int, since: str, *, as_json: bool, **about: object) -> None:
    told = await app.reading.recap(book, read_to, since or 0, TERMINAL_ASKER)
    _tell(told, "There's too little to recap so far.", as_json=as_json, **about)


async def _tell_who(app: App, book: Book, read_to: int, name: str, *, as_json: bool, **about: object) -> None:
    told = await app.reading.who(book, read_to, name, TERMINAL_ASKER)
    nothing = not_met(shortened(name), is_complete=book.is_all_before(read_to))
    _tell(told, nothing, as_json=as_json, **about)


async def _tell_discussion(
    app: App, book: Book, read_to: int, section: str, count: int, *, as_json: bool, **about: object
) -> None:
    since, end = await app.reading.lately(book, read_to), read_to
    if section:
        since, end = await app.reading.stretch(book, read_to, section)
    discussion = await app.reading.discuss(book, end, since, count, TERMINAL_ASKER)
    if as_json:
        print_json({**about, **_discussion_fields(discussion)})
    else:
        _tell_in_words(discussion.text(), discussion.trouble, "There's too little to discuss so far.")


def _tell(told: Told, nothing: str, *, as_json: bool, **about: object) -> None:
    if as_json:
        citations = [_citation_fields(each) for each in told.citations]
        note = told.trouble.message if told.trouble else ""
        print_json({**about, "text": told.text, "citations": citations, "note": note})
    else:
        _tell_in_words(told.text, told.trouble, nothing)


def _tell_in_words(text: str, trouble: LLMError | None, nothing: str) -> None:
    if trouble:
        told = with_provider_message(trouble.message, trouble.said)
        errors.print(f"{told}\nHere is what the book itself says.", style="yellow", markup=False, soft_wrap=True)
    lines = text.replace("\n> ", "\n>\n> ")  # each sentence is a paragraph of its own: Markdown would join them
    console.print(Markdown(with_whole_references(lines)) if text else nothing)


def _discussion_fields(discussion: Discussion) -> dict[str, object]:
    questions = [
        {"question": question_text(each), "citations": [_citation_fields(c) for c in each.citations]}
        for each in discussion.questions
    ]
    return {"questions": questions, "note": discussion.trouble.message if discussion.trouble else ""}


def _citation_fields(citation: Citation) -> dict[str, object]:
    return {
        "page": page_number(citation.page),
        "last_page": page_number(citation.last_page),
        "chapter": citation.chapter,
        "start": citation.start,
        "end": citation.end,
        "quote": citation.quote,
    }
