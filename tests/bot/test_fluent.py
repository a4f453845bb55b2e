"""The fluent interface: the seed's conversation over a real wire, branches that keep apart, limits that hold."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from bot.fluent import (
    AssistantMessage,
    LLMPromptBuilder,
    Message,
    ToolCallMessage,
    ToolResultMessage,
    UserMessage,
    llm,
)
from bot.providers.anthropic.client import AnthropicChat
from bot.tools.from_function import Tool, ToolSignatureError
from domain.chat import MessageRole, PromptMessage
from domain.errors import LLMError, LLMErrorCode, SettingsError
from domain.event import UsageReported
from domain.tool_use import ChatResponse, ToolDefinition, ToolInvocation
from domain.tools.registry import CachingDispatcher, ToolRegistry, ToolResultCache
from tests.doc_examples import DOCS, run_examples
from tests.doubles.anthropic_api import AnthropicDouble
from tests.doubles.openai_api import OpenAIDouble
from tests.doubles.script import Call, Failure, Step, Thinking, say
from tests.doubles.scripted_chat import ScriptedChat, call, calls


def get_weather(location: str) -> str:
    """Get current weather for a location."""
    return f"Weather in {location}: Sunny, 72°F"


def broken(location: str) -> str:
    """Get nothing."""
    raise ValueError(f"no station in {location}")


def scripted(*replies: Any, **options: Any) -> tuple[ScriptedChat, LLMPromptBuilder]:
    chat = ScriptedChat(*replies, **options)
    return chat, llm().provider(chat).agent("You are a helpful assistant").tools([get_weather])


class TestConversation:
    async def test_calls_and_results_stand_between_question_and_answer(self) -> None:
        _, builder = scripted(calls(call("get_weather", "c1", location="Paris"), preamble="I look."), "Sunny.")
        messages, _ = await builder.prompt_conversation("What's the weather in Paris?")
        assert messages == [
            UserMessage("What's the weather in Paris?"),
            AssistantMessage("I look."),
            ToolCallMessage("get_weather", "c1", {"location": "Paris"}),
            ToolResultMessage("c1", "Weather in Paris: Sunny, 72°F"),
            AssistantMessage("Sunny."),
        ]
        assert [message.role for message in messages] == ["user", "assistant", "assistant", "user", "assistant"]
        assert all(isinstance(message, Message) for message in messages)
        assert [str(message) for message in messages[2:]] == [
            "get_weather(location='Paris')",
            "Weather in Paris: Sunny, 72°F",
            "Sunny.",
        ]

    async def test_several_calls_of_one_reply_run_together_and_keep_their_order(self) -> None:
        both = asyncio.Barrier(2)

        async def meet(who: str) -> str:
            """Meet the other call."""
            await both.wait()
            return who

        chat = ScriptedChat(calls(call("meet", "a", who="A"), call("meet", "b", who="B")), "Done.")
        messages, _ = await llm().provider(chat).tool(meet).prompt_conversation("Go")
        results = [message for message in messages if isinstance(message, ToolResultMessage)]
        assert results == [ToolResultMessage("a", "A"), ToolResultMessage("b", "B")]

    async def test_the_continuation_knows_what_was_said(self) -> None:
        chat, builder = scripted("Hello, Ada.", "Your name is Ada.")
        first, more = await builder.prompt_conversation("I am Ada.")
        second, _ = await more.prompt_conversation("Who am I?")
        assert second[: len(first)] == first
        assert [message.content for message in chat.requests[1]] == [
            "You are a helpful assistant",
            "I am Ada.",
            "Hello, Ada.",
            "Who am I?",
        ]

    async def test_branches_of_one_continuation_keep_apart(self) -> None:
        _, builder = scripted("Hello.", "London!", "Oslo!", "Again.")
        _, more = await builder.prompt_conversation("Hi")
        before = more.state
        london, _ = await more.prompt_conversation("London?")
        oslo, _ = await more.tool(broken).prompt_conversation("Oslo?")
        assert not any("London" in str(message) for message in oslo)
        assert not any("Oslo" in str(message) for message in london)
        assert more.state is before
        assert [tool.name for tool in more.state.tools] == ["get_weather"]

    async def test_branches_may_be_asked_at_the_same_time(self) -> None:
        chat = ScriptedChat(lambda messages: f"You said {messages[-1].content}")
        builder = llm().provider(chat)
        outcomes = await asyncio.gather(*(builder.prompt_conversation(str(n)) for n in range(20)))
        assert [[str(message) for message in messages] for messages, _ in outcomes] == [
            [str(n), f"You said {n}"] for n in range(20)
        ]

    async def test_what_was_requested_before_needs_no_message(self) -> None:
        chat, builder = scripted("Yes.")
        messages, more = await builder.request("Are you there?").prompt_conversation()
        assert messages == [UserMessage("Are you there?"), AssistantMessage("Yes.")]
        with pytest.raises(ValueError, match="nothing to answer"):
            await more.prompt_conversation()
        with pytest.raises(ValueError, match="nothing to answer"):
            await llm().prompt_conversation()
        with pytest.raises(ValueError, match="blank"):
            await builder.prompt_conversation("  ")
        assert len(chat.requests) == 1

    async def test_without_tools_any_model_simply_talks(self) -> None:
        chat = ScriptedChat("Hello.", supports_tools=False)
        messages, _ = await llm().provider(chat).prompt_conversation("Hi")
        assert str(messages[-1]) == "Hello."


class TestBuilder:
    def test_every_method_returns_a_new_builder_and_changes_nothing(self) -> None:
        start = llm()
        for changed in (
            start.agent("x"),
            start.tool(get_weather),
            start.tools([get_weather, broken]),
            start.model("m"),
            start.provider("openai"),
            start.call_limit(1),
            start.on_usage(print),
            start.request("x"),
        ):
            assert changed != start
            assert start == llm()
        with pytest.raises(dataclasses.FrozenInstanceError):
            start.persona = "x"  # type: ignore[misc]

    def test_a_tool_may_come_ready_made_and_its_name_is_given_once(self) -> None:
        builder = llm().tool(Tool.from_function(get_weather))
        with pytest.raises(ValueError, match="'get_weather' already"):
            builder.tools([broken, get_weather])

    def test_a_function_that_cannot_be_told_to_a_model_is_refused_at_once(self) -> None:
        def untyped(x):  # type: ignore[no-untyped-def]
            return x

        with pytest.raises(ToolSignatureError, match="parameter 'x' has no type annotation"):
            llm().tool(untyped)

    def test_a_limit_below_nothing_is_refused(self) -> None:
        with pytest.raises(ValueError, match="negative"):
            llm().call_limit(-1)


class TestFailures:
    async def test_a_tools_failure_goes_to_the_model_and_the_talk_goes_on(self) -> None:
        chat = ScriptedChat(calls(call("broken", "c1", location="Ulm")), "No station there.", "Bye.")
        messages, more = await llm().provider(chat).tool(broken).prompt_conversation("Weather?")
        assert messages[2] == ToolResultMessage("c1", '{"error": "no station in Ulm"}', is_error=True)
        assert chat.requests[1][-1].is_error
        assert str(messages[-1]) == "No station there."
        assert str((await more.prompt_conversation("Bye"))[0][-1]) == "Bye."

    @pytest.mark.parametrize(
        ("invocation", "error"),
        [
            (call("get_wether", "c1", location="Ulm"), "Unknown tool: 'get_wether'. Known: get_weather"),
            (call("get_weather", "c1"), "Missing required argument: location"),
            (call("get_weather", "c1", location="Ulm", days=3), "Unknown argument: days"),
            (call("get_weather", "c1", location=["Ulm"]), "Argument location: "),
        ],
    )
    async def test_a_call_that_makes_no_sense_is_told_so(self, invocation: Any, error: str) -> None:
        _, builder = scripted(calls(invocation), "Sorry.")
        messages, _ = await builder.prompt_conversation("Weather?")
        result = messages[2]
        assert isinstance(result, ToolResultMessage)
        assert result.is_error
        assert error in result.result

    async def test_a_model_without_tools_is_refused_before_anything_is_sent(self) -> None:
        chat, builder = scripted("x", supports_tools=False)
        with pytest.raises(LLMError, match="cannot use tools") as refusal:
            await builder.prompt_conversation("Weather?")
        assert refusal.value.code is LLMErrorCode.UNSUPPORTED_FEATURE
        assert not chat.requests

    async def test_after_a_failure_of_the_model_the_same_builder_can_be_asked_again(self) -> None:
        lost = LLMError(LLMErrorCode.CONNECTION_LOST, "The line broke off.")
        _, builder = scripted(lost, "Here I am.")
        with pytest.raises(LLMError, match="broke off"):
            await builder.prompt_conversation("Hi")
        messages, _ = await builder.prompt_conversation("Hi")
        assert [str(message) for message in messages] == ["Hi", "Here I am."]

    async def test_a_provider_that_takes_no_options_says_so(self) -> None:
        _, builder = scripted("x")
        with pytest.raises(TypeError, match="takes no options: max_tokens"):
            await builder.prompt_conversation("Hi", max_tokens=5)

    async def test_a_provider_that_is_open_already_keeps_its_model(self) -> None:
        _, builder = scripted("x")
        with pytest.raises(ValueError, match="open already, with the model scripted-1"):
            await builder.model("other").prompt_conversation("Hi")

    async def test_the_built_in_answerer_says_that_it_uses_no_such_tools(self) -> None:
        with pytest.raises(LLMError, match="ANTHROPIC_API_KEY") as refusal:
            await llm().provider("extractive").tools([get_weather]).prompt_conversation("Weather in Paris?")
        assert refusal.value.code is LLMErrorCode.UNSUPPORTED_FEATURE

    async def test_a_provider_nobody_knows_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(SettingsError, match="LLM_PROVIDER"):
            await llm().provider("nonesuch").prompt_conversation("Hi")


class TestCallLimit:
    @pytest.mark.parametrize("limit", [0, 1, 3])
    async def test_a_model_that_never_stops_calling_has_to_answer(self, limit: int) -> None:
        def tireless(messages: Any) -> ChatResponse | str:
            return calls(call("get_weather", location="Ulm")) if chat.allowed_calls[-1] else "Enough."

        chat, builder = scripted(tireless)
        messages, _ = await builder.call_limit(limit).prompt_conversation("Weather?")
        assert sum(isinstance(message, ToolResultMessage) for message in messages) == limit
        assert str(messages[-1]) == "Enough."

    async def test_calls_beyond_the_limit_in_one_reply_are_not_made(self) -> None:
        made: list[str] = []

        async def note(x: str) -> str:
            """Note it."""
            made.append(x)
            return "noted"

        chat = ScriptedChat(calls(*(call("note", str(n), x=str(n)) for n in range(4))), "Done.")
        messages, _ = await llm().provider(chat).tool(note).call_limit(2).prompt_conversation("Go")
        results = [message for message in messages if isinstance(message, ToolResultMessage)]
        assert made == ["0", "1"]
        assert [result.is_error for result in results] == [False, False, True, True]
        assert "limit of 2 tool calls" in results[-1].result


@pytest.fixture
async def api(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[AnthropicDouble]:
    """An Anthropic API that the settings in the environment lead to."""
    async with AnthropicDouble() as double:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("ANTHROPIC_API_KEY", double.api_key)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", double.base_url)
        monkeypatch.delenv("LLM_PROVIDER", raising=False)
        monkeypatch.delenv("LLM_MODEL", raising=False)
        yield double


class TestOnTheWire:
    async def test_the_whole_conversation_with_claude(self, api: AnthropicDouble) -> None:
        api.script(
            say(Thinking("Hm."), Call("get_weather", {"location": "Paris"})),
            say("Sunny in Paris."),
            say(Call("get_weather", {"location": "London"})),
            say("London as well."),
        )
        messages, continuation = await (
            llm()
            .agent("You are a helpful assistant")
            .tools([get_weather])
            .prompt_conversation("What's the weather in Paris?")
        )
        assert len(messages) >= 3
        assert any(isinstance(message, ToolCallMessage) for message in messages)
        assert any(isinstance(message, ToolResultMessage) for message in messages)
        final, _ = await continuation.prompt_conversation("What about London?")
        assert any("London" in str(message) for message in final)
        assert api.requests[0]["model"] == "claude-sonnet-5-5"
        assert api.requests[0]["tools"][0]["input_schema"]["required"] == ["location"]

    async def test_options_go_into_the_request(self, api: AnthropicDouble) -> None:
        api.script(say("Hi."))
        await llm().model("claude-haiku-5-5").prompt_conversation("Hi", max_tokens=123)
        assert api.requests[0]["max_tokens"] == 123
        assert api.requests[0]["model"] == "claude-haiku-5-5"

    async def test_a_provider_that_is_named_does_not_get_the_model_of_another(
        self, api: AnthropicDouble, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("LLM_PROVIDER", "extractive")
        monkeypatch.setenv("LLM_MODEL", "qwen3")
        api.script(say("Hi."))
        await llm().provider("anthropic").prompt_conversation("Hi")
        assert api.requests[0]["model"] == "claude-sonnet-5-5"

    async def test_the_tokens_of_every_request_are_told(self, api: AnthropicDouble) -> None:
        api.script(say(Call("get_weather", {"location": "Paris"})), say("Sunny."))
        seen: list[UsageReported] = []
        await llm().tools([get_weather]).on_usage(seen.append).prompt_conversation("Weather?")
        assert [each.model for each in seen] == ["claude-sonnet-5-5"] * 2
        assert all(each.usage.input_tokens and each.usage.output_tokens for each in seen)

    async def test_a_provider_that_is_open_already_stays_open(self, api: AnthropicDouble) -> None:
        api.script(say("One."), say("Two."))
        chat = AnthropicChat(api_key=api.api_key, base_url=api.base_url)
        _, more = await llm().provider(chat).prompt_conversation("One?")
        messages, _ = await more.prompt_conversation("Two?")
        assert str(messages[-1]) == "Two."
        await chat.aclose()

    async def test_a_failure_of_the_api_is_an_error_of_the_house(self, api: AnthropicDouble) -> None:
        api.script(Failure(400))
        with pytest.raises(LLMError):
            await llm().prompt_conversation("Hi")

    async def test_the_examples_of_the_guide_run(self, api: AnthropicDouble, tmp_path: Path) -> None:
        api.script(
            say(Call("get_weather", {"location": "Paris"})),
            say("It is sunny in Paris, at 22 °C."),
            say("London is grey."),
            say("Oslo is white."),
            say(Call("read_thermometer", {"room": "cellar"})),
            say("There is no thermometer in the cellar."),
            say(Call("search_letters", {"query": "boat"})),
            say("It is late."),
            say(Call("search_letters", {"query": "boat"})),
            say("Still late."),
            say(Call("get_weather", {"location": "Paris"}), Call("get_weather", {"location": "Rome"})),
            say("Equally warm."),
        )
        page = DOCS / "fluent.md"
        printed = await run_examples(page, tmp_path, ANTHROPIC_API_KEY=api.api_key, ANTHROPIC_BASE_URL=api.base_url)
        assert f"```text\n{printed}```" in page.read_text(encoding="utf-8")


def test_roles_are_those_of_the_house() -> None:
    assert UserMessage("x").role is MessageRole.USER
    assert ToolResultMessage("c", "x").role is MessageRole.USER
    assert ToolCallMessage("t", "c", {}).role is MessageRole.ASSISTANT


async def test_a_conversation_takes_tools_and_a_dispatcher_of_ones_own() -> None:
    made: list[str] = []

    async def handler(args: dict[str, Any]) -> str:
        made.append(args["city"])
        return '{"sky": "clear"}'

    registry = ToolRegistry()
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    registry.register(ToolDefinition("get_sky", "The sky over a city.", parameters), handler)
    cached = CachingDispatcher(registry.build_dispatcher(), ToolResultCache(), cached_tools={"get_sky"})
    model = ScriptedChat(
        calls(call("get_sky", "1", city="Paris")), "Clear.", calls(call("get_sky", "2", city="Paris")), "So."
    )
    talk = llm(provider=model, tool_dispatcher=cached, tools=registry.get_definitions())
    _, more = await talk.prompt_conversation("And in Paris?")
    messages, _ = await more.prompt_conversation("Again?")
    assert str(messages[-1]) == "So."
    assert made == ["Paris"]


def test_tools_that_cannot_be_called_are_refused_with_a_sentence() -> None:
    tool = ToolDefinition("get_weather", "X.", {"type": "object", "properties": {}})
    dispatcher = ToolRegistry().build_dispatcher()
    with pytest.raises(ValueError, match="need a tool_dispatcher"):
        llm(tools=[tool])
    with pytest.raises(ValueError, match="needs tools"):
        llm(tool_dispatcher=dispatcher)
    with pytest.raises(ValueError, match="same name"):
        llm(tools=[tool, tool], tool_dispatcher=dispatcher)
    with pytest.raises(ValueError, match="named 'get_weather' already"):
        llm(tools=[tool], tool_dispatcher=dispatcher).tool(get_weather)
    with pytest.raises(TypeError, match="functions go into"):
        llm(tools=cast(Any, [get_weather]), tool_dispatcher=dispatcher)


async def test_a_result_that_is_too_long_for_the_model_is_shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = ToolRegistry()

    async def tell_all(args: dict[str, Any]) -> str:
        return "word " * 100_000

    registry.register(ToolDefinition("tell_all", "All.", {"type": "object", "properties": {}}), tell_all)

    def reply(body: Any) -> Step:
        called = any(message["role"] == "tool" for message in body["messages"])
        if len(str(body)) > 50_000:
            return Failure(400, "context_length_exceeded", "This model's maximum context length is 8192 tokens.")
        return say("Much.") if called else say(Call("tell_all", {}))

    async with OpenAIDouble(reply) as api:
        monkeypatch.setenv("LLM_PROVIDER", "openai")
        monkeypatch.setenv("OPENAI_API_KEY", api.api_key)
        monkeypatch.setenv("OPENAI_BASE_URL", api.base_url)
        monkeypatch.setenv("LLM_MODEL", api.model)
        talk = llm(tool_dispatcher=registry.build_dispatcher(), tools=registry.get_definitions())
        messages, _ = await talk.prompt_conversation("Tell me all")
    assert str(messages[-1]) == "Much."


async def test_a_provider_with_chat_alone_works() -> None:
    class Parrot:
        async def chat(self, messages: Sequence[PromptMessage]) -> str:
            return f"You said: {messages[-1].content}"

    used: list[UsageReported] = []
    messages, _ = await llm(provider=Parrot()).on_usage(used.append).prompt_conversation("Hello")
    assert str(messages[-1]) == "You said: Hello"
    assert used[0].usage.estimated
    with pytest.raises(LLMError) as caught:
        await llm(provider=Parrot()).tool(get_weather).prompt_conversation("Hello")
    assert caught.value.code is LLMErrorCode.UNSUPPORTED_FEATURE


class Clerk:
    """A provider of one's own that streams nothing: it looks up the sky over the city asked for, then tells it."""

    def __init__(self) -> None:
        self.requests: list[Sequence[PromptMessage]] = []

    async def chat(self, messages: Sequence[PromptMessage]) -> str:
        return f"In words: {messages[-1].content}"

    async def chat_with_tools(self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]) -> ChatResponse:
        self.requests.append(messages)
        asked = messages[-1].content
        if messages[-1].role == "user" and asked != "Thanks":
            return calls(call(tools[0].name, city=asked), preamble="One moment.")
        return ChatResponse(f"I see {asked}")


