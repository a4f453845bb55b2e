"""The wording of errors: recognises what servers say, because local ones and proxies have no codes for most errors, and
makes the sentences for readers.
"""

import json
import logging
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from bot.private import fault_of_network_variable, network_variables_set, redacted
from domain.chat import MessageRole, PromptKind, PromptMessage
from domain.errors import LLMError, LLMErrorCode, Worded
from domain.library.search.words import STOP_WORDS

C = TypeVar("C")

logger = logging.getLogger(__name__)

_SENT: Final = (
    r"(?<![\w-])(?:prompts?|inputs?|context|conversation|tokens?|max_seq_len|session_len)(?![a-z_\[])(?!\.\d)"
    r"|eingabe|kontext|anfrage|\bentrée|\binvite|\bentrada|输入|輸入|上下文|提示|消息|请求|入力|プロンプト|입력|프롬프트|запрос|контекст"
)
"""What a server calls a request that is too long."""
_TOO_MUCH: Final = (
    r"(?<!string )(?<!array )too (?:long|large|big|many)|exceed|(?:long|larg|great|bigg)er than|more than the|overflow"
    r"|does(?:n't| not) fit|cannot fit|only supports? up to"
    r"|zu (?:lang|gro(?:ß|ss)|viele)|überschr|trop long|dépass|demasiado larg|super[ao]|excede"
    r"|超长|超長|超过|超過|超出|过长|過長|太长|太長|長すぎ|초과|너무 (?:길|깁)|слишком (?:длин|больш)|превыша"
)

