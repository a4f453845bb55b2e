"""A headless Chromium, driven by the DevTools protocol: a person's eyes and hands at a web page."""

import asyncio
import base64
import itertools
import json
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
)
PATIENCE_S = 90.0
LOOK_S = 0.05
KEY_CODES = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38}

_PRESS = """(elements, text) => {
    const wanted = elements.filter(each => each.innerText.includes(text) && !each.disabled).at(-1);
    if (!wanted) return false;
    wanted.scrollIntoView({block: "center"});
    const {x, y, width, height} = wanted.getBoundingClientRect();
    if (!wanted.contains(document.elementFromPoint(x + width / 2, y + height / 2))) return false;
    wanted.focus();
    wanted.click();
    return true;
}"""
"""In one go, so that a page which draws itself anew cannot come in between."""


def chromium() -> str | None:
    """Where a Chromium is installed, if one is."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class NotSeen(AssertionError):
    """What was waited for did not come about; `shown` is what the page said instead."""

    def __init__(self, expression: str, shown: str) -> None:
        super().__init__(f"not seen within {PATIENCE_S:.0f} s: {expression}\n\nthe page:\n{shown}")


class Page:
    """One tab. Selectors are CSS; `text` is what stands in an element, as a person reads it."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._session: str | None = None
        self._listening = asyncio.create_task(self._listen())

    async def attach(self, width: int, height: int, scale: float) -> None:
        """Open the tab."""
        target = await self.send("Target.createTarget", url="about:blank")
        attached = await self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        await self.resize(width, height, scale)

    async def close(self) -> None:
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)

    async def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol."""
        number = next(self._numbers)
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        session = {"sessionId": self._session} if self._session else {}
        await self._socket.send_json({"id": number, "method": method, "params": parameters} | session)
        return await asyncio.wait_for(answer, PATIENCE_S)

    async def resize(self, width: int, height: int, scale: float = 1.0) -> None:
        await self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False
        )

    async def go(self, url: str) -> None:
        await self.send("Page.navigate", url=url)

    async def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        answer = await self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, f"{expression}: {answer['exceptionDetails']}"
        return answer["result"].get("value")

    async def until(self, expression: str) -> Any:
        """Wait until an expression is true, and return its value."""
        for _ in range(int(PATIENCE_S / LOOK_S)):
            if value := await self.evaluate(expression):
                return value
            await asyncio.sleep(LOOK_S)
        raise NotSeen(expression, await self.text("body"))

    async def text(self, selector: str) -> str:
        return str(await self.evaluate(f"[...{_all(selector)}].map(each => each.innerText).join('\\n')"))

    async def until_text(self, selector: str, text: str) -> None:
        """Wait until a text stands in one of the elements."""
        await self.until(f"[...{_all(selector)}].some(each => each.innerText.includes({json.dumps(text)}))")

    async def click(self, selector: str, text: str = "") -> None:
        """Press the last enabled element that has this text, as soon as it is there and nothing covers it."""
        await self.until(f"({_PRESS})([...{_all(selector)}], {json.dumps(text)})")

    async def type(self, text: str) -> None:
        """Type into whatever has the focus."""
        await self.send("Input.insertText", text=text)

    async def press(self, key: str) -> None:
        code = KEY_CODES[key]
        text = {"text": "\r"} if key == "Enter" else {}
        await self.send("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        await self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    async def picture(self, clip: dict[str, float] | None = None) -> bytes:
        """A PNG of the page or of a rectangle on it (x, y, width, height)."""
        part = {"clip": clip | {"scale": 1}} if clip else {}
        return base64.b64decode((await self.send("Page.captureScreenshot", format="png", **part))["data"])

    async def _listen(self) -> None:
        async for message in self._socket:
            heard = json.loads(message.data)
            answer = self._waiting.pop(heard.get("id"), None)
            if answer is None or answer.done():
                continue
            if "error" in heard:
                answer.set_exception(AssertionError(heard["error"]["message"]))
            else:
                answer.set_result(heard["result"])


@asynccontextmanager
async def browsing(width: int = 1100, height: int = 900, scale: float = 1.0) -> AsyncIterator[Page]:
    """A page in a browser of its own, with a fresh profile."""
    program = chromium()
    assert program is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            program,
            *FLAGS,
            f"--user-data-dir={profile}",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            address = await _address(Path(profile) / "DevToolsActivePort")
            async with aiohttp.ClientSession() as session, session.ws_connect(address, max_msg_size=0) as socket:
                page = Page(socket)
                await page.attach(width, height, scale)
                yield page
                await page.close()
        finally:
            process.terminate()
            await process.wait()


async def _address(announced: Path) -> str:
    async with asyncio.timeout(PATIENCE_S):
        while len(lines := _lines(announced)) < 2:
            await asyncio.sleep(LOOK_S)
    return f"ws://127.0.0.1:{lines[0]}{lines[1]}"


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def _all(selector: str) -> str:
    return f"document.querySelectorAll({json.dumps(selector)})"
