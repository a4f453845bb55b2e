"""Errors as servers really send them."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from bot.providers.openai.client import OpenAIChat
from bot.providers.wordings import code_in, count_in, shortened, window_in
from domain.chat import PromptMessage
from domain.errors import LLMError, LLMErrorCode
from domain.tool_use import ChatResponse, RawReply, ToolInvocation
from tests.bot.providers.talk import SEARCH, reply, result, user
from tests.sampling import a_few

C = LLMErrorCode
LOOK = ToolInvocation("search_book", {"query": "x"}, "c1")
LM_STUDIO = {
    "error": "Trying to keep the first 5120 tokens when context the overflows. "
    "However, the model is loaded with context length of only 4096 tokens"
}
TOO_LONG, PER_MINUTE = C.CONTEXT_EXCEEDED, {"type": "tokens", "code": "rate_limit_exceeded"}
LITELLM = (
    "litellm.NotFoundError: NotFoundError: OpenAIException - ",
    "\n\nLiteLLM: model group 'x' failed with the error above. No fallback was attempted.",
)
NOT_LOADED, NOT_READY = C.NOT_LOADED, C.OVERLOADED
NO_MODEL = {"type": "invalid_request_error", "param": "model", "code": "model_not_found"}
NOT_SUPPORTED = {"param": "model", "code": "model_not_supported"}
ERRORS: list[tuple[str, int, Any, LLMErrorCode]] = [
    ("lm studio overflow", 400, LM_STUDIO, C.CONTEXT_EXCEEDED),
    ("lm studio no model", 404, {"error": "No models loaded. Please load a model in the developer page."}, NOT_LOADED),
    (
        "tgi",
        422,
        {
            "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000",
            "error_type": "validation",
        },
        C.CONTEXT_EXCEEDED,
    ),
    ("tgi overloaded", 429, {"error": "Model is overloaded", "error_type": "overloaded"}, C.RATE_LIMITED),
    (
        "vllm",
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 4096 tokens. However, you requested 9000",
            "code": 400,
        },
        C.CONTEXT_EXCEEDED,
    ),
    (
        "vllm model",
        404,
        {"object": "error", "message": "The model `x` does not exist.", "type": "NotFoundError"},
        C.UNKNOWN_MODEL,
    ),
    (
        "llama.cpp",
        400,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size",
                "type": "exceed_context_size_error",
                "n_ctx": 4096,
            }
        },
        C.CONTEXT_EXCEEDED,
    ),
    (
        "llama.cpp loading",
        503,
        {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}},
        C.OVERLOADED,
    ),
    (
        "ollama",
        404,
        {"error": {"message": 'model "x" not found, try pulling it first', "type": "api_error"}},
        C.UNKNOWN_MODEL,
    ),
    (
        "litellm",
        400,
        {
            "error": {
                "message": "/chat/completions: Invalid model name passed in model=x. Call `/v1/models`",
                "code": "400",
            }
        },
        C.UNKNOWN_MODEL,
    ),
    *(
        (f"litellm, {said}", 404, {"error": {"message": f"{LITELLM[0]}{said}{LITELLM[1]}", "code": "404"}}, code)
        for said, code in (("File Not Found", C.UNKNOWN_ADDRESS), ("The model `x` does not exist.", C.UNKNOWN_MODEL))
    ),
    (
        "litellm, earlier",
        404,
        {"error": {"message": "OpenAIException - {'error': 'Not Found'}\nReceived Model Group=x\nFallbacks=None"}},
        C.UNKNOWN_ADDRESS,
    ),
    ("fastapi, no such route", 404, {"detail": "Not Found"}, C.UNKNOWN_ADDRESS),
    ("fastapi, no such method", 405, {"detail": "Method Not Allowed"}, C.UNKNOWN_ADDRESS),
    ("go", 404, "404 page not found", C.UNKNOWN_ADDRESS),
    ("a number", 404, "404", C.UNKNOWN_ADDRESS),
    ("nothing in it", 404, {"message": None}, C.API_CALL_FAILED),
    ("express", 404, "Cannot POST /llm/v1/chat/completions", C.UNKNOWN_ADDRESS),
    ("a web server's page", 404, "<html><title>404 Not Found</title><body>nginx</body></html>", C.UNKNOWN_ADDRESS),
    ("lm studio, no such route", 200, {"error": "Unexpected endpoint or method. (POST /x)"}, C.UNKNOWN_ADDRESS),
    ("gemini", 404, [{"error": {"message": "models/x is not found for API version v1", "code": 404}}], C.UNKNOWN_MODEL),
    ("ollama cloud", 403, {"error": {"message": "this model requires a subscription"}}, C.API_CALL_FAILED),
    ("openai flags", 400, {"error": {"message": "Invalid prompt: your prompt was flagged as such."}}, C.REFUSED),
    (
        "openrouter flags",
        403,
        {"error": {"message": "x requires moderation. Your input was flagged for y. No credits were charged."}},
        C.REFUSED,
    ),
    ("kimi", 429, {"error": {"message": "Suspended", "type": "exceeded_current_quota_error"}}, C.OUT_OF_CREDIT),
    ("z.ai balance", 429, {"error": {"code": "1113", "message": "您的账户已欠费，请充值后重试。"}}, C.OUT_OF_CREDIT),
    ("localai", 500, {"error": {"code": 500, "message": "could not load model: rpc error"}}, NOT_LOADED),
    ("docker", 500, {"error": {"message": "unable to load runner: it terminated"}}, NOT_LOADED),
    ("moonshot", 404, {"error": {"message": "Not found the model x or Permission denied"}}, C.UNKNOWN_MODEL),
    ("openrouter, no model", 404, {"error": {"message": "No endpoints found for a/b:free."}}, C.UNKNOWN_MODEL),
    (
        "openrouter, no provider",
        404,
        {"error": {"message": "No endpoints found matching your data policy (Free model publication)."}},
        C.API_CALL_FAILED,
    ),
    (
        "litellm window",
        400,
        {"error": {"message": "litellm.ContextWindowExceededError: too long", "code": "400"}},
        C.CONTEXT_EXCEEDED,
    ),
    ("openrouter", 402, {"error": {"message": "This request requires more credits", "code": 402}}, C.OUT_OF_CREDIT),
    (
        "html",
        502,
        "<html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>",
        NOT_READY,
    ),
    ("cloudflare, web server down", 521, "<html><title>521: Web server is down</title></html>", NOT_READY),
    ("cloudflare, no connection", 522, "<html><title>522: Connection timed out</title></html>", C.TIMEOUT),
    ("cloudflare, tunnel down", 530, "<html><body>error code: 1033</body></html>", NOT_READY),
    ("workers ai", 400, {"errors": [{"message": "AiError: No such model x", "code": 5007}]}, C.UNKNOWN_MODEL),
    ("envoy in the stream", 200, "event: error\ndata: upstream connect error\n\n", NOT_READY),
    ("a bare error in the stream", 200, 'event: error\ndata: {"message": "Rate limit reached"}\n\n', C.RATE_LIMITED),
    ("html 503", 503, "<html><body>upstream</body></html>", C.OVERLOADED),
    ("fastapi", 422, {"detail": [{"loc": ["body"], "msg": "value is not a valid dict"}]}, C.API_CALL_FAILED),
    *(
        (sentence, status, {"error": {"message": sentence, **more}}, code)
        for status, sentence, code, more in (
            (400, "The decoder prompt (length 9000) is longer than the maximum model length of 4096.", TOO_LONG, {}),
            (500, "input is too large to process. increase the physical batch size", TOO_LONG, {}),
            (413, "Request too large for model `x` on TPM: Limit 6000, Requested 6400", TOO_LONG, PER_MINUTE),
            (403, "Your chosen model requires moderation and your input was flagged", C.REFUSED, {}),
            (400, "The prompt triggered our content management policy.", C.REFUSED, {"code": "content_filter"}),
            (400, "The model `x` has been decommissioned and is no longer supported.", C.UNKNOWN_MODEL, {}),
            (400, "Invalid model: foo", C.UNKNOWN_MODEL, {"type": "invalid_model", "code": "1500"}),
            (400, "Model Not Exist", C.UNKNOWN_MODEL, {"code": "invalid_request_error"}),
            (400, "API key not valid. Please pass a valid API key.", C.API_KEY_MISSING, {"code": 400}),
            (503, "server busy, please try again. maximum pending requests exceeded", C.OVERLOADED, {}),
            (400, "Model unloaded.", NOT_READY, {}),
            (400, "Model was unloaded while the request was still in queue..", NOT_READY, {}),
            (404, "No models loaded. Please load a model in the developer page.", NOT_LOADED, NO_MODEL),
            (
                404,
                'Failed to load model "x". Error: Model loading aborted due to insufficient resources.',
                NOT_LOADED,
                {},
            ),
            (400, "The model has crashed without additional information. (Exit code: 6)", NOT_READY, {}),
            (400, 'Invalid model identifier "x". Please specify a valid downloaded model.', C.UNKNOWN_MODEL, NO_MODEL),
            (400, "model is not loaded", NOT_READY, {}),
            (400, "model 'x' not found", C.UNKNOWN_MODEL, {}),
            (500, "model runner has unexpectedly stopped, this may be due to resource limitations", NOT_READY, {}),
            (500, "llama runner process has terminated: error: unknown model architecture", NOT_LOADED, {}),
            (500, "timed out waiting for llama runner to start - progress 0.00 -", NOT_READY, {}),
            (500, "model requires more system memory (9 GiB) than is available (4 GiB)", NOT_LOADED, {}),
            (500, "EngineCore encountered an issue. See stack trace (above) for the root cause.", NOT_READY, {}),
            (500, "litellm.InternalServerError: OpenAIException - Connection error.", NOT_READY, {}),
            (500, "an error was encountered while running the model: unexpected EOF", NOT_READY, {}),
            (500, "llama runner exited, you may not have enough available memory to run this model", NOT_LOADED, {}),
            (400, "You passed in model=x. There are no healthy deployments for this model", NOT_READY, {}),
            (500, "model failed to load, this may be due to resource limitations or an internal error", NOT_LOADED, {}),
            (500, "unable to load model: /root/.ollama/models/blobs/sha256-aa", NOT_LOADED, {}),
            (500, "llama-server process has terminated: exit status 2", NOT_LOADED, {}),
            (500, 'POST predict: Post "http://127.0.0.1:33333/completion": EOF', NOT_READY, {}),
            (500, 'Failed to load LLM "x". Engine process exited with SIGABRT', NOT_LOADED, {}),
            (400, "could not find real modelID for x", C.UNKNOWN_MODEL, {}),
            (400, "Prompt exceeds max length", TOO_LONG, {"code": "1261"}),
            (400, '"nomic-embed-text" does not support chat', C.API_CALL_FAILED, {}),
            (429, "Insufficient balance or no resource package. Please recharge.", C.OUT_OF_CREDIT, {"code": "1113"}),
            (429, "You exceeded your current quota, please check your plan and billing details.", C.RATE_LIMITED, {}),
            (412, "Account a is suspended, possibly due to the monthly spending limit", C.OUT_OF_CREDIT, {}),
            (403, "Your newly created team doesn't have any credits or licenses yet.", C.OUT_OF_CREDIT, {}),
            (400, "Access denied, please make sure your account is in good standing.", C.OUT_OF_CREDIT, {}),
            (403, "You don't have access to the model with the specified model ID.", C.UNKNOWN_MODEL, {}),
            (400, "The requested model 'x' is not supported by any provider.", C.UNKNOWN_MODEL, NOT_SUPPORTED),
            (500, "(ThrottlingException) Too many tokens, please wait before trying again.", C.RATE_LIMITED, {}),
            (500, "Provider disconnected unexpectedly", C.CONNECTION_LOST, {}),
            (502, "upstream connect error or disconnect/reset before headers", NOT_READY, {}),
            (500, "Please reduce the length of the messages or completion.", TOO_LONG, {}),
            (400, "Input text data may contain inappropriate content.", C.REFUSED, {"code": "data_inspection_failed"}),
            (500, "rpc error: code = Unavailable desc = error reading from server: EOF", NOT_READY, {}),
            (403, "Access denied", C.API_KEY_MISSING, {}),
            (500, "Upstream stream failed", C.CONNECTION_LOST, {"code": "provider_disconnected"}),
            (400, "模型 x 不存在或没有权限", C.UNKNOWN_MODEL, {}),
            (403, "用户额度不足", C.OUT_OF_CREDIT, {}),
            (500, "CUDA out of memory. Tried to allocate 2.00 GiB", NOT_LOADED, {}),
        )
    ),
    ("minimax", 200, {"choices": None, "base_resp": {"status_msg": "insufficient balance"}}, C.OUT_OF_CREDIT),
    (
        "openai, region",
        403,
        {"error": {"message": "Country not supported", "type": "request_forbidden"}},
        C.API_CALL_FAILED,
    ),
    ("siliconflow", 403, {"code": 30001, "message": "Sorry, your account balance is insufficient"}, C.OUT_OF_CREDIT),
    ("new-api", 403, {"error": {"message": "用户额度不足", "code": "insufficient_user_quota"}}, C.OUT_OF_CREDIT),
    ("words in the stream", 200, "data: Rate limit exceeded, please slow down\n\n", C.RATE_LIMITED),
    ("fastapi in the stream", 200, 'data: {"detail": "Too Many Requests"}\n\n', C.RATE_LIMITED),
    ("a page in the stream", 200, "\n\n<html>\n<h1>504 Gateway Time-out</h1>\n</html>\n", C.TIMEOUT),
    (
        "ollama breaks off without a field",
        200,
        '\n{"error":{"message":"an error was encountered while running the model: CUDA error","code":null}}\n',
        NOT_READY,
    ),
    (
        "openrouter in a chunk",
        200,
        'data: {"choices": [], "error": {"message": "Worker local total request limit reached (33/32)", "code": 502, '
        '"metadata": {"error_type": "provider_unavailable"}}}\n\n',
        NOT_READY,
    ),
    (
        "lm studio unloads in the stream",
        200,
        'event: error\ndata: {"error": {"message": "Model unloaded."}}\n\n',
        NOT_READY,
    ),
    (
        "mistral in the stream",
        200,
        'data: {"error": {"message": "Prompt contains 40000 tokens, too large for model", "code": "3051"}}\n\n',
        C.CONTEXT_EXCEEDED,
    ),
    (
        "vllm without room",
        400,
        {"error": {"message": "max_tokens must be at least 1, got -186.", "type": "BadRequestError", "code": 400}},
        C.CONTEXT_EXCEEDED,
    ),
    ("litellm key", 400, {"error": {"message": "No connected db.", "type": "no_db_connection"}}, C.API_KEY_MISSING),
    ("openrouter in place of a reply", 200, {"error": {"message": "User not found.", "code": 401}}, C.API_KEY_MISSING),
    (
        "vllm in the stream",
        200,
        'data: {"object": "error", "message": "EngineCore encountered an issue.", "code": 500}\n\n',
        NOT_READY,
    ),
    (
        "litellm in the stream",
        200,
        'data: {"error": {"message": "litellm.APIConnectionError: Response payload is not completed: <Transfer…", '
        '"code": "500"}}\n\n',
        C.CONNECTION_LOST,
    ),
    ("a proxy's page in place of a reply", 200, "<html><body>Please sign in</body></html>", C.API_CALL_FAILED),
    (
        "lm studio in the stream",
        200,
        'event: error\ndata: {"error": {"message": "The number of tokens to keep from the initial prompt is greater '
        'than the context length (n_keep: 13055>= n_ctx: 4096)."}}\n\n',
        C.CONTEXT_EXCEEDED,
    ),
    (
        "tgi in the stream",
        200,
        'data: {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000", '
        '"error_type": "validation"}\n\n',
        C.CONTEXT_EXCEEDED,
    ),
    (
        "sglang in the stream",
        200,
        'data: {"error": {"object": "error", "message": "The input (5000 tokens) is longer than the model\'s context '
        'length (4096 tokens).", "type": "BadRequestError", "code": 400}}\n\n',
        C.CONTEXT_EXCEEDED,
    ),
]


WINDOWS = [
    ("This model's maximum prompt length is 4096 but the request contains 537812 tokens.", 4096),
    ("prompt token count of 130000 exceeds the limit of 4096", 4096),
    ("Range of input length should be [1, 4096]", 4096),
    ("Your request exceeded model token limit: 4096 (requested: 300000)", 4096),
    ("too many tokens: the prompt cannot exceed 4096 - received 5000.", 4096),
    ("Request body too large for x model. Max size: 4096 tokens.", 4096),
    ("max_tokens=9000 cannot be greater than max_model_len=4096. Please request fewer output tokens.", 4096),
    ("Cannot truncate prompt with n_keep (15028) >= n_ctx (4096)", 4096),
    ("prompt too long; exceeded max context length by 1200 tokens", 0),
    ("invalid params, context window exceeds limit (2013)", 0),
    ("Please reduce the length of the messages. Current length is 9000 while limit is 4096", 4096),
]


OVERFLOWS = [
    # MLC, TabbyAPI, llama.cpp, Zhipu, TensorRT-LLM, LMDeploy, Cloudflare, GPT4All, Spark, watsonx, Vertex
    ("Request prompt has 5012 tokens in total, larger than the model input length limit 4096.", 4096, 5012),
    ("Prompt length 5012 is greater than max_seq_len 4096", 4096, 5012),
    ("context shift is disabled", 0, 0),
    ("Prompt 超长", 0, 0),
    ("Prompt length (5012) exceeds maximum input length (4096). Set log level to info", 4096, 5012),
    ("The input prompt is too long: 5012 > session_len 4096", 4096, 5012),
    ("The estimated number of tokens (5012) exceeded this model context window limit (4096).", 4096, 5012),
    ("ERROR: The prompt size exceeds the context window size and cannot be processed.", 0, 0),
    ("Token数量超过上限", 0, 0),
    ("the number of input tokens 5012 cannot exceed the total tokens limit 4096 for this model", 4096, 5012),
    ("the input token count is 5012 but the model only supports up to 4096 tokens", 4096, 5012),
    ("Requested tokens (5012) exceed context window of 4096", 4096, 5012),
    ("prompt is too long: 5012 tokens > 4096 maximum", 4096, 5012),
    ("request (5012 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096, 5012),
    ("maximum context length is 4096 tokens. However, your messages resulted in 5012 tokens.", 4096, 5012),
    (
        "maximum context length is 4096 tokens. However, you requested 5012 tokens (4500 in the messages, 512 in the "
        "completion).",
        4096,
        4500,
    ),
    (
        "You passed 3900 input tokens and requested 512 output tokens. However, the model's context length is only "
        "4096 tokens.",
        4096,
        3900,
    ),
    (
        "inputs` tokens + `max_new_tokens` must be <= 4096. Given: 3900 `inputs` tokens and 512 `max_new_tokens`",
        4096,
        3900,
    ),
    (
        "Prompt contains 5012 tokens and 0 draft tokens, too large for model with 4096 maximum context length",
        4096,
        5012,
    ),
    (  # SambaNova
        "The provided prompt is 5000 tokens long, so generating 12 tokens requires a sequence length of 5012, but the "
        "maximum supported sequence length is just 4096!",
        4096,
        5012,
    ),
    ("输入长度超过模型限制", 0, 0),
    ("Die Eingabe ist zu lang für dieses Modell.", 0, 0),
    ("Le contexte dépasse la limite : entrée trop longue", 0, 0),
]
NO_OVERFLOWS = [
    ("Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000.", C.RATE_LIMITED),
    ("Too many tokens, please wait before trying again.", C.RATE_LIMITED),
    ("You have exceeded your daily token limit.", C.RATE_LIMITED),
    ("Token quota exceeded for today", C.RATE_LIMITED),
    ("Post http://127.0.0.1/completion: context deadline exceeded", C.TIMEOUT),
    ("Invalid 'messages[2].tool_calls[0].id': string too long. Expected at most 40, got 53.", C.API_CALL_FAILED),
    ("Invalid 'tools': array too long. Expected an array with maximum length 128.", C.API_CALL_FAILED),
]


@pytest.mark.parametrize(("sentence", "window", "counted"), OVERFLOWS)
@pytest.mark.parametrize("status", a_few([400, 500], 1))
async def test_an_overflow_is_known_in_whatever_words_with_the_numbers_it_names(
    server: "Server", chat: OpenAIChat, sentence: str, status: int, window: int, counted: int
) -> None:
    server.answers = [(status, {"error": {"message": sentence, "code": "1261"}})]
    with pytest.raises(LLMError) as caught:
        await chat.chat([user("?")])
    assert (caught.value.code, caught.value.window, caught.value.counted) == (C.CONTEXT_EXCEEDED, window, counted)


@pytest.mark.parametrize(("sentence", "code"), NO_OVERFLOWS)
async def test_other_limits_are_no_overflow(
    server: "Server", chat: OpenAIChat, sentence: str, code: LLMErrorCode
) -> None:
    server.answers = [(400, {"error": {"message": sentence}})] * 2
    with pytest.raises(LLMError) as caught:
        await chat.chat([user("?")])
    assert caught.value.code is code


@pytest.mark.parametrize("unit", a_few(["tokens ", "exceeds ", "prompt ", "12345 > ", "context quota limit "], 2))
def test_an_error_is_understood_in_time_by_its_length(unit: str) -> None:
    def seconds(length: int) -> float:
        started = time.thread_time()
        said = (unit * length)[:length]
        code_in(said), window_in(said), count_in(said, 4_096)
        return time.thread_time() - started

    assert any(seconds(40_000) < 8 * seconds(10_000) + 0.05 for _ in range(3))


class Server:
    """Answers what it is told to, whatever it is asked."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.kind = "text/event-stream"
        self.together = asyncio.Barrier(1)
        """Requests are answered once so many are waiting."""

    async def completions(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(await request.json())
        await self.together.wait()
        status, body = self.answers.pop(0) if self.answers else (200, "data: [DONE]\n\n")
        if isinstance(body, str):
            kind = "text/html" if body.startswith("<") else self.kind
            return web.Response(text=body, status=status, content_type=kind)
        return web.json_response(body, status=status)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    made, app = Server(), web.Application()
    app.router.add_post("/v1/chat/completions", made.completions)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"  # type: ignore[attr-defined]
    yield made
    await runner.cleanup()


@pytest.fixture
async def chat(server: Server) -> AsyncIterator[OpenAIChat]:
    opened = OpenAIChat(model="x", base_url=server.url, max_retries=0)  # type: ignore[attr-defined]
    yield opened
    await opened.aclose()


SAID = 'data: {"choices": [{"index": 0, "delta": {"content": "Hobb."}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'


async def test_a_404_without_a_word_is_about_the_address(server: Server, chat: OpenAIChat) -> None:
    server.answers = [(404, "")]
    with pytest.raises(LLMError) as caught:
        await chat.chat([user("?")])
    assert caught.value.code is C.UNKNOWN_ADDRESS


@pytest.mark.parametrize(("status", "body", "code"), [e[1:] for e in ERRORS], ids=[e[0] for e in ERRORS])
async def test_an_error_is_known_for_what_it_is(
    server: Server, chat: OpenAIChat, status: int, body: Any, code: LLMErrorCode
) -> None:
    server.answers = [(status, body)] * 2
    with pytest.raises(LLMError) as caught:
        await chat.chat([user("?")])
    assert caught.value.code is code
    assert caught.value.said
    assert "</" not in caught.value.said
    assert "model group" not in caught.value.said


TOLD_LATER = {
    "error": {
        "code": 429,
        "message": "You exceeded your current quota, please check your plan. Please retry in 34.07s.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}],
    }
}


@pytest.mark.parametrize(
    ("body", "seconds", "told"),
    [
        (TOLD_LATER, 34, "in 34 seconds"),
        ({"error": {"message": "Rate limit reached. Please try again in 1m26.4s. Visit us."}}, 86.4, "in 87 seconds"),
        ({"error": {"message": "Rate limit reached. Please try again in 450ms."}}, 0.45, "in a second"),
        ({"error": {"message": "Tokens per day: please try again in 7h12m."}}, 25_920, "in 8 hours"),
        ({"error": {"message": "Rate limit reached. Please try again in a while."}}, None, "in a minute"),
    ],
)
async def test_how_long_to_wait_is_read_where_no_header_says_it(
    server: Server, chat: OpenAIChat, body: Any, seconds: float | None, told: str
) -> None:
    server.answers = [(429, body)] * 2
    with pytest.raises(LLMError) as caught:
        await chat.chat([user("?")])
    assert caught.value.code is C.RATE_LIMITED
    assert caught.value.retry_after == (None if seconds is None else pytest.approx(seconds))
    assert told in caught.value.message


@pytest.mark.parametrize("at", [0, 2, 4, 6, -3, -2, -1])
async def test_the_window_an_error_names_is_taken_down(server: Server, chat: OpenAIChat, at: int) -> None:
    server.answers = [ERRORS[at][1:3]]
    with pytest.raises(LLMError) as caught:
        await chat.chat([user("?")])
    assert caught.value.window == 4096


@pytest.mark.parametrize(("sentence", "window"), WINDOWS)
async def test_a_window_is_told_from_other_numbers(
    server: Server, chat: OpenAIChat, sentence: str, window: int
) -> None:
    server.answers = [(400, {"error": sentence})]
    with pytest.raises(LLMError) as caught:
        await chat.chat([user("?")])
    assert (caught.value.code, caught.value.window) == (C.CONTEXT_EXCEEDED, window)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "Provider returned error", "metadata": {"raw": '{"error": {"message": "No lamp."}}'}}},
        {"error": {"message": '{"detail": "No lamp."}'}},
        {"success": False, "errors": [{"code": 2001, "message": "No lamp."}]},
    ],
    ids=["OpenRouter", "an error in an error", "Cloudflare"],
)
async def test_what_is_shown_is_the_sentence_of_the_server_behind(server: Server, chat: OpenAIChat, body: Any) -> None:
    server.answers = [(400, body)] * 2
    with pytest.raises(LLMError) as caught:
        await chat.chat([user("?")])
    assert (caught.value.code, caught.value.said) == (C.API_CALL_FAILED, "No lamp.")


