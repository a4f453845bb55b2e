"""marginalia check: each line says ok, or what to do."""

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import discord
import pytest
from typer.testing import CliRunner

from bot.__main__ import app, main
from bot.cli.maintenance import line
from bot.client import checks
from bot.client.checks import Finding, check_model, check_settings, check_tool_servers, findings
from bot.mcp.tools import McpTools, open_mcp_tools
from bot.parsers.sandbox.pool import probe_confinement
from bot.private import NETWORK_VARIABLES
from bot.settings import Settings, load_settings
from cogs.permissions import NEEDED
from tests.doubles.discord_api import DiscordDouble, Permission
from tests.doubles.openai_api import OpenAIDouble
from tests.doubles.ports import held_port
from tests.doubles.script import Call, Failure, Reply, Stop, say

PROBED = cache(probe_confinement)


@pytest.fixture(autouse=True)
def probed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this machine confines a process with is the same in every test, and it takes a process to find out."""
    monkeypatch.setattr(checks, "probe_confinement", PROBED)


async def report(folder: Path, **settings: Any) -> dict[str, Finding]:
    chosen = Settings(_env_file=None, **{"data_dir": folder} | settings)  # type: ignore[call-arg]
    return {finding.subject: finding async for finding in findings(chosen)}


async def discord_report(double: DiscordDouble, folder: Path, **settings: Any) -> dict[str, Finding]:
    given = {"discord_token": double.token, "discord_api_url": double.api_url} | settings
    return await report(folder, **given)


def test_with_nothing_set_all_is_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    result = CliRunner().invoke(app, ["check"])
    assert result.exit_code == 0
    assert "terminal only" in result.output
    assert "!!" not in result.output


def test_a_setting_that_stops_a_command_at_its_beginning_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOG_LEVEL", "trace")
    monkeypatch.setattr(sys, "argv", ["marginalia", "health"])
    monkeypatch.setattr("gc.freeze", lambda: None)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith("A setting cannot be used: LOG_LEVEL must be")


def test_what_is_wrong_shows_in_the_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LLM_PROVIDER", "anthropic")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    result = CliRunner().invoke(app, ["check"])
    assert result.exit_code == 1
    assert "!!  Model: There is no key" in result.output


class _Echo(BaseHTTPRequestHandler):
    """A model's server that refuses everything, and repeats the key it was sent."""

    def do_GET(self) -> None:
        said = f"Nobody knows {self.headers['Authorization'].removeprefix('Bearer ')} here."
        body = json.dumps({"error": {"message": said}}).encode()
        self.send_response(400)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""


@pytest.fixture
def echo() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Echo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


@pytest.mark.parametrize("key", ["correct-horse-battery", "open sesame, please"])
def test_a_key_that_a_server_repeats_is_not_shown(
    key: str, echo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.setenv("OPENAI_BASE_URL", echo)
    result = CliRunner().invoke(app, ["check"])
    assert "Nobody knows *** here." in result.output
    assert key not in result.output


async def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    occupied = tmp_path / "data"
    occupied.write_text("a file where the folder should be")
    found = await report(occupied, database_url="sqlite:///:memory:")
    assert not found["Data folder"].ok
    assert "Give the bot's user the right to, make room there, or set DATA_DIR" in found["Data folder"].sentence


async def test_a_database_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "marginalia.db").write_bytes(b"this is no database at all" * 100)
    found = await report(tmp_path)
    assert not found["Database"].ok


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"book_hosts": ("https://gutenberg.org",)}, "BOOK_HOSTS"),
        ({"shard_count": 4}, "SHARD_COUNT needs PostgreSQL"),
        ({"llm_model": "llama3"}, "OPENAI_BASE_URL"),
    ],
)
async def test_a_setting_with_which_the_bot_would_not_start(
    settings: dict[str, Any], word: str, tmp_path: Path
) -> None:
    found = await report(tmp_path, **settings)
    assert not found["Settings"].ok
    assert word in found["Settings"].sentence