_SAID: Final = (
    # Bedrock: "Too many tokens, please wait", which is no overflow
    (LLMErrorCode.RATE_LIMITED, r"throttl(?:ing|ed)|too many tokens, please wait"),
    (
        LLMErrorCode.CONTEXT_EXCEEDED,
        # OpenAI, vLLM, llama.cpp, LM Studio, TGI ("`inputs` tokens + `max_new_tokens` must be <= 4096"), LiteLLM
        r"maximum context length|context (?:size|length|window)|contextwindow|prompt is too long"
        r"|input (?:is|was) too long"
        r"|too many (?:input )?tokens|(?:inputs?|tokens)\W.{0,60}must (?:be|have).{0,20}(?:<=|less than|at most)\s*\d"
        r"|n_ctx|max(?:imum)?_model_len|exceeds? the (?:available|maximum).{0,20}(?:context|token)"
        r"|max_tokens must be at least 1, got -|max(?:imum)?(?: supported)? (?:model|sequence) length"
        r"|(?:input is|prompt is|prompt|request(?: body)?) too (?:large|long)"
        r"|too large (?:for model|to process)|reduce (?:the|your) (?:length|messages?|prompt|input)"
        # Kimi, xAI, Z.ai, Copilot, Qwen
        r"|model token limit|maximum prompt length|prompt exceeds max(?:imum)? length|prompt token count"
        r"|range of input length|context shift",
    ),
    (
        LLMErrorCode.UNKNOWN_MODEL,
        # LiteLLM, Ollama, vLLM, LM Studio, OpenRouter
        r"invalid model name|model\b.{0,120}\b(?:not found|does not exist|is not (?:a valid|available|found))"
        r"|no (?:such )?models? (?:found|named)|no such model|not a valid model|unknown[ _]model|try pulling it"
        r"|model_not_\w|\baccess to (?:the |this )?model\b"
        r"|invalid model\b|model not exist|decommissioned|deployment\b.{0,60}\bdoes not exist"
        r"|could not find (?:real modelid|suitable inference handler)"  # llama-swap
        r"|模型.{0,40}不存在",
    ),
    (
        LLMErrorCode.OUT_OF_CREDIT,
        r"insufficient[ _](?:user_)?(?:credits?|balance|quota|funds)|(?:balance|quota) is insufficient"
        r"|\b(?:any|enough|more|no|of) credits?\b(?! were charged)|credit balance|billing"
        r"|budget has been exceeded|arrear|in good standing|spending limit|(?:余额|额度)不足|欠费",
    ),
    (
        LLMErrorCode.API_KEY_MISSING,
        # LiteLLM without a database says "No connected db." to every key that is not its own
        r"(?:invalid|incorrect|missing|no) (?:api[ _-]?key|auth)|unauthori[sz]ed|authentication"
        r"|no_db_connection|no connected db"
        r"|api[ _]key (?:is )?(?:not valid|invalid)|subscription key",
    ),
    (
        LLMErrorCode.REFUSED,
        r"content (?:management )?policy|requires moderation|(?:input|prompt) was flagged|inappropriate content",
    ),
    (
        LLMErrorCode.RATE_LIMITED,
        r"rate.?limit|too many requests|slow down|\b(?:tokens|requests) per (?:min|hour|day|month)|\b[TR]P[MD]\b"
        r"|\b(?:hourly|daily|weekly|monthly) (?:\w+ )?(?:quota|limit|allowance)|\bquota\b.{0,40}\bexceed"
        r"|exceed\w*\b.{0,40}\bquota|\bfor (?:today|this (?:day|week|month))\b",
    ),
    (
        LLMErrorCode.OVERLOADED,
        r"overloaded|no (?:available )?(?:slot|worker)|at capacity|server busy|capacity exceeded"
        r"|(?:service|server|provider|temporarily)[ _]?unavailable"
        # LiteLLM, where the server behind it is away
        r"|connection error|cannot connect to host|connection refused|no healthy upstream"
        r"|code = unavailable"  # LocalAI, where a process of its own is away
        r"|no (?:healthy )?deployments?\b"
        r"|upstream connect error",  # Envoy
    ),
    (LLMErrorCode.TIMEOUT, r"timed?[ -]?out|deadline exceeded"),
    (
        LLMErrorCode.CONNECTION_LOST,
        # LiteLLM, where the server behind it has gone in the middle of a reply
        r"payload is not completed|incomplete (?:chunked )?read|peer closed connection|(?<![a-z])disconnected\b"
        r"|connection (?:broken|aborted|reset|closed)",
    ),
    (LLMErrorCode.UNKNOWN_ADDRESS, r"unexpected endpoint or method"),  # LM Studio, with status 200
    # Whatever else says that what was sent is too long, in any order; last, because limits of other kinds say it, too.
    (LLMErrorCode.CONTEXT_EXCEEDED, rf"(?:{_SENT}).{{0,80}}?(?:{_TOO_MUCH})|(?:{_TOO_MUCH}).{{0,80}}?(?:{_SENT})"),
)
STATUS_CODES: Final[Mapping[int, LLMErrorCode]] = {
    401: LLMErrorCode.API_KEY_MISSING,
    402: LLMErrorCode.OUT_OF_CREDIT,
    403: LLMErrorCode.API_KEY_MISSING,
    405: LLMErrorCode.UNKNOWN_ADDRESS,
    408: LLMErrorCode.TIMEOUT,
    413: LLMErrorCode.CONTEXT_EXCEEDED,
    429: LLMErrorCode.RATE_LIMITED,
    502: LLMErrorCode.OVERLOADED,
    503: LLMErrorCode.OVERLOADED,
    504: LLMErrorCode.TIMEOUT,
    521: LLMErrorCode.OVERLOADED,  # Cloudflare's, where the server behind it is away
    522: LLMErrorCode.TIMEOUT,
    523: LLMErrorCode.OVERLOADED,
    524: LLMErrorCode.TIMEOUT,
    529: LLMErrorCode.OVERLOADED,
    530: LLMErrorCode.OVERLOADED,
}
"""The meaning of an HTTP status, if the body does not say more."""
_OF_MODELS: Final = re.compile(
    # Gemini ("models/x is not found"), OpenRouter ("No endpoints found for x"), Azure, mlx-lm
    r"(?<![a-z])models?(?![a-z])|deployment|endpoints? found for|repository not found",
    re.IGNORECASE,
)
"""What a 404 about a model speaks of, in whatever words."""
_OF_ACCOUNT: Final = re.compile(r"\bpolic(?:y|ies)\b|privacy|guardrail", re.IGNORECASE)
"""What OpenRouter's 404s speak of that are about what the account allows, though they may speak of models, too."""
_NO_ADDRESS: Final = re.compile(
    # most servers; Express, Kong, OpenAI, Groq; what the SDK says of Envoy's and Kestrel's, which have no body
    r"not[ _]?found|cannot (?:get|post) /|no route|invalid url|unknown request url|^(?:error code)?\W*(?:404\W*)*$",
    re.IGNORECASE,
)
"""Any other 404 is about the address if it says nothing but that."""
_NOT_FOUND: Final = 404
_OF_REGION: Final = re.compile(r"\bcountry|\bregion|\bterritor|\blocation|requires a subscription", re.IGNORECASE)
"""What a 403 speaks of that is not about the key: where the request comes from, or what the account has booked."""
_FORBIDDEN: Final = 403
_OF_PROXY: Final = re.compile(
    r"""(?:LiteLLM: model group '|Received Model Group=|model=\S{1,200} context_window_fallbacks=)(?:[^"\\]|\\.)*""",
    re.DOTALL,
)
"""What LiteLLM appends to the errors of the servers behind it, up to the end of the text in JSON."""

