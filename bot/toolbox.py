"""The tools of conversations: those over the book, and those the operator has added by settings."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from bot.mcp.client import parse_servers
from bot.settings import Settings
from bot.tools.book import book_toolbox
from domain.ports import BookView, Dispatcher
from domain.tool_use import ToolDefinition
from domain.tools.cache import CachingDispatcher, ToolResultCache
from domain.tools.context import NO_AIDS, Aids, MakeToolbox
from domain.tools.registry import ToolRegistry

WEATHER_TTL_S = 600.0
"""Open-Meteo makes its current weather anew every quarter of an hour."""

_Register = Callable[[ToolRegistry], None]


@asynccontextmanager
async def open_toolbox(settings: Settings) -> AsyncIterator[MakeToolbox]:
    """Open what the tools of the settings need (connections, server programs), and close it again.

    Raises:
        SettingsError: MCP_SERVERS cannot be read.
    """
    async with AsyncExitStack() as stack:
        extras: list[_Register] = []
        if "clock" in settings.extra_tools:
            extras.append(_clock())
        if "weather" in settings.extra_tools:
            extras.append(_weather(settings, stack))
        if servers := parse_servers(settings.mcp_servers):
            from bot.mcp.tools import open_mcp_tools  # takes half a second to load

            tools = await stack.enter_async_context(open_mcp_tools(servers, timeout=settings.tool_timeout_s))
            extras.append(tools.register_in)
        cache = ToolResultCache(tool_ttls={"get_weather": WEATHER_TTL_S})
        yield lambda view, aids=NO_AIDS: _ExtendedToolbox(view, aids, extras, cache)


@dataclass(frozen=True, slots=True)
class _ExtendedToolbox:
    """The book's own tools first. Of the others only the weather is cached: it is the same for everybody."""

    view: BookView
    aids: Aids
    extras: Sequence[_Register]
    cache: ToolResultCache

    def get_definitions(self) -> list[ToolDefinition]:
        return self._registry().get_definitions()

    def build_dispatcher(self, timeout: float | None = 30.0, max_retries: int = 0) -> Dispatcher:
        inner = self._registry().build_dispatcher(timeout, max_retries)
        return CachingDispatcher(inner, self.cache, cached_tools={"get_weather"})

    def _registry(self) -> ToolRegistry:
        registry = book_toolbox(self.view, self.aids)
        for register in self.extras:
            register(registry)
        return registry


def _clock() -> _Register:
    from bot.tools.clock import DateTimeTool

    handler = DateTimeTool().as_dispatcher_entry()
    return lambda registry: registry.register(DateTimeTool.TOOL_DEFINITION, handler)


def _weather(settings: Settings, stack: AsyncExitStack) -> _Register:
    from bot.tools.weather import WeatherTool

    tool = WeatherTool(
        geocoding_url=settings.open_meteo_geocoding_url,
        forecast_url=settings.open_meteo_url,
    )
    stack.push_async_callback(tool.aclose)
    handler = tool.as_dispatcher_entry()
    return lambda registry: registry.register(WeatherTool.TOOL_DEFINITION, handler)
