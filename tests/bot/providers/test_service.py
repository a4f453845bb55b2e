import asyncio
import contextlib
import gzip
import re
import socket
import time
from collections.abc import Callable
from functools import cache

import discord
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.app import open_provider
from bot.providers.anthropic.client import AnthropicChat
from bot.providers.openai.client import OpenAIChat
from bot.providers.wordings import LONGEST_HEARD, STATUS_CODES, Service, sentence_in, shortened, without_echo
from bot.settings import Settings
from cogs.i18n import speech_for
from domain.chat import MessageRole, PromptKind, PromptMessage
from domain.errors import LLMError, LLMErrorCode
from tests.doubles.ports import held_port

TOO_LONG = "The reply is longer than 32,000,000 bytes"
SERVICE = Service("Anthropic", "claude-x", key_setting="ANTHROPIC_API_KEY", url_setting="ANTHROPIC_BASE_URL")
WITHOUT_STATUS = {
    *(LLMErrorCode.CONNECTION_LOST, LLMErrorCode.API_CALL_FAILED),
    *(LLMErrorCode.UNSUPPORTED_FEATURE, LLMErrorCode.NOT_LOADED),
}


@pytest.mark.parametrize("code", sorted(WITHOUT_STATUS.union(STATUS_CODES.values())))
def test_every_error_of_the_wire_has_a_sentence(code: LLMErrorCode) -> None:
    message = SERVICE.error(code).message
    assert message.endswith(".")
    assert "{" not in message


@pytest.mark.parametrize(
    ("seconds", "when"),
    [
        (None, "in a minute"),
        (0.2, "in a second"),
        (30.4, "in 31 seconds"),
        (240.0, "in 4 minutes"),
        (86400.0, "in 24 hours"),
    ],
)
def test_when_to_try_again(seconds: float | None, when: str) -> None:
    error = SERVICE.error(LLMErrorCode.RATE_LIMITED, seconds)
    assert error.message.endswith(f"Please try again {when}.")
    assert error.retry_after == seconds


def test_operators_learn_which_setting_to_look_at() -> None:
    assert "ANTHROPIC_API_KEY" in SERVICE.error(LLMErrorCode.API_KEY_MISSING).message
    unknown = SERVICE.error(LLMErrorCode.UNKNOWN_MODEL).message
    assert all(word in unknown for word in ("claude-x", "LLM_MODEL", "ANTHROPIC_BASE_URL"))


def test_a_key_loses_the_space_around_it_and_a_blank_one_is_refused() -> None:
    assert SERVICE.demand_key(" k\n") == "k"
    with pytest.raises(LLMError, match="ANTHROPIC_API_KEY"):
        SERVICE.demand_key(" \n")


PAGE = "<p>Please sign in.</p>" * 100_000
ASKED = PromptMessage("user", "Who killed the old lighthouse keeper in the storm?", note="(Agnes asks.)")


@pytest.mark.parametrize(
    ("said", "logged"),
    [
        ("rope scaling is not supported by this build", "rope scaling is not supported by this build"),
        ("cannot parse 'Who killed the old lighthouse keeper?'", "cannot parse 'Who … the …?'"),
        ("bad token in `lighthouse keeper`, see the manual", "bad token in `…`, see the manual"),
        ("messages.1.content: Agnes is not allowed", "messages.1.content: … is not allowed"),
    ],
)
def test_the_log_has_what_a_server_says_without_what_it_repeats(said: str, logged: str) -> None:
    assert without_echo(said, [ASKED]) == logged


SYSTEM = PromptMessage(
    "system",
    "You read the book with its readers. Call the tool search_book before you answer.",
    data={"title": "Marmalade Days", "author": "", "open": False},
)
FOUND = PromptMessage("tool_result", "Hobb put out the lamp at the top of the tower.", tool_use_id="a")
ASKED_WITH_PASSAGES = PromptMessage(
    "user",
    "Answer from these passages of the book: Hobb put out the lamp. The reader's message: And Zanzibar?",
    kind=PromptKind.PASSAGES,
    data={"message": "And Zanzibar?"},
)


@pytest.mark.parametrize(
    "said",
    [
        "The reader has no access to this tool, and no book of passages is open; answer by mail.",
        "The lamp of this server is out.",
    ],
)
def test_the_log_has_a_servers_words_though_instructions_or_passages_have_the_same(said: str) -> None:
    assert without_echo(said, [SYSTEM, ASKED, FOUND, ASKED_WITH_PASSAGES]) == said


@pytest.mark.parametrize(
    ("said", "logged"),
    [
        ("cannot parse 'Hobb put out the lamp at the'", "cannot parse '… out the … at the'"),
        ("unknown title Marmalade", "unknown title …"),
        ("near Zanzibar", "near …"),
    ],
)
def test_the_log_has_neither_a_run_of_the_book_nor_a_word_of_a_reader(said: str, logged: str) -> None:
    assert without_echo(said, [SYSTEM, FOUND, ASKED_WITH_PASSAGES]) == logged


def test_a_key_in_what_a_service_says_is_left_out_whatever_it_looks_like() -> None:
    service = Service("X", "x", key_setting="K", secrets=("tiny-key",))
    assert (
        service.error(LLMErrorCode.API_CALL_FAILED, said="No luck with tiny-key today").said == "No luck with *** today"
    )


