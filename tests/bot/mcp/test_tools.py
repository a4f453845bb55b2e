"""Tools of MCP servers: listed, called, timed out; one that dies is an error for a call and comes back by itself."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from jsonschema import Draft202012Validator
from mcp.types import Tool
from mcp_types.version import LATEST_MODERN_VERSION

from bot.mcp import client
from bot.mcp import tools as tools_module
from bot.mcp.addresses import MOST_TOOLS, ServerAddress, parse_servers
from bot.mcp.tools import LONGEST_RESULT, McpTools, open_mcp_tools
from bot.mcp.transports import _LimitedStream
from bot.providers.anthropic.messages import Request
from bot.providers.openai.client import build_request
from domain.chat import PromptMessage
from domain.event import Approval
from domain.tool_use import Media, MediaKind, ToolDefinition, ToolInvocation, ToolResult
from domain.tools.registry import ToolContext, ToolRegistry, as_result
from tests.doubles.mcp_http import McpHttpDouble
from tests.doubles.mcp_server import PICTURE, SOUND, TOOLS

ROOT = Path(__file__).parent.parent.parent.parent
LONG = 60
"""Seconds for a call that is expected to be answered."""

PROGRAM = (sys.executable, "-m", "tests.doubles.mcp_server")


def program(name: str = "double", *command: str, **environment: str) -> ServerAddress:
    """The double as a program; it is found by its PYTHONPATH, wherever the tests run."""
    variables = {"PYTHONPATH": str(ROOT), **environment}
    return ServerAddress(name, command=command or PROGRAM, environment=tuple(variables.items()))


async def allow(tool: str, arguments: dict[str, Any]) -> Approval:
    return Approval.ALLOWED


async def call(tools: McpTools, name: str, **arguments: Any) -> ToolResult:
    """Call a tool for a reader who allows everything."""
    registry = ToolRegistry()
    tools.register_in(registry, ToolContext(approve=allow))
    return as_result(await registry.build_dispatcher(30)(name, arguments))


def error_of(result: ToolResult) -> str:
    assert result.is_error
    return str(json.loads(result.content)["error"])


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


CONVERSATION = [
    PromptMessage("user", "Show me."),
    PromptMessage("assistant", "", tool_invocations=[ToolInvocation("show", {}, "t1")]),
    PromptMessage(
        "tool_result",
        "[image]",
        tool_use_id="t1",
        media=(Media(MediaKind.IMAGE, "png", PICTURE), Media(MediaKind.AUDIO, "wav", SOUND)),
    ),
]

SAYS_ITS_PID = """
import os, pathlib, sys
from tests.doubles.mcp_server import serve_stdio
written = pathlib.Path(sys.argv[1] + ".new")
written.write_text(str(os.getpid()))
written.replace(sys.argv[1])  # whoever reads it sees a whole number
serve_stdio()
"""

STUBBORN = 'trap "" TERM; sleep 1000 & echo $! > "$1"; wait'

RUNS_ONCE = """
import pathlib, sys
from tests.doubles.mcp_server import serve_stdio
pathlib.Path(sys.argv[1]).touch(exist_ok=False)
serve_stdio()
"""


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call waits for a server that starts again, however slow the machine is."""
    monkeypatch.setattr(client, "PATIENCE_S", LONG)


@asynccontextmanager
async def connected(addresses: Sequence[ServerAddress], **options: Any) -> AsyncIterator[McpTools]:
    """The tools, after the first attempt to reach each server."""
    async with open_mcp_tools(addresses, **options) as tools:
        await tools.tried()
        yield tools


