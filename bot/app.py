"""The composition root: the only file that names concrete classes and connects them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.resources import files
from pathlib import Path

from bot.downloads import BookHosts, GuardedDownloads
from bot.gutendex import GutendexCatalogue
from bot.mcp.addresses import ServerAddress, parse_servers
from bot.mcp.tools import McpTools, open_mcp_tools
from bot.parsers.sandbox.lockdown import shut_in
from bot.parsers.sandbox.pool import OcrBounds, SandboxedParser
from bot.settings import Provider, Settings
from bot.tools.book import book_toolbox
from domain.chat import Prompts
from domain.clubs.manage import ManageClubs
from domain.conversation import Conversation
from domain.errors import SettingsError
from domain.library.progress import ManagePositions, SharedBounds
from domain.library.shelf import Bookshelf
from domain.library.summaries import ChapterSummaries
from domain.ports import BookView, ChatProvider, Dispatcher, Toolbox
from domain.reading.companion import ReadingCompanion, ReadingWriter
from domain.servers import Housekeeping, LeftServers, ManageServers, Models, RetentionPeriods
from domain.spoilers.detector import SpoilerChecks
from domain.strategies.always_retrieve import AdaptiveStrategy, AlwaysRetrieveStrategy, ChatOnly, as_provider
from domain.strategies.tool_use import ToolUseRetrievalStrategy
from domain.strategies.window import ContextWindow
from domain.tool_use import TokenUsage, ToolDefinition
from domain.tools.registry import NO_CONTEXT, CachingDispatcher, ToolContext, ToolRegistry, ToolResultCache
from domain.turn.chat_with_book import ChatWithBook
from domain.turn.conversations import Company, ManageConversations, TitleWriter
from domain.turn.history import FullHistoryStrategy, Transcripts
from domain.turn.preparer import BoundBooks, SystemPrompts, TurnPreparer, TurnTools
from domain.turn.quota import Allowances, Limits, Quota, UsageMeter
from domain.turn.runner import FallbackAnswerer, TurnRunner
from domain.use_cases import Facts, ManagePeople, PersonalQuestions, UseCases
from storage.book_files.files import SQLiteBookFiles
from storage.opening import Storage, open_storage

QUOTES_ONLY: Provider = "extractive"
"""The provider without a model, which therefore writes neither summaries nor titles."""
HISTORY_QUOTED = 40
"""Past messages that it gets at least: most of its turns have five or six, and the third that a cut keeps has to hold
the questions that the next one may refer to. They cost nothing, as it has neither a window nor a price.
"""
NO_OBJECTS = "BOOKS_URL needs a library that is not installed. In the project's folder: pip install '.[objects]'"
SHARE_FOR_WRITING = 0.7
"""The share of a tool's time limit that may go into writing summaries; the rest is for lookups and slow networks."""
SAMPLE = files("bot.sample") / "return-on-the-ebb.md"
_WINDOWS = {"claude-haiku-4": 200_000, "claude-": 1_000_000, "gpt-5": 272_000, "gpt-4.1": 1_000_000, "gpt-4o": 128_000}
"""Context windows in tokens, by the beginning of the model's name."""
WEATHER_TTL_S = 600.0
"""Open-Meteo updates its current weather every quarter of an hour."""


def cost_in_microdollars(provider: str, model: str, usage: TokenUsage) -> int | None:
    """The cost of one request in millionths of a US dollar, or None if the model's price is unknown.

    The library's own sum, which is the same, takes half a millisecond: it looks at every kind of price there is.
    """
    if provider == "extractive":
        return 0
    from genai_prices.data_snapshot import get_snapshot  # 3 MB of prices, which free models do not need
    from genai_prices.types import calc_unit_price

    try:
        _, known = get_snapshot().find_provider_model(
            model, None, "anthropic" if provider == "anthropic" else None, None
        )
    except LookupError:
        return None
    prices = known.get_prices(datetime.now(UTC))
    cache_read, cache_write = (
        prices.input_mtok if price is None else price for price in (prices.cache_read_mtok, prices.cache_write_mtok)
    )
    parts = (
        (prices.input_mtok, max(usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens, 0)),
        (cache_read, usage.cache_read_tokens),
        (cache_write, usage.cache_write_tokens),
        (prices.output_mtok, usage.output_tokens),
    )
    # A price is for a million tokens, so that it is the millionths of one.
    return round(sum(calc_unit_price(price, tokens, usage.input_tokens, 1) for price, tokens in parts))


def answerer_name(provider: str, model: str) -> str:
    """The name by which people see the model that answers."""
    return "the built-in answerer" if provider == QUOTES_ONLY else model