async def test_a_provider_of_ones_own_calls_tools_without_streaming() -> None:
    made: list[str] = []

    async def handler(args: dict[str, Any]) -> str:
        made.append(args["city"])
        if args["city"] == "Ys":
            raise ValueError("Ys has sunk")
        return '{"sky": "clear"}'

    registry = ToolRegistry()
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    registry.register(ToolDefinition("get_sky", "The sky over a city.", parameters), handler)
    cached = CachingDispatcher(registry.build_dispatcher(), ToolResultCache(), cached_tools={"get_sky"})
    clerk, used = Clerk(), list[UsageReported]()
    talk = llm(provider=clerk, tool_dispatcher=cached, tools=registry.get_definitions()).on_usage(used.append)
    for asked, told in (
        ("Paris", 'I see {"sky": "clear"}'),
        ("Ys", 'I see {"error": "Ys has sunk"}'),
        ("Paris", 'I see {"sky": "clear"}'),
        ("Thanks", "I see Thanks"),
    ):
        messages, talk = await talk.prompt_conversation(asked)
        assert str(messages[-1]) == told
    assert made == ["Paris", "Ys"]
    assert [message.role for message in clerk.requests[-1][:4]] == ["user", "assistant", "tool_result", "assistant"]
    assert [report.usage.estimated for report in used] == [True] * 7
    messages, _ = await talk.call_limit(0).prompt_conversation("Rome")
    assert str(messages[-1]) == "In words: Rome"