async def test_half_a_reply_is_no_error_of_the_server(server: Server, chat: OpenAIChat) -> None:
    """What it says would be written to the log."""
    server.kind = "application/json"
    server.answers = [(200, '{"choices": [{"message": {"content": "It was Ho')] * 2
    with pytest.raises(LLMError) as caught:
        await chat.chat([user("?")])
    assert not caught.value.said


async def test_errors_inside_the_stream(server: Server, chat: OpenAIChat) -> None:
    server.answers = [(200, 'data: {"error": {"code": 402, "message": "Insufficient credits"}}\n\n')]
    with pytest.raises(LLMError) as caught:
        await chat.chat([user("?")])
    assert caught.value.code is C.OUT_OF_CREDIT


async def test_a_reply_that_comes_in_one_piece_is_a_reply(server: Server, chat: OpenAIChat) -> None:
    message = {"role": "assistant", "content": "Hobb."}
    server.answers = [(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})]
    assert await chat.chat([user("?")]) == "Hobb."


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json", "text/plain", "application/octet-stream"])
@pytest.mark.parametrize("is_stream", [True, False])
async def test_a_reply_is_read_whatever_kind_it_is_said_to_be(
    server: Server, chat: OpenAIChat, kind: str, is_stream: bool
) -> None:
    message = {"role": "assistant", "content": "Hobb."}
    whole = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    server.kind, server.answers = kind, [(200, SAID if is_stream else whole)] * 2
    assert await chat.chat([user("?")]) == "Hobb."