async def test_a_store_is_written_to_and_left_as_it_was(tmp_path: Path) -> None:
    found = await report(tmp_path, books_url=f"file://{tmp_path}/store")
    assert found["Store of books"].ok
    assert list((tmp_path / "store").iterdir()) == []


@pytest.mark.parametrize("url", ["books", "s3://", "s3://club/books"])
async def test_a_store_that_is_none_or_refuses(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "tea")
    with held_port() as port:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        found = await report(tmp_path, books_url=url)
    assert not found["Store of books"].ok
    assert "BOOKS_URL" in found["Store of books"].sentence


async def test_a_model_server_that_does_not_run_is_named(tmp_path: Path) -> None:
    with held_port() as port:
        found = await report(tmp_path, openai_base_url=f"http://me:secret@127.0.0.1:{port}/v1", llm_model="qwen3")
    assert not found["Model"].ok
    assert f"127.0.0.1:{port}/v1, which OPENAI_BASE_URL names" in found["Model"].sentence
    assert "secret" not in found["Model"].sentence


async def test_each_tool_server_is_reached_or_it_is_said_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[McpTools] = []

    @asynccontextmanager
    async def noted(*given: Any, **options: Any) -> AsyncIterator[McpTools]:
        async with open_mcp_tools(*given, **options) as tools:
            opened.append(tools)
            yield tools

    monkeypatch.setattr("bot.client.checks.open_mcp_tools", noted)
    monkeypatch.setattr("bot.client.checks.SERVER_WAIT_S", 0.1)
    root = Path(__file__).parents[3]
    double = f"PYTHONPATH={root} {sys.executable} -m tests.doubles.mcp_server"
    servers = f"good[echo,add,away]={double}; gone=/no/such/program; mute=sleep 1000"
    chosen = Settings(_env_file=None, mcp_servers=servers)  # type: ignore[call-arg]
    found = []
    async for finding in check_tool_servers(chosen):
        found.append(finding)
        if "waiting for" in finding.sentence:
            assert "mute" in finding.sentence
            assert "for up to 30 seconds" in finding.sentence
            while [each.name for each in opened[0].status() if each.starting] != ["mute"]:
                await asyncio.sleep(0.01)
            monkeypatch.setattr("bot.client.checks.SERVER_PATIENCE_S", 0.2)
    told = {each.subject: each for each in found[1:]}
    assert told["Tool server good"].sentence == (
        "reached, 2 tools: echo, add. Not used as they are: away (the server has no such tool)"
    )
    assert told["Tool server gone"].sentence == (
        "It cannot be reached: /no/such/program: No such file or directory. Check its entry in MCP_SERVERS."
    )
    assert "it has not answered within" in told["Tool server mute"].sentence
    assert [each.ok for each in found[1:]] == [True, False, False]


@pytest.mark.parametrize(
    ("reply", "is_ok", "said"),
    [
        (say(Call("ready", {})), True, "It calls tools."),
        (say("I'm ready."), True, "it wrote text"),
        (say(""), False, "It sent an empty reply."),
        (say(stop=Stop.LENGTH), False, "raise LLM_MAX_TOKENS"),
        (
            Failure(400, message="Quantum flux is off, see sk-double-123456"),
            False,
            "Reported: Quantum flux is off, see …",
        ),
        (Failure(404, "model_not_found"), False, "has no model called double-1"),
    ],
)
async def test_the_model_is_asked_to_call_a_tool(reply: Reply | Failure, is_ok: bool, said: str) -> None:
    found = await checked_model(reply, reply, reply)
    assert (found.ok, said in found.sentence) == (is_ok, True), found.sentence


async def test_a_model_without_tools_is_asked_to_say_something() -> None:
    no_tools, broken = Failure(400, message="double-1 does not support tools"), Failure(400, message="No template.")
    assert "It gets passages with each question instead." in (await checked_model(no_tools)).sentence
    assert (await checked_model(no_tools, broken, broken)).sentence.endswith("Reported: No template.")
    assert not (await checked_model(broken, broken, llm_tools="off")).ok
    assert (await checked_model(say("Ready."), llm_tools="off")).ok


