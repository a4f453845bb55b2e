"""The checks of `marginalia check`: settings, data folder, database, store, sandbox, model, tool servers, Discord."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import discord

from bot.app import NO_OBJECTS, QUOTES_ONLY, answerer_name, open_provider, tool_servers
from bot.client.connection import CONNECTION_ERRORS, PORTAL, TOKEN_REFUSED, point_discord_at, reads_messages
from bot.downloads import BookHosts
from bot.mcp.tools import ServerStatus, open_mcp_tools
from bot.parsers.ocr import find_ocr
from bot.parsers.sandbox.pool import probe_confinement
from bot.private import redacted
from bot.settings import Settings, misspelt
from cogs.permissions import missing, server_invite
from domain.chat import MessageRole, PromptMessage
from domain.errors import LLMError, LLMErrorCode, MarginaliaError
from domain.ports import ChatProvider
from domain.tool_use import ChatResponse, StopReason, ToolDefinition
from storage.opening import open_storage

MODEL_PATIENCE_S = 30.0
TOO_SLOW = (
    f"But a short reply was not complete within {MODEL_PATIENCE_S:.0f} seconds. Readers would wait long for answers: "
    "please choose a faster model, or see what its server is doing."
)
FAULTS_SHOWN = 3

SAY_READY = "Please say the word: ready"
READY = ToolDefinition("ready", "Report that you can call tools.", {"type": "object", "properties": {}})
SERVER_PATIENCE_S = 30.0
"""How long a tool server may take; one that has to be downloaded before it starts needs some of it."""
SERVER_WAIT_S = 3.0
"""How long tool servers are waited for before the report says so."""
PATIENCE_S = 30.0
MOST_GUILDS = 20
"""Servers whose permissions are checked; each costs two requests."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report; if `ok` is False, `sentence` says what to do."""

    subject: str
    sentence: str
    ok: bool = True


NO_WAY_TO_A_MODEL = (
    "LLM_MODEL names a model, but nothing says how to reach it. "
    "Set ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENAI_BASE_URL."
)


async def findings(settings: Settings) -> AsyncIterator[Finding]:
    """All findings, each as soon as it is available."""
    yield check_settings(settings)
    yield await check_data_folder(settings.data_dir)
    yield await check_database(settings.storage_url)
    if settings.books_url:
        yield await check_store(settings.books_url)
    yield await check_sandbox()
    yield await check_ocr(settings)
    yield await check_model(settings)
    async for finding in check_tool_servers(settings):
        yield finding
    if not settings.discord_token:
        yield Finding("Discord", "DISCORD_TOKEN is not set, so Marginalia runs in the terminal only: marginalia chat")
        return
    async for finding in check_discord(settings):
        yield finding


def check_settings(settings: Settings) -> Finding:
    """The provider and where the data is; or a setting with which the bot would not start, or not work as intended."""
    try:
        BookHosts.parse(settings.book_hosts)
        settings.check_shards()
    except MarginaliaError as error:
        return Finding("Settings", error.message, ok=False)
    if settings.llm_model and settings.provider == QUOTES_ONLY != settings.llm_provider:
        return Finding("Settings", NO_WAY_TO_A_MODEL, ok=False)
    answerer = answerer_name(settings.provider, f"{settings.model} ({settings.provider})")
    remarks = (f"({name} is ignored: is {meant} meant?)" for name, meant in misspelt(settings).items())
    return Finding("Settings", " ".join((f"answers by {answerer}, data in {settings.data_dir}", *remarks)))


async def check_data_folder(folder: Path) -> Finding:
    try:
        await asyncio.to_thread(_write_something, folder)
    except OSError as error:
        sentence = (
            f"{folder} cannot be written to ({error.strerror}). Give the bot's user the right to, make room there, "
            "or set DATA_DIR."
        )
        return Finding("Data folder", sentence, ok=False)
    return Finding("Data folder", f"{folder} can be written to")