@pytest.mark.parametrize(
    "sentence",
    [
        "x does not support tools",
        "Unsupported param: tools",
        "tools: Extra inputs are not permitted",
        "'auto' tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
        "Function calling is not supported by this model. functions not supported",
        "Function calling is not enabled for this model",
        "litellm.UnsupportedParamsError: ollama does not support parameters: ['tools'], for model=x",
        "Value is not callable: null at row 1, column 60: {% for tool in tools %}",
        "Function call is missing a thought_signature in functionCall parts.",
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        'Error rendering prompt with jinja template: "Unknown test: sequence".',
        "Template error: unknown filter: filter fromjson is unknown",
        "Tool call parser not specified. Please set --tool-call-parser",
        "Tool error: Grammar is disabled",
        "Failed to deserialize the JSON body: tools[0].function: missing field `arguments`",
    ],
)
@pytest.mark.parametrize("status", [400, 405])
async def test_a_server_that_refuses_tools_is_known_for_it(
    server: Server, chat: OpenAIChat, sentence: str, status: int
) -> None:
    server.answers = [(status, {"error": {"message": sentence}})]
    with pytest.raises(LLMError) as caught:
        await chat.chat_with_tools([user("?")], [SEARCH])
    assert caught.value.code is C.UNSUPPORTED_FEATURE
    assert not chat.supports_tools


