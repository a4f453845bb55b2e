"""The providers against a double that somebody else wrote: CopilotKit's aimock, where it is installed.

It is stricter in nothing and knows no citations, but its idea of the wire is not ours. To have it:
`npm install --prefix .venv @copilotkit/aimock@1.43.0` in the root of the repository.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.providers.anthropic.client import AnthropicChat
from bot.providers.openai.client import OpenAIChat
from domain.chat import PromptMessage
from domain.errors import LLMError, LLMErrorCode
from domain.tool_use import StopReason, ToolInvocation
from tests.bot.providers.talk import SEARCH, collected, passage, reply, result, streamed_text, user
from tests.doubles.ports import held_port

BIN = Path(__file__).parents[2] / ".venv" / "node_modules" / ".bin"
LLMOCK = shutil.which("llmock", path=str(BIN)) or shutil.which("llmock")
CALLS = [
    {"id": "call_a", "name": "search_book", "arguments": '{"query": "fan"}'},
    {"id": "call_b", "name": "search_book", "arguments": '{"query": "gloves"}'},
]
LONG = "Once upon a time there was a very long sentence that nobody ever heard the end of."
FIXTURES = [
    {
        "match": {"userMessage": "rabbit", "hasToolResult": False},
        "response": {"content": "Two things.", "toolCalls": CALLS},
    },
    {"match": {"userMessage": "rabbit", "hasToolResult": True}, "response": {"content": "It carried a fan."}},
    {"match": {"userMessage": "busy"}, "response": {"error": {"message": "Slow down.", "type": "x"}, "status": 429}},
    {"match": {"userMessage": "full"}, "response": {"error": {"message": "Overloaded.", "type": "x"}, "status": 529}},
    {"match": {"userMessage": "locked"}, "response": {"error": {"message": "Bad key.", "type": "x"}, "status": 401}},
    {"match": {"userMessage": "story"}, "response": {"content": LONG}},
    {"match": {"userMessage": "cut"}, "response": {"content": LONG}, "truncateAfterChunks": 2},
]

pytestmark = pytest.mark.skipif(LLMOCK is None, reason="aimock is not installed (see the head of this file)")


@pytest.fixture(scope="module")
def aimock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    fixtures = tmp_path_factory.mktemp("aimock") / "fixtures.json"
    fixtures.write_text(json.dumps({"fixtures": FIXTURES}), encoding="utf-8")
    assert LLMOCK
    with held_port() as port:
        command = [LLMOCK, "-h", "127.0.0.1", "-p", str(port), "-f", str(fixtures), "--strict"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout
            assert any("listening" in line for line in server.stdout)
            yield f"http://127.0.0.1:{port}"
            server.terminate()


@pytest.fixture(params=["anthropic", "openai"])
def chat(request: pytest.FixtureRequest, aimock: str) -> AnthropicChat | OpenAIChat:
    if request.param == "anthropic":
        return AnthropicChat(api_key="any", base_url=aimock, max_retries=0)
    return OpenAIChat(model="any", api_key="any", base_url=f"{aimock}/v1", max_retries=0)


async def test_calls_results_and_an_answer(chat: AnthropicChat | OpenAIChat) -> None:
    asked = [user("What did the rabbit carry?")]
    calls = await chat.chat_with_tools(asked, [SEARCH])
    assert calls.preamble == "Two things."
    assert calls.tool_invocations == (
        ToolInvocation("search_book", {"query": "fan"}, "call_a"),
        ToolInvocation("search_book", {"query": "gloves"}, "call_b"),
    )
    found = [result(call.tool_use_id, "", passage("It had a fan.")) for call in calls.tool_invocations]
    events, answer = await collected(chat.stream([*asked, reply(calls), *found], [SEARCH]))
    assert (answer.text, answer.stop_reason) == ("It carried a fan.", StopReason.END_TURN)
    assert streamed_text(events) == answer.text
    await chat.aclose()


async def test_a_long_talk_without_tools(chat: AnthropicChat | OpenAIChat) -> None:
    talk = [PromptMessage("system", "You tell stories.")]
    for number in range(30):
        talk += [user(f"Number {number}?"), PromptMessage("assistant", f"That was {number}.")]
    assert await chat.chat([*talk, user("A story, please.")]) == LONG
    await chat.aclose()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("busy", LLMErrorCode.RATE_LIMITED),
        ("full", LLMErrorCode.OVERLOADED),
        ("locked", LLMErrorCode.API_KEY_MISSING),
        ("cut", LLMErrorCode.CONNECTION_LOST),
    ],
)
async def test_failures(chat: AnthropicChat | OpenAIChat, words: str, code: LLMErrorCode) -> None:
    with pytest.raises(LLMError) as caught:
        await chat.chat([user(words)])
    assert caught.value.code is code
    await chat.aclose()