_PATTERNS: Final = tuple((code, re.compile(said, re.IGNORECASE | re.DOTALL)) for code, said in _SAID)

_NOT_LOADED: Final = re.compile(
    # LM Studio
    r"no models? (?:is |are )?(?:currently )?loaded|error loading model"
    r"|(?:failed to|could not|unable to) load (?:the )?(?:model|llm|runner)\b"
    r"|model loading aborted|model name=\S+ failed to load"
    # Ollama, and others
    r"|more system memory\b|model failed to load|out of memory"
    r"|llama[ -](?:runner|server)\b.{0,40}\b(?:terminated|exited)",
    re.IGNORECASE | re.DOTALL,
)
"""What does not pass by itself: there is no model, or not enough memory for it, or its file is unsuitable."""
_NOT_READY: Final = re.compile(
    # LM Studio, llama.cpp
    r"\bmodel (?:is |was )?unloaded|the model has crashed"
    r"|model (?:is not|has not been|isn't) (?:loaded|running|ready)"
    r"|loading (?:the )?model\b|model\b.{0,80}\bis (?:still |currently )?loading|model loading was stopped"
    r"|model name=\S+ is not running"
    # Ollama
    r"|model runner has unexpectedly stopped"
    r"|llama[ -](?:runner|server)\b.{0,40}\b(?:no longer running|to start)|\bpost predict\b"
    r"|error was encountered while running the model"
    # vLLM, and others
    r"|engine\w* (?:core )?(?:encountered an issue|is dead|died|has stopped)|enginedead"
    r"|background loop (?:has errored|is not running|is stopped)"
    r"|server is (?:not ready|starting|shutting down)",
    re.IGNORECASE | re.DOTALL,
)

_WINDOW: Final = (
    re.compile(r"(?:n_ctx|max_model_len)\W{0,4}(\d{3,8})"),
    re.compile(
        r"(?:context (?:length|size|window)|(?:model|prompt|sequence) length|max size|<=|at most|less than"
        r"|tokens allowed|: limit|tokens? limit|limit (?:is|of)|cannot exceed|input length should be \[1|up to)"
        r"(?:(?!\bby\b)\D){0,40}?(?<!limit \()(\d{3,8})",  # MiniMax has its code behind "limit"
        re.IGNORECASE,
    ),
    re.compile(r"(\d{3,8}) (?:tokens? )?(?:context|maximum|limit)", re.IGNORECASE),
    re.compile(r"\d{4,8}\D{0,40}(?:>=?|(?:larg|great|long)er than|exceeds?)\D{0,60}?(\d{3,8})", re.IGNORECASE),
)
_COUNTED: Final = (
    re.compile(r"n_prompt_tokens\W{0,4}(\d{3,8})"),
    re.compile(r"\b(\d{3,8}) \W?(?:inputs?|prompt)\W? tokens", re.IGNORECASE),
)
_FOR_REPLY: Final = re.compile(r"\b(\d{1,7}) (?:tokens )?(?:in|for) the completion", re.IGNORECASE)
_A_NUMBER: Final = re.compile(r"(?<![\w.-])\d{3,7}(?![\w-])")
LEAST_WINDOW: Final = 512
"""Tokens; a smaller number in an error is something else, such as its status."""