GEMINI = (
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, "
    "and missing thought_signature may lead to degraded model performance."
)
WANTS_THINKING: list[tuple[str, dict[str, Any], dict[str, Any], str, dict[str, Any]]] = [
    (
        "Gemini",
        {},
        {"extra_content": {"google": {"thought_signature": "c2ln"}}},
        GEMINI,
        {"tool_calls": [{"extra_content": {"google": {"thought_signature": "c2ln"}}}]},
    ),
    (
        "Gemini behind OpenRouter",
        {
            "reasoning": "Let me look.",
            "reasoning_details": [
                {"type": "reasoning.text", "text": "Let me ", "index": 0, "signature": None},
                {"type": "reasoning.text", "text": "look.", "index": 0, "signature": "s"},
                {"type": "reasoning.encrypted", "data": "ZW5j", "index": 0},
            ],
        },
        {},
        f"Gemini models require OpenRouter reasoning details to be preserved in each request. Upstream error: {GEMINI}",
        {
            "reasoning_details": [
                {"type": "reasoning.text", "text": "Let me look.", "index": 0, "signature": "s"},
                {"type": "reasoning.encrypted", "data": "ZW5j", "index": 0},
            ]
        },
    ),
    (
        "DeepSeek",
        {"reasoning_content": "Let me look."},
        {},
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        {"reasoning_content": "Let me look."},
    ),
    (
        "Kimi",
        {"reasoning": "Let me look."},
        {},
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1",
        {"reasoning_content": "Let me look."},
    ),
    (
        "DeepSeek, without a thought",
        {"reasoning_content": ""},
        {},
        "Missing `reasoning_content` field in the assistant message at message index 1.",
        {"reasoning_content": " "},
    ),
]