async def test_a_misspelt_setting_is_told_with_the_one_that_is_meant_and_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be another program's."""
    monkeypatch.chdir(tmp_path)
    written = "LLM_MAX_TOKEN=500\nLLM_MAX_TOKENS=\nFILES_TOKEN=x\nOPENAI_API_KEY=x\nOPENAI_API_KEY_OLD=x\n"
    Path(".env").write_text(written, encoding="utf-8")
    monkeypatch.setenv("DISCORD_GUILD_ID", "12")
    monkeypatch.setenv("OLLAMA_MODELS", "/models")
    found = check_settings(load_settings())
    assert found.ok
    assert found.sentence.endswith(
        " (DISCORD_GUILD_ID is ignored: is DISCORD_GUILD_IDS meant?)"
        " (LLM_MAX_TOKEN is ignored: is LLM_MAX_TOKENS meant?)"
    )


@pytest.mark.parametrize(
    ("variables", "is_named"),
    [
        ({"HTTP_PROXY": "http://127.0.0.1:{port}"}, True),
        ({"all_proxy": "127.0.0.1:{port}"}, True),
        ({"HTTPS_PROXY": "http://127.0.0.1:{port}"}, False),
        ({"HTTP_PROXY": "http://127.0.0.1:{port}", "NO_PROXY": "127.0.0.1"}, False),
    ],
)
async def test_a_proxy_that_is_gone_is_named(
    variables: dict[str, str], is_named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_proxies(monkeypatch)
    with held_port() as port:
        for name, value in variables.items():
            monkeypatch.setenv(name, value.format(port=port))
        found = await checked_model(say("Ready."), say("Ready."))
    assert found.ok is not is_named
    proxy = next(iter(variables)).upper()
    assert (f"through the proxy that {proxy} names, unless NO_PROXY leaves its host out." in found.sentence) is is_named


async def test_a_proxy_is_named_by_the_address_that_no_setting_names(monkeypatch: pytest.MonkeyPatch) -> None:
    without_proxies(monkeypatch)
    monkeypatch.setenv("NO_PROXY", "anthropic.com,.example")
    with held_port() as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
        found = await checked_model(openai_base_url="")
    assert "the proxy that HTTPS_PROXY names" in found.sentence


@pytest.mark.parametrize(
    ("proxy", "reason"),
    [
        ("socks://me:secret@127.0.0.1:1080", "Unknown scheme"),  # as a desktop's settings write it
        ("http://me:secret#@127.0.0.1:8080", "InvalidURL"),
    ],
)
async def test_a_proxy_that_no_client_takes_is_a_fault_of_the_environment(
    proxy: str, reason: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    without_proxies(monkeypatch)
    monkeypatch.setenv("ALL_PROXY", proxy)
    found = await checked_model()
    assert found.sentence.startswith("The model's server cannot be reached from here. Whoever runs this program has to")
    assert "check ALL_PROXY" in found.sentence
    assert reason in found.sentence
    assert "check ALL_PROXY" in caplog.text
    assert "secret" not in found.sentence + caplog.text


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of how the SDKs hand the password to aiohttp
async def test_what_a_proxy_says_is_passed_on_without_its_password(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def want_a_password(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    without_proxies(monkeypatch)
    async with await asyncio.start_server(want_a_password, "127.0.0.1") as server:
        host, port = server.sockets[0].getsockname()
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:secret@{host}:{port}")
        found = await checked_model(openai_base_url="")
    assert "407 Proxy Authentication Required" in found.sentence
    assert "407 Proxy Authentication Required" in caplog.text
    assert "secret" not in found.sentence + caplog.text


def without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NETWORK_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


async def checked_model(*replies: Reply | Failure, **changes: Any) -> Finding:
    """What is found of a model that gives these replies."""
    async with OpenAIDouble() as api:
        api.script(*replies)
        address = {"openai_api_key": api.api_key, "openai_base_url": api.base_url, "llm_model": api.model}
        settings: dict[str, Any] = {"llm_provider": "openai", **address, **changes}
        return await check_model(Settings(_env_file=None, **settings))  # type: ignore[call-arg]


async def test_discord_with_everything_in_place(double: DiscordDouble, tmp_path: Path) -> None:
    double.world.grant(double.guild, double.bot, Permission.MANAGE_THREADS)
    found = await discord_report(double, tmp_path)
    assert all(finding.ok for finding in found.values()), found
    assert found["Discord token"].sentence == "logs in as marginalia"
    assert "Message Content is on" in found["Discord intents"].sentence
    assert found["Server Bookworms"].ok


async def test_a_wrong_token(double: DiscordDouble, tmp_path: Path) -> None:
    found = await discord_report(double, tmp_path, discord_token="wrong")
    assert not found["Discord token"].ok
    assert "Bot → Reset Token" in found["Discord token"].sentence
    assert "Discord intents" not in found


async def test_discord_out_of_reach(double: DiscordDouble, tmp_path: Path) -> None:
    double.drop("GET /users/{user}", times=9)
    found = await discord_report(double, tmp_path)
    assert not found["Discord token"].ok
    assert "DISCORD_API_URL" in found["Discord token"].sentence


async def test_discord_is_reached_without_a_proxy(
    double: DiscordDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    double.drop("GET /users/{user}", times=9)
    found = await discord_report(double, tmp_path)
    assert found["Discord token"].sentence.endswith("The bot uses no proxy for Discord.")


async def test_the_content_intent_that_is_off_is_said_and_no_fault(double: DiscordDouble, tmp_path: Path) -> None:
    double.gateway.privileged = 0
    found = await discord_report(double, tmp_path)
    assert found["Discord intents"].ok
    assert "Privileged Gateway Intents → Message Content Intent" in found["Discord intents"].sentence


async def test_missing_permissions_are_named(double: DiscordDouble, tmp_path: Path) -> None:
    found = await discord_report(double, tmp_path)
    assert not found["Server Bookworms"].ok
    assert "lacks Manage Threads" in found["Server Bookworms"].sentence
    assert "Server Settings → Roles" in found["Server Bookworms"].sentence


async def test_a_guild_that_is_named_and_not_joined(double: DiscordDouble, tmp_path: Path) -> None:
    found = await discord_report(double, tmp_path, discord_guild_ids=(12345,))
    assert not found["Discord servers"].ok
    assert "DISCORD_GUILD_IDS" in found["Discord servers"].sentence


async def test_a_bot_that_is_nowhere_is_told_how_to_be_invited(double: DiscordDouble, tmp_path: Path) -> None:
    double.guild.members.pop(double.bot.id)
    found = await discord_report(double, tmp_path)
    assert not found["Discord servers"].ok
    assert f"client_id={double.bot.id}" in found["Discord servers"].sentence
    assert "applications.commands" in found["Discord servers"].sentence


async def test_both_invitations_are_told(double: DiscordDouble, tmp_path: Path) -> None:
    found = await discord_report(double, tmp_path)
    servers, people = found["Invite for servers"].sentence, found["Link for people"].sentence
    query = dict(parse_qsl(urlsplit(servers).query))
    assert query["client_id"] == str(double.bot.id)
    assert query["scope"].split() == ["bot", "applications.commands"]
    assert discord.Permissions(int(query["permissions"])) == NEEDED
    assert query["integration_type"] == "0"
    query = dict(parse_qsl(urlsplit(people.split()[0]).query))
    assert (query["scope"], query["integration_type"]) == ("applications.commands", "1")
    assert "User Install" in people


def test_a_line_begins_with_the_verdict() -> None:
    assert line(Finding("Model", "is available")).plain == "ok  Model: is available"
    assert line(Finding("Model", "is gone", ok=False)).plain == "!!  Model: is gone"
