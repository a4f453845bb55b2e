import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.providers.wordings import STATUS_CODES, Service, shortened, without_echo
from domain.chat import PromptMessage
from domain.errors import LLMError, LLMErrorCode

SERVICE = Service("Anthropic", "claude-x", key_setting="ANTHROPIC_API_KEY", url_setting="ANTHROPIC_BASE_URL")
WITHOUT_STATUS = {LLMErrorCode.CONNECTION_LOST, LLMErrorCode.API_CALL_FAILED, LLMErrorCode.UNSUPPORTED_FEATURE}


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