@pytest.mark.parametrize(
    ("thinking", "signed", "refusal", "back"), [case[1:] for case in WANTS_THINKING], ids=[c[0] for c in WANTS_THINKING]
)
async def test_thinking_goes_back_with_its_calls_to_a_server_that_wants_it(
    server: Server,
    chat: OpenAIChat,
    thinking: dict[str, Any],
    signed: dict[str, Any],
    refusal: str,
    back: dict[str, Any],
) -> None:
    call = {"index": 0, "id": "c1", "function": {"name": "search_book", "arguments": "{}"}, **signed}
    called = {"choices": [{"index": 0, "delta": {**thinking, "tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    refused = (400, {"error": {"message": refusal}})
    server.answers = [(200, f"data: {json.dumps(called)}\n\n"), refused, (200, SAID), (200, SAID), refused]
    talk = [user("?"), reply(await chat.chat_with_tools([user("?")], [SEARCH])), result("c1", "A page.")]
    assert (await chat.chat_with_tools(talk, [SEARCH])).text == "Hobb."
    bare, whole = server.requests[1]["messages"][1], server.requests[2]["messages"][1]
    assert set(bare) == {"role", "content", "tool_calls"}
    assert set(bare["tool_calls"][0]) == {"id", "type", "function"}
    calls = [{**each, **more} for each, more in zip(bare["tool_calls"], back.get("tool_calls", [{}]), strict=True)]
    assert whole == {**bare, **back, "tool_calls": calls}
    await chat.chat_with_tools(talk, [SEARCH])
    assert server.requests[3]["messages"][1] == whole
    with pytest.raises(LLMError) as caught:  # and where that is not it, the model goes on without tools
        await chat.chat_with_tools(talk, [SEARCH])
    assert caught.value.code is C.UNSUPPORTED_FEATURE


async def test_the_thinking_of_another_model_does_not_go_back(server: Server, chat: OpenAIChat) -> None:
    kept = RawReply("openai", "another", [{"reasoning_content": "Let me look."}])
    asked = PromptMessage("assistant", "", tool_invocations=[LOOK], raw=kept)
    refused = "The `reasoning_content` in the thinking mode must be passed back to the API."
    server.answers = [(400, {"error": {"message": refused}}), (200, SAID)]
    talk = [user("?"), asked, result("c1", "A page."), PromptMessage("assistant", "Hobb."), user("And?")]
    assert (await chat.chat_with_tools(talk, [SEARCH])).text == "Hobb."
    assert [each.get("reasoning_content") for each in server.requests[1]["messages"]] == [None, " ", None, " ", None]


async def test_tools_are_refused_in_the_stream_as_well(server: Server, chat: OpenAIChat) -> None:
    server.answers = [(200, 'data: {"error": {"message": "x does not support tools", "code": 400}}\n\n')]
    with pytest.raises(LLMError) as caught:
        await chat.chat_with_tools([user("?")], [SEARCH])
    assert caught.value.code is C.UNSUPPORTED_FEATURE
    assert not chat.supports_tools


@pytest.mark.parametrize(
    "botched",
    [
        (400, {"error": {"message": "Failed to call a function.", "code": "tool_use_failed"}}),
        (500, {"error": {"message": "error parsing tool call: raw='{\"que', err=unexpected end of JSON input"}}),
        (500, {"error": {"message": 'Failed to parse input at pos 12: <tool_call>{"na', "type": "server_error"}}),
        (200, '\n{"error": {"message": "error parsing tool call: raw=\'{\'"}}\n'),
    ],
    ids=["Groq", "Ollama", "llama.cpp", "Ollama, in the stream"],
)
async def test_a_call_that_could_not_be_read_is_asked_for_once_more(
    server: Server, chat: OpenAIChat, botched: tuple[int, Any]
) -> None:
    """The second time, passages take its place in this turn; in the next one there may be calls again."""
    server.answers = [botched, (200, SAID), botched, botched]
    assert (await chat.chat_with_tools([user("?")], [SEARCH])).text == "Hobb."
    with pytest.raises(LLMError) as caught:
        await chat.chat_with_tools([user("?")], [SEARCH])
    assert caught.value.code is C.UNSUPPORTED_FEATURE
    assert chat.supports_tools
    assert len(server.requests) == 4


async def test_room_for_a_reply_that_exceeds_the_window_becomes_less(server: Server) -> None:
    chat = OpenAIChat(model="x", base_url=server.url, max_retries=0, max_tokens=8_192)  # type: ignore[attr-defined]
    server.answers = [(400, {"error": {"message": "This model's maximum context length is 4096 tokens."}})]
    server.answers += [(200, SAID)] * 2
    assert [await chat.chat([user("?")]), await chat.chat([user("?")])] == ["Hobb.", "Hobb."]
    assert [request["max_tokens"] for request in server.requests] == [8_192, 2_048, 2_048]
    await chat.aclose()


async def test_mistral_is_asked_again_for_an_answer_after_results(server: Server, chat: OpenAIChat) -> None:
    refused = {"object": "error", "message": "Unexpected role 'user' after role 'tool'", "code": "3230"}
    server.answers = [(400, refused), (200, SAID), (200, SAID)]
    talk = [user("?"), reply(ChatResponse(tool_invocations=[LOOK])), result("c1", "A page."), user("Please answer.")]
    assert (await chat.chat_with_tools(talk, [SEARCH])).text == "Hobb."
    assert (await chat.chat_with_tools(talk, [SEARCH])).text == "Hobb."
    told = [[message["role"] for message in request["messages"]] for request in server.requests]
    assert told[0] == ["user", "assistant", "tool", "user"]
    assert told[1] == told[2] == ["user", "assistant", "tool", "assistant", "user"]
    assert chat.supports_tools


@pytest.mark.parametrize("options", [{}, {"reasoning_effort": "low"}])
async def test_a_model_that_thinks_only_without_tools_does_not_think_with_them(
    server: Server, chat: OpenAIChat, options: dict[str, Any]
) -> None:
    refusal = (
        "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. "
        "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
    )
    refused = (400, {"error": {"message": refusal, "param": "reasoning_effort"}})
    server.answers = [refused, (200, SAID), (200, SAID), (200, SAID)]
    told = chat.with_options(**options)
    assert (await told.chat_with_tools([user("?")], [SEARCH])).text == "Hobb."
    assert (await told.chat_with_tools([user("?")], [SEARCH])).text == "Hobb."
    assert await told.chat([user("?")]) == "Hobb."
    efforts = [request.get("reasoning_effort") for request in server.requests]
    own = options.get("reasoning_effort")
    assert efforts == [own, "none", "none", own]
    assert chat.supports_tools


@pytest.mark.parametrize(
    "refusal",
    [
        "Tool call id was c1 but must be a-z, A-Z, 0-9, with a length of 9.",
        "messages.1.content: Input should be a valid string",
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        "System role not supported",
    ],
)
async def test_what_one_refusal_shows_holds_for_another_one_at_the_same_time(server: Server, refusal: str) -> None:
    chat = OpenAIChat(model="x", base_url=server.url, max_retries=0, max_tokens=500)  # type: ignore[attr-defined]
    server.together = asyncio.Barrier(2)
    server.answers = [(400, {"error": {"message": refusal}})] * 2 + [(200, SAID)] * 2
    talk = [PromptMessage("system", "Be brief."), user("?"), reply(ChatResponse(tool_invocations=[LOOK])), result("c1")]
    replies = await asyncio.gather(*(chat.chat_with_tools(talk, [SEARCH]) for _ in range(2)))
    assert [each.text for each in replies] == ["Hobb.", "Hobb."]
    assert all({"max_tokens", "stream_options"} <= request.keys() for request in server.requests)
    await chat.aclose()


async def test_a_server_that_never_tells_why_a_reply_ends_is_understood(server: Server, chat: OpenAIChat) -> None:
    said = 'data: {"choices": [{"index": 0, "delta": {"content": "It was"}}]}\n\n'
    call = {"index": 0, "id": "c1", "function": {"name": "search_book", "arguments": "{}"}}
    called = f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'tool_calls': [call]}}]})}\n\n"
    ended = "data: [DONE]\n\n"
    server.answers = [(200, said + ended), (200, called + ended), (200, said), (200, SAID), (200, said + ended)]
    assert await chat.chat([user("?")]) == "It was"
    assert (await chat.chat_with_tools([user("?")], [SEARCH])).tool_invocations
    with pytest.raises(LLMError) as cut:
        await chat.chat([user("?")])
    assert await chat.chat([user("?")]) == "Hobb."
    with pytest.raises(LLMError) as given_up:  # it does tell, so this reply was given up
        await chat.chat([user("?")])
    assert cut.value.code is given_up.value.code is C.CONNECTION_LOST