@given(st.lists(st.sampled_from(["quokka", "Zanzibar", "9", "é.", "(x)"]), min_size=1), st.text("xyz ", max_size=30))
def test_no_word_of_a_message_stands_in_the_log(words: list[str], own: str) -> None:
    echoed = " ".join(words)
    logged = without_echo(shortened(f"{own} {echoed} {own}"), [PromptMessage("user", echoed)])
    assert not re.search(r"quokka|Zanzibar|9|é|\(x\)", logged)


@pytest.mark.parametrize("unit", ["a-", "<script ", "<", "://a", "Bearer "])
def test_what_a_server_says_is_shortened_in_time_by_its_length(unit: str) -> None:
    def seconds(length: int) -> float:
        started = time.thread_time()
        shortened((unit * length)[:length])
        return time.thread_time() - started

    assert min(seconds(10_000) for _ in range(3)) < 8 * min(seconds(2_500) for _ in range(3)) + 0.05


@pytest.mark.parametrize("body", [PAGE, {"error": {"message": PAGE}}, [{"detail": PAGE}]])
def test_of_a_page_in_place_of_an_error_the_beginning_is_looked_at(body: object) -> None:
    assert sentence_in(body) == PAGE[:LONGEST_HEARD]


@pytest.mark.parametrize("make", [AnthropicChat, OpenAIChat])
async def test_what_goes_wrong_with_a_server_of_ones_own_is_told_in_the_readers_language(
    make: type[AnthropicChat | OpenAIChat],
) -> None:
    with held_port() as port:
        chat = make(api_key="k", model="m", base_url=f"http://127.0.0.1:{port}", max_retries=0)
        with pytest.raises(LLMError) as failed:
            await chat.chat([PromptMessage(MessageRole.USER, "Who is Hobb?")])
        await chat.aclose()
    assert failed.value.message.startswith("The model's server could not be reached")
    assert speech_for(discord.Locale.german).error(failed.value).startswith("Der Server des Modells war nicht zu err")


@pytest.mark.parametrize("make", [AnthropicChat, OpenAIChat])
async def test_what_tls_says_of_a_connection_is_passed_on(
    make: type[AnthropicChat | OpenAIChat], caplog: pytest.LogCaptureFixture
) -> None:
    async def answer_in_plain_http(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer_in_plain_http, "127.0.0.1") as server:
        host, port = server.sockets[0].getsockname()
        chat = make(api_key="k", model="m", base_url=f"https://{host}:{port}", max_retries=0)
        with pytest.raises(LLMError) as failed:
            await chat.chat([PromptMessage(MessageRole.USER, "Who is Hobb?")])
        await chat.aclose()
    assert failed.value.code is LLMErrorCode.CONNECTION_LOST
    assert "[SSL" in failed.value.said
    assert failed.value.said in caplog.text
    assert "Hobb" not in caplog.text


@cache
def compressed_spaces() -> bytes:
    return gzip.compress(b" " * 100_000_000)


@pytest.mark.parametrize("make", [AnthropicChat, OpenAIChat])
@pytest.mark.parametrize(
    ("head", "more", "said"),
    [
        pytest.param(b"400 Bad Request\r\n\r\nThe flux is out. ", b"y" * 100_000, "The flux is out.", id="error"),
        pytest.param(b"200 OK\r\nContent-Type: application/json\r\n\r\n{", b" " * 100_000, TOO_LONG, id="one piece"),
        pytest.param(b"200 OK\r\n\r\ndata: {\n", (b"data:" + b" 1," * 300 + b"\n") * 100, TOO_LONG, id="event"),
        pytest.param(b"200 OK\r\n\r\n: ", b" " * 100_000, TOO_LONG, id="line"),
        pytest.param(b"200 OK\r\nContent-Encoding: gzip\r\n\r\n", compressed_spaces, TOO_LONG, id="compressed"),
    ],
)
async def test_what_a_server_sends_without_end_is_not_read_to_the_end(
    make: type[AnthropicChat | OpenAIChat], head: bytes, more: bytes | Callable[[], bytes], said: str
) -> None:
    endless = more() if callable(more) else more

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 " + head)
        with contextlib.suppress(ConnectionError):
            while not writer.is_closing():
                writer.write(endless)
                await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1") as server:
        host, port = server.sockets[0].getsockname()
        chat = make(api_key="k", model="m", base_url=f"http://{host}:{port}", max_retries=0)
        with pytest.raises(LLMError) as failed:
            await chat.chat([PromptMessage(MessageRole.USER, "Who is Hobb?")])
        await chat.aclose()
    assert said in failed.value.said


@pytest.mark.parametrize("service", ["anthropic", "openai"])
async def test_a_server_of_ones_own_may_be_silent_as_long_as_a_turn_takes(service: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = {f"{service}_base_url": f"http://127.0.0.1:{silent.getsockname()[1]}", f"{service}_api_key": "k"}
        settings = Settings(_env_file=None, llm_provider=service, turn_timeout_s=0.4, **address)  # type: ignore[call-arg, arg-type]
        chat = open_provider(settings)
        async with asyncio.timeout(30):
            with pytest.raises(LLMError) as failed:
                await chat.chat([PromptMessage(MessageRole.USER, "Who is Hobb?")])
        await chat.aclose()
    assert failed.value.code is LLMErrorCode.TIMEOUT