_now = partial(datetime.now, UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class App(UseCases):
    """The use cases, and everything else that the program itself needs."""

    settings: Settings
    storage: Storage
    provider: ChatProvider
    housekeeping: Housekeeping
    book_files: SQLiteBookFiles
    tools_ready: Callable[[], Awaitable[None]]


@asynccontextmanager
async def open_app(
    settings: Settings,
    provider: ChatProvider | ChatOnly | None = None,
    tools: "Toolboxes | None" = None,
) -> AsyncIterator[App]:
    """Open the database and the shelf, and connect the core to its model; closes everything at the end.

    `tools` are what `open_toolbox` opens; None for the book's own tools alone. The tool servers are connected to once
    everything else is open, because loading what that takes would slow it down.

    Raises:
        StorageError: the database cannot be opened.
        SettingsError: the settings contradict each other.
        LLMError: API_KEY_MISSING.
    """
    tools = tools or Toolboxes()
    async with AsyncExitStack() as stack:
        storage = await stack.enter_async_context(await open_storage(settings.storage_url))
        book_files = open_book_files(settings, storage)
        stack.push_async_callback(book_files.close)
        model = as_provider(provider or open_provider(settings))
        models = _open_models(settings, model, stack)
        window = ContextWindow(settings.llm_context_tokens or known_window(settings), settings.llm_max_tokens)
        prompts = Prompts.load(files("prompts"))
        spoilers = SpoilerChecks(book_files)
        summaries = ChapterSummaries(
            texts=storage.derived_texts,
            prompts=prompts,
            spoilers=spoilers,
            clock=_now,
            model=model.model_name,
            seconds=settings.tool_timeout_s * SHARE_FOR_WRITING,
        )
        limits = _limits(settings)
        allowances = Allowances(storage.allowances, limits, _now)
        servers = ManageServers(storage.servers, Models(model.model_name, settings.llm_models))

        async def model_of(conversation: Conversation) -> ChatProvider:
            return models[await servers.model_of(conversation.server_id)]

        manage = ManageConversations(books=storage.books, conversations=storage.conversations, clock=_now)
        meter = UsageMeter(usage=storage.usage, price=cost_in_microdollars, clock=_now, provider=model.name)
        company = Company(messages=storage.messages, clock=_now, lasts=_days(settings.presence_days))
        bounds = SharedBounds(readers=storage.readers, clubs=storage.clubs, clock=_now)
        bound_books = BoundBooks(books=storage.books, files=book_files, bounds=bounds, clock=_now)
        quota = Quota(storage.usage, _now, settings.daily_tokens_per_user, allowances=allowances, servers=servers)
        preparer = TurnPreparer(
            books=bound_books,
            tools=TurnTools(
                tools,
                meter=meter,
                summaries=None if model.name == QUOTES_ONLY else summaries,
                timeout=settings.tool_timeout_s,
                ready=tools.servers.ready,
            ),
            system_prompts=SystemPrompts(prompts, storage.conversations),
            context=FullHistoryStrategy(_history_for(model, settings), window),
            turns=storage.turns,
            quota=quota,
            spoilers=spoilers,
        )
        runner = TurnRunner(
            preparer=preparer,
            model_of=model_of,
            strategy=AdaptiveStrategy(
                ToolUseRetrievalStrategy(max_rounds=settings.max_tool_rounds, window=window),
                AlwaysRetrieveStrategy(prompts, window),
                window,
            ),
            turns=storage.turns,
            meter=meter,
            fallback=None if model.name == QUOTES_ONLY else _fallback(),
            clock=_now,
            turn_timeout=settings.turn_timeout_s,
        )
        titles = TitleWriter(
            provider=model,
            prompt=prompts.title,
            books=storage.books,
            bounds=bounds,
            spoilers=spoilers,
            meter=meter,
        )
        writer = ReadingWriter(
            provider=model,
            prompts=prompts,
            summaries=summaries,
            spoilers=spoilers,
            meter=meter,
            quota=quota,
            seconds=settings.turn_timeout_s,
        )
        shelf = Bookshelf(
            parser=SandboxedParser(max_file_mb=settings.max_upload_mb, ocr=_ocr_bounds(settings)),
            files=book_files,
            books=storage.books,
            clock=_now,
        )
        downloads = GuardedDownloads(BookHosts.parse(settings.book_hosts), max_file_mb=settings.max_upload_mb)
        positions = ManagePositions(readers=storage.readers, files=book_files, bounds=bounds)
        chat = ChatWithBook(
            books=bound_books,
            preparer=preparer,
            runner=runner,
            manage=manage,
            company=company,
            messages=storage.messages,
            turns=storage.turns,
            clock=_now,
        )
        left_servers = LeftServers(retention=storage.retention, shelf=shelf)
        tools.servers.connect()
        yield App(
            settings=settings,
            storage=storage,
            provider=model,
            shelf=shelf,
            catalogue=GutendexCatalogue(settings.gutendex_url, downloads) if settings.gutendex_url else None,
            downloads=downloads,
            conversations=manage,
            transcripts=Transcripts(
                conversations=storage.conversations, messages=storage.messages, turns=storage.turns
            ),
            servers=servers,
            allowances=allowances,
            reading=ReadingCompanion(files=book_files, writer=None if model.name == QUOTES_ONLY else writer),
            company=company,
            positions=positions,
            clubs=ManageClubs(
                clubs=storage.clubs,
                books=storage.books,
                files=book_files,
                positions=positions,
                conversations=storage.conversations,
                clock=_now,
            ),
            people=ManagePeople(readers=storage.readers, usage=storage.usage, privacy=storage.privacy, shelf=shelf),
            chat=chat,
            open_replies=storage.open_replies,
            questions=PersonalQuestions(chat=chat, conversations=manage),
            left_servers=left_servers,
            titles=None if model.name == QUOTES_ONLY else titles,
            housekeeping=Housekeeping(
                retention=storage.retention,
                shelf=shelf,
                servers=left_servers,
                clock=_now,
                keep=_keep(settings),
            ),
            book_files=book_files,
            clock=_now,
            facts=Facts(
                provider=settings.company_of(model.name),
                model=model.model_name,
                max_upload_mb=settings.max_upload_mb,
                daily_tokens=settings.daily_tokens_per_user,
                verbose_default=settings.verbose_default,
                limits=limits,
            ),
            missing_tools=tools.servers.missing,
            tools_ready=tools.servers.ready,
        )


def _open_models(settings: Settings, model: ChatProvider, stack: AsyncExitStack) -> dict[str, ChatProvider]:
    """The model and the others of LLM_MODELS, by name; `stack` closes them.

    Raises:
        LLMError: API_KEY_MISSING.
    """
    stack.push_async_callback(model.aclose)
    models = {model.model_name: model}
    for name in settings.llm_models:
        if name not in models:
            models[name] = open_provider(settings.model_copy(update={"llm_model": name}))
            stack.push_async_callback(models[name].aclose)
    return models


def _history_for(model: ChatProvider, settings: Settings) -> int:
    return max(settings.history_messages, HISTORY_QUOTED) if model.name == QUOTES_ONLY else settings.history_messages


def _limits(settings: Settings) -> Limits:
    return Limits(
        settings.max_books_per_shelf,
        settings.max_shelf_mb,
        settings.max_adds_per_hour,
        settings.max_conversations_per_day,
        settings.max_turns_per_minute,
    )


def _keep(settings: Settings) -> RetentionPeriods:
    return RetentionPeriods(
        conversations=_days(settings.keep_conversations_days),
        tool_calls=_days(settings.keep_tool_calls_days),
        deleted=_days(settings.keep_deleted_days),
        left_servers=_days(settings.keep_left_servers_days),
    )


def open_book_files(settings: Settings, storage: Storage) -> SQLiteBookFiles:
    """The folder of the books, or what BOOKS_URL names, with a folder for the copies.

    Raises:
        SettingsError: BOOKS_URL names no store, or what is needed for it is not installed.
    """
    if not settings.books_url:
        return SQLiteBookFiles(books_folder(settings), confine=shut_in)
    try:
        from storage.book_files.objects import CachedBookFiles, open_store
    except ImportError as error:
        raise SettingsError(NO_OBJECTS) from error
    return CachedBookFiles(
        books_folder(settings),
        store=open_store(settings.books_url),
        objects=storage.book_objects,
        cache_mb=settings.books_cache_mb,
        confine=shut_in,
    )


def books_folder(settings: Settings) -> Path:
    """The folder with the books, or with the cached copies of those in a store."""
    return settings.data_dir / ("books-cache" if settings.books_url else "books")


def known_window(settings: Settings) -> int:
    """The smallest context window that the configured models are known to have; 0 for models on a custom server, which
    may have less.
    """
    if settings.provider == "openai" and settings.openai_base_url:
        return 0
    models = (settings.model, *settings.llm_models)
    known = (next((tokens for begin, tokens in _WINDOWS.items() if model.startswith(begin)), 0) for model in models)
    return min(filter(None, known), default=0)


def open_provider(settings: Settings) -> ChatProvider:
    """The configured model. Each SDK is imported only when it is used. A server may be silent as long as a turn takes:
    without a graphics card, one reads for minutes before its first word. Anthropic's own says meanwhile that it works.

    Raises:
        LLMError: API_KEY_MISSING.
        SettingsError: its settings contradict each other.
    """
    reply = settings.llm_max_tokens
    if settings.llm_context_tokens:  # half of the window is kept free for the reply at most
        reply = min(reply, settings.llm_context_tokens // 2)
    supports_tools = {"auto": None, "on": True, "off": False}[settings.llm_tools]
    match settings.provider:
        case "anthropic":
            from bot.providers.anthropic.client import AnthropicChat

            return AnthropicChat(
                api_key=settings.anthropic_api_key,
                model=settings.model,
                base_url=settings.anthropic_base_url or None,
                supports_tools=supports_tools,
                **({"max_tokens": reply} if reply else {}),
                timeout=settings.turn_timeout_s if settings.anthropic_base_url else 60.0,
            )
        case "openai":
            from bot.providers.openai.client import OpenAIChat

            return OpenAIChat(
                api_key=settings.openai_api_key,
                model=settings.model,
                base_url=settings.openai_base_url or None,
                supports_tools=supports_tools,
                max_tokens=reply,
                timeout=settings.turn_timeout_s,
            )
        case "extractive":
            from bot.providers.extractive.client import ExtractiveChat

            return ExtractiveChat()


def _ocr_bounds(settings: Settings) -> OcrBounds | None:
    if settings.ocr_max_pages == 0:
        return None
    return OcrBounds(settings.ocr_max_pages, settings.ocr_max_minutes * 60, settings.ocr_languages)


def _fallback() -> FallbackAnswerer:
    from bot.providers.extractive.client import ExtractiveChat

    return FallbackAnswerer(ExtractiveChat(), ToolUseRetrievalStrategy(), book_toolbox)


def _days(days: int) -> timedelta | None:
    """None, for no limit, if it is 0."""
    return timedelta(days=days) if days else None


_Register = Callable[[ToolRegistry, ToolContext], None]


@dataclass(frozen=True, slots=True)
class Toolboxes:
    """Makes the toolbox of a turn: the book's own tools and those of the settings."""

    extras: Sequence[_Register] = ()
    cache: ToolResultCache = field(default_factory=ToolResultCache)
    servers: McpTools = field(default_factory=McpTools)

    def __call__(self, view: BookView, context: ToolContext = NO_CONTEXT, /) -> Toolbox:
        return _ExtendedToolbox(view, context, self.extras, self.cache)


@asynccontextmanager
async def open_toolbox(settings: Settings) -> AsyncIterator[Toolboxes]:
    """Open what the tools of the settings need (connections, server processes), and close it at the end.

    Raises:
        SettingsError: MCP_SERVERS cannot be read.
    """
    async with AsyncExitStack() as stack:
        extras: list[_Register] = []
        if "clock" in settings.extra_tools:
            extras.append(_clock())
        if "weather" in settings.extra_tools:
            extras.append(_weather(settings, stack))
        servers = await stack.enter_async_context(
            open_mcp_tools(tool_servers(settings), timeout=settings.tool_timeout_s, trusted=settings.mcp_trusted)
        )
        extras.append(servers.register_in)
        cache = ToolResultCache(tool_ttls={"get_weather": WEATHER_TTL_S})
        yield Toolboxes(extras, cache, servers)


def tool_servers(settings: Settings) -> tuple[ServerAddress, ...]:
    """The servers of MCP_SERVERS.

    Raises:
        SettingsError: the setting cannot be read, or MCP_TRUSTED names a server that is not in it.
    """
    servers = parse_servers(settings.mcp_servers)
    if unknown := set(settings.mcp_trusted) - {server.name for server in servers}:
        raise SettingsError(f"MCP_TRUSTED names {', '.join(sorted(unknown))}, which MCP_SERVERS does not have.")
    return servers


@dataclass(frozen=True, slots=True)
class _ExtendedToolbox:
    """The book's own tools come first. Of the others only the weather is cached, because it is the
    same for everybody.
    """

    view: BookView
    context: ToolContext
    extras: Sequence[_Register]
    cache: ToolResultCache

    def get_definitions(self) -> list[ToolDefinition]:
        return self._registry().get_definitions()

    def build_dispatcher(self, timeout: float | None = 30.0, max_retries: int = 0) -> Dispatcher:
        inner = self._registry().build_dispatcher(timeout, max_retries)
        return CachingDispatcher(inner, self.cache, cached_tools={"get_weather"})

    def _registry(self) -> ToolRegistry:
        registry = book_toolbox(self.view, self.context)
        for register in self.extras:
            register(registry, self.context)
        return registry


def _clock() -> _Register:
    from bot.tools.clock import DateTimeTool

    handler = DateTimeTool().as_dispatcher_entry()
    return lambda registry, context: registry.register(DateTimeTool.TOOL_DEFINITION, handler)


def _weather(settings: Settings, stack: AsyncExitStack) -> _Register:
    from bot.tools.weather import WeatherTool

    tool = WeatherTool(
        geocoding_url=settings.open_meteo_geocoding_url,
        forecast_url=settings.open_meteo_url,
    )
    stack.push_async_callback(tool.aclose)
    handler = tool.as_dispatcher_entry()
    return lambda registry, context: registry.register(WeatherTool.TOOL_DEFINITION, handler)