async def test_a_server_that_takes_only_its_own_ids_gets_such(server: Server, chat: OpenAIChat) -> None:
    refused = "Tool call id was c1 but must be a-z, A-Z, 0-9, with a length of 9."
    server.answers = [(400, {"object": "error", "message": refused}), (200, SAID), (200, SAID)]
    talk = [user("?"), reply(ChatResponse(tool_invocations=[LOOK])), result("c1", "nothing")]
    assert [await chat.chat(talk), await chat.chat(talk)] == ["Hobb.", "Hobb."]
    ids = [(m[1]["tool_calls"][0]["id"], m[2]["tool_call_id"]) for m in (r["messages"] for r in server.requests)]
    assert ids[0] == ("c1", "c1")
    assert ids[1] == ids[2]
    assert ids[1][0] == ids[1][1]
    assert len(ids[1][0]) == 9


@pytest.mark.parametrize(
    "refusal",
    [
        (400, {"error": {"message": "System role not supported", "type": "BadRequestError", "code": 400}}),
        (400, {"object": "error", "message": "Conversation roles must alternate user/assistant/user/assistant/..."}),
        (
            200,
            'event: error\ndata: {"error": {"message": "Error rendering prompt with jinja template: \\"Only user and '
            'assistant roles are supported!\\"."}}\n\n',
        ),
    ],
    ids=["vLLM, Gemma", "vLLM, Mistral", "LM Studio"],
)
async def test_a_template_without_a_system_role_gets_its_text_before_the_question(
    server: Server, chat: OpenAIChat, refusal: tuple[int, Any]
) -> None:
    server.answers = [refusal, (200, SAID), (200, SAID)]
    hobb = reply(ChatResponse("Hobb."))
    talk = [PromptMessage("system", "Be brief."), user("Who?"), hobb, user("Why?"), user("And when?")]
    assert [(await chat.chat_with_tools(talk, [SEARCH])).text, await chat.chat(talk)] == ["Hobb.", "Hobb."]
    assert chat.supports_tools
    sent = [[(m["role"], m["content"]) for m in request["messages"]] for request in server.requests]
    assert [role for role, _ in sent[0]] == ["system", "user", "assistant", "user", "user"]
    assert sent[1] == sent[2] == [("user", "Be brief.\n\nWho?"), ("assistant", "Hobb."), ("user", "Why?\n\nAnd when?")]


