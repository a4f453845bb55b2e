"""A small Model Context Protocol server of our own making, on standard input and output (over HTTP: `mcp_http.py`).

It speaks the handshake of 2025-06-18. Its tools: `echo` gives back its text, `add` adds, `fail` reports an error,
`blank` returns nothing, `picture` returns no text, `sleep` takes its time, `die` ends the process in the middle of
the call, `env` tells an environment variable, `count` has a result without text, and `attach` one with attachments.
`work` tells of its progress, `refuse` is an error of the protocol with a code and a sentence of the caller's
choice, `learn` adds the tool `learned` and says so, and `look` is the only one that says it changes nothing. The
variable `ODD_TOOLS` has a JSON list of more tools, of any kind. `calls` tells how often tools have been called, and
`show` returns a picture and a sound.
"""

import base64
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]

PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n and so on").decode()
SOUND = base64.b64encode(b"RIFF\x24\x00\x00\x00WAVEfmt ").decode()
"""Both begin as such files do; what follows nobody looks at here."""

_TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
_NUMBERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
_SECONDS = {"type": "object", "properties": {"seconds": {"type": "number"}}}
TOOLS: list[Json] = [
    {"name": "echo", "description": "Say it again.", "inputSchema": _TEXT},
    {"name": "add", "inputSchema": {**_NUMBERS, "required": ["a", "b"]}},
    {"name": "fail", "description": "Fail.", "inputSchema": {"type": "object"}},
    {"name": "blank", "description": "Return nothing.", "inputSchema": {"type": "object"}},
    {"name": "picture", "description": "Return a picture.", "inputSchema": {"type": "object"}},
    {"name": "sleep", "description": "Take a while.", "inputSchema": _SECONDS},
    {"name": "die", "description": "End the server.", "inputSchema": {"type": "object"}},
    {"name": "env", "description": "Tell a variable.", "inputSchema": _TEXT},
    {"name": "count", "description": "Return numbers alone.", "inputSchema": {"type": "object"}},
    {"name": "attach", "description": "Return a note and a link.", "inputSchema": {"type": "object"}},
    {"name": "work", "description": "Work step by step.", "inputSchema": {"type": "object"}},
    {"name": "refuse", "description": "Refuse with a code.", "inputSchema": {"type": "object"}},
    {"name": "show", "description": "Show a picture and a sound.", "inputSchema": {"type": "object"}},
    {"name": "learn", "description": "Learn another tool.", "inputSchema": {"type": "object"}},
    {"name": "calls", "description": "Tell how many calls there were.", "inputSchema": {"type": "object"}},
    {
        "name": "look",
        "description": "Only look.",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
    },
    {"name": "name.with/odd characters", "description": "Oddly named.", "inputSchema": {"type": "object"}},
]


_LEARNED: list[Json] = []
_CALLED: list[str] = []
Notify = Callable[[str, Json], None]


class Refused(Exception):
    """An error of the protocol, with this code."""


def answer(message: Json, notify: Notify = lambda method, params: None) -> Json | None:
    """The reply to a message; None to a notification. `notify` sends what is to be heard before it."""
    if "id" not in message:
        return None
    reply: Json = {"jsonrpc": "2.0", "id": message["id"]}
    params = message.get("params", {})
    match message["method"]:
        case "initialize":
            return {**reply, "result": _hello(params["protocolVersion"])}
        case "tools/list":
            return {**reply, "result": _page(int(params.get("cursor", 0)))}
        case "tools/call":
            try:
                return {**reply, "result": _call(params["name"], params.get("arguments", {}), params, notify)}
            except Refused as refused:
                return {**reply, "error": {"code": refused.args[0], "message": refused.args[1]}}
    return {**reply, "error": {"code": -32601, "message": "Method not found"}}


def _hello(version: str) -> Json:
    known = version if version in ("2024-11-05", "2025-03-26", "2025-06-18") else "2025-06-18"
    return {"protocolVersion": known, "capabilities": {"tools": {}}, "serverInfo": {"name": "double", "version": "1"}}


def _page(start: int) -> Json:
    """Five tools at a time."""
    tools = [*TOOLS, *json.loads(os.environ.get("ODD_TOOLS", "[]")), *_LEARNED]
    more = {"nextCursor": str(start + 5)} if start + 5 < len(tools) else {}
    return {"tools": tools[start : start + 5], **more}


def _call(tool: str, arguments: Json, params: Json, notify: Notify) -> Json:  # noqa: C901 - one line a tool
    _CALLED.append(tool)
    match tool:
        case "work":
            for step in range(arguments["steps"]):
                time.sleep(arguments["seconds"])
                token = params["_meta"]["progressToken"]
                notify("notifications/progress", {"progressToken": token, "progress": step})
            return _text("worked")
        case "refuse":
            raise Refused(arguments["code"], arguments.get("sentence", "no, the server says"))
        case "learn":
            _LEARNED.append({"name": "learned", "description": "Learned.", "inputSchema": {"type": "object"}})
            notify("notifications/tools/list_changed", {})
            return _text("learned it")
        case "show":
            picture = {"type": "image", "data": PICTURE, "mimeType": "image/jpeg"}
            return {"content": [picture, {"type": "audio", "data": SOUND, "mimeType": "audio/wav"}]}
        case "calls":
            return _text(str(len(_CALLED)))
        case "echo":
            return _text(arguments["text"])
        case "add":
            total = arguments["a"] + arguments["b"]
            return {**_text(str(total)), "structuredContent": {"total": total}}
        case "fail":
            return {**_text("it failed"), "isError": True}
        case "blank":
            return {"content": []}
        case "picture":
            return {"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]}
        case "count":
            return {"content": [], "structuredContent": {"total": 3}}
        case "attach":
            note = {"type": "resource", "resource": {"uri": "note://1", "mimeType": "text/plain", "text": "a note"}}
            return {"content": [note, {"type": "resource_link", "uri": "note://2", "name": "another"}]}
        case "sleep":
            time.sleep(arguments["seconds"])
            return _text("awake")
        case "die":
            os._exit(1)
        case "env":
            return _text(os.environ.get(arguments["text"], ""))
    return {**_text(f"called {tool}"), "isError": False}


def _text(text: str) -> Json:
    return {"content": [{"type": "text", "text": text}]}


def serve_stdio() -> None:
    """Serve until standard input ends."""

    def send(message: Json) -> None:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()

    def notify(method: str, params: Json) -> None:
        send({"jsonrpc": "2.0", "method": method, "params": params})

    sys.stderr.write("this double talks on standard error, too\n")
    for line in sys.stdin:
        if (reply := answer(json.loads(line), notify)) is not None:
            send(reply)


if __name__ == "__main__":
    serve_stdio()
