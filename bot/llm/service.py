"""The service behind a provider, as the person who reads an error knows it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from domain.errors import LLMError, LLMErrorCode

STATUS_CODES: Final[Mapping[int, LLMErrorCode]] = {
    401: LLMErrorCode.API_KEY_MISSING,
    402: LLMErrorCode.OUT_OF_CREDIT,
    403: LLMErrorCode.API_KEY_MISSING,
    404: LLMErrorCode.UNKNOWN_MODEL,
    408: LLMErrorCode.TIMEOUT,
    413: LLMErrorCode.CONTEXT_EXCEEDED,
    429: LLMErrorCode.RATE_LIMITED,
    503: LLMErrorCode.OVERLOADED,
    504: LLMErrorCode.TIMEOUT,
    529: LLMErrorCode.OVERLOADED,
}
"""What an HTTP status means where the answer's body does not say more."""

_SENTENCES: Final[Mapping[LLMErrorCode, str]] = {
    LLMErrorCode.API_KEY_MISSING: "{name} did not accept the key. Please check {key_setting}.",
    LLMErrorCode.UNKNOWN_MODEL: "{name} has no model called {model}. Please check LLM_MODEL{and_url}.",
    LLMErrorCode.OUT_OF_CREDIT: (
        "{name} answers no more: the account has no credit left. Whoever runs this program has to see to it."
    ),
    LLMErrorCode.RATE_LIMITED: "The model is being asked too much at the moment. Please try again {when}.",
    LLMErrorCode.OVERLOADED: "The model is overloaded at the moment. Please try again {when}.",
    LLMErrorCode.TIMEOUT: "The model took too long to answer. Please try again.",
    LLMErrorCode.CONNECTION_LOST: (
        "{name} could not be reached, or the connection broke off. Please check the network, or just try again."
    ),
    LLMErrorCode.CONTEXT_EXCEEDED: (
        "This conversation has become too long for the model. Please start a new one on the same book."
    ),
    LLMErrorCode.UNSUPPORTED_FEATURE: (
        "The model {model} cannot use tools. Please choose another one, or leave out the tools."
    ),
    LLMErrorCode.API_CALL_FAILED: "{name} could not carry out the request. Please try again; the log says more.",
}


@dataclass(frozen=True, slots=True)
class Service:
    """Names for the sentences of errors: the service, its model, and the settings that lead to it."""

    name: str
    model: str
    key_setting: str
    url_setting: str = ""

    def error(self, code: LLMErrorCode, retry_after: float | None = None) -> LLMError:
        """The error with the sentence for it; `retry_after` in seconds."""
        sentence = _SENTENCES[code].format(
            name=self.name,
            model=self.model,
            key_setting=self.key_setting,
            and_url=f" and {self.url_setting}" if self.url_setting else "",
            when=_when(retry_after),
        )
        return LLMError(code, sentence, retry_after=retry_after)

    def demand_key(self, api_key: str) -> str:
        """The key without outer space.

        Raises:
            LLMError: API_KEY_MISSING, there is none.
        """
        if not api_key.strip():
            raise LLMError(
                LLMErrorCode.API_KEY_MISSING, f"There is no key for {self.name}. Please set {self.key_setting}."
            )
        return api_key.strip()


def _when(seconds: float | None) -> str:
    if seconds is None:
        return "in a minute"
    if seconds <= 1:
        return "in a second"
    if seconds < 90:
        return f"in {math.ceil(seconds)} seconds"
    if seconds < 90 * 60:
        return f"in {math.ceil(seconds / 60)} minutes"
    return f"in {math.ceil(seconds / 3600)} hours"