async def test_a_stream_without_the_rest_of_a_provider_is_not_used() -> None:
    class Half(Clerk):
        def stream(self) -> None:
            raise AssertionError("it is not asked")

    messages, _ = await llm(provider=cast(Any, Half())).tool(get_weather).prompt_conversation("Thanks")
    assert str(messages[-1]) == "I see Thanks"


async def test_a_provider_of_ones_own_may_say_that_it_calls_no_tools() -> None:
    clerk = Clerk()
    clerk.supports_tools = False  # type: ignore[attr-defined]
    with pytest.raises(LLMError) as caught:
        await llm(provider=clerk).tool(get_weather).prompt_conversation("Paris")
    assert caught.value.code is LLMErrorCode.UNSUPPORTED_FEATURE


@pytest.mark.parametrize("reply", ["in words", None, ("get_weather", '{"location": "Ulm"}')])
async def test_what_is_no_reply_to_tools_is_a_sentence(reply: Any) -> None:
    class Wrong(Clerk):
        async def chat_with_tools(
            self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]
        ) -> ChatResponse:
            return calls(ToolInvocation(*reply)) if isinstance(reply, tuple) else reply

    with pytest.raises(LLMError) as caught:
        await llm(provider=Wrong()).tool(get_weather).prompt_conversation("Ulm")
    assert caught.value.code is LLMErrorCode.API_CALL_FAILED


