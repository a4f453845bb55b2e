"""A small Model Context Protocol server of our own making, on standard input and output (over HTTP: `mcp_http.py`).

It speaks the handshake of 2025-06-18. Its tools: `echo` gives back its text, `add` adds, `fail` reports an error,
`blank` returns nothing, `picture` returns no text, `sleep` takes its time, `die` ends the process in the middle of
the call, `env` tells an environment variable, `count` has a result without text, and `attach` one with attachments.
"""

import json
import os
import sys
import time
from typing import Any

Json = dict[str, Any]

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
    {"name": "name.with/odd characters", "description": "Oddly named.", "inputSchema": {"type": "object"}},
]


def answer(message: Json) -> Json | None:
    """The reply to a message; None to a notification."""
    if "id" not in message:
        return None
    reply: Json = {"jsonrpc": "2.0", "id": message["id"]}
    match message["method"]:
        case "initialize":
            return {**reply, "result": _hello(message["params"]["protocolVersion"])}
        case "tools/list":
            return {**reply, "result": _page(int(message.get("params", {}).get("cursor", 0)))}
        case "tools/call":
            return {**reply, "result": _call(message["params"]["name"], message["params"].get("arguments", {}))}
    return {**reply, "error": {"code": -32601, "message": "Method not found"}}


def _hello(version: str) -> Json:
    known = version if version in ("2024-11-05", "2025-03-26", "2025-06-18") else "2025-06-18"
    return {"protocolVersion": known, "capabilities": {"tools": {}}, "serverInfo": {"name": "double", "version": "1"}}


def _page(start: int) -> Json:
    """Five tools at a time."""
    more = {"nextCursor": str(start + 5)} if start + 5 < len(TOOLS) else {}
    return {"tools": TOOLS[start : start + 5], **more}


def _call(tool: str, arguments: Json) -> Json:
    match tool:
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
    sys.stderr.write("this double talks on standard error, too\n")
    for line in sys.stdin:
        if (reply := answer(json.loads(line))) is not None:
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    serve_stdio()