_SECRET = re.compile(
    r"\b(?:sk|pk|rk|key|hf|gsk|xai|org|user|req|chatcmpl)[-_][\w*.-]{4,}|\bBearer\s+\S+|(?<![\w-])[A-Za-z_-]*\d[A-Za-z0-9_-]{23,}"
    r"|(?<=key provided: )\S+|://[^\s/@]+@",
    re.IGNORECASE,
)
"""Keys, names of accounts and requests, and passwords in addresses."""
_SAYING: Final = (
    *("metadata", "raw", "message", "error", "errors", "detail", "msg", "reason", "title"),
    *("base_resp", "status_msg"),  # MiniMax
)
"""Where the body of an error has its sentence."""
_PART_OF_REPLY: Final = re.compile(r'^\s*[{[]|"(?:choices|delta|content|finish_reason|content_block)"')
_TAG = re.compile(r"<(?:script|style)\b.*?(?:</(?:script|style)>|\Z)|<[^<>]*>", re.DOTALL | re.IGNORECASE)
LONGEST_SAID = 200
"""Characters of a service's message that are shown."""
LONGEST_HEARD = 50 * LONGEST_SAID
"""Those that are looked at: the page that a proxy sends in its place may have a million."""
RUN: Final = 3
"""Words in a row that show that a text is repeated; fewer may be a service's own."""

_NO_TOOLS: Final = re.compile(
    r"not support (?:tools|tool|function)"  # Ollama, LM Studio
    r"|support tool use"  # OpenRouter
    r"|--enable-auto-tool-choice|tool[ _-]choice.{0,40}requires|tool[ -]call[ -]parser"  # vLLM, SGLang
    r"|\btools\[\d+\]|'tools', \d+|\btool error\b"  # TGI, and others that point into the request
    r"|unsupported param:? ?tools|tools param requires|--jinja"  # llama.cpp
    r"|(?:tools?|functions?)\b.{0,60}\b(?:not (?:\w+ )?(?:supported|available|allowed|permitted|implemented|enabled)"
    r"|unsupported)"
    r"|not support param\w*:? \[[^\]]*\btools\b"  # LiteLLM
    r"|\{%[^%]*\btools\b"  # llama.cpp quotes the template that cannot take them
    r"|(?:unknown|unrecogni[sz]ed|unsupported|unexpected|extra|invalid)\b.{0,60}\btools?\b",
    re.IGNORECASE | re.DOTALL,
)
_UNREAD_CALL: Final = re.compile(
    # Ollama; llama.cpp; SGLang
    r"pars\w+ (?:the )?(?:tool|function)[ _-]?calls?\b|failed to parse (?:input at|tool|function|fc\b)",
    re.IGNORECASE,
)
_REFUSED_FIELD: Final = re.compile(
    r"not (?:supported|permitted|allowed|implemented)|unsupported|unknown|unrecogni[sz]ed|unexpected"
    r"|extra (?:inputs|fields)|does not support|invalid (?:parameter|field|argument)",
    re.IGNORECASE,
)

_SENTENCES: Final[Mapping[LLMErrorCode, str]] = {
    LLMErrorCode.API_KEY_MISSING: (
        "{name} did not accept the key. Whoever runs this program has to check {key_setting}."
    ),
    LLMErrorCode.UNKNOWN_MODEL: (
        "{name} has no model called {model}. Whoever runs this program has to check {settings}."
    ),
    LLMErrorCode.UNKNOWN_ADDRESS: (
        "{name} has no chat at this address. Whoever runs this program has to check {settings}."
    ),
    LLMErrorCode.OUT_OF_CREDIT: (
        "{name} no longer answers: the account has no credit left. Whoever runs this program has to add some."
    ),
    LLMErrorCode.RATE_LIMITED: "The model is getting too many requests at the moment. Please try again {when}.",
    LLMErrorCode.OVERLOADED: "The model is overloaded or not ready at the moment. Please try again {when}.",
    LLMErrorCode.NOT_LOADED: (
        "{name} has not loaded {model}: there may be too little memory for it. Whoever runs this program has to look "
        "after the server."
    ),
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
    LLMErrorCode.REFUSED: "The model declined to answer this. Please rephrase your question.",
    LLMErrorCode.API_CALL_FAILED: "{name} could not carry out the request. Please try again.",
}
_A_WORD = re.compile(r"[^\W_]+")


def code_in(said: str) -> LLMErrorCode | None:
    """The domain's code for what a server says; None if nothing in it is known."""
    return next((code for code, pattern in _PATTERNS if pattern.search(said)), None)