async def test_a_template_that_has_taken_calls_is_not_taken_to_know_no_tools(server: Server, chat: OpenAIChat) -> None:
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "search_book", "arguments": "{}"}}
    called = {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    broken = {"error": 'Error rendering prompt with jinja template: "Cannot pass both content and thinking".'}
    server.answers = [(200, f"data: {json.dumps(called)}\n\ndata: [DONE]\n\n"), (400, broken)]
    await chat.chat_with_tools([user("?")], [SEARCH])
    with pytest.raises(LLMError) as caught:
        await chat.chat_with_tools([user("?")], [SEARCH])
    assert caught.value.code is C.API_CALL_FAILED
    assert chat.supports_tools


async def test_a_stream_that_ends_before_it_has_begun_is_asked_for_in_one_piece(
    server: Server, chat: OpenAIChat
) -> None:
    too_long = {"message": "This model's maximum context length is 4096 tokens.", "code": "context_length_exceeded"}
    server.answers = [(200, ""), (400, {"error": too_long})]
    with pytest.raises(LLMError) as caught:
        await chat.chat([user("?")])
    assert (caught.value.code, caught.value.window) == (C.CONTEXT_EXCEEDED, 4096)
    assert [request["stream"] for request in server.requests] == [True, False]


@pytest.mark.parametrize(
    "refusal",
    [
        "7 validation errors: {'type': 'string_type', 'loc': ('body', 'messages', 1, 'content'), 'msg': 'It should be "
        "a valid string'}",
        "Invalid value for 'content': expected a string, got null.",
        "Cannot subscript null at row 23, column 40: {%- set start = message.content[:length] %} {%- if tools %}",
        'can only concatenate str (not "NoneType") to str',
        "invalid message content type: <nil>",
        "Cannot read properties of null (reading 'type')",
    ],
)
async def test_a_server_that_wants_an_empty_text_beside_calls_gets_one(
    server: Server, chat: OpenAIChat, refusal: str
) -> None:
    server.answers = [(500, {"error": {"message": refusal}}), (200, SAID), (200, SAID)]
    talk = [user("?"), reply(ChatResponse(tool_invocations=[LOOK])), result("c1", "nothing")]
    told = [(await chat.chat_with_tools(talk, [SEARCH])).text, await chat.chat(talk)]
    assert told == ["Hobb.", "Hobb."]
    assert [request["messages"][1]["content"] for request in server.requests] == [None, "", ""]
    assert chat.supports_tools


async def test_a_failing_template_is_not_asked_again_where_nothing_was_null(server: Server, chat: OpenAIChat) -> None:
    server.answers = [(400, {"error": "Cannot read properties of null (reading 'type')"})] * 2
    with pytest.raises(LLMError):
        await chat.chat([user("?")])
    assert ["stream_options" in request for request in server.requests] == [True, False], "only without that"


@pytest.mark.parametrize(
    "refusal",
    [
        {"error_code": "BAD_REQUEST", "message": "stream_options: Input should not be set for this endpoint"},
        {"error": {"message": "Invalid request", "param": "stream_options"}},
        {"error": {"message": "At body -> stream_options: property is not allowed"}},
        {
            "error": {
                "code": "Invalid input",
                "message": '{"detail": [{"loc": ["body", "stream_options"], "msg": "No"}]}',
            }
        },
    ],
    ids=["in words", "by param", "by path", "by loc, in a message"],
)
async def test_a_field_is_refused_in_whatever_words(server: Server, chat: OpenAIChat, refusal: Any) -> None:
    server.answers = [(400, refusal), (200, SAID)]
    assert await chat.chat([user("?")]) == "Hobb."
    assert ["stream_options" in request for request in server.requests] == [True, False]


@pytest.mark.parametrize(
    "body",
    [
        {"detail": [{"loc": ["body", "prompt"], "msg": "Field required", "input": {"stream_options": {}}}]},
        {"error": {"message": "This model's maximum context length is 4096 tokens (stream_options were set)."}},
    ],
    ids=["the request is repeated", "another error"],
)
async def test_a_field_that_is_only_mentioned_is_kept(server: Server, chat: OpenAIChat, body: Any) -> None:
    server.answers = [(200, SAID), (422, body), (200, SAID)]
    await chat.chat([user("?")])
    with pytest.raises(LLMError):
        await chat.chat([user("?")])
    assert len(server.requests) == 2
    await chat.chat([user("?")])
    assert "stream_options" in server.requests[-1]


async def test_the_limit_of_a_reply_is_called_as_newer_models_call_it(server: Server) -> None:
    chat = OpenAIChat(model="x", base_url=server.url, max_retries=0, max_tokens=99)  # type: ignore[attr-defined]
    refusal = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    )
    error = {
        "message": refusal,
        "type": "invalid_request_error",
        "param": "max_tokens",
        "code": "unsupported_parameter",
    }
    server.answers = [(400, {"error": error}), *[(200, SAID)] * 2]
    assert [await chat.chat([user("?")]), await chat.chat([user("?")])] == ["Hobb.", "Hobb."]
    limits = [(each.get("max_tokens"), each.get("max_completion_tokens")) for each in server.requests]
    assert limits == [(99, None), (None, 99), (None, 99)]
    await chat.aclose()