class Odd:
    """A provider that answers with this, or raises it."""

    def __init__(self, reply: object) -> None:
        self._reply = reply

    async def chat(self, messages: Sequence[PromptMessage]) -> str:
        if isinstance(self._reply, Exception):
            raise self._reply
        return cast(str, self._reply)


@pytest.mark.parametrize(
    ("reply", "code", "sentence"),
    [
        (RuntimeError("secret"), LLMErrorCode.API_CALL_FAILED, "The model Odd could not answer. Please try again."),
        (TimeoutError(), LLMErrorCode.API_CALL_FAILED, "The model Odd could not answer. Please try again."),
        (LLMError(LLMErrorCode.RATE_LIMITED, "Wait."), LLMErrorCode.RATE_LIMITED, "Wait."),
        ({"text": "x"}, LLMErrorCode.API_CALL_FAILED, "The model Odd sent an answer that is not text."),
        (None, LLMErrorCode.EMPTY_REPLY, "The model sent an empty answer. Please ask again."),
        ("", LLMErrorCode.EMPTY_REPLY, "The model sent an empty answer. Please ask again."),
    ],
)
async def test_whatever_a_provider_of_ones_own_does_wrong_is_a_sentence(
    reply: object, code: LLMErrorCode, sentence: str
) -> None:
    with pytest.raises(LLMError) as caught:
        await llm(provider=Odd(reply)).prompt_conversation("Hello")
    assert (caught.value.code, str(caught.value.message)) == (code, sentence)


async def test_what_is_no_provider_is_refused_with_a_sentence() -> None:
    class Blocking:
        def chat(self, messages: Sequence[PromptMessage]) -> str:
            return "at once"

    with pytest.raises(TypeError, match="has to be a coroutine function"):
        await llm(provider=cast(Any, Blocking())).prompt_conversation("Hello")
    for wrong in (42, Odd):
        with pytest.raises(TypeError, match="is no provider"):
            await llm(provider=cast(Any, wrong)).prompt_conversation("Hello")


async def test_the_settings_choose_the_provider(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LLM_PROVIDER", "extractive")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-never-used")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    messages, _ = await llm().prompt_conversation("Hello")
    assert str(messages[-1])
