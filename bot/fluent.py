"""The loop for scripts: a model, some functions it may call, and a conversation.

    from bot.fluent import llm

    messages, more = await llm().agent("You are terse.").tools([get_weather]).prompt_conversation("And in Paris?")

It is the same loop that answers in a thread, but without a book, unless a tool provides one. Conversations are text,
without pictures, sound or structured output.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

from bot.tools.from_function import Tool
from domain.chat import MessageRole, PromptMessage
from domain.errors import LLMError, LLMErrorCode
from domain.event import StrategyOutcome, UsageReported
from domain.ports import ChatProvider, Dispatcher, ToolOutput
from domain.strategies.always_retrieve import ChatOnly, as_provider
from domain.strategies.tool_use import ToolUseRetrievalStrategy
from domain.strategies.window import ContextWindow
from domain.tool_use import RequestUsage, ToolDefinition
from domain.tools.registry import ToolRegistry, error_output
from domain.turn.quota import metered

OnUsage = Callable[[UsageReported], Awaitable[None] | None]
"""Receives the tokens of each request; it may be a coroutine function."""

DEFAULT_CALL_LIMIT = 10
TOOL_TIMEOUT_S = 30.0


class Message:
    """Something said in a conversation; `str` of it is what a person would read."""

    __slots__ = ()
    role: MessageRole


@dataclass(frozen=True, slots=True)
class UserMessage(Message):
    """What the person said."""

    text: str
    role: MessageRole = MessageRole.USER

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class AssistantMessage(Message):
    """What the model said, to the person or before a call."""

    text: str
    role: MessageRole = MessageRole.ASSISTANT

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class ToolCallMessage(Message):
    """A call the model made."""

    tool_name: str
    tool_call_id: str
    arguments: dict[str, Any]
    role: MessageRole = MessageRole.ASSISTANT

    def __str__(self) -> str:
        return f"{self.tool_name}({', '.join(f'{name}={value!r}' for name, value in self.arguments.items())})"


@dataclass(frozen=True, slots=True)
class ToolResultMessage(Message):
    """The result of the call with that id, as the model read it."""

    tool_call_id: str
    result: str
    is_error: bool = False
    role: MessageRole = MessageRole.USER

    def __str__(self) -> str:
        return self.result


@dataclass(frozen=True, slots=True)
class ConversationState:
    """What has been said, and what may be called. `api_messages` hold everything that has to be replayed exactly."""

    api_messages: tuple[PromptMessage, ...] = ()
    tools: tuple[Tool, ...] = ()

    @property
    def message_history(self) -> list[Message]:
        """The same in the form in which a script reads it."""
        return [message for prompt in self.api_messages for message in _as_messages(prompt)]


@dataclass(frozen=True, slots=True)
class LLMPromptBuilder:
    """A conversation so far, and its options. Every method returns a new builder and changes nothing."""

    state: ConversationState = field(default_factory=ConversationState)
    persona: str = ""
    provider_choice: ChatProvider | ChatOnly | str = ""
    model_name: str = ""
    most_calls: int = DEFAULT_CALL_LIMIT
    usage_watcher: OnUsage | None = None
    own_tools: tuple[ToolDefinition, ...] = ()
    own_dispatcher: Dispatcher | None = None

    def agent(self, persona: str) -> "LLMPromptBuilder":
        """Set the system prompt."""
        return replace(self, persona=persona)

    def provider(self, provider: ChatProvider | ChatOnly | str) -> "LLMPromptBuilder":
        """Choose the provider: anthropic, openai, extractive, auto, or an open provider, which stays open.

        A provider of your own needs no more than `chat`, and `chat_with_tools` for tools.
        """
        return replace(self, provider_choice=provider)

    def model(self, name: str) -> "LLMPromptBuilder":
        """Choose the model of a named provider; otherwise the settings do."""
        return replace(self, model_name=name)

    def call_limit(self, calls: int) -> "LLMPromptBuilder":
        """Limit the number of calls in one prompt; after that the model has to answer from what it has.

        Raises:
            ValueError: it is negative.
        """
        if calls < 0:
            raise ValueError("a call limit must not be negative")
        return replace(self, most_calls=calls)

    def on_usage(self, watcher: OnUsage) -> "LLMPromptBuilder":
        """Report the tokens of every request to a function as soon as they are known."""
        return replace(self, usage_watcher=watcher)

    def tool(self, tool_function: Callable[..., Any] | Tool) -> "LLMPromptBuilder":
        """Let the model call a function, whose name, docstring and signature describe the tool.

        Raises:
            ToolSignatureError: the signature cannot be described to a model.
            ValueError: there is a tool with that name.
        """
        tool = tool_function if isinstance(tool_function, Tool) else Tool.from_function(tool_function)
        if tool.name in [*(each.name for each in self.state.tools), *(each.name for each in self.own_tools)]:
            raise ValueError(f"there is a tool named {tool.name!r} already")
        return replace(self, state=replace(self.state, tools=(*self.state.tools, tool)))

    def tools(self, tool_functions: Iterable[Callable[..., Any] | Tool]) -> "LLMPromptBuilder":
        """As `tool`, for several."""
        builder = self
        for tool_function in tool_functions:
            builder = builder.tool(tool_function)
        return builder

    def request(self, message: str) -> "LLMPromptBuilder":
        """Add a message from the person, to be answered by the next `prompt_conversation`.

        Raises:
            ValueError: it is blank.
        """
        if not message.strip():
            raise ValueError("a message must not be blank")
        said = PromptMessage(MessageRole.USER, message)
        return replace(self, state=replace(self.state, api_messages=(*self.state.api_messages, said)))

    async def prompt_conversation(
        self, message: str | None = None, **options: Any
    ) -> tuple[list[Message], "LLMPromptBuilder"]:
        """Answer the conversation, calling tools as needed.

        Args:
            message: What the person says; None if `request` added it before.
            **options: Further fields of the requests, as in the provider's API.

        Returns:
            All messages of the conversation, and the builder to continue from. This builder may be used again for
            another branch; the branches are independent.

        Raises:
            LLMError: the model gave no answer; UNSUPPORTED_FEATURE if it does not support tools and was given
            some.
            ValueError: there is nothing to answer, or `model` was called for a provider that is open already.
        """
        asked = self if message is None else self.request(message)
        if not asked.state.api_messages or asked.state.api_messages[-1].role != MessageRole.USER:
            raise ValueError("there is nothing to answer: pass a message")
        async with _opened(self.provider_choice, self.model_name) as (provider, window):
            outcome = await _answer(asked, _with_options(provider, options), window)
        state = replace(asked.state, api_messages=asked.state.api_messages + outcome.messages)
        return state.message_history, replace(asked, state=state)


def llm(
    *,
    provider: ChatProvider | ChatOnly | str = "",
    tool_dispatcher: Dispatcher | None = None,
    tools: Sequence[ToolDefinition] = (),
) -> LLMPromptBuilder:
    """A new conversation, with the provider and model of the settings, LLM_PROVIDER and LLM_MODEL.

    Args:
        provider: Another provider, as for `LLMPromptBuilder.provider`.
        tool_dispatcher: Carries out the calls of `tools`, such as a CachingDispatcher.
        tools: Their definitions, as ToolRegistry.get_definitions returns them.

    Raises:
        ValueError: there are tools but no dispatcher, or a dispatcher but no tools, or two tools have the same name.
        TypeError: a tool is not a ToolDefinition.
    """
    if tools and tool_dispatcher is None:
        raise ValueError("tools need a tool_dispatcher that carries out their calls")
    if tool_dispatcher is not None and not tools:
        raise ValueError("a tool_dispatcher needs tools: pass registry.get_definitions()")
    for tool in tools:
        if not isinstance(tool, ToolDefinition):
            raise TypeError(f"{tool!r} is not a ToolDefinition; functions go into llm().tools([…])")
    if len({tool.name for tool in tools}) < len(tools):
        raise ValueError("two of the tools have the same name")
    return LLMPromptBuilder(provider_choice=provider, own_tools=tuple(tools), own_dispatcher=tool_dispatcher)


async def _answer(asked: LLMPromptBuilder, provider: ChatProvider, window: ContextWindow) -> StrategyOutcome:
    if (asked.state.tools or asked.own_tools) and not provider.supports_tools:
        raise LLMError(
            LLMErrorCode.UNSUPPORTED_FEATURE,
            f"The model {provider.model_name} cannot use tools. Please choose another one, or leave out the tools.",
        )
    registry = ToolRegistry()
    for tool in asked.state.tools:
        registry.register(tool.definition, tool.as_dispatcher_entry())
    persona = [PromptMessage("system", asked.persona)] if asked.persona else []
    events = ToolUseRetrievalStrategy(max_rounds=asked.most_calls, window=window).execute(
        provider,
        [*persona, *asked.state.api_messages],
        [*registry.get_definitions(), *asked.own_tools],
        _limited(_joined(registry, asked.own_dispatcher), asked.most_calls),
    )

    async def spent(used: RequestUsage) -> None:
        if asked.usage_watcher and not used.is_open:
            await _finished(asked.usage_watcher(UsageReported(used.usage, used.model)))

    async with aclosing(metered(events, spent)) as metered_events:
        async for event in metered_events:
            if isinstance(event, StrategyOutcome):
                return event
    raise AssertionError("a strategy ends in an outcome")


def _joined(registry: ToolRegistry, own: Dispatcher | None) -> Dispatcher:
    """Carries out calls of functions directly, and those of other tools by their dispatcher."""
    functions = registry.build_dispatcher(TOOL_TIMEOUT_S)

    async def call(name: str, args: dict[str, Any]) -> ToolOutput:
        return await (functions if name in registry or own is None else own)(name, args)

    return call


async def _finished(work: Awaitable[None] | None) -> None:
    if work is not None:
        await work


@runtime_checkable
class TakesOptions(Protocol):
    """A provider whose requests accept further fields."""

    def with_options(self, **options: Any) -> ChatProvider: ...


def _with_options(provider: ChatProvider, options: dict[str, Any]) -> ChatProvider:
    if not options:
        return provider
    if not isinstance(provider, TakesOptions):
        raise TypeError(f"the provider {provider.name} takes no options: {', '.join(options)}")
    return provider.with_options(**options)


@asynccontextmanager
async def _opened(
    choice: ChatProvider | ChatOnly | str, model: str
) -> AsyncIterator[tuple[ChatProvider, ContextWindow]]:
    """The chosen provider and its context window; a named one is opened for this prompt only, so that each prompt may
    run in its own event loop.
    """
    if not isinstance(choice, str):
        provider = as_provider(choice)
        if model:
            raise ValueError(f"the provider {provider.name} is open already, with the model {provider.model_name}")
        yield provider, ContextWindow()
        return
    # imports the whole program, which scripts with a provider of their own do not need
    from bot.app import known_window, open_provider
    from bot.settings import load_settings

    settings = load_settings(**({"llm_provider": choice} if choice else {}))
    # LLM_MODEL belongs to the provider of the settings: another one has no model with that name.
    if model or settings.provider != load_settings().provider:
        settings = load_settings(llm_provider=settings.provider, llm_model=model)
    provider = open_provider(settings)
    window = ContextWindow(settings.llm_context_tokens or known_window(settings), settings.llm_max_tokens)
    try:
        yield provider, window
    finally:
        await provider.aclose()


def _limited(dispatch: Dispatcher, limit: int) -> Dispatcher:
    """Carries out that many calls; further ones in the same reply are told that the limit is reached."""
    made = 0

    async def call(name: str, args: dict[str, Any]) -> ToolOutput:
        nonlocal made
        made += 1
        if made > limit:
            return error_output(f"The limit of {limit} tool calls is reached. Answer from what you have.")
        return await dispatch(name, args)

    return call


def _as_messages(prompt: PromptMessage) -> Iterator[Message]:
    if prompt.role == MessageRole.USER:
        yield UserMessage(prompt.content)
    elif prompt.role == MessageRole.TOOL_RESULT:
        yield ToolResultMessage(prompt.tool_use_id or "", prompt.content, prompt.is_error)
    else:
        if prompt.content:
            yield AssistantMessage(prompt.content)
        for call in prompt.tool_invocations or ():
            yield ToolCallMessage(call.tool_name, call.tool_use_id, call.arguments)