def code_of(status: int, said: str) -> LLMErrorCode:
    """The domain's code for an HTTP status, for messages whose words are not known; `said` tells what was not found."""
    if status == _FORBIDDEN and _OF_REGION.search(said):
        return LLMErrorCode.API_CALL_FAILED
    if status != _NOT_FOUND:
        return STATUS_CODES.get(status, LLMErrorCode.API_CALL_FAILED)
    if _OF_ACCOUNT.search(said):
        return LLMErrorCode.API_CALL_FAILED
    if _OF_MODELS.search(said):
        return LLMErrorCode.UNKNOWN_MODEL
    return LLMErrorCode.UNKNOWN_ADDRESS if _NO_ADDRESS.search(said) else LLMErrorCode.API_CALL_FAILED


def without_proxy(said: str) -> str:
    """A server's words without those that a proxy has added to them."""
    return _OF_PROXY.sub("", said)


def code_of_silence(said: str) -> LLMErrorCode | None:
    """The code if the model is known to the server but cannot answer; some give it the code of an unknown model."""
    if _NOT_LOADED.search(said):
        return LLMErrorCode.NOT_LOADED
    return LLMErrorCode.OVERLOADED if _NOT_READY.search(said) else None


def window_in(said: str) -> int:
    """The context window in tokens that a server names; 0 if it names none. Larger numbers are of the request."""
    plain = said.replace(",", "")
    numbers = (int(found[1]) for pattern in _WINDOW for found in pattern.finditer(plain))
    return min((number for number in numbers if number >= LEAST_WINDOW), default=0)


def count_in(said: str, window: int) -> int:
    """The tokens of a request that a server says it has counted, where that was too long for the window; 0 if it does
    not say. The largest number is taken for that, without what of it was for the reply.
    """
    plain = said.replace(",", "")
    if counted := next((int(found[1]) for pattern in _COUNTED if (found := pattern.search(plain))), 0):
        return counted
    reply = _FOR_REPLY.search(plain)
    counted = max((int(number) for number in _A_NUMBER.findall(plain)), default=0) if window else 0
    return counted - (int(reply[1]) if reply else 0) if counted > window else 0


def speaks_against_tools(said: str) -> bool:
    """Whether a server's message says that its model cannot use tools."""
    return bool(_NO_TOOLS.search(said))


def speaks_of_unread_call(said: str) -> bool:
    """Whether a server says that it could not read a call that its model has written."""
    return bool(_UNREAD_CALL.search(said))


def refused_field(said: str, fields: Iterable[str]) -> str:
    """The first of the fields that a server's message names, or an empty string.

    A message that names a field refuses it, unless it is about something else that is known.
    """
    is_refusal = _REFUSED_FIELD.search(said) or code_in(said) is None
    named = (field for field in fields if re.search(rf"(?<![a-z_]){field}(?![a-z_])", said))
    return next(named, "") if is_refusal else ""


def assert_no_fragment(data: object) -> None:
    """Refuse a part of a reply that cannot be read; anything else is a message of the server about an error.

    Raises:
        ValueError: what cannot be read is a part of a reply, and no message of the server about an error.
    """
    if isinstance(data, str) and _PART_OF_REPLY.search(data):
        raise json.JSONDecodeError("An event of the reply is not JSON.", data, 0)


def without_input(body: Any) -> Any:
    """The body of an error without the request, of which FastAPI repeats what is wrong, or all."""
    if isinstance(body, Mapping):
        return {name: without_input(value) for name, value in body.items() if name != "input"}
    return [without_input(value) for value in body] if isinstance(body, list) else body


def sentence_in(body: Any) -> str:
    """The message in the body of an error: OpenAI has it under error.message, LM Studio, TGI and Ollama under error,
    FastAPI under detail. A proxy's own sentence says less than what it has from the server behind it.
    """
    if isinstance(body, str):
        return sentence_in(_loaded(body)) or body[:LONGEST_HEARD]
    if isinstance(body, list):
        return next((said for item in body if (said := sentence_in(item))), "")
    if isinstance(body, Mapping):
        return next((said for name in _SAYING if (said := sentence_in(body.get(name)))), "")
    return ""


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def shortened(said: str, secrets: Iterable[str] = ()) -> str:
    """A service's message on one line, without markup and secrets, these and others, and not too long."""
    plain = redacted(_SECRET.sub("…", _TAG.sub(" ", said[:LONGEST_HEARD])), secrets)
    plain = " ".join(plain.split())
    return plain if len(plain) <= LONGEST_SAID else f"{plain[:LONGEST_SAID].rsplit(' ', 1)[0]} …"