@pytest.fixture
def pid_of_mortal(tmp_path: Path) -> Iterator[Callable[[], int]]:
    """Tells the process id of the server `mortal`; the process ends with the test, whatever happens."""
    yield lambda: int((tmp_path / "pid").read_text())
    with contextlib.suppress(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


@pytest.fixture
def mortal(tmp_path: Path) -> ServerAddress:
    return program("mortal", sys.executable, "-c", SAYS_ITS_PID, str(tmp_path / "pid"))


@pytest.fixture
async def stdio() -> AsyncIterator[McpTools]:
    async with connected([program()], timeout=LONG) as tools:
        yield tools


class TestListing:
    async def test_every_tool_is_registered_under_the_name_of_its_server(self, stdio: McpTools) -> None:
        registry = ToolRegistry()
        stdio.register_in(registry)
        definitions = {definition.name: definition for definition in registry.get_definitions()}
        assert len(definitions) == len(TOOLS), "all pages of the list were read"
        assert definitions["double_echo"] == ToolDefinition("double_echo", "Say it again.", TOOLS[0]["inputSchema"])
        assert definitions["double_add"].description == "Tool: add"
        assert definitions["double_fail"].parameters == {"type": "object", "properties": {}}
        assert "double_name_with_odd_characters" in definitions

    async def test_names_that_are_taken_get_a_number(self, stdio: McpTools) -> None:
        registry = ToolRegistry()
        stdio.register_in(registry)
        stdio.register_in(registry)
        names = [definition.name for definition in registry.get_definitions()]
        assert "double_echo" in names
        assert "double_echo_2" in names
        assert len(set(names)) == 2 * len(TOOLS)

    async def test_no_servers_are_no_tools(self) -> None:
        async with connected([]) as tools:
            registry = ToolRegistry()
            tools.register_in(registry)
        assert len(registry) == 0


class TestCalling:
    @pytest.mark.parametrize(
        ("tool", "arguments", "content", "failed"),
        [
            ("echo", {"text": "naïve"}, "naïve", False),
            ("echo", {"text": '{"error": "as text"}'}, '{"error": "as text"}', False),
            ("add", {"a": 1, "b": 2}, "3", False),
            ("fail", {}, "it failed", True),
            ("blank", {}, "The tool returned nothing.", False),
            ("picture", {}, "[image, which cannot be shown here]", False),
            ("count", {}, '{"total": 3}', False),
            ("attach", {}, "a note\n\n[another: note://2]", False),
            ("name_with_odd_characters", {}, "called name.with/odd characters", False),
        ],
    )
    async def test_results_reach_the_model_as_text(
        self, stdio: McpTools, tool: str, arguments: dict[str, Any], content: str, failed: bool
    ) -> None:
        result = await call(stdio, f"double_{tool}", **arguments)
        assert (result.content, result.is_error) == (content, failed)

    async def test_a_missing_argument_is_said_before_anything_is_sent(self, stdio: McpTools) -> None:
        assert error_of(await call(stdio, "double_add", a=1)) == "Missing required argument: b"

    async def test_a_result_without_end_is_cut(self, stdio: McpTools) -> None:
        result = await call(stdio, "double_echo", text="x" * (LONGEST_RESULT + 1000))
        assert len(result.content) < LONGEST_RESULT + 100
        assert result.content.endswith("[cut: 1,000 characters more]")

    async def test_many_calls_may_run_at_once(self, stdio: McpTools) -> None:
        results = await asyncio.gather(*(call(stdio, "double_echo", text=str(n)) for n in range(20)))
        assert [result.content for result in results] == [str(n) for n in range(20)]

    async def test_the_server_sees_the_variables_it_was_given_and_no_keys(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
        async with connected([program(TOKEN="for the server")]) as tools:
            assert (await call(tools, "double_env", text="TOKEN")).content == "for the server"
            assert (await call(tools, "double_env", text="ANTHROPIC_API_KEY")).content == "The tool returned nothing."

    async def test_a_slow_call_times_out_and_the_line_stays_up(self) -> None:
        async with connected([program()], timeout=1.0) as tools:
            assert error_of(await call(tools, "double_sleep", seconds=1.05)) == "double_sleep timed out after 1 s"
            assert not tools.missing()
            assert (await call(tools, "double_echo", text="still here")).content == "still here"


class TestServersThatDie:
    async def test_a_server_that_dies_in_a_call_costs_that_call_and_comes_back(self, stdio: McpTools) -> None:
        assert error_of(await call(stdio, "double_die")) == (
            "The tool server double is not available at the moment: the line broke during the call"
        )
        assert (await call(stdio, "double_echo", text="back")).content == "back"

    async def test_a_server_that_dies_between_calls_is_back_before_the_next(
        self, mortal: ServerAddress, pid_of_mortal: Callable[[], int]
    ) -> None:
        async with connected([mortal], timeout=LONG) as tools:
            first = pid_of_mortal()
            os.kill(first, signal.SIGKILL)
            await until(lambda: "mortal" in tools.missing())
            assert (await call(tools, "mortal_echo", text="back")).content == "back"
            assert pid_of_mortal() != first
            assert not tools.missing()

    async def test_the_tools_of_a_server_that_is_away_stay_registered_and_say_so(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(client, "PATIENCE_S", 0.3)
        address = program("once", sys.executable, "-c", RUNS_ONCE, str(tmp_path / "ran"))
        async with connected([address], timeout=LONG) as tools:
            assert error_of(await call(tools, "once_die"))
            error = error_of(await call(tools, "once_echo", text="x"))
            assert error.startswith("The tool server once is not available at the moment: ")
            assert "once" in tools.missing()

    @pytest.mark.parametrize(
        "address",
        [
            ServerAddress("gone", command=("/no/such/program",)),
            ServerAddress("gone", command=(sys.executable, "-c", "raise SystemExit(1)")),
            ServerAddress("gone", command=(sys.executable, "-c", "print('hello, I am no server')")),
            ServerAddress("gone", url="http://127.0.0.1:1/mcp"),
            ServerAddress("gone", url="nonsense://"),
        ],
        ids=["no program", "ends at once", "talks nonsense", "nobody listens", "no address"],
    )
    async def test_a_server_that_cannot_be_reached_keeps_nobody_waiting(self, address: ServerAddress) -> None:
        async with connected([address, program()], timeout=LONG) as tools:
            assert tools.missing()["gone"]
            assert list(tools.missing()) == ["gone"]
            assert (await call(tools, "double_echo", text="the other works")).content == "the other works"

    async def test_the_status_of_a_refusal_is_told(self) -> None:
        async with McpHttpDouble() as server:
            server.needed = {"Authorization": "Bearer right"}
            address = ServerAddress("far", url=server.base_url, headers=(("Authorization", "Bearer wrong"),))
            async with connected([address]) as tools:
                assert tools.missing()["far"].endswith("(401 Unauthorized)")
                server.needed = {}
                await until(lambda: not tools.missing())
                server.down = True
                assert "(503 Service Unavailable)" in error_of(await call(tools, "far_echo", text="x"))

    async def test_a_server_that_never_answers_is_given_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(client, "CONNECT_S", 0.3)
        address = ServerAddress("mute", command=(sys.executable, "-c", "import sys; sys.stdin.read()"))
        async with connected([address]) as tools:
            assert "mute" in tools.missing()

    async def test_closing_ends_the_servers_program(
        self, mortal: ServerAddress, pid_of_mortal: Callable[[], int]
    ) -> None:
        async with connected([mortal]):
            pid = pid_of_mortal()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)

    async def test_closing_leaves_nothing_behind_of_a_program_that_does_not_want_to_end(self, tmp_path: Path) -> None:
        stubborn = ServerAddress("stubborn", command=("sh", "-c", STUBBORN, "sh", str(tmp_path / "pid")))
        async with open_mcp_tools([stubborn]):
            await until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("\n"))
        await until(lambda: not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}/exe").exists())

    async def test_what_a_server_writes_on_standard_error_goes_to_the_log(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level("INFO", logger="bot.mcp")
        async with connected([program()]) as tools:
            await call(tools, "double_echo", text="x")
            await until(lambda: "tool server double says: this double talks on standard error, too" in caplog.messages)


class TestHttp:
    @pytest.fixture
    async def server(self) -> AsyncIterator[McpHttpDouble]:
        async with McpHttpDouble() as double:
            yield double

    @pytest.fixture
    async def http(self, server: McpHttpDouble) -> AsyncIterator[McpTools]:
        async with connected([ServerAddress("web", url=server.base_url)], timeout=LONG) as tools:
            yield tools

    async def test_calls_go_over_http(self, http: McpTools) -> None:
        assert (await call(http, "web_add", a=2, b=3)).content == "5"

    async def test_a_server_that_was_restarted_is_asked_again(self, http: McpTools, server: McpHttpDouble) -> None:
        server.restart()
        assert (await call(http, "web_echo", text="new session")).content == "new session"
        assert server.methods.count("initialize") == 2

    async def test_a_server_that_forgets_at_once_is_not_asked_for_ever(
        self, http: McpTools, server: McpHttpDouble
    ) -> None:
        server.forgetful = True
        assert "it does not keep its sessions" in error_of(await call(http, "web_echo", text="x"))
        assert server.methods.count("tools/call") == 2

    async def test_a_server_that_is_down_is_an_error_until_it_is_up(
        self, http: McpTools, server: McpHttpDouble
    ) -> None:
        server.down = True
        assert error_of(await call(http, "web_echo", text="x"))
        server.down = False
        assert (await call(http, "web_echo", text="x")).content == "x"

    async def test_hanging_up_while_it_is_being_called_again_takes_no_time(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for moment in range(10):
            monkeypatch.setattr(client, "PATIENCE_S", moment / 100)
            async with McpHttpDouble() as server:
                tools = McpTools([ServerAddress("web", url=server.base_url)], timeout=LONG)
                await tools.tried()
            for _ in range(2):  # the first call notices that the line is dead, the second has it made anew
                assert error_of(await call(tools, "web_echo", text="x"))
            async with asyncio.timeout(30):
                await tools.close()

    async def test_a_server_that_has_gone_is_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(client, "PATIENCE_S", 0.3)
        async with McpHttpDouble() as server:
            tools = McpTools([ServerAddress("web", url=server.base_url)], timeout=LONG)
            await tools.tried()
        for _ in range(2):
            assert error_of(await call(tools, "web_echo", text="x"))
        await tools.close()

    async def test_a_header_goes_along_with_every_request(self, server: McpHttpDouble) -> None:
        server.needed = {"X-Key": "s3cret"}
        (address,) = parse_servers(f"web={server.base_url} header='X-Key: ${{KEY}}'", {"KEY": "s3cret"})
        assert "s3cret" not in repr(address)
        async with connected([address], timeout=LONG) as tools:
            assert (await call(tools, "web_echo", text="x")).content == "x"

    async def test_without_the_header_it_is_missing_and_says_so(self, server: McpHttpDouble) -> None:
        server.needed = {"X-Key": "s3cret"}
        async with connected([ServerAddress("web", url=server.base_url)], timeout=LONG) as tools:
            assert list(tools.missing()) == ["web"]

    @pytest.mark.parametrize("code", [-32600, -32000, -32001])
    async def test_an_error_that_the_server_reports_is_no_lost_session(
        self, http: McpTools, server: McpHttpDouble, code: int
    ) -> None:
        assert error_of(await call(http, "web_refuse", code=code)) == "no, the server says"
        assert server.methods.count("initialize") == 1
        assert server.methods.count("tools/call") == 1

    async def test_another_session_that_is_lost_meanwhile_carries_nothing_out_twice(
        self, http: McpTools, server: McpHttpDouble
    ) -> None:
        before = server.methods.count("tools/call")
        server.restart()
        results = await asyncio.gather(*(call(http, "web_echo", text=str(n)) for n in range(5)))
        assert [result.content for result in results] == [str(n) for n in range(5)]
        carried_out = server.methods.count("tools/call") - before
        assert carried_out <= 10, "each at most once refused with 404, and once carried out"


class TestMedia:
    async def test_a_picture_and_a_sound_come_along_as_what_they_are(self, stdio: McpTools) -> None:
        result = await call(stdio, "double_show")
        assert result.content == "[image]\n\n[audio]"
        assert result.media == (Media(MediaKind.IMAGE, "png", PICTURE), Media(MediaKind.AUDIO, "wav", SOUND))

    async def test_what_is_no_picture_is_not_sent_on(self, stdio: McpTools) -> None:
        assert (await call(stdio, "double_picture")).media == ()

    def test_claude_is_shown_the_picture(self) -> None:
        body = Request("claude-sonnet-5-5", CONVERSATION, ()).body(max_tokens=10)
        (result,) = body["messages"][-1]["content"]
        source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
        assert result["content"] == [{"type": "text", "text": "[image]"}, {"type": "image", "source": source}]

    @pytest.mark.parametrize(
        ("model", "shown"), [("gpt-5.5", ["image_url"]), ("gpt-4o-audio-preview", ["input_audio"]), ("llama3", [])]
    )
    def test_of_other_models_those_are_shown_it_that_take_it(self, model: str, shown: list[str]) -> None:
        messages = build_request(model, CONVERSATION, (), call_tools=True)["messages"]
        extra = [part["type"] for message in messages[3:] for part in message["content"] if part["type"] != "text"]
        assert [message["role"] for message in messages[:3]] == ["user", "assistant", "tool"]
        assert extra == shown


class TestErrorsOfServers:
    @pytest.mark.parametrize("code", [-32600, -32000, -32603])
    async def test_what_a_server_reports_is_its_sentence_and_restarts_nothing(
        self, mortal: ServerAddress, pid_of_mortal: Callable[[], int], code: int
    ) -> None:
        async with connected([mortal], timeout=LONG) as tools:
            first = pid_of_mortal()
            assert error_of(await call(tools, "mortal_refuse", code=code)) == "no, the server says"
            assert (await call(tools, "mortal_calls")).content == "2"
            assert pid_of_mortal() == first

    async def test_an_error_without_a_word_is_a_sentence_all_the_same(self, stdio: McpTools) -> None:
        error = error_of(await call(stdio, "double_refuse", code=-1, sentence=" "))
        assert error == "The server reports the error -1 and does not explain it."

    async def test_half_a_character_breaks_no_connection(
        self, tmp_path: Path, pid_of_mortal: Callable[[], int]
    ) -> None:
        half = program("mortal", sys.executable, "-c", SAYS_ITS_PID, str(tmp_path / "pid"), HALF="cut here \udce2")
        async with connected([half], timeout=LONG) as tools:
            first = pid_of_mortal()
            assert (await call(tools, "mortal_echo", text="half \ud83d")).content == "half \ufffd"
            assert (await call(tools, "mortal_env", text="HALF")).content == "cut here \ufffd"
            assert pid_of_mortal() == first

    async def test_a_message_without_end_is_not_read_to_the_end(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("bot.mcp.addresses.LONGEST_LINE", 100_000)
        monkeypatch.setattr("bot.mcp.transports.LONGEST_LINE", 100_000)
        async with McpHttpDouble() as server:
            web = ServerAddress("web", url=server.base_url)
            async with connected([program(), web], timeout=LONG) as tools:
                for name in ("double", "web"):
                    assert "the line broke" in error_of(await call(tools, f"{name}_echo", text="x" * 200_000))
                    assert (await call(tools, f"{name}_echo", text="back")).content == "back"

    async def test_a_message_of_too_many_parts_is_not_taken_in(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("bot.mcp.addresses.MOST_PARTS", 2_000)
        async with McpHttpDouble() as server:
            web = ServerAddress("web", url=server.base_url)
            async with connected([program(), web], timeout=LONG) as tools:
                for name in ("double", "web"):
                    assert "the line broke" in error_of(await call(tools, f"{name}_echo", text="," * 3_000))
                    quoted = await call(tools, f"{name}_echo", text='"' * 3_000)
                    assert quoted.content == '"' * 3_000

    @pytest.mark.parametrize("event", [(b"data: 0123456789\n", b"\n"), (b"data: 0123456789\r\n\r", b"\n")])
    async def test_events_are_counted_each_for_itself_however_they_are_cut(
        self, event: tuple[bytes, ...], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("bot.mcp.addresses.LONGEST_LINE", 100)
        sent = [*event * 20, b"data: " + b"x" * 100]
        received = []
        with pytest.raises(httpx2.ReadError, match="more than 100 bytes"):
            async for chunk in _LimitedStream(_Pieces(sent), has_events=True):
                received.append(chunk)
        assert received == sent[:-1]

    async def test_progress_gives_a_call_its_time_again(self) -> None:
        async with connected([program()], timeout=2.0) as tools:
            assert (await call(tools, "double_work", steps=4, seconds=0.6)).content == "worked"

    async def test_a_server_that_hangs_twice_is_started_anew(
        self, mortal: ServerAddress, pid_of_mortal: Callable[[], int]
    ) -> None:
        async with connected([mortal], timeout=1.0) as tools:
            first = pid_of_mortal()
            for _ in range(2):
                assert "timed out" in error_of(await call(tools, "mortal_sleep", seconds=600))
            await until(lambda: pid_of_mortal() != first and not tools.missing())
            assert (await call(tools, "mortal_echo", text="back")).content == "back"


class _Pieces(httpx2.AsyncByteStream):
    """A body that arrives in these pieces."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


STARTS_A_DEAF_PROGRAM = """
import asyncio, sys
from bot.mcp.addresses import ServerAddress, ServerProgram
DEAF = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
async def main():
    program = await ServerProgram.start(ServerAddress("deaf", command=(sys.executable, "-c", DEAF)))
    print((await program.stdout.readline()).decode(), flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""


@pytest.mark.skipif(not shutil.which("setpriv"), reason="only util-linux can have a program killed with its parent")
async def test_a_program_that_does_not_read_ends_when_the_bot_is_killed() -> None:
    bot = await asyncio.create_subprocess_exec(
        sys.executable, "-c", STARTS_A_DEAF_PROGRAM, stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )
    assert bot.stdout
    stat = Path("/proc", (await bot.stdout.readline()).decode().strip(), "stat")
    assert stat.exists()
    bot.kill()
    await bot.wait()
    await until(lambda: not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z")


class TestLists:
    async def test_a_tool_that_is_learned_joins(self, stdio: McpTools) -> None:
        assert (await call(stdio, "double_learn")).content == "learned it"
        await until(lambda: "learned" in stdio.status()[0].tools)
        assert (await call(stdio, "double_learned")).content == "called learned"

    async def test_only_the_chosen_tools_are_used(self) -> None:
        address = replace(program(), tools=("echo", "no_such"))
        async with connected([address], timeout=LONG) as tools:
            (status,) = tools.status()
        assert status.tools == ("echo",)
        assert status.left_out == {"no_such": "the server has no such tool"}

    async def test_what_cannot_be_used_is_left_out_by_name_and_the_others_stay(self) -> None:
        odd = [
            {"name": "no_schema"},
            {"name": "list", "inputSchema": []},
            {"name": "text", "inputSchema": {"type": "string"}},
            {"name": "broken", "inputSchema": {"type": "object", "properties": {"a": {"type": 7}}}},
            {"name": "either", "inputSchema": {"type": "object", "oneOf": [{}]}},
            {"name": "spaced", "inputSchema": {"type": "object", "properties": {"a b": {}}}},
            {"name": "far", "inputSchema": {"type": "object", "properties": {"a": {"$ref": "http://x/y"}}}},
            {"name": "huge", "inputSchema": {"type": "object", "properties": {"a": {"description": "x" * 20_000}}}},
            {"name": "echo", "inputSchema": {"type": "object"}},
            {"inputSchema": {"type": "object"}},
            "nonsense",
            {"name": "no_type", "inputSchema": {"properties": {}}, "outputSchema": 7, "annotations": "x"},
            {"name": "wordy", "description": "x" * 9_000, "inputSchema": {"type": "object"}},
        ]
        async with connected([program(ODD_TOOLS=json.dumps(odd))], timeout=LONG) as tools:
            (status,) = tools.status()
            registry = ToolRegistry()
            tools.register_in(registry)
            wordy = next(each for each in registry.get_definitions() if each.name == "double_wordy")
        assert set(status.tools) == {each["name"] for each in TOOLS} | {"no_type", "wordy"}
        assert {"no_schema", "list", "text", "broken", "either", "spaced", "far", "huge", "echo"} < set(status.left_out)
        assert len(wordy.description) == 8_000

    async def test_a_result_is_not_checked_against_its_schema_which_might_take_forever(self) -> None:
        endless = {"type": "object", "required": ["total"], "properties": {"total": {"pattern": "^(a+)+$"}}}
        odd = [{"name": "promise", "inputSchema": {"type": "object"}, "outputSchema": endless}]
        async with connected([program(ODD_TOOLS=json.dumps(odd))], timeout=LONG) as tools:
            assert (await call(tools, "double_promise")).content == "called promise"

    async def test_a_server_that_repeats_its_key_does_not_show_it_to_anybody(self) -> None:
        address = replace(program(TOKEN="of-the-server"), secrets=("of-the-server",))
        async with connected([address], timeout=LONG) as tools:
            assert (await call(tools, "double_env", text="TOKEN")).content == "***"

    async def test_a_schema_that_is_too_long_is_not_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        read: list[object] = []
        monkeypatch.setattr(Draft202012Validator, "check_schema", read.append)
        huge = {"type": "object", "properties": {f"p{number}": {"type": "string"} for number in range(1_000)}}
        tool = Tool(name="huge", input_schema=huge)
        left_out: dict[str, str] = {}
        assert client.usable([tool], (), left_out) == ()
        assert "too long" in left_out["huge"] and not read

    async def test_there_is_room_for_a_hundred_tools_in_all(self) -> None:
        many = [{"name": f"tool_{number}", "inputSchema": {"type": "object"}} for number in range(95)]
        servers = [program("one", ODD_TOOLS=json.dumps(many)), program("two")]
        async with connected(servers, timeout=LONG) as tools:
            registry = ToolRegistry()
            tools.register_in(registry)
            one, two = tools.status()
        assert len(registry) == len(one.tools) + len(two.tools) == MOST_TOOLS
        assert set(one.left_out.values()) == {"there is room for 100 tools in all"}
        assert set(two.left_out) == {each["name"] for each in TOOLS}


class TestApproval:
    async def test_a_tool_that_only_reads_asks_nobody(self, stdio: McpTools) -> None:
        registry = ToolRegistry()
        stdio.register_in(registry)
        assert as_result(await registry.build_dispatcher()("double_look", {})).content == "called look"

    async def test_without_anybody_to_ask_nothing_is_carried_out(self, stdio: McpTools) -> None:
        registry = ToolRegistry()
        stdio.register_in(registry)
        result = as_result(await registry.build_dispatcher()("double_echo", {"text": "x"}))
        assert "nobody here who could allow it" in error_of(result)
        assert (await call(stdio, "double_calls")).content == "1", "this very call"

    @pytest.mark.parametrize("approval", [Approval.REFUSED, Approval.UNANSWERED])
    async def test_what_is_not_allowed_is_not_carried_out(self, stdio: McpTools, approval: Approval) -> None:
        asked: list[tuple[str, dict[str, Any]]] = []

        async def ask(tool: str, arguments: dict[str, Any]) -> Approval:
            asked.append((tool, arguments))
            return approval

        registry = ToolRegistry()
        stdio.register_in(registry, ToolContext(approve=ask))
        assert "was done" in error_of(as_result(await registry.build_dispatcher()("double_echo", {"text": "x"})))
        assert asked == [("double_echo", {"text": "x"})]
        assert (await call(stdio, "double_calls")).content == "1", "this very call"


class TestStart:
    async def test_a_server_that_never_answers_holds_nobody_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tools_module, "FIRST_TRY_S", 0.1)
        mute = ServerAddress("mute", command=(sys.executable, "-c", "import sys; sys.stdin.read()"))
        async with open_mcp_tools([mute, program()], timeout=LONG) as tools:
            assert list(tools.missing()) == ["mute", "double"]
            await tools.ready()
            assert tools.missing()["mute"] == "it is still starting"
            await until(lambda: list(tools.missing()) == ["mute"])
            assert (await call(tools, "double_echo", text="joined")).content == "joined"


ANSWERS_ODDLY = """
import json, sys

odd = {"null": {"result": None}, "text": {"result": ""}, "plain": {"error": "no key"}, "mute": {"error": {"code": 1}}}
hello = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
listed = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in odd]}
for message in map(json.loads, sys.stdin):
    print(json.dumps({"level": "info", "message": "a log in the wrong place"}))
    said = {"initialize": {"result": hello}, "tools/list": {"result": listed}}.get(message["method"])
    said = said or odd.get(message.get("params", {}).get("name"), {"error": {"code": -32601, "message": "no"}})
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}), flush=True)
"""


async def test_an_answer_of_another_form_is_an_error_at_once() -> None:
    async with open_mcp_tools([program("odd", sys.executable, "-c", ANSWERS_ODDLY)]) as tools:
        await tools.ready()
        said = [error_of(await call(tools, f"odd_{name}")) for name in ("null", "text", "plain", "mute")]
    nothing = "The server's answer has no result."
    assert said == [nothing, nothing, "no key", nothing]


KNOWS_ONE_HANDSHAKE = """
import json, sys

first, hello = sys.argv[1], json.loads(sys.argv[2])
listed = {"tools": [{"name": "go", "inputSchema": {"type": "object"}}]}
if first != "initialize":
    listed |= {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
sys.stdout.write("\\ufeff")
for message in map(json.loads, sys.stdin):
    if "id" not in message:
        continue
    said = {first: {"result": hello}, "tools/list": {"result": listed}}.get(message["method"])
    if not said and first == "initialize":
        sys.exit("I know no such message.")
    said = said or {"error": {"code": -32601, "message": "no"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}), flush=True)
"""
OLD_HELLO = {
    "protocolVersion": "2024-11-05",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "x", "version": "1"},
}
NEW_HELLO = {
    "resultType": "complete",
    "supportedVersions": [LATEST_MODERN_VERSION],
    "capabilities": {"tools": {}},
    "ttlMs": 0,
    "cacheScope": "private",
}


@pytest.mark.parametrize(("first", "hello"), [("initialize", OLD_HELLO), ("server/discover", NEW_HELLO)])
async def test_a_program_may_know_only_the_oldest_handshake_or_only_the_newest(
    first: str, hello: dict[str, Any]
) -> None:
    command = (sys.executable, "-c", KNOWS_ONE_HANDSHAKE, first, json.dumps(hello))
    async with open_mcp_tools([program("one", *command)]) as tools:
        await tools.ready()
        await until(lambda: not tools.missing())
        assert [server.tools for server in tools.status()] == [("go",)]