@pytest.mark.parametrize("field", ["stream_options", "max_tokens"])
async def test_a_field_a_server_refuses_is_left_out(server: Server, field: str) -> None:
    chat = OpenAIChat(model="x", base_url=server.url, max_retries=0, max_tokens=99)  # type: ignore[attr-defined]
    server.answers = [(422, {"detail": [{"loc": ["body", field], "msg": "Extra inputs are not permitted"}]})]
    server.answers += [(200, SAID)] * 2
    assert await chat.chat([user("?")]) == "Hobb."
    assert await chat.chat([user("?")]) == "Hobb."
    assert [field in request for request in server.requests] == [True, False, False]
    await chat.aclose()


UNREAD = [
    "Werkzeuge werden von diesem Modell nicht unterstützt",
    "该模型不支持工具调用",
    "There is no notion of that here.",
]


@pytest.mark.parametrize("sentence", UNREAD)
@pytest.mark.parametrize("status", [400, 404, 422, 501])
async def test_tools_refused_for_an_unknown_reason_are_left_out_if_that_helps(
    server: Server, chat: OpenAIChat, sentence: str, status: int
) -> None:
    server.answers = [*[(status, {"error": {"message": sentence}})] * 2, (200, SAID)]
    with pytest.raises(LLMError) as caught:
        await chat.chat_with_tools([user("?")], [SEARCH])
    assert (caught.value.code, chat.supports_tools) == (C.UNSUPPORTED_FEATURE, False)
    fields = [{"stream_options", "tools"} & request.keys() for request in server.requests]
    assert fields == [{"stream_options", "tools"}, {"tools"}, set()]


async def test_a_refusal_that_stays_without_tools_is_an_error_and_nothing_is_learnt(
    server: Server, chat: OpenAIChat
) -> None:
    server.answers = [(400, {"error": {"message": "The flux is out."}})] * 3
    with pytest.raises(LLMError) as caught:
        await chat.chat_with_tools([user("?")], [SEARCH])
    assert (caught.value.code, caught.value.said) == (C.API_CALL_FAILED, "The flux is out.")
    server.answers = [(200, SAID)]
    await chat.chat_with_tools([user("?")], [SEARCH])
    assert {"stream_options", "tools"} < server.requests[-1].keys()
    assert chat.supports_tools


async def test_a_failure_of_the_server_has_to_come_twice_before_tools_are_given_up(
    server: Server, chat: OpenAIChat
) -> None:
    known = []
    for _ in range(2):
        server.answers = [*[(500, {"error": {"message": "The flux is out."}})] * 2, (200, SAID)]
        with pytest.raises(LLMError) as caught:
            await chat.chat_with_tools([user("?")], [SEARCH])
        assert caught.value.code is C.UNSUPPORTED_FEATURE
        known.append(chat.supports_tools)
    assert known == [True, False]


@pytest.mark.parametrize(
    ("refusal", "left"),
    [
        ("参数 temperature 不受支持", {"stream_options", "seed"}),
        ("temperature: Extra inputs are not permitted", {"stream_options", "seed"}),
        ("Das wird nicht unterstützt.", set()),
    ],
)
async def test_fields_of_a_script_are_left_out_too_where_they_are_refused(
    server: Server, chat: OpenAIChat, refusal: str, left: set[str]
) -> None:
    scripted = chat.with_options(temperature=0.2, seed=3)
    server.answers = [(400, {"error": {"message": refusal}}), (200, SAID), (200, SAID)]
    assert [await scripted.chat([user("?")]), await scripted.chat([user("?")])] == ["Hobb.", "Hobb."]
    fields = [{"stream_options", "temperature", "seed"} & request.keys() for request in server.requests]
    assert fields == [{"stream_options", "temperature", "seed"}, left, left]


@pytest.mark.parametrize(
    "refusal",
    [
        "Your organization must be verified to stream this model.",
        "(ValidationException) This model doesn't support tool use in streaming mode.",
        "Unsupported value: 'stream' does not support true with this model.",
        "Streaming is not supported for this deployment",
    ],
)
async def test_a_server_that_does_not_stream_is_asked_for_replies_in_one_piece(
    server: Server, chat: OpenAIChat, refusal: str
) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "search_book", "arguments": '{"query": "lamp"}'}}
    called = {"choices": [{"index": 0, "message": {"content": None, "tool_calls": [call]}}]}
    said = {"choices": [{"index": 0, "message": {"content": "Hobb."}, "finish_reason": "stop"}]}
    server.answers = [(400, {"error": {"message": refusal}}), (200, called), (200, said)]
    assert (await chat.chat_with_tools([user("?")], [SEARCH])).tool_invocations
    assert (await chat.chat_with_tools([user("?")], [SEARCH])).text == "Hobb."
    fields = [{"stream", "stream_options", "tools"} & request.keys() for request in server.requests]
    assert fields == [{"stream", "stream_options", "tools"}, {"tools"}, {"tools"}]


def test_what_a_server_says_is_shown_without_secrets_and_not_at_length() -> None:
    said = (
        "Incorrect API key provided: sk-abc123def456. Bearer xyz789, http://me:pass@host <b>and</b> so on "
        + "word " * 99
    )
    shown = shortened(said)
    assert not any(secret in shown for secret in ("abc123", "xyz789", "me:pass", "<b>"))
    assert shortened("no key ab1234567890123456789012345 for x; a < b") == "no key … for x; a < b"
    assert len(shown) <= 202