@dataclass(frozen=True, slots=True)
class Service:
    """Names for error sentences: the service, its model, and the settings that select it. `secrets` are removed from
    what the service says, which may repeat them.
    """

    name: str
    model: str
    key_setting: str
    url_setting: str = ""
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def error(
        self, code: LLMErrorCode, retry_after: float | None = None, *, window: int = 0, counted: int = 0, said: str = ""
    ) -> LLMError:
        """The error with its sentence; the arguments are those of LLMError, `said` as the service has sent it."""
        sentence = Worded(
            _SENTENCES[code],
            name=self.name,
            model=self.model,
            key_setting=self.key_setting,
            settings=Worded("LLM_MODEL and {url}", url=self.url_setting) if self.url_setting else "LLM_MODEL",
            when=_when(retry_after),
        )
        failure = LLMError(code, sentence, retry_after=retry_after, window=window, counted=counted)
        failure.said = shortened(said, self.secrets)
        return failure

    def open(self, build: Callable[[], C]) -> C:
        """The SDK's client, which reads the environment when it is made.

        Raises:
            LLMError: API_CALL_FAILED, a proxy or certificates that the environment names cannot be used.
        """
        import httpx2

        try:
            return build()
        except (OSError, ValueError, httpx2.InvalidURL) as error:
            if not (names := network_variables_set()):
                raise
            sentence = Worded(
                "{name} cannot be reached from here. Whoever runs this program has to check {settings}.",
                name=self.name,
                settings=names,
            )
            failure = LLMError(LLMErrorCode.API_CALL_FAILED, sentence)
            failure.said = shortened(fault_of_network_variable(error), self.secrets)
            logger.warning("no request can be sent: %s: check %s", failure.said, names)
            raise failure from error

    def demand_key(self, api_key: str) -> str:
        """The key without surrounding space.

        Raises:
            LLMError: API_KEY_MISSING, there is none.
        """
        if not api_key.strip():
            message = Worded(
                "There is no key for {name}. Please set {setting}.", name=self.name, setting=self.key_setting
            )
            raise LLMError(LLMErrorCode.API_KEY_MISSING, message)
        return api_key.strip()


def without_echo(said: str, messages: Iterable[PromptMessage]) -> str:
    """A service's message with an ellipsis for every word of a reader that it repeats, but for words such as "the", and
    for every run of words of the rest of the request.

    The log of an operator may have what remains, because nobody who writes to the bot wrote it.
    """
    people = [text for message in messages for text in _by_people(message)]
    sent = [text for message in messages for text in (*_by_people(message), message.content, *_passages_of(message))]
    words = _A_WORD.findall(said)
    repeated = {at for at, word in enumerate(words) if _is_in(people, word)}
    for at in range(len(words) - RUN + 1):
        if _is_in(sent, *words[at : at + RUN]):
            repeated.update(range(at, at + RUN))
    hidden = iter([at in repeated and word.casefold() not in STOP_WORDS for at, word in enumerate(words)])
    shown = _A_WORD.sub(lambda word: "…" if next(hidden) else word[0], said)
    return re.sub(r"…(?:\W*…)+", "…", shown)


def _is_in(texts: Iterable[str], *words: str) -> bool:
    whole = re.compile(r"(?<!\w)" + r"\W+".join(words) + r"(?!\w)")
    return any(words[0] in text and whole.search(text) for text in texts)


def _by_people(message: PromptMessage) -> Iterator[str]:
    """What people have written of a message, or a model in their words; of its note, their name."""
    yield message.note.partition(" · ")[0]
    if message.role == MessageRole.USER and message.kind in (PromptKind.TALK, PromptKind.UNANSWERED):
        yield message.content
    for said in [message.data or {}, *(call.arguments for call in message.tool_invocations or ())]:
        yield from (value for value in said.values() if isinstance(value, str))


def _passages_of(message: PromptMessage) -> Iterator[str]:
    return (sentence.text for passage in message.passages for sentence in passage.sentences)


def _when(seconds: float | None) -> Worded:
    if seconds is None:
        return Worded("in a minute")
    if seconds <= 1:
        return Worded("in a second")
    if seconds < 90:
        return Worded("in {seconds} seconds", seconds=math.ceil(seconds))
    if seconds < 90 * 60:
        return Worded("in {minutes} minutes", minutes=math.ceil(seconds / 60))
    return Worded("in {hours} hours", hours=math.ceil(seconds / 3600))