def _write_something(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        file.write(b"here")


async def check_database(url: str) -> Finding:
    try:
        async with await open_storage(url) as storage:
            faults = await storage.integrity_check()
    except MarginaliaError as error:
        return Finding("Database", redacted(error.message), ok=False)
    if faults:
        shown = "; ".join(fault.rstrip(".") for fault in faults[:FAULTS_SHOWN])
        return Finding("Database", f"It is damaged: {shown}. Please restore it from a backup.", ok=False)
    return Finding("Database", f"{redacted(url)} opens and is undamaged")


async def check_store(url: str) -> Finding:
    """Whether a book could be put into the store of BOOKS_URL."""
    try:
        from storage.book_files.objects import try_store
    except ImportError:
        return Finding("Store of books", NO_OBJECTS, ok=False)
    try:
        async with asyncio.timeout(PATIENCE_S):
            await try_store(url)
    except MarginaliaError as error:
        return Finding("Store of books", redacted(error.message), ok=False)
    except TimeoutError:
        sentence = f"No answer within {PATIENCE_S:.0f} seconds. Please check the network and BOOKS_URL."
        return Finding("Store of books", sentence, ok=False)
    return Finding("Store of books", f"{redacted(url)} can be written to")


async def check_sandbox() -> Finding:
    """How the processes that read and index untrusted files are confined."""
    try:
        given = await asyncio.to_thread(probe_confinement)
    except (OSError, ValueError) as error:
        return Finding("Sandbox", f"Books cannot be read: no process can be run for them ({error}).", ok=False)
    parts = {
        "Landlock": given.landlock > 0,
        "seccomp": given.seccomp,
        "no_new_privs": given.no_new_privs,
        "a network namespace": given.network,
    }
    has = ", ".join(name for name, there in parts.items() if there) or "no protection of the kernel"
    lacks = ", ".join(name for name, there in parts.items() if not there)
    advice = f". It lacks {lacks}: run the bot on Linux 5.13 or newer to have it; see SECURITY.md" if lacks else ""
    return Finding("Sandbox", f"Files are read and indexed in processes confined by {has}{advice}")


async def check_ocr(settings: Settings) -> Finding:
    """Whether scanned books can be read, and in which languages."""
    if settings.ocr_max_pages == 0:
        return Finding("OCR", "Scanned books are refused, since OCR_MAX_PAGES is 0")
    found = await asyncio.to_thread(find_ocr, settings.ocr_languages)
    if found is None:
        models = f" with its models for {', '.join(settings.ocr_languages)}" if settings.ocr_languages else ""
        return Finding("OCR", f"Scanned books are refused. To have them read, install Tesseract{models}: docs/books.md")
    missing = [name for name in settings.ocr_languages if name not in found.languages]
    advice = f". Not installed: {', '.join(missing)}" if missing else ""
    return Finding("OCR", f"Scanned books are read by Tesseract ({', '.join(found.languages)}){advice}", ok=not missing)


async def check_model(settings: Settings) -> Finding:
    try:
        provider = open_provider(settings)
        try:
            async with asyncio.timeout(MODEL_PATIENCE_S):
                found = await provider.check()
            try:
                async with asyncio.timeout(MODEL_PATIENCE_S):
                    return Finding("Model", f"{found} {await _tool_call(provider)}".strip())
            except TimeoutError:
                return Finding("Model", f"{found} {TOO_SLOW}", ok=False)
        finally:
            await provider.aclose()
    except MarginaliaError as error:
        return Finding("Model", " ".join(_about_failure(error, settings)), ok=False)
    except TimeoutError:
        sentence = f"No answer within {MODEL_PATIENCE_S:.0f} seconds. Please check the network and the base URL."
        return Finding("Model", sentence, ok=False)


_MAY_BE_A_PROXY = (
    *(LLMErrorCode.CONNECTION_LOST, LLMErrorCode.TIMEOUT, LLMErrorCode.OVERLOADED),
    *(LLMErrorCode.API_CALL_FAILED, LLMErrorCode.UNKNOWN_ADDRESS),
)
"""What it looks like when a proxy is gone, or answers in the server's place."""


def _about_failure(error: MarginaliaError, settings: Settings) -> Iterator[str]:
    """The sentences about a request to the model that failed."""
    yield error.message
    if error.code in _MAY_BE_A_PROXY and (proxy := _proxy_to_model(settings)) and proxy not in error.message:
        yield f"Requests to it go through the proxy that {proxy} names, unless NO_PROXY leaves its host out."
    if error.code is LLMErrorCode.CONNECTION_LOST and (setting := _own_address(settings)):
        yield f"Does a server run at {setting}?"
    if said := getattr(error, "said", ""):
        yield f"Reported: {said}"


def _proxy_to_model(settings: Settings) -> str:
    """The variable with the proxy that the model's SDK uses, or an empty string.

    The SDK also knows networks and patterns in NO_PROXY, which are not looked at here.
    """
    address = urlsplit(getattr(settings, f"{settings.provider}_base_url", "") or f"https://api.{settings.provider}.com")
    proxies = getproxies()
    if proxy_bypass(address.hostname or ""):
        return ""
    return next((f"{scheme.upper()}_PROXY" for scheme in (address.scheme, "all") if proxies.get(scheme)), "")


def _own_address(settings: Settings) -> str:
    """The address of the model's server, if a setting names it."""
    name = f"{settings.provider}_base_url"
    address = getattr(settings, name, "")
    return f"{redacted(address)}, which {name.upper()} names" if address else ""


async def _tool_call(provider: ChatProvider) -> str:
    """The result of asking the model to call a tool."""
    if provider.name == QUOTES_ONLY:
        return ""
    without = "It gets passages with each question instead."
    if not provider.supports_tools:
        await _reply(provider, SAY_READY)
        return f"It is not asked to use tools. {without}"
    try:
        response = await _reply(provider, "Please call the tool `ready` now, and say nothing else.", [READY])
    except LLMError as error:
        if error.code is not LLMErrorCode.UNSUPPORTED_FEATURE:
            raise
        await _reply(provider, SAY_READY)
        return f"It cannot use tools. {without}"
    if response.tool_invocations:
        return "It calls tools."
    return "Asked to call a tool, it wrote text: if its answers do not come from the book, set LLM_TOOLS=off."


async def _reply(provider: ChatProvider, asked: str, tools: Sequence[ToolDefinition] = ()) -> ChatResponse:
    """The model's reply to one message.

    Raises:
        LLMError: there is none; EMPTY_REPLY if it is blank.
    """
    response = await provider.chat_with_tools([PromptMessage(MessageRole.USER, asked)], tools)
    if not response.tool_invocations and not (response.text or "").strip():
        if response.stop_reason is StopReason.MAX_TOKENS:
            sentence = "It used up its tokens before it answered. Please raise LLM_MAX_TOKENS or its server's limit."
            raise LLMError(LLMErrorCode.EMPTY_REPLY, sentence)
        raise LLMError(LLMErrorCode.EMPTY_REPLY, "It sent an empty reply. Please check the log of its server.")
    return response


async def check_tool_servers(settings: Settings) -> AsyncIterator[Finding]:
    """Each server of MCP_SERVERS: reached, with its tools and the unused ones by name, or why not."""
    try:
        servers = tool_servers(settings)
    except MarginaliaError as error:
        yield Finding("Tool servers", error.message, ok=False)
        return
    if not servers:
        return
    async with open_mcp_tools(servers, timeout=settings.tool_timeout_s, trusted=settings.mcp_trusted) as tools:
        await tools.tried(SERVER_WAIT_S)
        if slow := ", ".join(server.name for server in tools.status() if server.starting):
            yield Finding("Tool servers", f"waiting for {slow}, for up to {SERVER_PATIENCE_S:.0f} seconds")
            await tools.tried(SERVER_PATIENCE_S - SERVER_WAIT_S)
        for server in tools.status():
            yield _of_server(server)


def _of_server(server: ServerStatus) -> Finding:
    subject = f"Tool server {server.name}"
    if server.problem:
        slow = f"it has not answered within {SERVER_PATIENCE_S:.0f} seconds"
        why = slow if server.starting else server.problem
        return Finding(subject, f"It cannot be reached: {why}. Check its entry in MCP_SERVERS.", ok=False)
    names = ", ".join(server.tools)
    count = "1 tool" if len(server.tools) == 1 else f"{len(server.tools)} tools"
    sentence = f"reached, {count}: {names}" if names else "reached, and it has no tools that can be used"
    left_out = "; ".join(f"{name} ({reason})" for name, reason in server.left_out.items())
    return Finding(subject, f"{sentence}. Not used as they are: {left_out}" if left_out else sentence)


async def check_discord(settings: Settings) -> AsyncIterator[Finding]:
    """Token, intents and, server by server, permissions."""
    point_discord_at(settings)
    async with discord.Client(intents=discord.Intents(guilds=True)) as client:
        refusal = await _log_in(client, settings.discord_token)
        if refusal:
            yield Finding("Discord token", refusal, ok=False)
            return
        yield Finding("Discord token", f"logs in as {client.user}")
        yield _intents(client)
        yield Finding("Invite for servers", server_invite(client.application_id or 0))
        yield Finding("Link for people", _person_link(client))
        try:
            async for finding in _guilds(client, settings):
                yield finding
        except CONNECTION_ERRORS as error:
            yield Finding("Discord servers", f"Discord sent no list of them ({error}). Please try again.", ok=False)


async def _log_in(client: discord.Client, token: str) -> str:
    """The problem with the log-in, or an empty string."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            await client.login(token)
    except discord.LoginFailure:
        return TOKEN_REFUSED
    except CONNECTION_ERRORS as error:
        sentence = f"Discord cannot be reached ({error or 'no answer'}). Please check the network and DISCORD_API_URL."
        is_proxied = any(getproxies().get(scheme) for scheme in ("https", "all"))
        return f"{sentence} The bot uses no proxy for Discord." if is_proxied else sentence
    return ""


def _intents(client: discord.Client) -> Finding:
    if reads_messages(client.application_flags):
        return Finding("Discord intents", "Message Content is on: every message in a thread is answered")
    return Finding(
        "Discord intents",
        "Message Content is off: only mentions and replies are answered. To change that: "
        f"{PORTAL} → Privileged Gateway Intents → Message Content Intent",
    )


def person_invite(application_id: int) -> str:
    """The link by which a person installs the bot for themselves, to use its commands anywhere."""
    url = discord.utils.oauth_url(application_id, scopes=("applications.commands",))
    return f"{url}&integration_type=1"


def _person_link(client: discord.Client) -> str:
    link, application = person_invite(client.application_id or 0), client.application
    is_known = application is not None and (application.guild_integration_config or application.user_integration_config)
    if is_known and application is not None and application.user_integration_config is not None:
        return link
    return f"{link} (works once User Install is on: {PORTAL.removesuffix('Bot')}Installation)"


async def _guilds(client: discord.Client, settings: Settings) -> AsyncIterator[Finding]:
    seen = [guild.id async for guild in client.fetch_guilds(limit=MOST_GUILDS, with_counts=False)]
    assert client.user is not None
    if not seen:
        invite = server_invite(client.application_id or client.user.id)
        yield Finding("Discord servers", f"The bot is in none yet. Invite it: {invite}", ok=False)
    for guild_id in [each for each in settings.discord_guild_ids if each not in seen]:
        yield Finding(
            "Discord servers",
            f"The bot is not in {guild_id}. Invite it there, or take it out of DISCORD_GUILD_IDS.",
            ok=len(seen) == MOST_GUILDS,
        )
    for guild_id in seen:
        yield await _permissions(client, guild_id)


async def _permissions(client: discord.Client, guild_id: int) -> Finding:
    assert client.user is not None
    guild = await client.fetch_guild(guild_id, with_counts=False)
    me = await guild.fetch_member(client.user.id)
    subject = f"Server {guild.name}"
    if lacking := missing(me.guild_permissions):
        names = ", ".join(name.replace("_", " ").title() for name in lacking)
        sentence = f"The bot lacks {names}. Give it these: Server Settings → Roles → the bot's role."
        return Finding(subject, sentence, ok=False)
    return Finding(subject, "The bot has the permissions it needs")
